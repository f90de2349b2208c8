"""Vectors of a model, recorded and replayed: one JSON line a text, so that an edit of one law changes one line.

A folder holds a model's files; the first line of each names the model, its version, its dimensions, its pooling where
it tells one, and the day it was recorded, and every other line is `{"kind", "text", "engine", "vector"}`. Key: model,
version, kind and the text itself; `engine` (what computed it) is provenance and no part of the key. A vector is int16,
its largest component 32767, little endian, in base64. Only `record` writes a committed folder; a run keeps what it
computes in a cache of the same form, batch by batch, so that a killed run loses none.
"""

import base64
import binascii
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrieval.appending import append_lines, locked, read_appended
from retrieval.documents import files_in, parse_json
from retrieval.errors import Fault, InputError, MissingRecordingError, ModelError, as_found
from retrieval.models import Embedded, Embedder, Kind
from retrieval.models.calls import PartError
from retrieval.project import PROJECT

RECORDINGS = PROJECT.recordings
CACHE = PROJECT.cache

LARGEST = 32767
MOST_DIMENSIONS = 1_000_000

Int16s = NDArray[np.int16]
Key = tuple[Kind, str]
Progress = Callable[[str, int, int], None]


def quantise(vectors: ArrayLike, texts: Sequence[str]) -> Int16s:
    """Vectors (n, d) as integers, each scaled so that its largest component is 32767 in size; cosines move by < 1e-4.

    ModelError naming the text where a vector is zero or not finite, and where there are not n of them.
    """
    array = np.asarray(vectors, dtype=np.float64)
    if array.ndim != 2 or len(array) != len(texts):
        raise ModelError(f"asked to embed {len(texts)} texts, given an array of shape {array.shape}")
    largest = np.abs(array).max(axis=1, initial=0.0)
    for text, size in zip(texts, largest, strict=True):
        if not np.isfinite(size) or size == 0:
            what = "zero" if size == 0 else "not finite"
            raise ModelError(f"the model's vector is {what} for the text {text[:80]!r}")
    numbers: Int16s = np.rint(array / largest[:, None] * LARGEST).astype(np.int16)
    return numbers


