"""The baseline written and read back, its accepted losses over time, and every way in which one has been broken."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evals.baseline import Baseline, new_summary, still_lost
from evals.baseline_files import history, is_recorded, read_baseline, write_baseline
from evals.compare import compare
from evals.outcomes import Side, outcomes
from retrieval.errors import InputError
from tests import sides
from tests.sides import outcome, side


def record(folder: Path, recorded: Side, why: str = "because", date: str = "2026-11-29") -> Baseline:
    """A side recorded as the command does it, and read back."""
    before = read_baseline(folder) if folder.exists() else None
    comparison = compare(before.outcomes, recorded.outcomes) if before else None
    summary = new_summary(recorded, before, why, date)
    past = history(folder.parent / "history.csv", summary, comparison)
    write_baseline(folder, recorded, summary)
    (folder.parent / "history.csv").write_text(past)
    return read_baseline(folder)


SIDE = side(
    outcome("a/p", expected=["MD-1", ("MD-2", "MD-3")], pool=["MD-9", "MD-1"], answer=[], cosine=0.81234),
    outcome("b/p", "AL", expected=["AL-4"], pool=[], cosine=None, kind="spanish", language="es"),
    outcome("moon/p", expected=[], near_laws=3),
    outcome("teens/p", expected=[], near_laws=8, expects="uncovered"),
)


def test_the_files_by_hand(tmp_path: Path) -> None:
    """A line a pair: what was expected, and a 1 for each group that arrived; how narrowly stands in its own file."""
    record(tmp_path / "baseline", SIDE)
    assert (tmp_path / "baseline" / "outcomes.csv").read_text() == (
        "question,state,kind,language,expects,near laws,expected,pool,answer\n"
        "a/p,MD,plain,en,answerable,0,MD-1 MD-2|MD-3,1 0,0 0\n"
        "b/p,AL,spanish,es,answerable,0,AL-4,0,0\n"
        "moon/p,MD,plain,en,unrelated,3,,,\n"
        "teens/p,MD,plain,en,uncovered,8,,,\n"
    )
    assert (tmp_path / "baseline" / "margins.csv").read_text() == (
        "question,state,pool laws,places,cosines\na/p,MD,24,2 -,0.8123 0.8123\nb/p,AL,24,-,-\n"
    )
    assert json.loads((tmp_path / "baseline" / "baseline.json").read_text()) == {
        "format": 1,
        "why": "because",
        "date": "2026-11-29",
        "fingerprints": {"laws": "l", "questions": "q", "settings": "s", "model": "fake (1)"},
        "settings": {"embedder": "fake", "near_enough": {"fake": 0.3}},
        "cutoff": 0.3,
        "pairs": 4,
        "recall": {
            "all": {"pool": 0.25, "answer": 0.0},
            "kind plain": {"pool": 0.5, "answer": 0.0},
            "kind spanish": {"pool": 0.0, "answer": 0.0},
            "language en": {"pool": 0.5, "answer": 0.0},
            "language es": {"pool": 0.0, "answer": 0.0},
            "state AL": {"pool": 0.0, "answer": 0.0},
            "state MD": {"pool": 0.5, "answer": 0.0},
        },
        "searches": {"words": 0.0, "near": 0.0, "fused": 0.0},
        "near_laws_of_expect_nothing": {"unrelated": 3, "uncovered": 8},
        "accepted_losses": [],
    }


def test_a_run_is_read_back_as_it_was(tmp_path: Path) -> None:
    """What the gate reads of a baseline is what the run gave for the pool and the answer."""
    run = sides.run()
    found = record(tmp_path / "baseline", Side.of(run)).outcomes
    assert list(found) == list(outcomes(run))
    for key, each in outcomes(run).items():
        assert (found[key].kind, found[key].expects, found[key].near_laws) == (each.kind, each.expects, each.near_laws)
        for one, other in zip(found[key].groups, each.groups, strict=True):
            assert (one.laws, one.place) == (other.laws, other.place)
            assert one.reached == {stage: other.reached[stage] for stage in ("pool", "answer")}
            assert one.cosine == pytest.approx(other.cosine, abs=5e-5)


def test_recall_is_null_where_nothing_is_expected(tmp_path: Path) -> None:
    """Missing recall is never 0: a kind of questions that expect no law has none."""
    recall = record(tmp_path / "baseline", side(outcome(expected=[], kind="typo"), outcome("b/p"))).summary.recall
    assert (recall["kind typo"]["pool"], recall["kind plain"]["pool"]) == (None, 1.0)


def test_ids_with_the_signs_of_the_table(tmp_path: Path) -> None:
    """An id may hold a bar or a percent sign, a question any sign that a table uses."""
    odd = outcome('a"b/p, q', expected=[("x|y", "%7C"), "z"], pool=["x|y"])
    found = record(tmp_path / "baseline", side(odd)).outcomes
    ((key, each),) = found.items()
    assert key == ('a"b/p, q', "MD")
    assert [group.laws for group in each.groups] == [("x|y", "%7C"), ("z",)]


def test_accepted_losses_stay_until_they_are_won_back(tmp_path: Path) -> None:
    """A loss is named with the reason of its day, keeps it over later baselines, and goes when the law arrives."""
    folder = tmp_path / "baseline"
    both = [outcome("a/p", expected=["MD-1"], pool=["MD-1"]), outcome("b/p", expected=["MD-2"], pool=["MD-2"])]
    record(folder, side(*both), "the first")
    without_a = side(outcome("a/p", expected=["MD-1"], pool=["MD-8"]), both[1])
    lost = record(folder, without_a, "fewer laws to read").summary.accepted_losses
    assert [each.model_dump() for each in lost] == [
        {"question": "a/p", "state": "MD", "expected": ("MD-1",), "stage": stage, "why": "fewer laws to read"}
        for stage in ("answer", "pool")
    ]
    neither = side(without_a.outcomes["a/p", "MD"], outcome("b/p", expected=["MD-2"], pool=["MD-2"], answer=[]))
    lost = record(folder, neither, "a second reason").summary.accepted_losses
    assert [(each.question, each.stage, each.why) for each in lost] == [
        ("a/p", "answer", "fewer laws to read"),
        ("a/p", "pool", "fewer laws to read"),
        ("b/p", "answer", "a second reason"),
    ]
    won = side(outcome("a/p", expected=["MD-1"], pool=["MD-1"], answer=[]), neither.outcomes["b/p", "MD"])
    assert [(each.question, each.stage) for each in still_lost(read_baseline(folder), won.outcomes)] == [
        ("a/p", "answer"),
        ("b/p", "answer"),
    ]
    lost = record(folder, won, "won a little").summary.accepted_losses
    assert [(each.question, each.stage) for each in lost] == [("a/p", "answer"), ("b/p", "answer")]


def test_a_loss_that_nobody_expects_any_more_is_over(tmp_path: Path) -> None:
    """It is neither accepted anew nor kept."""
    folder = tmp_path / "baseline"
    record(folder, side(outcome("a/p", expected=["MD-1"], pool=["MD-1"])))
    assert record(folder, side(outcome("a/p", expected=["MD-1"], pool=[]))).summary.accepted_losses
    assert not record(folder, side(outcome("a/p", expected=["MD-2"], pool=[]))).summary.accepted_losses
    record(folder, side(outcome("a/p", expected=["MD-2"], pool=["MD-2"])))
    assert not record(folder, side(outcome("a/p", expected=["MD-3"], pool=["MD-3"]))).summary.accepted_losses


def test_the_history_grows_by_a_line(tmp_path: Path) -> None:
    """A line for each baseline: when, why, the means, and what was lost and gained against the one before."""
    folder = tmp_path / "baseline"
    record(folder, side(outcome("a/p"), outcome("b/p", pool=[])), "the first, of many", "2026-11-29")
    record(folder, side(outcome("a/p", pool=[]), outcome("b/p"), laws="m"), "a swap", "2026-12-01")
    rows = list(csv.DictReader((tmp_path / "history.csv").read_text().splitlines()))
    assert [(row["date"], row["why"], row["lost"], row["gained"]) for row in rows] == [
        ("2026-11-29", "the first, of many", "", ""),
        ("2026-12-01", "a swap", "1", "1"),
    ]
    assert [row["recall of the pool"] for row in rows] == ["0.5", "0.5"]
    assert [(row["laws"], row["questions"], row["settings"], row["model"]) for row in rows] == [
        ("l", "q", "s", "fake (1)"),
        ("m", "q", "s", "fake (1)"),
    ]


def test_a_history_of_another_form_is_not_written_to(tmp_path: Path) -> None:
    """It is refused, with what was expected."""
    (tmp_path / "history.csv").write_text("when,why\n")
    with pytest.raises(InputError, match=r"history\.csv:1: expected the columns date, why"):
        history(tmp_path / "history.csv", new_summary(SIDE, None, "because", "2026-11-29"), None)


def test_the_same_run_writes_the_same_bytes(tmp_path: Path) -> None:
    """Whatever the order of the outcomes."""
    for name, recorded in (("one", SIDE), ("two", side(*reversed(list(SIDE.outcomes.values()))))):
        record(tmp_path / name / "baseline", recorded)
    files = ("outcomes.csv", "margins.csv", "baseline.json", "../history.csv")
    assert [(tmp_path / "one" / "baseline" / name).read_bytes() for name in files] == [
        (tmp_path / "two" / "baseline" / name).read_bytes() for name in files
    ]


def replacing(name: str, old: str, new: str) -> Callable[[Path], None]:
    """A fault: one text of a file replaced."""

    def plant(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))

    return plant


def without(name: str) -> Callable[[Path], None]:
    """A fault: a file removed."""
    return lambda folder: (folder / name).unlink()


def holding(name: str, content: bytes) -> Callable[[Path], None]:
    """A fault: other content."""

    def plant(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return plant


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (without("baseline.json"), "baseline.json: cannot be read: No such file"),
        (without("outcomes.csv"), "outcomes.csv: cannot be read: No such file"),
        (without("margins.csv"), "margins.csv: cannot be read: No such file"),
        (holding("baseline.json", b""), "baseline.json: not a baseline: Expecting value"),
        (holding("outcomes.csv", b""), "outcomes.csv:1: expected the columns question, state"),
        (holding("margins.csv", b""), "margins.csv:1: expected the columns question, state"),
        (holding("baseline.json", b"\xff"), "baseline.json:1: not UTF-8"),
        (holding("outcomes.csv", b"\xff"), "outcomes.csv:1: not UTF-8"),
        (holding("baseline.json", b"[]"), "format null, and this version reads format 1"),
        (holding("baseline.json", b"<<<<<<< HEAD\n{}"), "not a baseline"),
        (replacing("baseline.json", '"format": 1', '"format": 2'), "format 2, and this version reads format 1"),
        (replacing("baseline.json", '"pool": 0.25', '"pool": NaN'), "NaN is not JSON"),
        (replacing("baseline.json", '"pool": 0.25', '"pool": "high"'), "`recall.all.pool`"),
        (replacing("baseline.json", '"pool": 0.25', '"pool": 1e999'), "1e999 is too large a number"),
        (replacing("baseline.json", '"pool": 0.25', '"pool": null'), "its means are not those of outcomes.csv"),
        (replacing("baseline.json", '"pool": 0.25', '"pool": 0.35'), "its means are not those of outcomes.csv"),
        (replacing("baseline.json", '"unrelated": 3', '"unrelated": 99'), "its means are not those of outcomes.csv"),
        (replacing("baseline.json", '"cutoff": 0.3', '"cutoff": NaN'), "NaN is not JSON"),
        (
            replacing("baseline.json", '"model": "fake (1)"', '"modle": "fake (1)"'),
            "`fingerprints`: expected `model` among them",
        ),
        (replacing("baseline.json", '"why": "because"', '"why": ""'), "`why`"),
        (replacing("baseline.json", '"near": 0.0', '"near": NaN'), "NaN is not JSON"),
        (replacing("baseline.json", '"near": 0.0', '"far": 0.0'), "`searches`"),
        (replacing("outcomes.csv", "moon/p,MD,plain,en,unrelated,3,,,\n", ""), "its means are not those"),
        (replacing("outcomes.csv", "1 0,0 0", "1 nan,0 0"), "outcomes.csv:2: expected 1 for a group that arrived"),
        (
            replacing("outcomes.csv", "1 0,0 0", "1,0 0"),
            "outcomes.csv:2: a/p in MD: expected pool, answer and, in margins.csv",
        ),
        (
            replacing("outcomes.csv", "unrelated,3", "unrelated,NaN"),
            "outcomes.csv:4: expected a whole number, found NaN",
        ),
        (replacing("outcomes.csv", "unrelated,3", "unrelated,-3"), "outcomes.csv:4: expected a whole number, found -3"),
        (
            replacing("outcomes.csv", "unrelated,3", "unrelated,"),
            "outcomes.csv:4: expected a whole number, found nothing",
        ),
        (replacing("outcomes.csv", "unrelated,3,,,", "unrelated,3"), "outcomes.csv:4: expected 9 values, found 6"),
        (replacing("outcomes.csv", "b/p,AL", "a/p,MD"), "outcomes.csv:3: a/p in MD stands here twice"),
        (replacing("outcomes.csv", "b/p,AL", '"b/p,AL'), "outcomes.csv: not a table"),
        (replacing("margins.csv", "0.8123", "nan"), "margins.csv:2: expected a cosine, found nan"),
        (replacing("margins.csv", "0.8123", "inf"), "margins.csv:2: expected a cosine, found inf"),
        (replacing("margins.csv", "2 -", "0.5 -"), "margins.csv:2: expected a whole number, found 0.5"),
        (
            replacing("margins.csv", "b/p,AL,24,-,-\n", ""),
            "outcomes.csv:3: b/p in AL: expected pool, answer and, in margins.csv",
        ),
        (replacing("margins.csv", "b/p,AL", "a/p,MD"), "margins.csv:3: a/p in MD stands here twice"),
        (
            replacing("outcomes.csv", "b/p,AL,spanish,es,answerable,0,AL-4,0,0\n", ""),
            "b/p in AL is not in outcomes.csv",
        ),
    ],
)
def test_a_broken_baseline_is_refused(tmp_path: Path, plant: Callable[[Path], None], said: str) -> None:
    """Missing, empty, unreadable, not a number, cut off or edited by hand: told with the file and the line."""
    record(tmp_path / "baseline", SIDE)
    plant(tmp_path / "baseline")
    with pytest.raises(InputError) as refused:
        read_baseline(tmp_path / "baseline")
    assert said in str(refused.value)


def test_a_baseline_without_the_searches(tmp_path: Path) -> None:
    """What is shown and not judged may be missing: it is none, not 0, and the rest is read."""
    record(tmp_path / "baseline", SIDE)
    path = tmp_path / "baseline" / "baseline.json"
    content = json.loads(path.read_text())
    del content["searches"]
    path.write_text(json.dumps(content))
    assert read_baseline(tmp_path / "baseline").summary.searches == {"words": None, "near": None, "fused": None}


def test_no_baseline_is_told_apart_from_a_broken_one(tmp_path: Path) -> None:
    """A folder that is not there or holds nothing has no baseline; any file in it is one, readable or not."""
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "nowhere"):
        assert not is_recorded(folder)
        with pytest.raises(InputError, match=r"no baseline here; record one: near-enough baseline --why"):
            read_baseline(folder)
    (tmp_path / "empty" / "outcomes.csv").touch()
    assert is_recorded(tmp_path / "empty")


def test_the_faults_of_all_files_together(tmp_path: Path) -> None:
    """One reading tells everything that is wrong."""
    record(tmp_path / "baseline", SIDE)
    replacing("baseline.json", '"pairs": 4', '"pairs": "four"')(tmp_path / "baseline")
    replacing("outcomes.csv", "unrelated,3", "unrelated,x")(tmp_path / "baseline")
    replacing("margins.csv", "0.8123", "y")(tmp_path / "baseline")
    with pytest.raises(InputError) as refused:
        read_baseline(tmp_path / "baseline")
    assert [Path(fault.file).name for fault in refused.value.faults] == [
        "baseline.json",
        "margins.csv",
        "outcomes.csv",
    ]


def test_a_baseline_of_some_states(tmp_path: Path) -> None:
    """Narrowed to the states that a comparison looks at."""
    found = record(tmp_path / "baseline", SIDE)
    assert list(found.only(["AL"]).outcomes) == [("b/p", "AL")]


def test_a_place_beyond_what_was_asked_for(tmp_path: Path) -> None:
    """Page rows stand beside the pool: their place is past its size, and is read back."""
    rows = replace(outcome(expected=["MD-P"], pool=["MD-1", "MD-2", "MD-P"]), pool_laws=2)
    (found,) = record(tmp_path / "baseline", side(rows)).outcomes.values()
    assert (found.groups[0].place, found.pool_laws) == (3, 2)
