"""The baseline: what held when it was recorded, small enough to be read as a diff in a pull request.

* `outcomes.csv`: a line a pair, with its expected groups and which of them arrived in the pool and in the answer.
* `margins.csv`: how narrowly: each group's place in the pool and its cosine. These move with every edit of a law.
* `baseline.json`: the reason, the settings, the fingerprints, the means, and the losses accepted on the way.
* `../history.csv`: a line for each time a baseline was recorded.

`near-enough baseline` alone writes them.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from evals.compare import Comparison, Flip, compare
from evals.metrics import mean
from evals.outcomes import JUDGED, Group, Key, Outcome, Side, recalls
from evals.stages import STAGES
from retrieval.documents import parse_json, read_text, strict_json
from retrieval.errors import Fault, InputError
from retrieval.recordings import write_beside

FORMAT = 1
DIGITS = 4  # of a cosine
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
NOTHING = ("unrelated", "uncovered")
SEARCHES = tuple(stage for stage in STAGES if stage not in JUDGED)

Recall = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]

_One = TypeVar("_One")
_Other = TypeVar("_Other")


class AcceptedLoss(BaseModel):
    """A group that a stage stopped reaching and that was let go, with the reason; it stays until it is won back."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    question: str
    state: str
    expected: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    stage: Annotated[str, Field(pattern=f"^({'|'.join(JUDGED)})$")]
    why: str

    @property
    def name(self) -> tuple[str, str, frozenset[str], str]:
        """What makes it the same loss."""
        return self.question, self.state, frozenset(self.expected), self.stage


