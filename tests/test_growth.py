"""The corpus grown by hand: who joins it, who is taken out for a question, and what must not change."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals import bands, growth, tables
from evals.growth import OWN, Grown, distractors, grow
from evals.questions import Pair
from evals.run import Run, evaluate
from retrieval import Law
from tests.fakes import embed, pair, settings

LAWS = {
    "AL": [
        Law("AL-1", "Park 15 feet from a hydrant on a street.", "", "hydrant-parking"),
        Law("AL-2", "Stop at a red light.", "", "red-light"),
        Law("AL-P1", "Bring a photo.", "", "permit", "process"),
    ],
    "MD": [
        Law("MD-1", "A hydrant.", "", "hydrant-parking"),
        Law("MD-2", "Hydrant hydrant hydrant.", "", "fire-lane"),
        Law("MD-3", "Zebra crossing.", "", "crosswalk"),
        Law("MD-P1", "A hydrant form.", "", "permit", "process"),
    ],
    "OH": [
        Law("OH-1", "Hydrant painted.", "", "curb-color"),
        Law("OH-2", "Red light, red light.", "", "red-light"),
    ],
}
HYDRANT = pair("hydrant", text="hydrant", state="AL", expected=(("AL-1",),))
RED = pair("red", text="red light", state="AL", expected=(("AL-2",),), kind="paraphrase")
MOON = pair("moon", text="hydrant on the moon", state="AL", unrelated="lexical")


def run_of(laws: Mapping[str, Sequence[Law]], pairs: Sequence[Pair], **changes: object) -> Run:
    """These pairs over these laws, measured."""
    return evaluate(settings(**changes), laws, pairs, embed, "fake")


def at(grown: Sequence[Grown], state: str, size: int) -> Grown:
    """The one result of a state at a size."""
    (found,) = [each for each in grown if (each.state, each.grown_to) == (state, size)]
    return found


def recall(grown: Grown, stage: str, need: str) -> float:
    """The recall of a need's only pair at a stage."""
    frame = grown.measures
    (found,) = frame[(frame["stage"] == stage) & (frame["need"] == need)]["recall"]
    return float(found)


def test_others_join_in_an_order_drawn_from_their_texts() -> None:
    """By the text's hash, without page rows, whatever the order of states and files."""
    found = distractors(LAWS, "AL")
    assert sorted(law.id for law in found) == ["MD-1", "MD-2", "MD-3", "OH-1", "OH-2"]
    backwards = {state: laws[::-1] for state, laws in reversed(LAWS.items())}
    assert distractors(backwards, "AL") == found
    assert [law.id for law in found] != sorted(law.id for law in found)


@given(st.lists(st.text(max_size=4), unique=True, max_size=8), st.text(max_size=4))
def test_a_law_written_elsewhere_leaves_the_others_order(texts: list[str], new: str) -> None:
    """One more law in another state takes a place and moves none of the others past each other."""
    laws = [Law(f"MD-{at}", text) for at, text in enumerate(texts)]
    before = distractors({"AL": [], "MD": laws}, "AL")
    after = distractors({"AL": [], "MD": [Law("MD-new", new), *laws]}, "AL")
    assert [law for law in after if law.id != "MD-new"] == before


def test_an_id_is_taken_once() -> None:
    """What the state has under an id is that law; of two other states' laws the first state's in the alphabet is."""
    laws = {"AL": [Law("1", "own")], "MD": [Law("1", "other"), Law("2", "first")], "OH": [Law("2", "second")]}
    assert [law.law for law in distractors(laws, "AL")] == ["first"]
    assert [law.law for law in distractors(laws, "OH")] == ["own"]


def test_own_laws_alone_give_the_run() -> None:
    """Grown to no more than its own laws, a state has the run's recall, stages and bands to the last bit."""
    run = run_of(LAWS, [HYDRANT, RED, MOON], retrieved_laws=1)
    for size in (OWN, 1, 3):
        own = at(grow(run, embed, [size] if size else []), "AL", size)
        assert own.laws == 3
        columns = list(tables.measures(run).columns)
        expected = tables.measures(run).query("stage != 'answer'")
        pd.testing.assert_frame_equal(own.measures[columns], expected)
        assert own.points == tuple(bands.points(run))
        assert set(own.measures["left out"]) == {0}


def test_own_laws_win_ties_in_their_own_order() -> None:
    """Four laws of one wording, two of them the state's: the first of these is what one law asked for gives."""
    same = [Law(name, "Stop here.") for name in ("AL-1", "AL-2", "MD-1", "MD-2")]
    asked = pair("stop", text="stop", state="AL", expected=(("AL-1",),))
    laws = {
        "AL": [replace(law, concept="a") for law in same[:2]],
        "MD": [replace(law, concept="b") for law in same[2:]],
    }
    grown = grow(run_of(laws, [asked], retrieved_laws=1, near_laws=1), embed, [4])
    assert [recall(each, stage, "stop") for each in grown for stage in growth.STAGES] == [1] * 8


