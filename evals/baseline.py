"""The baseline: what held when it was recorded, small enough to be read as a diff in a pull request.

`outcomes.csv` has a line a pair: its expected groups and which of them arrived in the pool and the answer.
`baseline.json` has the reason, the settings, the fingerprints, the means, and the losses that were accepted with their
reasons. `../history.csv` gets a line each time. Only `make baseline` writes them.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.compare import Comparison, Flip, compare
from evals.metrics import mean
from evals.outcomes import JUDGED, Group, Key, Outcome, recalls
from retrieval.documents import parse_json, read_text, strict_json
from retrieval.errors import Fault, InputError
from retrieval.recordings import write_beside

FORMAT = 1
COLUMNS = (
    "question",
    "state",
    "kind",
    "language",
    "topic",
    "expects",
    "near laws",
    "expected",
    *JUDGED,
    "place",
    "cosine",
)

Finite = Annotated[float, Field(allow_inf_nan=False)]
Recall = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class AcceptedLoss(BaseModel):
    """A group that stopped arriving and was let go, with the reason; it stays until it arrives again."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    question: str
    state: str
    expected: tuple[str, ...] = Field(strict=False)
    stage: str
    why: str


class Summary(BaseModel):
    """What baseline.json holds."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: int
    why: Annotated[str, Field(min_length=1)]
    date: str
    model: str
    fingerprints: dict[str, str]
    settings: dict[str, object]
    recall: dict[str, dict[str, Recall | None]]
    near_laws_of_expect_nothing: Annotated[int, Field(ge=0)]
    accepted_losses: list[AcceptedLoss]


@dataclass(frozen=True)
class Baseline:
    """A baseline as the gate reads it."""

    summary: Summary
    outcomes: Mapping[Key, Outcome]


def read_baseline(folder: Path) -> Baseline:
    """The baseline of a folder; InputError where a file is missing, empty, unreadable or holds what is no number."""
    path = folder / "baseline.json"
    faults: list[Fault] = []
    summary: Summary | None = None
    try:
        summary = _summary(path)
    except InputError as error:
        faults += error.faults
    outcomes: Mapping[Key, Outcome] = {}
    try:
        outcomes = _outcomes(folder / "outcomes.csv")
    except InputError as error:
        faults += error.faults
    if faults or summary is None:
        raise InputError(faults)
    return Baseline(summary, outcomes)


def _summary(path: Path) -> Summary:
    text = read_text(path)
    try:
        summary = Summary.model_validate(parse_json(text))
    except ValidationError as error:
        raise InputError(
            Fault(str(path), None, f"`{'.'.join(map(str, each['loc']))}`: {each['msg']}") for each in error.errors()
        ) from None
    except ValueError as error:
        raise InputError([Fault(str(path), None, f"not a baseline: {error}")]) from None
    if summary.format != FORMAT:
        what = f"format {summary.format}, and this version reads format {FORMAT}: record the baseline anew"
        raise InputError([Fault(str(path), None, what)])
    return summary


def _outcomes(path: Path) -> dict[Key, Outcome]:
    rows = list(csv.reader(io.StringIO(read_text(path), newline=""), strict=False))
    if len(rows) < 2 or tuple(rows[0]) != COLUMNS:
        raise InputError([Fault(str(path), 1, f"expected the columns {', '.join(COLUMNS)}, and a line a pair")])
    found: dict[Key, Outcome] = {}
    faults = []
    for line, row in enumerate(rows[1:], 2):
        try:
            outcome = _outcome(row)
        except ValueError as error:
            faults.append(Fault(str(path), line, str(error)))
            continue
        if outcome.key in found:
            faults.append(Fault(str(path), line, f"{outcome.question} in {outcome.state} stands here twice"))
        found[outcome.key] = outcome
    if faults:
        raise InputError(faults)
    return found


def _outcome(row: Sequence[str]) -> Outcome:
    if len(row) != len(COLUMNS):
        raise ValueError(f"expected {len(COLUMNS)} values, found {len(row)}")
    cells = dict(zip(COLUMNS, row, strict=True))
    groups = [tuple(group.split("|")) for group in cells["expected"].split()]
    pool, answer, places, cosines = (cells[name].split() for name in ("pool", "answer", "place", "cosine"))
    if {len(each) for each in (pool, answer, places, cosines)} != {len(groups)}:
        raise ValueError("expected, pool, answer, place and cosine differ in number")
    if not set(pool + answer) <= {"0", "1"}:
        raise ValueError("pool and answer hold 1 for a group that arrived and 0 for one that did not")
    return Outcome(
        question=cells["question"],
        state=cells["state"],
        kind=cells["kind"],
        language=cells["language"],
        topic=cells["topic"],
        expects=cells["expects"],
        text="",
        groups=tuple(
            Group(
                laws=group,
                reached={"pool": pool[at] == "1", "answer": answer[at] == "1"},
                place=None if places[at] == "-" else int(places[at]),
                cosine=_cosine(cosines[at]),
            )
            for at, group in enumerate(groups)
        ),
        near_laws=int(cells["near laws"]),
    )


def _cosine(text: str) -> float | None:
    if text == "-":
        return None
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no cosine")
    return value


def expect_nothing_total(outcomes: Mapping[Key, Outcome]) -> int:
    """How many laws the near search returned to all questions that no law answers."""
    return sum(each.near_laws for each in outcomes.values() if each.expects != "answerable")


def new_summary(
    outcomes: Mapping[Key, Outcome],
    before: Baseline | None,
    fingerprints: Mapping[str, str],
    settings: Mapping[str, object],
    why: str,
    date: str,
) -> Summary:
    """The summary of a new baseline. Losses against the one before are accepted with `why`; won ones are dropped."""
    return Summary(
        format=FORMAT,
        why=why,
        date=date,
        model=fingerprints["model"],
        fingerprints=dict(fingerprints),
        settings=dict(settings),
        recall=_recalls(outcomes),
        near_laws_of_expect_nothing=expect_nothing_total(outcomes),
        accepted_losses=[] if before is None else _accepted(before, outcomes, why),
    )


def _recalls(outcomes: Mapping[Key, Outcome]) -> dict[str, dict[str, float | None]]:
    parts: dict[str, list[Outcome]] = {"all": list(outcomes.values())}
    for each in outcomes.values():
        parts.setdefault(f"kind {each.kind}", []).append(each)
        parts.setdefault(f"state {each.state}", []).append(each)
    return {name: {stage: _rounded(mean(recalls(parts[name], stage))) for stage in JUDGED} for name in sorted(parts)}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _accepted(before: Baseline, outcomes: Mapping[Key, Outcome], why: str) -> list[AcceptedLoss]:
    comparison = compare(before.outcomes, outcomes)
    still = [each for each in before.summary.accepted_losses if not _won(each, outcomes)]
    known = {(each.question, each.state, each.expected, each.stage) for each in still}
    new = [_loss(flip, why) for flip in comparison.lost if flip.stage in JUDGED]
    return [*still, *(each for each in new if (each.question, each.state, each.expected, each.stage) not in known)]


def _loss(flip: Flip, why: str) -> AcceptedLoss:
    return AcceptedLoss(
        question=flip.outcome.question, state=flip.outcome.state, expected=flip.after.laws, stage=flip.stage, why=why
    )


def _won(loss: AcceptedLoss, outcomes: Mapping[Key, Outcome]) -> bool:
    """Whether a loss is over: the group arrives again, or nobody expects it any more."""
    outcome = outcomes.get((loss.question, loss.state))
    group = next((each for each in outcome.groups if set(each.laws) == set(loss.expected)), None) if outcome else None
    return group is None or group.reached[loss.stage]


def still_lost(baseline: Baseline, outcomes: Mapping[Key, Outcome]) -> list[AcceptedLoss]:
    """The accepted losses that have not been won back."""
    return [each for each in baseline.summary.accepted_losses if not _won(each, outcomes)]


def write_baseline(
    folder: Path, summary: Summary, outcomes: Mapping[Key, Outcome], comparison: Comparison | None
) -> None:
    """Write both files and add a line to `history.csv` beside the folder, each as a whole."""
    write_beside(folder / "outcomes.csv", _csv([COLUMNS, *(_row(each) for each in outcomes.values())]))
    write_beside(folder / "baseline.json", strict_json(summary.model_dump(mode="json"), indent=1) + "\n")
    history = folder.parent / "history.csv"
    head = [
        "date",
        "why",
        "pairs",
        "recall of the pool",
        "recall of the answer",
        "lost",
        "gained",
        *summary.fingerprints,
    ]
    lost = [flip for flip in comparison.lost if flip.stage == "pool"] if comparison else []
    gained = [flip for flip in comparison.gained if flip.stage == "pool"] if comparison else []
    overall = summary.recall["all"]
    row = [
        summary.date,
        summary.why,
        len(outcomes),
        overall["pool"],
        overall["answer"],
        len(lost),
        len(gained),
        *summary.fingerprints.values(),
    ]
    before = read_text(history) if history.exists() else _csv([head])
    write_beside(history, before + _csv([row]))


def _row(outcome: Outcome) -> list[object]:
    groups = outcome.groups
    return [
        outcome.question,
        outcome.state,
        outcome.kind,
        outcome.language,
        outcome.topic,
        outcome.expects,
        outcome.near_laws,
        " ".join("|".join(group.laws) for group in groups),
        *(" ".join("1" if group.reached[stage] else "0" for group in groups) for stage in JUDGED),
        " ".join("-" if group.place is None else str(group.place) for group in groups),
        " ".join("-" if group.cosine is None else f"{group.cosine:.3f}" for group in groups),
    ]


def _csv(rows: Sequence[Sequence[object]]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue()
