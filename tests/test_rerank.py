"""Choosing laws from the pool: hand-worked choices, broken rerankers, replies of all shapes, the reference cases."""

import json
import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from retrieval import Law, choose_laws, haiku_reranker, pool_size
from retrieval.rerank import ANSWER_LAWS, Rerank, choose
from retrieval.settings import Settings
from tests.reference import cases, needs_reference

POOL = [Law("a", "1"), Law("p", "2", kind="process"), Law("b", "3"), Law("c", "4"), Law("d", "5")]
FALLBACK = [Law("f", "9")]


def scorer(*scores: float) -> Rerank:
    """A reranker that always gives these scores."""
    return lambda question, texts: list(scores)


def replying(text: str, stop: str = "end_turn") -> Rerank:
    """Haiku with a client that always replies with this text, a thinking block before it."""
    content = [SimpleNamespace(type="thinking", thinking="..."), SimpleNamespace(type="text", text=text)]
    response = SimpleNamespace(stop_reason=stop, content=content)
    return haiku_reranker(SimpleNamespace(messages=SimpleNamespace(create=lambda **request: response)))


def ids(laws: Sequence[Law]) -> str:
    """The ids of some laws, run together."""
    return "".join(law.id for law in laws)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((1, 0, 2, 3, 4), "dcb"),  # the best three
        ((1, 9, 2, 3, 4), "dcbp"),  # a page row that is first stands beside the three
        ((5, 2, 4, 3, 1), "abc"),  # a page row that is fourth does not
        ((1, 1, 1, 1, 1), "abcp"),  # ties keep the pool's order
        ((-math.inf,) * 5, "abcp"),  # nothing named: the pool's order
        ((-3, -9, -2, -1, -4), "cba"),  # no floor: negative scores order as well as others
    ],
)
def test_hand_worked(scores: tuple[float, ...], expected: str) -> None:
    """The best three laws that are no page rows, page rows of the first three beside them."""
    assert ids(choose_laws(POOL, FALLBACK, "q", scorer(*scores))) == expected


def _throws(question: str, texts: list[str]) -> list[float]:
    raise RuntimeError("no capacity")


def _times_out(question: str, texts: list[str]) -> list[float]:
    raise TimeoutError("60 s")


@pytest.mark.parametrize(
    ("rerank", "cause"),
    [
        (_throws, "threw"),
        (_times_out, "timed out"),
        (scorer(1, 2, 3), "wrong number of scores"),
        (scorer(1, 2, 3, math.nan, 4), "not a number"),
        (replying('{"ranked": [0, 5]}'), "named what was not given"),
        (replying('{"ranked": [-1]}'), "named what was not given"),
        (replying('{"ranked": [true]}'), "named what was not given"),
        (replying('{"ranked": ["1"]}'), "named what was not given"),
        (replying('{"ranked": [1.5]}'), "named what was not given"),
        (replying('{"ranked": [1e30]}'), "named what was not given"),
        (replying('{"ranked": 1}'), "unreadable"),
        (replying("[1]"), "unreadable"),
        (replying("null"), "unreadable"),
        (replying(""), "unreadable"),
        (replying('{"ranked": [NaN]}'), "unreadable"),
        (replying('{"ranked": ' + "[" * 100_000), "unreadable"),
        (replying('{"ranked": [1]}', "max_tokens"), "cut off"),
        (replying('{"ranked": [1]}', "model_context_window_exceeded"), "cut off"),
        (replying("I cannot", "refusal"), "refused"),
    ],
)
def test_a_reranker_that_did_not_answer(rerank: Rerank, cause: str) -> None:
    """The fallback comes back, and the cause is told."""
    choice = choose(POOL, FALLBACK, "q", rerank)
    assert ids(choice.laws) == "f"
    assert choice.outcome == cause


def test_no_reranker_and_no_pool() -> None:
    """Without a reranker, or with nothing to rerank, the fallback is the answer and the reranker is not asked."""
    assert ids(choose_laws(POOL, FALLBACK, "q", None)) == "f"
    assert ids(choose_laws([], FALLBACK, "q", _throws)) == "f"


def test_an_empty_list_is_an_answer() -> None:
    """Nothing named keeps the pool's order and is told apart from a failure."""
    choice = choose(POOL, FALLBACK, "q", replying('{"ranked": []}'))
    assert (ids(choice.laws), choice.outcome) == ("abcp", "none named")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"ranked": [4, 3, 2, 0, 1]}', "dcb"),
        ('{"ranked": [4, 4, 3.0]}', "dcap"[:3]),
        ('{"ranked": [1, 4]}', "dabp"),
    ],
)
def test_haiku_names_laws(reply: str, expected: str) -> None:
    """Named laws lead in the order named, repeats count once, the rest keep their place."""
    assert ids(choose_laws(POOL, FALLBACK, "q", replying(reply))) == expected


def test_haiku_sixth_name_does_not_count() -> None:
    """Only five names score; a sixth keeps its place in the pool."""
    scores = replying('{"ranked": [6, 5, 4, 3, 2, 1]}')("q", ["t"] * 7)
    assert list(scores) == [-math.inf, -math.inf, 1, 2, 3, 4, 5]


def test_haiku_is_asked_for_structured_output() -> None:
    """The request holds the question, every text with its number, and a schema."""
    asked: dict[str, Any] = {}

    def create(**request: Any) -> Any:
        asked.update(request)
        return SimpleNamespace(stop_reason="end_turn", content=[SimpleNamespace(type="text", text='{"ranked":[]}')])

    haiku_reranker(SimpleNamespace(messages=SimpleNamespace(create=create)), "m")("how far", ["one", "two"])
    assert asked["model"] == "m"
    assert asked["messages"][0]["content"] == "Question: how far\n\nLaws:\n\n[0] one\n\n[1] two"
    assert asked["output_config"]["format"]["type"] == "json_schema"
    assert "temperature" not in asked


@needs_reference
@pytest.mark.parametrize(("name", "rerank"), [("haiku", replying), ("cross_encoder", lambda scores: scorer(*scores))])
def test_the_reference_cases(name: str, rerank: Callable[[Any], Rerank]) -> None:
    """All cases choose the same laws in the same order; the fallback is the pool's first eight."""
    key = "reply" if name == "haiku" else "scores"
    for at, case in enumerate(cases("stages.json")[name]):
        pool = [Law(each["id"], "text", kind=each["kind"]) for each in case["pool"]]
        chosen = choose_laws(pool, pool[:8], "q", rerank(case[key]))
        assert [law.id for law in chosen] == case["chosen"], (at, json.dumps(case[key]))


def test_pool_size() -> None:
    """24 laws, 32 when searches were fused; the numbers of the settings, which stand in one place."""
    assert [pool_size([]), pool_size(["a"]), pool_size(["a", "b"])] == [24, 32, 32]
    usual = Settings(embedder="fake", near_enough={"fake": 0.3})
    assert [usual.pool_laws(0), usual.pool_laws(2), usual.answer_laws] == [24, 32, ANSWER_LAWS]


@needs_reference
def test_the_reference_pool_sizes() -> None:
    """The pool's size for each number of searches."""
    for searches, size in cases("stages.json")["pool_size"]:
        assert pool_size(["s"] * searches) == size
