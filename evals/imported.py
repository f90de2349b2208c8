"""What an imported query has and a question set cannot hold: its own id, further fields, grades, judgements by split.

It stands in `imported.jsonl` beside the questions, a line a query and state, in the collection's order. The questions
stay what they are: who edits them edits what is expected; this only tells what it was called and how it was graded.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.judged import Judged
from evals.outcomes import first_fault
from evals.questions import Key, Pair
from retrieval.documents import read_json_lines, strict_json
from retrieval.errors import Fault, InputError

KEPT = "imported.jsonl"

Grades = dict[str, int]


class Kept(BaseModel):
    """A query as it came: its row, and by split the grade of each law that was judged for it.

    question: the question it became, None where nobody judged it: then nothing is asked, and the row holds its text.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    state: str
    question: Annotated[str, Field(pattern="^[^/]+/[^/]+$")] | None
    query: dict[str, object]
    judged: dict[str, Grades]

    @property
    def id(self) -> str:
        """The query's id in its collection."""
        return str(self.query["_id"])

    @property
    def grades(self) -> Grades:
        """The grade of each judged law: the highest that any split gives it, in the splits' order."""
        found: Grades = {}
        for grades in self.judged.values():
            for law, grade in grades.items():
                found[law] = max(grade, found.get(law, grade))
        return found


def read_kept(folder: Path | str) -> list[Kept]:
    """What stands beside a folder of questions; [] where nothing was imported. InputError with every bad line."""
    path = Path(folder) / KEPT
    if not path.is_file():
        return []
    rows, faults = read_json_lines(path)
    found: list[Kept] = []
    for line, row in rows:
        try:
            each = Kept.model_validate(row)
            if not isinstance(each.query.get("_id"), str):
                raise ValueError("`query._id` must be text")
            for split in each.judged:  # a split is the name of a file when it goes out again
                if split in ("", ".", "..") or not split.isprintable() or set(split) & {"/", "\\"}:
                    raise ValueError(f"`judged`: {split!r} is no name of a split")
        except (ValidationError, ValueError) as error:
            faults.append(Fault(str(path), line, first_fault(error)))
        else:
            found.append(each)
    if faults:
        raise InputError(faults)
    return found


def by_key(kept: Iterable[Kept]) -> dict[Key, Kept]:
    """The queries that became questions, by question and state."""
    return {(each.question, each.state): each for each in kept if each.question is not None}


def written(kept: Iterable[Kept]) -> str:
    """The file's text."""
    return "".join(strict_json(each.model_dump()) + "\n" for each in kept)


def grades(pair: Pair, kept: Kept | None) -> Grades:
    """The grades of a pair's laws as its question stands now: what is expected is above 0, what is not is not.

    As imported where the two agree; an expected law that nobody graded has 1. Accepted laws have no grade.
    """
    given = kept.grades if kept else {}
    expected = dict.fromkeys(law for group in pair.expected for law in group)
    found = {law: grade for law, grade in given.items() if grade <= 0 or law in expected}
    return found | {law: max(1, given.get(law, 1)) for law in expected}


def judged(pair: Pair, returned: Sequence[str], kept: Kept | None = None) -> Judged:
    """A pair as metrics see it; an imported pair's grades are its gains, and a group has the highest of its laws'."""
    given: Grades = grades(pair, kept) if kept else {}
    gains = [max(given[law] for law in group) for group in pair.expected] if given else None
    return Judged(pair.expected, returned, pair.accepted, gains)
