"""Intervals and the paired test: hand-worked cases, scipy and plain restatements as oracles, and small simulations."""

import itertools
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, binomtest, permutation_test

from evals import statistics
from evals.certificate import bound
from evals.statistics import (
    Exact,
    Interval,
    Over,
    paired_permutation,
    permutation_matrix,
    recall_interval,
    share_interval,
    smallest_visible_loss,
)

Rows = list[tuple[str, int, int]]  # need, groups, reached

OVER: tuple[Over, ...] = ("needs", "pairs")

few = settings(max_examples=50)
rows = st.integers(1, 3).flatmap(
    lambda groups: st.tuples(st.sampled_from("abcdef"), st.just(groups), st.integers(0, groups))
)
sets = st.lists(rows, min_size=1, max_size=12)
levels = st.sampled_from([0.5, 0.8, 0.95, 0.99])


def interval(found: Rows, level: float = 0.95, over: Over = "needs") -> Interval:
    """The interval of some rows."""
    needs, groups, reached = zip(*found, strict=True)
    result = recall_interval(reached, groups, needs, level, over)
    assert result is not None
    return result


def limits(found: Interval) -> tuple[float, float]:
    """Both limits."""
    return found.low, found.high


def named(count: int) -> list[str]:
    """So many needs."""
    return [f"need-{at}" for at in range(count)]


def p_of(differences: Sequence[Exact], needs: Sequence[str] | None = None, over: Over = "needs") -> float:
    """The p of some differences, a need each unless told."""
    test = paired_permutation([0] * len(differences), differences, needs or named(len(differences)), over=over)
    assert test is not None
    return test.p


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (1, 1), (3, 5), (20, 20), (234, 235), (235, 235), (30, 60)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_recalls_of_none_or_all_give_the_binomial_interval(hits: int, n: int, level: float) -> None:
    """Where every need is found always or never, the interval is Clopper and Pearson's, whatever the pairs."""
    found: Rows = [(need, 2, 2 * (at < hits)) for at, need in enumerate(named(n)) for _ in range(1 + at % 3)]
    oracle = binomtest(hits, n).proportion_ci(level, method="exact")
    shares = share_interval(hits, n, level)
    assert shares is not None
    assert limits(interval(found, level)) == pytest.approx((oracle.low, oracle.high), abs=2e-9)
    assert limits(shares) == pytest.approx((oracle.low, oracle.high), abs=2e-9)


def test_one_need_by_hand() -> None:
    """One need with recall 1/2 and one unseen with 0: the mean is uniform between, so 2.5 % lie below 0.0125."""
    assert limits(interval([("a", 2, 1)])) == (0.0125, 0.9875)
    assert limits(interval([("a", 1, 1), ("a", 1, 0)])) == (0.0125, 0.9875)


def test_over_pairs_by_hand() -> None:
    """Recall 1 over one need of 3 pairs: the unseen need has 3 pairs too, so the mean is uniform between 0 and 1."""
    assert limits(interval([("a", 1, 1)] * 3, over="pairs")) == (0.025, 1)


def below_zero(values: Sequence[Fraction]) -> Fraction:
    """The probability that the values, each times an exponential variable of its own, add up to 0 or less.

    Let a positive and a negative one race; the smaller product is used up and what the other has left is exponential
    again. Exact in fractions, and nothing to do with splines.
    """
    ups, downs = [value for value in values if value > 0], [-value for value in values if value <= 0]
    row = [Fraction(1)] * (len(downs) + 1)
    for up in ups:
        below = [Fraction(0)]
        for at, down in enumerate(downs, 1):
            below.append((down * row[at] + up * below[-1]) / (up + down))
        row = below
    return row[-1]


