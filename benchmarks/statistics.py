"""Times the statistics of a run: intervals, the paired test, the certificate. Checks nothing: the tests do that.

Run it as `python -m benchmarks.statistics` (as a file it would stand before Python's own module of that name).
"""

import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from evals.certificate import GRID, certify
from evals.statistics import paired_permutation, permutation_matrix, recall_interval

Case = Callable[[], object]

SEED = 1994
ROUNDS = 5
QUESTIONS = 2_000
METRICS = 6
PERMUTATIONS = 10_000
PAIRS_A_NEED = 12


def cases() -> dict[str, Case]:
    """What is timed, by what it says in the table."""
    rng = np.random.default_rng(SEED)
    differences = rng.integers(-12, 13, (QUESTIONS, METRICS))
    size = f"{PERMUTATIONS:,} x {METRICS} metrics, {QUESTIONS:,} questions"
    found: dict[str, Case] = {
        f"permutation_matrix: {size}": partial(permutation_matrix, differences, SEED, PERMUTATIONS)
    }
    for needs in (235, QUESTIONS):
        names = [f"need-{at}" for at in range(needs) for _ in range(PAIRS_A_NEED)]
        before, after = (rng.binomial(2, 0.9, len(names)).tolist() for _ in range(2))
        old, new = ([Fraction(hits, 2) for hits in run] for run in (before, after))
        lowest = {f"need-{at}": float(cosine) for at, cosine in enumerate(rng.normal(0.87, 0.02, needs))}
        size = f"{needs:,} needs, {len(names):,} pairs"
        found[f"paired_permutation: {size}"] = partial(paired_permutation, old, new, names)
        found[f"recall_interval: {size}"] = partial(recall_interval, before, [2] * len(names), names)
        found[f"certify: {needs:,} needs, {len(GRID):,} cutoffs"] = partial(certify, lowest, 0.05)
    return found


def seconds(case: Case) -> float:
    """The fastest of some rounds."""
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        case()
        taken.append(time.perf_counter() - start)
    return min(taken)


def main() -> None:
    """Print the table."""
    print(f"{'min of ' + str(ROUNDS) + ' rounds':<66}{'seconds':>9}")
    for name, case in cases().items():
        print(f"{name:<66}{seconds(case):>9.3f}")


if __name__ == "__main__":
    main()
