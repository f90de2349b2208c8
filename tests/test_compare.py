"""Two sides question by question: flips by hand, edits between the sides, and properties over all of it."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals import bands
from evals.compare import Comparison, compare
from evals.outcomes import Outcome, Side, outcomes
from evals.report.verdicts.comparison import changed_settings, comparison_text
from evals.rerun import can_rerun, rerun
from evals.stages import STAGES
from retrieval.settings import changed
from tests import fakes, sides
from tests.sides import by_key, outcome


def names(comparison: Comparison, kind: str) -> list[tuple[str, str, str, str]]:
    """Flips as question, state, laws and stages."""
    flips = comparison.lost if kind == "lost" else comparison.gained
    return [(*flip.after.key, "/".join(flip.was.laws), "+".join(flip.stages)) for flip in flips]


def test_lost_and_gained_by_hand() -> None:
    """Each group flips by itself, with the stages that flipped; what stays is no flip."""
    before = by_key(
        outcome("a/p", expected=["MD-1", "MD-2"], pool=["MD-1", "MD-2"]),
        outcome("b/p", expected=["MD-3"], pool=["MD-3"], answer=[]),
        outcome("c/p", expected=["MD-1"], pool=[]),
    )
    after = by_key(
        outcome("a/p", expected=["MD-1", "MD-2"], pool=["MD-2"], answer=["MD-2"]),
        outcome("b/p", expected=["MD-3"], pool=[], answer=["MD-3"]),
        outcome("c/p", expected=["MD-1"], pool=["MD-1"], answer=[]),
    )
    found = compare(before, after)
    assert names(found, "lost") == [
        ("a/p", "MD", "MD-1", "words+near+fused+pool+answer"),
        ("b/p", "MD", "MD-3", "pool"),
    ]
    assert names(found, "gained") == [
        ("b/p", "MD", "MD-3", "words+near+fused+answer"),
        ("c/p", "MD", "MD-1", "pool"),
    ]
    assert [flip.judged for flip in found.gained] == [("answer",), ("pool",)]
    assert found.groups == 4
    (pool,) = [change for change in found.changes if change.by == "all" and change.stage == "pool"]
    assert (pool.pairs, pool.needs, pool.lost, pool.gained) == (3, 3, 2, 1)
    assert (pool.before, pool.after) == pytest.approx((2 / 3, 0.5))


def test_what_only_one_side_holds() -> None:
    """Pairs that vanished and pairs that are new are named, and are in no mean."""
    before = by_key(outcome("a/p"), outcome("b/p"))
    after = by_key(outcome("a/p"), outcome("c/p", pool=[]))
    found = compare(before, after)
    assert [each.question for each in found.vanished] == ["b/p"]
    assert [each.question for each in found.new] == ["c/p"]
    assert {(change.pairs, change.before, change.after) for change in found.changes} == {(1, 1.0, 1.0)}


@pytest.mark.parametrize(
    ("expected", "pool", "lost", "still_expected"),
    [
        ([("MD-2", "MD-1")], ["MD-1"], [], True),  # the same group in another order
        (["MD-2"], ["MD-1", "MD-2"], [], False),  # a label corrected, the old law arrives as before
        (["MD-2"], ["MD-2"], ["MD-1/MD-2"], False),  # a group narrowed to what still arrives
        (["MD-3"], ["MD-3"], ["MD-1/MD-2"], False),  # an edit cannot hide that the old laws are gone
        ([], [], ["MD-1/MD-2"], False),  # nor can expecting nothing
    ],
)
def test_an_expected_group_edited_between_the_sides(
    expected: list[str], pool: list[str], lost: list[str], still_expected: bool
) -> None:
    """What was expected then is judged by what is returned now; an edit alone loses nothing and gains nothing."""
    before = by_key(outcome(expected=[("MD-1", "MD-2")], pool=["MD-1"]))
    found = compare(before, by_key(outcome(expected=expected, pool=pool)))
    wanted = [] if expected == ["MD-2"] and "MD-2" in pool else lost
    assert ["/".join(flip.was.laws) for flip in found.lost] == wanted
    assert found.gained == ()
    assert (found.dropped == ()) is still_expected
    assert found.added == (0 if still_expected else len(expected))


def test_a_group_that_nobody_can_judge() -> None:
    """Where the second side kept no stages, groups that it does not expect are left out of the comparison."""
    before = by_key(outcome(expected=["MD-1", "MD-2"], pool=["MD-1"]))
    found = compare(before, by_key(outcome(expected=["MD-1"], stages={})))
    assert (found.groups, found.lost, len(found.dropped)) == (1, (), 1)


def test_nothing_in_common() -> None:
    """No pair, or none that expects anything, has no mean and no test: missing, not 0."""
    for one, other in (({}, {}), (by_key(outcome("a/p")), by_key(outcome("b/p"))), [by_key(outcome(expected=[]))] * 2):
        found = compare(one, other)
        assert (found.changes, found.stages, found.groups, found.paired("pool")) == ((), (), 0, None)


def test_stages_that_one_side_lacks_are_not_compared() -> None:
    """A baseline holds the pool and the answer alone."""
    one = outcome()
    kept = tuple(replace(group, reached={"pool": True, "answer": False}) for group in one.groups)
    found = compare(by_key(replace(one, groups=kept, stages={})), by_key(one))
    assert found.stages == ("pool", "answer")
    assert names(found, "gained") == [("hydrant/plain", "MD", "MD-1", "answer")]


def test_groups_of_a_mean() -> None:
    """One state halves while the other gains: the mean over all stands still, and the states show it."""
    before = by_key(outcome("a/p", "AL"), outcome("b/p", "AL"), outcome("a/p", "MD"), outcome("b/p", "MD", pool=[]))
    after = by_key(outcome("a/p", "AL"), outcome("b/p", "AL", pool=[]), outcome("a/p", "MD"), outcome("b/p", "MD"))
    found = {(each.by, each.group): (each.before, each.after) for each in compare(before, after).changes}
    assert found["all", "all"] == (0.75, 0.75)
    assert (found["state", "AL"], found["state", "MD"]) == ((1.0, 0.5), (0.5, 1.0))
    assert found["language", "en"] == found["kind", "plain"] == found["all", "all"]


def test_the_paired_test_is_of_the_mean_that_is_shown() -> None:
    """Its difference is that of the two means over pairs; its units are needs."""
    before = by_key(outcome("a/p"), outcome("a/q"), outcome("b/p"))
    after = by_key(outcome("a/p", pool=[]), outcome("a/q"), outcome("b/p", pool=[]))
    found = compare(before, after)
    (change,) = [each for each in found.changes if each.by == "all" and each.stage == "pool"]
    test = found.paired("pool")
    assert test is not None
    assert test.difference == pytest.approx(change.after - change.before)
    assert (test.needs, test.p) == (2, 0.5)
    assert found.pairings[0].recall("pool") == (Fraction(1), Fraction(0))


IDS = st.lists(st.sampled_from(["1", "2", "3"]), unique=True)


@st.composite
def side(draw: st.DrawFn) -> list[Outcome]:
    """A few outcomes of any make."""
    keys = draw(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["AL", "MD"])), unique=True))
    return [outcome(f"{name}/p", state, draw(IDS), draw(IDS), draw(IDS)) for name, state in keys]


@settings(max_examples=60)
@given(side(), side(), st.randoms())
def test_properties(before: list[Outcome], after: list[Outcome], random: object) -> None:
    """Order changes nothing; with itself nothing flips; the other way round lost is gained where labels agree."""
    found = compare(by_key(*before), by_key(*after))
    assert compare(by_key(*before[::-1]), by_key(*after[::-1])) == found
    same = compare(by_key(*after), by_key(*after))
    assert (same.lost, same.gained, same.vanished, same.new, same.dropped) == ((), (), (), (), ())
    back = compare(by_key(*after), by_key(*before))
    for one, other in ((found, back), (back, found)):
        there = {(flip.after.key, flip.was.name, flip.stages) for flip in one.lost if flip.still_expected}
        here = {(flip.after.key, flip.was.name, flip.stages) for flip in other.gained if flip.still_expected}
        assert there == here
    assert found.vanished == back.new
    for change in found.changes:
        assert 0 <= change.before <= 1
        assert 0 <= change.after <= 1
    for stage in found.stages:
        whole = [each for each in found.changes if each.stage == stage]
        total = next(each for each in whole if each.by == "all")
        for by in ("kind", "state", "language"):
            parts = [each for each in whole if each.by == by]
            assert sum(each.lost for each in parts) == total.lost
            assert sum(each.gained for each in parts) == total.gained
            assert sum(each.pairs for each in parts) == total.pairs


@pytest.mark.parametrize("change", ["near_enough=0.9", "near_laws=1", "candidate_laws=1", "retrieved_laws=2"])
@pytest.mark.parametrize("rephrase", ["off", "written"])
def test_a_rerun_is_the_run(change: str, rephrase: str) -> None:
    """Settings changed over the same scorings give what measuring them anew gives."""
    pairs = [replace(each, searches=("right on red", each.text), family="permit-application") for each in sides.PAIRS]
    old = sides.run(pairs, rephrase=rephrase)
    new = changed(old.settings, [change])
    again = rerun(old, new)
    anew = sides.run(pairs, **new.model_dump())
    assert outcomes(again) == outcomes(anew)
    assert again.fingerprints == anew.fingerprints
    assert bands.points(again) == bands.points(anew)


@pytest.mark.parametrize(
    "changes",
    [
        {"rephrase": "written"},
        {"rerank": "recorded bge-m3"},
        {"embedder": "other", "near_enough": {"other": 0.3}},
    ],
)
def test_what_a_run_cannot_tell(changes: dict[str, object]) -> None:
    """Another model, other searches and a reranker must be measured."""
    old = sides.run()
    other = fakes.settings(**changes)
    assert not can_rerun(old.settings, other)
    with pytest.raises(ValueError, match="measure these settings instead"):
        rerun(old, other)


def test_changed_settings() -> None:
    """Settings that differ, with the model where they are given by model; nothing else."""
    before = {"near_laws": 8, "near_enough": {"a": 0.8, "b": 0.3}, "rerank": "off"}
    after = {"near_laws": 9, "near_enough": {"a": 0.8, "b": 0.4}, "rerank": "off"}
    assert list(changed_settings(before, after)) == ["near_enough of b: 0.3 → 0.4", "near_laws: 8 → 9"]


def text_of(change: str) -> str:
    """The comparison of the small world's settings with a change of them, as a person reads it."""
    old = sides.run()
    new = rerun(old, changed(old.settings, [change]))
    said = [bands.verdict(bands.points(run), run.settings.cutoff) for run in (old, new)]
    options = ["--set", change]
    return comparison_text(Side.of(old, said[0]), Side.of(new, said[1]), None, "nothing recorded", options)


