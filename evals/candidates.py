"""What each question could be given and what it expects, as arrays, and what it is given at every depth. No means.

`Candidates` is one question's: the beginnings of its rankings, no longer than a sweep looks. `Block` holds many
questions of two rankings each and tabulates them together; `Fused` is a question of any number of rankings.

Laws are positions in all states' laws, one state after the other, so that laws of two states never meet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evals.grid import ABSENT, Bools, Floats, Ints, Plane, candidates_found, returned, slices
from evals.run import Measured, Run
from retrieval.vectors import embedding_text

COUNTS = ("reached", "relevant", "laws", "characters")

# Where an array of laws, or of laws looked for, has no more of them: the two are no law, and not the same.
_NO_LAW, _NO_TARGET = -1, -2


@dataclass(frozen=True)
class Candidates:
    """One question's rankings, the question's own first and then its searches', cut at the depths of a sweep.

    words, near: laws by position, best first, for each text; cosines: those of `near`. groups: the laws of each
    expected group; relevant: expected or accepted; family: the page rows that stand beside the result.
    """

    words: tuple[Ints, ...]
    near: tuple[Ints, ...]
    cosines: tuple[Floats, ...]
    groups: tuple[Ints, ...]
    relevant: Ints
    family: Ints


class Laws:
    """The laws of all states, by state and id; `lengths` holds the characters of each one's embedding text."""

    def __init__(self, run: Run) -> None:
        self._first: dict[str, int] = {}
        self._positions: dict[str, Mapping[str, int]] = {}
        lengths: list[int] = []
        for state, laws in run.corpus.items():
            self._first[state] = len(lengths)
            self._positions[state] = {law.id: len(lengths) + at for at, law in enumerate(laws)}
            lengths += [len(embedding_text(law)) for law in laws]
        self.lengths = np.array([*lengths, 0], dtype=np.int32)  # the 0 is where _NO_LAW looks

    def candidates(self, measured: Measured, near_laws: int, laws: int) -> Candidates:
        """A pair's candidates at these depths. Expected, accepted and family ids that no law has are left out."""
        pair, scorings = measured.pair, measured.trace.scorings
        first, positions = self._first[pair.state], self._positions[pair.state]

        def found(ids: Sequence[str] | frozenset[str]) -> Ints:
            return np.array(sorted({positions[each] for each in ids if each in positions}), dtype=np.int32)

        return Candidates(
            words=tuple((first + each.words.laws[:laws]).astype(np.int32) for each in scorings),
            near=tuple((first + each.near.laws[:near_laws]).astype(np.int32) for each in scorings),
            cosines=tuple(each.near.scores[:near_laws] for each in scorings),
            groups=tuple(found(group) for group in pair.expected),
            relevant=found(pair.relevant),
            family=found(measured.trace.family),
        )


def padded(rows: Sequence[Ints], width: int, fill: int) -> NDArray[np.int32]:
    """Rows of at most `width` laws as one array (n, width), filled up behind."""
    array = np.full((len(rows), width), fill, np.int32)
    for row, values in zip(array, rows, strict=True):
        row[: len(values)] = values
    return array


def cosines(rows: Sequence[Floats], width: int) -> Floats:
    """The best `width` of each row's cosines (n, width), filled up with minus infinity."""
    array = np.full((len(rows), width), -np.inf)
    for row, values in zip(array, rows, strict=True):
        row[: len(values)] = values[:width]
    return array


def _sets(rows: Sequence[Ints], fill: int) -> Ints:
    return padded(rows, max(map(len, rows), default=0), fill)


def _among(laws: Ints, targets: Ints) -> Bools:
    """Whether each of `laws` (n, d) is one of its row's `targets` (n, k)."""
    found = np.zeros(laws.shape, np.bool_)
    for column in targets.T:
        found |= laws == column[:, None]
    return found


class Block:
    """n questions of which the own two rankings alone matter, tabulated at every depth.

    `near(count)` is of the near ranking alone (n, 1, 1 + M); `fused(count)` of both rankings fused, the family beside
    (n, 1 + L, 1 + M). A count is one of COUNTS. `groups(stage)` has a row for each group of each question, in order:
    whether it is reached. Every table is made when it is first asked for.
    """

    def __init__(self, questions: Sequence[Candidates], lengths: Ints, near_laws: int, laws: int) -> None:
        self._lengths = lengths
        self._words = padded([each.words[0] for each in questions], laws, _NO_LAW)
        self._near = padded([each.near[0] for each in questions], near_laws, _NO_LAW)
        self._groups = _sets([group for each in questions for group in each.groups], _NO_TARGET)
        self._relevant = _sets([each.relevant for each in questions], _NO_TARGET)
        self._family = _sets([each.family for each in questions], _NO_LAW)
        self._tables: dict[tuple[str, str], NDArray[np.generic]] = {}
        self.cosines = cosines([each.cosines[0] for each in questions], near_laws)
        self.groups = np.array([len(each.groups) for each in questions], dtype=np.int64)

    def table(self, stage: str, count: str) -> NDArray[np.generic]:
        """The count at every depth: (n, 1 + L, 1 + M) for `fused`, (n, 1, 1 + M) for `near`, where L has no meaning.

        `groups` is a count too: it has a row for each group of each question, in order.
        """
        key = (stage, count)
        if key not in self._tables:
            self._tables[key] = self._reached(stage) if count == "reached" else self._tabulated(stage, count)
        return self._tables[key]

    def _reached(self, stage: str) -> NDArray[np.generic]:
        groups = self.table(stage, "groups")
        reached = np.zeros((len(self.groups), *groups.shape[1:]), np.int16)
        first = np.cumsum(self.groups) - self.groups
        for nth in range(self.groups.max(initial=0)):
            having = np.flatnonzero(self.groups > nth)
            reached[having] += groups[first[having] + nth]
        return reached

    def _tabulated(self, stage: str, count: str) -> NDArray[np.generic]:
        owners = np.arange(len(self.groups))
        if count == "groups":
            owners = np.repeat(owners, self.groups)
        sizes = 1 + self._words.shape[1] if stage == "fused" else 1
        dtype = {"groups": np.bool_, "characters": np.int32}.get(count, np.int16)
        table = np.empty((len(owners), sizes, 1 + self._near.shape[1]), dtype)
        for part in slices(len(owners)):
            rows = owners[part]
            words, near, family = self._words[rows], self._near[rows], self._family[rows]
            if stage == "near":
                table[part, 0, 0] = 0
                sums =  np.cumsum(self._weights(count, part, near), axis=1)
                table[part, 0, 1:] = sums
            else:
                alone = [self._weights(count, part, laws) * ~_among(laws, family) for laws in (words, near)]
                beside = self._weights(count, part, family).sum(axis=1)
                table[part] = self._plane.sums(rows, *alone) + beside[:, None, None]
        return table

    def _weights(self, count: str, part: slice, laws: Ints) -> Ints | Bools:
        """What each of `laws` adds to a count; `part` are the rows of the table."""
        if count == "groups":
            return _among(laws, self._groups[part])
        if count == "relevant":
            return _among(laws, self._relevant[part])
        if count == "laws":
            return laws != _NO_LAW
        return self._lengths[laws]