def chance_below(found: Rows, mean: Fraction, over: Over) -> Fraction:
    """The probability that the mean with random weights, an unseen need of recall 0 added, is at most `mean`."""
    by_need: dict[str, list[Fraction]] = {}
    for need, groups, reached in found:
        by_need.setdefault(need, []).append(Fraction(reached, groups))
    units = [(sum(each, Fraction()), len(each)) for each in by_need.values()]
    if over == "needs":
        units = [(total / size, 1) for total, size in units]
    units.append((Fraction(), max(size for _, size in units)))
    return below_zero([total - mean * size for total, size in units])


@few
@given(sets, levels, st.sampled_from(OVER))
def test_limits_are_the_quantiles_of_the_weighted_mean(found: Rows, level: float, over: Over) -> None:
    """Both limits are where the exact probability passes half of 1 - level, up to rounding."""
    tail, near = (1 - level) / 2, Fraction(1, 10**8)
    mirrored = [(need, groups, groups - reached) for need, groups, reached in found]
    result = interval(found, level, over)
    for limit, rows in [(result.low, found), (1 - result.high, mirrored)]:
        if any(reached for _, _, reached in rows):
            assert chance_below(rows, Fraction(limit) - near, over) < tail
            assert chance_below(rows, Fraction(limit) + near, over) > tail
        else:
            assert limit == 0


@few
@given(sets, levels, st.sampled_from(OVER), st.randoms(use_true_random=False))
def test_interval_is_blind_to_order_and_names(found: Rows, level: float, over: Over, rng: random.Random) -> None:
    """Shuffled rows and other names for the needs give the same limits."""
    shuffled = rng.sample([(f"x{ord('z') - ord(need)}", *rest) for need, *rest in found], len(found))
    assert limits(interval(found, level, over)) == limits(interval(shuffled, level, over))  # type: ignore[arg-type]


@few
@given(sets, levels, st.sampled_from(OVER))
def test_interval_contains_the_estimate_and_lies_within_0_and_1(found: Rows, level: float, over: Over) -> None:
    """The mean recall of the set is never outside."""
    recalls: dict[str, list[float]] = {}
    for need, groups, reached in found:
        recalls.setdefault(need, []).append(reached / groups)
    means = [sum(each) / len(each) for each in recalls.values()]
    estimate = np.mean(means if over == "needs" else [recall for each in recalls.values() for recall in each])
    low, high = limits(interval(found, level, over))
    assert 0 <= low <= estimate + 1e-9 <= high + 2e-9 <= 1 + 2e-9


@few
@given(sets, st.sampled_from(OVER))
def test_a_higher_level_widens(found: Rows, over: Over) -> None:
    """More confidence, a wider interval: each limit that is not at the end moves."""
    low, high = limits(interval(found, 0.9, over))
    lower, higher = limits(interval(found, 0.99, over))
    assert (lower < low or low == 0) and (high < higher or high == 1)


@few
@given(sets, st.sampled_from(OVER))
def test_asking_again_adds_no_certainty(found: Rows, over: Over) -> None:
    """Every pair three times over is the same evidence: the need is the unit."""
    assert limits(interval(found * 3, 0.95, over)) == pytest.approx(limits(interval(found, 0.95, over)), abs=2e-9)


@pytest.mark.parametrize("over", OVER)
def test_a_set_without_a_loss_is_not_certain(over: Over) -> None:
    """A bootstrap would say [1, 1]."""
    found = interval([(need, 1, 1) for need in named(100)], over=over)
    assert found.high == 1
    assert found.low == pytest.approx(0.025**0.01, abs=1e-9)


def test_no_pair_gives_no_interval() -> None:
    """Missing is None, never 0."""
    assert recall_interval([], [], []) is None
    assert share_interval(0, 0) is None
    assert smallest_visible_loss(0) is None
    assert paired_permutation([], [], []) is None


@pytest.mark.parametrize(("reached", "groups"), [(0, 0), (2, 1), (-1, 1)])
def test_a_pair_that_cannot_be_is_refused(reached: int, groups: int) -> None:
    """Nothing expected, more reached than expected: an error, not a recall."""
    with pytest.raises(ValueError, match="1 group or more"):
        recall_interval([1, reached], [1, groups], ["a", "b"])


