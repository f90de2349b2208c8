"""Replies of the rephraser and the rerankers, recorded and replayed: one readable JSON line a call. Asks nobody.

A file a stage and model. The key of a line is a hash of everything that was asked: model, prompt, schema, limits,
question and texts; whatever changes, misses. A line holds either a checked reply, raw as it was scored, or the cause
for which a model's answer could not be used. The latter is replayed as that failure, so that a run counts it, and is
asked again by the next `record`. What is no answer at all (no connection, no capacity, silence) is never stored.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from retrieval.appending import BEGINNING, Mark, append_lines, locked, read_appended
from retrieval.documents import content_hash, files_in, strict_json
from retrieval.errors import Fault, InputError

Stage = Literal["rephrase", "rerank"]
STAGES: tuple[Stage, ...] = ("rephrase", "rerank")

Row = Mapping[str, Any]


def digest(content: object) -> str:
    """The first 20 hex digits of the SHA-256 of content as canonical JSON."""
    return content_hash(content, 20)


@dataclass(frozen=True)
class Call:
    """One thing asked: `request` holds all that is sent beside question and texts (prompt, schema, limits)."""

    stage: Stage
    model: str
    request: Mapping[str, Any] = field(hash=False)
    question: str
    texts: tuple[str, ...]

    @cached_property
    def asked(self) -> dict[str, object]:
        """What is written beside a reply: everything that was asked, what is long as its hash."""
        return {
            "stage": self.stage,
            "model": self.model,
            "request": digest(self.request),
            "question": self.question,
            "texts": len(self.texts),
            "texts_hash": digest(self.texts),
        }

    @cached_property
    def key(self) -> str:
        """The call's name."""
        return digest(self.asked)


@dataclass(frozen=True)
class Reply:
    """A checked reply, or, where `failed` names a cause, an answer that cannot be used. usage: tokens, where told."""

    content: Mapping[str, Any] = field(default_factory=dict)
    usage: Mapping[str, int] = field(default_factory=dict)
    failed: str = ""
    message: str = ""


class Replies:
    """The recorded replies of a folder. Reading takes no lock; a torn end, of a process that was killed, is left out.

    InputError with every line that is no recorded reply.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.torn: list[Path] = []
        self.rows: dict[str, Row] = {}
        self._read_to: dict[Path, tuple[int, Mark]] = {}
        faults: list[Fault] = []
        for path in self.files():
            faults += self._read(path)
        if faults:
            raise InputError(faults)

    def files(self) -> list[Path]:
        """The files of replies that there are, in order."""
        return [path for stage in STAGES for path in files_in(self.folder / stage, ".jsonl", deep=False)]

    def path(self, call: Call) -> Path:
        """The file that a call belongs into."""
        return self.folder / call.stage / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', call.model).strip('-.')}.jsonl"

    def _read(self, path: Path) -> list[Fault]:
        rows, faults, torn, end = read_appended(path, self._start(path))
        self._read_to[path] = (path.stat().st_ino, end) if path.exists() else (0, BEGINNING)
        if torn:
            self.torn.append(path)
        for number, row in rows:
            wrong = fault(row)
            if wrong:
                faults.append(Fault(str(path), number, wrong))
            else:
                self._take(row)
        return faults

    def _start(self, path: Path) -> Mark:
        """Where to read on from: the beginning, where the file was replaced."""
        file, end = self._read_to.get(path, (0, BEGINNING))
        same = path.exists() and path.stat().st_ino == file and path.stat().st_size >= end.bytes
        return end if same else BEGINNING

    def _take(self, row: Row) -> None:
        """The first reply to a call counts; an answer that cannot be used counts until there is one."""
        before = self.rows.get(row["key"])
        if before is None or "failed" in before:
            self.rows[row["key"]] = row

    def get(self, call: Call) -> Reply | None:
        """What is recorded of a call."""
        row = self.rows.get(call.key)
        if row is None:
            return None
        if "failed" in row:
            return Reply(failed=row["failed"], message=row["message"], usage=row.get("usage", {}))
        return Reply(row["reply"], row.get("usage", {}))

    def refresh(self, call: Call) -> None:
        """Take in what other processes have recorded into the call's file since it was read; InputError as above."""
        path = self.path(call)
        if path.exists() and path.stat().st_size != self._start(path).bytes:
            faults = self._read(path)
            if faults:
                raise InputError(faults)

    def add(self, call: Call, reply: Reply, day: str) -> None:
        """Record a reply; it is on the disk when this returns."""
        said: dict[str, Any] = (
            {"failed": reply.failed, "message": reply.message} if reply.failed else {"reply": dict(reply.content)}
        )
        row = {"key": call.key, "asked": call.asked, **said, "usage": dict(reply.usage), "recorded": day}
        wrong = fault(row)
        if wrong:
            raise ValueError(f"not a reply that can be recorded: {wrong}")
        self._take(row)
        append_lines(self.path(call), [row])

    def rewrite(self, keep: Callable[[Row], bool]) -> int:
        """Write every file anew with the rows to keep, each once, in one order; the number of lines that are gone."""
        from retrieval.recordings import write_beside

        gone = 0
        for path in self.files():
            with locked(path.parent):
                lines, faults, *_ = read_appended(path)
                if faults:
                    raise InputError(faults)
                self._read(path)
                kept = {row["key"]: self.rows[row["key"]] for _, row in lines if keep(row)}
                order = sorted(kept.values(), key=lambda row: (row["asked"]["question"], row["key"]))
                write_beside(path, "".join(strict_json(row) + "\n" for row in order))
                gone += len(lines) - len(kept)
        return gone


