"""Where a law was lost and what would have saved it, by hand and against the pipeline run again."""

import numpy as np
import pytest

from evals.losses import losses
from evals.run import Run, evaluate
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


def test_a_cosine_just_under_the_cutoff_looks_like_it() -> None:
    """Where three digits would print the cutoff itself, more are shown."""
    numbers = settings(near_laws=8, retrieved_laws=1, candidate_laws=1)
    near = run_of(numbers, "L00").pairs[0].trace.scorings[0].near
    target, score = LAWS[near.laws[9]].id, float(near.scores[9])
    cutoff = float(np.nextafter(score, 1))
    (loss,) = losses(run_of(settings(near_enough={"fake": cutoff}, retrieved_laws=1, candidate_laws=1), target))
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
