"""What a run says of its live stages: failures by cause, why there is no floor, which replies it was measured with."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from evals import reranking
from evals.gate import FAILED, judge
from evals.outcomes import Side
from evals.run import Run
from retrieval import live
from tests import sides
from tests.live.faults import NAN, id_of, score, without_last
from tests.live.loopback import Body, Fault, Said, envelope, message
from tests.live.providers import QUICK
from tests.live.world import RERANK, World


def by_question(world: World, faults: Mapping[str, Fault]) -> None:
    """Let the server do something else for each question that holds a word, as often as it is asked."""

    def fault(body: Body, good: Any) -> Said:
        said = body["messages"][0]["content"] if "messages" in body else body["query"]
        question = said.partition("Laws:")[0]
        told = next((each for word, each in faults.items() if word in question), None)
        if told is None:
            return Said(good)
        return told if isinstance(told, Said) else told(body, good)

    world.server.always = fault


def outcomes(run: Run) -> dict[str, str]:
    """How each question's answer was chosen."""
    return {each.pair.question: each.trace.outcome for each in run.pairs}


@pytest.mark.parametrize(
    ("model", "faults", "expected"),
    [
        (
            "bge-reranker-base",
            {"how far": without_last, "distancia": score(NAN), "red light": id_of(99), "moon": Said({}, 500)},
            {
                "hydrant/plain": "wrong number of scores",
                "hydrant/spanish": "not a number",
                "red/plain": "named what was not given",
                "moon/speed": "threw",
            },
        ),
        (
            "claude-haiku-4-5",
            {
                "how far": Said(message("", "refusal")),
                "distancia": Said(message("{", "max_tokens")),
                "red light": Said(message('{"ranked": [99]}')),
                "moon": Said(message("x" * 200), drip=0.02),
            },
            {
                "hydrant/plain": "refused",
                "hydrant/spanish": "cut off",
                "red/plain": "named what was not given",
                "moon/speed": "timed out",
            },
        ),
    ],
    ids=["scores", "names"],
)
def test_what_fails_live_falls_back_by_its_cause(
    model: str,
    faults: Mapping[str, Fault],
    expected: Mapping[str, str],
    world: World,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every cause is counted under its name, the answer is the fused result, and the gate allows none."""
    assert world.record() == 0
    before = world.recorded()
    stage = live.RERANKERS[model]
    monkeypatch.setitem(live.RERANKERS, model, replace(stage, bounds=replace(QUICK, seconds=1.5, attempts=2)))
    by_question(world, faults)
    run = world.measure(f"rerank=live {model}")
    assert outcomes(run) == expected
    assert all(each.trace.answer == each.trace.fused for each in run.pairs)
    assert set(reranking.fallbacks(run)["cause"]) == set(expected.values())
    side = Side.of(run)
    verdict = judge(sides.baseline(side), side)
    assert (verdict.status, verdict.fallbacks) == (FAILED, 4)
    assert world.recorded() == before


def test_a_floor_would_cut_the_spanish_answer(world: World) -> None:
    """Once scores are recorded, the run shows that the Spanish answer lies far under the English and is first."""

    def judged(body: Body, good: Any) -> Said:
        if "query" not in body:
            return Said(good)
        best = 0.065 if "distancia" in body["query"] else 0.516
        answers = "Stop at" if "red" in body["query"] else "Park 15"
        given = [text["text"] for text in body["contexts"]]
        scored = [{"id": at, "score": best if text.startswith(answers) else 0.01} for at, text in enumerate(given)]
        return Said(envelope({"response": scored}))

    world.server.always = judged
    assert world.record(RERANK) == 0
    table = reranking.no_floor(world.measure(RERANK))
    columns = ["language", "answers", "lowest", "highest", "cut", "share cut", "still first"]
    assert table[columns].values.tolist() == [
        ["en", 2, 0.516, 0.516, 0, 0.0, 0],
        ["es", 1, 0.065, 0.065, 1, 1.0, 1],
    ]


def test_other_replies_are_not_the_same_thing_measured(world: World) -> None:
    """Laws, questions, settings and model alike, a recording that changed shows; the default run has no such mark."""
    rephrased = ("rephrase=recorded", RERANK)
    assert world.record(*rephrased) == 0
    assert set(world.measure().fingerprints) == {"laws", "questions", "settings", "model"}
    first = world.measure(*rephrased)
    assert world.measure(*rephrased).fingerprints == first.fingerprints
    path = world.recordings / "replies" / "rerank" / "cf-baai-bge-reranker-base.jsonl"
    one, *rest = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    one["reply"]["scores"][0] += 0.25
    path.write_text("".join(json.dumps(row) + "\n" for row in (*rest, one)), encoding="utf-8")
    other = world.measure(*rephrased).fingerprints
    assert {name for name, held in other.items() if first.fingerprints[name] != held} == {"rerank replies"}
    verdict = judge(sides.baseline(Side.of(first)), Side.of(world.measure(*rephrased)))
    assert (verdict.same["rerank replies"], verdict.same["rephrase replies"]) == (False, True)
