"""Labelling by hand: what is shown and in which order, what is kept after each key, what the set reads, two judges."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score

from evals.commands.judge import judge_command
from evals.judge.judging import (
    DEPTH,
    GRADES,
    Item,
    agreement,
    finished,
    read_judgements,
    returned_by,
    shares,
    tasks,
    write_judgements,
)
from evals.judge.labels import listed_pairs, needs_yaml, refuse_others
from evals.questions import Pair, load_questions
from evals.run import evaluate
from retrieval import Law, models, recordings
from retrieval.errors import InputError
from tests import fakes

LAWS = {"AL": [f"L{at}" for at in range(30)], "MD": [f"M{at}" for at in range(30)]}
PLAIN = fakes.pair("hydrant", state="AL", expected=(("L1", "L2"), ("L3",)), accepted=("L4",))
SPANISH = replace(PLAIN, ask="spanish", text="¿un hidrante?", kind="spanish", lang="es")


def by(laws: Sequence[str], *pairs: Pair) -> dict[tuple[str, str], Sequence[str]]:
    """A method that returns these laws for these pairs."""
    return {(pair.question, pair.state): laws for pair in pairs}


def test_the_pool_is_the_first_eight_of_every_method_and_what_the_set_names() -> None:
    """For all asks of a need together, each law once."""
    methods = {"one": by(LAWS["AL"][10:20], PLAIN), "other": by(["L0", "L10"], SPANISH)}
    (task,) = tasks([PLAIN, SPANISH], methods, "alice")
    assert (task.need, task.state, task.pairs) == ("hydrant", "AL", (PLAIN, SPANISH))
    assert sorted(task.laws) == sorted(["L0", "L1", "L2", "L3", "L4", *LAWS["AL"][10 : 10 + DEPTH]])


def test_the_order_tells_neither_rank_nor_method_and_is_the_judges_own() -> None:
    """It follows from judge, need, state and law: neither ranks nor another law in the pool move it."""
    forwards, backwards = by(LAWS["AL"][:8], PLAIN), by(LAWS["AL"][7::-1], PLAIN)
    (one,), (same,) = (tasks([PLAIN], {"words": returned}, "alice") for returned in (forwards, backwards))
    assert one.laws == same.laws
    (bob,) = tasks([PLAIN], {"words": forwards}, "bob")
    assert one.laws != bob.laws
    assert set(one.laws) == set(bob.laws)
    (more,) = tasks([PLAIN], {"words": forwards, "near": by(["L20"], PLAIN)}, "alice")
    assert [law for law in more.laws if law != "L20"] == list(one.laws)
    # printf "alice\0hydrant\0AL\0L5" | sha256sum, and so on: the same on every machine.
    assert one.laws == ("L5", "L6", "L4", "L3", "L0", "L1", "L7", "L2")


def test_the_methods_of_a_run() -> None:
    """Words, near before any cutoff, and fused under it, each at most eight laws."""
    laws = [Law(f"AL-{at}", f"stop number {at}") for at in range(12)]
    pair = fakes.pair(state="AL", text="stop number 3")
    run = evaluate(fakes.settings(near_enough={"fake": 1.0}, near_laws=2), {"AL": laws}, [pair], fakes.embed, "fake")
    found = {method: returned[pair.question, "AL"] for method, returned in returned_by(run).items()}
    assert list(found) == ["words", "near, fake", "fused, fake"]
    assert [len(found[method]) for method in found] == [8, 8, 8]
    assert found["words"][0] == "AL-3"
    assert list(found["fused, fake"]) == list(run.pairs[0].trace.fused)
    searched = evaluate(fakes.settings(rephrase="written"), {"AL": laws}, [pair], fakes.embed, "fake")
    assert list(returned_by(searched)) == ["words", "near, fake", "fused with searches, fake"]


def test_shares_count_what_was_returned_and_judged() -> None:
    """Over the first eight laws of every question; a law returned for two asks counts twice."""
    judged = {Item("hydrant", "AL", "L0"): "no", Item("other", "AL", "L1"): "no"}
    methods = {"words": by(["L0", "L1"], PLAIN, SPANISH), "near": by([f"L{at}" for at in range(20)], PLAIN), "none": {}}
    found = [(share.method, share.judged, share.returned) for share in shares([PLAIN, SPANISH], methods, judged)]
    assert found == [("words", 2, 4), ("near", 1, 8), ("none", 0, 0)]


grades = st.lists(st.tuples(st.sampled_from(GRADES), st.sampled_from(GRADES)), min_size=1, max_size=30)


@given(grades)
def test_kappa_is_sklearns(pairs: list[tuple[str, str]]) -> None:
    """Over three grades and over answers or not; None where scikit-learn would divide by zero."""
    items = [Item("n", "AL", str(at)) for at in range(len(pairs))]
    one, other = ({item: pair[side] for item, pair in zip(items, pairs, strict=True)} for side in (0, 1))
    found = agreement(one, {**other, Item("n", "AL", "unshared"): "no"})
    binary = [tuple(grade == "answers" for grade in pair) for pair in pairs]
    for ours, rated in ((found.kappa, pairs), (found.kappa_answers, binary)):
        if len({grade for pair in rated for grade in pair}) == 1:
            assert ours is None
        else:
            firsts, seconds = zip(*rated, strict=True)
            assert ours == pytest.approx(cohen_kappa_score(firsts, seconds), abs=1e-12)
    assert len(found.disagreements) == sum(first != second for first, second in pairs)


def test_kappa_by_hand() -> None:
    """Four laws, three agreed on: (3/4 - 1/2) / (1 - 1/2) = 1/2. Nothing in common: none."""
    items = [Item("n", "MD", law) for law in "abcd"]
    one = dict(zip(items, ["answers", "answers", "no", "no"], strict=True))
    other = dict(zip(items, ["answers", "no", "no", "no"], strict=True))
    assert agreement(one, other).kappa == 0.5
    assert agreement(one, {}).kappa is None


def labels(task_pairs: list[Pair], answering: set[str], tmp_path: Path) -> list[Pair]:
    """The pairs that the set reads from what a judge said, where these laws answer and no other does."""
    todo = tasks(task_pairs, {"words": by(["L0", "L9"], *task_pairs)}, "alice")
    judged = {item: "answers" if item.law in answering else "sibling" for task in todo for item in task.items()}
    (tmp_path / "needs.yaml").write_text(needs_yaml(todo, judged), encoding="utf-8")
    family = Law("P1", "", concept="permit-application", kind="process")
    return load_questions(tmp_path, {state: [*(Law(law, "") for law in laws), family] for state, laws in LAWS.items()})


def test_labels_are_read_by_the_set_and_keep_its_groups(tmp_path: Path) -> None:
    """Groups keep what answers, what else answers is accepted, and all else of the need comes through."""
    pairs = [
        replace(pair, tags=("x",), searches=("a search",), family="permit-application") for pair in (PLAIN, SPANISH)
    ]
    found = labels(pairs, {"L2", "L3", "L9"}, tmp_path)
    assert [(pair.expected, pair.accepted) for pair in found] == [((("L2",), ("L3",)), ("L9",))] * 2
    kept = [replace(each, expected=(), accepted=(), file="", line=0, topic="") for each in found]
    assert kept == [replace(each, expected=(), accepted=(), file="", line=0, topic="") for each in pairs]


@pytest.mark.parametrize(
    ("pair", "answering", "expects", "expected"),
    [
        (PLAIN, {"L4", "L9"}, "answerable", (("L4", "L9"),)),
        (PLAIN, set(), "uncovered", ()),
        (fakes.pair("moon", state="AL", unrelated="lexical"), {"L0"}, "answerable", (("L0",),)),
        (fakes.pair("moon", state="AL", unrelated="lexical"), set(), "unrelated", ()),
        (fakes.pair("NO", state="AL", text="see § 12 # note: 'x' \"y\""), {"L0"}, "answerable", (("L0",),)),
    ],
)
def test_labels_where_no_group_is_left(
    pair: Pair, answering: set[str], expects: str, expected: tuple[tuple[str, ...], ...], tmp_path: Path
) -> None:
    """All that answer are one group; a need without an answer is uncovered, or stays unrelated; texts survive YAML."""
    found = next(each for each in labels([pair], answering, tmp_path) if each.state == "AL")
    assert (found.need, found.text, found.expects, found.expected) == (pair.need, pair.text, expects, expected)


def test_an_ask_of_one_state_stays_there(tmp_path: Path) -> None:
    """Asks that are not put everywhere name their states."""
    elsewhere = replace(PLAIN, state="MD", expected=(("M1",),), accepted=())
    todo = tasks([PLAIN, SPANISH, elsewhere], {}, "alice")
    judged = {item: "answers" for task in todo for item in task.items()}
    (tmp_path / "needs.yaml").write_text(needs_yaml(todo, judged), encoding="utf-8")
    found = load_questions(tmp_path, {state: [Law(law, "") for law in laws] for state, laws in LAWS.items()})
    assert [(pair.state, pair.ask) for pair in found] == [("AL", "plain"), ("AL", "spanish"), ("MD", "plain")]


def test_a_list_of_questions(tmp_path: Path) -> None:
    """One a line; blank lines and repeats are left out, and an id does not depend on the other lines."""
    path = tmp_path / "log.txt"
    path.write_text("How far from a hydrant?\n\n  how  far from a hydrant?\n¿Y aquí?\n", encoding="utf-8")
    pairs = listed_pairs(path, ["AL", "MD"])
    assert [(pair.state, pair.text, pair.line) for pair in pairs[:3]] == [
        ("AL", "How far from a hydrant?", 1),
        ("MD", "How far from a hydrant?", 1),
        ("AL", "¿Y aquí?", 4),
    ]
    assert pairs[0].need == pairs[1].need
    assert pairs[0].need.startswith("how-far-from-a-hydrant-")
    path.write_text("¿Y aquí?\nHow far from a hydrant?\n", encoding="utf-8")
    assert {pair.need for pair in listed_pairs(path, ["AL"])} == {pair.need for pair in pairs}
    path.write_text("\n \n", encoding="utf-8")
    with pytest.raises(InputError, match="no question here"):
        listed_pairs(path, ["AL"])


def test_judgements_are_read_back_and_bad_lines_are_told(tmp_path: Path) -> None:
    """What was written comes back in its order; every line that is no judgement is named."""
    judged = {Item("n", "AL", law): grade for law, grade in zip("cab", GRADES, strict=True)}
    write_judgements(tmp_path, judged)
    assert list(read_judgements(tmp_path).items()) == list(judged.items())
    assert read_judgements(tmp_path / "nobody") == {}
    with (tmp_path / "judgements.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"need": "n", "state": "AL", "law": "c", "grade": "no"}\n{"need": "n"}\n')
        file.write('{"need": "n", "state": "AL", "law": "d", "grade": "maybe"}\n')
    with pytest.raises(InputError) as error:
        read_judgements(tmp_path)
    told = str(error.value).splitlines()
    assert [line.split(": ")[1][:28] for line in told] == [
        "c is judged twice for n in A",
        "expected need, state, law an",
        "expected need, state, law an",
    ]


def load() -> tuple[models.Embed, str]:
    """The fake model, loaded."""

    def embed(kind: models.Kind, texts: Sequence[str]) -> NDArray[np.float32]:
        return fakes.embed(kind, texts).astype(np.float32)

    return embed, "engine"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with laws, questions and settings."""
    (tmp_path / "laws").mkdir()
    for state, laws in fakes.CORPUS.items():
        rows = [{name: value for name, value in asdict(law).items() if name != "extra"} for law in laws]
        (tmp_path / "laws" / f"{state.lower()}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "questions").mkdir()
    (tmp_path / "questions" / "parking.yaml").write_text(
        "needs:\n"
        "  - {id: hydrant, expected: {MD: [MD-1]}, asks: {plain: how near a hydrant}}\n"
        "  - {id: cross, expected: {MD: [[MD-2, MD-3]]}, asks: {plain: who goes first in a crosswalk}}\n"
    )
    (tmp_path / "settings.yaml").write_text("embedder: fake\nnear_enough: {fake: 0.3}\n")
    made = replace(models.EMBEDDERS["e5-small"], name="fake", version="1", dimensions=fakes.DIMENSIONS, load=load)
    monkeypatch.setitem(models.EMBEDDERS, "fake", made)
    monkeypatch.setattr(recordings, "RECORDINGS", tmp_path / "recordings")
    monkeypatch.setattr(recordings, "CACHE", tmp_path / "cache")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sit(keys: str, *arguments: str) -> str:
    """What the terminal shows a judge who presses these keys; a space is the end of a line."""
    options = ["--laws", "laws", "--questions", "questions", "--settings", "settings.yaml"]
    ended = CliRunner().invoke(
        judge_command, [*arguments, *options], input="".join(f"{key}\n" for key in keys), catch_exceptions=False
    )
    assert ended.exit_code == 0, ended.output
    return ended.output


def test_every_key_is_kept_and_the_same_command_goes_on(world: Path) -> None:
    """A judge stops by q or by the end of the input; nothing is asked twice; at the end there are labels."""
    first = sit("as", "alice", "--states", "MD")
    assert "2 of 6 laws judged; 0 of 2 needs to the end." in first
    assert list(read_judgements(world / "alice").values()) == ["answers", "sibling"]
    assert not (world / "alice" / "needs.yaml").exists()
    second = sit("nq", "alice", "--states", "MD")
    assert "3 of 6 laws judged; 1 of 2 needs to the end." in second
    third = sit("nan", "alice", "--states", "MD")
    assert third.count("Law ") == 3
    assert "6 of 6 laws judged; 2 of 2 needs to the end." in third
    assert "100.0%  6 of 6  near, fake" in third
    corpus = {"MD": list(fakes.CORPUS["MD"])}
    judged = read_judgements(world / "alice")
    answering = {(item.need, item.law) for item, grade in judged.items() if grade == "answers"}
    read = load_questions(world / "alice", corpus)
    assert {(pair.need, law) for pair in read for law in pair.relevant} == answering
    assert "Law " not in sit("", "alice", "--states", "MD")


def test_back_shows_the_last_law_again_and_other_keys_ask_again(world: Path) -> None:
    """The new answer stands instead of the old one."""
    shown = sit("axbnq", "alice", "--states", "MD")
    assert "Error: 'x' is not one of" in shown
    assert "You said: answers" in shown
    assert list(read_judgements(world / "alice").values()) == ["no"]


def test_a_judgement_is_on_the_disk_before_the_next_law_is_shown(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that dies takes nothing with it."""
    seen = []

    def prompt(*_: object, **__: object) -> str:
        seen.append(len(read_judgements(world / "alice")))
        return "n" if len(seen) < 4 else "q"

    monkeypatch.setattr("click.prompt", prompt)
    sit("", "alice", "--states", "MD")
    assert seen == [0, 1, 2, 3]


def test_a_law_cannot_command_the_terminal(world: Path) -> None:
    """Escape sequences, controls and marks that turn the writing around are shown as nothing."""
    bad = {
        "id": "MD-9",
        "law": "near a hydrant \x1b[31mred\x9b2J \u202etxet\x07\r\nhidden",
        "question": "a \x1b]0;t\x07?",
    }
    with (world / "laws" / "md.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(bad) + "\n")
    shown = sit("nnnnnnnn", "alice", "--states", "MD")
    assert "near a hydrant [31mred 2J txet hidden" in shown
    assert not {"\x1b", "\x9b", "\u202e", "\x07", "\r"} & set(shown)


def test_nothing_tells_a_judge_what_the_set_or_a_method_thinks(world: Path) -> None:
    """No id, no rank, no score and no label beside a law."""
    shown, _, _ = sit("q", "alice", "--states", "MD").partition("q quit:")
    assert shown.count("MD-") == 0
    assert "hydrant" in shown
    assert "expected" not in shown


def test_a_list_is_judged_like_the_set(world: Path) -> None:
    """Its labels are needs of their own, and their file can stand among the questions."""
    (world / "log.txt").write_text("who goes first\n")
    assert "Need 1 of 1, MD. A learner asks:\n  who goes first\n" in sit(
        "annn", "alice", "--states", "MD", "--list", "log.txt"
    )
    (world / "questions" / "log.yaml").write_text((world / "alice" / "needs.yaml").read_text())
    found = load_questions(world / "questions", {"MD": list(fakes.CORPUS["MD"])})
    assert {pair.text for pair in found} == {"how near a hydrant", "who goes first in a crosswalk", "who goes first"}


def test_a_list_needs_a_state_where_there_are_several(world: Path) -> None:
    """Nobody is asked to judge nine states by mistake."""
    (world / "log.txt").write_text("who goes first\n")
    options = ["--laws", "laws", "--settings", "settings.yaml", "--list", "log.txt"]
    ended = CliRunner().invoke(judge_command, ["alice", *options])
    assert ended.exit_code == 2
    assert "add --states, of AL, MD" in ended.output


def test_a_retriever_of_ones_own_is_pooled(world: Path) -> None:
    """What it finds is judged, and its share told."""
    command = """sh -c 'while read -r line; do echo "{\\"laws\\": [\\"MD-3\\"]}"; done'"""
    shown = sit("q", "alice", "--states", "MD", "--retriever", command)
    assert "0 of 2  the retriever" in shown


def test_two_judges_are_compared(world: Path) -> None:
    """How many laws both judged, kappa, and every disagreement by name; nobody's folder is an error."""
    sit("aannnn", "alice", "--states", "MD")
    sit("annnnn", "bob", "--states", "MD")
    one, other = (read_judgements(world / name) for name in ("alice", "bob"))
    shown = sit("", "alice", "bob")
    found = agreement(one, other)
    assert f"alice and bob both judged 6 laws and agree on {6 - len(found.disagreements)}." in shown
    for item, first, second in found.disagreements:
        assert f"  {item.need}, MD, {item.law}: alice {first}, bob {second}\n" in shown
    with pytest.raises(InputError, match="nobody has judged here"):
        sit("", "alice", "carol")


def test_a_finished_task_has_no_law_left() -> None:
    """A need for which nothing was returned and nothing is named is finished at once."""
    todo = tasks([PLAIN, fakes.pair("empty", state="AL")], {}, "alice")
    assert [task.need for task in finished(todo, {})] == ["empty"]


def test_needs_that_somebody_else_wrote_are_left_alone(tmp_path: Path) -> None:
    """A folder whose needs.yaml is not the judge's is refused before anything is asked."""
    (tmp_path / "needs.yaml").write_text("needs: []\n", encoding="utf-8")
    with pytest.raises(InputError, match="was not written by"):
        refuse_others(tmp_path)
