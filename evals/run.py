"""The pipeline over the whole question set: one trace a pair, and the fingerprints of what was measured."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from evals.questions import Pair
from retrieval.corpus import Law
from retrieval.documents import content_hash
from retrieval.errors import MissingRecordingError, NearEnoughError, RerankError
from retrieval.fuse import distinct_searches
from retrieval.live import REPHRASERS, RERANKERS, LiveStage, scores, searches
from retrieval.pipeline import EmbedTexts, Pipeline, Scoring, Trace
from retrieval.replies import Call, Reply
from retrieval.settings import Settings
from retrieval.vectors import embedding_text

Ask = Callable[[LiveStage, Sequence[Call]], Mapping[str, Reply]]


@dataclass(frozen=True)
class Pools:
    """The pools of a pair, as ids: of its question alone, and with its searches fused beside it.

    plain and narrow hold `candidate_laws`, wide `searched_candidate_laws`; a family's page rows stand in none of them.
    """

    plain: tuple[str, ...]
    narrow: tuple[str, ...]
    wide: tuple[str, ...]


@dataclass(frozen=True)
class Measured:
    """A pair and what each stage gave for it.

    family: the key of the family of page rows that was named. rephrase: how the searches came: `off`, `written`,
    `rephrased`, or the cause for which the rephraser's answer could not be used. searched: what its searches change,
    the written ones where none were used; None where there are none, or no vectors of them, or nobody asked for it.
    """

    pair: Pair
    trace: Trace
    family: str | None = None
    rephrase: str = "off"
    searched: Pools | None = None


@dataclass(frozen=True)
class Run:
    """Everything one evaluation measured. `pairs` keeps the order of the question set, by state within a need.

    `recorded`: the last day on which vectors that it used were recorded; None where none were. replies: for each stage
    that asked a model, by its fingerprint's name, the fingerprint of what was asked and answered.
    """

    settings: Settings
    corpus: Mapping[str, Sequence[Law]]
    pairs: tuple[Measured, ...]
    model: str
    recorded: str | None = None
    replies: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def laws(self) -> Mapping[str, Mapping[str, Law]]:
        """Each state's laws by id."""
        return {state: {law.id: law for law in laws} for state, laws in self.corpus.items()}

    @cached_property
    def positions(self) -> Mapping[str, Mapping[str, int]]:
        """Each law's position in its state's corpus, by id."""
        return {state: {law.id: at for at, law in enumerate(laws)} for state, laws in self.corpus.items()}

    @cached_property
    def characters(self) -> Mapping[str, Sequence[int]]:
        """How many characters of each law are embedded, and read by a reranker, by state, in the corpus's order."""
        return {state: [len(embedding_text(law)) for law in laws] for state, laws in self.corpus.items()}

    @cached_property
    def fingerprints(self) -> Mapping[str, str]:
        """Hashes of the parsed content of laws, questions and settings: blind to comments and to order of files.

        Where a stage asked a model, also of the replies, so that other recordings are not taken for the same run.
        """
        laws = {state: [_law(law) for law in laws] for state, laws in sorted(self.corpus.items())}
        questions = sorted(
            [_question(measured.pair) for measured in self.pairs],
            key=lambda each: json.dumps(each, sort_keys=True),
        )
        return {
            "laws": fingerprint(laws),
            "questions": fingerprint(questions),
            "settings": fingerprint(self.settings.model_dump()),
            "model": self.model,
            **self.replies,
        }


def evaluate(
    settings: Settings,
    corpus: Mapping[str, Sequence[Law]],
    pairs: Sequence[Pair],
    embed: EmbedTexts | None,
    model: str,
    ask: Ask | None = None,
    pools: bool = False,
) -> Run:
    """Every pair through the pipeline of its state. `model` names what `embed` computes, version included.

    A state's texts are embedded and scored together, each distinct text once. ask: gives the replies, by key, to the
    calls of a stage that asks a model, all of them at once: first the rephraser's, then the reranker's.
    NearEnoughError where the settings name such a stage and `ask` is None. pools: fill in each pair's `searched`,
    which takes about a third longer.
    """
    prints: dict[str, str] = {}
    ask = _noting(ask, prints) if ask is not None else None
    said = _said(settings, corpus, pairs, ask)
    found: dict[int, Measured] = {}
    pipelines: dict[str, Pipeline] = {}
    for state, laws in corpus.items():
        pipeline = pipelines[state] = Pipeline(settings, laws, embed)
        of_state = [(at, pair) for at, pair in enumerate(pairs) if pair.state == state]
        scored = _scored(pipeline, [text for at, pair in of_state for text in (pair.text, *said[at].searches)])
        written = _written(pipeline, [pair for _, pair in of_state]) if pools else {}
        for at, pair in of_state:
            scorings = [scored[text] for text in (pair.text, *distinct_searches(pair.text, said[at].searches))]
            trace = pipeline.trace(scorings, said[at].family)
            searched = _pools(pipeline, trace, pair, written) if pools else None
            found[at] = Measured(pair, trace, said[at].family, said[at].how, searched)
    measured = tuple(found[at] for at in range(len(pairs)) if at in found)
    return Run(settings, corpus, _reranked(settings, pipelines, measured, ask), model, replies=prints)


