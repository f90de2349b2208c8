"""Where a law was lost and what would have saved it, by hand and against the pipeline run again."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from evals.losses import losses
from evals.run import Measured, Run, evaluate
from evals.savings import savings
from evals.sweep import Sweep
from retrieval import Law, Pipeline
from retrieval.settings import Settings
from tests.fakes import CORPUS, embed, pair, settings

LAWS = [
    Law(f"L{at:02}", f"Stop for sign {at}." + " Stop." * (at % 5), f"What of sign {at}?", "stop") for at in range(40)
]


def run_of(numbers: Settings, expected: str, text: str = "stop", searches: tuple[str, ...] = ()) -> Run:
    """One question over forty laws that all share its word."""
    one = pair(text=text, state="X", expected=((expected,),), searches=searches)
    return evaluate(numbers, {"X": LAWS}, [one], embed, "fake")


def test_reasons_in_words_and_numbers() -> None:
    """The law's place by words and by meaning, with what was asked for, as the rankings have it."""
    numbers = settings(near_laws=1, retrieved_laws=2, candidate_laws=2, near_enough={"fake": 0.9999})
    trace = run_of(numbers, "L00").pairs[0].trace
    words = [LAWS[at].id for at in trace.scorings[0].words.laws]
    lost = words[5]
    (loss,) = losses(run_of(numbers, lost))
    assert loss.stage == "pool"
    assert loss.words == "6th by words, where 2 were asked for"
    assert loss.near.startswith("cosine 0.")
    assert loss.near.split(", ")[0].endswith("under 1.000")
    assert loss.fused == "in no ranking"
    assert loss.reason == "too low by words, under the cutoff"


@pytest.mark.parametrize(
    ("need", "expected", "words", "near"),
    [
        ("¿semáforo?", "AL-1", "no shared word", "no vector"),
        ("red light", "AL-4", "no shared word", "no vector"),
        ("birth certificate", "AL-P1", "a page row: words never reach it", None),
    ],
)
def test_laws_that_a_search_cannot_reach(need: str, expected: str, words: str, near: str | None) -> None:
    """Another script shares no word, an empty law has no vector, page rows are not ranked by words."""
    numbers = settings(near_laws=0, retrieved_laws=1, candidate_laws=1)
    one = pair(text=need, expected=((expected,),))
    run = evaluate(numbers, {"AL": CORPUS["AL"]}, [one], None if near else embed, "fake")
    (loss,) = losses(run)
    assert loss.words == words
    assert near is None or loss.near == near


def test_a_law_that_the_pool_holds_and_the_answer_lost() -> None:
    """A loss of the answer alone is told as such, with its place in the fused order."""
    numbers = settings(near_laws=0, retrieved_laws=2, candidate_laws=24)
    words = [LAWS[at].id for at in run_of(numbers, "L00").pairs[0].trace.scorings[0].words.laws]
    (loss,) = losses(run_of(numbers, words[2]))
    assert (loss.stage, loss.words) == ("answer", "3rd by words, where 2 were asked for")
    assert losses(run_of(numbers, words[1])) == []


def reranked(scores: Sequence[float], expected: str) -> Run:
    """One question whose pool of eight a reranker scores so; fusion is asked for two, the answer for three."""
    numbers = settings(near_laws=0, retrieved_laws=2, candidate_laws=8)
    one = pair(text="stop", state="X", expected=((expected,),))
    pipeline = Pipeline(numbers, LAWS, embed, lambda question, texts: scores)
    trace = pipeline.trace(pipeline.score(["stop"]))
    return Run(numbers, {"X": LAWS}, (Measured(one, trace),), "fake")


RISING = tuple(map(float, range(8)))
UNNAMED = (-math.inf,) * 8


@pytest.mark.parametrize(
    ("scores", "place", "reason", "fused"),
    [
        (RISING, 2, "reranked out", "2nd of 8 in the pool, 7th by the reranker"),
        (RISING, 5, "reranked out", "5th of 8 in the pool, 4th by the reranker"),
        ((5.0, *UNNAMED[1:]), 6, "reranked out", "6th of 8 in the pool, not named by the reranker"),
        (UNNAMED, 4, "none named", "4th of 8 in the pool, not named by the reranker"),
    ],
)
def test_a_law_that_the_reranker_left_out(scores: Sequence[float], place: int, reason: str, fused: str) -> None:
    """Its place in the pool and by the reranker are told, and that of words against the pool's size, not fusion's."""
    pool = reranked(scores, "L00").pairs[0].trace.pool
    (loss,) = losses(reranked(scores, pool[place - 1]))
    assert (loss.stage, loss.reason, loss.fused) == ("answer", reason, fused)
    assert loss.words.endswith(f"{place}{fused.split()[0].lstrip('0123456789')} by words")