def test_bad_arguments_are_refused() -> None:
    """Levels outside 0 and 1, columns of different length, more successes than trials."""
    for level in (0, 1, 95):
        with pytest.raises(ValueError, match="level"):
            recall_interval([1], [1], ["a"], level)
    with pytest.raises(ValueError, match="longer"):
        recall_interval([1], [1], ["a", "b"])
    with pytest.raises(ValueError, match="3 successes of 2"):
        share_interval(3, 2)


@pytest.mark.parametrize("within", [0.3, 1.0])
@pytest.mark.parametrize("recall", [0.8, 0.99])
def test_interval_keeps_its_level_in_a_simulation(within: float, recall: float) -> None:
    """Of 400 sets of 20 needs about 5 % miss the truth at most; the bootstrap's [1, 1] alone would miss 33 % and more.

    A need's chance is drawn first and its 9 pairs from that; within 1 means found always or never.
    """
    rng = np.random.default_rng(5)
    missed = perfect = 0
    for _ in range(400):
        spread = 1 / within - 1
        chances = rng.beta(recall * spread, (1 - recall) * spread, 20) if spread else rng.random(20) < recall
        hits = rng.binomial(9, chances)
        perfect += int(hits.min() == 9)
        low, high = limits(interval([(need, 9, int(hit)) for need, hit in zip(named(20), hits, strict=True)]))
        missed += not low <= recall <= high
    assert missed <= binom.ppf(0.999, 400, 0.05)
    assert perfect > 400 / 3 or recall < 0.9


@pytest.mark.parametrize("n", [1, 2, 20, 235])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_smallest_visible_loss_is_seen_that_often(n: int, level: float) -> None:
    """With that share lost, the chance of at least one loss is the level; it is the bound of a set without a loss."""
    share = smallest_visible_loss(n, level)
    assert share is not None
    assert 1 - (1 - share) ** n == pytest.approx(level)
    assert share == pytest.approx(bound(0, n, level))


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1], 1.0),  # +1 and -1 are equally far
        ([1, 1], 2 / 4),  # sums 2 0 0 -2
        ([1, -1], 1.0),  # observed 0: every sum is as far
        ([2, 1], 2 / 4),  # 3 1 -1 -3
        ([2, -1], 1.0),  # the observed 1 is the least far
        ([1, 1, 1], 2 / 8),
        ([2, 1, 1], 2 / 8),  # 4; then 2, 2, 0 and their opposites
        ([2, 1, -1], 6 / 8),  # as far as 2: 4 2 2 and their opposites
        ([1, 2, -3], 1.0),
        ([1, 1, 1, 1], 2 / 16),
        ([3, 1, 1, -1], 8 / 16),  # as far as 4: 6, and 4 in three ways, and their opposites
        ([1, 0, 1, 0], 2 / 4),  # needs that do not differ change nothing
        ([0, 0, 0], 1.0),
        ([2**60, 1], 2 / 4),  # 2^60 - 1 is less far, and equal to 2^60 + 1 among floats
    ],
)
def test_p_by_hand(differences: list[int], p: float) -> None:
    """All signs of up to four needs, written out; the same in twelfths as in whole numbers."""
    assert p_of(differences) == p
    assert p_of([Fraction(difference, 12) for difference in differences]) == p


def test_a_tie_is_a_tie() -> None:
    """Recalls 0 to 1/3 and 1/2 to 2/3: p is 0.5, where comparing the means of floats says 0.0."""
    before, after = [Fraction(0), Fraction(1, 2)], [Fraction(1, 3), Fraction(2, 3)]
    test = paired_permutation(before, after, ["a", "b"])
    assert test == statistics.PairedTest(0.5, 0.25, 2, True)
    old, new = np.array([0, 1 / 2]), np.array([1 / 3, 2 / 3])
    observed = new.mean() - old.mean()
    signed = [np.mean(np.array(signs) * (new - old)) for signs in itertools.product((1, -1), repeat=2)]
    assert sum(abs(each) >= abs(observed) for each in signed) == 0


