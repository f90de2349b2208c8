"""Recall at each stage by kind, state and language, with how sure it is: of one side, or of two and their difference.

Prints nothing and draws nothing; what is lost and gained is `evals.compare`'s.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from evals.compare import Change, Comparison, Pairing
from evals.metrics import mean
from evals.outcomes import Outcome, recalls
from evals.statistics import recall_interval

BY = ("all", "kind", "state", "language")
CHANCE = 0.05  # a p above it may well be chance

Cell = TypeVar("Cell")


@dataclass(frozen=True)
class Row(Generic[Cell]):
    """The pairs of a kind, state or language, or `all`: how many, of how many needs, and a cell a stage."""

    by: str
    group: str
    pairs: int
    needs: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Sure:
    """A stage's mean recall over pairs, and its 95 % interval, whose units are the needs."""

    recall: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """A stage's mean recall on both sides, and the p of the paired permutation test: 1 where nothing differs."""

    before: float
    after: float
    p: float

    @property
    def change(self) -> float:
        """How much the mean rose; below 0 where it fell."""
        return self.after - self.before

    @property
    def sure(self) -> bool:
        """Whether chance alone would seldom set the means so far apart."""
        return self.change != 0 and self.p <= CHANCE


def recall_rows(outcomes: Iterable[Outcome], stages: Sequence[str]) -> list[Row[Sure]]:
    """Recall at these stages over all pairs that expect a law, then of each kind, state and language; [] without any.

    Every pair must have run every stage.
    """
    expecting = [each for each in outcomes if each.groups]
    rows = []
    for by in BY:
        parts: defaultdict[str, list[Outcome]] = defaultdict(list)
        for each in expecting:
            parts["all" if by == "all" else getattr(each, by)].append(each)
        for group, part in sorted(parts.items()):
            needs = len({each.need for each in part})
            rows.append(Row(by, group, len(part), needs, tuple(_sure(part, stage) for stage in stages)))
    return rows


def _sure(part: Sequence[Outcome], stage: str) -> Sure:
    reached = [sum(group.reached[stage] for group in each.groups) for each in part]
    groups, needs = [len(each.groups) for each in part], [each.need for each in part]
    recall, interval = mean(recalls(part, stage)), recall_interval(reached, groups, needs, over="pairs")
    if recall is None or interval is None:
        raise ValueError(f"no pair here expects a law of {stage}")
    return Sure(recall, interval.low, interval.high)


def difference_rows(comparison: Comparison) -> list[Row[Difference]]:
    """Recall on both sides at every stage that both ran: over all pairs, then of each kind, state and language."""
    judged = [pairing for pairing in comparison.pairings if pairing.groups]
    cells: defaultdict[tuple[str, str], list[Change]] = defaultdict(list)
    for change in comparison.changes:
        cells[change.by, change.group].append(change)
    return [
        Row(by, group, changes[0].pairs, changes[0].needs, tuple(_differences(comparison, judged, changes)))
        for (by, group), changes in cells.items()
    ]


def _differences(comparison: Comparison, judged: Sequence[Pairing], changes: Sequence[Change]) -> Iterable[Difference]:
    """The cells of one group. A test is made only where something flipped: else nothing can differ."""
    by, group = changes[0].by, changes[0].group
    part = [pairing for pairing in judged if by == "all" or getattr(pairing.after, by) == group]
    of_group = replace(comparison, pairings=tuple(part))
    for each in changes:
        test = of_group.paired(each.stage) if each.lost or each.gained else None
        yield Difference(each.before, each.after, 1.0 if test is None else test.p)


def of(rows: Iterable[Row[Cell]], *by: str) -> list[Row[Cell]]:
    """The rows of these groupings, in the order in which those are given."""
    found: Mapping[str, list[Row[Cell]]] = {each: [] for each in by}
    for row in rows:
        if row.by in found:
            found[row.by].append(row)
    return [row for each in by for row in found[each]]
