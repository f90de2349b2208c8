"""What each part of the pipeline earns: recall and precision with one part left out at a time.

The rankings of a run are edited and fused again. The near search without the cards' questions is the one edit that
takes vectors of its own, those of the rules alone: `rules_alone` ranks by them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evals.metrics import mean, precision, recall
from evals.run import Measured, Run, answerable
from retrieval.corpus import Law
from retrieval.pipeline import NO_LAW, EmbedTexts, Pipeline, Ranking, Scoring
from retrieval.words import WordIndex

Edit = Callable[[str, Scoring], Scoring]
# The near ranking of a text in a state.
Near = Mapping[tuple[str, str], Ranking]


@dataclass(frozen=True)
class Means:
    """Over the answerable pairs, as `evals.metrics` defines them; None where there is nothing to average."""

    recall: float | None
    precision: float | None
    laws: float | None


@dataclass(frozen=True)
class Part:
    """The fused result and the pool with one part left out; the first of a list has all parts."""

    left_out: str
    fused: Means
    pool: Means


class _Literal(WordIndex):
    """The word search without its tolerance: a word that the laws do not use stands for nothing."""

    def spelled_as(self, word: str) -> tuple[str, ...]:
        """The word itself, if the laws use it."""
        found = super().spelled_as(word)
        return found if found == (word,) else ()


def parts(run: Run, near_rules: Near | None = None) -> list[Part]:
    """Every part in turn, beginning with none left out; searches only where some were fused.

    near_rules: as `rules_alone` gives it; without it the cards' questions are left out of the word search alone.
    """
    ranked_by_rules = _ranked_by(run, lambda laws: WordIndex(_rules(laws)))
    edits: dict[str, Edit] = {
        "the word search": lambda state, scoring: replace(scoring, words=NO_LAW),
        "the near search": lambda state, scoring: replace(scoring, near=NO_LAW),
        "tolerance for typing": _ranked_by(run, _Literal),
        "the cards' questions, in the word search": ranked_by_rules,
    }
    if near_rules is not None:
        edits["the cards' questions, in both searches"] = lambda state, scoring: replace(
            ranked_by_rules(state, scoring), near=near_rules[state, scoring.text]
        )
    edits["page rows"] = _without_page_rows(run)
    asked = list(answerable(run))
    whole = (_means(asked, [each.trace.fused for each in asked]), _means(asked, [each.trace.pool for each in asked]))
    pipelines = {state: Pipeline(run.settings, laws) for state, laws in run.corpus.items()}
    found = [Part("nothing", *whole), *(_part(pipelines, asked, name, edit) for name, edit in edits.items())]
    if any(len(each.trace.scorings) > 1 for each in asked):
        alone = [replace(each, trace=replace(each.trace, scorings=each.trace.scorings[:1])) for each in asked]
        found.append(_part(pipelines, alone, "searches", lambda state, scoring: scoring))
    return found


def rules(corpus: Mapping[str, Sequence[Law]]) -> dict[str, list[Law]]:
    """The laws without the questions of their cards."""
    return {state: _rules(laws) for state, laws in corpus.items()}


def _rules(laws: Sequence[Law]) -> list[Law]:
    return [replace(law, question="") for law in laws]


def rules_alone(run: Run, embed: EmbedTexts) -> Near:
    """The near rankings of the answerable pairs' texts, with the laws' rules embedded and their cards' questions not.

    As long as the near search takes. embed: as for `evaluate`, and its errors.
    """
    found: dict[tuple[str, str], Ranking] = {}
    for state, laws in rules(run.corpus).items():
        pipeline = Pipeline(run.settings, laws, embed)
        asked = [each for each in answerable(run) if each.pair.state == state]
        texts = list(dict.fromkeys(scoring.text for each in asked for scoring in each.trace.scorings))
        nears = pipeline.nears(texts, run.settings.near_laws)
        found |= {(state, text): near for text, near in zip(texts, nears, strict=True)}
    return found


def _part(pipelines: Mapping[str, Pipeline], asked: Sequence[Measured], name: str, edit: Edit) -> Part:
    fused, pools = [], []
    for each in asked:
        scorings = [edit(each.pair.state, scoring) for scoring in each.trace.scorings]
        pipeline, family = pipelines[each.pair.state], each.trace.family
        settings = pipeline.settings
        fused.append(pipeline.fused(scorings, settings.retrieved_laws, family))
        pools.append(pipeline.fused(scorings, settings.pool_laws(len(scorings) - 1), family))
    return Part(name, _means(asked, fused), _means(asked, pools))


def _means(asked: Sequence[Measured], returned: Sequence[Sequence[str]]) -> Means:
    pairs = [(each.pair, laws) for each, laws in zip(asked, returned, strict=True)]
    return Means(
        recall=mean(recall(pair.expected, laws) for pair, laws in pairs),
        precision=mean(precision(pair.relevant, laws) for pair, laws in pairs),
        laws=mean(len(laws) for _, laws in pairs),
    )


def _ranked_by(run: Run, index: Callable[[Sequence[Law]], WordIndex]) -> Edit:
    """Each text's word ranking anew, by another index of the same laws, as long as the longest that takes part."""
    indexes: dict[str, WordIndex] = {}
    rankings: dict[tuple[str, str], Ranking] = {}
    longest = max(run.settings.most_laws(0), run.settings.most_laws(1))

    def edit(state: str, scoring: Scoring) -> Scoring:
        if state not in indexes:
            indexes[state] = index(run.corpus[state])
        key = state, scoring.text
        if key not in rankings:
            rankings[key] = Ranking(*indexes[state].rank(scoring.text, longest))
        return replace(scoring, words=rankings[key])

    return edit


def _without_page_rows(run: Run) -> Edit:
    ranked: Mapping[str, np.ndarray[tuple[int], np.dtype[np.bool_]]] = {
        state: np.array([not law.is_page_row for law in laws], dtype=bool) for state, laws in run.corpus.items()
    }

    def edit(state: str, scoring: Scoring) -> Scoring:
        return replace(scoring, near=scoring.near.only(ranked[state][scoring.near.laws]))

    return edit
