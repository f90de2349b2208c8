"""Bands: where the cosines of answers, of wrong laws and of questions without an answer lie, and a cutoff among them.

Groups: `answering` (each expected group's best cosine), `nearest wrong` (the best law that is neither expected nor
accepted: what would come back if the corpus lacked the answer), `unrelated` and `uncovered` (the nearest law to a
question that no law answers).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evals.questions import Pair
from evals.run import Measured, Run
from retrieval.corpus import Law

GROUPS = ("answering", "nearest wrong", "unrelated", "uncovered")
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True)
class Point:
    """A cosine of one pair: the group it belongs to, the law it is of, and its size."""

    group: str
    pair: Pair
    law: str
    cosine: float


@dataclass(frozen=True)
class Cut:
    """What a cutoff does to the points: the answers it loses, and the questions without an answer it keeps out."""

    cutoff: float
    lost: tuple[Point, ...]
    kept_out: tuple[Point, ...]
    let_in: tuple[Point, ...]


def points(run: Run) -> list[Point]:
    """Every pair's cosines that belong to a band. A group or question without any vector gives no point."""
    return [
        point
        for measured in run.pairs
        for point in _points(measured, run.corpus[measured.pair.state], run.positions[measured.pair.state])
    ]


def _points(measured: Measured, laws: Sequence[Law], positions: Mapping[str, int]) -> Iterable[Point]:
    pair, near = measured.pair, measured.trace.scorings[0].near

    def at_rank(group: str, rank: int) -> Point:
        return Point(group, pair, laws[near.laws[rank]].id, float(near.scores[rank]))

    if not len(near.laws):
        return
    if pair.expects != "answerable":
        yield at_rank(pair.expects, 0)
        return
    for group in pair.expected:
        place = near.place([positions[each] for each in group])
        if place:
            yield at_rank("answering", place - 1)
    relevant = {positions[each] for each in pair.relevant}
    wrong = next((rank for rank, at in enumerate(near.laws.tolist()) if at not in relevant), None)
    if wrong is not None:
        yield at_rank("nearest wrong", wrong)


def cosines(points: Iterable[Point], group: str) -> list[float]:
    """The cosines of one group, in order of size."""
    return sorted(point.cosine for point in points if point.group == group)


def quantiles(values: Sequence[float]) -> dict[float, float] | None:
    """The quantiles of sorted values, by linear interpolation; None where there are none."""
    if not values:
        return None
    return {at: float(np.quantile(values, at)) for at in QUANTILES}


def overlap(points: Sequence[Point], group: str = "unrelated") -> Mapping[str, float | None]:
    """How far `group` reaches into answering.

    The share of answering below the group's 95 % point, and the share of the group above answering's 5 % point.
    """
    answering, other = cosines(points, "answering"), cosines(points, group)
    if not answering or not other:
        return {"answering below": None, "above answering": None}
    high, low = float(np.quantile(other, 0.95)), float(np.quantile(answering, 0.05))
    return {
        "answering below": sum(value < high for value in answering) / len(answering),
        "above answering": sum(value > low for value in other) / len(other),
    }


def separation(points: Sequence[Point], group: str = "unrelated") -> float | None:
    """How well the cosine separates answers from `group`: the area under the ROC curve, 0.5 not at all, 1 fully.

    It is the share of (answer, other) pairs in which the answer has the larger cosine, ties counting half; it does
    not depend on the model's scale, so two models can be compared by it. None where either side is empty.
    Source: Fawcett, "An introduction to ROC analysis", 2006; computed by scikit-learn.
    """
    from sklearn.metrics import roc_auc_score  # a slow import, and only reports need it

    answering, other = cosines(points, "answering"), cosines(points, group)
    if not answering or not other:
        return None
    return float(roc_auc_score([1] * len(answering) + [0] * len(other), answering + other))


def separation_said(points: Sequence[Point]) -> str:
    """How well a model's cosines part answers from unrelated questions, in a sentence; empty without both."""
    area = separation(points)
    return "" if area is None else f"Area under the ROC curve against unrelated questions: {area:.3f}."


def beats_wrong(points: Iterable[Point]) -> tuple[int, int]:
    """How often an answer's cosine is above that of the nearest wrong law of its own question, and of how many."""
    points = list(points)
    wrong = {each.pair.key: each.cosine for each in points if each.group == "nearest wrong"}
    answers = [each for each in points if each.group == "answering"]
    ahead = sum(each.cosine > wrong.get(each.pair.key, -math.inf) for each in answers)
    return ahead, len(answers)


def in_overlap(points: Sequence[Point], group: str = "unrelated") -> list[Point]:
    """The points that lie where the bands overlap, by cosine; empty where a cutoff could separate the two.

    These are the answers no higher than the highest of `group`, and those of `group` no lower than the lowest answer.
    """
    answering, other = cosines(points, "answering"), cosines(points, group)
    if not answering or not other:
        return []
    low, high = answering[0], other[-1]
    inside = [each for each in points if each.group in ("answering", group) and low <= each.cosine <= high]
    return sorted(inside, key=lambda each: (each.cosine, each.pair.question, each.pair.state))


def cut(points: Iterable[Point], cutoff: float) -> Cut:
    """What a cutoff loses and keeps out, each in order of cosine."""
    order = sorted(points, key=lambda point: (point.cosine, point.pair.question, point.pair.state))
    nothing = [point for point in order if point.group in ("unrelated", "uncovered")]
    return Cut(
        cutoff,
        lost=tuple(point for point in order if point.group == "answering" and point.cosine < cutoff),
        kept_out=tuple(point for point in nothing if point.cosine < cutoff),
        let_in=tuple(point for point in nothing if point.cosine >= cutoff),
    )


def verdict(points: Sequence[Point], cutoff: float) -> str:
    """In a sentence or two: what this cutoff costs and keeps out, and whether any could separate the two."""
    at, answering, unrelated = cut(points, cutoff), cosines(points, "answering"), cosines(points, "unrelated")
    if not answering or not unrelated:
        return "There are not both answered and unrelated questions: no cutoff can be judged."
    kept = sum(point.group == "unrelated" for point in at.kept_out)
    said = (
        f"At {cutoff:g}, {len(at.lost):,} of {len(answering):,} answers lie under the cutoff, and so does the nearest"
        f" law of {kept:,} of {len(unrelated):,} unrelated questions."
    )
    if answering[0] > unrelated[-1]:
        return f"{said} Any cutoff above {unrelated[-1]:.3f} and up to {answering[0]:.3f} would separate the two."
    lost = sum(value <= unrelated[-1] for value in answering)
    answers = "answer" if lost == 1 else "answers"
    return (
        f"{said} No cutoff separates the bands: answers begin at {answering[0]:.3f}, unrelated questions reach"
        f" {unrelated[-1]:.3f}; keeping every one of those out would lose {lost:,} {answers}."
    )
