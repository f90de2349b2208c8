"""What each part of the pipeline earns: recall and precision with one part left out at a time.

The rankings of a run are edited and swept again; nothing is embedded anew. So "without the card's question" takes it
out of the word search alone: the laws' vectors still hold it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evals.run import Measured, Run
from evals.sweep import Figures, Setting, Sweep
from retrieval.corpus import Law
from retrieval.pipeline import Ranking, Scoring
from retrieval.words import WordIndex

NOTHING = Ranking(np.empty(0, np.intp), np.empty(0))

Edit = Callable[[str, Scoring], Scoring]


@dataclass(frozen=True)
class Part:
    """The figures of the fused result and of the pool with one part left out; the first of a list has all parts."""

    left_out: str
    fused: Figures
    pool: Figures


class _Literal(WordIndex):
    """The word search without its tolerance: a word that the laws do not use stands for nothing."""

    def spelled_as(self, word: str) -> tuple[str, ...]:
        """The word itself, if the laws use it."""
        found = super().spelled_as(word)
        return found if found == (word,) else ()


def parts(run: Run) -> list[Part]:
    """Every part in turn, beginning with none left out; searches only where some were fused."""
    edits: dict[str, Edit] = {
        "nothing": lambda state, scoring: scoring,
        "the word search": lambda state, scoring: replace(scoring, words=NOTHING),
        "the near search": lambda state, scoring: replace(scoring, near=NOTHING),
        "tolerance for typing": _ranked_by(run, _Literal),
        "the cards' questions, in the word search": _ranked_by(run, _without_cards),
        "page rows": _without_page_rows(run),
    }
    found = [_part(name, _edited(run, edit)) for name, edit in edits.items()]
    if any(len(each.trace.scorings) > 1 for each in run.pairs):
        found.append(_part("searches", _edited(run, lambda state, scoring: scoring, searches=False)))
    return found


def _part(name: str, run: Run) -> Part:
    settings = run.settings
    of_pool = Setting.of_pool(run)
    most = max(of_pool.laws, of_pool.searched_laws or 0, settings.retrieved_laws)
    sweep = Sweep.of(run, near_laws=settings.near_laws, laws=most)
    fused = sweep.at(Setting(settings.cutoff, settings.near_laws, settings.retrieved_laws), "fused")
    return Part(name, fused, sweep.at(of_pool, "pool"))


def _edited(run: Run, edit: Edit, searches: bool = True) -> Run:
    """The run with every scoring of its answerable pairs edited."""
    kept: list[Measured] = []
    for measured in run.pairs:
        if measured.pair.expects == "answerable":
            scorings = measured.trace.scorings if searches else measured.trace.scorings[:1]
            edited = tuple(edit(measured.pair.state, scoring) for scoring in scorings)
            kept.append(replace(measured, trace=replace(measured.trace, scorings=edited)))
    return replace(run, pairs=tuple(kept))


def _ranked_by(run: Run, index: Callable[[Sequence[Law]], WordIndex]) -> Edit:
    """Each text's word ranking anew, by another index of the same laws; a text of a state is ranked once."""
    indexes: dict[str, WordIndex] = {}
    rankings: dict[tuple[str, str], Ranking] = {}

    def edit(state: str, scoring: Scoring) -> Scoring:
        if state not in indexes:
            indexes[state] = index(run.corpus[state])
        key = state, scoring.text
        if key not in rankings:
            rankings[key] = Ranking(*indexes[state].rank(scoring.text, None))
        return replace(scoring, words=rankings[key])

    return edit


def _without_cards(laws: Sequence[Law]) -> WordIndex:
    return WordIndex([replace(law, question="") for law in laws])


def _without_page_rows(run: Run) -> Edit:
    ranked: Mapping[str, np.ndarray[tuple[int], np.dtype[np.bool_]]] = {
        state: np.array([not law.is_page_row for law in laws], dtype=bool) for state, laws in run.corpus.items()
    }

    def edit(state: str, scoring: Scoring) -> Scoring:
        kept = ranked[state][scoring.near.laws]
        return replace(scoring, near=Ranking(scoring.near.laws[kept], scoring.near.scores[kept]))

    return edit
