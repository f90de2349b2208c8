"""The reranker's part of a run as tables: what it could reach, what it reached, and what retrieval's order would have.

Everything is at one depth, `answer_laws`, page rows beside it: a reranker's three against eight would be no comparison.
Where no reranker was asked there is the ceiling and the fused order, and no row of a reranker.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import inf

import numpy as np
import pandas as pd

from evals.counted import by_cause
from evals.judged import Groups
from evals.metrics import mean, recall
from evals.outcomes import ANSWERED, CHOSEN, REPHRASED
from evals.run import Measured, Run, answerable
from retrieval.corpus import Law
from retrieval.rerank import choose

NOT_MEASURED = "no reranker was measured: the answer is the fused result, and nothing is recorded of any reranker"

FLOOR = 0.05  # the share of the English answers that lie under the floor


def reranked(run: Run) -> bool:
    """Whether the run asked a reranker."""
    return run.settings.reranker is not None


def statement(run: Run) -> str:
    """What was measured, in a sentence: how many pairs, the fallbacks by cause, and what a floor would cut."""
    if not reranked(run):
        return NOT_MEASURED
    asked = sum(each.trace.outcome != "empty pool" for each in run.pairs)
    failed = [each.trace.outcome for each in run.pairs if each.trace.outcome not in CHOSEN]
    fell_back = f"{len(failed)} fell back" + (f" ({by_cause(failed)})" if failed else "")
    return "; ".join([f"{asked} of {len(run.pairs)} pairs reranked, {fell_back}", *_floors(no_floor(run))])


def _floors(table: pd.DataFrame) -> Iterator[str]:
    """For each other language than English, how many of its answers a floor would cut."""
    for row in table.to_dict("records"):
        if row["language"] != "en":
            yield (
                f"a floor at the score that {100 * (1 - FLOOR):.0f} % of the English answers reach, {row['floor']:.3g},"
                f" would cut {row['cut']} of {row['answers']} answers in {row['language']}, {row['still first']} of"
                " them the first of their pool"
            )


def best_possible(pool: Sequence[Law], groups: Groups, laws: int) -> float | None:
    """The highest recall that any order of the pool can reach: the best `laws` laws, and as many page rows beside them.

    None where nothing is expected. Three groups of which the pool holds one law each, at 2 laws: 2/3; a page row that
    answers the third stands beside them: 1.
    """
    if not groups:
        return None
    covers: dict[bool, set[frozenset[int]]] = {True: set(), False: set()}
    for law in pool:
        covered = frozenset(at for at, group in enumerate(groups) if law.id in group)
        if covered:
            covers[law.is_page_row].add(covered)
    reached = {one | other for one in _unions(covers[False], laws) for other in _unions(covers[True], laws)}
    return max(map(len, reached)) / len(groups)


def _unions(covers: Iterable[frozenset[int]], most: int) -> set[frozenset[int]]:
    """What at most so many of the covers reach together."""
    each = sorted(covers, key=sorted)
    return {
        frozenset().union(*chosen) for count in range(min(most, len(each)) + 1) for chosen in combinations(each, count)
    }


def fused_first(run: Run, measured: Measured) -> tuple[str, ...]:
    """The fused result at the reranker's depth: its first `answer_laws` laws, page rows among them beside."""
    fused = _laws(run, measured, measured.trace.fused)
    unmoved = choose(
        fused, (), measured.trace.question, lambda question, texts: [0.0] * len(texts), run.settings.answer_laws
    )
    return tuple(law.id for law in unmoved.laws)


def _laws(run: Run, measured: Measured, ids: Iterable[str]) -> list[Law]:
    laws = run.laws[measured.pair.state]
    return [laws[each] for each in ids]


def at_equal_depth(run: Run, by: str = "kind") -> pd.DataFrame:
    """Recall of the pool, the best possible answer, the reranker's and the fused order's, by kind, the whole set first.

    by: `kind`, `lang`, `state` or `topic`. `reranked` is over all answerable pairs, fallbacks included, as answered;
    `where it answered` over those that the reranker answered, with their number. Both are empty without a reranker.
    `fallback` is the fused result at its full length. Means over pairs are exact.
    """
    rows = [_depth_row(run, each) for each in answerable(run)]
    groups: dict[str, list[dict[str, object]]] = {"all": rows}
    for row in rows:
        groups.setdefault(str(getattr(row["pair"], by)), []).append(row)
    names = ["all", *sorted(name for name in groups if name != "all")]
    return pd.DataFrame([_depth_means(run, by, name, groups[name]) for name in names])


def _depth_row(run: Run, measured: Measured) -> dict[str, object]:
    pair, trace, depth = measured.pair, measured.trace, run.settings.answer_laws
    return {
        "pair": pair,
        "pool": recall(pair.expected, trace.pool),
        "best possible": best_possible(_laws(run, measured, trace.pool), pair.expected, depth),
        "reranked": recall(pair.expected, trace.answer) if reranked(run) else None,
        "where it answered": recall(pair.expected, trace.answer) if trace.outcome in ANSWERED else None,
        "fused first": recall(pair.expected, fused_first(run, measured)),
        "fallback": recall(pair.expected, trace.fused),
    }


def _depth_means(run: Run, by: str, name: str, rows: Sequence[Mapping[str, object]]) -> dict[str, object]:
    measures = ("pool", "best possible", "reranked", "where it answered", "fused first", "fallback")
    means = {measure: mean([row[measure] for row in rows]) for measure in measures}  # type: ignore[misc]
    answered = sum(row["where it answered"] is not None for row in rows)
    return {by: name, "pairs": len(rows), **means, "answered": answered if reranked(run) else None}


