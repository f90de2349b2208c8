"""Every cutoff, near limit and number of laws asked for, exactly, from what one run scored. Runs no pipeline.

Asked for so many laws, a question's result depends only on that number and on how many laws of each near ranking
take part: the least of `near_laws` and the cosines that reach the cutoff. So results are tabulated by numbers of
laws, and a cutoff is looked up in each question's own cosines. Between two observed cosines nothing changes: a curve
over cutoffs has breakpoints and needs no grid.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from evals.arrays.candidates import Block, Candidates, Laws, Searched, cosines
from evals.arrays.depths import Bools, Floats, both_beat_one
from evals.arrays.grid import MEASURES, sums
from evals.questions import Pair
from evals.run import Run

NEAR_LAWS = 32
LAWS = 64

Stage = Literal["near", "fused", "pool"]
Only = Callable[[Pair], bool]

_MEANS = ("recall", "hit", "precision", "laws", "characters")


@dataclass(frozen=True)
class Setting:
    """The cutoff, the most laws that a near ranking gives, and the laws that fusion is asked for.

    searched_laws: those that the stage `pool` is asked for where a pair has searches; None asks for `laws` there too.
    """

    near_enough: float
    near_laws: int
    laws: int
    searched_laws: int | None = None

    @classmethod
    def of_pool(cls, run: Run) -> Self:
        """The setting of a run's pools; without `searched_laws` where no pair has searches."""
        numbers = run.settings
        searched = any(len(each.trace.scorings) > 1 for each in run.pairs)
        size = numbers.searched_candidate_laws if searched else None
        return cls(numbers.cutoff, numbers.near_laws, numbers.candidate_laws, size)


@dataclass(frozen=True)
class Figures:
    """Means over the answerable pairs, of what `evals.metrics` defines; None where there is nothing to average.

    `precision` is over the pairs to which something was returned; `nothing_returned` counts the others.
    """

    pairs: int
    recall: float | None
    hit: float | None
    precision: float | None
    nothing_returned: int
    laws: float | None
    characters: float | None


class Silence(NamedTuple):
    """The near search where no law is expected: the share of pairs that got nothing, the mean number of laws, n."""

    returned_nothing: float
    laws: float
    pairs: int


