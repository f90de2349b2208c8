"""Everything this project refuses, as one small tree. Library code raises; only the command line catches.

NearEnoughError
├── InputError           what a person wrote cannot be read as it stands: every fault, with file and line
├── MissingRecordingError an offline run needs a call that nobody recorded
├── ModelError           a model gave something that cannot be used; nothing was stored
└── RerankError          a reranker's reply that is no answer, with the cause the run counts it by
"""

from collections.abc import Iterable
from dataclasses import dataclass


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
        return f"{where}: {self.what}"


class InputError(NearEnoughError):
    """Input that is refused. `faults` holds everything wrong with it, by file and line, never only the first."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(sorted(set(faults), key=lambda fault: (fault.file, fault.line or 0, fault.what)))
        super().__init__("\n".join(map(str, self.faults)))


class MissingRecordingError(NearEnoughError):
    """A call that was never recorded and cannot be made here."""


class ModelError(NearEnoughError):
    """A model's output that is not what was asked for."""


class RerankError(NearEnoughError):
    """A reranker that did not answer; the caller falls back and counts `cause`."""

    def __init__(self, cause: str, message: str) -> None:
        self.cause = cause
        super().__init__(message)