def test_what_the_reranker_keeps_and_what_the_pool_lacks_are_told_as_before() -> None:
    """The reranker's best is no loss; a law outside the pool is the pool's loss; a fallback's answer is fusion's."""
    pool = reranked(RISING, "L00").pairs[0].trace.pool
    assert losses(reranked(RISING, pool[7])) == []
    outside = next(law.id for law in LAWS if law.id not in pool)
    (loss,) = losses(reranked(RISING, outside))
    assert (loss.stage, loss.words.endswith("where 8 were asked for")) == ("pool", True)
    (loss,) = losses(reranked((1.0,), pool[7]))
    assert (loss.stage, loss.reason, loss.fused) == ("answer", "too low by words, too far by meaning", "in no ranking")


def test_a_cosine_just_under_the_cutoff_looks_like_it() -> None:
    """Where three digits would print the cutoff itself, more are shown."""
    numbers = settings(near_laws=8, retrieved_laws=1, candidate_laws=1)
    near = run_of(numbers, "L00").pairs[0].trace.scorings[0].near
    target, score = LAWS[near.laws[9]].id, float(near.scores[9])
    cutoff = float(np.nextafter(score, 1))
    (loss,) = losses(
        run_of(settings(near_enough={"fake": cutoff}, near_laws=10, retrieved_laws=1, candidate_laws=1), target)
    )
    shown = loss.near.split()[1]
    assert float(shown) < cutoff


@pytest.mark.parametrize("searches", [(), ("sign",)])
def test_a_saving_saves_and_holds_until_it_says(searches: tuple[str, ...]) -> None:
    """Run with the change the pipeline finds the law, with less it does not; it is lost again where that is said."""
    tried: set[str] = set()
    for near_laws, cutoff in ((1, -1.0), (12, 0.98)):
        small = settings(
            near_laws=near_laws,
            retrieved_laws=2,
            candidate_laws=8,
            searched_candidate_laws=8,
            near_enough={"fake": cutoff},
            rephrase="written",
        )
        for law in LAWS[::3]:
            run = run_of(small, law.id, searches=searches)
            for saving in savings(run, Sweep.of(run)).get((0, 0), ()):
                tried.add(saving.setting)
                assert found(small, law.id, saving.setting, saving.value, searches)
                if saving.until is not None:
                    assert not found(small, law.id, saving.setting, saving.until, searches)
                if saving.setting != "near_enough":
                    assert not found(small, law.id, saving.setting, saving.value - 1, searches)
    pool = {"searched_candidate_laws"} if searches else {"candidate_laws", "near_enough"}
    assert tried == {"near_laws", *pool}


def found(numbers: Settings, law: str, setting: str, value: float, searches: tuple[str, ...]) -> bool:
    """Whether the pool of the pipeline, run with one setting changed, holds a law."""
    changes: dict[str, object] = {setting: {"fake": value} if setting == "near_enough" else int(value)}
    again = Pipeline(settings(**{**numbers.model_dump(), **changes}), LAWS, embed)
    return law in again.answer("stop", searches).pool


def test_too_far_down_is_said_before_the_cutoff() -> None:
    """A law under the cutoff that nearer laws would keep out anyway: no cutoff brings it back, so that comes second."""
    numbers = settings(near_laws=8, retrieved_laws=1, candidate_laws=1)
    near = run_of(numbers, "L00").pairs[0].trace.scorings[0].near
    target, cutoff = LAWS[near.laws[9]].id, float(np.nextafter(near.scores[9], 1))
    (loss,) = losses(run_of(settings(near_enough={"fake": cutoff}, retrieved_laws=1, candidate_laws=1), target))
    assert loss.reason.endswith("too far by meaning")
    assert loss.near.startswith("10th by meaning, where 8 were asked for; cosine ")