def _noting(ask: Ask, prints: dict[str, str]) -> Ask:
    """As `ask`; the fingerprint of each stage's replies is put into `prints`."""

    def noting(stage: LiveStage, calls: Sequence[Call]) -> Mapping[str, Reply]:
        replies = ask(stage, calls)
        answers = {key: reply.failed or str(sorted(reply.content.items())) for key, reply in replies.items()}
        prints[f"{stage.stage} replies"] = fingerprint(answers)
        return replies

    return noting


@dataclass(frozen=True)
class _Said:
    searches: tuple[str, ...] = ()
    family: str | None = None
    how: str = "off"


def _said(
    settings: Settings, corpus: Mapping[str, Sequence[Law]], pairs: Sequence[Pair], ask: Ask | None
) -> list[_Said]:
    """Each pair's searches and family, as the settings have them: none, the written ones, or the rephraser's."""
    if settings.rephraser is None:
        off = settings.rephrase == "off"
        return [_Said() if off else _Said(pair.searches, pair.family, "written") for pair in pairs]
    stage = REPHRASERS[settings.rephraser.model]
    families = {state: page_families(laws) for state, laws in corpus.items()}
    calls = [stage.call(pair.text, families[pair.state]) for pair in pairs]
    replies = _asked(ask, stage, calls)
    said = []
    for call in calls:
        reply = replies[call.key]
        given = searches(reply)
        said.append(_Said(given.searches, given.family, reply.failed or "rephrased"))
    return said


def _asked(ask: Ask | None, stage: LiveStage, calls: Sequence[Call]) -> Mapping[str, Reply]:
    if ask is None:
        raise NearEnoughError(f"the settings name a model to {stage.stage}, {stage.name}, and here nobody asks it")
    return ask(stage, calls)


def page_families(laws: Sequence[Law]) -> tuple[str, ...]:
    """The keys of a state's families of page rows, each once, in the corpus's order."""
    return tuple(dict.fromkeys(law.concept for law in laws if law.is_page_row and law.concept))


def _scored(pipeline: Pipeline, texts: Sequence[str]) -> dict[str, Scoring]:
    distinct = list(dict.fromkeys(texts))
    return dict(zip(distinct, pipeline.score(distinct), strict=True))


def _written(pipeline: Pipeline, pairs: Sequence[Pair]) -> dict[str, Scoring]:
    """The scorings of the written searches where they are not used: none where their vectors are not to be had."""
    if pipeline.settings.rephrase != "off":
        return {}
    try:
        return _scored(pipeline, [text for pair in pairs if pair.expected for text in pair.searches])
    except MissingRecordingError:
        return {}


def _pools(pipeline: Pipeline, trace: Trace, pair: Pair, written: Mapping[str, Scoring]) -> Pools | None:
    question, *used = trace.scorings
    if not pair.expected:
        return None
    if pipeline.settings.rephrase == "off":
        used = [written[text] for text in distinct_searches(pair.text, pair.searches) if text in written]
    if not used:
        return None
    narrow, wide = pipeline.settings.candidate_laws, pipeline.settings.searched_candidate_laws
    alone = trace.pool if len(trace.scorings) == 1 and not trace.family else pipeline.fused([question], narrow)
    fused = [question, *used]
    return Pools(alone, pipeline.fused(fused, narrow), pipeline.fused(fused, wide))


def _reranked(
    settings: Settings, pipelines: Mapping[str, Pipeline], measured: tuple[Measured, ...], ask: Ask | None
) -> tuple[Measured, ...]:
    """The pairs with the answers that the reranker chooses from their pools."""
    if settings.reranker is None:
        return measured
    stage = RERANKERS[settings.reranker.model]
    texts = {state: {law.id: embedding_text(law) for law in pipeline.laws} for state, pipeline in pipelines.items()}
    calls = {
        at: stage.call(each.pair.text, [texts[each.pair.state][law] for law in each.trace.pool])
        for at, each in enumerate(measured)
        if each.trace.pool
    }
    replies = _asked(ask, stage, list(calls.values()))

    def replayed(call: Call | None) -> Callable[[str, list[str]], list[float]]:
        def rerank(question: str, given: list[str]) -> list[float]:
            if call is None or (call.question, call.texts) != (question, tuple(given)):
                raise RerankError("threw", "another pool than was asked about")
            return scores(call, replies[call.key])

        return rerank

    return tuple(
        replace(each, trace=pipelines[each.pair.state].chosen(each.trace, replayed(calls.get(at))))
        for at, each in enumerate(measured)
    )


def fingerprint(content: Any) -> str:
    """The first 16 hex digits of the SHA-256 of content as canonical JSON."""
    return content_hash(content, 16)


def _law(law: Law) -> dict[str, object]:
    return {"id": law.id, "law": law.law, "question": law.question, "concept": law.concept, "kind": law.kind}


def _question(pair: Pair) -> dict[str, object]:
    return {name: value for name, value in vars(pair).items() if name not in ("file", "line")}


def answerable(run: Run) -> Iterable[Measured]:
    """The pairs that expect a law."""
    return (each for each in run.pairs if each.pair.expects == "answerable")
