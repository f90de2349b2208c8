"""The stages in order: equal to the plain functions, blind to order and to repeats."""

from collections.abc import Sequence

import pytest

from retrieval import Law, Pipeline, bm25, nearest, retrieve
from retrieval.fuse import Near
from retrieval.vectors import VectorIndex, embedding_text
from tests.fakes import CORPUS, embed, settings

QUESTIONS = [
    "how close to a hydrant can i park",
    "right on red",
    "who may cross",
    "",
    "¿?",
    "apply for a birth certificate",
]


def near_of(laws: list[Law], top_k: int, cutoff: float) -> Near:
    """The near search by the plain functions."""
    with_text = [law for law in laws if embedding_text(law)]
    index = VectorIndex([law.id for law in with_text], embed("passage", [embedding_text(law) for law in with_text]))
    return lambda text: nearest(index, embed("query", [text])[0], top_k, cutoff) if text.strip() else []


@pytest.mark.parametrize("searches", [(), ("hydrant", "right on red", "hydrant")])
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("state", sorted(CORPUS))
def test_the_pipeline_is_the_plain_functions_in_order(state: str, question: str, searches: Sequence[str]) -> None:
    """Words, near, fused and pool are what bm25, nearest and retrieve give one by one."""
    laws = CORPUS[state]
    for near_laws, cutoff, limit in ((8, 0.3, 8), (1, 0.0, 2), (0, 0.3, 3), (3, 0.9, 1)):
        numbers = settings(near_laws=near_laws, near_enough={"fake": cutoff}, retrieved_laws=limit, candidate_laws=4)
        trace = Pipeline(numbers, laws, embed).answer(question, searches, "permit-application")
        near = near_of(laws, near_laws, cutoff)
        family = [law for law in laws if law.is_page_row]
        pool = 32 if [each for each in searches if each != question] else 4
        assert list(trace.words) == [law.id for law in bm25(laws, question, limit)]
        assert list(trace.near) == list(near(question))
        assert list(trace.fused) == [law.id for law in retrieve(laws, question, limit, near, searches, family)]
        assert list(trace.pool) == [law.id for law in retrieve(laws, question, pool, near, searches, family)]
        assert (trace.answer, trace.outcome) == (trace.fused, "off")


def test_without_a_model_words_alone_retrieve() -> None:
    """No vectors, no near stage, and everything else as before."""
    trace = Pipeline(settings(), CORPUS["AL"]).answer("right on red")
    assert trace.near == ()
    assert trace.fused == trace.words == ("AL-3", "AL-2")


def test_a_reranker_chooses_from_the_pool() -> None:
    """The answer is the reranker's best three of the pool; one that fails falls back and says why."""
    pipeline = Pipeline(settings(answer_laws=1), CORPUS["AL"], embed, lambda question, texts: range(len(texts)))
    trace = pipeline.answer("right on red")
    assert trace.outcome == "ranked"
    assert trace.answer[0] == [each for each in trace.pool if "-P" not in each][-1]
    failing = Pipeline(settings(), CORPUS["AL"], embed, lambda question, texts: [1.0]).answer("right on red")
    assert (failing.answer, failing.outcome) == (failing.fused, "wrong number of scores")


def test_questions_together_or_alone_score_alike() -> None:
    """Scoring many texts at once, in any order, changes no bit of any score."""
    pipeline = Pipeline(settings(), CORPUS["AL"], embed)
    together = pipeline.score(QUESTIONS)
    backwards = pipeline.score(QUESTIONS[::-1])[::-1]
    for one, other, text in zip(together, backwards, QUESTIONS, strict=True):
        (alone,) = pipeline.score([text])
        for ranking in ("words", "near"):
            for same in (getattr(other, ranking), getattr(alone, ranking)):
                assert getattr(one, ranking).laws.tolist() == same.laws.tolist()
                assert getattr(one, ranking).scores.tolist() == same.scores.tolist()


@pytest.mark.parametrize("searches", [(), ("hydrant", "red light")])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_from_as_many_laws_as_the_stages_look_at(question: str, searches: Sequence[str]) -> None:
    """Cut rankings are the first of the full ones, and give the same stages."""
    numbers = settings(near_laws=2, retrieved_laws=1, candidate_laws=3, searched_candidate_laws=3)
    pipeline = Pipeline(numbers, CORPUS["AL"], embed)
    cut, full = pipeline.answer(question, searches), pipeline.trace(pipeline.score([question, *searches]))
    assert cut.stages() == full.stages()
    for one, other in zip(cut.scorings, full.scorings, strict=True):
        for ranking in ("words", "near"):
            assert getattr(one, ranking).laws.tolist() == getattr(other, ranking).laws.tolist()[:3]
            assert getattr(one, ranking).scores.tolist() == getattr(other, ranking).scores.tolist()[:3]


def test_an_empty_corpus_and_one_of_empty_laws() -> None:
    """Nothing to find is an empty trace, not an error."""
    for laws in ([], [Law("a", "")]):
        trace = Pipeline(settings(), laws, embed).answer("how far")
        assert set(trace.stages().values()) == {()}


def test_a_family_acts_only_when_it_is_named() -> None:
    """Page rows of a named family stand beside the pool; a name that no row carries adds nothing."""
    pipeline = Pipeline(settings(near_laws=0), CORPUS["AL"], embed)
    assert pipeline.answer("right on red").pool == ("AL-3", "AL-2")
    assert pipeline.answer("right on red", family="permit-application").pool == ("AL-3", "AL-2", "AL-P1", "AL-P2")
    assert pipeline.answer("right on red", family="hydrant").pool == ("AL-3", "AL-2")
