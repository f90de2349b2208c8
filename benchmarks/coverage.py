"""Simulates whether the statistics keep their word, beside methods that were not taken, and prints Markdown tables.

Sets are drawn from worlds whose truth is known. Intervals: how many sets' interval holds the true recall. The paired
test: how often it calls two runs different that are not. The certificate: how often the certified cutoff costs more
than was promised. `docs/how-sure.md` shows the tables of such a run.

Run it as `python -m benchmarks.coverage [--sets N]`.
"""

import argparse
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.stats import beta, norm

from evals.certificate import certify
from evals.statistics import Over, paired_permutation, recall_interval

SEED = 1994
NEEDS = (20, 50, 100, 235, 500)
RECALLS = (0.5, 0.8, 0.9, 0.95, 0.99, 1.0)
PAIRS = (4, 9, 18, 27, 36)  # a need's pairs: each number as likely as the others
WITHIN = (0.3, 1.0)  # the correlation of two pairs of one need; 1: a need is found always or never
TAIL = 0.025
RESAMPLES = 1000

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """A set of needs: how many pairs each has, and how many of those were reached."""

    hits: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def recalls(self) -> Floats:
        """Each need's mean recall."""
        return self.hits / self.sizes


Method = Callable[[Sample, np.random.Generator], tuple[float, float]]


def draw(rng: np.random.Generator, needs: int, recall: float, within: float) -> Sample:
    """A set from a beta-binomial world: needs differ in how findable they are, pairs of a need share that."""
    sizes = rng.choice(PAIRS, needs)
    if recall == 1:
        chances = np.ones(needs)
    elif within == 1:
        chances = (rng.random(needs) < recall).astype(float)
    else:
        spread = 1 / within - 1
        chances = rng.beta(recall * spread, (1 - recall) * spread, needs)
    return Sample(rng.binomial(sizes, chances), sizes)


def ours(over: Over) -> Method:
    """The interval of the report."""

    def interval(sample: Sample, rng: np.random.Generator) -> tuple[float, float]:
        needs = [f"need-{at}" for at, size in enumerate(sample.sizes) for _ in range(size)]
        reached = [int(at < hits) for hits, size in zip(sample.hits, sample.sizes, strict=True) for at in range(size)]
        found = recall_interval(reached, [1] * len(reached), needs, over=over)
        assert found is not None
        return found.low, found.high

    return interval


def bootstrap(sample: Sample, rng: np.random.Generator) -> tuple[float, float]:
    """Needs resampled with their pairs, percentiles."""
    means, _ = _resampled(sample, rng)
    low, high = np.quantile(means, [TAIL, 1 - TAIL])
    return float(low), float(high)


def bootstrap_t(sample: Sample, rng: np.random.Generator) -> tuple[float, float]:
    """Needs resampled, each resample's mean divided by its own standard error."""
    means, errors = _resampled(sample, rng)
    mean, error = sample.recalls.mean(), sample.recalls.std(ddof=1) / math.sqrt(len(sample.sizes))
    there = errors > 0
    if not there.any():
        return mean, mean
    high, low = np.quantile((means[there] - mean) / errors[there], [TAIL, 1 - TAIL])
    return mean - low * error, mean - high * error


