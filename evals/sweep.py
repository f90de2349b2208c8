"""Every cutoff, near limit and number of laws asked for, exactly, from what one run scored. Runs no pipeline.

Asked for so many laws, a question's result depends only on that number and on how many laws of each near ranking
take part: the least of `near_laws` and the cosines that reach the cutoff. So the result is tabulated by numbers of
laws, and a cutoff is looked up in the question's own cosines. Between two observed cosines nothing changes: curves
have breakpoints, no grid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from evals.candidates import Block, Candidates, Laws, Searched, cosines
from evals.grid import Bools, Floats, Ints, both_beat_one
from evals.metrics import mean
from evals.questions import Pair
from evals.run import Measured, Run

Stage = Literal["near", "fused", "pool"]

NEAR_LAWS = 32
LAWS = 64


class Setting(NamedTuple):
    """The cutoff, the most laws a near ranking gives, and the laws that fusion is asked for."""

    near_enough: float
    near_laws: int
    laws: int


@dataclass(frozen=True)
class Figures:
    """Means over the answerable pairs, as `evals.metrics` defines them; None where there is nothing to average.

    Precision is the mean over the pairs that something was returned to; `nothing_returned` counts the others.
    """

    pairs: int
    recall: float | None
    hit: float | None
    precision: float | None
    nothing_returned: int
    laws: float | None
    characters: float | None


class Silence(NamedTuple):
    """The near search over the questions that expect nothing: how many returned nothing, and laws, of how many."""

    returned_nothing: float
    laws: float
    pairs: int


def _per_law(relevant: Floats, laws: Floats) -> Floats:
    return np.divide(relevant, laws, out=np.zeros_like(laws), where=laws > 0)


# What is summed over pairs: the counts it needs, and how a pair's value comes of them. Precision adds 0 for a pair
# without one; its mean divides by the pairs that have one.
_MEASURES: Mapping[str, tuple[tuple[str, ...], Callable[..., Floats]]] = {
    "recall": (("reached", "groups"), np.divide),
    "hit": (("reached",), lambda reached: np.minimum(reached, 1.0)),
    "precision": (("relevant", "laws"), _per_law),
    "nothing_returned": (("laws",), lambda laws: np.equal(laws, 0).astype(float)),
    "laws": (("laws",), np.positive),
    "characters": (("characters",), np.positive),
}


class Sweep:
    """One run's answerable pairs at every setting up to its depths, and its other pairs' near search.

    `groups` names each expected group by the pair's place in `run.pairs` and its own place in the pair. Figures equal
    those of a pipeline run with the setting, to the last digit. Stages: `near` is the question's near ranking,
    whatever the laws asked for; `fused` and `pool` are both `retrieve` asked for `laws`, the family beside.
    """

    def __init__(self, run: Run, near_laws: int, laws: int, only: Callable[[Pair], bool] | None) -> None: ...
