"""A run as the page's script reads it: the beginnings of all rankings, so that every setting can be computed there.

The result takes strict JSON; arrays of whole numbers are base64 of as many bits a number as the largest takes.
Cosines are stored as levels: how many of the cutoffs that the page offers a cosine reaches. Whole numbers then decide
exactly what cosines would. Computes no figure.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evals import sweep
from evals.questions import Pair
from evals.report.pages.bits import Array, Packed, in_base64, pack
from evals.run import Measured, Run
from retrieval.corpus import Law
from retrieval.pipeline import Scoring

CUTOFF_STEPS = 10_000  # a step of the cutoffs on offer is a ten-thousandth
WORD_SCORES = 8
SCORE_DIGITS = 4  # of a reranker's
LONGEST = 600  # letters of a law: a corpus of long passages would fill the page

NO_COSINE = -2.0  # below every cutoff


class _Group(NamedTuple):
    """An expected group: its best place by words and by meaning (0: none), its law there and its cosine."""

    by_words: int
    by_meaning: int
    law: int
    cosine: float


def packed(run: Run, near_laws: int = sweep.NEAR_LAWS, laws: int = sweep.LAWS) -> dict[str, object]:
    """Laws, questions, pairs and rankings of a run. Laws are named by their position in their state.

    Rankings are cut at `near_laws` and `laws`, or at the limits in force where those are deeper. The cutoffs on offer
    are the ten-thousandths from below the lowest cosine to above the highest, and the one in force.
    """
    settings = run.settings
    near_laws = max(near_laws, settings.near_laws)
    laws = max(laws, settings.retrieved_laws, settings.candidate_laws, settings.searched_candidate_laws)
    texts = _texts(run)
    groups = [_group(run, measured, group) for measured in run.pairs for group in measured.pair.expected]
    cosines = [each.near.scores[:near_laws] for each in texts.values()]
    every = np.concatenate([*cosines, [group.cosine for group in groups if group.by_meaning]])
    cutoffs = _cutoffs(every, settings.cutoff)
    return {
        "settings": settings.model_dump(),
        "cutoff": settings.cutoff,
        "depths": {"near_laws": near_laws, "laws": laws},
        "wordScores": WORD_SCORES,
        "cutoffs": in_base64(cutoffs.astype("<f8").tobytes()),
        "states": _states(run, texts, near_laws, laws),
        **_questions(run),
        "pairs": _pairs(run, list(texts)),
        "searches": _searches(run, list(texts)),
        "answers": _answers(run),
        "groups": {
            "wordPlaces": pack([group.by_words for group in groups]),
            "nearPlaces": pack([group.by_meaning for group in groups]),
            "laws": pack([group.law for group in groups]),
            "levels": pack(_levels(cutoffs, np.array([group.cosine for group in groups]))),
        },
        "rankings": _rankings(list(texts.values()), cutoffs, near_laws, laws),
    }


def _cutoffs(cosines: Array, in_force: float) -> Array:
    """The cutoffs on offer, rising: as floats the nearest to their decimals, as settings are read."""
    low = math.floor(min([*cosines, in_force]) * CUTOFF_STEPS) - 1
    high = math.ceil(max([*cosines, in_force]) * CUTOFF_STEPS) + 1
    return np.unique([*(step / CUTOFF_STEPS for step in range(low, high + 1)), in_force])


def _levels(cutoffs: Array, cosines: Array) -> Array:
    """How many of the cutoffs each cosine reaches: it takes part at the nth, from 0, where that is more than n."""
    return np.searchsorted(cutoffs, cosines, side="right")


def _texts(run: Run) -> Mapping[tuple[str, str], Scoring]:
    """Each text that was scored, by state and text: the questions' and their searches', once."""
    return {(each.pair.state, scoring.text): scoring for each in run.pairs for scoring in each.trace.scorings}


def _states(run: Run, texts: Mapping[tuple[str, str], Scoring], near_laws: int, laws: int) -> dict[str, object]:
    """Each state's laws; those that nothing in the page names without their texts, since only their place counts."""
    named: dict[str, set[int]] = {state: set() for state in run.corpus}
    for (state, _), scoring in texts.items():
        named[state].update(scoring.words.laws[:laws].tolist(), scoring.near.laws[:near_laws].tolist())
    wanted: dict[str, set[str]] = {state: set() for state in run.corpus}
    for each in run.pairs:
        wanted[each.pair.state].update(each.pair.relevant, each.trace.family)
    return {
        state: _state([law if at in named[state] or law.id in wanted[state] else None for at, law in enumerate(laws)])
        for state, laws in run.corpus.items()
    }