def test_floats_are_refused() -> None:
    """A recall of 1/3 has to come as Fraction(1, 3)."""
    with pytest.raises(TypeError, match="not floats"):
        paired_permutation([0.5], [1], ["a"])  # type: ignore[list-item]


def test_the_mean_that_is_tested() -> None:
    """Need a gains 1 of 2 pairs, need b loses 1 of 1: over needs -1/4, over pairs 0."""
    before, after, needs = [0, 0, 1], [1, 0, 0], ["a", "a", "b"]
    assert paired_permutation(before, after, needs) == statistics.PairedTest(1.0, -0.25, 2, True)
    assert paired_permutation(before, after, needs, over="pairs") == statistics.PairedTest(1.0, 0.0, 2, True)
    assert paired_permutation([0, 0, 0], [1, 0, 1], needs, over="pairs") == statistics.PairedTest(0.5, 2 / 3, 2, True)


def test_pairs_of_one_need_are_one_observation() -> None:
    """Nine pairs of one need that all gain: p is 1, not 2 / 2^9."""
    assert p_of([1] * 9, ["a"] * 9) == p_of([1] * 9, ["a"] * 9, "pairs") == 1
    assert p_of([1] * 9) == 2 / 2**9


changes = st.lists(st.tuples(st.sampled_from("abcde"), st.fractions(-1, 1, max_denominator=4)), min_size=1, max_size=10)


@few
@given(changes, st.sampled_from(OVER))
def test_exact_p_is_the_count_over_all_signs(found: list[tuple[str, Fraction]], over: Over) -> None:
    """Every assignment of signs to needs, in fractions, as the definition has it."""
    needs = [need for need, _ in found]
    units = {need: sum((change for each, change in found if each == need), Fraction()) for need in needs}
    if over == "needs":
        units = {need: total / needs.count(need) for need, total in units.items()}
    observed = abs(sum(units.values(), Fraction()))
    far = [
        abs(sum((sign * unit for sign, unit in zip(signs, units.values(), strict=True)), Fraction())) >= observed
        for signs in itertools.product((1, -1), repeat=len(units))
    ]
    assert p_of([change for _, change in found], needs, over) == sum(far) / len(far)


def test_scipy_gives_the_same_exact_p() -> None:
    """The oracle is scipy's own paired permutation test over whole numbers."""
    before, after = np.array([3, 0, 2, 4, 1, 1, 0, 2]), np.array([4, 2, 2, 3, 4, 1, 2, 3])

    def difference(first: NDArray[Any], second: NDArray[Any], axis: int) -> Any:
        return (second - first).sum(axis=axis)

    oracle = permutation_test((before, after), difference, permutation_type="samples", n_resamples=2**8)
    test = paired_permutation(before.tolist(), after.tolist(), named(8))
    assert test is not None
    assert test.p == pytest.approx(oracle.pvalue)
    assert test.exact


@few
@given(changes, st.sampled_from(OVER), st.randoms(use_true_random=False))
def test_p_is_blind_to_order_and_direction(found: list[tuple[str, Fraction]], over: Over, rng: random.Random) -> None:
    """Shuffled rows, and before and after exchanged, give the same p; p is above 0 and at most 1."""
    shuffled = rng.sample(found, len(found))
    p = p_of([change for _, change in found], [need for need, _ in found], over)
    assert p == p_of([-change for _, change in shuffled], [need for need, _ in shuffled], over)
    assert 0 < p <= 1


def test_many_needs_are_sampled_by_order_blind_signs() -> None:
    """Over 16 differing needs: the same p in any order of rows and direction; another seed gives another, close by."""
    rng = np.random.default_rng(3)
    differences = [int(each) for each in rng.integers(-3, 5, 40)]
    order = rng.permutation(40).tolist()
    first = paired_permutation([0] * 40, differences, named(40))
    again = paired_permutation([differences[at] for at in order], [0] * 40, [named(40)[at] for at in order])
    other = paired_permutation([0] * 40, differences, named(40), seed=1)
    assert first is not None and again is not None and other is not None
    assert not first.exact
    assert (first.p, first.difference) == (again.p, -again.difference)
    assert first.p != other.p
    assert first.p == pytest.approx(other.p, abs=0.02)


