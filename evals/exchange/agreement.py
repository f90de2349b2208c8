"""Another system beside the pipeline here: in how many pairs a stage gave the very same laws, and where it did not.

Same: ids and order. Compared is where both ran: the stages and the pairs that the other's file holds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evals.exchange.foreign import Foreign
from evals.run import Run

SHOWN = 3


@dataclass(frozen=True)
class Difference:
    """A pair for which a stage gave other laws: the first place, from 1, that differs, and the id there on each side.

    An id is None where that side's ranking has ended.
    """

    question: str
    state: str
    place: int
    here: str | None
    there: str | None

    def __str__(self) -> str:
        """In words."""
        places = f"here {self.here or 'the end'}, there {self.there or 'the end'}"
        return f"{self.question} ({self.state}) differs at place {self.place}: {places}"


@dataclass(frozen=True)
class Agreement:
    """A stage's pairs that were compared, those with the same ids in the same order, those with the same ids at all."""

    stage: str
    pairs: int
    identical: int
    same_ids: int
    differences: tuple[Difference, ...]


def agreements(run: Run, foreign: Foreign) -> list[Agreement]:
    """One for each stage of the other system, in the pipeline's order; differences in the order of the set."""
    own = {each.pair.key: each.trace.stages() for each in run.pairs}
    found = []
    for stage, returned in foreign.returned.items():
        both = [
            (pair, own[pair.key][stage], foreign.laws(stage, pair.key))
            for pair in foreign.pairs
            if pair.key in returned
        ]
        found.append(
            Agreement(
                stage=stage,
                pairs=len(both),
                identical=sum(here == there for _, here, there in both),
                same_ids=sum(set(here) == set(there) for _, here, there in both),
                differences=tuple(
                    Difference(pair.question, pair.state, *first_difference(here, there))
                    for pair, here, there in both
                    if here != there
                ),
            )
        )
    return found


def first_difference(here: Sequence[str], there: Sequence[str]) -> tuple[int, str | None, str | None]:
    """The first place, from 1, at which two rankings that are not equal differ, and what stands there.

    >>> first_difference(["a", "b"], ["a", "c"]), first_difference(["a"], ["a", "b"])
    ((2, 'b', 'c'), (2, None, 'b'))
    """
    at = next((at for at, (one, other) in enumerate(zip(here, there, strict=False)) if one != other), None)
    if at is None:
        at = min(len(here), len(there))
    return at + 1, here[at] if at < len(here) else None, there[at] if at < len(there) else None


def said(found: Iterable[Agreement]) -> Iterable[str]:
    """The agreements in lines, each with the first few pairs that differ."""
    for each in found:
        yield (
            f"{each.stage}: the same laws in the same order as the pipeline here for {each.identical:,} of"
            f" {each.pairs:,} pairs, the same laws in any order for {each.same_ids:,}"
        )
        for one in each.differences[:SHOWN]:
            yield f"  {one}"
        if len(each.differences) > SHOWN:
            yield f"  and {len(each.differences) - SHOWN:,} more"


def records(found: Iterable[Agreement]) -> list[Mapping[str, object]]:
    """The agreements as JSON holds them, every difference by name."""
    return [
        {
            "stage": each.stage,
            "pairs": each.pairs,
            "identical": each.identical,
            "same ids": each.same_ids,
            "differences": [vars(one) for one in each.differences],
        }
        for each in found
    ]
