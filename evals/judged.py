"""A question with what it must reach and what came back, and the places at which it was reached. Computes no metric."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import count, repeat
from math import inf

Groups = Sequence[Collection[str]]


@dataclass(frozen=True)
class Judged:
    """One question, judged: all that a metric sees of it.

    expected: groups of ids, each reached by any one of its laws; a group given twice is one, with its last gain; no
    group: the question expects nothing. returned: ids, best first; an id returned twice counts once, at its first
    place, and those behind it move up. accepted: ids that answer too. gains: what reaching each group is worth to
    nDCG, above 0; 1 where None.

    ValueError for a group that is empty or a bare text, and for gains that are not above 0 or not one a group.
    """

    expected: Groups
    returned: Sequence[str] = ()
    accepted: Collection[str] = ()
    gains: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if not all(self.expected) or any(isinstance(group, str) for group in self.expected):
            raise ValueError(f"an expected group is a collection of one id or more, not {self.expected}")
        if self.gains is not None and len(self.gains) != len(self.expected):
            raise ValueError(f"{len(self.gains)} gains for {len(self.expected)} expected groups")
        if self.gains is not None and not all(0 < gain < inf for gain in self.gains):
            raise ValueError(f"a gain is a number above 0, not {self.gains}")


@dataclass(frozen=True, slots=True)
class Places:
    """Where a question was reached. Places count the distinct laws returned, from 1.

    reached: for each group that was reached, its first place. right: the places of laws expected or accepted. Both
    ascend. gained: place and gain of each reached group, no two at one place. gains: of all groups, largest first.
    """

    returned: int
    expected: int
    reached: Sequence[int]
    right: Sequence[int]
    gained: Sequence[tuple[int, float]]
    gains: Sequence[float]


def first_place(group: Collection[str], returned: Sequence[str]) -> int | None:
    """The place from 1 of the group's first law among those returned; None where none is there.

    >>> first_place(["b", "c"], ["x", "c", "b"])
    2
    """
    return next((place for place, law in enumerate(returned, 1) if law in group), None)


def places(question: Judged) -> Places:
    """Where the question's groups and its accepted laws stand among what was returned.

    A law that reaches several groups at once gains for each of them, the largest first, as if they filled the places
    from its own on: so what was gained never passes what an ideal ranking gains, and reaching everything with one law
    is ideal.
    """
    gains = repeat(1.0) if question.gains is None else question.gains
    groups = dict(zip(map(frozenset, question.expected), gains))  # noqa: B905 - repeat has no end
    relevant = set(question.accepted).union(*groups)
    place = dict(zip(question.returned, count(1)))
    if len(place) < len(question.returned):
        place = dict(zip(dict.fromkeys(question.returned), count(1)))
    found = [(min(at), -gain) for laws, gain in groups.items() if (at := [place[law] for law in laws if law in place])]
    found.sort()
    gained: list[tuple[int, float]] = []
    last = 0
    for first, less in found:
        last = max(first, last + 1)
        gained.append((last, -less))
    return Places(
        returned=len(place),
        expected=len(groups),
        reached=[first for first, _ in found],
        right=sorted([place[law] for law in relevant if law in place]),
        gained=gained,
        gains=sorted(groups.values(), reverse=True),
    )
