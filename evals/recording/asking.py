"""Who answers the calls of a run's live stages: the recordings, the models themselves, or both and written down.

Only a `Recorder` writes. What a model was asked is decided by `evals.run`; here is only who is asked.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evals.run import Ask, page_families
from retrieval.corpus import Law
from retrieval.errors import MissingRecordingError, NearEnoughError
from retrieval.live import REPHRASERS, RERANKERS, LiveStage, ask_all, scores, searches
from retrieval.models.calls import Bounds
from retrieval.pipeline import EmbedTexts, Pipeline
from retrieval.rephrase import Rephrased
from retrieval.replies import Call, Replies, Reply, missing, unanswered
from retrieval.rerank import Rerank
from retrieval.settings import Settings

FOLDER = "replies"
GOLDEN = 0.6180339887498949  # its multiples spread evenly

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
                f" recorded, the first: {first.question[:80]!r} with {len(first.texts)} texts ({first.key}). With the"
                f" other options of this run, this records them: {command(settings)}"
            )
        return {call.key: reply for call in calls if (reply := read[0].get(call)) is not None}

    return ask


def command(settings: Settings) -> str:
    """The command that records what the live stages of these settings need."""
    asked = {"rephrase": settings.rephraser, "rerank": settings.reranker}
    options = [f' --set "{name}=recorded {asking.model}"' for name, asking in asked.items() if asking is not None]
    return f"near-enough record{''.join(options)}"


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
        def answered(call: Call, reply: Reply) -> None:
            self.replies.add(call, reply, self.day)
            took.append((call, reply))
            if self.progress is not None:
                self.progress(f"{stage.stage} with {stage.name}", len(took), len(wanted))

        def known(call: Call) -> Reply | None:
            self.replies.refresh(call)
            reply = self.replies.get(call)
            return reply if reply is not None and not reply.failed else None

        found = ask_all(stage, _turned(wanted), answered, known, bounds=self.bounds)
        lost = found.stopped or next(iter(found.failed.values()), None)
        if lost is not None:
            left = len(wanted) - len(found.replies)
            raise NearEnoughError(
                f"{stage.stage} with {stage.name}: {len(found.replies)} of {len(wanted)} calls were answered and are"
                f" recorded, {left} are left; {'stopped by' if found.stopped else 'the first that failed'}: {lost}. The"
                " same command goes on from here"
            )


def _turned(calls: Sequence[Call]) -> list[Call]:
    """The calls from a place on that differs between processes: two of them shall not ask the same side by side."""
    start = int(len(calls) * (os.getpid() * GOLDEN % 1))
    return [*calls[start:], *calls[:start]]


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
