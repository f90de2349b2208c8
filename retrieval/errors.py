"""Everything this project refuses, as one small tree. Library code raises; only the command line catches.

NearEnoughError
├── InputError           what a person wrote cannot be read as it stands: every fault, with file and line
├── MissingRecordingError an offline run needs a call that nobody recorded
├── ModelError           a model gave something that cannot be used; nothing was stored
└── RerankError          a reranker's reply that is no answer, with the cause the run counts it by
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MOST_SHOWN = 50
LONGEST_FAULT = 1_000  # characters
LONGEST_SHOWN = 60  # characters of a text that a message repeats
MOST_BITS = 200


class NearEnoughError(Exception):
    """The root: its text is one message for a person."""


@dataclass(frozen=True, order=True)
class Fault:
    """One thing wrong in one place: `file:line: what was found, what was expected, what to try`."""

    file: str
    line: int | None
    what: str

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        what = self.what if len(self.what) <= LONGEST_FAULT else f"{self.what[:LONGEST_FAULT]}..."
        said = f"{where}: {what}"
        return said if said.isprintable() else "".join(map(_printable, said))


def _printable(character: str) -> str:
    """What ends a line, moves a cursor or is half a character, as its escape: a fault is one line, of plain text."""
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")


class InputError(NearEnoughError):
    """Input that is refused. `faults` holds everything wrong with it, by file and line, never only the first.

    The text shows at most 50 of them, shared out among the files, and says how many more there are.
    """

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(sorted(set(faults), key=lambda fault: (fault.file, fault.line or 0, fault.what)))
        super().__init__("\n".join(_shown(self.faults)))


def _shown(faults: tuple[Fault, ...]) -> list[str]:
    """The faults as lines; of too many, the first of each file in turn, so that one bad file hides no other."""
    if len(faults) <= MOST_SHOWN:
        return [str(fault) for fault in faults]
    seen: Counter[str] = Counter()
    places = []
    for at, fault in enumerate(faults):
        seen[fault.file] += 1
        places.append((seen[fault.file], at))
    shown = sorted(at for _, at in sorted(places)[:MOST_SHOWN])
    left = len(faults) - MOST_SHOWN
    return [*(str(faults[at]) for at in shown), f"and {left:,} more {'fault' if left == 1 else 'faults'}"]


class MissingRecordingError(NearEnoughError):
    """A call that was never recorded and cannot be made here."""


class ModelError(NearEnoughError):
    """A model's output that is not what was asked for."""


class RerankError(NearEnoughError):
    """A reranker that did not answer; the caller falls back and counts `cause`."""

    def __init__(self, cause: str, message: str) -> None:
        self.cause = cause
        super().__init__(message)


def as_found(value: object) -> str:
    """What stands where something else was expected, much as its file writes it, cut where it is long."""
    if isinstance(value, dict):
        return "an object {...}"
    if isinstance(value, list | tuple):
        return "a list [...]" if value else "an empty list []"
    if isinstance(value, str):
        if not value.strip():
            return "blanks alone" if value else "an empty text"
        cut = value if len(value) <= LONGEST_SHOWN else f"{value[:LONGEST_SHOWN]}..."
        return json.dumps(cut, ensure_ascii=False)
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return "a number of very many digits"
    return json.dumps(value) if value is None or isinstance(value, int | float) else str(value)


_EXPECTED: Mapping[str, str] = {
    "string_type": "expected text",
    "string_unicode": "expected text",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "int_parsing_size": "expected a whole number with fewer digits",
    "float_type": "expected a number",
    "finite_number": "expected a finite number",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
    "dict_type": "expected names with values",
    "mapping_type": "expected names with values",
    "model_type": "expected names with values",
    "model_attributes_type": "expected names with values",
    "greater_than_equal": "expected {ge:g} or more",
    "less_than_equal": "expected {le:g} or less",
    "string_too_short": "expected text",
    "string_too_long": "expected at most {max_length:,} characters",
    "too_short": "expected at least {min_length}",
    "literal_error": "expected {expected}",
    "value_error": "{error}",
}

_PATTERNS: Mapping[str, str] = {
    r"\S": "expected text",
    r"^[A-Za-z0-9][A-Za-z0-9._-]*$": "expected a name of letters, digits, `.`, `_` and `-`, without spaces",
    r"^[^/]+/[^/]+$": "expected a need and an ask, with a slash between",
}


def named(name: str, detail: Mapping[str, Any]) -> str:
    """One error of a validation of pydantic's with the name of the field; empty: of the whole."""
    what = in_words(detail)
    return f"`{name}`{' ' if what.startswith('is ') else ': '}{what}" if name else what


def in_words(detail: Mapping[str, Any]) -> str:
    """One error of a validation of pydantic's, in this project's words: what was expected, and what was found."""
    kind, context = str(detail["type"]), detail.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "is not known here"
    if kind == "string_pattern_mismatch":
        pattern = str(context["pattern"])
        what = _PATTERNS.get(pattern) or f"expected {' or '.join(pattern.strip('^$()').split('|'))}"
    else:
        what = _EXPECTED.get(kind, "expected something else").format_map(context)
    if kind == "literal_error":
        what = what.replace("'", "")
    if kind == "string_too_long":
        return f"{what}, found {len(detail['input']):,}"
    return f"{what}, found {as_found(detail['input'])}"
