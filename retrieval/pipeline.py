"""The stages in order, and what each gave. Measures nothing: that is `evals`.

A text is scored once (`Scoring`: every law by words, every law by meaning, uncut); the numbers in the settings only
decide what is taken from those two rankings. So one scoring answers every setting.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from retrieval.corpus import Law
from retrieval.fuse import beside, distinct_searches, fuse
from retrieval.models import Kind
from retrieval.rerank import Rerank, choose
from retrieval.settings import Settings
from retrieval.vectors import Floats, Hit, Positions, VectorIndex, best_first, embedding_text
from retrieval.words import WordIndex

EmbedTexts = Callable[[Kind, Sequence[str]], NDArray[np.int16]]


@dataclass(frozen=True)
class Ranking:
    """Laws by position in the corpus, best first, and their scores: two arrays of one length."""

    laws: Positions
    scores: Floats

    def count(self, cutoff: float, most: int) -> int:
        """How many of the laws take part: those whose scores reach a cutoff, and no more than `most`."""
        return min(most, int(np.searchsorted(-self.scores, -cutoff, side="right")))

    def place(self, laws: Iterable[int]) -> int | None:
        """The place from 1 of the best of some laws, by position in the corpus; None where none is ranked."""
        found = (np.flatnonzero(self.laws == law) for law in laws)
        return min((int(at[0]) + 1 for at in found if len(at)), default=None)

    def only(self, chosen: NDArray[np.bool_]) -> "Ranking":
        """The laws chosen, a truth value for each, in their order."""
        return Ranking(self.laws[chosen], self.scores[chosen])


NO_LAW = Ranking(np.empty(0, np.intp), np.empty(0))


@dataclass(frozen=True)
class Scoring:
    """One text against one corpus: every law that shares a word, and every law that has a vector.

    Uncut, unless `Pipeline.score` was asked for so many of each.
    """

    text: str
    words: Ranking
    near: Ranking


@dataclass(frozen=True)
class Trace:
    """What each stage gave for one question, as ids of laws, best first.

    `scorings` holds the question's and, after it, its searches'. `words` is the question's word ranking at
    `retrieved_laws`; `near` its near ranking, cut. `outcome` tells how the answer was chosen;
    `rerank_scores` are the reranker's, one a law of the pool, where it answered.
    """

    question: str
    scorings: tuple[Scoring, ...]
    family: tuple[str, ...]
    words: tuple[str, ...]
    near: tuple[Hit, ...]
    fused: tuple[str, ...]
    pool: tuple[str, ...]
    answer: tuple[str, ...]
    outcome: str
    message: str = ""
    rerank_scores: tuple[float, ...] = ()

    def stages(self) -> dict[str, tuple[str, ...]]:
        """Each stage's laws by the stage's name, in the order of the pipeline."""
        return {
            "words": self.words,
            "near": tuple(hit.id for hit in self.near),
            "fused": self.fused,
            "pool": self.pool,
            "answer": self.answer,
        }


class Pipeline:
    """Questions to laws over one state's corpus.

    embed: gives the integer vectors of texts, as `Vectors.embed` does; None leaves the near search out. rerank: as in
    `retrieval.rerank`. Indexes are built once, here; the corpus must not change afterwards.
    """

    def __init__(
        self,
        settings: Settings,
        corpus: Sequence[Law],
        embed: EmbedTexts | None = None,
        rerank: Rerank | None = None,
    ) -> None:
        self.settings = settings
        self.laws = tuple(corpus)
        self.rerank = rerank
        self._embed = embed
        self._by_id = {law.id: law for law in self.laws}
        self._ids_in_order = list(self._by_id)
        self._with_text = np.array([at for at, law in enumerate(self.laws) if embedding_text(law)], dtype=np.intp)
        self._vector_index = self._indexed(embed) if embed is not None else VectorIndex([], [])

    def _indexed(self, embed: EmbedTexts) -> VectorIndex:
        laws = [self.laws[at] for at in self._with_text]
        return VectorIndex([law.id for law in laws], embed("passage", [embedding_text(law) for law in laws]))

    @cached_property
    def word_index(self) -> WordIndex:
        """The word search over these laws, built when it is first asked."""
        return WordIndex(self.laws)

    def score(self, texts: Iterable[str], most: int | None = None) -> list[Scoring]:
        """Every text against every law: both searches' rankings, ties in the corpus's order.

        `most` keeps so many laws of each, without sorting the rest: enough to answer from, not to sweep. None keeps
        all. A text without letters or digits shares no word; an empty one is near nothing.
        """
        texts = list(texts)
        nears = self.nears(texts, most)
        return [
            Scoring(text, Ranking(*self.word_index.rank(text, most)), near)
            for text, near in zip(texts, nears, strict=True)
        ]

    def nears(self, texts: Sequence[str], most: int | None) -> list[Ranking]:
        """The near ranking of each text, as `score` gives it."""
        asked = list(dict.fromkeys(text for text in texts if text.strip()))
        if self._embed is None or not asked or not len(self._with_text):
            return [NO_LAW] * len(texts)
        found = {}
        for text, scores in zip(asked, self._vector_index.cosines(self._embed("query", asked)), strict=True):
            order = best_first(scores, most)
            found[text] = Ranking(self._with_text[order], scores[order])
        return [found.get(text, NO_LAW) for text in texts]

    def answer(self, question: str, searches: Iterable[str] = (), family: str | None = None) -> Trace:
        """A question through every stage. `searches` are fused beside it; `family` names a family of page rows."""
        texts = [question, *distinct_searches(question, searches)]
        return self.trace(self.score(texts, self.settings.most_laws(len(texts) - 1)), family)

    def trace(self, scorings: Sequence[Scoring], family: str | None = None) -> Trace:
        """The stages of a question from its scoring and, after it, those of its distinct searches."""
        settings, (question, *searches) = self.settings, scorings
        rows = tuple(law.id for law in self.laws if law.is_page_row and law.concept == family) if family else ()
        taken = question.near.count(settings.cutoff, settings.near_laws)
        fused = self.fused(scorings, settings.retrieved_laws, rows)
        pool = self.fused(scorings, settings.pool_laws(len(searches)), rows)
        trace = Trace(
            question=question.text,
            scorings=tuple(scorings),
            family=rows,
            words=self._ids(question.words, settings.retrieved_laws),
            near=tuple(map(Hit, self._ids(question.near, taken), question.near.scores[:taken].tolist())),
            fused=fused,
            pool=pool,
            answer=fused,
            outcome="off",
        )
        return self.chosen(trace, self.rerank)

    def chosen(self, trace: Trace, rerank: Rerank | None) -> Trace:
        """A trace with the answer that a reranker chooses from its pool."""
        choice = choose(
            self._laws(trace.pool), self._laws(trace.fused), trace.question, rerank, self.settings.answer_laws
        )
        return replace(
            trace,
            answer=tuple(law.id for law in choice.laws),
            outcome=choice.outcome,
            message=choice.message,
            rerank_scores=choice.scores,
        )

    def _laws(self, ids: Iterable[str]) -> list[Law]:
        return [self._by_id[each] for each in ids]

    def fused(self, scorings: Sequence[Scoring], limit: int, family: Sequence[str] = ()) -> tuple[str, ...]:
        """`retrieve` asked for `limit` laws: words cut at `limit`, near at the cutoff and `near_laws`."""
        rankings = []
        for scoring in scorings:
            taken = scoring.near.count(self.settings.cutoff, self.settings.near_laws)
            rankings += [self._ids(scoring.words, limit), self._ids(scoring.near, taken)]
        return tuple(beside(fuse(rankings, limit, self._by_id), family, self._by_id))

    def _ids(self, ranking: Ranking, limit: int) -> tuple[str, ...]:
        return tuple(map(self._ids_in_order.__getitem__, ranking.laws[:limit].tolist()))
