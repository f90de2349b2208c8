"""How sure a figure is: intervals for a recall and for a share, and a paired test between two runs.

The unit is the need, not the pair: one need asked four ways in nine states is one observation. Nothing here knows
what a law or a stage is. `docs/how-sure.md` tells how these were chosen, and how often each keeps its word.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

Over = Literal["needs", "pairs"]
Exact = Fraction | int
Value = TypeVar("Value", float, Fraction)

EXACT_NEEDS = 16  # 2^16 signs take a few milliseconds: every one is looked at
_EXACT_FLOATS = 2**53
_AT_ONCE = 1000  # permutations held in memory together

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`, both within 0 and 1, with `level` confidence (0.95: 19 sets in 20 hold the truth)."""

    low: float
    high: float
    level: float
    method: str


@dataclass(frozen=True)
class PairedTest:
    """A two-sided p and the mean difference (after - before) it belongs to. `exact`: every sign was looked at."""

    p: float
    difference: float
    needs: int
    exact: bool


def recall_interval(
    reached: Sequence[int],
    groups: Sequence[int],
    needs: Sequence[str],
    level: float = 0.95,
    over: Over = "needs",
) -> Interval | None:
    """The interval of a mean recall: one row a pair, its groups reached, its groups expected (1 or more), its need.

    over: `needs` for the mean over needs of a need's mean recall; `pairs` for the mean over pairs, with the needs
    still the unit. Assumes that needs are drawn independently, and nothing about the pairs of one need. None where
    there is no pair; ValueError for a pair that expects nothing or reaches more than it expects.

    Each need gets a random weight (as in the Bayesian bootstrap) beside one that nobody saw, with a recall of 0 for
    `low` and of 1 for `high`; the limits are quantiles of the weighted mean, over all weights there are: no seed. For
    recalls of 0 and 1 it is Clopper and Pearson's interval. Gaffke's bound, doi.org/10.48550/arXiv.1905.06208; that it
    keeps its level whatever the distribution: doi.org/10.48550/arXiv.2607.08415.

    >>> recall_interval([1] * 300, [1] * 300, [str(need) for need in range(300)]).low > 0.98
    True
    """
    _check_level(level)
    recalls = _by_need(_recalls(reached, groups), needs)
    if not recalls:
        return None
    sums = np.array([math.fsum(each) for each in recalls.values()])
    sizes = np.array([float(len(each)) for each in recalls.values()])
    if over == "needs":
        sums, sizes = sums / sizes, np.ones(len(sizes))
    tail = (1 - level) / 2
    low, high = _lowest_mean(sums, sizes, tail), 1 - _lowest_mean(sizes - sums, sizes, tail)
    # The last digits of a root are the processor's own.
    return Interval(round(low, 9), round(high, 9), level, f"Gaffke, over {over}")


def _recalls(reached: Sequence[int], groups: Sequence[int]) -> list[float]:
    pairs = list(zip(reached, groups, strict=True))
    if any(of < 1 or not 0 <= hits <= of for hits, of in pairs):
        raise ValueError("a pair must expect 1 group or more, and reach between none and all of them")
    return [hits / of for hits, of in pairs]


def _by_need(values: Iterable[Value], needs: Iterable[str]) -> Mapping[str, list[Value]]:
    """Each need's values, the needs in alphabetical order, so that the order of the rows is forgotten."""
    found: defaultdict[str, list[Value]] = defaultdict(list)
    for value, need in zip(values, needs, strict=True):
        found[need].append(value)
    return dict(sorted(found.items()))


def _lowest_mean(sums: _Floats, sizes: _Floats, tail: float) -> float:
    """The mean under which the weighted one falls with probability `tail`, a need of recall 0 added."""
    if not sums.any():
        return 0.0
    sums, sizes = np.append(sums, 0.0), np.append(sizes, sizes.max())
    from scipy.optimize import brentq  # scipy is slow to import, and a comparison needs none of it

    return float(brentq(lambda mean: _share_below_zero(sums - mean * sizes) - tail, 0.0, 1.0, xtol=1e-12))


def _share_below_zero(values: _Floats) -> float:
    """The probability that a mean of the values with random weights (Dirichlet, all 1) is 0 or less.

    The density of such a mean is the B-spline whose knots are the values (Curry and Schoenberg 1966); its integral
    is a sum of B-splines one degree higher, which are positive and add up to 1: nothing cancels.
    """
    knots = np.sort(values)
    if knots[-1] <= 0:
        return 1.0
    if knots[0] >= 0:
        return 0.0
    degree = len(knots) - 1
    ends = np.ones(degree)
    from scipy.interpolate import BSpline

    spline = BSpline(np.concatenate([knots[0] * ends, knots, knots[-1] * ends]), np.append(0 * ends, ends), degree)
    return float(spline(0.0))


def share_interval(successes: int, n: int, level: float = 0.95) -> Interval | None:
    """Clopper and Pearson's interval of a share, exact for independent trials: each need counted once.

    None where n is 0; ValueError where there are more successes than trials.

    >>> share_interval(0, 299).high < 0.013 < share_interval(0, 200).high
    True
    """
    _check_level(level)
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}")
    if n == 0:
        return None
    tail = (1 - level) / 2
    from scipy.special import betaincinv

    low = float(betaincinv(successes, n - successes + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, n - successes, 1 - tail)) if successes < n else 1.0
    return Interval(round(low, 9), round(high, 9), level, "Clopper-Pearson")


