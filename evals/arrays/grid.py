"""Sums over pairs at every combination of cutoffs, near limits and numbers of laws asked for. Divides nothing.

A sum of floats depends on the order of its additions, unless every one of them is exact. Here each value is parted
into a multiple of 2^-32 and the rest. Sums of either part are whole multiples of one unit and stay below 2^53 units:
whatever the order, running sums and differences among them, the bits are the same. The two parts' sum, rounded once,
is what `math.fsum` gives for the values.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

import numpy as np

from evals.arrays.candidates import Block, Searched
from evals.arrays.depths import Bools, Floats, Ints

Counts = Mapping[str, Ints | Bools]

# Values are whole numbers, which leave no rest, or shares k / n. With n up to 2^10 the rests of shares are multiples of
# 2^-62 of at most 2^-33: two million pairs of either part stay exact.
_UNITS = 2.0**32


def _per_law(counts: Counts) -> Floats:
    laws = counts["laws"].astype(float)
    shares = np.zeros(laws.shape)
    np.divide(counts["relevant"], laws, out=shares, where=laws > 0)
    return shares


# The counts that a measure needs, and a pair's value from them. Precision adds 0 for a pair that has none.
MEASURES: Mapping[str, tuple[tuple[str, ...], Callable[[Counts], Floats]]] = {
    "recall": (("reached",), lambda counts: np.divide(counts["reached"], counts["groups"], dtype=float)),
    "hit": (("reached",), lambda counts: (counts["reached"] > 0).astype(float)),
    "precision": (("relevant", "laws"), _per_law),
    "nothing_returned": (("laws",), lambda counts: (counts["laws"] == 0).astype(float)),
    "laws": (("laws",), lambda counts: counts["laws"].astype(float)),
    "characters": (("characters",), lambda counts: counts["characters"].astype(float)),
}


def _parts(values: Floats) -> Floats:
    """The values as multiples of 2^-32 and what is left, in front as an axis of two."""
    high = np.rint(values * _UNITS) / _UNITS
    return np.stack([high, values - high])


def sums(
    measures: Collection[str],
    block: Block,
    stage: str,
    searched: Iterable[tuple[Searched, Ints]],
    cutoffs: Floats,
    near_counts: Ints,
    sizes: Ints,
) -> dict[str, Floats]:
    """Each measure summed over the block's pairs at a stage and over `searched`: (cutoffs, near_counts, sizes).

    The sums are those of `math.fsum`. Cutoffs may come in any order, more than once; sizes index the block's
    tables. `searched` come each with as many sizes, to be asked for instead, and are fused whatever the stage: give
    none for the near stage.
    """
    order = np.argsort(-cutoffs, kind="stable")
    falling = cutoffs[order]
    parts = {name: _block_sums(name, block, stage, falling, near_counts, sizes) for name in measures}
    steps = {name: np.zeros_like(array) for name, array in parts.items()}
    if parts and falling.size and near_counts.size and sizes.size:
        for one, its_sizes in searched:
            _add_steps(steps, one, falling, near_counts, its_sizes)
    totals = {}
    for name in measures:
        high, low = parts[name] + np.cumsum(steps[name], axis=1)
        totals[name] = np.empty_like(high)
        totals[name][order] = high + low
    return totals


def _block_sums(measure: str, block: Block, stage: str, falling: Floats, near_counts: Ints, sizes: Ints) -> Floats:
    """One measure's sums over a block, in two parts: (2, cutoffs, near_counts, sizes)."""
    if len(falling) == 1:
        return _at_one_cutoff(measure, block, stage, falling[0], near_counts, sizes)
    # A pair's nth law takes part from its nth cosine down. So a sum at a cutoff is the sum without near laws, and for
    # each n what the nth law changes in those pairs whose nth cosine reaches it: one running sum over pairs by cosine.
    found = np.empty((2, len(falling), len(near_counts), len(sizes)))
    counts, value = MEASURES[measure]
    groups = block.groups[:, None]
    before = running = np.zeros(0)
    for depth in range(near_counts.max(initial=0) + 1):
        at_depth = {name: block.table(stage, name)[:, sizes, depth] for name in counts}
        values = _parts(value({**at_depth, "groups": groups}))
        if depth == 0:
            running = np.broadcast_to(values.sum(axis=1)[:, None], (2, len(falling), len(sizes))).copy()
        else:
            nth, by_cosine = block.cosines[:, depth - 1], block.nearing(depth)
            changes = np.zeros((2, 1 + len(nth), len(sizes)))
            np.cumsum((values - before)[:, by_cosine], axis=1, out=changes[:, 1:])
            running += changes[:, np.searchsorted(-nth[by_cosine], -falling, side="right")]
        found[:, :, near_counts == depth] = running[:, :, None]
        before = values
    return found


def _at_one_cutoff(
    measure: str, block: Block, stage: str, cutoff: np.float64, near_counts: Ints, sizes: Ints
) -> Floats:
    """The same where a single cutoff is asked about: every pair's value is looked up at its own depth."""
    found = np.empty((2, 1, len(near_counts), len(sizes)))
    counts, value = MEASURES[measure]
    reaching = (block.cosines >= cutoff).sum(axis=1)
    rows, groups = np.arange(len(reaching))[:, None], block.groups[:, None]
    for nth, most in enumerate(near_counts):
        depths = np.minimum(reaching, most)[:, None]
        at_depth = {name: block.table(stage, name)[rows, sizes, depths] for name in counts}
        found[:, 0, nth] = _parts(value({**at_depth, "groups": groups})).sum(axis=1)
    return found


def _add_steps(steps: Mapping[str, Floats], one: Searched, falling: Floats, near_counts: Ints, sizes: Ints) -> None:
    """Adds to each measure, at the cutoffs where a searched question's result changes, by how much its value does."""
    reaching = np.searchsorted(-falling, -one.cosines[:, : near_counts.max()].ravel())
    places = np.unique([0, *reaching])
    places = places[places < len(falling)]
    reach = (one.cosines >= falling[places, None, None]).sum(axis=2)
    depths = np.minimum(reach[:, None], near_counts[:, None])
    distinct, case = np.unique(depths.reshape(-1, depths.shape[2]), axis=0, return_inverse=True)
    case = case.reshape(depths.shape[:2])
    needed = {count for name in steps for count in MEASURES[name][0]}
    counts = {**one.counts(needed, distinct, sizes), "groups": np.array(one.groups)}
    for name, array in steps.items():
        values = _parts(MEASURES[name][1](counts))
        array[:, places] += np.diff(values[:, case], axis=1, prepend=0.0)