def _state(laws: Sequence[Law | None]) -> dict[str, object]:
    return {
        "ids": ["" if law is None else law.id for law in laws],
        "laws": ["" if law is None else _cut(law.law) for law in laws],
        "cards": ["" if law is None else _cut(law.question) for law in laws],
        "pageRows": [at for at, law in enumerate(laws) if law is not None and law.is_page_row],
    }


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _questions(run: Run) -> dict[str, object]:
    """The questions, each once for all states, as columns; texts that repeat are numbers into lists."""
    asked: dict[str, Pair] = {}
    for each in run.pairs:
        asked.setdefault(each.pair.question, each.pair)
    pairs = list(asked.values())
    kinds, languages, topics = (
        sorted(values)
        for values in (
            {pair.kind for pair in pairs},
            {pair.lang for pair in pairs},
            {pair.topic for pair in pairs},
        )
    )
    tags = sorted({tag for pair in pairs for tag in pair.tags})
    return {
        "kinds": kinds,
        "languages": languages,
        "topics": topics,
        "tags": tags,
        "questions": {
            "ids": list(asked),
            "texts": [pair.text for pair in pairs],
            "kinds": [kinds.index(pair.kind) for pair in pairs],
            "languages": [languages.index(pair.lang) for pair in pairs],
            "topics": [topics.index(pair.topic) for pair in pairs],
            "tags": [[tags.index(tag) for tag in pair.tags] for pair in pairs],
            "classes": [pair.unrelated for pair in pairs],
        },
    }


def _pairs(run: Run, texts: Sequence[tuple[str, str]]) -> list[list[object]]:
    """Each pair: its question, state, what it expects, its texts, its groups, the accepted laws, the family's rows."""
    questions = {question: at for at, question in enumerate(dict.fromkeys(each.pair.question for each in run.pairs))}
    states = {state: at for at, state in enumerate(run.corpus)}
    rows = {text: at for at, text in enumerate(texts)}

    def known(state: str, ids: Iterable[str]) -> list[int]:
        return [run.positions[state][each] for each in ids if each in run.positions[state]]

    return [
        [
            questions[pair.question],
            states[pair.state],
            pair.expects,
            [rows[pair.state, scoring.text] for scoring in each.trace.scorings],
            [known(pair.state, group) for group in pair.expected],
            known(pair.state, pair.accepted),
            known(pair.state, each.trace.family),
        ]
        for each in run.pairs
        for pair in (each.pair,)
    ]


def _searches(run: Run, texts: Sequence[tuple[str, str]]) -> dict[str, object]:
    """The searches' words, each once, and for every text which of them it is, from 1; 0 for a question's."""
    said = {scoring.text for each in run.pairs for scoring in each.trace.scorings[1:]}
    places = {text: at for at, text in enumerate(sorted(said), 1)}
    return {"texts": list(places), "rows": pack([places.get(text, 0) for _, text in texts])}


def _answers(run: Run) -> list[object]:
    """For each pair how its answer was chosen, and the laws with the reranker's scores; [] without a reranker."""
    return [] if run.settings.rerank == "off" else [_answer(run, each) for each in run.pairs]


def _answer(run: Run, measured: Measured) -> list[object]:
    trace, positions = measured.trace, run.positions[measured.pair.state]
    scores = dict(zip(trace.pool, trace.rerank_scores, strict=False))
    finite = {law: round(score, SCORE_DIGITS) for law, score in scores.items() if math.isfinite(score)}
    return [trace.outcome, [[positions[law], finite.get(law)] for law in trace.answer]]


def _group(run: Run, measured: Measured, group: Sequence[str]) -> _Group:
    """Where a group's best law stands in the rankings of the question itself."""
    own = measured.trace.scorings[0]
    laws = [run.positions[measured.pair.state][law] for law in group]
    words, near = own.words.place(laws) or 0, own.near.place(laws)
    if not near:
        return _Group(words, 0, 0, NO_COSINE)
    return _Group(words, near, int(own.near.laws[near - 1]), float(own.near.scores[near - 1]))


def _rankings(texts: Sequence[Scoring], cutoffs: Array, near_laws: int, laws: int) -> dict[str, Packed]:
    """The beginnings of all rankings, one text after the other, and how long each is; word scores in hundredths."""
    words = [each.words.laws[:laws] for each in texts]
    near = [each.near.laws[:near_laws] for each in texts]
    scores = [each.words.scores[:WORD_SCORES] * 100 for each in texts]
    none = np.empty(0, np.intp)
    return {
        "wordCounts": pack([len(each) for each in words]),
        "words": pack(np.concatenate([none, *words])),
        "wordScores": pack(np.rint(np.concatenate([np.empty(0), *scores]))),
        "nearCounts": pack([len(each) for each in near]),
        "near": pack(np.concatenate([none, *near])),
        "levels": pack(np.concatenate([none, *(_levels(cutoffs, each.near.scores[:near_laws]) for each in texts)])),
    }
