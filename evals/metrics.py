"""Every metric of a question, in one registry: what each means, how it is written, what it is asked of.

A metric is a value that is written as its name: `recall@8`, `MAP`. It takes one judged question and gives a number,
or None where it has none: whoever takes a mean counts those. All of a question's metrics see the one order in which
its laws were returned; there are no ties left. Where trec_eval defines a metric too, its value is equal; only where a
question expects nothing trec_eval says 0 and this says None, since such questions have metrics of their own.

The functions without k are those of a returned set, for callers that have groups and ids at hand.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, inf, log2
from typing import Literal

from evals.judged import Groups, Judged, Places, places

MOST = 1_000_000

_WRITTEN = re.compile(r"([A-Za-z]+)(?:@([1-9][0-9]{0,6}))?")


@dataclass(frozen=True)
class Metric:
    """A metric and how many laws it looks at: `str(Metric("nDCG", 10))` is `nDCG@10`. Without k: all that came back.

    ValueError for a name that is not in METRICS, and for a k where the metric takes none or outside 1 to 1,000,000.
    k may be larger than the corpus.
    """

    name: str
    k: int | None = None

    def __post_init__(self) -> None:
        if self.name not in METRICS:
            raise ValueError(f"no metric {self.name}; there are {', '.join(forms())}")
        if self.k is not None and not METRICS[self.name].cut:
            raise ValueError(f"{self.name} takes no @k")
        if self.k is not None and not 1 <= self.k <= MOST:
            raise ValueError(f"{self}: k is a number from 1 to {MOST}")

    def __str__(self) -> str:
        return self.name if self.k is None else f"{self.name}@{self.k}"

    def __call__(self, question: Judged) -> float | None:
        """The value for one question, None where it has none."""
        return METRICS[self.name].value(places(question), self.k)


@dataclass(frozen=True)
class Definition:
    """What a name stands for.

    compute: the value at the first k laws, or all; its docstring is the meaning. cut: whether `@k` may stand behind
    the name. asked_of: the questions that have a value, those that expect a law or those that expect nothing.
    highest: values lie between 0 and this.
    """

    name: str
    compute: Callable[[Places, int | None], float | None]
    cut: bool
    asked_of: Literal["answerable", "expects nothing"]
    highest: float

    def value(self, question: Places, k: int | None) -> float | None:
        """The value, None where the question is not of those that are asked."""
        if (self.asked_of == "answerable") != bool(question.expected):
            return None
        return self.compute(question, k)


def _recall(question: Places, k: int | None) -> float:
    """Expected groups reached / expected groups. trec_eval's `recall_k` and `set_recall`.

    The denominator is everything expected, also where k is smaller.

    >>> three = Judged([["a"], ["b"], ["c", "d"]], returned=["a", "x", "d"])
    >>> [Metric("recall", k)(three) for k in (1, 2, 3)] == [1 / 3, 1 / 3, 2 / 3]
    True
    """
    return _within(question.reached, k) / question.expected


def _precision(question: Places, k: int | None) -> float | None:
    """`precision@k`: laws expected or accepted among the first k / k. `precision`: the same of all that came back.

    `precision@k` divides by k also where fewer came back (trec_eval's `P_k`). `precision` divides by the laws that
    came back and has no value where none did (trec_eval's `set_P`, which is 0 there).

    >>> three = Judged([["a"]], accepted=["b"], returned=["a", "b", "x"])
    >>> Metric("precision", 5)(three), Metric("precision")(three) == 2 / 3
    (0.4, True)
    >>> Metric("precision", 5)(Judged([["a"]])), Metric("precision")(Judged([["a"]]))
    (0.0, None)
    """
    if k is None:
        return len(question.right) / question.returned if question.returned else None
    return _within(question.right, k) / k


def _hit(question: Places, k: int | None) -> float:
    """1 where at least one expected group is reached, else 0. trec_eval's `success_k`.

    >>> three = Judged([["a"], ["b"]], returned=["x", "b", "y"])
    >>> [Metric("hit", k)(three) for k in (1, 2, 3)]
    [0.0, 1.0, 1.0]
    """
    return float(_within(question.reached, k) > 0)


def _mrr(question: Places, k: int | None) -> float:
    """1 / the place of the first expected law, 0 where there is none: its mean is the mean reciprocal rank.

    An accepted law takes its place and is not what is looked for. trec_eval's `recip_rank`. Voorhees (1999), The
    TREC-8 question answering track report.

    >>> three = Judged([["a"], ["b"]], returned=["x", "b", "a"])
    >>> Metric("MRR")(three), Metric("MRR", 1)(three)
    (0.5, 0.0)
    """
    return 1 / question.reached[0] if _within(question.reached, k) else 0.0


def _map(question: Places, k: int | None) -> float:
    """The precision at each place where an expected group is first reached, summed / expected groups.

    Its mean is the mean average precision. A group that is not reached adds 0. Accepted laws, and further laws of a
    reached group, are not wrong in these precisions. trec_eval's `map` and `map_cut_k`, which divides by all relevant
    as well. Buckley and Voorhees (2000), doi.org/10.1145/345508.345543.

    >>> three = Judged([["a"], ["b"]], returned=["a", "x", "b"])
    >>> Metric("MAP")(three) == (1 / 1 + 2 / 3) / 2, Metric("MAP", 2)(three)
    (True, 0.5)
    """
    counted = question.reached[: _within(question.reached, k)]
    return fsum(_within(question.right, place) / place for place in counted) / question.expected


def _ndcg(question: Places, k: int | None) -> float:
    """The sum of gain / log2(place + 1) over the reached groups / the same sum for an ideal ranking.

    Gains as they are (linear), 1 each where the groups have no grades. The ideal is made of everything expected,
    whatever came back: its first k, largest first. trec_eval's `ndcg` and `ndcg_cut_k`. Järvelin and Kekäläinen
    (2002), doi.org/10.1145/582415.582418.

    >>> three = Judged([["a"], ["b"]], gains=[3, 1], returned=["b", "x", "a"])
    >>> Metric("nDCG")(three) == (1 / log2(2) + 3 / log2(4)) / (3 / log2(2) + 1 / log2(3))
    True
    >>> Metric("nDCG", 1)(three) == 1 / 3
    True
    """
    first = inf if k is None else k
    gained = fsum(gain / log2(place + 1) for place, gain in question.gained if place <= first)
    return gained / fsum(gain / log2(place + 1) for place, gain in enumerate(question.gains[:k], 1))


def _silent(question: Places, _: int | None) -> float:
    """1 where nothing came back for a question that expects nothing: its mean is the share of silence.

    >>> Metric("silent")(Judged([])), Metric("silent")(Judged([], returned=["a", "b", "c"]))
    (1.0, 0.0)
    """
    return float(question.returned == 0)


def _returned(question: Places, _: int | None) -> float:
    """How many laws came back for a question that expects nothing: fewer are better.

    >>> Metric("returned")(Judged([], returned=["a", "b", "c"])), Metric("returned")(Judged([]))
    (3.0, 0.0)
    """
    return float(question.returned)


def _within(ascending: Sequence[int], k: int | None) -> int:
    """How many of the places are k or less."""
    return len(ascending) if k is None else bisect_right(ascending, k)


METRICS: Mapping[str, Definition] = {
    each.name: each
    for each in (
        Definition("recall", _recall, cut=True, asked_of="answerable", highest=1),
        Definition("precision", _precision, cut=True, asked_of="answerable", highest=1),
        Definition("hit", _hit, cut=True, asked_of="answerable", highest=1),
        Definition("MRR", _mrr, cut=True, asked_of="answerable", highest=1),
        Definition("MAP", _map, cut=True, asked_of="answerable", highest=1),
        Definition("nDCG", _ndcg, cut=True, asked_of="answerable", highest=1),
        Definition("silent", _silent, cut=False, asked_of="expects nothing", highest=1),
        Definition("returned", _returned, cut=False, asked_of="expects nothing", highest=inf),
    )
}


def forms() -> list[str]:
    """Every way to write a metric, in the registry's order: `recall`, `recall@k` and so on."""
    return [form for each in METRICS.values() for form in (each.name, f"{each.name}@k")[: 1 + each.cut]]


def parse_metric(text: str) -> Metric:
    """The metric that is written so; InputError, which names those there are, where none is.

    >>> parse_metric("nDCG@10")
    Metric(name='nDCG', k=10)
    """
    written = _WRITTEN.fullmatch(text)
    try:
        if written is None:
            raise ValueError(f"no metric; there are {', '.join(forms())}, with k from 1 to {MOST}")
        name, k = written.groups()
        return Metric(name, int(k) if k else None)
    except ValueError as error:
        # Loads the whole pipeline's package, of which nothing else is needed to compute metrics.
        from retrieval.errors import Fault, InputError

        raise InputError([Fault(f"--metric {text}", None, f"{error}{_meant(text)}")]) from None


def _meant(text: str) -> str:
    name, at, k = text.partition("@")
    like = next((each for each in METRICS if each.lower() == name.lower() and each != name), None)
    return f"; was {like}{at}{k} meant?" if like else ""


def evaluate(metrics: Iterable[Metric], questions: Iterable[Judged]) -> dict[Metric, list[float | None]]:
    """For each metric its value for each question, in the questions' order; None where it has none.

    >>> evaluate([Metric("recall"), Metric("silent")], [Judged([["a"]], ["a"]), Judged([])])
    {Metric(name='recall', k=None): [1.0, None], Metric(name='silent', k=None): [None, 1.0]}
    """
    found = [places(question) for question in questions]
    return {metric: [METRICS[metric.name].value(each, metric.k) for each in found] for metric in metrics}


def reached(expected: Groups, returned: Iterable[str]) -> tuple[bool, ...]:
    """For each group, whether one of its laws came back.

    >>> reached([["a"], ["b", "c"]], ["c", "x"])
    (False, True)
    """
    found = set(returned)
    return tuple(not found.isdisjoint(group) for group in expected)


def recall(expected: Groups, returned: Iterable[str]) -> float | None:
    """The metric `recall` of groups, all distinct, and ids: None where nothing is expected, 0 where nothing came back.

    >>> recall([["a"], ["b"], ["c"], ["d"]], ["a"])
    0.25
    >>> recall([], ["a"]) is None
    True
    """
    hits = reached(expected, returned)
    return sum(hits) / len(hits) if hits else None


def hit(expected: Groups, returned: Iterable[str]) -> float | None:
    """The metric `hit` of groups and ids: None where nothing is expected, 0 where nothing came back.

    >>> hit([["a"], ["b"]], ["x", "b"])
    1.0
    """
    hits = reached(expected, returned)
    return float(any(hits)) if hits else None


def precision(relevant: Collection[str], returned: Iterable[str]) -> float | None:
    """The metric `precision` of ids: relevant is what is expected or accepted; None where nothing came back.

    >>> precision({"a", "b"}, ["a", "x"])
    0.5
    >>> precision({"a"}, []) is None
    True
    """
    found = set(returned)
    return len(found & set(relevant)) / len(found) if found else None


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values there are, by an exact sum: blind to their order. None where there is none.

    >>> mean([0.1] * 10), mean([1.0, None]), mean([])
    (0.1, 1.0, None)
    """
    there = [value for value in values if value is not None]
    return fsum(there) / len(there) if there else None
