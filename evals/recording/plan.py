"""What a recording would take, before anybody is asked: calls, tokens, dollars. Asks nobody and records nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum

from evals.questions import Pair
from evals.recording.costs import Cost, embedding, expected, guessed
from evals.recording.vectors import wanted
from evals.run import evaluate
from retrieval.corpus import Law
from retrieval.live import LiveStage
from retrieval.models.workers_ai import TEXTS_A_REQUEST
from retrieval.recordings import Vectors
from retrieval.replies import Call, Replies, Reply, unanswered
from retrieval.settings import Settings
from retrieval.vectors import embedding_text


@dataclass(frozen=True)
class Planned:
    """One stage of a recording: what it needs, how much of it is recorded, and what the rest would take.

    cost: None where it takes no call, because the model runs here.
    """

    what: str
    needed: int
    recorded: int
    cost: Cost | None
    note: str = ""

    def __str__(self) -> str:
        """A line for a person."""
        rest = "nothing to ask" if self.needed == self.recorded else str(self.cost or "computed here")
        return f"{self.what}: {self.recorded:,} of {self.needed:,} recorded; {rest}{self.note}"


def plan(
    settings: Settings,
    corpus: Mapping[str, Sequence[Law]],
    pairs: Sequence[Pair],
    vectors: Vectors,
    replies: Replies,
) -> list[Planned]:
    """The stages of a recording under these settings, in the order in which they would be asked.

    What a later stage is asked depends on what the earlier ones say: where that is not recorded yet, its calls are
    counted as if nothing had been rephrased, with pools as large as they may be, and the line says so.
    """
    files = wanted(corpus, pairs)
    texts = [(kind, text) for kind, found in files.values() for text in found]
    lacking = [text for kind, text in texts if vectors.missing(kind, [text])]
    cost = embedding(vectors.model.version, lacking, TEXTS_A_REQUEST) if vectors.model.remote else None
    stages = [Planned(f"vectors of {vectors.model.name}", len(texts), len(texts) - len(lacking), cost)]
    if settings.rephraser is None and settings.reranker is None:
        return stages
    known = not (lacking and vectors.model.remote)
    planner = _Planner(replies, None if known else _largest(settings, corpus))
    evaluate(settings, corpus, pairs, vectors.embed if known else None, vectors.model.name, ask=planner)
    return [*stages, *planner.planned]


def _largest(settings: Settings, corpus: Mapping[str, Sequence[Law]]) -> int:
    """About how many characters the largest pool holds."""
    lengths = [len(embedding_text(law)) for laws in corpus.values() for law in laws]
    pool = settings.pool_laws(int(settings.rephrase != "off"))
    return round(pool * fsum(lengths) / len(lengths)) if lengths else 0


@dataclass
class _Planner:
    """Counts what is asked instead of asking it."""

    replies: Replies
    pool_characters: int | None
    planned: list[Planned] = field(default_factory=list)
    guessing: bool = False

    def __call__(self, stage: LiveStage, calls: Sequence[Call]) -> Mapping[str, Reply]:
        distinct = {call.key: call for call in calls}
        rest = unanswered(self.replies, calls)
        reranks = stage.stage == "rerank"
        guessing = reranks and (self.guessing or self.pool_characters is not None)
        if reranks and self.pool_characters is not None:
            cost = guessed(stage, [len(call.question) + self.pool_characters for call in rest])
        else:
            cost = expected(stage, rest)
        note = " (guessed: what comes before it is not recorded)" if guessing and rest else ""
        what = f"{stage.stage} with {stage.name}"
        self.planned.append(Planned(what, len(distinct), len(distinct) - len(rest), cost, note))
        self.guessing = self.guessing or bool(rest)
        nothing = Reply(failed="not asked")
        return {key: self.replies.get(call) or nothing for key, call in distinct.items()}
