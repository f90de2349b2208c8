"""One side or two as the page's script reads them: every pair with its groups, and what each stage returned for it.

The result takes strict JSON. A place is stored one higher: 0 is a stage that was not run, 1 one that lacks the law. So
are the lengths of rankings. Computes no figure.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from evals.compare import Comparison
from evals.judged import first_place
from evals.outcomes import Group, Outcome
from evals.report.pages.bits import Packed, pack
from evals.report.pages.details import Shown
from evals.report.pages.embedding import MOST_DATA, embedded
from evals.stages import STAGES

NOT_RUN, NOT_RETURNED = 0, 1
EXPECTED_BEFORE, EXPECTED_NOW = 1, 2
COSINE_STEPS = 10_000  # cosines of rankings are cut after four digits

Rankings = Literal["all", "changed", "flipped"]


@dataclass(frozen=True)
class Extent:
    """How much of two sides a page holds: laws a ranking, letters a law, and of which pairs the rankings."""

    laws: int
    letters: int
    rankings: Rankings = "all"


# The widest that keeps the page within its size is taken; the last one, whatever its size.
EXTENTS = (
    Extent(100, 600),
    Extent(32, 300),
    Extent(32, 300, "changed"),
    Extent(32, 300, "flipped"),
    Extent(8, 100, "flipped"),
    Extent(8, 0, "flipped"),
)


@dataclass(frozen=True)
class Asked:
    """A pair of question and state: its outcome on each side (None where a side lacks it), its groups on each.

    flipped: whether a stage of one side reached a group that the same stage of the other did not.
    """

    outcomes: tuple[Outcome | None, ...]
    groups: tuple[tuple[Group | None, ...], ...]
    flipped: bool = False

    @cached_property
    def latest(self) -> Outcome:
        """Its outcome on the last side that holds it: what it is called, and asked as."""
        return next(each for each in reversed(self.outcomes) if each is not None)

    def changed(self, stage: str) -> bool:
        """Whether a stage that both sides ran returned other laws on one of them, or in another order."""
        one, other = (each.stages.get(stage) if each else None for each in (self.outcomes[0], self.outcomes[-1]))
        return one is not None and other is not None and list(one) != list(other)


def asked(sides: Sequence[Shown], comparison: Comparison | None) -> list[Asked]:
    """Every pair that any side holds, by question and state; `comparison` is that of two sides."""
    if comparison is None:
        return [Asked((each,), tuple((group,) for group in each.groups)) for each in sides[0].side.outcomes.values()]
    flipped = {each.after.key for each in (*comparison.lost, *comparison.gained)}
    both = [
        Asked((each.before, each.after), (*each.groups, *_added(each.before, each.after)), each.after.key in flipped)
        for each in comparison.pairings
    ]
    only = [
        *(Asked((each, None), tuple((group, None) for group in each.groups)) for each in comparison.vanished),
        *(Asked((None, each), tuple((None, group) for group in each.groups)) for each in comparison.new),
    ]
    return sorted([*both, *only], key=lambda each: each.latest.key)


def _added(before: Outcome, after: Outcome) -> Iterable[tuple[Group | None, Group]]:
    """The groups that only the second side expects, with what became of them on the first."""
    expected = {group.name for group in before.groups}
    return ((before.sees(group), group) for group in after.groups if group.name not in expected)


def data(sides: Sequence[Shown], comparison: Comparison | None, most: int = MOST_DATA) -> str:
    """The data as a page embeds it, as wide as `most` bytes allow."""
    every = asked(sides, comparison)
    for extent in EXTENTS:
        text = embedded(packed(sides, every, comparison, extent))
        if len(text.encode()) <= most:
            break
    return text


def packed(
    sides: Sequence[Shown], every: Sequence[Asked], comparison: Comparison | None, extent: Extent = EXTENTS[0]
) -> dict[str, object]:
    """Sides, laws, pairs, groups and rankings. Laws are named by their position among those of their state here."""
    stages = [stage for stage in STAGES if any(stage in each.stages for each in sides)]
    kept = [each for each in every if _keeps(each, extent.rankings)]
    strings, laws = _Numbers(), _laws(every, kept, extent.laws, sides)
    return {
        "sides": [
            {
                "name": each.name,
                "cutoff": each.side.cutoff,
                "model": each.side.fingerprints.get("model"),
                "texts": bool(each.laws),
            }
            for each in sides
        ],
        "stages": stages,
        "compared": list(comparison.stages) if comparison else stages,
        "laws": {state: _texts(numbers, state, sides, extent.letters) for state, numbers in laws.items()},
        "pairs": [_pair(each, sides, strings, laws[each.latest.state]) for each in every],
        "strings": list(strings.known),
        "changed": pack([sum(each.changed(stage) << at for at, stage in enumerate(stages)) for each in every]),
        "places": pack([place for each in every for place in _places(each, stages)]),
        "lengths": pack([_length(outcome, stage) for each in every for outcome in each.outcomes for stage in stages]),
        "depth": extent.laws,
        "kept": pack([int(_keeps(each, extent.rankings)) for each in every]),
        **_rankings(kept, sides, stages, laws, extent.laws),
    }


def _keeps(each: Asked, rankings: Rankings) -> bool:
    """Whether a pair's rankings are in the page; always where there is nothing to compare them with."""
    if rankings == "all" or None in each.outcomes or len(each.outcomes) == 1:
        return True
    return each.flipped or (rankings == "changed" and any(map(each.changed, STAGES)))


