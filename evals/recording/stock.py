"""What is recorded against what the laws, questions and settings need: missing, stale, unused. Asks nobody.

*Missing* is needed and not recorded. *Stale* was recorded for a question that is still asked, about something else:
other laws, another prompt, another version. *Unused* belongs to nothing that is asked any more.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from evals.questions import Pair
from evals.recording.vectors import SEARCHES, searches_file, searches_of, wanted
from evals.run import evaluate
from retrieval.appending import read_appended
from retrieval.corpus import Law
from retrieval.live import LiveStage
from retrieval.models import Kind
from retrieval.recordings import Vectors, write_beside
from retrieval.replies import Call, Replies, Reply, Row, missing
from retrieval.settings import Settings


@dataclass(frozen=True)
class Stock:
    """One stage's recordings. failed: calls of which only a failure is recorded; they are needed, and asked again."""

    what: str
    needed: int
    missing: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    note: str = ""


class Said(NamedTuple):
    """What a rephraser said: the name of the file with the vectors of its searches, and the searches."""

    file: str
    searches: Collection[str]


def of_vectors(
    vectors: Vectors,
    folder: Path,
    corpus: Mapping[str, Sequence[Law]],
    pairs: Sequence[Pair],
    said: Said | None = None,
) -> Stock:
    """The vectors of the model in use, in its folder.

    said: the file of what the rephraser said, and its searches. Such files of others are not judged.
    """
    needed = _needed(corpus, pairs, said)
    stale: list[str] = []
    unused: list[str] = []
    for _, head, rows in _files(vectors, folder, said):
        if head.get("version") != vectors.model.version:
            stale += [str(row.get("text")) for row in rows]
        else:
            unused += [str(row["text"]) for row in rows if (row["kind"], row["text"]) not in needed]
    missing = tuple(text for kind, text in needed if vectors.unrecorded(kind, [text]))
    return Stock(f"vectors of {vectors.model.name}", len(needed), missing, tuple(stale), tuple(unused))


def prune_vectors(
    vectors: Vectors,
    folder: Path,
    corpus: Mapping[str, Sequence[Law]],
    pairs: Sequence[Pair],
    said: Said | None = None,
) -> int:
    """Drop the stale and the unused lines from the files of the model in use; how many there were."""
    needed, gone = _needed(corpus, pairs, said), 0
    for path, head, rows in list(_files(vectors, folder, said)):
        current = head.get("version") == vectors.model.version
        kept = [row for row in rows if current and (row["kind"], row["text"]) in needed]
        gone += len(rows) - len(kept)
        if not kept:
            path.unlink()
        elif len(kept) < len(rows):
            write_beside(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in (head, *kept)))
    return gone


def _needed(
    corpus: Mapping[str, Sequence[Law]], pairs: Sequence[Pair], said: Said | None
) -> dict[tuple[Kind, str], None]:
    """The vectors that are needed, each once, in order."""
    texts = [(kind, text) for kind, found in wanted(corpus, pairs).values() for text in found]
    asked: list[tuple[Kind, str]] = [("query", text) for text in sorted(said.searches if said else ())]
    return dict.fromkeys([*texts, *asked])


def _files(vectors: Vectors, folder: Path, said: Said | None) -> Iterator[tuple[Path, Row, Sequence[Row]]]:
    """The files of vectors of this model that can be judged: path, first line, the other lines."""
    for path in sorted(folder.rglob("*.jsonl")):
        head, *rows = [row for _, row in read_appended(path).rows] or [{}]
        ours = not path.name.startswith(SEARCHES) or (said is not None and path.name == said.file)
        if head.get("model") == vectors.model.name and ours:
            yield path, head, rows


