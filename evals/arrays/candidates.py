"""What questions could be given and what they expect, as arrays, and what each is given at every depth. No means.

`Candidates` is one question: the beginnings of its rankings, as far as a sweep looks. `Block` tabulates many
questions of two rankings each; `Searched` answers for one question of any number of rankings. Both count, of what is
returned, the expected groups `reached`, the `relevant` laws, the `laws` and the `characters`.

Laws are positions in all states' laws, one state after the other, so that laws of two states never meet.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evals.arrays.depths import ABSENT, Bools, Floats, Ints, Plane, candidates_found, returned, slices
from evals.run import Measured, Run

_TYPES = {"groups": np.bool_, "characters": np.int32}  # all others are below 2^15

# What fills up an array of laws, and one of laws looked for: no law, and never the same.
_NO_LAW, _NO_TARGET = -1, -2


@dataclass(frozen=True)
class Candidates:
    """One question's rankings, the question's own first and then its searches', cut at the depths of a sweep.

    words, near: laws by position, best first, an array for each text; cosines: those of `near`. groups: the laws of
    each expected group; relevant: those expected or accepted; family: the page rows that stand beside the result.
    """

    words: tuple[Ints, ...]
    near: tuple[Ints, ...]
    cosines: tuple[Floats, ...]
    groups: tuple[Ints, ...]
    relevant: Ints
    family: Ints


class Laws:
    """The laws of a run's states by state and id. `lengths` are the characters of each one's embedding text."""

    def __init__(self, run: Run) -> None:
        self._positions = run.positions
        self._first: dict[str, int] = {}
        lengths: list[int] = []
        for state, characters in run.characters.items():
            self._first[state] = len(lengths)
            lengths += characters
        self.lengths = np.array([*lengths, 0], dtype=np.int32)  # no law, the last place, has none

    def candidates(self, measured: Measured, near_laws: int, laws: int) -> Candidates:
        """A pair's candidates at these depths. Ids that no law of the state has are left out of what is looked for."""
        pair, scorings = measured.pair, measured.trace.scorings
        first = self._first[pair.state]
        return Candidates(
            words=tuple((first + each.words.laws[:laws]).astype(np.int32) for each in scorings),
            near=tuple((first + each.near.laws[:near_laws]).astype(np.int32) for each in scorings),
            cosines=tuple(each.near.scores[:near_laws] for each in scorings),
            groups=tuple(self._known(pair.state, group) for group in pair.expected),
            relevant=self._known(pair.state, pair.relevant),
            family=self._known(pair.state, measured.trace.family),
        )

    def _known(self, state: str, ids: Collection[str]) -> Ints:
        positions, first = self._positions[state], self._first[state]
        return np.array(sorted({first + positions[each] for each in ids if each in positions}), dtype=np.int32)


def padded(rows: Sequence[Ints], fill: int, width: int | None = None) -> NDArray[np.int32]:
    """Rows of laws as one array (n, width), filled up behind; as wide as the longest where no width is given."""
    array = np.full((len(rows), max(map(len, rows), default=0) if width is None else width), fill, np.int32)
    for row, values in zip(array, rows, strict=True):
        row[: len(values)] = values
    return array


def cosines(rows: Sequence[Floats], width: int) -> Floats:
    """The best `width` of each row's cosines (n, width), filled up with minus infinity."""
    array = np.full((len(rows), width), -np.inf)
    for row, values in zip(array, rows, strict=True):
        row[: len(values)] = values[:width]
    return array