def none_named(run: Run) -> pd.DataFrame:
    """How often the reranker named no law: right where no law answers, false where one is expected.

    By what the question expects; `of them in the pool`: of the false ones, those whose pool held an expected law.
    Rerankers that score every law name all of them. Empty without a reranker.
    """
    rows = []
    for expects in ("answerable", "uncovered", "unrelated"):
        part = [each for each in run.pairs if each.pair.expects == expects]
        asked = [each for each in part if each.trace.outcome in ANSWERED]
        none = [each for each in asked if each.trace.outcome == "none named"]
        if asked:
            held = sum(bool(recall(each.pair.expected, each.trace.pool)) for each in none if each.pair.expected)
            rows.append(
                {
                    "expects": expects,
                    "judged": "false" if expects == "answerable" else "right",
                    "pairs": len(asked),
                    "none named": len(none),
                    "share": len(none) / len(asked),
                    "of them in the pool": held if expects == "answerable" else None,
                }
            )
    return pd.DataFrame(rows, columns=["expects", "judged", "pairs", "none named", "share", "of them in the pool"])


def fallbacks(run: Run) -> pd.DataFrame:
    """How many pairs were answered by the fallback, by its cause, the commonest first, with the first message of each.

    The causes are those of the reranker and, as `rephrase: …`, of the rephraser, whose question then stood alone.
    """
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for each in run.pairs:
        causes = {each.trace.outcome: each.trace.message} if each.trace.outcome not in CHOSEN else {}
        if each.rephrase not in REPHRASED:
            causes[f"rephrase: {each.rephrase}"] = ""
        for cause, message in causes.items():
            counts[cause] += 1
            first.setdefault(cause, message)
    rows = [
        {"cause": cause, "pairs": count, "share": count / len(run.pairs), "first": first[cause]}
        for cause, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    return pd.DataFrame(rows, columns=["cause", "pairs", "share", "first"])


def page_rows(run: Run) -> pd.DataFrame:
    """Page rows that stood beside the reranker's laws: in how many answers, how many rows, and how many were relevant.

    `instead`: expected groups that would be lost if a page row took a law's place instead of standing beside it.
    Empty without a reranker.
    """
    answers = [each for each in run.pairs if each.trace.outcome in ANSWERED]
    rows = []
    for expects in ("answerable", "uncovered", "unrelated"):
        part = [each for each in answers if each.pair.expects == expects]
        beside = [(each, _pages(run, each)) for each in part if _pages(run, each)]
        if part:
            rows.append(
                {
                    "expects": expects,
                    "answers": len(part),
                    "with page rows": len(beside),
                    "page rows": sum(len(pages) for _, pages in beside),
                    "relevant": sum(law in each.pair.relevant for each, pages in beside for law in pages),
                    "instead": sum(_lost_instead(run, each) for each, _ in beside),
                }
            )
    return pd.DataFrame(rows, columns=["expects", "answers", "with page rows", "page rows", "relevant", "instead"])


def _pages(run: Run, measured: Measured) -> list[str]:
    return [law.id for law in _laws(run, measured, measured.trace.answer) if law.is_page_row]


def _lost_instead(run: Run, measured: Measured) -> int:
    pages = _pages(run, measured)
    laws = [law for law in measured.trace.answer if law not in pages]
    fewer = {*laws[: max(0, run.settings.answer_laws - len(pages))], *pages}
    return sum(
        bool(fewer.isdisjoint(group) and not {*laws, *pages}.isdisjoint(group)) for group in measured.pair.expected
    )


def no_floor(run: Run, share: float = FLOOR) -> pd.DataFrame:
    """Why there is no floor: the scores of answering laws by language, and what a floor that suits English would cut.

    The floor is the score below which `share` of the English answers lie. An answering law is the best scored one of
    an expected group that the pool holds; `cut`: how many of them lie under the floor; `still first`: how many of those
    were the first of their pool all the same. Names without scores (Haiku's) are on no scale: empty for them.
    """
    found: dict[str, list[tuple[float, bool]]] = {}
    for each in answerable(run):
        scores = each.trace.rerank_scores
        if not scores or max(scores) == -inf or min(scores) == -inf:
            continue
        of_law = dict(zip(each.trace.pool, scores, strict=True))
        for group in each.pair.expected:
            held = [of_law[law] for law in group if law in of_law]
            if held:
                found.setdefault(each.pair.lang, []).append((max(held), max(held) == max(scores)))
    columns = ["language", "answers", "lowest", "median", "highest", "floor", "cut", "share cut", "still first"]
    if "en" not in found:
        return pd.DataFrame(columns=columns)
    floor = float(np.quantile([score for score, _ in found["en"]], share))
    rows = []
    for language, answers in sorted(found.items()):
        scored = [score for score, _ in answers]
        cut = [first for score, first in answers if score < floor]
        quantiles = dict(zip(("lowest", "median", "highest"), np.quantile(scored, [0, 0.5, 1]).tolist(), strict=True))
        counts = {"floor": floor, "cut": len(cut), "share cut": len(cut) / len(answers), "still first": sum(cut)}
        rows.append({"language": language, "answers": len(answers), **quantiles, **counts})
    return pd.DataFrame(rows, columns=columns)


TABLES: dict[str, Callable[[Run], pd.DataFrame]] = {
    "rerank-depth": at_equal_depth,
    "rerank-none-named": none_named,
    "rerank-fallbacks": fallbacks,
    "rerank-page-rows": page_rows,
    "rerank-no-floor": no_floor,
}
