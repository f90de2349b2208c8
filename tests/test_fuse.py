"""Fusion against hand-worked sums, the reference cases, and a plain restatement of its rules."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval import Hit, Law, fuse, retrieve
from retrieval.fuse import beside, distinct_searches
from tests.reference import cases, needs_reference

ABC = list("abc")


@pytest.mark.parametrize(
    ("rankings", "limit", "expected"),
    [
        # 1/61 + 1/62 twice: a tie of sums; the first ranking that holds both puts a before b.
        ([["a", "b"], ["b", "a"]], 8, ["a", "b"]),
        # c is first of two rankings (2/61), a and b once each.
        ([["c", "a"], ["c", "b"]], 8, ["c", "a", "b"]),
        # Equal sums in different first rankings: the earlier ranking wins.
        ([["a"], ["b"]], 8, ["a", "b"]),
        # A repeat counts once, at its best rank, and keeps the ranks behind it where they are.
        ([["a", "a", "b"], ["b"], ["c"]], 8, ["b", "a", "c"]),
        # An id that is not known keeps its rank, and its place is not filled by it.
        ([["ghost", "a"], ["b"]], 2, ["b", "a"]),
        ([["a", "b"]], 0, []),
        ([], 8, []),
        ([[], ["a"]], 8, ["a"]),
    ],
)
def test_hand_worked(rankings: list[list[str]], limit: int, expected: list[str]) -> None:
    """The order follows the sums of 1 / (60 + rank), and ties the design's rule."""
    assert fuse(rankings, limit, ABC) == expected


def test_ranks_start_at_one() -> None:
    """61st and 62nd (1/121 + 1/122) beats first (1/61); with ranks from 0, first (1/60) would win."""
    assert Fraction(1, 121) + Fraction(1, 122) > Fraction(1, 61)
    assert Fraction(1, 120) + Fraction(1, 121) < Fraction(1, 60)
    filler = [f"x{at}" for at in range(61)]
    assert fuse([["a"], [*filler[:60], "b"], [*filler, "b"]], 9, {"a", "b"}) == ["b", "a"]


def test_negative_limit_is_refused() -> None:
    """A negative number of laws is an error, not a slice from the end."""
    with pytest.raises(ValueError, match="limit"):
        fuse([["a"]], -1, ABC)


rankings_of_letters = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), max_size=5)


@given(rankings_of_letters, st.integers(0, 10))
def test_a_shorter_result_is_the_start_of_a_longer_one(rankings: list[list[str]], limit: int) -> None:
    """For rankings already cut, the limit only cuts; it changes no order."""
    assert fuse(rankings, limit, "abcdefgh") == fuse(rankings, 99, "abcdefgh")[:limit]


@given(rankings_of_letters)
def test_every_ranked_id_is_returned_once(rankings: list[list[str]]) -> None:
    """Nothing is lost and nothing comes back twice."""
    assert sorted(fuse(rankings, 99, "abcdefgh")) == sorted({each for ranking in rankings for each in ranking})


def test_searches_equal_to_the_question_or_to_an_earlier_one_are_dropped() -> None:
    """A search that repeats would count its rankings twice."""
    assert distinct_searches("q", ["a", "q", "a", "b"]) == ["a", "b"]


LAWS = [
    Law("S1", "stop at a red light"),
    Law("S2", "park by a hydrant"),
    Law("P1", "bring proof", "how do i apply", "permit-application", "process"),
    Law("P2", "pay the fee", "how do i apply", "permit-application", "process"),
]


def test_retrieve_asks_near_for_the_question_and_each_search() -> None:
    """Both searches are asked for every distinct text, in order."""
    asked: list[str] = []

    def near(text: str) -> list[Hit]:
        asked.append(text)
        return [Hit("S2", 0.9), Hit("gone", 0.8)]

    found = retrieve(LAWS, "red light", 8, near, searches=["red light", "hydrant", "hydrant"])
    assert asked == ["red light", "hydrant"]
    assert [law.id for law in found] == ["S2", "S1"]


def test_a_family_stands_beside_the_number_asked_for() -> None:
    """Page rows of the named family come after the limit, those found already only once, unknown ones never."""
    near = lambda text: [Hit("P2", 0.9)]  # noqa: E731
    found = retrieve(LAWS, "hydrant", 2, near, family=["P1", "P2", "P9"])
    assert [law.id for law in found] == ["S2", "P2", "P1"]
    assert [law.id for law in retrieve(LAWS, "hydrant", 2, near, family=[LAWS[2]])] == ["S2", "P2", "P1"]


def test_page_rows_alone_answer_nothing_by_words() -> None:
    """Without the near search a corpus of page rows only has no answer."""
    assert retrieve(LAWS[2:], "how do i apply for proof", 8) == []


@needs_reference
def test_the_reference_cases() -> None:
    """All 150 cases give the same ids in the same order."""
    for at, case in enumerate(cases("fusion.json")):
        rankings = []
        for words, near in zip(case["words"], case["near"], strict=True):
            rankings.append(words[: case["limit"]])
            rankings.append([each for each, score in near if score >= case["near_enough"]][: case["near_laws"]])
        found = fuse(rankings, case["limit"], case["laws"])
        assert beside(found, case["family"], case["laws"]) == case["retrieved"], at
