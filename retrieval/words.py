"""The word search: BM25 over the words that a question shares with a law.

`words` makes tokens of a text, `WordIndex` scores and ranks one corpus, `bm25` does both for a plain list.
Scores are float64 sums in a fixed order, so the same input gives the same bits on every machine.

It does not stem beyond a plural's s, knows no synonyms, and reads a-z and 0-9 only: a text in another
script has no words here. Page rows are never ranked. Vectors are the near search's, mixing is the fusion's.

Sources: Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009) for the score;
Lucene's BM25Similarity for the idf, ln(1 + (N - n + 0.5) / (n + 0.5)), which is never 0 or less.
"""

from __future__ import annotations

import math
import re
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from retrieval.corpus import Law

K1 = 1.2
B = 0.75
STOP_WORDS = frozenset(
    word
    for group in (
        "a an the and or if so that as",
        "at by for from in of on to with there this",
        "i it its me my you your their them",
        "are be is was can could do does should will would",
        "how what when where which who why",
    )
    for word in group.split()
)

_SHORTEST = 4  # letters of the shortest word, asked or known, that tolerance looks at
_SHORTEST_MISTYPED = 5  # and of the shortest asked word that may be one edit away from a known one
_LONG = 32  # letters; a word of n letters has n deletions of n letters, too many to keep for a long one
_DENSE_SHARE = 1 / 8  # of the laws: from here on adding a whole row is faster than adding at positions
_DENSE_BYTES = 64 * 2**20
_BLOCKS = 256
_KEPT_CORPORA = 64

_RUN = re.compile(r"[a-z0-9]+")


def words(text: str) -> list[str]:
    """The tokens of a text, in order, repeats included; [] where no word is left.

    Lower case, runs of a-z and 0-9, stop words out; then a word of four letters or more that ends in
    exactly one s loses it: "signs" is "sign", while "gas" and "pass" stay. A stop word is looked for
    before its s is cut, so "whys" is the token "why".
    """
    runs = [run for run in _RUN.findall(text.lower()) if run not in STOP_WORDS]
    return [run[:-1] if len(run) > 3 and run[-1] == "s" and run[-2] != "s" else run for run in runs]


