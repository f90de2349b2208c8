"""The corpus: laws read and checked, a JSON Lines file a state. Ranks nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from retrieval.documents import read_json_lines
from retrieval.errors import Fault, InputError
from retrieval.project import PROJECT

PAGE_ROW = "process"
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


_TEXT = ("id", "law", "question", "concept", "kind")
_KNOWN = {*_TEXT, "page", "cite"}
_REQUIRED = ("id", "law")


def load_laws(path: Path | str) -> list[Law]:
    """The laws of one JSON Lines file, in the file's order, which is the order that decides ties.

    Raises InputError with every fault: a line that is no JSON object, a missing `id` or `law`, a field of another
    type, an id given twice. An empty file is an empty corpus.
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
            yield f"`{key}` must be text, found {row[key]!r}"
    if row.get("id") == "" or (isinstance(row.get("id"), str) and str(row["id"]).split() != [row["id"]]):
        yield f"`id` must be one word without spaces, found {row['id']!r}"
    page = row.get("page")
    if page is not None and (isinstance(page, bool) or not isinstance(page, int) or page < 1):
        yield f"`page` must be a page number from 1, or null, found {page!r}"
    if not isinstance(row.get("cite"), str | None):
        yield f"`cite` must be text or null, found {row['cite']!r}"


def state_files(folder: Path) -> dict[str, Path]:
    """Each state's file by its name in capitals, in alphabetical order; InputError for none, or two of one state."""
    paths = sorted(folder.glob("*.jsonl"), key=lambda path: (path.stem.upper(), path.name))
    if not paths:
        raise InputError([Fault(str(folder), None, "no *.jsonl file of laws here, one a state")])
    files: dict[str, Path] = {}
    faults = []
    for path in paths:
        first = files.setdefault(path.stem.upper(), path)
        if first is not path:
            faults.append(Fault(str(path), None, f"the same state as {first.name}: keep one file a state"))
    if faults:
        raise InputError(faults)
    return files


def load_corpus(folder: Path | str = LAWS, states: Iterable[str] | None = None) -> dict[str, list[Law]]:
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
    return corpus
