"""TREC's two files, judgements (qrels) and runs, read and written. Strict where trec_eval is, and it says where."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import TypeVar

from retrieval.documents import read_text
from retrieval.errors import Fault, InputError

QRELS = ("question", "0", "document", "grade")
RUN = ("question", "Q0", "document", "rank", "score", "tag")

_GRADE = re.compile(r"[+-]?[0-9]{1,9}")
_SCORE = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?inf(inity)?", re.IGNORECASE | re.ASCII)

Number = TypeVar("Number", int, float)


def read_qrels(path: Path | str) -> dict[str, dict[str, int]]:
    """For each question the grade of each judged document, both in the file's order: above 0 is relevant.

    A line is `question 0 document grade`, between white space; the second column means nothing. InputError with
    every fault: another number of columns, a grade that is no whole number, a document judged twice for a question,
    or no judgement at all.
    """
    return _read(Path(path), QRELS, QRELS.index("grade"), grade)


def read_run(path: Path | str) -> dict[str, dict[str, float]]:
    """For each question the score of each returned document, both in the file's order, which decides nothing.

    A line is `question Q0 document rank score tag`, between white space; as in trec_eval the score alone ranks, the
    rank is not looked at. InputError with every fault: another number of columns, a score that is no number, a
    document returned twice for a question, or nothing returned at all.
    """
    return _read(Path(path), RUN, RUN.index("score"), _score)


def _read(
    path: Path, columns: tuple[str, ...], at: int, number: Callable[[str], Number]
) -> dict[str, dict[str, Number]]:
    found: dict[str, dict[str, Number]] = {}
    first: dict[tuple[str, str], int] = {}
    faults: list[Fault] = []
    for line, parts in _lines(path, len(columns)):
        if len(parts) != len(columns):
            what = f"expected {len(columns)} columns, {' '.join(columns)}, found {len(parts)}"
            faults.append(Fault(str(path), line, what))
            continue
        question, document = parts[0], parts[2]
        before = first.setdefault((question, document), line)
        if before != line:
            faults.append(Fault(str(path), line, f"{document} stands twice for {question}, first on line {before}"))
        try:
            found.setdefault(question, {})[document] = number(parts[at])
        except ValueError as error:
            faults.append(Fault(str(path), line, str(error)))
    if not first and not faults:
        faults.append(Fault(str(path), None, f"no line of {' '.join(columns)} here"))
    if faults:
        raise InputError(faults)
    return found


def _lines(path: Path, columns: int) -> Iterator[tuple[int, list[str]]]:
    """The lines that are not blank, split; a run's tag may hold spaces."""
    for line, text in enumerate(read_text(path).split("\n"), 1):
        if parts := text.split(None, columns - 1):
            yield line, [part.strip() for part in parts]


def grade(text: str) -> int:
    """A grade as it is written; ValueError for what is no whole number."""
    if not _GRADE.fullmatch(text):
        raise ValueError(f"expected a grade, a whole number, found {text}")
    return int(text)


def _score(text: str) -> float:
    score = float(text) if _SCORE.fullmatch(text) else float("nan")
    if isnan(score):
        raise ValueError(f"expected a score, a number, found {text}")
    return score


def qrels_text(judgements: Mapping[str, Mapping[str, int]]) -> str:
    """Judgements as a file that `read_qrels` and trec_eval read. Ids must be words."""
    return "".join(
        f"{question} 0 {document} {grade}\n"
        for question, grades in judgements.items()
        for document, grade in grades.items()
    )


def run_text(returned: Mapping[str, Sequence[str]], tag: str) -> str:
    """What was returned, best first, as a file that `read_run` and trec_eval read; a question with nothing has no line.

    The score counts down to 1: trec_eval orders by it alone, in float32, and breaks ties by id, so that scores as they
    were could change the order.
    """
    return "".join(
        f"{question} Q0 {document} {place + 1} {len(documents) - place} {tag}\n"
        for question, documents in returned.items()
        for place, document in enumerate(documents)
    )
