"""What each pair got, from a run and read back: by hand, and every line that is none."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evals.outcomes import Group, Side, outcomes, read_outcomes, read_side, written
from retrieval.documents import strict_json
from retrieval.errors import InputError
from retrieval.vectors import VectorIndex
from tests import fakes, sides

RUN = sides.run()


def test_outcomes_by_hand() -> None:
    """A pair's groups with the stages that reached them, the best place in the pool and the best cosine."""
    found = outcomes(RUN)
    assert list(found) == sorted(found)
    crosswalk = found["cross/plain", "MD"]
    (group,) = crosswalk.groups
    assert group.laws == ("MD-2", "MD-3")
    assert group.reached == dict.fromkeys(["words", "near", "fused", "pool", "answer"], True)
    assert (group.place, crosswalk.pool_laws, crosswalk.need) == (1, 24, "cross")
    assert (crosswalk.file, crosswalk.line, crosswalk.outcome) == ("questions/parking.yaml", 12, "off")
    law = next(law for law in fakes.CORPUS["MD"] if law.id == "MD-2")
    index = VectorIndex(["MD-2"], fakes.embed("passage", [f"{law.law} {law.question}"]))
    assert group.cosine == index.cosines(fakes.embed("query", [crosswalk.text]))[0, 0]


def test_nothing_expected_nothing_missing() -> None:
    """A question that no law answers has no groups; what the near search returned to it is kept."""
    moon = outcomes(RUN)["moon/speed", "MD"]
    trace = next(each.trace for each in RUN.pairs if each.pair.question == "moon/speed" and each.pair.state == "MD")
    assert (moon.expects, moon.groups, moon.near_laws) == ("unrelated", (), len(trace.near))


def test_a_law_without_a_vector_has_no_cosine() -> None:
    """Missing stays missing: no cosine and no place, never 0."""
    empty = outcomes(sides.run([sides.pair("empty/plain", "AL", "what", "AL-4")]))["empty/plain", "AL"]
    assert empty.groups == (Group(("AL-4",), dict.fromkeys(empty.stages, False), None, None),)


@pytest.mark.parametrize("rephrase", ["off", "written"])
def test_the_pool_a_pair_was_asked_for(rephrase: str) -> None:
    """With searches fused the pair's pool is the larger one, and the searches are kept."""
    pairs = [sides.pair("hydrant/plain", "MD", "a hydrant", "MD-1", searches=("parking near a hydrant",))]
    found = outcomes(sides.run(pairs, rephrase=rephrase, candidate_laws=2, searched_candidate_laws=3))
    each = found["hydrant/plain", "MD"]
    assert (each.pool_laws, each.searches) == ((2, ()) if rephrase == "off" else (3, ("parking near a hydrant",)))


@pytest.mark.parametrize(
    ("how", "fell_back"),
    [("off", False), ("ranked", False), ("none named", False), ("empty pool", False), ("timed out", True)],
)
def test_what_counts_as_a_fallback(how: str, fell_back: bool) -> None:
    """A reranker that named nothing answered; one that had nothing to read was not asked; any cause is a fallback."""
    assert sides.outcome(outcome=how).fell_back is fell_back


def test_an_outcome_sees_groups_that_it_does_not_expect() -> None:
    """An older label is looked for in what was returned; a side that kept nothing cannot tell."""
    now = sides.outcome(expected=["MD-1"], pool=["MD-2", "MD-3", "MD-1"], answer=["MD-2"])
    old = sides.outcome(expected=[("MD-3", "MD-9")], pool=["MD-3"]).groups[0]
    seen = now.sees(old)
    assert seen is not None
    assert (seen.laws, seen.place, seen.cosine) == (("MD-3", "MD-9"), 2, None)
    assert (seen.reached["pool"], seen.reached["answer"]) == (True, False)
    assert now.sees(now.groups[0]) is now.groups[0]
    reordered = Group(("b", "a"), {"pool": True}, 1, None)
    assert sides.outcome(expected=[("a", "b")], stages={}).sees(reordered) is not None
    assert sides.outcome(stages={}).sees(old) is None


def test_written_outcomes_are_read_back(tmp_path: Path) -> None:
    """A line of per_question.jsonl holds the outcome, all but its place in the question set; other fields pass."""
    path = tmp_path / "per_question.jsonl"
    found = outcomes(RUN)
    path.write_text("".join(strict_json({**written(each), "tags": []}) + "\n" for each in found.values()))
    read = read_outcomes(path)
    assert list(read) == list(found)
    assert [written(each) for each in read.values()] == [written(each) for each in found.values()]


