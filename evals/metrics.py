"""Recall, precision and hit of a returned set. Each takes what a question must reach and the ids that came back.

`expected` is a sequence of groups of ids, each reached by any one of its laws; `returned` the ids, best first. An id
returned twice counts once. Where nothing is expected there is no recall and no hit; where nothing is returned there
is no precision: None, never 0, and whoever takes a mean counts those.
"""

from collections.abc import Collection, Iterable, Sequence
from math import fsum

Groups = Sequence[Collection[str]]


def reached(expected: Groups, returned: Iterable[str]) -> tuple[bool, ...]:
    """For each group, whether one of its laws came back.

    >>> reached([["a"], ["b", "c"]], ["c", "x"])
    (False, True)
    """
    found = set(returned)
    return tuple(not found.isdisjoint(group) for group in expected)


def recall(expected: Groups, returned: Iterable[str]) -> float | None:
    """Expected groups reached / expected groups: 0 to 1, and 0 where nothing came back.

    The denominator is everything expected, also where fewer laws may be returned.

    >>> recall([["a"], ["b"], ["c"], ["d"]], ["a"])
    0.25
    >>> recall([], ["a"]) is None
    True
    """
    hits = reached(expected, returned)
    return sum(hits) / len(hits) if hits else None


def hit(expected: Groups, returned: Iterable[str]) -> float | None:
    """1 where at least one expected group is reached, else 0. Also known as success.

    >>> hit([["a"], ["b"]], ["x", "b"])
    1.0
    """
    hits = reached(expected, returned)
    return float(any(hits)) if hits else None


def precision(relevant: Collection[str], returned: Iterable[str]) -> float | None:
    """Returned laws that are expected or accepted / returned laws: the precision of the set, not precision@k.

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
