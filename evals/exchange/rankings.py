"""Judgements and a run that others made, joined into judged questions. Reads no file, computes no metric."""

from array import array
from collections.abc import Collection, Mapping
from itertools import islice
from operator import gt

from evals.judged import Judged

Judgements = Mapping[str, Mapping[str, int]]
"""For each question, the grade of each document that was judged: above 0 is relevant."""

Scores = Mapping[str, Mapping[str, float]]
"""For each question, the score of each document that was returned."""

SHOWN = 3


def in_order(scores: Mapping[str, float]) -> list[str]:
    """The documents of a foreign run, best first, as trec_eval orders them whatever rank the run states.

    By score, rounded to float32, the highest first; equal scores by id, the last of the alphabet first, by code
    point. Infinities are scores like others; a NaN has no place and must not come here.

    >>> in_order({"a": 1.0, "b": 1.00000001, "c": 2.0})
    ['c', 'b', 'a']
    """
    rounded = array("f", scores.values())
    if all(map(gt, rounded, rounded[1:])):  # as most files are; sorting takes three times as long
        return list(scores)
    return [document for _, document in sorted(zip(rounded, scores, strict=True), reverse=True)]


def judged(judgements: Judgements, run: Scores, name: str = "the run") -> dict[str, Judged]:
    """Every judged question with what the run returned for it, in the judgements' order.

    Each relevant document is a group of its own, its grade the gain, so that `recall@k` is trec_eval's. A question
    that the run lacks stays, with nothing returned (trec_eval -c); one without a relevant document expects nothing;
    what is not judged is not asked. InputError, which calls the run by `name`, where the two share no question.
    """
    if not any(question in run for question in judgements):
        # Loads the whole pipeline's package, of which nothing else is needed here.
        from retrieval.errors import Fault, InputError

        what = f"0 of {len(judgements)} judged questions matched: judged are {some(judgements)}; here are {some(run)}"
        raise InputError([Fault(name, None, what)])
    return {question: _judged(grades, run.get(question, {})) for question, grades in judgements.items()}


def _judged(grades: Mapping[str, int], scores: Mapping[str, float]) -> Judged:
    relevant = {document: grade for document, grade in grades.items() if grade > 0}
    expected = [(document,) for document in relevant]
    return Judged(expected, in_order(scores), gains=list(relevant.values()))


def some(names: Collection[str]) -> str:
    """The first few of some names in a message; `none` where there is none.

    >>> some(["a", "b", "c", "d"]), some([])
    ('a, b, c, ...', 'none')
    """
    more = ", ..." if len(names) > SHOWN else ""
    return ", ".join(islice(names, SHOWN)) + more or "none"
