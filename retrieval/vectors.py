"""The near search: cosine of a question's vector with each law's, exact to the order of its additions.

It scores the vectors it is given; making and storing them is not its business.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrieval.corpus import Law

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]

# A float64 holds integers up to 2^53. Products of two 20-bit integers, summed over up to 2^13 dimensions, stay
# below that, so a matrix product over such integers is exact whatever the order of its additions.
LIMB_BITS = 20
MAX_DIMENSIONS = 2**13
BLOCK = 2048  # rows that are worked on as float64 at a time: all of a large corpus's would be its largest array


class Hit(NamedTuple):
    """A law the near search returned, by id, with its cosine in [-1, 1]."""

    id: str
    score: float


def embedding_text(law: Law) -> str:
    """What is embedded for a law: its rule and the card's question. Empty where both are: that law has no vector."""
    return f"{law.law} {law.question}".strip()


class _Exact(NamedTuple):
    """Vectors as integers: `high` and, where rounding to it left something, 20 more bits in `low`."""

    high: NDArray[np.floating]
    low: NDArray[np.floating] | None

    def kept(self) -> "_Exact":
        """The same in half the memory: float32 holds integers up to 2^24."""
        return _Exact(self.high.astype(np.float32), None if self.low is None else self.low.astype(np.float32))

    def doubles(self) -> "_Exact":
        """The same as float64, in which products and sums of them are exact."""
        return _Exact(self.high.astype(np.float64), None if self.low is None else self.low.astype(np.float64))


def _exact(vectors: Floats) -> _Exact:
    """`vectors` (n, d), each row scaled by a power of two so that its largest number takes 20 bits, in two parts.

    Rows of integers that fit into 20 bits, as vectors are recorded, leave no second part and are scored exactly.
    """
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    # frexp: largest = m * 2^e with 0.5 <= m < 1; scaling by powers of two changes no digit.
    scaled = np.ldexp(vectors, (LIMB_BITS - np.frexp(largest)[1])[:, None])
    high = np.rint(scaled)
    low = np.rint(np.ldexp(scaled - high, LIMB_BITS))
    return _Exact(high, low if low.any() else None)


def _dots(a: _Exact, b: _Exact) -> Floats:
    """Every row of `a` times every row of `b` (n, m): exact matrix products of integers, added in one fixed order."""
    dots = a.high @ b.high.T
    if a.low is not None:
        dots = dots + np.ldexp(a.low @ b.high.T, -LIMB_BITS)
    if b.low is not None:
        dots = dots + np.ldexp(a.high @ b.low.T, -LIMB_BITS)
    if a.low is not None and b.low is not None:
        dots = dots + np.ldexp(a.low @ b.low.T, -2 * LIMB_BITS)
    return np.asarray(dots)


def _norms(a: _Exact) -> Floats:
    squares = (a.high * a.high).sum(axis=1)
    if a.low is not None:
        squares = squares + np.ldexp((a.high * a.low).sum(axis=1), 1 - LIMB_BITS)
        squares = squares + np.ldexp((a.low * a.low).sum(axis=1), -2 * LIMB_BITS)
    return np.asarray(np.sqrt(squares))


class VectorIndex:
    """Ids beside their vectors, ready to be asked.

    ids: n of them, in the corpus's order, which decides ties. vectors: (n, d) finite numbers, d at most 8,192, of any
    scale; rows of integers (as recorded) are scored without any rounding before the square roots. ValueError where
    the shapes differ or a number is not finite.
    """

    def __init__(self, ids: Sequence[str], vectors: ArrayLike) -> None:
        self.ids = tuple(ids)
        if np.ndim(vectors) == 2 and np.shape(vectors)[0] != len(self.ids):
            raise ValueError(f"{np.shape(vectors)[0]} vectors for {len(self.ids)} ids")
        array = np.asarray(vectors).reshape(len(self.ids), -1) if len(self.ids) else np.empty((0, 0))
        if array.shape[1] > MAX_DIMENSIONS:
            raise ValueError(f"{array.shape[1]} dimensions; at most {MAX_DIMENSIONS} are scored exactly")
        self.dimensions = array.shape[1]
        self._vectors = [_exact(_finite(array[rows], "vectors")).kept() for rows in _blocks(len(self.ids))]
        self._norms = [_norms(block.doubles()) for block in self._vectors]

    def cosines(self, vectors: ArrayLike) -> Floats:
        """The cosine of each of q `vectors` (q, d) with each of the n indexed ones: (q, n), NaN where one is zero.

        cosine = dot / (sqrt(aa) * sqrt(bb)). The same bits for any order of dimensions, any batch and any number of
        threads.
        """
        asked = _finite(vectors, "the question's vector")
        if asked.ndim != 2:
            raise ValueError(f"expected (questions, dimensions), found shape {asked.shape}")
        if not self.ids:
            return np.empty((len(asked), 0))
        if asked.shape[1] != self.dimensions:
            raise ValueError(f"a question of {asked.shape[1]} dimensions for an index of {self.dimensions}")
        exact = _exact(asked)
        asked_norms = _norms(exact)[:, None]
        cosines = np.full((len(asked), len(self.ids)), np.nan)
        for rows, block, norms in zip(_blocks(len(self.ids)), self._vectors, self._norms, strict=True):
            products = asked_norms * norms
            np.divide(_dots(exact, block.doubles()), products, out=cosines[:, rows], where=products > 0)
        return cosines


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, start + BLOCK) for start in range(0, count, BLOCK))


def _finite(vectors: ArrayLike, what: str) -> Floats:
    array = np.asarray(vectors, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{what} must be finite numbers")
    return array


def best_first(scores: Floats, most: int | None = None) -> Positions:
    """Positions of the scores that are numbers, best first, ties in the order given (the corpus's).

    At most `most` of them, without sorting the rest; None for all.
    """
    found = np.flatnonzero(~np.isnan(scores))
    if most is not None and 0 < most < len(found):
        # Every score equal to the last one wanted stays: which of them come is the corpus's order to decide.
        least = np.partition(scores[found], -most)[-most]
        found = found[scores[found] >= least]
    falling = -scores[found]
    order = np.argsort(falling)  # several times as fast as a stable sort, which equal scores alone need
    if (np.diff(falling[order]) == 0).any():
        order = np.argsort(falling, kind="stable")
    return found[order][:most]


def nearest(index: VectorIndex, vector: ArrayLike, top_k: int, cutoff: float) -> list[Hit]:
    """The laws nearest a vector (d,), best first: at most `top_k`, none with a cosine below `cutoff`.

    The cutoff is compared with raw cosines and is itself let in. Ties keep the index's order. A zero vector, asked
    or indexed, matches nothing. An empty index answers nothing. ValueError for a negative `top_k`.
    """
    if top_k < 0:
        raise ValueError(f"top_k must be 0 or more, found {top_k}")
    scores = index.cosines(np.asarray(vector, dtype=np.float64)[None, :])[0]
    found = best_first(scores)
    kept = found[scores[found] >= cutoff][:top_k]
    return [Hit(index.ids[at], float(scores[at])) for at in kept]