def test_sampled_p_agrees_with_the_sign_test() -> None:
    """With 30 differences of one size the test is the sign test: 20 gains of 30, within four standard errors."""
    oracle = binomtest(20, 30).pvalue
    p = p_of([1] * 20 + [-1] * 10)
    assert p == pytest.approx(oracle, abs=4 * math.sqrt(oracle / 10_000))
    assert p != oracle


def test_a_sampled_p_is_never_0() -> None:
    """Forty gains: none of 200 random signs comes as far, and the observed counts."""
    test = paired_permutation([0] * 40, [1] * 40, named(40), permutations=200)
    assert test is not None
    assert test.p == 1 / 201


def test_a_common_denominator_beyond_64_bits() -> None:
    """Needs with 2 to 71 pairs, each a prime number: whole numbers stay whole, and every sum ties with itself."""
    primes = [n for n in range(2, 72) if all(n % k for k in range(2, n))]
    needs = [f"need-{prime}" for prime in primes for _ in range(prime)]
    after = [int(at == 0) for prime in primes for at in range(prime)]
    assert math.lcm(*primes) > 2**64
    test = paired_permutation([0] * len(needs), after, needs)
    assert test is not None
    sizes = 1 / np.array(primes)
    signs = np.random.default_rng(8).choice([-1, 1], (10_000, len(primes)))
    oracle = np.mean(abs(signs @ sizes) >= sizes.sum() - 1e-9)
    assert test.p == pytest.approx(oracle, abs=0.002)


def test_several_metrics_at_once() -> None:
    """Each column's p is its own; zeros have p 1; needs that do not differ and a common factor change nothing."""
    rng = np.random.default_rng(4)
    differences = rng.integers(-3, 5, (40, 3))
    differences[:, 1] = 0
    together = permutation_matrix(differences, seed=2, permutations=2_500)
    assert together.shape == (3,)
    assert together[1] == 1
    for column in (0, 2):
        needs = [need for need, each in zip(sorted(named(40)), differences[:, column], strict=True) if each]
        values = [int(each) for each in differences[:, column] if each]
        alone = paired_permutation([0] * len(values), values, needs, seed=2, permutations=2_500)
        assert alone is not None
        assert together[column] == pytest.approx(alone.p, abs=0.04)
    with_others = np.insert(differences, range(0, 40, 3), 0, axis=0)
    assert permutation_matrix(with_others, 2, 2_500).tolist() == together.tolist()
    assert permutation_matrix(differences.astype(object) * 10**20, 2, 2_500).tolist() == together.tolist()


def test_labels_swapped_by_need_raise_false_alarms_at_the_stated_rate() -> None:
    """250 pairs of runs that differ by chance alone: about 5 % at p <= 0.05; with the pair as the unit far more."""
    rng = np.random.default_rng(6)
    needs = [need for need in named(20) for _ in range(9)]
    alarms = np.zeros(2)
    for _ in range(250):
        # Both runs of a need's nine pairs share the need's luck.
        one, other = (rng.random((20, 9)) < rng.random((20, 1)) for _ in range(2))
        swap = rng.random((20, 1)) < 0.5
        before, after = (
            np.where(swap, first, second).ravel().astype(int).tolist() for first, second in [(one, other), (other, one)]
        )
        for at, units in enumerate([needs, named(180)]):
            test = paired_permutation(before, after, units, permutations=200)
            assert test is not None
            alarms[at] += test.p <= 0.05
    assert binom.ppf(0.001, 250, 0.05) <= alarms[0] <= binom.ppf(0.999, 250, 0.05)
    assert alarms[1] > 40
