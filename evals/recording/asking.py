"""Who answers the calls of a run's live stages: the recordings, the models themselves, or both and written down.

Only a `Recorder` writes. What a model was asked is decided by `evals.run`; here is only who is asked.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evals.run import Ask, page_families
from retrieval import project
from retrieval.corpus import Law
from retrieval.errors import MissingRecordingError, NearEnoughError
from retrieval.live import REPHRASERS, RERANKERS, Asked, LiveStage, ask_all, scores, searches
from retrieval.models.calls import Bounds
from retrieval.pipeline import EmbedTexts, Pipeline
from retrieval.rephrase import Rephrased
from retrieval.replies import Call, Replies, Reply, digest, missing, unanswered
from retrieval.rerank import Rerank
from retrieval.settings import Settings, load_settings

FOLDER = "replies"

Progress = Callable[[str, int, int], None]


def answering(settings: Settings, recordings: Path, progress: Progress | None = None) -> Ask | None:
    """Who answers under these settings: each stage `recorded` or `live` as they say. None where no stage asks."""
    named = {"rephrase": settings.rephraser, "rerank": settings.reranker}
    if not any(named.values()):
        return None
    replay = replaying(settings, recordings)

    def ask(stage: LiveStage, calls: Sequence[Call]) -> Mapping[str, Reply]:
        asking = named[stage.stage]
        return live(stage, calls, progress) if asking is not None and asking.live else replay(stage, calls)

    return ask


def replaying(settings: Settings, recordings: Path) -> Ask:
    """The recordings alone: MissingRecordingError where one is missing, with its name and the command that records."""
    read: list[Replies] = []

    def ask(stage: LiveStage, calls: Sequence[Call]) -> Mapping[str, Reply]:
        if not read:
            read.append(Replies(recordings / FOLDER))
        lacking = missing(read[0], calls)
        if lacking:
            first, distinct = lacking[0], len({call.key for call in calls})
            raise MissingRecordingError(
                f"{len(lacking)} of {distinct} calls to {stage.stage} with {stage.name} are not"
                f" recorded, the first: {first.question[:80]!r} with {len(first.texts)} texts ({first.key}). This"
                f" records them, with --settings, --laws and --questions where they were given: {command(settings)}"
            )
        return {call.key: reply for call in calls if (reply := read[0].get(call)) is not None}

    return ask


def command(settings: Settings) -> str:
    """The command that records what these settings need, by what they change in those of the project."""
    file = project.PROJECT.settings
    usual = load_settings(file).model_dump() if file.is_file() else {"near_enough": {}}
    usual["near_enough"] = usual["near_enough"].get(settings.embedder)
    asked = {"rephrase": settings.rephraser, "rerank": settings.reranker}
    recorded = {name: f"recorded {asking.model}" for name, asking in asked.items() if asking is not None}
    now = {**settings.model_dump(), "near_enough": settings.cutoff, **recorded}
    changes = [f"{name}={value}" for name, value in now.items() if name in recorded or usual.get(name) != value]
    return " ".join(["near-enough record", *(f'--set "{change}"' for change in changes)])


def live(
    stage: LiveStage, calls: Sequence[Call], progress: Progress | None = None, bounds: Bounds | None = None
) -> Mapping[str, Reply]:
    """The models themselves, asked now; nothing is kept. A call without an answer is a reply that failed, by its cause.

    NearEnoughError where the model could not be asked any further (no credentials, the day's allowance spent).
    """
    distinct = len({call.key for call in calls})
    done = 0

    def answered(call: Call, reply: Reply) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(f"{stage.stage} with {stage.name}", done, distinct)

    found = ask_all(stage, calls, answered, bounds=bounds)
    if found.stopped is not None:
        raise NearEnoughError(
            f"{stage.stage} with {stage.name}: {len(found.replies)} of {distinct} calls were answered,"
            f" then: {found.stopped}"
        )
    failed = {key: Reply(failed=error.cause, message=str(error)) for key, error in found.failed.items()}
    return {**found.replies, **failed}


@dataclass
class Recorder:
    """Answers from the recordings and records what they lack; called as `Ask` is.

    Every reply is on the disk before the next is waited for, and what another process recorded meanwhile is not asked
    again. An answer that could not be used is asked again, once a run. `asked` holds what this run took, by stage.
    """

    replies: Replies
    day: str
    progress: Progress | None = None
    bounds: Bounds | None = None
    asked: dict[str, list[tuple[Call, Reply]]] = field(default_factory=dict)

    def __call__(self, stage: LiveStage, calls: Sequence[Call]) -> Mapping[str, Reply]:
        """The replies to all calls; NearEnoughError where some got none: all others are recorded by then."""
        wanted = unanswered(self.replies, calls)
        took = self.asked.setdefault(f"{stage.stage} with {stage.name}", [])
        if wanted:
            self._ask(stage, wanted, took)
        return {call.key: reply for call in calls if (reply := self.replies.get(call)) is not None}

    def _ask(self, stage: LiveStage, wanted: Sequence[Call], took: list[tuple[Call, Reply]]) -> None:
        what, done = f"{stage.stage} with {stage.name}", 0

        def told() -> None:
            nonlocal done
            done += 1
            if self.progress is not None:
                self.progress(what, done, len(wanted))

        def answered(call: Call, reply: Reply) -> None:
            self.replies.add(call, reply, self.day)
            took.append((call, reply))
            told()

        def known(call: Call) -> Reply | None:
            self.replies.refresh(call)
            reply = self.replies.get(call)
            if reply is None or reply.failed:
                return None
            told()
            return reply

        found = ask_all(stage, shuffled(wanted), answered, known, bounds=self.bounds)
        if found.failed:
            left = len(wanted) - len(found.replies)
            raise NearEnoughError(
                f"{what}: {len(found.replies)} of {len(wanted)} calls were answered and are recorded, {left} are left;"
                f" {why(found, wanted)}. The same command goes on from here"
            )


def why(found: Asked, calls: Iterable[Call]) -> str:
    """Why calls got no answer: what stopped the asking, or the first call that failed, with its question."""
    if found.stopped is not None:
        return f"stopped by: {found.stopped}"
    first = next(call for call in calls if call.key in found.failed)
    return f"the first that failed, {first.question[:80]!r}: {found.failed[first.key]}"


def shuffled(calls: Sequence[Call]) -> list[Call]:
    """The calls in an order of this process's own: two of them shall not ask the same side by side.

    Orders that only begin in different places would do that as soon as one has caught up with the other.
    """
    return sorted(calls, key=lambda call: digest([os.getpid(), call.key]))


def searcher(
    settings: Settings, laws: Sequence[Law], embed: EmbedTexts | None
) -> tuple[Pipeline, Callable[[str], Rephrased]]:
    """The pipeline of a state as the settings have it, and what says a question in the law's words for it."""
    from retrieval import recordings

    ask = answering(settings, recordings.RECORDINGS)
    if ask is None:
        return Pipeline(settings, laws, embed), lambda question: Rephrased()
    rerank = reranking(RERANKERS[settings.reranker.model], ask) if settings.reranker else None
    families = page_families(laws)

    def rephrase(question: str) -> Rephrased:
        if settings.rephraser is None:
            return Rephrased()
        stage = REPHRASERS[settings.rephraser.model]
        call = stage.call(question, families)
        return searches(ask(stage, [call])[call.key])

    return Pipeline(settings, laws, embed, rerank), rephrase


def reranking(stage: LiveStage, ask: Ask) -> Rerank:
    """A reranker, as the pipeline takes it, that asks one call at a time."""

    def rerank(question: str, texts: list[str]) -> list[float]:
        call = stage.call(question, texts)
        return scores(call, ask(stage, [call])[call.key])

    return rerank
