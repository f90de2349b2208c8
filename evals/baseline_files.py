"""A baseline's files, small enough to be read as a diff in a pull request.

* `outcomes.csv`: a line a pair, with its expected groups and which of them arrived in the pool and in the answer.
* `margins.csv`: how narrowly: each group's place in the pool and its cosine. These move with every edit of a law.
* `baseline.json`: the reason, the settings, the fingerprints, the means, and the losses accepted on the way.

`reports/history.csv` has a line for each time the project's own baseline was recorded. `near-enough baseline` alone
writes them.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import unquote

from pydantic import ValidationError

from evals.baseline import DIGITS, FORMAT, Baseline, Summary, measured
from evals.compare import Comparison
from evals.outcomes import JUDGED, Group, Outcome, Side
from evals.questions import Key
from retrieval.documents import parse_json, read_text, strict_json
from retrieval.errors import Fault, InputError, as_found, named
from retrieval.recordings import write_all

COLUMNS = ("question", "state", "kind", "language", "expects", "near laws", "expected", *JUDGED)
MARGINS = ("question", "state", "pool laws", "places", "cosines")
HISTORY = (
    "date",
    "why",
    "pairs",
    *(f"recall of the {stage}" for stage in JUDGED),
    "lost",
    "gained",
    *("laws", "questions", "settings", "model"),
)

_One = TypeVar("_One")
_Other = TypeVar("_Other")


def is_recorded(folder: Path) -> bool:
    """Whether a baseline was recorded in a folder, be it readable or not."""
    return folder.is_dir() and any(folder.iterdir())


def read_baseline(folder: Path) -> Baseline:
    """The baseline of a folder; InputError with every fault.

    A file that is missing, empty or unreadable, a value that is no number, and files that do not belong together:
    the means of the summary must be those of the outcomes.
    """
    if not is_recorded(folder):
        raise InputError([Fault(str(folder), None, 'no baseline here; record one: near-enough baseline --why "..."')])
    summary, found = _all_of(lambda: _summary(folder / "baseline.json"), lambda: _outcomes(folder))
    if measured(found) != (summary.pairs, summary.recall, summary.near_laws_of_expect_nothing):
        what = "its means are not those of outcomes.csv: one of the two was edited or cut off; record the baseline anew"
        raise InputError([Fault(str(folder / "baseline.json"), None, what)])
    return Baseline(summary, found)


def _all_of(one: Callable[[], _One], other: Callable[[], _Other]) -> tuple[_One, _Other]:
    """What both readers give; InputError with the faults of both."""
    try:
        first = one()
    except InputError as error:
        try:
            other()
        except InputError as too:
            raise InputError([*error.faults, *too.faults]) from None
        raise
    return first, other()


def _summary(path: Path) -> Summary:
    try:
        content = parse_json(read_text(path))
        given = content.get("format") if isinstance(content, dict) else None
        if type(given) is not int or given != FORMAT:
            what = f"format {as_found(given)}, and this version reads format {FORMAT}: record the baseline anew"
            raise ValueError(what)
        return Summary.model_validate(content)
    except ValidationError as error:
        each = [named(".".join(map(str, one["loc"])), dict(one)) for one in error.errors()]
        raise InputError(Fault(str(path), None, what) for what in each) from None
    except ValueError as error:
        raise InputError([Fault(str(path), None, f"not a baseline: {error}")]) from None


class _Margins(NamedTuple):
    """How narrowly a pair's groups arrived, one place and one cosine a group."""

    pool_laws: int
    places: list[int | None]
    cosines: list[float | None]


def _outcomes(folder: Path) -> dict[Key, Outcome]:
    """The outcomes of both tables: margins.csv holds the pairs of outcomes.csv that expect something."""
    faults: list[Fault] = []
    margins = _rows(folder / "margins.csv", MARGINS, _margins, faults)
    unread = bool(faults)

    def read(row: Mapping[str, str]) -> Outcome:
        return _outcome(row, None if unread else margins.get((row["question"], row["state"]), _Margins(0, [], [])))

    found = _rows(folder / "outcomes.csv", COLUMNS, read, faults)
    if not found and not faults:
        faults.append(Fault(str(folder / "outcomes.csv"), None, "no outcome of any question here"))
    faults += [
        Fault(str(folder / "margins.csv"), None, f"{key[0]} in {key[1]} is not in outcomes.csv")
        for key in margins
        if key not in found and not faults
    ]
    if faults:
        raise InputError(faults)
    return found


def _rows(
    path: Path, columns: Sequence[str], read: Callable[[Mapping[str, str]], _One], faults: list[Fault]
) -> dict[Key, _One]:
    """What `read` makes of a table's rows, by question and state; what is wrong goes to `faults`."""
    try:
        lines = list(csv.reader(io.StringIO(read_text(path), newline=""), strict=True))
    except InputError as error:
        faults += error.faults
        return {}
    except csv.Error as error:
        faults.append(Fault(str(path), None, f"not a table: {error}"))
        return {}
    if not lines or tuple(lines[0]) != tuple(columns):
        faults.append(Fault(str(path), 1, f"expected the columns {', '.join(columns)}, and a line a pair"))
        return {}
    found: dict[Key, _One] = {}
    for line, cells in enumerate(lines[1:], 2):
        try:
            if len(cells) != len(columns):
                raise ValueError(f"expected {len(columns)} values, found {len(cells)}")
            row = dict(zip(columns, cells, strict=True))
            key = row["question"], row["state"]
            if key in found:
                raise ValueError(f"{key[0]} in {key[1]} stands here twice")
            found[key] = read(row)
        except ValueError as error:
            faults.append(Fault(str(path), line, str(error)))
    return found


