"""JSON Lines files that grow call by call: several processes append, and a killed one leaves nothing half there.

A line is whole once its line break is on the disk. What stands after the last line break is a writer's that was
killed: readers leave it out, the next writer cuts it off. Holds no meaning of the lines.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from retrieval.documents import parse_lines, strict_json
from retrieval.errors import Fault, InputError

try:
    import fcntl
except ImportError:  # Windows has no such locks: one process at a time there
    fcntl = None  # type: ignore[assignment]


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Alone among the processes that write files of this folder, which is made where it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def append_lines(path: Path, rows: Iterable[Mapping[str, Any]], head: Mapping[str, Any] | None = None) -> None:
    """Add rows to a file, a line each, and wait until they are on the disk. `head` is the first line of a new file."""
    text = "".join(strict_json(row) + "\n" for row in rows)
    with locked(path.parent), path.open("ab+") as file:
        end = file.seek(0, os.SEEK_END)
        whole = _whole(file.fileno(), end)
        if whole < end:
            file.truncate(whole)
        if whole == 0 and head is not None:
            text = strict_json(head) + "\n" + text
        file.write(text.encode("utf-8"))
        file.flush()
        os.fsync(file.fileno())


def _whole(handle: int, end: int) -> int:
    """How many bytes of the file's `end` stand in whole lines."""
    step = 65_536
    while end > 0:
        start = max(0, end - step)
        os.lseek(handle, start, os.SEEK_SET)
        at = os.read(handle, end - start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


class Mark(NamedTuple):
    """A place in such a file between two lines: how many bytes and how many lines stand before it."""

    bytes: int = 0
    lines: int = 0


BEGINNING = Mark()


class Appended(NamedTuple):
    """The rows of a file with their lines, and a fault for every line that is no object.

    torn: something stands after the last line break; end: where the whole lines end.
    """

    rows: list[tuple[int, dict[str, Any]]]
    faults: list[Fault]
    torn: bool
    end: Mark


def read_appended(path: Path, start: Mark = BEGINNING) -> Appended:
    """The lines of such a file from an earlier `end` on, numbered as they stand in the file.

    A file that is not there has none; InputError where it cannot be read.
    """
    try:
        with path.open("rb") as file:
            file.seek(start.bytes)
            raw = file.read()
    except FileNotFoundError:
        return Appended([], [], False, BEGINNING)
    except OSError as error:
        raise InputError([Fault(str(path), None, f"cannot be read: {error.strerror or error}")]) from None
    whole, _, torn = raw.rpartition(b"\n")
    size = len(raw) - len(torn)
    rows, faults = parse_lines(path, whole.split(b"\n"), start.lines + 1)
    return Appended(rows, faults, bool(torn), Mark(start.bytes + size, start.lines + raw.count(b"\n")))