class Vectors:
    """The vectors of one model: those recorded, those in the cache, and those that must be computed.

    folder: the recordings of this model; cache: its cache file; None for either leaves it out. `load` of the embedder
    is called at the first text that neither holds; ask: also where that means to ask over a network. `unkept` says why
    what is computed is not kept, where the cache cannot be written. InputError for
    recordings that cannot be read, or whose vectors cannot be compared with each other.
    """

    def __init__(
        self,
        model: Embedder,
        folder: Path | None,
        cache: Path | None,
        progress: Progress | None = None,
        ask: bool = False,
    ) -> None:
        self.model = model
        self.cache = cache
        self.progress = progress
        self.ask = ask
        self.computed = 0
        self.unkept = ""
        self.recorded: list[str] = []
        self.dimensions = model.dimensions
        self.pooling: str | None = None
        self._lines: dict[Key, Mapping[str, Any]] = {}
        self._cached: dict[Key, Mapping[str, Any]] = {}
        faults: list[Fault] = []
        if folder is not None and folder.is_dir():
            for path in files_in(folder, ".jsonl"):
                faults += self._read(path, self._lines)
        if faults:
            raise InputError(faults)
        self._unusable = self._read_cache(cache) if cache is not None and cache.is_file() else None

    @property
    def header(self) -> dict[str, object]:
        """What the first line of this model's files begins with."""
        head: dict[str, object] = {"model": self.model.name, "version": self.model.version}
        head["dimensions"] = self.dimensions
        return {**head, "pooling": self.pooling} if self.model.pooled else head

    def _read_cache(self, cache: Path) -> tuple[int, int] | None:
        """Read the cache; where it cannot be read or compared, which file it was, to be computed anew."""
        file, learnt = _identity(cache), (self.dimensions, self.pooling)
        try:
            faults = self._read(cache, self._cached)
        except InputError:
            return file
        if faults or not self._cached:
            self._cached.clear()
            self.dimensions, self.pooling = learnt
            return file
        return None

    def _read(self, path: Path, into: dict[Key, Mapping[str, Any]]) -> list[Fault]:
        """One file's lines into the look-up; a file of another version holds nothing that is asked for here."""
        rows, faults, torn, _ = read_appended(path)
        if torn and into is self._lines:
            faults.append(Fault(str(path), None, "its end is missing: the last line has no line break"))
        if any(fault.line == 1 for fault in faults):
            return faults  # what follows cannot be understood without the first line
        head = rows[0][1] if rows else {}
        if not set(self.header) <= set(head):
            return [*faults, Fault(str(path), 1, f"expected the first line to name {', '.join(self.header)}")]
        learnt = ("dimensions",) * (self.model.dimensions is None) + ("pooling",) * self.model.pooled
        if any(head[name] != value for name, value in self.header.items() if name not in learnt):
            return faults
        wrong = self._learn(head["dimensions"], head.get("pooling"))
        if wrong:
            return [*faults, Fault(str(path), 1, wrong)]
        if isinstance(head.get("recorded"), str):
            self.recorded.append(str(head["recorded"]))
        for number, row in rows[1:]:
            if row.get("kind") not in ("query", "passage") or not isinstance(row.get("text"), str):
                faults.append(Fault(str(path), number, "expected a kind (query or passage) and a text"))
                continue
            key: Key = (row["kind"], row["text"])
            if self.dimensions is None or _vector(row.get("vector"), self.dimensions) is None:
                faults.append(Fault(str(path), number, f"expected {self.dimensions} int16 numbers in base64"))
                continue
            if into is self._lines and key in into and into[key]["vector"] != row["vector"]:
                faults.append(Fault(str(path), number, f"another vector was recorded for {key[1][:60]!r} before"))
            into[key] = row
        return faults

    def _learn(self, dimensions: object, pooling: object) -> str:
        """Take over what only vectors tell, the first time; later, what is wrong where it is not the same."""
        if type(dimensions) is not int or not 1 <= dimensions <= MOST_DIMENSIONS:
            return f"expected a number of dimensions, found {as_found(dimensions)}"
        if self.model.pooled and not isinstance(pooling, str):
            return f"expected a pooling, found {as_found(pooling)}"
        before = self.dimensions or dimensions, self.pooling or pooling
        if before != (dimensions, pooling if self.model.pooled else before[1]):
            return (
                f"vectors of {_form(dimensions, pooling)} cannot be compared with those of {_form(*before)} that are"
                f" recorded; record all of {self.model.name} anew in another folder, or ask the model as before"
            )
        self.dimensions = dimensions
        self.pooling = pooling if isinstance(pooling, str) and self.model.pooled else None
        return ""

    def missing(self, kind: Kind, texts: Iterable[str]) -> list[str]:
        """The distinct texts that are neither recorded nor cached, in order."""
        return [
            text
            for text in dict.fromkeys(texts)
            if (kind, text) not in self._lines and (kind, text) not in self._cached
        ]

    def unrecorded(self, kind: Kind, texts: Iterable[str]) -> list[str]:
        """The distinct texts that are not recorded, cached or not."""
        return [text for text in dict.fromkeys(texts) if (kind, text) not in self._lines]

    def embed(self, kind: Kind, texts: Sequence[str]) -> Int16s:
        """The vectors of n texts, (n, dimensions). What is missing is computed, and cached where there is a cache.

        ValueError for an empty text, which has no vector; MissingRecordingError where a text is missing and the model
        cannot run here; ModelError for a vector that cannot be used.
        """
        if not all(text.strip() for text in texts):
            raise ValueError("an empty text has no vector")
        missing = self.missing(kind, texts)
        if missing:
            self._compute(kind, missing)
        found = [self._lines.get((kind, text)) or self._cached[kind, text] for text in texts]
        dimensions = self.dimensions or 0
        vectors = [_vector(line["vector"], dimensions) for line in found]
        return np.array(vectors, dtype=np.int16).reshape(len(texts), dimensions)

    def _compute(self, kind: Kind, texts: Sequence[str]) -> None:
        lacking = f"{len(texts)} {kind} texts have no recorded vector, the first: {texts[0][:80]!r}. "
        if self.model.remote and not self.ask:
            command = f"near-enough record --embedder {self.model.name}"
            raise MissingRecordingError(f"{lacking}{self.model.name} is asked over a network: `{command}` records them")
        try:
            embed, engine = self.model.load()
        except ModelError as error:
            raise MissingRecordingError(f"{lacking}{error}") from None
        for start in range(0, len(texts), self.model.batch):
            batch = texts[start : start + self.model.batch]
            try:
                self._take(kind, batch, embed(kind, batch), engine)
            except PartError as error:  # what was got is kept, whatever stopped the rest
                self._take(kind, error.texts, Embedded(error.vectors, error.pooling), engine)
                raise
            if self.progress is not None:
                self.progress(f"{self.model.name}, {len(texts)} {kind} texts", start + len(batch), len(texts))

    def _take(self, kind: Kind, texts: Sequence[str], given: NDArray[Any] | Embedded, engine: str) -> None:
        """Take over what a model gave for texts, and keep it; ModelError where it cannot be used."""
        vectors = quantise(given.vectors if isinstance(given, Embedded) else given, texts)
        wrong = self._learn(vectors.shape[1], given.pooling if isinstance(given, Embedded) else None)
        if wrong:
            raise ModelError(wrong)
        lines = {(kind, text): _line(kind, text, engine, row) for text, row in zip(texts, vectors, strict=True)}
        self._cached.update(lines)
        self._keep(lines.values())
        self.computed += len(texts)

    def _keep(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Add lines to the cache, which a killed run leaves whole; in the place of a cache that was none."""
        if self.cache is None:
            return
        try:
            if self._unusable is not None:
                with locked(self.cache.parent):
                    if self.cache.is_file() and _identity(self.cache) == self._unusable:  # not yet replaced by another
                        self.cache.unlink()
                self._unusable = None
            append_lines(self.cache, lines, self.header)
        except OSError as error:  # a run needs no cache; whoever asked is told
            self.unkept, self.cache = f"{error.filename or self.cache}: {error.strerror}", None

    def lines(self, keys: Iterable[Key]) -> list[Mapping[str, Any]]:
        """The stored lines of keys that were embedded, for `write`; a key given twice comes once."""
        return [self._lines.get(key) or self._cached[key] for key in dict.fromkeys(keys)]

    def write(self, path: Path, lines: Iterable[Mapping[str, Any]], recorded: str | None = None) -> None:
        """A file of these lines under this model's header, written beside and renamed, so that it is whole or old.

        recorded: the day, for a file that is committed. A file that holds these very lines of this very model keeps its
        own.
        """
        body = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in lines)
        if path.is_file():
            first, _, rest = path.read_text(encoding="utf-8").partition("\n")
            if rest == body and self._heads(first):
                return
        head = self.header if recorded is None else {**self.header, "recorded": recorded}
        write_beside(path, json.dumps(head) + "\n" + body)

    def _heads(self, line: str) -> bool:
        """Whether a first line is of this model, version, dimensions and pooling; it may hold more."""
        try:
            head = parse_json(line)
        except ValueError:
            return False
        return isinstance(head, dict) and all(
            name in head and head[name] == value for name, value in self.header.items()
        )


def write_beside(path: Path, text: str) -> None:
    """Replace a file's content in one step: readers see the old text or the new, never a part."""
    write_all({path: text})


def write_all(files: Mapping[Path, str]) -> None:
    """Replace several files that belong together: all texts are on the disk before the first takes its place.

    A link is followed: its target is replaced, not the link. A device or a pipe is written to; a folder is an error.
    """
    beside: dict[Path, Path] = {}
    try:
        for path, text in ((path.resolve(), text) for path, text in files.items()):
            if path.exists() and not path.is_file():
                path.write_text(text, encoding="utf-8", newline="\n")
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            beside[path] = path.with_name(f".{path.name}.{os.getpid()}")
            beside[path].write_text(text, encoding="utf-8", newline="\n")
        for path, written in beside.items():
            written.replace(path)
    finally:
        for written in beside.values():
            written.unlink(missing_ok=True)


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_ino, found.st_mtime_ns


def _form(dimensions: object, pooling: object) -> str:
    return f"{dimensions} dimensions" + (f", pooled by {pooling}" if pooling is not None else "")


def _line(kind: Kind, text: str, engine: str, vector: Int16s) -> dict[str, object]:
    packed = base64.b64encode(vector.astype("<i2").tobytes()).decode("ascii")
    return {"kind": kind, "text": text, "engine": engine, "vector": packed}


def _vector(packed: object, dimensions: int) -> Int16s | None:
    """The numbers in a line's base64, or None where it holds others than `dimensions` of them."""
    if not isinstance(packed, str):
        return None
    try:
        raw = base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError):
        return None
    return np.frombuffer(raw, dtype="<i2").astype(np.int16) if len(raw) == 2 * dimensions else None