def smallest_visible_loss(n_needs: int, level: float = 0.95) -> float | None:
    """The smallest true share of losing needs that shows at least one loss among so many needs, with that probability.

    1 - (1 - level)^(1 / n): what a group of needs with full recall cannot rule out. None where there is no need.

    >>> round(smallest_visible_loss(20), 3), round(smallest_visible_loss(235), 3)
    (0.139, 0.013)
    """
    _check_level(level)
    return -math.expm1(math.log1p(-level) / n_needs) if n_needs else None


def paired_permutation(
    before: Sequence[Exact],
    after: Sequence[Exact],
    needs: Sequence[str],
    seed: int = 0,
    permutations: int = 10_000,
    over: Over = "needs",
) -> PairedTest | None:
    """The paired permutation test: how often coins that swap each need's two results set the means so far apart.

    before, after: one exact number a pair, `Fraction(reached, groups)`; floats are refused, since their sums differ
    in the last digit where they should tie. over: as in `recall_interval`. With 16 differing needs or fewer all
    signs are looked at, else so many random ones and the observed. p is in (0, 1], and 1 where nothing differs; with
    k differing needs it cannot be below 2 / 2^k. None where there is no pair.

    >>> paired_permutation([0, 0], [1, 1], ["a", "b"]).p
    0.5
    """
    if not all(isinstance(value, Rational) for values in (before, after) for value in values):
        raise TypeError("recalls are compared as exact numbers: Fraction(reached, groups), not floats")
    nothing = Fraction()
    changes = [
        nothing if new == old else _fraction(new) - _fraction(old) for old, new in zip(before, after, strict=True)
    ]
    by_need = _by_need(changes, needs)
    if not by_need:
        return None
    units, of = [sum(filter(None, each), nothing) for each in by_need.values()], len(changes)
    if over == "needs":
        units, of = [unit / len(each) for unit, each in zip(units, by_need.values(), strict=True)], len(by_need)
    scale = math.lcm(*(unit.denominator for unit in units))
    differing = [int(unit * scale) for unit in units if unit]
    exact = len(differing) <= EXACT_NEEDS
    # Whole numbers of Python's own: a common denominator of many needs may pass 64 bits.
    column = np.array(differing, dtype=object).reshape(-1, 1)
    p = _exact_p(column) if exact else permutation_matrix(column, seed, permutations)[0]
    return PairedTest(float(p), float(sum(filter(None, units), nothing) / of), len(by_need), exact)


def _fraction(value: Exact) -> Fraction:
    # numpy's whole numbers would overflow inside a Fraction.
    return Fraction(int(value.numerator), int(value.denominator))


def permutation_matrix(differences: NDArray[Any], seed: int = 0, permutations: int = 10_000) -> _Floats:
    """The p of several metrics at once, all under the same random signs; shapes (needs, metrics) and (metrics,).

    differences: whole numbers, after - before, each column over its own common denominator. p = (1 + as far from 0 as
    observed) / (1 + permutations), in (0, 1], for every column, also one with few needs that differ.
    """
    differences = differences[differences.astype(bool).any(axis=1)]
    far = np.zeros(differences.shape[1], dtype=np.int64)
    for signs in _random_signs(len(differences), seed, permutations):
        far += _as_far(signs, differences)
    return (1 + far) / (1 + permutations)


def _random_signs(needs: int, seed: int, permutations: int) -> Iterator[NDArray[np.uint8]]:
    """Rows of 0 and 1, a bit a need, some permutations at a time."""
    rng = np.random.default_rng(seed)
    for start in range(0, permutations, _AT_ONCE):
        rows = min(_AT_ONCE, permutations - start)
        octets = rng.integers(256, size=(rows, -(-needs // 8)), dtype=np.uint8)
        yield np.unpackbits(octets, axis=1, count=needs)


def _exact_p(differences: NDArray[Any]) -> float:
    needs = len(differences)
    signs = (np.arange(2**needs)[:, None] >> np.arange(needs)) & 1
    return float(_as_far(signs.astype(np.uint8), differences)[0] / 2**needs)


def _as_far(signs: NDArray[np.uint8], differences: NDArray[Any]) -> NDArray[np.int64]:
    """For each metric, how many of the rows of signs give a sum as far from 0 as the observed one, ties included.

    Whole numbers throughout, so that a tie is a tie: as floats while every sum stays below 2^53 (that is what a
    matrix product is fast for), else as Python's.
    """
    largest = 2 * abs(differences.astype(np.float64)).sum(axis=0).max(initial=0)
    exactly: Any = np.float64 if largest < _EXACT_FLOATS else object
    columns = differences.astype(exactly)
    observed = columns.sum(axis=0)
    sums = 2 * (signs.astype(exactly) @ columns) - observed
    return np.asarray((abs(sums) >= abs(observed)).sum(axis=0), dtype=np.int64)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"a level lies between 0 and 1, not {level}")
