"""The reranker's tables, by hand: ceilings, equal depth, none named, fallbacks, page rows, why there is no floor."""

from collections.abc import Callable, Mapping, Sequence
from math import inf

import pytest

from evals import reranking
from evals.questions import Pair
from evals.run import Run, evaluate
from retrieval import Law
from retrieval.errors import NearEnoughError
from retrieval.live import LiveStage
from retrieval.replies import Call, Reply
from tests import fakes, sides

HAIKU = "recorded claude-haiku-4-5"
BASE = "recorded bge-reranker-base"
EVERYTHING = {"near_enough": {"fake": -1.0}, "near_laws": 99}


def page(name: str) -> Law:
    """A page row."""
    return Law(name, "text", kind="process")


A, B, C, P, Q = Law("a", "text"), Law("b", "text"), Law("c", "text"), page("p"), page("q")


@pytest.mark.parametrize(
    ("pool", "groups", "laws", "expected"),
    [
        ([A, B, C], [["a"], ["b"]], 3, 1.0),
        ([A, B, C], [["a"], ["b"], ["c"]], 2, 2 / 3),
        ([A], [["a"], ["b"]], 3, 0.5),  # the pool lacks one
        ([A, B, C], [["a", "b"], ["c"]], 2, 1.0),
        ([A, B, C], [["a"], ["b"], ["a", "c"]], 1, 2 / 3),  # one law in two groups
        ([A, B, P], [["a"], ["b"], ["p"]], 2, 1.0),  # a page row stands beside
        ([P, Q], [["p"], ["q"]], 1, 0.5),
        ([], [["a"]], 3, 0.0),
        ([A], [], 3, None),
    ],
)
def test_the_best_possible(
    pool: Sequence[Law], groups: Sequence[Sequence[str]], laws: int, expected: float | None
) -> None:
    """No order of the pool reaches more."""
    assert reranking.best_possible(pool, groups, laws) == expected


def run(pairs: Sequence[Pair], answer: Callable[[Call], Reply], rerank: str = HAIKU, **settings: object) -> Run:
    """The pipeline over the small world with a reranker that answers so."""

    def ask(stage: LiveStage, calls: Sequence[Call]) -> Mapping[str, Reply]:
        return {call.key: answer(call) for call in calls}

    corpus = {state: fakes.CORPUS[state] for state in sorted({pair.state for pair in pairs})}
    chosen = fakes.settings(rerank=rerank, **{**EVERYTHING, **settings})
    return evaluate(chosen, corpus, pairs, fakes.embed, sides.MODEL, ask=ask)


def naming(*laws: str) -> Callable[[Call], Reply]:
    """Haiku that names the laws whose text begins so, where they are in the pool."""

    def answer(call: Call) -> Reply:
        found = [at for start in laws for at, text in enumerate(call.texts) if text.startswith(start)]
        return Reply({"ranked": found})

    return answer


PAIRS = [
    sides.pair("hydrant/plain", "AL", "how close to a hydrant may i park", "AL-1"),
    sides.pair("red/plain", "AL", "turn at a red light", "AL-2", "AL-3"),
    sides.pair("hydrant/plain", "MD", "how close to a hydrant may i park", "MD-1", kind="typo"),
    sides.pair("moon/speed", "AL", "the speed limit on the moon"),
]


