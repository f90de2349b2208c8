"""Two sides, question by question: what is lost and gained at each stage, by name, and what only one side holds.

Judged is what the first side expected. Where the expected laws were edited since, what was expected then is looked
for in what the second side returned: an edit neither hides a loss nor makes one.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import fsum

from evals.outcomes import JUDGED, Group, Outcome
from evals.questions import Key
from evals.stages import STAGES
from evals.statistics import PairedTest, paired_permutation


@dataclass(frozen=True)
class Flip:
    """An expected group that some stages of one side reached and the same stages of the other did not.

    `stages` are those of one direction, in the pipeline's order. `was` and `now` are the group on both sides.
    """

    stages: tuple[str, ...]
    before: Outcome
    after: Outcome
    was: Group
    now: Group

    @property
    def judged(self) -> tuple[str, ...]:
        """The stages among them that the gate judges."""
        return tuple(stage for stage in self.stages if stage in JUDGED)

    @property
    def still_expected(self) -> bool:
        """Whether the second side expects the very group."""
        return any(group.name == self.was.name for group in self.after.groups)


@dataclass(frozen=True)
class Pairing:
    """A pair that both sides hold, and its groups on both: those that the first side expected."""

    before: Outcome
    after: Outcome
    groups: tuple[tuple[Group, Group], ...]

    def recall(self, stage: str) -> tuple[Fraction, Fraction]:
        """The share of the groups that a stage reached, before and after; there must be one."""
        was = sum(group.reached[stage] for group, _ in self.groups)
        now = sum(group.reached[stage] for _, group in self.groups)
        return Fraction(was, len(self.groups)), Fraction(now, len(self.groups))


@dataclass(frozen=True)
class Change:
    """A stage's mean recall on both sides over `pairs` pairs of `needs` needs, and the groups lost and gained there.

    `by` is `all`, `kind`, `state` or `language`, `group` its value; edited kinds and languages count as they are now.
    """

    by: str
    group: str
    stage: str
    pairs: int
    needs: int
    before: float
    after: float
    lost: int
    gained: int


@dataclass(frozen=True)
class Comparison:
    """What both sides hold, compared.

    dropped: groups that the first side expected of a pair and the second does not; they are judged all the same.
    added: how many groups only the second expects of the pairs in common; nobody can judge those.
    """

    lost: tuple[Flip, ...]
    gained: tuple[Flip, ...]
    vanished: tuple[Outcome, ...]
    new: tuple[Outcome, ...]
    dropped: tuple[tuple[Outcome, Group], ...]
    added: int
    pairings: tuple[Pairing, ...]

    @property
    def groups(self) -> int:
        """How many expected groups were compared."""
        return sum(len(pairing.groups) for pairing in self.pairings)

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that both sides have: a baseline holds the pool and the answer alone."""
        first = next((pair for pairing in self.pairings for pair in pairing.groups), None)
        return tuple(stage for stage in STAGES if first and all(stage in group.reached for group in first))

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Mean recall on both sides at every stage: over all, then by kind, state and language."""
        judged = [pairing for pairing in self.pairings if pairing.groups]
        return tuple(_changes(judged, self.stages))

    def paired(self, stage: str) -> PairedTest | None:
        """The paired permutation test of a stage's mean recall over pairs; its units are needs. None without any."""
        judged = [pairing for pairing in self.pairings if pairing.groups]
        both = [pairing.recall(stage) for pairing in judged]
        needs = [pairing.after.need for pairing in judged]
        return paired_permutation([was for was, _ in both], [now for _, now in both], needs, over="pairs")


def compare(before: Mapping[Key, Outcome], after: Mapping[Key, Outcome]) -> Comparison:
    """Two sides' outcomes compared, in the order of question and state."""
    pairings = tuple(_pairing(before[key], after[key]) for key in sorted(before.keys() & after.keys()))
    return Comparison(
        lost=tuple(_flips(pairings, reached_before=True)),
        gained=tuple(_flips(pairings, reached_before=False)),
        vanished=tuple(before[key] for key in sorted(before.keys() - after.keys())),
        new=tuple(after[key] for key in sorted(after.keys() - before.keys())),
        dropped=tuple(each for pairing in pairings for each in _only(pairing.before, pairing.after)),
        added=sum(1 for pairing in pairings for _ in _only(pairing.after, pairing.before)),
        pairings=pairings,
    )


def _pairing(before: Outcome, after: Outcome) -> Pairing:
    seen = [(group, after.sees(group)) for group in before.groups]
    return Pairing(before, after, tuple((was, now) for was, now in seen if now is not None))


def _only(one: Outcome, other: Outcome) -> Iterable[tuple[Outcome, Group]]:
    """The groups that one of two outcomes of a pair expects and the other does not."""
    expected = {group.name for group in other.groups}
    return ((one, group) for group in one.groups if group.name not in expected)


def _flips(pairings: Sequence[Pairing], reached_before: bool) -> Iterable[Flip]:
    for pairing in pairings:
        for was, now in pairing.groups:
            stages = tuple(
                stage
                for stage in STAGES
                if was.reached.get(stage) is reached_before and now.reached.get(stage) is (not reached_before)
            )
            if stages:
                yield Flip(stages, pairing.before, pairing.after, was, now)


@dataclass(frozen=True)
class _Counts:
    """How many of a pair's groups a stage reached, before and after, and how many it lost and gained."""

    need: str
    groups: int
    before: int
    after: int
    lost: int
    gained: int


def _changes(judged: Sequence[Pairing], stages: Sequence[str]) -> Iterable[Change]:
    """Every stage over all pairs, then of each kind, state and language."""
    counts = {stage: [_counts(pairing, stage) for pairing in judged] for stage in stages}
    for by in ("all", "kind", "state", "language"):
        parts: dict[str, list[int]] = defaultdict(list)
        for at, pairing in enumerate(judged):
            parts["all" if by == "all" else getattr(pairing.after, by)].append(at)
        for group, part in sorted(parts.items()):
            for stage in stages:
                yield _change(by, group, stage, [counts[stage][at] for at in part])


def _counts(pairing: Pairing, stage: str) -> _Counts:
    pairs = [(was.reached[stage], now.reached[stage]) for was, now in pairing.groups]
    return _Counts(
        need=pairing.after.need,
        groups=len(pairs),
        before=sum(was for was, _ in pairs),
        after=sum(now for _, now in pairs),
        lost=pairs.count((True, False)),
        gained=pairs.count((False, True)),
    )


def _change(by: str, group: str, stage: str, part: Sequence[_Counts]) -> Change:
    return Change(
        by=by,
        group=group,
        stage=stage,
        pairs=len(part),
        needs=len({each.need for each in part}),
        before=fsum(each.before / each.groups for each in part) / len(part),
        after=fsum(each.after / each.groups for each in part) / len(part),
        lost=sum(each.lost for each in part),
        gained=sum(each.gained for each in part),
    )
