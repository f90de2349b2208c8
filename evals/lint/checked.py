"""Settings, laws, concept list and questions read together: every fault of all of them at once, or where each stands.

The checks themselves are those of `load_settings`, `load_corpus` and `load_questions`. Added here is a concept list
that is none.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from evals.questions import Pair, load_questions, question_files
from retrieval.corpus import Corpus, Law, load_corpus, load_laws
from retrieval.documents import Document, files_in, read_json_lines, read_yaml
from retrieval.errors import Fault, InputError
from retrieval.settings import Settings, load_settings

CONCEPTS = "concepts.yaml"
FAMILIES = "families"

T = TypeVar("T")


class Place(NamedTuple):
    """A file, and a line in it from 1."""

    file: str
    line: int | None


@dataclass(frozen=True)
class Concepts:
    """The names a law's concept may have: `rules` for rules, `families` for page rows."""

    rules: frozenset[str]
    families: frozenset[str]

    def hold(self, law: Law) -> bool:
        """Whether the law's concept is on the list; a law without a concept names nothing that could be missing."""
        return not law.concept or law.concept in (self.families if law.is_page_row else self.rules)


@dataclass(frozen=True)
class Checked:
    """A set without faults. `concepts` is None where no list stands beside the laws.

    laws_at: each law's place by state and id. needs_at: by need, its file's document and its position there.
    """

    settings: Settings
    corpus: Mapping[str, Sequence[Law]]
    pairs: Sequence[Pair]
    concepts: Concepts | None
    questions: Path
    laws_at: Mapping[str, Mapping[str, Place]]
    needs_at: Mapping[str, tuple[Document, int]]

    def expected_at(self, pair: Pair) -> Place:
        """Where the expected laws of a pair's state are written."""
        document, at = self.needs_at[pair.need]
        return Place(document.file, document.line(("needs", at, "expected", pair.state)))


def read_checked(settings_file: Path | str, laws: Path | str, questions: Path | str) -> Checked:
    """The settings file and the two folders; InputError with the faults of all of them together.

    Where a state's laws cannot be read, the questions are still checked against the others.
    """
    laws, questions = Path(laws), Path(questions)
    faults: list[Fault] = []
    settings = _tried(lambda: load_settings(settings_file), faults)
    corpus = _tried(lambda: load_corpus(laws), faults)
    concepts = _tried(lambda: load_concepts(laws / CONCEPTS), faults)
    readable = _readable(laws) if corpus is None else corpus
    pairs = _tried(lambda: load_questions(questions, readable), faults)
    documents = _documents(questions)
    if faults or settings is None or corpus is None or pairs is None:
        raise InputError(faults)
    return Checked(
        settings=settings,
        corpus=corpus,
        pairs=pairs,
        concepts=concepts,
        questions=questions,
        laws_at={path.stem.upper(): _lines(path) for path in _law_files(laws)},
        needs_at={
            str(need["id"]): (document, at) for document in documents for at, need in enumerate(_needs(document))
        },
    )


def load_concepts(path: Path) -> Concepts | None:
    """The concept list: topics, each with its concepts and what they mean; `families` holds the page rows'.

    None where there is no file. InputError where a topic holds no names.
    """
    if not path.is_file():
        return None
    document = read_yaml(path)
    topics = document.data if isinstance(document.data, dict) else {}
    faults = [
        Fault(
            document.file, document.line((topic,)), f"{topic}: expected concepts, one `name: what it is about` a line"
        )
        for topic, names in topics.items()
        if not isinstance(names, dict)
    ]
    if not topics:
        faults = [Fault(document.file, 1, "expected topics, each with its concepts")]
    if faults:
        raise InputError(faults)
    rules = {name for topic, names in topics.items() if topic != FAMILIES for name in names}
    return Concepts(frozenset(rules), frozenset(topics.get(FAMILIES, ())))


def _tried(read: Callable[[], T], faults: list[Fault]) -> T | None:
    try:
        return read()
    except InputError as error:
        faults += error.faults
        return None


def _law_files(folder: Path) -> list[Path]:
    return files_in(folder, ".jsonl", deep=False)


def _readable(folder: Path) -> Corpus:
    files = _law_files(folder)
    found = {}
    for path in files:
        with suppress(InputError):
            found[path.stem.upper()] = load_laws(path)
    return Corpus(found, [path.stem.upper() for path in files])


def _documents(folder: Path) -> list[Document]:
    found = []
    for path in question_files(folder):
        with suppress(InputError):
            found.append(read_yaml(path))
    return found


def _lines(path: Path) -> dict[str, Place]:
    rows, _ = read_json_lines(path)
    return {str(row["id"]): Place(str(path), line) for line, row in rows}


def _needs(document: Document) -> list[dict[str, object]]:
    """The needs of a file as they were written; [] where it holds none, or something else."""
    needs = document.data.get("needs") if isinstance(document.data, dict) else None
    return [need if isinstance(need, dict) else {} for need in needs] if isinstance(needs, list) else []
