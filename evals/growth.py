"""As the corpus grows: recall at each stage, and the bands, with other states' laws added to a state's own.

A state's own laws stand first and in their order, so that they win ties. The others' follow in an order drawn from
their texts: a law written elsewhere changes little. Others' page rows stay away.

Another state's law may answer the question too, and would be counted as wrong. So for each question those laws are
taken out of both rankings whose concept is that of a law known to answer its need, in any state; concepts are compared
by name. They stay in the corpus and count in the word search's statistics. Nothing is embedded that the run did not
embed.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evals import bands, tables
from evals.metrics import mean
from evals.run import Measured, Run
from retrieval.corpus import Law
from retrieval.pipeline import NO_LAW, EmbedTexts, Pipeline, Scoring
from retrieval.vectors import Positions

SIZES = (1000, 3000, 6000)
OWN = 0
STAGES = ("words", "near", "fused", "pool")

_MEANS = ("pairs", "needs", "recall", "recall over needs", "hit")
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Grown:
    """One state's questions over a corpus grown to a size.

    grown_to: the size asked for, OWN for the state's own laws. laws: the size it has, which is more where the state
    has more, and less where there are no others left. measures: a row for each pair and stage, as `tables.measures`
    has them, with both sizes in front and `left out` behind: how many laws were taken out for their concept. There is
    no answer among the stages: a reranker is not asked again.
    """

    state: str
    grown_to: int
    laws: int
    measures: pd.DataFrame
    points: tuple[bands.Point, ...]


def grow(run: Run, embed: EmbedTexts | None, sizes: Sequence[int] = SIZES) -> list[Grown]:
    """Each state over its own laws, then grown to each of `sizes`, states in alphabetical order.

    Asked are the answerable and the unrelated pairs, under the run's settings; a state without any is left out. The
    first of each state equals the run. Memory is that of the rankings of one state at one size: 16 bytes for each
    text and law.
    """
    subjects = _subjects(run)
    found = []
    for state in sorted({each.pair.state for each in run.pairs if each.pair.expects != "uncovered"}):
        others = distractors(run.corpus, state)
        for size in (OWN, *sizes):
            laws = [*run.corpus[state], *others[: max(0, size - len(run.corpus[state]))]]
            grown, left_out = _measured(run, embed, state, laws, subjects)
            measures = tables.measures(grown).query("stage != 'answer'")
            measures["left out"] = measures["question"].map(left_out)
            measures.insert(0, "grown to", size)
            measures.insert(1, "corpus", len(laws))
            found.append(Grown(state, size, len(laws), measures, tuple(bands.points(grown))))
    return found


def distractors(corpus: Mapping[str, Sequence[Law]], state: str) -> list[Law]:
    """The other states' laws, page rows left out, by the hash of their text, equal texts by id.

    An id that the state has already, or another state before it in the alphabet, is not taken again.
    """
    taken = {law.id for law in corpus[state]}
    found: dict[str, Law] = {}
    for other, laws in sorted(corpus.items()):
        if other != state:
            for law in laws:
                if not law.is_page_row and law.id not in taken:
                    found.setdefault(law.id, law)
    return sorted(found.values(), key=lambda law: (hashlib.sha256(law.law.encode()).digest(), law.id))


def _subjects(run: Run) -> Mapping[str, frozenset[str]]:
    """For each need the concepts of the laws that answer it, in whatever state."""
    found: dict[str, set[str]] = defaultdict(set)
    for each in run.pairs:
        laws = run.laws[each.pair.state]
        found[each.pair.need].update(laws[law].concept for law in each.pair.relevant)
    return {need: frozenset(concepts) for need, concepts in found.items()}


def _measured(
    run: Run,
    embed: EmbedTexts | None,
    state: str,
    laws: Sequence[Law],
    subjects: Mapping[str, frozenset[str]],
) -> tuple[Run, Mapping[str, int]]:
    """The state's pairs over these laws, and how many of them were taken out for each question.

    Of the scorings only the near ranking is kept, shortened to what bands look at.
    """
    pipeline = Pipeline(run.settings, laws, embed)
    asked = [each for each in run.pairs if each.pair.state == state and each.pair.expects != "uncovered"]
    texts = list(dict.fromkeys(scoring.text for each in asked for scoring in each.trace.scorings))
    scorings = dict(zip(texts, pipeline.score(texts), strict=True))
    at = {law.id: place for place, law in enumerate(laws)}
    foreign: dict[str, list[int]] = defaultdict(list)
    for place, law in enumerate(laws[len(run.corpus[state]) :], len(run.corpus[state])):
        foreign[law.concept].append(place)

    pairs, left_out = [], {}
    for each in asked:
        ranked = np.ones(len(laws), dtype=bool)
        for concept in subjects[each.pair.need]:
            ranked[foreign.get(concept, [])] = False
        left_out[each.pair.question] = len(laws) - int(ranked.sum())
        kept = [_only(ranked, scorings[scoring.text]) for scoring in each.trace.scorings]
        trace = pipeline.trace(kept, each.family)
        relevant = np.array([at[law] for law in each.pair.relevant], dtype=np.intp)
        pairs.append(Measured(each.pair, replace(trace, scorings=(_for_bands(kept[0], relevant),))))
    return Run(run.settings, {state: laws}, tuple(pairs), run.model), left_out


def _only(ranked: Bools, scoring: Scoring) -> Scoring:
    words, near = (each.only(ranked[each.laws]) for each in (scoring.words, scoring.near))
    return replace(scoring, words=words, near=near)


def _for_bands(scoring: Scoring, relevant: Positions) -> Scoring:
    """The relevant laws and as many first ones that one of them must be wrong, where any is."""
    chosen = np.isin(scoring.near.laws, relevant)
    chosen[: len(relevant) + 1] = True
    return Scoring(scoring.text, NO_LAW, scoring.near.only(chosen))


def recalls(grown: Sequence[Grown]) -> pd.DataFrame:
    """Recall and hit at each stage and size, of one or more: of all pairs, of each state's and of each kind's.

    `grown to` is the size asked for, `own` for the states' own laws; `fewest laws` and `most laws` are the sizes the
    states' corpora have; `left out` is the mean number of laws taken out for a question.
    """
    frame = pd.concat([each.measures for each in grown], ignore_index=True)
    answerable = frame[frame["expects"] == "answerable"]
    rows: list[dict[str, object]] = []
    for by, group, part in tables.parted(answerable, ("state", "kind")):
        for size, sized in part.groupby("grown to", sort=True):
            means = tables.stage_means(sized).set_index("stage")
            front = {"by": by, "group": group, **_sizes(int(str(size)), sized["corpus"].tolist())}
            out = mean(sized[sized["stage"] == "pool"]["left out"].tolist())
            rows += [
                {**front, "left out": out, "stage": stage, **{name: means.loc[stage, name] for name in _MEANS}}
                for stage in STAGES
            ]
    columns = ["by", "group", *_sizes(OWN, [0]), "left out", "stage", *_MEANS]
    return pd.DataFrame(rows, columns=columns).astype({"pairs": int, "needs": int})


def band_quantiles(grown: Sequence[Grown]) -> pd.DataFrame:
    """Each band's number of cosines and its quantiles at each size, of one or more: of all states, and of each."""
    rows = []
    for group in ("all", *dict.fromkeys(each.state for each in grown)):
        of_group = [each for each in grown if group in ("all", each.state)]
        for size in sorted({each.grown_to for each in of_group}):
            sized = [each for each in of_group if each.grown_to == size]
            points = [point for each in sized for point in each.points]
            found = tables.band_quantiles(points)
            sizes = _sizes(size, [each.laws for each in sized])
            front = {"by": "all" if group == "all" else "state", "group": group, **sizes}
            rows.append(found[found["n"] > 0].assign(**front)[[*front, *found.columns]])
    return pd.concat(rows, ignore_index=True)


def _sizes(size: int, laws: Sequence[int]) -> dict[str, str | int]:
    return {"grown to": "own" if size == OWN else str(size), "fewest laws": min(laws), "most laws": max(laws)}