def _margins(row: Mapping[str, str]) -> _Margins:
    return _Margins(
        _whole(row["pool laws"]),
        [None if each == "-" else _whole(each) for each in row["places"].split()],
        [None if each == "-" else _cosine(each) for each in row["cosines"].split()],
    )


def _outcome(row: Mapping[str, str], margins: _Margins | None) -> Outcome:
    """A row as an outcome; without margins, which could not be read, of the row's own faults alone."""
    groups = [tuple(map(unquote, group.split("|"))) for group in row["expected"].split()]
    margins = margins or _Margins(0, [None] * len(groups), [None] * len(groups))
    arrived = {stage: row[stage].split() for stage in JUDGED}
    if {*map(len, arrived.values()), len(margins.places), len(margins.cosines)} != {len(groups)}:
        what = f"{', '.join(JUDGED)} and, in margins.csv, places and cosines"
        raise ValueError(f"{row['question']} in {row['state']}: expected {what} of {len(groups)} groups")
    if not {each for bits in arrived.values() for each in bits} <= {"0", "1", "-"}:
        raise ValueError("expected 1 for a group that arrived, 0 for one that did not, - where the stage was not run")
    return Outcome(
        question=row["question"],
        state=row["state"],
        kind=row["kind"],
        language=row["language"],
        expects=row["expects"],
        groups=tuple(
            Group(
                laws=laws,
                reached={stage: arrived[stage][at] == "1" for stage in JUDGED if arrived[stage][at] != "-"},
                place=margins.places[at],
                cosine=margins.cosines[at],
            )
            for at, laws in enumerate(groups)
        ),
        near_laws=_whole(row["near laws"]),
        pool_laws=margins.pool_laws,
    )


def _whole(text: str) -> int:
    return int(_written_as(text, "[0-9]{1,9}", "a whole number"))


def _cosine(text: str) -> float:
    return float(_written_as(text, "-?[01][.][0-9]+", "a cosine"))


def _written_as(text: str, pattern: str, what: str) -> str:
    if not re.fullmatch(pattern, text):
        raise ValueError(f"expected {what}, found {text or 'nothing'}")
    return text


def write_baseline(folder: Path, side: Side, summary: Summary) -> None:
    """The baseline's files, replaced together, and nothing outside the folder."""
    every = side.outcomes.values()
    files = {
        "outcomes.csv": _csv([COLUMNS, *map(_arrivals, every)]),
        "margins.csv": _csv([MARGINS, *(_narrowly(each) for each in every if each.groups)]),
        "baseline.json": strict_json(summary.model_dump(mode="json"), indent=1) + "\n",
    }
    write_all({folder / name: text for name, text in files.items()})


def history(path: Path, summary: Summary, comparison: Comparison | None) -> str:
    """The text of a history with a line more: when, why, the means, what was lost and gained against the one before.

    InputError where the file is of another form.
    """
    head = _csv([HISTORY])
    past = read_text(path) if path.exists() else head
    if not past.startswith(head):
        raise InputError([Fault(str(path), 1, f"expected the columns {', '.join(HISTORY)}; move the file away")])
    lost, gained = (comparison.lost, comparison.gained) if comparison else (None, None)
    row = [
        summary.date,
        summary.why,
        summary.pairs,
        *(summary.recall["all"][stage] for stage in JUDGED),
        *("" if flips is None else sum(bool(flip.judged) for flip in flips) for flips in (lost, gained)),
        *(summary.fingerprints.get(name, "") for name in HISTORY[-4:]),
    ]
    return past + _csv([row])


def _arrivals(outcome: Outcome) -> list[object]:
    return [
        *outcome.key,
        outcome.kind,
        outcome.language,
        outcome.expects,
        outcome.near_laws,
        " ".join("|".join(map(_quoted, group.laws)) for group in outcome.groups),
        *(_each((group.reached.get(stage) for group in outcome.groups), "d") for stage in JUDGED),
    ]


def _narrowly(outcome: Outcome) -> list[object]:
    places = _each((group.place for group in outcome.groups), "d")
    return [*outcome.key, outcome.pool_laws, places, _each((group.cosine for group in outcome.groups), f".{DIGITS}f")]


def _each(values: Iterable[float | None], form: str) -> str:
    """A value a group, - where there is none."""
    return " ".join("-" if value is None else format(value, form) for value in values)


def _quoted(law: str) -> str:
    return law.replace("%", "%25").replace("|", "%7C")


def _csv(rows: Iterable[Sequence[object]]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue()
