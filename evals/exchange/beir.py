"""A collection in BEIR's layout, read: corpus.jsonl, queries.jsonl, qrels/*.tsv. Makes no question of a query."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.exchange.trec import grade
from retrieval.documents import files_in, none_in, read_json_lines, read_text
from retrieval.errors import Fault, InputError, as_found

HEADER = ("query-id", "corpus-id", "score")

Row = Mapping[str, object]
Judged = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Collection:
    """A collection as it stands: rows in the files' order, and by split each query's grades.

    name: the folder's. lines: the line of each query, by its id.
    """

    name: str
    folder: Path
    documents: Sequence[Row]
    queries: Sequence[Row]
    judged: Mapping[str, Judged]
    lines: Mapping[str, int]

    @property
    def queries_file(self) -> str:
        """Where the queries stand."""
        return str(self.folder / "queries.jsonl")


def read_collection(folder: Path | str, split: str | None = None) -> Collection:
    """A folder's collection, with the judgements of all splits or of one.

    InputError with every fault of every file: a row without `_id` or `text`, an id given twice, a judgement of a query
    or a document that is not there, a grade that is no whole number, a document judged twice, no judgement at all.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError([Fault(str(folder), None, none_in(folder, "corpus.jsonl, queries.jsonl and qrels/"))])
    faults: list[Fault] = []
    documents = _rows(folder / "corpus.jsonl", faults)
    queries = _rows(folder / "queries.jsonl", faults)
    faults += _without_text(folder / "queries.jsonl", queries)
    judged = _splits(folder / "qrels", split, documents, queries, faults)
    if faults:
        raise InputError(faults)
    return Collection(
        name=folder.resolve().name,
        folder=folder,
        documents=[row for _, row in documents.values()],
        queries=[row for _, row in queries.values()],
        judged=judged,
        lines={each: line for each, (line, _) in queries.items()},
    )


def _rows(path: Path, faults: list[Fault]) -> dict[str, tuple[int, Row]]:
    """The rows of a file by id, each with its line."""
    try:
        rows, wrong = read_json_lines(path)
    except InputError as error:
        faults += error.faults
        return {}
    found: dict[str, tuple[int, Row]] = {}
    for line, row in rows:
        own = list(_wrong(row))
        identifier = row.get("_id")
        if not own and str(identifier) in found:
            own.append(f"the _id {identifier} is given twice, first on line {found[str(identifier)][0]}")
        wrong += [Fault(str(path), line, what) for what in own]
        if isinstance(identifier, str):
            found.setdefault(identifier, (line, row))
    if not rows and not wrong:
        wrong.append(Fault(str(path), None, "no row here"))
    faults += wrong
    return found


def _wrong(row: Row) -> Iterable[str]:
    for name in ("_id", "text"):
        if name not in row:
            yield f"`{name}` is missing"
    for name in ("_id", "text", "title"):
        if name in row and not isinstance(row[name], str):
            yield f"`{name}` must be text, found {as_found(row[name])}"
    if row.get("_id") == "":
        yield "`_id` is empty"


def _without_text(path: Path, queries: Mapping[str, tuple[int, Row]]) -> Iterable[Fault]:
    for line, row in queries.values():
        if isinstance(row.get("text"), str) and not str(row["text"]).strip():
            yield Fault(str(path), line, f"the query {row['_id']} has an empty text: nothing could be asked")


def _splits(
    folder: Path,
    split: str | None,
    documents: Mapping[str, object],
    queries: Mapping[str, object],
    faults: list[Fault],
) -> dict[str, Judged]:
    files = {path.stem: path for path in files_in(folder, ".tsv", deep=False)}
    if not files:
        faults.append(Fault(str(folder), None, "no *.tsv file of judgements here"))
    elif split is not None and split not in files:
        faults.append(Fault(str(folder), None, f"no split {split}; there are {', '.join(files)}"))
    wanted = {name: path for name, path in files.items() if split in (None, name)}
    found: dict[str, Judged] = {name: _qrels(path, documents, queries, faults) for name, path in wanted.items()}
    if wanted and not any(found.values()) and not faults:
        faults.append(Fault(str(folder), None, "no judgement here"))
    return found


def _qrels(
    path: Path, documents: Mapping[str, object], queries: Mapping[str, object], faults: list[Fault]
) -> dict[str, dict[str, int]]:
    """One file of judgements. Where the corpus or the queries could not be read, what they lack is no fault here."""
    try:
        lines = read_text(path).split("\n")
    except InputError as error:
        faults += error.faults
        return {}
    found: dict[str, dict[str, int]] = {}
    first: dict[tuple[str, str], int] = {}
    if tuple(lines[0].split("\t")) != HEADER:
        faults.append(Fault(str(path), 1, f"expected the first line {' '.join(HEADER)}, with tabs between"))
    for line, text in enumerate(lines[1:], 2):
        if not text.strip():
            continue
        parts = text.split("\t")
        if len(parts) != len(HEADER):
            what = f"expected {len(HEADER)} columns, {' '.join(HEADER)}, with tabs between, found {len(parts)}"
            faults.append(Fault(str(path), line, what))
            continue
        query, document, score = parts
        if queries and query not in queries:
            faults.append(Fault(str(path), line, f"{query} is no query of queries.jsonl"))
        if documents and document not in documents:
            faults.append(Fault(str(path), line, f"{document} is no document of corpus.jsonl"))
        before = first.setdefault((query, document), line)
        if before != line:
            faults.append(Fault(str(path), line, f"{document} stands twice for {query}, first on line {before}"))
        try:
            found.setdefault(query, {})[document] = grade(score)
        except ValueError as error:
            faults.append(Fault(str(path), line, str(error)))
    return found
