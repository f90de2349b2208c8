"""Rankings into one: reciprocal rank fusion, and `retrieve`, which asks both searches and fuses.

Source: Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
methods", SIGIR 2009, with its constant of 60.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set

from retrieval.corpus import Law
from retrieval.vectors import Hit
from retrieval.words import bm25

RANK_CONSTANT = 60

Near = Callable[[str], Sequence[Hit]]


def fuse(rankings: Iterable[Sequence[str]], limit: int, known: Collection[str]) -> list[str]:
    """The best `limit` ids of several rankings, each best first and already cut.

    An id scores the float64 sum, in the rankings' order, of 1 / (60 + rank), ranks from 1; a ranking that lacks it
    adds nothing. A repeat inside a ranking counts once, at its best rank, and takes its place. Equal sums: the id
    whose first ranking is the earlier, then the one ranked better there. An id that is not in `known` keeps its
    place in its ranking and is left out of the result. `limit` 0 gives nothing; a negative one is a ValueError.
    """
    if limit < 0:
        raise ValueError(f"limit must be 0 or more, found {limit}")
    scores: dict[str, float] = {}
    for ranking in rankings:
        best: dict[str, int] = {}
        for rank, each in enumerate(ranking, 1):
            best.setdefault(each, rank)
        for each, rank in best.items():
            scores[each] = scores.get(each, 0.0) + 1 / (RANK_CONSTANT + rank)
    # Insertion order is (first ranking, best rank there), and the sort is stable: ties need nothing more.
    order = sorted(scores, key=scores.__getitem__, reverse=True)
    known = known if isinstance(known, Set | Mapping) else frozenset(known)
    return [each for each in order if each in known][:limit]


def distinct_searches(question: str, searches: Iterable[str]) -> list[str]:
    """The searches that are neither the question nor an earlier search, in order."""
    return [each for each in dict.fromkeys(searches) if each != question]


def retrieve(
    laws: list[Law],
    question: str,
    limit: int,
    near: Near | None = None,
    searches: Iterable[str] = (),
    family: Iterable[Law | str] = (),
) -> list[Law]:
    """The `limit` laws that words and meaning find together, best first, and a family's page rows beside them.

    `near` gives the hits of a text, already cut; it is asked for the question and for each search, and None leaves
    the near search out. Word rankings are cut at `limit`. `family` names page rows (laws, or their ids); those not
    found already stand after the result, in the family's order, beyond `limit`. Ids the corpus lacks are dropped.
    """
    by_id = {law.id: law for law in laws}
    rankings: list[list[str]] = []
    for text in (question, *distinct_searches(question, searches)):
        rankings.append([law.id for law in bm25(laws, text, limit)])
        if near is not None:
            rankings.append([hit.id for hit in near(text)])
    found = fuse(rankings, limit, by_id)
    return [by_id[each] for each in beside(found, family, by_id)]


def beside(found: Sequence[str], family: Iterable[Law | str], known: Collection[str]) -> list[str]:
    """`found`, and after it the ids of the family's rows that are known and not in it already."""
    rows = (row if isinstance(row, str) else row.id for row in family)
    return list(dict.fromkeys([*found, *(row for row in rows if row in known)]))