def test_what_became_of_the_rephraser_is_kept(tmp_path: Path) -> None:
    """Its failure is written and read back by its cause; an older file, without the field, holds none."""
    (failed, *rest) = RUN.pairs
    found = outcomes(replace(RUN, pairs=(replace(failed, rephrase="refused"), *rest)))
    path = tmp_path / "per_question.jsonl"
    path.write_text("".join(strict_json(written(each)) + "\n" for each in found.values()))
    read = read_outcomes(path)
    key = failed.pair.question, failed.pair.state
    assert {each.key: each.rephrase for each in read.values() if each.rephrase != "off"} == {key: "refused"}
    assert [each.key for each in read.values() if each.unrephrased] == [key]
    path.write_text(line(rephrase=None))
    assert [(each.rephrase, each.unrephrased) for each in read_outcomes(path).values()] == [("off", False)]


def line(**changes: object) -> str:
    """A line of per_question.jsonl with something changed; None takes a field out."""
    row = {**written(sides.outcome()), **changes}
    return json.dumps({name: value for name, value in row.items() if value is not None})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no outcome of any question here"),
        ("nonsense", "1: not JSON"),
        (line(question="hydrant"), "1: `question`: expected a need and an ask, with a slash between, found"),
        (line(cosines=[float("nan")]), "1: NaN is not JSON"),
        (line(cosines=[7]), "1: `cosines.0`"),
        (line(cosines=[]), "1: 1 expected groups and 0 cosines"),
        (line(expected=[[]]), "1: `expected.0`"),
        (line(stages={"rerank": []}), "1: expected some of the stages words, near, fused, pool, answer, found rerank"),
        (line(**{"near laws": -1}), "1: `near laws`"),
        (line(outcome=None), "1: `outcome` is missing"),
        (line(rephrase=1), "1: `rephrase`"),
        (line() + "\n" + line(), "2: hydrant/plain in MD stands here twice"),
        (
            line() + "\n" + line(question="a/b", stages={"pool": ["MD-1"]}),
            "2: expected the stages words, near, fused, pool, answer, as in the lines before, found pool",
        ),
    ],
)
def test_lines_that_are_no_outcome(tmp_path: Path, text: str, said: str) -> None:
    """Each is refused with its line and what was expected."""
    path = tmp_path / "per_question.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_outcomes(path)
    (fault,) = refused.value.faults
    assert str(fault).startswith(f"{path}:") and said in str(fault)


PRINTS = {"fingerprints": {"model": "m"}, "verdict": ""}


def write_report(folder: Path, summary: object) -> None:
    """The two files of a report that a comparison reads."""
    folder.mkdir(exist_ok=True)
    (folder / "run.json").write_text(json.dumps(summary), encoding="utf-8")
    (folder / "per_question.jsonl").write_text(line(), encoding="utf-8")


def test_a_side_from_a_report(tmp_path: Path) -> None:
    """Settings, fingerprints, the cutoff of the model in use, and the sentence about the bands."""
    settings = {"embedder": "fake", "near_enough": {"other": 0.9, "fake": 0.4}}
    write_report(tmp_path, {"settings": settings, "fingerprints": {"model": "m"}, "verdict": "said", "more": 1})
    side = read_side(tmp_path)
    assert isinstance(side, Side)
    assert (side.cutoff, side.bands, side.settings, side.fingerprints) == (0.4, "said", settings, {"model": "m"})
    assert list(side.outcomes) == [("hydrant/plain", "MD")]


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ([], "expected names with values"),
        ({"settings": {}, **PRINTS}, "`settings.near_enough`: expected the cutoff of the embedder"),
        ({"settings": {"embedder": "a", "near_enough": {}}, **PRINTS}, "`settings.near_enough`: expected the cutoff"),
        ({"settings": {"embedder": "a", "near_enough": {"a": "high"}}, **PRINTS}, 'from -1 to 1, found "high"'),
        ({"settings": {"embedder": "a", "near_enough": None}, **PRINTS}, "from -1 to 1, found null"),
        ({"settings": {}, "fingerprints": {"laws": "l"}, "verdict": ""}, "`fingerprints`: expected `model` among them"),
    ],
)
def test_a_report_without_what_is_needed(tmp_path: Path, summary: object, said: str) -> None:
    """A summary that names no cutoff or no model, or is none, is refused by name."""
    write_report(tmp_path, summary)
    with pytest.raises(InputError) as refused:
        read_side(tmp_path)
    (fault,) = refused.value.faults
    assert str(fault).startswith(f"{tmp_path / 'run.json'}: not a run's summary: ") and said in str(fault)


def test_a_folder_without_a_report(tmp_path: Path) -> None:
    """It is told how a report is made."""
    with pytest.raises(InputError, match="no report of a run here: `near-enough eval --out` writes one"):
        read_side(tmp_path)
