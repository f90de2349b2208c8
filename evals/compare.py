"""Two sides, question by question: what is lost and gained at each stage, by name, and what only one side holds.

Where laws or questions were edited between the two, what both hold is compared and how much that is is counted.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evals.metrics import mean
from evals.outcomes import Group, Key, Outcome
from evals.run import STAGES


@dataclass(frozen=True)
class Flip:
    """An expected group that one side's stage reached and the other's did not."""

    stage: str
    outcome: Outcome
    before: Group
    after: Group

    @property
    def name(self) -> tuple[str, str, tuple[str, ...]]:
        """Question, state and group: what a loss is accepted by."""
        return self.outcome.question, self.outcome.state, self.after.laws


@dataclass(frozen=True)
class Change:
    """A mean on both sides over the pairs that both hold: `n` pairs of `needs` needs."""

    group: str
    stage: str
    n: int
    needs: int
    before: float
    after: float


@dataclass(frozen=True)
class Comparison:
    """What both sides hold, compared. `edited`: pairs whose expected groups differ; the groups shared are judged."""

    lost: tuple[Flip, ...]
    gained: tuple[Flip, ...]
    vanished: tuple[Outcome, ...]
    new: tuple[Outcome, ...]
    edited: tuple[Outcome, ...]
    changes: tuple[Change, ...]
    common: tuple[tuple[Outcome, Outcome], ...]

    @property
    def groups(self) -> int:
        """How many expected groups were compared."""
        return sum(len(_shared(before, after)) for before, after in self.common)

    def flips(self, kind: str, stage: str) -> tuple[Flip, ...]:
        """The flips of one stage; `kind` is `lost` or `gained`."""
        return tuple(flip for flip in (self.lost if kind == "lost" else self.gained) if flip.stage == stage)


def compare(before: Mapping[Key, Outcome], after: Mapping[Key, Outcome]) -> Comparison:
    """Two sides' outcomes compared, in the order of question and state.

    A stage is compared where both sides have it: a baseline holds the pool and the answer alone.
    """
    common = tuple((before[key], after[key]) for key in sorted(before.keys() & after.keys()))
    flips = [flip for pair in common for flip in _flips(*pair)]
    return Comparison(
        lost=tuple(flip for flip in flips if flip.before.reached[flip.stage]),
        gained=tuple(flip for flip in flips if flip.after.reached[flip.stage]),
        vanished=tuple(before[key] for key in sorted(before.keys() - after.keys())),
        new=tuple(after[key] for key in sorted(after.keys() - before.keys())),
        edited=tuple(after for before, after in common if _names(before) != _names(after)),
        changes=tuple(_changes(common)),
        common=common,
    )


def _names(outcome: Outcome) -> set[frozenset[str]]:
    return {frozenset(group.laws) for group in outcome.groups}


def _shared(before: Outcome, after: Outcome) -> list[tuple[Group, Group]]:
    """The groups both sides expect, whatever the order of their laws."""
    earlier = {frozenset(group.laws): group for group in before.groups}
    return [(earlier[key], group) for group in after.groups if (key := frozenset(group.laws)) in earlier]


def _flips(before: Outcome, after: Outcome) -> Iterable[Flip]:
    for was, now in _shared(before, after):
        for stage in STAGES:
            if stage in was.reached and stage in now.reached and was.reached[stage] != now.reached[stage]:
                yield Flip(stage, after, was, now)


def _changes(common: tuple[tuple[Outcome, Outcome], ...]) -> Iterable[Change]:
    """Mean recall on both sides at every stage: over all, then by kind, state and language."""
    judged = [(before, after, _shared(before, after)) for before, after in common]
    judged = [each for each in judged if each[2]]
    if not judged:
        return
    for by in (lambda each: "all", lambda each: each.kind, lambda each: each.state, lambda each: each.language):
        for group in sorted({by(after) for _, after, _ in judged}):
            part = [each for each in judged if by(each[1]) == group]
            for stage in STAGES:
                if all(stage in group.reached for _, _, shared in part for pair in shared for group in pair):
                    yield _change(group, stage, part)


def _change(group: str, stage: str, part: list[tuple[Outcome, Outcome, list[tuple[Group, Group]]]]) -> Change:
    before = mean(sum(was.reached[stage] for was, _ in shared) / len(shared) for _, _, shared in part)
    after = mean(sum(now.reached[stage] for _, now in shared) / len(shared) for _, _, shared in part)
    return Change(group, stage, len(part), len({each.need for _, each, _ in part}), before or 0.0, after or 0.0)