class _Targets:
    """What n questions look for, and how much each law counts for it.

    A count has a row for each question; `groups`, which says of a group whether it is reached, one for each group.
    """

    def __init__(self, questions: Sequence[Candidates], lengths: NDArray[np.int32]) -> None:
        self.groups = np.array([len(each.groups) for each in questions], dtype=np.int64)
        self.family = padded([each.family for each in questions], _NO_LAW)
        self._groups = padded([group for each in questions for group in each.groups], _NO_TARGET)
        self._relevant = padded([each.relevant for each in questions], _NO_TARGET)
        self._lengths = lengths

    def owners(self, count: str) -> Ints:
        """The question of each of the count's rows."""
        questions = np.arange(len(self.groups))
        return np.repeat(questions, self.groups) if count == "groups" else questions

    def weights(self, count: str, laws: Ints, rows: slice) -> Ints | Bools:
        """How much each of `laws` (r, d) adds to the count's rows (r,)."""
        if count == "groups":
            return _among(laws, self._groups[rows])
        if count == "relevant":
            return _among(laws, self._relevant[rows])
        return self._lengths[laws] if count == "characters" else laws != _NO_LAW

    def beside(self, count: str, family: Ints, rows: slice) -> Ints:
        """What the families (r, k) that stand beside the results add to the count's rows: (r,)."""
        return np.asarray(self.weights(count, family, rows).sum(axis=1))

    def apart(self, count: str, laws: Ints, family: Ints, rows: slice) -> Ints:
        """The weights of `laws`, with 0 for the family's: those are counted beside, found or not."""
        return np.asarray(self.weights(count, laws, rows) * ~_among(laws, family))


def _among(laws: Ints, targets: Ints) -> Bools:
    """Whether each of `laws` (n, d) is one of its row's `targets` (n, k)."""
    found = np.zeros(laws.shape, np.bool_)
    for column in targets.T:
        found |= laws == column[:, None]
    return found


class Block:
    """n questions of which only the first two rankings count, tabulated at every depth when first asked for.

    groups: (n,) how many each expects; cosines: (n, M) of the near rankings, minus infinity behind their end.
    """

    def __init__(self, questions: Sequence[Candidates], lengths: NDArray[np.int32], near_laws: int, laws: int) -> None:
        self._words = padded([each.words[0] for each in questions], _NO_LAW, laws)
        self._near = padded([each.near[0] for each in questions], _NO_LAW, near_laws)
        self._targets = _Targets(questions, lengths)
        self._tables: dict[tuple[str, str], Ints | Bools] = {}
        self._nearing: dict[int, Ints] = {}
        self.groups = self._targets.groups
        self.cosines = cosines([each.cosines[0] for each in questions], near_laws)

    def table(self, stage: str, count: str) -> Ints | Bools:
        """The count at every depth: (n, 1 + L, 1 + M) where the two are fused, (n, 1, 1 + M) for the stage `near`.

        The count `groups` has a row for each group of each question, in order.
        """
        if (stage, count) not in self._tables:
            make = self._reached if count == "reached" else self._near_table if stage == "near" else self._fused_table
            self._tables[stage, count] = make(stage, count)
        return self._tables[stage, count]

    def groups_reached(self, stage: str, cutoff: float, near_laws: int, size: int) -> Bools:
        """Whether each group is reached at one setting; `size` is 0 for the stage `near`."""
        depths = np.minimum((self.cosines >= cutoff).sum(axis=1), near_laws)
        groups = self.table(stage, "groups")
        return np.asarray(groups[np.arange(len(groups)), size, np.repeat(depths, self.groups)], dtype=np.bool_)

    def _reached(self, stage: str, _: str) -> Ints:
        groups, first = self.table(stage, "groups"), np.cumsum(self.groups) - self.groups
        reached = np.zeros((len(self.groups), *groups.shape[1:]), np.int16)
        for nth in range(self.groups.max(initial=0)):
            having = np.flatnonzero(self.groups > nth)
            reached[having] += groups[first[having] + nth]
        return reached

    def _near_table(self, _: str, count: str) -> Ints:
        owners = self._targets.owners(count)
        weights = self._targets.weights(count, self._near[owners], slice(None))
        table = np.zeros((len(owners), 1, 1 + weights.shape[1]), np.int32)
        np.cumsum(weights, axis=1, out=table[:, 0, 1:])
        return table.astype(_TYPES.get(count, np.int16))

    def _fused_table(self, _: str, count: str) -> Ints:
        owners, targets = self._targets.owners(count), self._targets
        shape = (len(owners), 1 + self._words.shape[1], 1 + self._near.shape[1])
        table = np.empty(shape, _TYPES.get(count, np.int16))
        for rows in slices(len(owners)):
            of = owners[rows]
            family = targets.family[of]
            words, near = (targets.apart(count, laws[of], family, rows) for laws in (self._words, self._near))
            table[rows] = self._plane.sums(of, words, near) + targets.beside(count, family, rows)[:, None, None]
        return table

    def nearing(self, nth: int) -> Ints:
        """The questions by their nth cosine, from 1, the greatest first: (n,)."""
        if nth not in self._nearing:
            self._nearing[nth] = np.argsort(-self.cosines[:, nth - 1], kind="stable")
        return self._nearing[nth]

    @cached_property
    def _plane(self) -> Plane:
        near_ranks = np.zeros(self._words.shape, np.int16)
        for rank, laws in enumerate(self._near.T, 1):
            near_ranks[(self._words == laws[:, None]) & (self._words != _NO_LAW)] = rank
        return Plane(near_ranks, self._words != _NO_LAW, self._near != _NO_LAW)