class WordIndex:
    """One corpus, indexed once for any number of questions; later changes of `laws` are not seen.

    Indexed are a law's rule, card question and concept; page rows keep their position and have no words.
    Time and memory grow with the words of the corpus. The tables for unknown words are made at the first one.
    """

    def __init__(self, laws: Sequence[Law]) -> None:
        self._size = len(laws)
        self._width = max(1, -(-self._size // _BLOCKS)) * _BLOCKS
        self._numbers: dict[str, int] = {}  # each known word's number, in order of first appearance
        self._dense: dict[int, NDArray[np.float64]] = {}
        pairs, counts, lengths = self._read(laws)
        ranked = sum(not law.is_page_row for law in laws)

        word_of, self._holders = np.divmod(pairs, max(1, self._size))
        held = np.bincount(word_of, minlength=len(self._numbers))
        self._starts: list[int] = [0, *np.cumsum(held).tolist()]

        # math.log and not numpy's: vectorised logarithms differ between processors in the last digit.
        idf = np.array([math.log(1 + (ranked - n + 0.5) / (n + 0.5)) for n in held.tolist()], dtype=float)
        average = max(1, int(lengths.sum())) / max(1, ranked)
        norms = K1 * (1 - B + (B * lengths) / average)
        # idf * tf * (k1 + 1) / (tf + norm), from left to right: another order gives other last digits.
        self._terms = idf[word_of]
        self._terms *= counts
        self._terms *= K1 + 1
        self._terms /= counts + norms[self._holders]
        self._keep_dense(held)

    def _read(self, laws: Sequence[Law]) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.int64]]:
        """Each word in each law that holds it, as word * laws + law, sorted; how often; each law's length."""
        pairs = array("q")
        lengths = np.zeros(self._size, dtype=np.int64)
        for position, law in enumerate(laws):
            if law.is_page_row:
                continue
            # A hyphen parts words as a space does, so the concept needs no opening.
            found = words(f"{law.law} {law.question} {law.concept}")
            numbers = [self._numbers.setdefault(word, len(self._numbers)) for word in found]
            pairs.extend([number * self._size + position for number in numbers])
            lengths[position] = len(found)
        distinct, counts = np.unique(np.asarray(pairs, dtype=np.int64), return_counts=True)
        return distinct, counts, lengths

    def _keep_dense(self, held: NDArray[np.intp]) -> None:
        """Give the words that many laws hold a whole row of terms each, the commonest first."""
        common = np.argsort(-held, kind="stable")[: _DENSE_BYTES // (8 * self._width)]
        for number in common[held[common] >= max(1.0, _DENSE_SHARE * self._size)].tolist():
            row = np.zeros(self._width)
            span = slice(self._starts[number], self._starts[number + 1])
            row[self._holders[span]] = self._terms[span]
            self._dense[number] = row

    def spelled_as(self, word: str) -> tuple[str, ...]:
        """The corpus's words that a token of `words` stands for, in the order of their first appearance.

        A known word stands for itself alone. An unknown one of four letters or more stands for the known
        words of four or more that it contains; from five letters on, also for those that one letter
        inserted, deleted or changed makes of it, which have four letters at least. () where there is none.
        """
        if word in self._numbers:
            return (word,)
        if len(word) < _SHORTEST:
            return ()
        found = set(self._contained_in(word))
        if len(word) >= _SHORTEST_MISTYPED:
            found.update(self._one_edit_from(word))
        return tuple(sorted(found, key=self._numbers.__getitem__))

    def asked(self, question: str) -> list[str]:
        """The distinct words of the corpus that a question asks for, in its order; [] where none."""
        return list(dict.fromkeys(known for word in words(question) for known in self.spelled_as(word)))

    def scores(self, question: str) -> NDArray[np.float64]:
        """Each law's BM25 score, shape (laws,), in the corpus's order.

        0.0 for a law that shares no word with the question and for a page row, above 0 for every other.
        A score is the float64 sum of the asked words' terms in the order of `asked`, each word once.
        """
        return self._sum(self.asked(question))[: self._size]

    def rank(self, question: str, limit: int | None) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The best laws' positions in the corpus and their scores, both of shape (found,), best first.

        At most `limit` (None for all) and only scores above 0; equal scores keep the corpus's order.
        Both are empty where nothing is shared. ValueError for a negative limit.
        """
        if limit is not None and limit < 0:
            raise ValueError(f"limit is {limit}: expected 0 or more laws, or None for all of them")
        scores = self._sum(self.asked(question))
        best = _best(scores, limit)
        return best, scores[best]

    def _sum(self, asked: list[str]) -> NDArray[np.float64]:
        """The scores, padded with zeros to whole blocks."""
        scores = np.zeros(self._width)
        for word in asked:
            number = self._numbers[word]
            row = self._dense.get(number)
            if row is not None:
                scores += row  # x + 0.0 is x: the laws without the word keep their bits
            else:
                span = slice(self._starts[number], self._starts[number + 1])
                scores[self._holders[span]] += self._terms[span]
        return scores

    def _contained_in(self, word: str) -> Iterator[str]:
        """The known words of four letters or more inside `word`, found by their first four letters."""
        for start in range(len(word) - _SHORTEST + 1):
            for known in self._by_beginning.get(word[start : start + _SHORTEST], ()):
                if word.startswith(known, start):
                    yield known

    def _one_edit_from(self, word: str) -> Iterator[str]:
        """The known words of four letters or more that are one edit away from `word`."""
        if len(word) > _LONG:
            candidates = self._long_words
        else:
            # Words one edit apart share a form: one of them, or both, with a letter taken out.
            shared = [self._by_form.get(form, "") for form in (word, *_deletions(word))]
            candidates = " ".join(shared).split()
        return (known for known in candidates if _one_edit_apart(word, known))

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        beginnings: dict[str, list[str]] = {}
        for known in self._numbers:
            if len(known) >= _SHORTEST:
                beginnings.setdefault(known[:_SHORTEST], []).append(known)
        return beginnings

    @cached_property
    def _by_form(self) -> dict[str, str]:
        """Known words by themselves and by each form with one letter less.

        Words that share a form stand in one string, parted by spaces: most forms have a single word, and a
        list for each would double the memory.
        """
        forms: dict[str, str] = {}
        for known in self._numbers:
            if _SHORTEST <= len(known) <= _LONG + 1:
                for form in (known, *_deletions(known)):
                    forms[form] = f"{forms[form]} {known}" if form in forms else known
        return forms

    @cached_property
    def _long_words(self) -> list[str]:
        """The few known words that a long asked word is compared with one by one."""
        return [known for known in self._numbers if len(known) >= _LONG]


def bm25(laws: Sequence[Law], question: str, limit: int = 8) -> list[Law]:
    """The laws that answer a question best by the words they share with it, best first, at most `limit`.

    Equal scores keep the order of `laws`; a law that shares no word is never returned; [] for no laws.
    The index is built at the first question to a corpus and kept for the 64 corpora asked last, with a copy
    of the list (its laws live until then); a list changed since, or another at its address, is indexed anew.
    ValueError for a negative limit. Safe to call from several threads.
    """
    corpus = list(laws)
    positions, _ = _kept_index(id(laws), corpus).rank(question, limit)
    return [corpus[position] for position in positions.tolist()]


_kept: OrderedDict[int, tuple[list[Law], WordIndex]] = OrderedDict()
_kept_lock = threading.Lock()


def _kept_index(address: int, corpus: list[Law]) -> WordIndex:
    """The index kept for the list at this address, provided that it is of these very laws."""
    with _kept_lock:
        entry = _kept.pop(address, None)
        # Lists compare by identity first: a corpus that did not change costs microseconds.
        if entry is None or entry[0] != corpus:
            entry = (corpus, WordIndex(corpus))
        _kept[address] = entry
        if len(_kept) > _KEPT_CORPORA:
            _kept.popitem(last=False)
        return entry[1]


def _best(scores: NDArray[np.float64], limit: int | None) -> NDArray[np.intp]:
    """The positions of the best scores above 0, best first, equal ones by position; whole blocks expected."""
    least = 0.0
    if limit is not None and 0 < limit <= _BLOCKS:
        # A block is every 256th law. The blocks' best are laws of their own, so the limit-th of these scores
        # is no higher than the last one wanted: only scores from there on need sorting.
        maxima = np.sort(scores.reshape(-1, _BLOCKS).max(axis=0))
        least = maxima[-limit]
    candidates = (scores >= least if least > 0 else scores > 0).nonzero()[0]
    order = (-scores[candidates]).argsort(kind="stable")
    return candidates[order[:limit]]


def _deletions(word: str) -> set[str]:
    return {word[:place] + word[place + 1 :] for place in range(len(word))}


def _one_edit_apart(one: str, other: str) -> bool:
    """Whether one letter inserted, deleted or changed makes one of two different words of the other."""
    shorter, longer = sorted((one, other), key=len)
    same = next((place for place, letter in enumerate(shorter) if letter != longer[place]), len(shorter))
    return shorter[same + (len(one) == len(other)) :] == longer[same + 1 :]
