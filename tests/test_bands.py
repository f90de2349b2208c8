"""Bands and cutoffs: hand-worked groups, the published analysis of another model, and what no cutoff can do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals import bands
from evals.bands import Point
from evals.run import evaluate
from tests.fakes import CORPUS, embed, pair, settings

# Cosines of a deployed index with bge-m3, published with the analysis that set its cutoff to 0.5: each question's
# answering law, and the nearest law of three questions that no law answers.
PUBLISHED_ANSWERS = {"fireplug": 0.654, "school bus": 0.776, "right on red, in Spanish": 0.564}
PUBLISHED_UNRELATED = {"the speed limit on the moon": 0.575, "reset my progress": 0.48, "the Super Bowl": 0.365}


def point(group: str, cosine: float, question: str = "need/ask") -> Point:
    """A point of a band."""
    need, _, ask = question.partition("/")
    return Point(group, pair(need=need, ask=ask or "plain", state="MD"), "MD-1", cosine)


def published() -> list[Point]:
    """The published scores as points."""
    answers = [point("answering", cosine, name) for name, cosine in PUBLISHED_ANSWERS.items()]
    return answers + [point("unrelated", cosine, name) for name, cosine in PUBLISHED_UNRELATED.items()]


def test_the_published_analysis_comes_out_the_same() -> None:
    """A cutoff of 0.6 keeps the moon out and loses the Spanish law; 0.5 loses nothing and lets the moon in."""
    high, low = bands.cut(published(), 0.6), bands.cut(published(), 0.5)
    assert [each.pair.need for each in high.lost] == ["right on red, in Spanish"]
    assert "the speed limit on the moon" in [each.pair.need for each in high.kept_out]
    assert (low.lost, [each.pair.need for each in low.let_in]) == ((), ["the speed limit on the moon"])
    assert bands.verdict(published(), 0.5) == (
        "At 0.5, 0 of 3 answers lie under the cutoff, and so does the nearest law of 2 of 3 unrelated questions."
        " No cutoff separates the bands: answers begin at 0.564, unrelated questions reach 0.575; keeping every one of"
        " those out would lose 1 answer."
    )
    assert [each.pair.need for each in bands.in_overlap(published())] == [
        "right on red, in Spanish",
        "the speed limit on the moon",
    ]


def test_bands_that_a_cutoff_separates() -> None:
    """Where every answer lies above every unrelated law, the sentence names the gap."""
    points = [point("answering", 0.8), point("unrelated", 0.6)]
    assert bands.verdict(points, 0.7).endswith("Any cutoff above 0.600 and up to 0.800 would separate the two.")
    assert bands.in_overlap(points) == []
    assert bands.separation(points) == 1.0


def test_a_cutoff_lets_itself_in() -> None:
    """A cosine equal to the cutoff is returned: an answer there is not lost, an unrelated law there is let in."""
    at = bands.cut([point("answering", 0.7), point("unrelated", 0.7)], 0.7)
    assert (at.lost, len(at.let_in)) == ((), 1)


def test_groups_by_hand() -> None:
    """Each expected group's best cosine, the best law neither expected nor accepted, the nearest of the rest."""
    pairs = [
        pair("hydrant", state="AL", text="hydrant", expected=(("AL-1", "AL-2"), ("AL-3",)), accepted=("AL-P1",)),
        pair("moon", state="AL", text="red light on the moon", unrelated="lexical"),
        pair("teens", state="AL", text="friends in the car", expects="uncovered"),
        pair("empty", state="AL", text="¿?", expects="uncovered"),
    ]
    run = evaluate(settings(), {"AL": CORPUS["AL"]}, pairs, embed, "fake")
    near = {
        CORPUS["AL"][at].id: score
        for at, score in zip(
            run.pairs[0].trace.scorings[0].near.laws, run.pairs[0].trace.scorings[0].near.scores, strict=True
        )
    }
    of_hydrant = [each for each in bands.points(run) if each.pair.need == "hydrant"]
    assert [(each.group, each.cosine) for each in of_hydrant] == [
        ("answering", max(near["AL-1"], near["AL-2"])),
        ("answering", near["AL-3"]),
        ("nearest wrong", near["AL-P2"]),
    ]
    rest = [(each.pair.need, each.group) for each in bands.points(run) if each.pair.need != "hydrant"]
    assert rest == [("moon", "unrelated"), ("teens", "uncovered"), ("empty", "uncovered")]


def test_how_far_the_bands_overlap() -> None:
    """The share of answers below unrelated's 95 % point, and of unrelated above answering's 5 % point."""
    points = [point("answering", value / 100) for value in range(50, 70)]
    points += [point("unrelated", value / 100) for value in range(40, 60)]
    found = bands.overlap(points)
    assert found["answering below"] == pytest.approx(9 / 20)  # 95 % of 0.40 .. 0.59 is 0.5805
    assert found["above answering"] == pytest.approx(9 / 20)  # 5 % of 0.50 .. 0.69 is 0.5095
    assert bands.overlap(points[:20])["answering below"] is None


def test_separation_is_the_share_of_ordered_pairs() -> None:
    """Three of four (answer, other) pairs in order, a tie counting half: 0.875 and so on by hand."""
    points = [point("answering", value) for value in (0.9, 0.5)] + [point("unrelated", value) for value in (0.5, 0.4)]
    assert bands.separation(points) == pytest.approx((1 + 1 + 0.5 + 1) / 4)
    assert bands.separation(points[:2]) is None


def test_how_often_the_answer_beats_the_nearest_wrong_law() -> None:
    """Compared within a question; a tie is no win."""
    points = [
        point("answering", 0.9, "a/x"),
        point("nearest wrong", 0.8, "a/x"),
        point("answering", 0.7, "b/x"),
        point("nearest wrong", 0.7, "b/x"),
    ]
    assert bands.beats_wrong(points) == (1, 2)


def test_nothing_to_judge() -> None:
    """Without answers or without unrelated questions no cutoff is judged, and nothing is invented."""
    assert "no cutoff can be judged" in bands.verdict([], 0.5)
    assert bands.quantiles([]) is None


@given(st.lists(st.tuples(st.sampled_from(bands.GROUPS), st.floats(-1, 1)), max_size=30), st.floats(-1, 1))
def test_a_cut_parts_every_point_once(values: list[tuple[str, float]], cutoff: float) -> None:
    """Lost, kept out and let in hold each point that they should and no other, in order of cosine."""
    points = [point(group, value) for group, value in values]
    at = bands.cut(points, cutoff)
    answers = sorted(value for group, value in values if group == "answering")
    nothing = sorted(value for group, value in values if group in ("unrelated", "uncovered"))
    assert [each.cosine for each in at.lost] == [value for value in answers if value < cutoff]
    assert [each.cosine for each in at.kept_out] == [value for value in nothing if value < cutoff]
    assert [each.cosine for each in at.let_in] == [value for value in nothing if value >= cutoff]
