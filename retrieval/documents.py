"""JSON Lines and YAML as a person wrote them: every value with its line, and nothing silently changed.

Refused here, because each has been read as something else by somebody: a key given twice, NaN and infinities in
JSON, YAML anchors and tags, text that is not UTF-8, nesting without end. What the values mean is for the caller to
check, who asks `Document.line` where a value stands.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from retrieval.errors import LONGEST_SHOWN, Fault, InputError, as_found

MAX_DEPTH = 40
MOST_DIGITS = 4_300  # Python's own limit for a whole number
# A longer text takes the packaged model seconds to embed, by many windows whose mean is of no one thing. The longest
# section of a statute in the collections at hand has 9,800.
LONGEST_TEXT = 20_000
NOT_UTF8 = "not UTF-8 text; save the file as UTF-8"
TOO_DEEP = "nested too deeply"

PREFIX = "tag:yaml.org,2002:"
READ_TAGS = {PREFIX + name for name in ("null", "bool", "int", "float", "timestamp", "str")}
MEANT_BY_YAML = (PREFIX + "merge", PREFIX + "value")  # a bare << and a bare =
TYPE_NAMES = {
    "tag:yaml.org,2002:bool": "a truth value",
    "tag:yaml.org,2002:int": "a number",
    "tag:yaml.org,2002:float": "a number",
    "tag:yaml.org,2002:timestamp": "a date",
    "tag:yaml.org,2002:null": "nothing",
}

Where = tuple[str | int, ...]

_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")  # as YAML counts lines


@dataclass
class Document:
    """A YAML file: its data, and for each path into it the line, the raw text and what YAML made of it."""

    file: str
    data: object = None
    lines: dict[Where, int] = field(default_factory=dict)
    raw: dict[Where, tuple[str, str]] = field(default_factory=dict)
    commented: set[Where] = field(default_factory=set)

    def line(self, where: Where) -> int | None:
        """The line of a path, or of the nearest path above it that the file holds."""
        while where and where not in self.lines:
            where = where[:-1]
        return self.lines.get(where)


def none_in(folder: Path, what: str) -> str:
    """That a folder holds none of what was looked for there, or that it is no folder."""
    if folder.is_dir():
        return f"no {what} here"
    return f"not a folder: no {what} here" if folder.exists() else f"no such folder: no {what} here"


def too_long(text: str) -> str:
    """What is wrong with a text that is too long to be searched with or found; empty where nothing is."""
    return "" if len(text) <= LONGEST_TEXT else f"expected at most {LONGEST_TEXT:,} characters, found {len(text):,}"


def files_in(folder: Path, *endings: str, deep: bool = True) -> list[Path]:
    """The files of a folder whose names end so, in capitals or not, in order; deep: also those of folders in it.

    Hidden ones, of an editor or of the system, are left out. A folder that is not there has none.
    """
    there = folder.rglob("*") if deep else folder.glob("*")
    found = (path for path in there if path.suffix.lower() in endings)
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts))


def read_text(path: Path) -> str:
    """A file's text; InputError where it is missing, unreadable or not UTF-8. A byte order mark is dropped."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError([Fault(str(path), line, NOT_UTF8)]) from None
    except OSError as error:
        raise InputError([Fault(str(path), None, f"cannot be read: {error.strerror or error}")]) from None


class _RefusedError(ValueError):
    pass


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    row = dict(pairs)
    if len(row) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _RefusedError(f"the key {json.dumps(twice)} is given twice")
    return row


def _no_constant(name: str) -> object:
    raise _RefusedError(f"{name} is not JSON; write null where there is no value")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _RefusedError(f"{text[:20]} is too large a number")
    return number


_JSON = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_no_constant, parse_float=_finite)


def parse_json(text: str) -> object:
    """Strict JSON: NaN, infinities and keys given twice are a ValueError, as is nesting without end."""
    try:
        value = _JSON.decode(text)
    except RecursionError:
        raise _RefusedError(TOO_DEEP) from None
    except (json.JSONDecodeError, _RefusedError):
        raise
    except ValueError:
        raise _RefusedError(f"a number of more than {MOST_DIGITS:,} digits is not read here") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise _RefusedError(TOO_DEEP)
    if "\\u" in text and not _is_text(value):
        raise _RefusedError("holds half a character: a \\u escape of a surrogate without its other half")
    return value


def _depth(value: object) -> int:
    """How many lists and objects of a JSON value stand in one another."""
    depth, level = 0, [value]
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        level = [part for each in level for part in (each.values() if isinstance(each, dict) else each)]
    return depth


def _is_text(value: object) -> bool:
    """Whether all text in a JSON value can be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def strict_json(content: object, indent: int | None = None, spaces: bool = True) -> str:
    """JSON that any reader takes: a NaN is a ValueError, since null is how a missing value is written."""
    separators = None if spaces else (",", ":")
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)


def content_hash(content: object, digits: int) -> str:
    """The first hex digits of the SHA-256 of content as canonical JSON: keys sorted, no spaces, UTF-8."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def read_json_lines(path: Path) -> tuple[list[tuple[int, dict[str, object]]], list[Fault]]:
    """The objects of a JSON Lines file with their lines, and a fault for every line that is none. Blank lines pass."""
    return parse_lines(path, read_text(path).split("\n"))