class _Numbers:
    """Texts by number, in the order in which they were first asked for."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.known.setdefault(text, len(self.known))


def _laws(every: Iterable[Asked], kept: Iterable[Asked], depth: int, sides: Sequence[Shown]) -> dict[str, _Numbers]:
    """Every law that the page names, by state and number."""
    found: dict[str, _Numbers] = {}
    for each in every:
        numbers = found.setdefault(each.latest.state, _Numbers())
        for named in _named(each, sides):
            numbers(named)
    for each in kept:
        for outcome in filter(None, each.outcomes):
            for returned in outcome.stages.values():
                for law in returned[:depth]:
                    found[outcome.state](law)
    return found


def _named(each: Asked, sides: Sequence[Shown]) -> Iterable[str]:
    """The laws that a pair names whatever was returned: expected, accepted, nearest."""
    for group in each.groups:
        yield from _either(group).laws
    for side in sides:
        detail = side.detail(each.latest.key)
        yield from detail.accepted
        if detail.nearest:
            yield detail.nearest[0]


def _either(group: Sequence[Group | None]) -> Group:
    return next(each for each in group if each is not None)


def _texts(numbers: _Numbers, state: str, sides: Sequence[Shown], letters: int) -> dict[str, list[str]]:
    known = next((each.laws[state] for each in reversed(sides) if state in each.laws), {})
    return {
        "ids": list(numbers.known),
        "texts": [_cut(known.get(law, ""), letters) for law in numbers.known],
    }


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…" if letters else ""


def _pair(each: Asked, sides: Sequence[Shown], strings: _Numbers, laws: Callable[[str], int]) -> list[object]:
    """Its question, state, kind, language, topic, what it expects and its text; its groups, accepted laws and sides."""
    now, key = each.latest, each.latest.key
    accepted = dict.fromkeys(law for side in sides for law in side.detail(key).accepted)
    names = now.question, now.state, now.kind, now.language, now.topic, now.expects, now.text
    return [
        *map(strings, names),
        [[_expected(group, each), list(map(laws, _either(group).laws)), _cosines(group)] for group in each.groups],
        list(map(laws, accepted)),
        [
            None if outcome is None else _side(outcome, side.detail(key).nearest, strings, laws)
            for outcome, side in zip(each.outcomes, sides, strict=True)
        ],
    ]


def _expected(group: Sequence[Group | None], each: Asked) -> int:
    """Whether the first side expects a group, and whether the last does; of one side both are it."""
    name = _either(group).name
    first, last = (
        {one.name for one in outcome.groups} if outcome else set() for outcome in (each.outcomes[0], each.outcomes[-1])
    )
    return EXPECTED_BEFORE * (name in first) + EXPECTED_NOW * (name in last)


def _cosines(group: Sequence[Group | None]) -> list[float | None]:
    return [None if each is None else each.cosine for each in group]


def _side(
    outcome: Outcome, nearest: tuple[str, float] | None, strings: _Numbers, laws: Callable[[str], int]
) -> list[object]:
    """What a side has of a pair beside its rankings: how it was answered and rephrased, and the nearest wrong law."""
    return [
        strings(outcome.text),
        strings(outcome.outcome),
        strings(outcome.rephrase),
        list(map(strings, outcome.searches)),
        None if nearest is None else [laws(nearest[0]), nearest[1]],
    ]


def _places(each: Asked, stages: Sequence[str]) -> Iterable[int]:
    """Where each group's first law stands, by group, side and stage."""
    for group in each.groups:
        wanted = set(_either(group).laws)
        for outcome in each.outcomes:
            for stage in stages:
                returned = outcome.stages.get(stage) if outcome else None
                if returned is None:
                    yield NOT_RUN
                else:
                    place = first_place(wanted, returned)
                    yield NOT_RETURNED if place is None else NOT_RETURNED + place


def _cut_cosine(cosine: float) -> int:
    """Its first four digits as a whole number, rounded down: one under a cutoff never looks like it."""
    # The product of a cosine of four digits may lie just under the whole number.
    return math.floor(cosine * COSINE_STEPS + 1e-9)


def _length(outcome: Outcome | None, stage: str) -> int:
    if outcome is None or stage not in outcome.stages:
        return NOT_RUN
    return 1 + len(outcome.stages[stage])


def _rankings(
    kept: Sequence[Asked], sides: Sequence[Shown], stages: Sequence[str], laws: Mapping[str, _Numbers], depth: int
) -> dict[str, Packed]:
    """The beginnings of all rankings, by pair, side and stage; the near search's cosines, by pair and side."""
    returned: list[int] = []
    counts: list[int] = []
    cosines: list[int] = []
    for each in kept:
        numbers = laws[each.latest.state]
        for outcome, side in zip(each.outcomes, sides, strict=True):
            for stage in stages:
                returned += map(numbers, outcome.stages.get(stage, ())[:depth] if outcome else ())
            near = side.detail(each.latest.key).cosines[:depth] if outcome else ()
            counts.append(len(near))
            cosines += (2 * COSINE_STEPS + _cut_cosine(cosine) for cosine in near)
    return {"returned": pack(returned), "cosineCounts": pack(counts), "cosines": pack(cosines)}