def fault(row: Row) -> str:
    """What is wrong with a line as a recorded reply; empty where nothing is."""
    asked = row.get("asked")
    if not isinstance(asked, dict) or not isinstance(row.get("key"), str):
        return "expected a key and what was asked"
    if row["key"] != digest(asked):
        return "its key is not that of what was asked: the line was changed by hand"
    if not all(isinstance(asked.get(name), str) for name in ("stage", "model", "question")):
        return "expected to see which stage and model were asked, and which question"
    usage = row.get("usage", {})
    if not isinstance(usage, dict) or not all(type(each) is int for each in usage.values()):
        return "expected a number of tokens a kind as `usage`"
    if "failed" in row:
        return "" if isinstance(row["failed"], str) and isinstance(row.get("message"), str) else "expected a cause"
    reply, count = row.get("reply"), asked.get("texts")
    if not isinstance(reply, dict) or type(count) is not int:
        return "expected a reply"
    if asked.get("stage") == "rephrase":
        return _rephrase_fault(reply)
    if "scores" in reply:
        good = _numbers(reply["scores"]) and len(reply["scores"]) == count
        return "" if good else f"expected {count} scores, each a number"
    ranked = reply.get("ranked")
    good = isinstance(ranked, list) and all(type(at) is int and 0 <= at < count for at in ranked)
    return "" if good and _distinct(ranked) else f"expected positions below {count}, each once"


def _rephrase_fault(reply: Row) -> str:
    searches, family = reply.get("searches"), reply.get("family")
    good = isinstance(searches, list) and all(isinstance(each, str) and each.strip() for each in searches)
    return "" if good and isinstance(family, str | None) else "expected searches and a family or null"


def _distinct(values: Any) -> bool:
    return len(set(values)) == len(values)


def _numbers(values: object) -> bool:
    return isinstance(values, list) and all(
        type(each) in (int, float) and abs(each) <= sys.float_info.max for each in values
    )


def missing(replies: Replies, calls: Iterable[Call]) -> list[Call]:
    """The calls that nothing is recorded of, each once, in order."""
    return [call for call in {call.key: call for call in calls}.values() if call.key not in replies.rows]


def unanswered(replies: Replies, calls: Iterable[Call]) -> list[Call]:
    """The calls that no usable reply is recorded of, each once, in order: the missing ones and the failed."""
    distinct: Sequence[Call] = list({call.key: call for call in calls}.values())
    return [call for call in distinct if "reply" not in replies.rows.get(call.key, {})]
