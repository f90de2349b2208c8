"""Which laws fusion returns at every depth of its rankings at once, from ranks alone. Knows no ids and no questions.

`Plane` answers for many questions of one word and one near ranking each, `returned` for one question of any number
of rankings. Both give the laws that `retrieval.fuse.fuse` gives, ties included; neither gives their order.

Ranks count from 1. A word ranking is cut at the number of laws asked for, a near ranking at a depth of its own.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from retrieval.fuse import RANK_CONSTANT

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.integer]

ABSENT = 2**20  # a rank that no depth reaches
_AT_ONCE = 64  # questions: what is worked on stays in the processor's cache
_COMPARED_AT_ONCE = 2**22  # a few times as many bytes are held


def both_beat_one(laws: int, near_laws: int) -> bool:
    """Whether a law that both rankings hold outscores every law that one holds, at these depths and all smaller ones.

    The least score of a law in both is above the greatest of a law in one. Rounding keeps the order of sums, so the
    comparison of floats decides for floats. True at 64 laws and 32 near ones.
    """
    return 1 / (RANK_CONSTANT + laws) + 1 / (RANK_CONSTANT + near_laws) > 1 / (RANK_CONSTANT + 1)


def slices(count: int) -> Iterator[slice]:
    """Parts of `count` rows, small enough to be worked on at once."""
    return (slice(start, start + _AT_ONCE) for start in range(0, count, _AT_ONCE))


class Plane:
    """Two rankings of n questions, fused at every (laws asked for, near depth): 0 to L and 0 to M.

    near_ranks: (n, L), for each law of the word ranking its rank in the near ranking, 0 where that lacks it.
    known_words (n, L) and known_near (n, M): whether the corpus has the law at that rank; False behind a ranking's
    end. ValueError at depths where a law in both may score below a law in one.
    """

    # A law in both rankings beats every law in one, and there are no more of those than laws asked for, since each
    # has a word rank of its own: all of them are returned. The places left go to the laws in one ranking by rank, the
    # word ranking's before the near ranking's at the same rank (equal scores, earlier ranking). So a cell of the plane
    # is two numbers: how far down each ranking its laws are taken. Everything else is sums over beginnings.

    def __init__(self, near_ranks: Ints, known_words: Bools, known_near: Bools) -> None:
        (count, laws), near_laws = near_ranks.shape, known_near.shape[1]
        if not both_beat_one(laws, near_laws):
            raise ValueError(f"at {laws} laws and {near_laws} near ones a law in both rankings may come second")
        self._near_ranks = near_ranks
        self._taken = np.zeros((2, count, laws + 1, near_laws + 1), np.min_scalar_type(laws + near_laws))
        for part in slices(count):
            beginnings = _beginnings(near_ranks[part], known_words[part], known_near[part], self._taken.dtype)
            _take(*beginnings, *self._taken[:, part])

    def sums(self, rows: Ints, words: Ints, near: Ints) -> NDArray[np.int32]:
        """The sums of a weight over the laws returned: (r, L + 1, M + 1), for the questions `rows` (r,).

        words (r, L) and near (r, M): the weight of the law at each rank; a law in both rankings has one weight. An
        unknown law's is 0.
        """
        both, words_alone, near_alone = _beginnings(self._near_ranks[rows], words, near, np.dtype(np.int32))
        words_taken, near_taken = self._taken[:, rows].astype(np.intp)
        both += np.take_along_axis(words_alone, words_taken, axis=1)
        both += np.take_along_axis(near_alone, near_taken, axis=2)
        return both.astype(np.int32, copy=False)


def _beginnings(
    near_ranks: Ints, words: Ints | Bools, near: Ints | Bools, dtype: np.dtype[np.integer]
) -> tuple[Ints, Ints, Ints]:
    """A weight summed over the first a of the word ranking and the first b of the near one, each (n, L + 1, M + 1).

    Of the laws among both [a, b]; of those among the first a by words that are not near at b [a, b]; of those among
    the first b by meaning that are not among a by words [a, b].
    """
    (count, laws), near_laws = words.shape, near.shape[1]
    both = np.zeros((count, laws + 1, near_laws + 1), dtype)
    rows, places = np.nonzero(near_ranks)
    both[rows, places + 1, near_ranks[rows, places]] = words[rows, places]
    np.cumsum(both, axis=1, dtype=dtype, out=both)
    np.cumsum(both, axis=2, dtype=dtype, out=both)
    words_first = np.zeros((count, laws + 1, 1), dtype)
    np.cumsum(words, axis=1, dtype=dtype, out=words_first[:, 1:, 0])
    near_first = np.zeros((count, 1, near_laws + 1), dtype)
    np.cumsum(near, axis=1, dtype=dtype, out=near_first[:, 0, 1:])
    return both, words_first - both, near_first - both


def _take(both: Ints, words_alone: Ints, near_alone: Ints, words_taken: Ints, near_taken: Ints) -> None:
    """Counts into `words_taken` and `near_taken` how many ranks of each ranking find room, rank by rank."""
    laws, near_laws = both.shape[1] - 1, both.shape[2] - 1
    room = np.arange(laws + 1, dtype=both.dtype)[:, None] - both
    words_in, near_in = np.zeros_like(both), np.zeros_like(both)
    for rank in range(1, max(laws, near_laws) + 1):
        # A word ranking cut above this rank, or a near one, has no law there: its row or column is done.
        if rank <= laws:
            words_in[:, rank:] = words_alone[:, rank : rank + 1]
            words_taken[:, rank:] += words_in[:, rank:] + near_in[:, rank:] <= room[:, rank:]
        if rank <= near_laws:
            near_in[:, :, rank:] = near_alone[:, :, rank : rank + 1]
            near_taken[:, :, rank:] += words_in[:, :, rank:] + near_in[:, :, rank:] <= room[:, :, rank:]


def returned(words: Ints, near: Ints, known: Bools, depths: Ints, sizes: Ints, of: Ints) -> Bools:
    """Whether fusion returns each of some laws: (e, t, s), for the laws `of` (e,) among the c candidates.

    words, near (j, c): the candidates' ranks in the word and the near ranking of each of j texts, ABSENT where there
    is none; fused in the order words, near of the first text, words, near of the next. known (c,): whether the corpus
    has the candidate. depths (t, j): how many laws of each near ranking take part; sizes (s,): laws asked for.
    """
    owners, inside, state = _states(near, depths)
    scores, keys = _scores(words[:, owners], near[:, owners], inside, sizes)
    asked = np.flatnonzero(np.isin(owners, of))
    mine = state[:, of]
    # The places of the states `mine` among those asked about, which are in order.
    cases, place = np.arange(len(depths))[:, None], np.searchsorted(asked, mine)
    found = np.empty((len(depths), len(of), len(sizes)), np.bool_)
    rows = len(owners) + len(depths) + int(np.count_nonzero(state[1:] != state[:-1]))
    step = max(1, _COMPARED_AT_ONCE // max(1, rows * len(asked)))
    for start in range(0, len(sizes), step):
        part = slice(start, start + step)
        score, key = scores[:, part], keys[:, part]
        before = score[:, None] > score[asked]
        before |= (score[:, None] == score[asked]) & (key[:, None] < key[asked])
        before[~known[owners]] = False
        found[:, :, part] = (_over_candidates(before, state)[cases, place] < sizes[part]) & (score[mine] > 0)
    return np.asarray((found & known[of][:, None]).swapaxes(0, 1))


def _over_candidates(flags: Bools, state: Ints) -> Ints:
    """How many candidates have a flag in their state (t, ...): flags by state (x, ...), states by case (t, c)."""
    # From case to case few candidates change their state: the first is counted, then come the changes. A matrix product
    # does many times the work, and its threads wait for each other where others use the processor too.
    counts = flags.view(np.int8)
    case, candidate = np.nonzero(state[1:] != state[:-1])
    changes = counts[state[case + 1, candidate]] - counts[state[case, candidate]]
    first = counts[state[0]].sum(axis=0, dtype=np.int32)
    running = np.cumsum(np.concatenate([first[None], changes]), axis=0, dtype=np.int32)
    return np.asarray(running[np.searchsorted(case, np.arange(len(state)))])


def _states(near: Ints, depths: Ints) -> tuple[Ints, Bools, Ints]:
    """The distinct states of the candidates: a state is a candidate and the near rankings that hold it at a depth.

    Gives the states' candidates (x,), which near rankings hold each (j, x), and each candidate's state by case (t, c).
    """
    owners = np.arange(near.shape[1])
    state = np.broadcast_to(owners, (len(depths), len(owners)))
    inside = np.zeros((0, len(owners)), np.bool_)
    for ranks, cut in zip(near, depths.T, strict=True):
        code = 2 * state + (ranks <= cut[:, None])
        seen = np.zeros(2 * len(owners), np.bool_)
        seen[code] = True
        kept = np.flatnonzero(seen)
        state = (np.cumsum(seen) - 1)[code]
        owners = owners[kept >> 1]
        inside = np.vstack([inside[:, kept >> 1], kept & 1 == 1])
    return owners, inside, state


def _scores(words: Ints, near: Ints, inside: Bools, sizes: Ints) -> tuple[Floats, Ints]:
    """Each state's score at each size, and what decides between equals, its first ranking and rank there; (x, s)."""
    scores = np.zeros((words.shape[1], len(sizes)))
    keys = np.zeros(scores.shape, np.int64)
    for at, (by_words, by_meaning, near_enough) in enumerate(zip(words, near, inside, strict=True)):
        rankings = ((by_words, by_words[:, None] <= sizes), (by_meaning, near_enough[:, None]))
        for ranking, (ranks, there) in enumerate(rankings, 2 * at):
            # Added in the rankings' order, as fusion does; adding 0.0 changes no bit.
            scores += np.where(there, 1 / (RANK_CONSTANT + ranks[:, None]), 0.0)
            keys = np.where((keys == 0) & there, ranking * ABSENT + ranks[:, None], keys)
    return scores, keys


def candidates_found(words: Ints, near: Ints, known: Bools, depths: Ints, sizes: Ints) -> Ints:
    """How many known laws take part in a fusion: (t, s), with the arguments of `returned`."""
    best = words.min(axis=0)
    order = np.argsort(best, kind="stable")
    order = order[known[order]]
    by_words = np.searchsorted(best[order], sizes, side="right")
    by_meaning = np.zeros((len(depths), 1 + len(order)), np.int32)
    np.cumsum((near[:, order] <= depths[:, :, None]).any(axis=1), axis=1, out=by_meaning[:, 1:])
    return np.asarray(by_words + by_meaning[:, -1:] - by_meaning[:, by_words])
