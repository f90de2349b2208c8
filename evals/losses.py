"""Every expected group that did not arrive, and where it was lost: the reason at each search and in the fusion."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from evals.judged import first_place
from evals.questions import Pair
from evals.run import Measured, Run
from retrieval.fuse import fuse
from retrieval.pipeline import Ranking, Trace
from retrieval.settings import Settings

# By the outcome of a reranker that answered: why a law of the pool is then not in the answer.
LEFT_OUT = {"ranked": "reranked out", "none named": "none named"}


@dataclass(frozen=True)
class Loss:
    """A group that `stage` (pool or answer) did not return.

    words, near, fused: what happened to the group's best law there, in words and numbers; where a reranker chose the
    answer, `fused` tells the law's place in the pool and by the reranker. `reason` is the short form that losses are
    counted by.
    """

    pair: Pair
    group: tuple[str, ...]
    stage: str
    reason: str
    words: str
    near: str
    fused: str


def losses(run: Run) -> list[Loss]:
    """The losses of a run, in its order: those of the pool, and those of the answer that the pool still held."""
    found: list[Loss] = []
    for measured in run.pairs:
        for group in measured.pair.expected:
            found += _losses_of(run, measured, group)
    return found


def _losses_of(run: Run, measured: Measured, group: tuple[str, ...]) -> Iterable[Loss]:
    stages = measured.trace.stages()
    for stage in ("pool", "answer"):
        if set(group).isdisjoint(stages[stage]):
            yield _loss(run, measured, group, stage)
            if stage == "pool":
                return


def _loss(run: Run, measured: Measured, group: tuple[str, ...], stage: str) -> Loss:
    settings, trace = run.settings, measured.trace
    state = measured.pair.state
    positions = [run.positions[state][law] for law in group]
    page_rows = all(run.laws[state][law].is_page_row for law in group)
    reranked = stage == "answer" and trace.outcome in LEFT_OUT
    of_pool = stage == "pool" or reranked
    limit = settings.pool_laws(len(trace.scorings) - 1) if of_pool else settings.retrieved_laws
    words = [_by_words(scoring.words, positions, page_rows, limit) for scoring in trace.scorings]
    near = [_by_near(scoring.near, positions, settings) for scoring in trace.scorings]
    place = None if reranked else _fused_place(run, measured, group, limit)
    if reranked:
        reason, fused = LEFT_OUT[trace.outcome], _by_reranker(trace, group)
    elif place is not None:
        reason, fused = "fused too low", f"fused to {_ordinal(place)} of {limit}"
    else:
        reason, fused = _unfound(words, near), "in no ranking"
    return Loss(
        measured.pair,
        group,
        stage,
        reason,
        "; ".join(said for _, said in words),
        "; ".join(said for _, said in near),
        fused,
    )


def _unfound(words: Sequence[tuple[str, str]], near: Sequence[tuple[str, str]]) -> str:
    """Why no ranking held it, by the question's own searches."""
    return f"{words[0][0]}, {near[0][0]}"


def _by_words(ranking: Ranking, group: Sequence[int], page_rows: bool, limit: int) -> tuple[str, str]:
    place = ranking.place(group)
    if place is None:
        return ("page row", "a page row: words never reach it") if page_rows else ("no shared word", "no shared word")
    if place <= limit:
        return "found by words", f"{_ordinal(place)} by words"
    return "too low by words", f"{_ordinal(place)} by words, where {limit} were asked for"


def _by_near(ranking: Ranking, group: Sequence[int], settings: Settings) -> tuple[str, str]:
    place = ranking.place(group)
    if place is None:
        return "no vector", "no vector"
    score = float(ranking.scores[place - 1])
    cut = f"cosine {_under(score, settings.cutoff)} under {settings.cutoff:.3f}" if score < settings.cutoff else ""
    # First the reason that no cutoff mends: all laws before it are nearer.
    if place > settings.near_laws:
        far = f"{_ordinal(place)} by meaning, where {settings.near_laws} were asked for"
        return "too far by meaning", f"{far}; {cut}" if cut else far
    if cut:
        return "under the cutoff", f"{cut}, {_ordinal(place)}"
    return "found by meaning", f"{_ordinal(place)} by meaning, cosine {score:.3f}"


def _under(score: float, cutoff: float) -> str:
    """A cosine under the cutoff with as many digits as it takes to look like it."""
    digits = 3
    while digits < 12 and f"{score:.{digits}f}" == f"{cutoff:.{digits}f}":
        digits += 1
    return f"{np.floor(score * 10**digits) / 10**digits:.{digits}f}"


def _fused_place(run: Run, measured: Measured, group: Sequence[str], limit: int) -> int | None:
    """Where fusion put the group's best law, from 1, had the result been long enough; None where no ranking held it."""
    laws, settings = run.corpus[measured.pair.state], run.settings
    rankings = []
    for scoring in measured.trace.scorings:
        taken = scoring.near.count(settings.cutoff, settings.near_laws)
        rankings.append([laws[at].id for at in scoring.words.laws[:limit]])
        rankings.append([laws[at].id for at in scoring.near.laws[:taken]])
    return first_place(group, fuse(rankings, len(laws), run.laws[measured.pair.state]))


def _by_reranker(trace: Trace, group: Sequence[str]) -> str:
    """The group's best place in a pool that holds it, and the reranker's word on it: a rank, or that it was not named.

    A score of minus infinity is that of a law not named; equal scores keep the pool's order.
    """
    at = [place for place, each in enumerate(trace.pool) if each in group]
    said = f"{_ordinal(at[0] + 1)} of {len(trace.pool)} in the pool"
    if not trace.rerank_scores:
        return said
    order = sorted(range(len(trace.pool)), key=lambda place: -trace.rerank_scores[place])
    rank, best = next((rank, place) for rank, place in enumerate(order, 1) if place in at)
    if trace.rerank_scores[best] == -math.inf:
        return f"{said}, not named by the reranker"
    return f"{said}, {_ordinal(rank)} by the reranker"


def _ordinal(number: int) -> str:
    last = number % 10 if number % 100 not in (11, 12, 13) else 0
    return f"{number}{({1: 'st', 2: 'nd', 3: 'rd'}).get(last, 'th')}"