def _resampled(sample: Sample, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The means of resamples over needs, and their standard errors; equal needs are drawn together."""
    values, counts = np.unique(sample.recalls, return_counts=True)
    needs = len(sample.recalls)
    drawn = rng.multinomial(needs, counts / needs, RESAMPLES)
    means = drawn @ values / needs
    spread = np.maximum(drawn @ values**2 / needs - means**2, 0)
    return means, np.sqrt(spread / (needs - 1))


def _effective(sample: Sample) -> tuple[float, float]:
    """The mean, and how many independent 0s and 1s would be as sure of it."""
    needs, mean = len(sample.sizes), float(sample.recalls.mean())
    spread = float(sample.recalls.var(ddof=1))
    return mean, needs * mean * (1 - mean) / spread if spread > 0 else needs


def wilson(sample: Sample, rng: np.random.Generator) -> tuple[float, float]:
    """Wilson's interval on the effective number of needs."""
    mean, n = _effective(sample)
    z = norm.isf(TAIL)
    middle = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return middle - half, middle + half


def clopper_pearson(sample: Sample, rng: np.random.Generator) -> tuple[float, float]:
    """Clopper and Pearson's interval on the effective number of needs, which need not be whole."""
    mean, n = _effective(sample)
    low = beta.ppf(TAIL, n * mean, n * (1 - mean) + 1) if mean > 0 else 0.0
    high = beta.isf(TAIL, n * mean + 1, n * (1 - mean)) if mean < 1 else 1.0
    return float(low), float(high)


def pairs_as_units(sample: Sample, rng: np.random.Generator) -> tuple[float, float]:
    """Clopper and Pearson's interval as if every pair were an observation of its own."""
    hits, n = int(sample.hits.sum()), int(sample.sizes.sum())
    low = beta.ppf(TAIL, hits, n - hits + 1) if hits else 0.0
    high = beta.isf(TAIL, hits + 1, n - hits) if hits < n else 1.0
    return float(low), float(high)


METHODS: Mapping[str, Method] = {
    "Gaffke, over needs (taken)": ours("needs"),
    "Gaffke, over pairs (taken)": ours("pairs"),
    "bootstrap of needs, percentiles": bootstrap,
    "bootstrap-t of needs": bootstrap_t,
    "Wilson, effective needs": wilson,
    "Clopper-Pearson, effective needs": clopper_pearson,
    "Clopper-Pearson, pairs as units": pairs_as_units,
}

Cell = tuple[float, int, float]  # within, needs, recall


def intervals(sets: int) -> dict[str, dict[Cell, tuple[float, float]]]:
    """For each method and cell, the share of sets whose interval holds the truth, and the mean width."""
    found: dict[str, dict[Cell, tuple[float, float]]] = {name: {} for name in METHODS}
    for at, cell in enumerate(product(WITHIN, NEEDS, RECALLS)):
        within, needs, recall = cell
        rng = np.random.default_rng([SEED, at])
        limits = np.empty((sets, len(METHODS), 2))
        for row in limits:
            sample = draw(rng, needs, recall, within)
            row[:] = [method(sample, rng) for method in METHODS.values()]
        # A limit that is the truth in all but its last digit holds it.
        holds = (limits[:, :, 0] <= recall + 1e-9) & (recall - 1e-9 <= limits[:, :, 1])
        widths = (limits[:, :, 1] - limits[:, :, 0]).mean(axis=0)
        for name, share, width in zip(METHODS, holds.mean(axis=0), widths, strict=True):
            found[name][cell] = float(share), float(width)
    return found


def false_alarms(sets: int) -> list[list[str]]:
    """How often p <= 0.05 for two runs whose results were swapped at random, need by need."""
    rows = []
    for at, needs in enumerate((10, *NEEDS)):
        rng = np.random.default_rng([SEED, 1, at])
        alarms = np.zeros(2)
        for _ in range(sets):
            alarms += _alarms(rng, needs)
        rows.append([f"{needs}", *(f"{100 * share:.1f}" for share in alarms / sets)])
    return rows


def _alarms(rng: np.random.Generator, needs: int) -> NDArray[np.bool_]:
    """Whether the test raises the alarm, with the need as the unit and with the pair."""
    sample = draw(rng, needs, 0.9, 0.3)
    changed = rng.random(needs) < 0.5
    other = np.where(changed, draw(rng, needs, 0.9, 0.3).recalls, sample.recalls)
    swap = rng.random(needs) < 0.5
    before: list[int] = []
    after: list[int] = []
    names = []
    for need, size in enumerate(sample.sizes):
        both = [round(float(recall) * size) for recall in (sample.recalls[need], other[need])]
        for result, hits in zip((before, after), both[::-1] if swap[need] else both, strict=True):
            result += [int(pair < hits) for pair in range(size)]
        names += [f"need-{need}"] * size
    alone = [f"pair-{at}" for at in range(len(names))]
    tests = [paired_permutation(before, after, units, permutations=1000) for units in (names, alone)]
    return np.array([test is not None and test.p <= 0.05 for test in tests])


COSINE, SPREAD, PAIRS_A_NEED = 0.87, 0.025, 9


def true_share(cutoff: float, within: float, pairs: int) -> float:
    """The true share of needs with a pair under the cutoff, where cosines are normal and share a need's part."""
    at, weights = hermegauss(80)
    alone = ((cutoff - COSINE) / SPREAD - math.sqrt(within) * at) / math.sqrt(1 - within)
    return float(1 - (weights * norm.sf(alone) ** pairs).sum() / weights.sum())


def broken(sets: int, share: float = 0.01) -> list[list[str]]:
    """How often a certified cutoff costs more than promised: the need as the unit, and the pair.

    With the pair as the unit the promise is about the share of pairs.
    """
    rows = []
    for at, (needs, within) in enumerate(product((100, 299, 473, 1000), (0.3, 0.6, 0.9))):
        rng = np.random.default_rng([SEED, 2, at])
        counts = np.zeros(4)
        for _ in range(sets):
            shared, own = rng.standard_normal((needs, 1)), rng.standard_normal((needs, PAIRS_A_NEED))
            cosines = COSINE + SPREAD * (math.sqrt(within) * shared + math.sqrt(1 - within) * own)
            counts += _breaks(cosines, share, within)
        rows.append([f"{needs}", f"{within:g}", *(f"{100 * count / sets:.1f}" for count in counts)])
    return rows


def _breaks(cosines: Floats, share: float, within: float) -> Sequence[bool]:
    """Certified at the share asked for; that or the share offered instead broken; pairs certified; that broken."""
    whole = certify({f"need-{at}": float(low) for at, low in enumerate(cosines.min(axis=1))}, share)
    parts = certify({f"pair-{at}": float(each) for at, each in enumerate(cosines.ravel())}, share)
    said = (share, whole.certified) if whole.certified is not None else whole.instead
    pair_broken = parts.certified is not None and norm.cdf((parts.certified - COSINE) / SPREAD) > share
    need_broken = said is not None and true_share(said[1], within, PAIRS_A_NEED) > said[0]
    return [whole.certified is not None, need_broken, parts.certified is not None, pair_broken]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---:"] * len(head), *rows])


def coverage_tables(found: Mapping[str, Mapping[Cell, tuple[float, float]]]) -> str:
    """All methods in a line each, then those shown in the docs, cell by cell."""
    middle = (0.3, 235, 0.95)
    summary = [
        [
            name,
            *(f"{100 * min(cells[cell][0] for cell in cells if cell[0] == within):.1f}" for within in WITHIN),
            f"{sum(share < 0.94 for share, _ in cells.values())} of {len(cells)}",
            f"{cells[middle][1]:.3f}",
        ]
        for name, cells in found.items()
    ]
    head = ["method", *(f"lowest, within {within:g}" for within in WITHIN), "cells under 94 %", "width at 235, 0.95"]
    parts = [table(head, summary)]
    for name, within, what in [
        *product(list(found)[:2], WITHIN, ["coverage in %"]),
        *product(["bootstrap of needs, percentiles"], WITHIN, ["coverage in %"]),
        *product(list(found)[:3], WITHIN[:1], ["mean width"]),
    ]:
        rows = [
            [f"{needs}", *(_shown(found[name][within, needs, recall], what) for recall in RECALLS)] for needs in NEEDS
        ]
        head = ["needs", *(f"{recall:g}" for recall in RECALLS)]
        parts.append(f"{name}, within {within:g}: {what}\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def _shown(cell: tuple[float, float], what: str) -> str:
    return f"{cell[1]:.3f}" if what == "mean width" else f"{100 * cell[0]:.1f}"


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description="Simulate whether the statistics keep their word.")
    parser.add_argument("--sets", type=int, default=2000, help="simulated sets for each figure (default: 2000)")
    sets: int = parser.parse_args().sets
    start = time.perf_counter()
    print(f"seed {SEED}, {sets:,} sets a figure\n\n## Intervals at 95 %\n\n{coverage_tables(intervals(sets))}")
    head = ["needs", "need as unit", "pair as unit"]
    print(f"\n## False alarms in %, at p <= 0.05\n\n{table(head, false_alarms(sets))}")
    head = ["needs", "within", "needs: certified", "broken", "pairs: certified", "broken"]
    print(f"\n## Certificates of 1 %: how many were given and how many broken, in %\n\n{table(head, broken(sets))}")
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