@dataclass
class Needs:
    """Notes what a run asks, and answers from the recordings; what they lack is answered by nothing. As `Ask` is.

    said: what the rephraser said; None where none was asked, or where its replies are not all there. waiting: the
    stage whose calls nobody knows then, since they follow from what the rephraser says; lacking: how many it lacks.
    """

    replies: Replies
    calls: dict[str, dict[str, Call]] = field(default_factory=dict)
    stages: dict[str, LiveStage] = field(default_factory=dict)
    said: Said | None = None
    waiting: LiveStage | None = None
    lacking: int = 0

    def __call__(self, stage: LiveStage, calls: Sequence[Call]) -> Mapping[str, Reply]:
        """The recorded replies, and failures in the place of those that are missing."""
        if self.lacking:
            self.waiting = stage
        else:
            self.stages[stage.stage] = stage
            self.calls[stage.stage] = {call.key: call for call in calls}
            self.lacking = len(missing(self.replies, calls)) if stage.stage == "rephrase" else 0
        return {call.key: self.replies.get(call) or Reply(failed="not recorded") for call in calls}


def needs_of(
    settings: Settings,
    corpus: Mapping[str, Sequence[Law]],
    pairs: Sequence[Pair],
    vectors: Vectors,
    replies: Replies,
) -> Needs:
    """What the live stages of these settings are asked; MissingRecordingError where vectors are missing for it."""
    needs = Needs(replies)
    if settings.rephraser is not None or settings.reranker is not None:
        run = evaluate(settings, corpus, pairs, vectors.embed, vectors.model.name, ask=needs)
        if settings.rephraser is not None and not needs.lacking:
            needs.said = Said(searches_file(settings), searches_of(run))
    return needs


def of_replies(needs: Needs) -> list[Stock]:
    """The replies of each stage that was asked; of files that no stage asks, only that they are there."""
    found, judged = [], set()
    for name, stage in needs.stages.items():
        calls = needs.calls[name]
        questions = {call.question for call in calls.values()}
        rows = [row for row in needs.replies.rows.values() if _belongs(row["asked"], stage)]
        left = [row for row in rows if row["key"] not in calls]
        judged |= {row["key"] for row in rows}
        found.append(
            Stock(
                f"{stage.stage} with {stage.name}",
                len(calls),
                tuple(call.question for key, call in calls.items() if key not in needs.replies.rows),
                tuple(row["asked"]["question"] for row in left if row["asked"]["question"] in questions),
                tuple(row["asked"]["question"] for row in left if row["asked"]["question"] not in questions),
                tuple(row["asked"]["question"] for row in rows if row["key"] in calls and "failed" in row),
            )
        )
    if needs.waiting is not None:
        stage = needs.waiting
        judged |= {row["key"] for row in needs.replies.rows.values() if _belongs(row["asked"], stage)}
        note = (
            f"not judged: {needs.lacking} calls to the rephraser are missing, and what this is asked follows from them"
        )
        found.append(Stock(f"{stage.stage} with {stage.name}", 0, note=note))
    others: dict[tuple[str, str], int] = {}
    for row in needs.replies.rows.values():
        if row["key"] not in judged:
            of = row["asked"]["stage"], row["asked"]["model"]
            others[of] = others.get(of, 0) + 1
    note = "not judged: these settings do not ask it"
    found += [
        Stock(f"{stage} with {model}", 0, note=f"{count} replies, {note}") for (stage, model), count in others.items()
    ]
    return found


def prune_replies(needs: Needs) -> int:
    """Drop the stale and the unused replies of the stages that were asked, and lines given twice; how many."""
    stages = list(needs.stages.items())

    def keep(row: Mapping[str, object]) -> bool:
        asked = row["asked"]
        return not any(
            isinstance(asked, dict) and _belongs(asked, stage) and row["key"] not in needs.calls[name]
            for name, stage in stages
        )

    return needs.replies.rewrite(keep)


def _belongs(asked: Mapping[str, object], stage: LiveStage) -> bool:
    return (asked["stage"], asked["model"]) == (stage.stage, stage.version)