class Summary(BaseModel):
    """What baseline.json holds.

    recall: the mean over pairs, by group and stage; null where nothing is expected. searches: that of the stages
    before the pool over all pairs, which are shown and not judged; null where nobody kept it.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    format: int
    why: Annotated[str, Field(min_length=1)]
    date: str
    fingerprints: dict[str, str]
    settings: dict[str, Any]
    cutoff: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
    pairs: Annotated[int, Field(ge=1)]
    recall: dict[str, dict[str, Recall | None]]
    searches: dict[str, Recall | None] = Field(default_factory=lambda: dict.fromkeys(SEARCHES))
    near_laws_of_expect_nothing: dict[str, Count]
    accepted_losses: list[AcceptedLoss]

    @field_validator("searches")
    @classmethod
    def _names_the_searches(cls, value: dict[str, float | None]) -> dict[str, float | None]:
        if set(value) != set(SEARCHES):
            raise ValueError(f"expected {', '.join(SEARCHES)}")
        return value

    @field_validator("fingerprints")
    @classmethod
    def _names_the_model(cls, value: dict[str, str]) -> dict[str, str]:
        if "model" not in value:
            raise ValueError("`model` is missing")
        return value


@dataclass(frozen=True)
class Baseline:
    """A baseline as the gate reads it. Its outcomes hold no stage but the pool and the answer, and no texts."""

    summary: Summary
    outcomes: Mapping[Key, Outcome]

    def only(self, states: Iterable[str]) -> "Baseline":
        """What it holds for some states; the summary stays that of all."""
        wanted = set(states)
        return replace(self, outcomes={key: each for key, each in self.outcomes.items() if each.state in wanted})


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
    if _measured(found) != (summary.pairs, summary.recall, summary.near_laws_of_expect_nothing):
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
        found = content.get("format") if isinstance(content, dict) else None
        if found != FORMAT:
            raise ValueError(f"format {found}, and this version reads format {FORMAT}: record the baseline anew")
        return Summary.model_validate(content)
    except ValidationError as error:
        each = [f"`{'.'.join(map(str, one['loc']))}`: {one['msg']}" for one in error.errors()]
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

    def read(row: Mapping[str, str]) -> Outcome:
        return _outcome(row, margins.get((row["question"], row["state"]), _Margins(0, [], [])))

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


def _outcome(row: Mapping[str, str], margins: _Margins) -> Outcome:
    groups = [tuple(map(unquote, group.split("|"))) for group in row["expected"].split()]
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
    if not re.fullmatch("[0-9]{1,9}", text):
        raise ValueError(f"expected a whole number, found {text or 'nothing'}")
    return int(text)


def _cosine(text: str) -> float:
    if not re.fullmatch("-?[01][.][0-9]+", text):
        raise ValueError(f"expected a cosine, found {text or 'nothing'}")
    return float(text)


def expect_nothing(side: Iterable[Outcome]) -> dict[str, int]:
    """How many laws the near search returned to questions that no law answers, by what they are."""
    found = dict.fromkeys(NOTHING, 0)
    for each in side:
        if each.expects in found:
            found[each.expects] += each.near_laws
    return found


Measured = tuple[int, dict[str, dict[str, float | None]], dict[str, int]]


def _measured(outcomes: Mapping[Key, Outcome]) -> Measured:
    """The number of pairs, their mean recall by group and stage, and the near laws of those that expect nothing."""
    parts: dict[str, list[Outcome]] = {"all": list(outcomes.values())}
    for each in outcomes.values():
        for by in ("kind", "state", "language"):
            parts.setdefault(f"{by} {getattr(each, by)}", []).append(each)
    recall = {name: {stage: _rounded(mean(recalls(parts[name], stage))) for stage in JUDGED} for name in sorted(parts)}
    return len(outcomes), recall, expect_nothing(outcomes.values())


def searches(outcomes: Mapping[Key, Outcome]) -> dict[str, float | None]:
    """The mean recall of the stages before the pool, over all pairs that expect something."""
    return {stage: _rounded(mean(recalls(outcomes.values(), stage))) for stage in SEARCHES}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def new_summary(side: Side, before: Baseline | None, why: str, date: str) -> Summary:
    """The summary of a new baseline. Losses against the one before are accepted with `why`; those won are dropped."""
    pairs, recall, nothing = _measured(side.outcomes)
    return Summary(
        format=FORMAT,
        why=why,
        date=date,
        fingerprints=dict(side.fingerprints),
        settings=dict(side.settings),
        cutoff=side.cutoff,
        pairs=pairs,
        recall=recall,
        searches=searches(side.outcomes),
        near_laws_of_expect_nothing=nothing,
        accepted_losses=[] if before is None else _accepted(before, side.outcomes, why),
    )


def _accepted(before: Baseline, outcomes: Mapping[Key, Outcome], why: str) -> list[AcceptedLoss]:
    """Those of the baseline before that are still lost, with their reason, and the new ones that are still expected."""
    lost = compare(before.outcomes, outcomes).lost
    new = [each for flip in lost if flip.still_expected for each in _losses(flip, why)]
    found = {each.name: each for each in [*new, *still_lost(before, outcomes)]}
    return sorted(found.values(), key=lambda each: (each.question, each.state, each.expected, each.stage))


def _losses(flip: Flip, why: str) -> Iterable[AcceptedLoss]:
    question, state = flip.after.key
    for stage in flip.judged:
        yield AcceptedLoss(question=question, state=state, expected=flip.now.laws, stage=stage, why=why)


def still_lost(baseline: Baseline, outcomes: Mapping[Key, Outcome]) -> list[AcceptedLoss]:
    """The accepted losses that are not over: the group is expected and does not arrive."""
    return [each for each in baseline.summary.accepted_losses if _is_lost(each, outcomes)]


def _is_lost(loss: AcceptedLoss, outcomes: Mapping[Key, Outcome]) -> bool:
    outcome = outcomes.get((loss.question, loss.state))
    groups = outcome.groups if outcome else ()
    return any(set(group.laws) == set(loss.expected) and not group.reached.get(loss.stage, True) for group in groups)


def write_baseline(folder: Path, side: Side, summary: Summary, comparison: Comparison | None) -> None:
    """The baseline's files, each replaced as a whole, and a line more in `history.csv` beside the folder.

    InputError where the history is of another form.
    """
    history = folder.parent / "history.csv"
    head = _csv([HISTORY])
    past = read_text(history) if history.exists() else head
    if not past.startswith(head):
        raise InputError([Fault(str(history), 1, f"expected the columns {', '.join(HISTORY)}; move the file away")])
    expecting = [each for each in side.outcomes.values() if each.groups]
    write_beside(folder / "outcomes.csv", _csv([COLUMNS, *map(_row, side.outcomes.values())]))
    write_beside(folder / "margins.csv", _csv([MARGINS, *map(_margin, expecting)]))
    write_beside(folder / "baseline.json", strict_json(summary.model_dump(mode="json"), indent=1) + "\n")
    overall = summary.recall["all"]
    row = [
        summary.date,
        summary.why,
        summary.pairs,
        *(overall[stage] for stage in JUDGED),
        sum(bool(flip.judged) for flip in comparison.lost) if comparison else "",
        sum(bool(flip.judged) for flip in comparison.gained) if comparison else "",
        *(summary.fingerprints.get(name, "") for name in HISTORY[-4:]),
    ]
    write_beside(history, past + _csv([row]))


def _row(outcome: Outcome) -> list[object]:
    groups = outcome.groups
    return [
        outcome.question,
        outcome.state,
        outcome.kind,
        outcome.language,
        outcome.expects,
        outcome.near_laws,
        " ".join("|".join(map(_quoted, group.laws)) for group in groups),
        *(" ".join(_arrived(group, stage) for group in groups) for stage in JUDGED),
    ]


def _arrived(group: Group, stage: str) -> str:
    return "-" if stage not in group.reached else "1" if group.reached[stage] else "0"


def _quoted(law: str) -> str:
    return law.replace("%", "%25").replace("|", "%7C")


def _margin(outcome: Outcome) -> list[object]:
    groups = outcome.groups
    return [
        outcome.question,
        outcome.state,
        outcome.pool_laws,
        " ".join("-" if group.place is None else str(group.place) for group in groups),
        " ".join("-" if group.cosine is None else f"{group.cosine:.{DIGITS}f}" for group in groups),
    ]


def _csv(rows: Iterable[Sequence[object]]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue()