def test_a_law_of_another_concept_pushes_the_answer_out() -> None:
    """MD-2 has the word thrice and is shorter: asked for one law, the word search gives it instead of AL-1."""
    laws = {"AL": LAWS["AL"], "MD": [LAWS["MD"][1]]}
    grown = grow(run_of(laws, [HYDRANT], retrieved_laws=1), embed, [4])
    assert recall(at(grown, "AL", OWN), "words", "hydrant") == 1
    assert recall(at(grown, "AL", 4), "words", "hydrant") == 0


def test_a_law_of_the_expected_concept_is_taken_out() -> None:
    """The same law under the expected law's concept answers as well: it is in the corpus and never returned."""
    laws = {"AL": LAWS["AL"], "MD": [Law("MD-2", "Hydrant hydrant hydrant.", "", "hydrant-parking")]}
    grown = at(grow(run_of(laws, [HYDRANT, MOON], retrieved_laws=1), embed, [4]), "AL", 4)
    assert (grown.laws, recall(grown, "words", "hydrant")) == (4, 1)
    assert {point.law for point in grown.points if point.group == "nearest wrong"} <= {"AL-2", "AL-P1"}
    left_out = grown.measures.groupby("need")["left out"].unique()
    assert (left_out["hydrant"].tolist(), left_out["moon"].tolist()) == ([1], [0])  # nothing answers the moon


def test_concepts_that_answer_in_another_state_are_taken_out_too() -> None:
    """Maryland's answer to the same need stands under fire-lane: no law of that concept is a wrong one in Alabama."""
    in_md = pair("hydrant", text="hydrant", state="MD", expected=(("MD-1",),), accepted=("MD-2",))
    grown = at(grow(run_of(LAWS, [HYDRANT, in_md], retrieved_laws=1), embed, [8]), "AL", 8)
    returned = {point.law for point in grown.points}
    assert not returned & {"MD-1", "MD-2"}
    assert set(grown.measures["left out"]) == {2}


def test_the_real_size_is_told_where_others_run_out() -> None:
    """Asked for 6,000, Alabama has its three laws and the five that there are; asked for 4, one of them."""
    grown = grow(run_of(LAWS, [HYDRANT]), embed)
    assert [each.laws for each in grown if each.state == "AL"] == [3, 8, 8, 8]
    table = growth.recalls(grown)
    assert set(table[table["grown to"] == "6000"]["most laws"]) == {8}
    assert at(grow(run_of(LAWS, [HYDRANT]), embed, [4]), "AL", 4).laws == 4


def test_only_answerable_and_unrelated_pairs_are_asked() -> None:
    """A need that the state's laws do not answer may be answered by another's: it is left to the run."""
    teens = pair("teens", text="red", state="AL", expects="uncovered")
    grown = at(grow(run_of(LAWS, [HYDRANT, MOON, teens]), embed, [8]), "AL", 8)
    assert set(grown.measures["need"]) == {"hydrant", "moon"}
    assert {point.group for point in grown.points} == {"answering", "nearest wrong", "unrelated"}


def test_written_searches_and_families_act_as_in_the_run() -> None:
    """Searches are fused beside the question, and a family's page rows are the state's own."""
    asked = pair(
        "photo", text="zebra", state="AL", expected=(("AL-P1",), ("AL-2",)), searches=("red light",), family="permit"
    )
    run = run_of(LAWS, [asked], rephrase="written", near_laws=0)
    grown = at(grow(run, embed, [8]), "AL", 8)
    assert recall(grown, "fused", "photo") == 1
    assert recall(at(grow(run_of(LAWS, [asked], near_laws=0), embed, [8]), "AL", 8), "fused", "photo") == 0


def test_shuffled_states_and_others_files_change_nothing() -> None:
    """The same numbers whatever the order of states, of other states' laws and of the other states' pairs."""
    pairs = [HYDRANT, RED, MOON]
    one = grow(run_of(LAWS, pairs, retrieved_laws=1, candidate_laws=2), embed, [5, 8])
    shuffled = {"OH": LAWS["OH"][::-1], "MD": LAWS["MD"][::-1], "AL": LAWS["AL"]}
    other = grow(run_of(shuffled, pairs, retrieved_laws=1, candidate_laws=2), embed, [5, 8])
    pd.testing.assert_frame_equal(growth.recalls(one), growth.recalls(other))
    pd.testing.assert_frame_equal(growth.band_quantiles(one), growth.band_quantiles(other))


WORDS = ["hydrant", "park", "red", "light", "stop", "street", "zebra", "crossing"]
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)