class Sweep:
    """A run's pairs at every setting up to `near_laws` and `laws`. Every figure is the pipeline's, to the last digit.

    Stages: `near` is the question's near ranking, whatever the laws asked for; `fused` and `pool` are both `retrieve`
    asked for that many laws, searches fused, the family beside; `pool` may ask for another number where a pair has
    searches. `groups` names the expected groups of the answerable pairs: the pair's place in `run.pairs`, the group's
    in the pair. Made by `Sweep.of`.
    """

    def __init__(
        self,
        questions: Mapping[int, Candidates],
        silent: Sequence[Floats],
        lengths: NDArray[np.int32],
        near_laws: int,
        laws: int,
    ) -> None:
        self.near_laws, self.laws = near_laws, laws
        self.groups = [(at, nth) for at, each in questions.items() for nth in range(len(each.groups))]
        self._silent = cosines(silent, near_laws)
        every = list(questions.values())
        tabulated = [len(each.words) == 1 and both_beat_one(laws, near_laws) for each in every]
        self._every = Block(every, lengths, near_laws, laws)
        self._searched = [
            Searched(each, lengths, near_laws) for each, fits in zip(every, tabulated, strict=True) if not fits
        ]
        self._tabulated = self._every
        if self._searched:
            fitting = [each for each, fits in zip(every, tabulated, strict=True) if fits]
            self._tabulated = Block(fitting, lengths, near_laws, laws)
        # Which of `groups` are those of the tabulated pairs.
        self._of_tabulated = np.repeat(np.array(tabulated, dtype=np.bool_), self._every.groups)

    @classmethod
    def of(cls, run: Run, near_laws: int = NEAR_LAWS, laws: int = LAWS, only: Only | None = None) -> Self:
        """The sweep of a run, or of those of its pairs that `only` lets in.

        near_laws (0 or more) and laws (1 or more) are the most that a setting may ask for; memory grows with their
        product. ValueError where they are less.
        """
        if near_laws < 0 or laws < 1:
            raise ValueError(f"expected near_laws 0 or more and laws 1 or more, found {near_laws} and {laws}")
        known = Laws(run)
        chosen = [(at, each) for at, each in enumerate(run.pairs) if only is None or only(each.pair)]
        questions = {
            at: known.candidates(each, near_laws, laws) for at, each in chosen if each.pair.expects == "answerable"
        }
        silent = [each.trace.scorings[0].near.scores for _, each in chosen if each.pair.expects != "answerable"]
        return cls(questions, silent, known.lengths, near_laws, laws)

    def at(self, setting: Setting, stage: Stage = "fused") -> Figures:
        """The figures of one setting. ValueError for one beyond the sweep's depths."""
        cutoff, near_laws = setting.near_enough, setting.near_laws
        return self._figures([cutoff], [near_laws], [setting.laws], stage, setting.searched_laws)[0]

    def reached(self, setting: Setting, stage: Stage = "fused") -> Bools:
        """Whether each of `groups` is reached: (groups,)."""
        return np.asarray(self.reached_at([setting], stage)[0])

    def reached_at(self, settings: Sequence[Setting], stage: Stage = "fused", among: Bools | None = None) -> Bools:
        """Whether each of `groups` is reached at each of n settings: (n, groups).

        among: (groups,) those that the answer is wanted for; others may be told unreached, which can save most of the
        work where questions have searches.
        """
        for each in settings:
            sizes = _searched_sizes([each.laws], stage, each.searched_laws)
            self._check([each.near_enough], [each.near_laws], [each.laws, *sizes], stage)
        reached = np.zeros((len(settings), len(self.groups)), np.bool_)
        block, name = (self._every, "near") if stage == "near" else (self._tabulated, "fused")
        tabulated = slice(None) if stage == "near" else self._of_tabulated
        for row, each in zip(reached, settings, strict=True):
            size = 0 if stage == "near" else each.laws
            row[tabulated] = block.groups_reached(name, each.near_enough, each.near_laws, size)
        if stage != "near" and settings:
            self._add_searched(reached, settings, stage, among)
        return reached

    def _add_searched(self, reached: Bools, settings: Sequence[Setting], stage: Stage, among: Bools | None) -> None:
        """The groups of the questions that are not tabulated."""
        cutoffs = np.array([each.near_enough for each in settings])
        near_laws = np.array([each.near_laws for each in settings], np.intp)
        sizes = [each.laws for each in settings]
        searched = [_searched_sizes([each.laws], stage, each.searched_laws)[0] for each in settings]
        places, start = np.flatnonzero(~self._of_tabulated), 0
        for one in self._searched:
            own = places[start : start + one.groups]
            start += one.groups
            if among is None or among[own].any():
                asked = np.array(searched if one.has_searches else sizes, np.intp)
                reached[:, own] = one.groups_reached(cutoffs, near_laws, asked)

    def breakpoints(self, near_laws: int | None = None) -> list[float]:
        """The distinct cosines at which anything can change, rising: those of the best `near_laws` of a ranking.

        Of the questions, of their searches, and of the questions that expect nothing. What holds at a cutoff holds
        at the next breakpoint at or above it; above the last, no near ranking takes part.
        """
        depth = self.near_laws if near_laws is None else near_laws
        self._check([], [depth], [], "near")
        observed = [self._every.cosines, self._silent, *(each.cosines for each in self._searched)]
        distinct = np.unique(np.concatenate([each[:, :depth].ravel() for each in observed]))
        found: list[float] = distinct[distinct > -np.inf].tolist()
        return found

    def over_cutoffs(
        self,
        cutoffs: Iterable[float] | None = None,
        *,
        near_laws: int,
        laws: int,
        stage: Stage = "fused",
        searched_laws: int | None = None,
    ) -> list[tuple[float, Figures]]:
        """The figures at each cutoff, in the order given; at every breakpoint, rising, where none is given.

        laws and searched_laws are those of a `Setting`.
        """
        at = self.breakpoints(near_laws) if cutoffs is None else list(cutoffs)
        return list(zip(at, self._figures(at, [near_laws], [laws], stage, searched_laws), strict=True))

    def over_near_laws(
        self,
        counts: Iterable[int],
        *,
        near_enough: float,
        laws: int,
        stage: Stage = "fused",
        searched_laws: int | None = None,
    ) -> list[tuple[int, Figures]]:
        """The figures at each `near_laws`, in the order given; laws and searched_laws are those of a `Setting`."""
        at = list(counts)
        return list(zip(at, self._figures([near_enough], at, [laws], stage, searched_laws), strict=True))

    def over_laws(self, sizes: Iterable[int], *, near_enough: float, near_laws: int) -> list[tuple[int, Figures]]:
        """The figures of fusion at each number of laws asked for, in the order given."""
        at = list(sizes)
        return list(zip(at, self._figures([near_enough], [near_laws], at, "fused"), strict=True))

    def grid(
        self,
        cutoffs: Sequence[float],
        near_laws_counts: Sequence[int],
        laws_counts: Sequence[int],
        measure: str = "recall",
    ) -> Floats:
        """A mean of the fused stage at every combination: (cutoffs, near_laws_counts, laws_counts).

        measure: recall, hit, precision, laws or characters; else a ValueError. Where there is nothing to average the
        array is masked, with NaN behind the mask: `tolist` gives None there.
        """
        if measure not in _MEANS:
            raise ValueError(f"no mean {measure!r}; there are {', '.join(_MEANS)}")
        names = ["precision", "nothing_returned"] if measure == "precision" else [measure]
        total = self._sums(names, cutoffs, near_laws_counts, laws_counts, "fused")
        pairs = len(self._every.groups) - total.get("nothing_returned", np.zeros(total[measure].shape))
        means = np.divide(total[measure], pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0)
        return np.ma.masked_invalid(means)

    def expect_nothing(self, cutoff: float, near_laws: int) -> Silence | None:
        """The near search over all pairs that expect no law; None where there are none."""
        self._check([cutoff], [near_laws], [], "near")
        near = self._silent[:, :near_laws]
        counts = ((near >= cutoff) & (near > -np.inf)).sum(axis=1).tolist()
        if not counts:
            return None
        return Silence(sum(count == 0 for count in counts) / len(counts), sum(counts) / len(counts), len(counts))

    def _figures(
        self,
        cutoffs: Sequence[float],
        near_counts: Sequence[int],
        sizes: Sequence[int],
        stage: Stage,
        searched_laws: int | None = None,
    ) -> list[Figures]:
        """The figures of every combination, the last changing fastest."""
        total = self._sums(list(MEASURES), cutoffs, near_counts, sizes, stage, searched_laws)
        pairs = len(self._every.groups)
        rows = zip(*(total[name].ravel().tolist() for name in MEASURES), strict=True)
        return [_figures(pairs, dict(zip(MEASURES, row, strict=True))) for row in rows]

    def _sums(
        self,
        names: Collection[str],
        cutoffs: Sequence[float],
        near_counts: Sequence[int],
        sizes: Sequence[int],
        stage: Stage,
        searched_laws: int | None = None,
    ) -> dict[str, Floats]:
        searched = _searched_sizes(sizes, stage, searched_laws)
        self._check(cutoffs, near_counts, [*sizes, *searched], stage)
        near = stage == "near"
        asked = [(each, np.array(searched if each.has_searches else sizes, np.intp)) for each in self._searched]
        return sums(
            names,
            self._every if near else self._tabulated,
            "near" if near else "fused",
            () if near else asked,
            np.asarray(cutoffs, dtype=float),
            np.asarray(near_counts, dtype=np.intp),
            np.zeros(len(sizes), np.intp) if near else np.asarray(sizes, dtype=np.intp),
        )

    def _check(self, cutoffs: Sequence[float], near_counts: Sequence[int], sizes: Sequence[int], stage: Stage) -> None:
        if any(math.isnan(cutoff) for cutoff in cutoffs):
            raise ValueError("a cutoff is not a number")
        if any(not 0 <= count <= self.near_laws for count in near_counts):
            raise ValueError(f"near_laws {list(near_counts)}: this sweep holds 0 to {self.near_laws}")
        if stage != "near" and any(not 1 <= size <= self.laws for size in sizes):
            raise ValueError(f"laws {list(sizes)}: this sweep holds 1 to {self.laws}")


def _searched_sizes(sizes: Sequence[int], stage: Stage, searched_laws: int | None) -> Sequence[int]:
    """The laws that pairs with searches are asked for, where all others are asked for `sizes`."""
    return sizes if searched_laws is None or stage != "pool" else [searched_laws] * len(sizes)


def _figures(pairs: int, total: Mapping[str, float]) -> Figures:
    answered = pairs - int(total["nothing_returned"])

    def mean(name: str, count: int = pairs) -> float | None:
        return total[name] / count if count else None

    return Figures(
        pairs=pairs,
        recall=mean("recall"),
        hit=mean("hit"),
        precision=mean("precision", answered),
        nothing_returned=pairs - answered,
        laws=mean("laws"),
        characters=mean("characters"),
    )
