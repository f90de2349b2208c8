"""The corpus: laws read and checked, a JSON Lines file a state. Ranks nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from retrieval.documents import files_in, none_in, read_json_lines, too_long
from retrieval.errors import Fault, InputError, as_found
from retrieval.project import PROJECT

PAGE_ROW = "process"
KINDS = ("rule", PAGE_ROW)
LAWS = PROJECT.laws


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Law:
    """One row of a state's corpus.

    `law` is the rule, `question` how a card would ask it, `concept` its subject in hyphens (a page row's family).
    `page` counts in the state's manual, from 1; None where the rule stands on `cite` alone. Fields this class does
    not know are kept in `extra`.
    """

    id: str
    law: str
    question: str = ""
    concept: str = ""
    kind: str = "rule"
    page: int | None = None
    cite: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict, hash=False)

    @property
    def is_page_row(self) -> bool:
        """Whether the row is from the agency's own page: reached by family and by meaning, never by words."""
        return self.kind == PAGE_ROW


class Corpus(dict[str, list[Law]]):
    """The laws that were loaded, by state. states: those that have a file of laws in the folder, loaded or not."""

    def __init__(self, laws: Mapping[str, list[Law]], states: Iterable[str]) -> None:
        super().__init__(laws)
        self.states = tuple(states)


_TEXT = ("id", "law", "question", "concept", "kind")
_KNOWN = {*_TEXT, "page", "cite"}
_REQUIRED = ("id", "law")
_EMBEDDED = ("law", "question")


def load_laws(path: Path | str) -> list[Law]:
    """The laws of one JSON Lines file, in the file's order, which is the order that decides ties.

    Raises InputError with every fault: a line that is no JSON object, a missing `id` or `law`, a field of another
    type, a text of more than 20,000 characters, an id given twice. An empty file is an empty corpus.
    """
    path = Path(path)
    rows, faults = read_json_lines(path)
    laws: list[Law] = []
    first: dict[str, int] = {}
    for line, row in rows:
        wrong = list(_wrong(row))
        faults += [Fault(str(path), line, what) for what in wrong]
        if wrong:
            continue
        law = Law(
            **{key: value for key, value in row.items() if key in _KNOWN},  # type: ignore[arg-type]
            extra={key: value for key, value in row.items() if key not in _KNOWN},
        )
        if law.id in first:
            faults.append(Fault(str(path), line, f"the id {law.id} is given twice, first on line {first[law.id]}"))
        first.setdefault(law.id, line)
        laws.append(law)
    if faults:
        raise InputError(faults)
    return laws


def _wrong(row: Mapping[str, object]) -> Iterable[str]:
    for key in _REQUIRED:
        if key not in row:
            yield f"`{key}` is missing"
    for key in _TEXT:
        if key in row and not isinstance(row[key], str):
            yield f"`{key}` must be text, found {as_found(row[key])}"
    for key in _EMBEDDED:
        if isinstance(row.get(key), str) and (long := too_long(str(row[key]))):
            yield f"`{key}`: {long}; split it into several laws"
    if row.get("id") == "" or (isinstance(row.get("id"), str) and str(row["id"]).split() != [row["id"]]):
        yield f"`id` must be one word without spaces, found {as_found(row['id'])}"
    page = row.get("page")
    if page is not None and (isinstance(page, bool) or not isinstance(page, int) or page < 1):
        yield f"`page` must be a page number from 1, or null, found {as_found(page)}"
    if not isinstance(row.get("cite"), str | None):
        yield f"`cite` must be text or null, found {as_found(row['cite'])}"


def state_files(folder: Path) -> dict[str, Path]:
    """Each state's file by its name in capitals, in alphabetical order; InputError for none, or two of one state."""
    paths = sorted(files_in(folder, ".jsonl", deep=False), key=lambda path: (path.stem.upper(), path.name))
    if not paths:
        what = f"{none_in(folder, '*.jsonl file of laws')}, one a state"
        raise InputError([Fault(str(folder), None, what)])
    files: dict[str, Path] = {}
    faults = []
    for path in paths:
        first = files.setdefault(path.stem.upper(), path)
        if first is not path:
            faults.append(Fault(str(path), None, f"the same state as {first.name}: keep one file a state"))
    if faults:
        raise InputError(faults)
    return files


def load_corpus(folder: Path | str = LAWS, states: Iterable[str] | None = None) -> Corpus:
    """The laws of every `*.jsonl` of a folder, by state: the file's name in capitals, in alphabetical order.

    `states` narrows it. Raises InputError with the faults of all files together, or where the folder or a wanted
    state is not there.
    """
    folder = Path(folder)
    files = state_files(folder)
    wanted = sorted(files) if states is None else sorted(set(states))
    faults = [
        Fault(str(folder), None, f"no laws of {state}; there are {', '.join(files)}")
        for state in wanted
        if state not in files
    ]
    corpus: dict[str, list[Law]] = {}
    for state in wanted:
        if state in files:
            try:
                corpus[state] = load_laws(files[state])
            except InputError as error:
                faults += error.faults
    if faults:
        raise InputError(faults)
    return Corpus(corpus, files)