def test_the_text_of_a_comparison() -> None:
    """Lost laws by name with places and cosines, the settings, the means, the bands, and the verdict at the end."""
    lines = text_of("candidate_laws=1").splitlines()
    assert lines[:4] == [
        "lost: 1 expected law",
        "  hydrant/spanish (MD): MD-1, by pool: 3 of 24 in the pool → not in the pool, cosine 0.3789",
        "    near-enough search --set candidate_laws=1 MD '¿un hidrante?'",
        "gained: no law, by pool or answer",
    ]
    assert lines[4] == "candidate_laws: 24 → 1"
    assert lines[-1] == "gate: no verdict, nothing recorded"
    assert any(line.split()[:3] == ["all", "pool", "4"] for line in lines)
    assert any(line.startswith("now: At 0.3, ") for line in lines)


def test_a_comparison_without_a_change() -> None:
    """It says that nothing was lost or gained, and shows the means."""
    lines = text_of("candidate_laws=24").splitlines()
    assert lines[:2] == ["lost: no law, by pool or answer", "gained: no law, by pool or answer"]
    assert [line.split()[1] for line in lines if line.startswith("all ")] == list(STAGES)


def test_a_comparison_tells_what_else_differs() -> None:
    """Other laws, questions and models of the two runs, and the pairs that only one of them asked."""
    before = replace(sides.side(outcome("a/p"), outcome("b/p")), bands="")
    after = sides.side(outcome("a/p"), outcome("c/p"), model="other (2)", laws="m")
    lines = comparison_text(before, after, None, "none").splitlines()
    assert "model: fake (1) → other (2)" in lines
    assert "laws: l → m" in lines
    assert "asked only before: 1 pair of question and state" in lines
    assert "asked only now: 1 pair of question and state" in lines


def test_the_questions_that_expect_nothing() -> None:
    """The laws that the near search gives them on both sides, over those that both ask."""
    before = sides.side(outcome("m/p", expected=[], near_laws=3), outcome("n/p", expected=[], near_laws=0))
    after = sides.side(outcome("m/p", expected=[], near_laws=0), outcome("o/p", expected=[], near_laws=9))
    lines = comparison_text(before, after, None, "none").splitlines()
    assert "unrelated, 1 pair: laws by the near search 3 → 0, none at all for 0 → 1" in lines
