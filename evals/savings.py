"""What would have saved a lost law: the smallest change of one setting that brings it into the pool.

Found among the settings that a sweep answers (32 neighbours, a pool of 64), and checked from there on: neither a lower
cutoff nor a wider pool keeps every law it gained, because fusion moves others past it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evals.run import Run
from evals.sweep import LAWS, NEAR_LAWS, Setting, Sweep

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Saving:
    """A change that brings a lost group into the pool. `until`: the first further value that loses it again."""

    setting: str
    value: float
    until: float | None

    def __str__(self) -> str:
        number = f"{self.value:.3f}" if self.setting == "near_enough" else f"{self.value:g}"
        again = "" if self.until is None else f" (lost again at {self.until:.3g})"
        return f"{self.setting} {number}{again}"


def savings(run: Run, sweep: Sweep) -> dict[tuple[int, int], tuple[Saving, ...]]:
    """For every group lost by the pool, (pair, group) as in `sweep.groups`, the savings there are; () where none is.

    At most one for each of near_enough, near_laws and the pool's size: `searched_candidate_laws` of a pair with
    searches, `candidate_laws` of all others. A cutoff is given rounded down to three digits, so that the printed
    number works. Pairs with searches fused get no cutoff: each search would need its own.
    """
    settings = run.settings
    in_force = Setting.of_pool(run)
    lost = ~sweep.reached(in_force, "pool")
    nears = range(settings.near_laws + 1, NEAR_LAWS + 1)
    by_near = sweep.reached_at([replace(in_force, near_laws=count) for count in nears], "pool", lost)
    sizes = [settings.pool_laws(len(each.trace.scorings) - 1) for each in run.pairs]
    least = min(sizes, default=LAWS)
    wider = [replace(in_force, laws=laws, searched_laws=laws) for laws in range(least + 1, LAWS + 1)]
    by_size = sweep.reached_at(wider, "pool", lost)
    let_in = [replace(in_force, near_enough=-1.0, near_laws=count) for count in range(settings.near_laws + 1)]
    by_depth = sweep.reached_at(let_in, "pool", lost)
    found: dict[tuple[int, int], tuple[Saving, ...]] = {}
    for at in np.flatnonzero(lost):
        pair, group = sweep.groups[at]
        size, searches = sizes[pair], len(run.pairs[pair].trace.scorings) > 1
        pool = "searched_candidate_laws" if searches else "candidate_laws"
        several = [
            _first("near_enough", _cutoffs(run, pair), by_depth[:, at]),
            _first("near_laws", nears, by_near[:, at]),
            _first(pool, range(size + 1, LAWS + 1), by_size[size - least :, at]),
        ]
        found[pair, group] = tuple(saving for saving in several if saving is not None)
    return found


def _cutoffs(run: Run, pair: int) -> Mapping[int, float]:
    """For each number of neighbours that a lower cutoff would let in, the highest cutoff that lets them in."""
    trace = run.pairs[pair].trace
    if len(trace.scorings) > 1:
        return {}
    near, settings = trace.scorings[0].near, run.settings
    inside = near.count(settings.cutoff, settings.near_laws)
    deepest = min(settings.near_laws, len(near.scores))
    return {count: np.floor(near.scores[count - 1] * 1000) / 1000 for count in range(inside + 1, deepest + 1)}


def _first(setting: str, values: Mapping[int, float] | Sequence[int], reached: Bools) -> Saving | None:
    """The first value at which the group is reached, and the first after it at which it is not."""
    steps = list(values.items()) if isinstance(values, Mapping) else list(enumerate(values))
    hits = [bool(reached[at]) for at, _ in steps]
    if True not in hits:
        return None
    first = hits.index(True)
    until = next((float(value) for (_, value), hit in zip(steps[first:], hits[first:], strict=True) if not hit), None)
    return Saving(setting, float(steps[first][1]), until)