@given(st.lists(SENTENCES, min_size=1, max_size=5), st.lists(SENTENCES, max_size=6), SENTENCES)
def test_what_growth_cannot_do_to_the_near_search(own: list[str], others: list[str], asked: str) -> None:
    """Answering cosines stay, the nearest wrong law never falls, recall of so many neighbours never rises."""
    laws = {
        "AL": [Law(f"AL-{at}", text, "", f"own-{at}") for at, text in enumerate(own)],
        "MD": [Law(f"MD-{at}", text, "", f"other-{at}") for at, text in enumerate(others)],
    }
    question = pair("need", text=asked, expected=(("AL-0",),))
    grown = grow(run_of(laws, [question], near_laws=2, near_enough={"fake": -1.0}), embed, [len(own) + 1, 99])
    steps = [at(grown, "AL", size) for size in (OWN, len(own) + 1, 99)]
    answering = [[point.cosine for point in each.points if point.group == "answering"] for each in steps]
    wrong = [[point.cosine for point in each.points if point.group == "nearest wrong"] for each in steps]
    assert answering[0] == answering[1] == answering[2] != []
    assert wrong == sorted(wrong)
    recalls = [recall(each, "near", "need") for each in steps]
    assert recalls == sorted(recalls, reverse=True)


@given(st.lists(SENTENCES, min_size=1, max_size=5), st.integers(0, 6), SENTENCES, st.integers(1, 5))
def test_laws_that_share_no_word_leave_the_word_search(own: list[str], others: int, asked: str, limit: int) -> None:
    """Asked for everything, recall stays; asked for a few, as many laws come back, none of them another's."""
    laws = {
        "AL": [Law(f"AL-{at}", text, "", f"own-{at}") for at, text in enumerate(own)],
        "MD": [Law(f"MD-{at}", f"{at}0000 {at}1111", "", f"{at}2222") for at in range(others)],
    }
    question = pair("need", text=asked, expected=(("AL-0",),))
    everything = run_of(laws, [question], near_laws=0, retrieved_laws=100)
    few = run_of(laws, [question], near_laws=0, retrieved_laws=limit)
    assert len({recall(each, "words", "need") for each in grow(everything, embed, [99]) if each.state == "AL"}) == 1
    returned = [each.measures["laws"].tolist() for each in grow(few, embed, [99]) if each.state == "AL"]
    assert returned[0] == returned[1]


def test_the_table_by_hand() -> None:
    """Of two pairs one is lost to MD-2 among the words of a corpus of four: 1 and 0.5, kinds apart, n beside them."""
    laws = {"AL": LAWS["AL"], "MD": [LAWS["MD"][1]]}
    table = growth.recalls(grow(run_of(laws, [HYDRANT, RED, MOON], retrieved_laws=1), embed, [4]))
    words = table[table["stage"] == "words"].set_index(["by", "group", "grown to"])
    found = {key: (row["pairs"], row["needs"], row["recall"], row["hit"]) for key, row in words.iterrows()}
    assert found == {
        ("all", "all", "own"): (2, 2, 1, 1),
        ("all", "all", "4"): (2, 2, 0.5, 0.5),
        ("state", "AL", "own"): (2, 2, 1, 1),
        ("state", "AL", "4"): (2, 2, 0.5, 0.5),
        ("kind", "paraphrase", "own"): (1, 1, 1, 1),
        ("kind", "paraphrase", "4"): (1, 1, 1, 1),
        ("kind", "plain", "own"): (1, 1, 1, 1),
        ("kind", "plain", "4"): (1, 1, 0, 0),
    }
    assert list(table["stage"].unique()) == list(growth.STAGES)


def test_bands_at_each_size() -> None:
    """Every band with its number of cosines, of all states and of each; bands without any have no row."""
    in_oh = pair("red", text="red light", state="OH", expected=(("OH-2",),))
    table = growth.band_quantiles(grow(run_of(LAWS, [HYDRANT, RED, MOON, in_oh]), embed, [8]))
    counts = table[table["band"] == "answering"].set_index(["group", "grown to"])["n"].to_dict()
    assert counts == {
        ("all", "own"): 3,
        ("all", "8"): 3,
        ("AL", "own"): 2,
        ("AL", "8"): 2,
        ("OH", "own"): 1,
        ("OH", "8"): 1,
    }
    assert "uncovered" not in set(table["band"])
    assert (table["0%"] <= table["100%"]).all()


def test_without_an_answerable_pair_the_table_is_empty() -> None:
    """No mean is made of nothing; the bands are those of the questions that were asked."""
    grown = grow(run_of(LAWS, [MOON]), embed, [8])
    assert growth.recalls(grown).empty
    assert set(growth.band_quantiles(grown)["band"]) == {"unrelated"}


@pytest.mark.parametrize("sizes", [(), (8,)])
def test_without_vectors_words_alone_grow(sizes: tuple[int, ...]) -> None:
    """A run without a model grows without one: no bands, and recall by words."""
    run = evaluate(settings(), LAWS, [HYDRANT], None, "none")
    grown = grow(run, None, sizes)
    assert recall(at(grown, "AL", OWN), "words", "hydrant") == 1
    assert growth.band_quantiles(grown).empty
