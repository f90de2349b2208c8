"""What may be promised of a cutoff: an upper bound on the share of needs that it would cost.

A cutoff costs a need when any law that the need expects lies under it, however it was asked, in any state: also a law
that no cutoff would have let in, because too many are nearer. So a pool without searches loses no more. The promise is
Learn-then-Test's (Angelopoulos and others, doi.org/10.48550/arXiv.2110.01052): cutoffs of a grid that was declared
beforehand, tested from the safest up by an exact binomial test, until the first that fails. Each need is one trial,
since the pairs of one need fail together. It holds for needs drawn like these; what traffic asks is another matter.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, betaincinv

from evals.bands import Point
from evals.counted import counted

GRID = tuple(step / 1000 for step in range(-1000, 1001))  # every cutoff of three digits, as settings write them

COVERS = (
    "That counts every such law, also one too far down to be returned at any cutoff, and covers needs drawn like these,"
    " not traffic."
)


@dataclass(frozen=True)
class Certificate:
    """What was asked (`share` at `level`), what was found, and what may be said.

    losses_by_cutoff: for each cutoff of the grid, from the lowest, how many of the `needs` it costs. certified: the
    highest cutoff that costs at most `share` of needs; None where that cannot be certified, and then `instead` is a
    share and a cutoff that can (None where nothing can).
    """

    share: float
    level: float
    needs: int
    losses_by_cutoff: Mapping[float, int]
    certified: float | None
    instead: tuple[float, float] | None
    sentence: str


def lowest_by_need(points: Iterable[Point]) -> dict[str, float]:
    """For each need the lowest cosine that one of its expected groups depends on, over its asks and states.

    A group without any vector has no point: no cutoff costs it.
    """
    lowest: dict[str, float] = {}
    for point in points:
        if point.group == "answering":
            lowest[point.pair.need] = min(point.cosine, lowest.get(point.pair.need, math.inf))
    return dict(sorted(lowest.items()))


def needed(share: float, level: float = 0.95) -> int:
    """The fewest needs, none of them lost, that certify a share between 0 and 1.

    >>> needed(0.01), needed(0.05)
    (299, 59)
    """
    _check(share, level)
    needs = max(1, math.floor(math.log1p(-level) / math.log1p(-share)))
    # The quotient may round to either side of a whole number: the test itself decides.
    while not _holds([0], needs, share, level).all():
        needs += 1
    return needs


def bound(losses: int, needs: int, level: float = 0.95) -> float:
    """The share of needs that is not exceeded, at that confidence, where so many were lost: exact binomial, one-sided.

    For one cutoff, chosen before its losses were seen. 1 where every need was lost or there is none.

    >>> bound(0, 299) < 0.01 < bound(0, 298)
    True
    """
    if not 0 <= losses <= needs:
        raise ValueError(f"{losses} losses of {needs} needs")
    return float(betaincinv(losses + 1, needs - losses, level)) if losses < needs else 1.0


def certify(
    lowest: Mapping[str, float], share: float, grid: Sequence[float] = GRID, level: float = 0.95
) -> Certificate:
    """The highest cutoff of the grid that costs at most `share` of needs, with `level` confidence.

    lowest: as `lowest_by_need` gives it. grid: declared before the cosines were seen, in any order. Where the share
    cannot be certified, the share that so many needs could certify at best is tried; where even the safest cutoff
    loses too many, its own bound is given. ValueError for an empty grid and for what is not a number.
    """
    _check(share, level)
    if not grid or any(math.isnan(value) for value in [*grid, *lowest.values()]):
        raise ValueError("a certificate takes at least one cutoff, and numbers throughout")
    cosines, needs = sorted(lowest.values()), len(lowest)
    losses = {cutoff: bisect_left(cosines, cutoff) for cutoff in sorted(set(grid))}
    enough = needs >= needed(share, level)
    # Chosen by the number of needs alone, so the cosines have no say in what is tested.
    tested = share if enough else _rounded_up(bound(0, needs, level))
    cutoff = _highest(losses, needs, tested, level)
    certified = cutoff if enough else None
    instead = None
    if certified is None:
        safest = next(iter(losses))
        instead = (tested, cutoff) if cutoff is not None else (_rounded_up(bound(losses[safest], needs, level)), safest)
        instead = instead if instead[0] < 1 else None
    sentence = _sentence(share, level, needs, losses, certified, instead)
    return Certificate(share, level, needs, losses, certified, instead, sentence)


def _highest(losses: Mapping[float, int], needs: int, share: float, level: float) -> float | None:
    """The last cutoff before the first that fails."""
    hold = _holds(list(losses.values()), needs, share, level)
    held = list(losses)[: len(hold) if hold.all() else int(hold.argmin())]
    return held[-1] if held else None


def _holds(losses: Sequence[int], needs: int, share: float, level: float) -> NDArray[np.bool_]:
    """Whether so few losses are improbable enough were the true share `share` or more."""
    return np.asarray(bdtr(losses, needs, share) <= 1 - level)


def _rounded_up(share: float) -> float:
    """To a tenth of a percent, so that the printed share holds as it is printed."""
    return math.ceil(share * 1000) / 1000


def _sentence(
    share: float,
    level: float,
    needs: int,
    losses: Mapping[float, int],
    certified: float | None,
    instead: tuple[float, float] | None,
) -> str:
    sure = f"with {_percent(level)} confidence"
    if certified is not None:
        return f"{sure.capitalize()}, {_costs(certified, share, needs, losses)} {COVERS}"
    takes = f"it takes {needed(share, level)} without a loss"
    if needs >= needed(share, level):
        safest = next(iter(losses))
        takes += f", and the safest cutoff, {safest:g}, has {losses[safest]}"
    said = f"Cannot certify {_percent(share)} with {counted(needs, 'need')}: {takes}."
    if instead is None:
        return f"{said} Nothing can be certified."
    most, cutoff = instead
    return f"{said} What can be certified, {sure}: {_costs(cutoff, most, needs, losses)} {COVERS}"


def _costs(cutoff: float, share: float, needs: int, losses: Mapping[float, int]) -> str:
    return (
        f"at most {_percent(share)} of needs have an expected law with a cosine under {cutoff:g} in some state; here"
        f" {losses[cutoff]:,} of {needs:,} have."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def _check(share: float, level: float) -> None:
    if not (0 < share < 1 and 0 < level < 1):
        raise ValueError(f"a share and a level lie between 0 and 1, not {share} and {level}")