def parse_lines(
    path: Path, lines: Iterable[str | bytes], first: int = 1
) -> tuple[list[tuple[int, dict[str, object]]], list[Fault]]:
    """As `read_json_lines`, of lines that were read from the file; `first` is the number of the first."""
    rows: list[tuple[int, dict[str, object]]] = []
    faults: list[Fault] = []
    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        try:
            row = parse_json(line if isinstance(line, str) else line.decode("utf-8"))
        except UnicodeDecodeError:
            faults.append(Fault(str(path), number, NOT_UTF8))
        except json.JSONDecodeError as error:
            faults.append(Fault(str(path), number, f"not JSON: {error.msg} at column {error.colno}"))
        except ValueError as error:
            faults.append(Fault(str(path), number, str(error)))
        else:
            if isinstance(row, dict):
                rows.append((number, row))
            else:
                faults.append(Fault(str(path), number, "expected an object {...} on every line"))
    return rows, faults


def read_yaml(path: Path) -> Document:
    """A YAML file as a Document; InputError with every fault where it cannot be read as it was meant."""
    document, faults = scan_yaml(path)
    if faults:
        raise InputError(faults)
    return document


def scan_yaml(path: Path) -> tuple[Document, list[Fault]]:
    """What can be read of a YAML file, and every fault; a value with a fault is None, a key with one is left out.

    InputError where nothing can be read: no file, no UTF-8, no YAML.
    """
    return parse_yaml(str(path), read_text(path))


def parse_yaml(file: str, text: str) -> tuple[Document, list[Fault]]:
    """As `scan_yaml`, of text that was read already; `file` is what the faults call it."""
    document = Document(file)
    try:
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise InputError([Fault(file, line, f"not YAML: {error.problem or error.context}")]) from None
    except yaml.YAMLError as error:
        first = str(error).split("\n", 1)[0]
        raise InputError([Fault(file, None, f"not YAML: {first}")]) from None
    except RecursionError:
        raise InputError([Fault(file, None, TOO_DEEP)]) from None
    except UnicodeEncodeError:  # an argument of a command may hold what no file here can
        raise InputError([Fault(file, None, NOT_UTF8)]) from None
    reader = _YamlReader(document, _LINE_BREAK.split(text))
    if node is not None:
        document.data = reader.value(node, ())
    return document, reader.faults


class _YamlReader:
    """Nodes into plain values, keeping lines; collects faults instead of stopping at the first."""

    def __init__(self, document: Document, source: list[str]) -> None:
        self.document = document
        self.source = source
        self.faults: list[Fault] = []
        self.seen: set[int] = set()
        self.scalars = yaml.SafeLoader("")

    def fault(self, node: yaml.Node, what: str) -> None:
        self.faults.append(Fault(self.document.file, node.start_mark.line + 1, what))

    def value(self, node: yaml.Node, where: Where) -> object:
        self.document.lines[where] = node.start_mark.line + 1
        if len(where) > MAX_DEPTH:
            self.fault(node, TOO_DEEP)
            return None
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, where)
        if id(node) in self.seen:
            self.fault(node, "anchors and aliases (& and *) are not read here; write the value out")
            return None
        self.seen.add(id(node))
        if node.tag != PREFIX + ("seq" if isinstance(node, yaml.SequenceNode) else "map"):
            self.fault(node, f"the tag {node.tag} is not read here")
            return None
        if isinstance(node, yaml.SequenceNode):
            return [self.value(each, (*where, at)) for at, each in enumerate(node.value)]
        return self.mapping(node, where)

    def mapping(self, node: yaml.Node, where: Where) -> dict[str, object]:
        found: dict[str, object] = {}
        first: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            told = len(self.faults)
            key = self.scalar(key_node, ()) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str):
                raw = key_node.value[:LONGEST_SHOWN] if isinstance(key_node, yaml.ScalarNode) else "a collection"
                if len(self.faults) == told:
                    self.fault(key_node, f"the key {raw} is read as {_shown(key)}, not as text: quote it")
                continue
            if key in found:
                self.fault(key_node, f"the key {key!r} is given twice, first on line {first[key]}")
                continue
            first[key] = line
            found[key] = self.value(value_node, (*where, key))
            self.document.lines[(*where, key)] = line
        return found

    def scalar(self, node: yaml.ScalarNode, where: Where) -> object:
        self.document.raw[where] = (node.value, TYPE_NAMES.get(node.tag, "text"))
        end = node.end_mark
        if (
            not node.style
            and end.line < len(self.source)
            and self.source[end.line][end.column :].lstrip().startswith("#")
        ):
            self.document.commented.add(where)
        if node.tag in MEANT_BY_YAML:
            self.fault(node, f"{node.value} means something else in YAML: quote it")
            return None
        if node.tag not in READ_TAGS:
            self.fault(node, f"the tag {node.tag} is not read here")
            return None
        try:
            # Scalars only, of the safe set: text, numbers, truth values, dates, nothing.
            value: object = self.scalars.construct_object(yaml.ScalarNode(node.tag, node.value))
        except (ValueError, yaml.YAMLError, OverflowError, LookupError, AttributeError):  # the last two: `!!bool x`
            shown = node.value if len(node.value) <= LONGEST_SHOWN else f"{node.value[:LONGEST_SHOWN]}..."
            self.fault(node, f"{shown} looks like {TYPE_NAMES.get(node.tag, 'a value')} and is none: quote it")
            return None
        return value


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "nothing" if value is None else as_found(value)