class Searched:
    """One question of any number of texts, fused at the depths asked for; its two rankings for each of j texts.

    groups: how many it expects; cosines: (j, M) of the near rankings, minus infinity behind their end. has_searches:
    whether there are texts beside the question's own.
    """

    def __init__(self, question: Candidates, lengths: NDArray[np.int32], near_laws: int) -> None:
        self._laws = np.unique(np.concatenate([*question.words, *question.near]))
        self._words, self._near = self._ranks(question.words), self._ranks(question.near)
        self._targets = _Targets([question], lengths)
        self.groups = len(question.groups)
        self.has_searches = len(question.words) > 1
        self.cosines = cosines(question.cosines, near_laws)

    def _ranks(self, rankings: Iterable[Ints]) -> Ints:
        ranks = []
        for laws in rankings:
            ranks.append(np.full(len(self._laws), ABSENT))
            ranks[-1][np.searchsorted(self._laws, laws)] = np.arange(1, len(laws) + 1)
        return np.array(ranks)

    def counts(self, names: Collection[str], depths: Ints, sizes: Ints) -> dict[str, Ints]:
        """The counts at each of `depths` (t, j) and `sizes` (s,): (t, s); `groups` is (groups, t, s).

        The dearest count is characters: it alone asks of every candidate whether it is returned.
        """
        # A law that no ranking holds at these depths is not worth comparing.
        held = (self._words <= sizes.max()) | (self._near <= depths.max(axis=0)[:, None])
        kept = np.flatnonzero(held.any(axis=0))
        words, near, known = self._words[:, kept], self._near[:, kept], np.ones(len(kept), np.bool_)
        weights = {
            name: self._weights(name, kept) for name in {"groups" if name == "reached" else name for name in names}
        }
        of = np.flatnonzero(np.any([each.any(axis=0) for each, _ in weights.values()], axis=0))
        given = returned(words, near, known, depths, sizes, of)
        found = {
            name: np.tensordot(each[:, of], given, axes=1) + beside[:, None, None]
            for name, (each, beside) in weights.items()
        }
        if "laws" in found:
            found["laws"] += np.minimum(candidates_found(words, near, known, depths, sizes), sizes)
        counts = {name: array[0] for name, array in found.items() if name != "groups"}
        if "groups" in found:
            counts["groups"] = found["groups"] > 0
            counts["reached"] = counts["groups"].sum(axis=0)
        return counts

    def groups_reached(self, cutoffs: Floats, near_laws: Ints, sizes: Ints) -> Bools:
        """Whether each group is reached at each of n settings, given as three arrays (n,): (n, groups)."""
        depths = np.minimum((self.cosines >= cutoffs[:, None, None]).sum(axis=2), near_laws[:, None])
        distinct, case = np.unique(depths, axis=0, return_inverse=True)
        asked, size = np.unique(sizes, return_inverse=True)
        found = self.counts(["groups"], distinct, asked)["groups"]
        return np.asarray(found[:, case.ravel(), size].T, dtype=np.bool_)

    def _weights(self, count: str, kept: Ints) -> tuple[Ints, Ints]:
        """What each of the laws kept adds to the rows of a count (r, c), and what the family adds to them (r,)."""
        rows = self._targets.owners(count)
        laws, family = np.tile(self._laws[kept], (len(rows), 1)), self._targets.family[rows]
        beside = self._targets.beside(count, family, slice(None))
        if count == "laws":
            # As many as fusion gives, less the family's among them: no need to know which the others are.
            return -_among(laws, family).astype(np.int32), beside
        return self._targets.apart(count, laws, family, slice(None)).astype(np.int32), beside