def test_everything_at_one_depth() -> None:
    """A reranker that puts the wrong law first, against the best possible one and the fused order, at one law each."""
    found = run(PAIRS, naming("Turn right", "Yield"), answer_laws=1)
    table = reranking.at_equal_depth(found).set_index("kind")
    whole = table.loc["all"]
    # hydrant: wrong (0 of 1), red: one of two groups, MD's hydrant: wrong.
    assert whole["reranked"] == pytest.approx(0.5 / 3)
    assert whole["best possible"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert whole["pool"] == 1.0
    assert (whole["pairs"], whole["answered"]) == (3, 3)
    assert list(table.index) == ["all", "plain", "typo"]
    first = [reranking.fused_first(found, each) for each in found.pairs]
    assert all(len([law for law in laws if "P" not in law]) == 1 for laws in first)
    assert table.loc["typo", "fused first"] == float("MD-1" in first[2])


def test_a_law_the_pool_lacks_is_the_pools_loss() -> None:
    """The ceiling stands beside the reranker: 0.5 of 0.5 is all there was."""
    found = run(PAIRS[1:2], naming("Turn right"), near_laws=0, candidate_laws=1)
    row = reranking.at_equal_depth(found).iloc[0]
    assert (row["pool"], row["best possible"], row["reranked"]) == (0.5, 0.5, 0.5)


def test_none_named_is_right_where_nothing_answers() -> None:
    """An empty list is an answer: right for the moon, false for the hydrant whose law was in the pool."""
    found = run(PAIRS, naming("Stop at a red"))
    table = reranking.none_named(found)
    assert table.drop(columns="share").astype(object).values.tolist()[0] == ["answerable", "false", 3, 1, 1]
    assert table.values.tolist()[1][:5] == ["unrelated", "right", 1, 0, 0]
    none = reranking.none_named(run(PAIRS, naming("nothing"))).set_index("expects")
    assert none["share"].tolist() == [1.0, 1.0]


def test_fallbacks_by_cause() -> None:
    """Each cause with its number; a fallback gives the fused result and is no answer of the reranker's."""
    causes = {"MD": "refused", "AL": "cut off"}

    def answer(call: Call) -> Reply:
        if "red" in call.question:
            return Reply({"ranked": [0]})
        state = "MD" if "Keep 15" in " ".join(call.texts) else "AL"
        return Reply(failed=causes[state], message=f"said {causes[state]}")

    found = run(PAIRS, answer)
    table = reranking.fallbacks(found).set_index("cause")
    assert table["pairs"].to_dict() == {"cut off": 2, "refused": 1}
    assert table.loc["refused", "first"] == "said refused"
    assert found.pairs[0].trace.answer == found.pairs[0].trace.fused
    assert reranking.at_equal_depth(found).iloc[0]["answered"] == 1
    assert reranking.statement(found) == "4 of 4 pairs reranked, 3 fell back (cut off 2, refused 1)"


@pytest.mark.parametrize(
    ("content", "cause"),
    [({"scores": [1.0]}, "wrong number of scores"), ({"scores": [float("nan")] * 5}, "not a number")],
)
def test_scores_that_cannot_be_used_are_fallbacks(content: Mapping[str, object], cause: str) -> None:
    """Also where they reach the pipeline in spite of all checks."""
    found = run(PAIRS[:1], lambda call: Reply(content), BASE)
    assert found.pairs[0].trace.outcome == cause


def test_page_rows_stand_beside() -> None:
    """A page row among the first takes no law's place; what it would have cost in a law's place is counted."""
    pairs = [sides.pair("apply/plain", "AL", "red light", "AL-2", accepted=("AL-P1",))]
    found = run(pairs, naming("Bring", "Stop"), answer_laws=1)
    assert found.pairs[0].trace.answer == ("AL-2", "AL-P1")
    assert reranking.page_rows(found).values.tolist() == [["answerable", 1, 1, 1, 1, 1]]


def test_why_there_is_no_floor() -> None:
    """A floor that suits English cuts the Spanish answers, which were first of their pools all the same."""
    pairs = [sides.pair(f"h{at}/plain", "MD", f"how close to a hydrant {at}", "MD-1") for at in range(20)] + [
        sides.pair(f"h{at}/es", "MD", f"un hidrante {at}", "MD-1", lang="es", kind="spanish") for at in range(4)
    ]

    def answer(call: Call) -> Reply:
        best = 0.516 if "close" in call.question else 0.065
        return Reply({"scores": [best if text.startswith("Keep") else 0.01 for text in call.texts]})

    found = run(pairs, answer, BASE)
    table = reranking.no_floor(found)
    assert table[["language", "answers", "median", "floor", "cut", "share cut", "still first"]].values.tolist() == [
        ["en", 20, 0.516, 0.516, 0, 0.0, 0],
        ["es", 4, 0.065, 0.516, 4, 1.0, 4],
    ]
    assert reranking.statement(found) == (
        "24 of 24 pairs reranked, 0 fell back; a floor at the score that 95 % of the English answers reach, 0.516,"
        " would cut 4 of 4 answers in es, 4 of them the first of their pool"
    )


def test_names_are_on_no_scale() -> None:
    """Haiku's 5 to 1 say nothing of a floor."""
    found = run(PAIRS, naming("Keep", "Park"))
    assert min(found.pairs[0].trace.rerank_scores) == -inf
    assert reranking.no_floor(found).empty


def test_without_a_reranker_there_is_the_ceiling_and_the_fused_order() -> None:
    """No number of a reranker is made up, and a sentence says that none was measured."""
    found = sides.run()
    table = reranking.at_equal_depth(found)
    assert table["reranked"].isna().all()
    assert table["answered"].isna().all()
    assert not table[["pool", "best possible", "fused first", "fallback"]].isna().any().any()
    assert reranking.statement(found).startswith("no reranker was measured")
    for name in ("rerank-none-named", "rerank-fallbacks", "rerank-page-rows", "rerank-no-floor"):
        assert reranking.TABLES[name](found).empty


def test_a_stage_that_nobody_answers_is_refused() -> None:
    """Settings with a reranker and nobody to ask are a fault of the caller, not a run without one."""
    with pytest.raises(NearEnoughError, match="name a model to rerank, bge-reranker-base, and here nobody asks it"):
        sides.run(rerank=BASE)
