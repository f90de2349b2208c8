"""The question set read and checked: pairs by hand, and every way in which a set has been wrong."""

from pathlib import Path

import pytest

from evals.questions import Pair, load_questions
from retrieval import Law, load_corpus
from retrieval.errors import InputError
from tests.loaders import need

CORPUS = {"AL": [Law("AL-1", "a"), Law("AL-2", "b")], "MD": [Law("MD-1", "a"), Law("MD-2", "b"), Law("MD-3", "c")]}

GOOD = """\
needs:
  - id: hydrant
    expected: {MD: [MD-1], AL: [[AL-1, AL-2], AL-2]}
    accepted: {MD: [MD-2]}
    tags: [seed]
    asks:
      plain: how far from a hydrant
      spanish: {ask: "¿a qué distancia?", kind: spanish, lang: es}
      phone: {ask: how farr, kind: typo, states: [AL]}
    searches: [distance from a hydrant]
    family: null
  - id: moon
    unrelated: lexical
    asks: {speed: the speed limit on the moon}
  - id: teens
    uncovered: [MD]
    expected: {AL: [AL-2]}
    asks: {plain: how many friends}
"""


def read(tmp_path: Path, text: str) -> list[Pair]:
    """The pairs of one file, parking.yaml."""
    (tmp_path / "parking.yaml").write_text(text, encoding="utf-8")
    return load_questions(tmp_path, CORPUS)


def faults(tmp_path: Path, text: str) -> list[str]:
    """What is wrong with one file, parking.yaml, without the folder."""
    with pytest.raises(InputError) as refused:
        read(tmp_path, text)
    return [str(fault).replace(f"{tmp_path}/", "") for fault in refused.value.faults]


def test_pairs_by_hand(tmp_path: Path) -> None:
    """A question is asked in every state that its need names; an unrelated one everywhere."""
    pairs = read(tmp_path, GOOD)
    assert [(pair.question, pair.state, pair.expects, pair.line) for pair in pairs] == [
        ("hydrant/plain", "AL", "answerable", 7),
        ("hydrant/spanish", "AL", "answerable", 8),
        ("hydrant/phone", "AL", "answerable", 9),
        ("hydrant/plain", "MD", "answerable", 7),
        ("hydrant/spanish", "MD", "answerable", 8),
        ("moon/speed", "AL", "unrelated", 14),
        ("moon/speed", "MD", "unrelated", 14),
        ("teens/plain", "AL", "answerable", 18),
        ("teens/plain", "MD", "uncovered", 18),
    ]
    alabama, maryland = pairs[0], pairs[3]
    assert alabama.expected == (("AL-1", "AL-2"), ("AL-2",))
    assert (maryland.expected, maryland.accepted) == ((("MD-1",),), ("MD-2",))
    assert maryland.relevant == {"MD-1", "MD-2"}
    assert (pairs[1].kind, pairs[1].lang, pairs[1].topic, pairs[1].tags) == ("spanish", "es", "parking", ("seed",))
    assert pairs[0].searches == ("distance from a hydrant",)


def test_a_group_given_twice_is_one(tmp_path: Path) -> None:
    """The same laws in another order are the same group, and a law twice in a group is one law."""
    (pair,) = read(tmp_path, need("expected: {MD: [[MD-1, MD-2], MD-3, [MD-2, MD-1, MD-2]]}, asks: {p: q}"))
    assert pair.expected == (("MD-1", "MD-2"), ("MD-3",))


def test_only_the_corpus_states_are_asked(tmp_path: Path) -> None:
    """With fewer states loaded, needs for the others are kept unjudged and give no pairs."""
    (tmp_path / "parking.yaml").write_text(GOOD, encoding="utf-8")
    pairs = load_questions(tmp_path, {"AL": CORPUS["AL"]})
    assert {pair.state for pair in pairs} == {"AL"}


def test_a_corpus_without_states(tmp_path: Path) -> None:
    """A corpus of one file takes plain lists."""
    (tmp_path / "a.yaml").write_text("needs: [{id: n, expected: [[a, b]], accepted: [c], asks: {plain: q}}]")
    (pair,) = load_questions(tmp_path, {"LAWS": [Law("a", ""), Law("b", ""), Law("c", "")]})
    assert (pair.state, pair.expected, pair.accepted) == ("LAWS", (("a", "b"),), ("c",))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("expected: {MD: [MD-1]}, accepted: {MD: [X]}, asks: {p: q}", "n: accepted X is no law of MD: no law has it"),
        ("expected: {MD: [MD-1]}, uncovered: [MD], asks: {p: q}", "n: MD is both expected and uncovered"),
        ("expected: {MD: []}, asks: {p: q}", "n: MD expects nothing: name a law, or list it as uncovered"),
        ("accepted: {MD: [MD-1]}, uncovered: [AL], asks: {p: q}", "n: MD has accepted laws and expects none"),
        ("asks: {p: q}", "n: no state is named: give expected laws, or uncovered states, or `unrelated`"),
        (
            "unrelated: app, uncovered: [MD], asks: {p: q}",
            "n: an unrelated need expects no law anywhere: drop expected, accepted and uncovered",
        ),
        (
            "expected: {MD: [MD-1]}, asks: {p: {ask: q, states: [AL]}}",
            "n: asked in AL, which the need does not name",
        ),
        ("expected: {MD: [12]}, asks: {p: q}", "`needs.expected.MD`: 12 is read as a number, not as text: quote it"),
        ("uncovered: [NO], asks: {p: q}", "`needs.uncovered`: NO is read as a truth value, not as text: quote it"),
        (
            "uncovered: [MD], asks: {p: {ask: q, states: []}}",
            "`needs.asks.p.states`: expected at least 1, found an empty list []",
        ),
        ("uncovered: [MD], asks: {p: {kind: typo}}", "`needs.asks.p.ask` is missing"),
        ("uncovered: [MD], asks: {p: '   '}", "`needs.asks.p`: expected text, found blanks alone"),
    ],
)
def test_what_is_refused(tmp_path: Path, body: str, said: str) -> None:
    """What a need may not say, beside what `tests/test_bad_files.py` breaks: one fault, with its file and line."""
    assert faults(tmp_path, need(body)) == [f"parking.yaml:2: {said}"]


@pytest.mark.parametrize("value", ["1.10", "2026-11-29", "NO", "0123", "~"])
def test_an_ask_that_yaml_reads_as_something_else(tmp_path: Path, value: str) -> None:
    """Values that are no text in YAML are refused with what to do, and read well once they are quoted."""
    (fault,) = faults(tmp_path, f"needs:\n  - id: n\n    uncovered: [MD]\n    asks:\n      p: {value}\n")
    assert fault.startswith("parking.yaml:5:")
    assert fault.endswith("not as text: quote it")
    (pair,) = read(tmp_path, f'needs:\n  - id: n\n    uncovered: [MD]\n    asks:\n      p: "{value}"\n')
    assert pair.text == value


def test_a_comment_that_cuts_an_ask_is_refused(tmp_path: Path) -> None:
    """`see § 12 # note` would lose its end; elsewhere comments are fine."""
    text = "needs:\n  - id: n  # fine\n    uncovered: [MD]  # fine\n    asks:\n      p: see § 12 # note\n"
    assert faults(tmp_path, text) == [
        "parking.yaml:5: n: is the part after # meant? A bare # starts a comment: quote the text"
    ]


def test_one_text_asked_twice_in_a_state(tmp_path: Path) -> None:
    """The same text under two needs is refused in one state, with both places, and allowed in two states."""
    first = "needs:\n  - {{id: a, uncovered: [MD], asks: {{p: how far}}}}\n"
    two = first + "  - {{id: b, uncovered: [{}], asks: {{p: How  far}}}}\n"
    assert faults(tmp_path, two.format("MD")) == [
        f"parking.yaml:3: b/p: asked before, in a/p at {tmp_path}/parking.yaml:2".replace(f"{tmp_path}/", "")
    ]
    assert len(read(tmp_path, two.format("AL"))) == 2


def test_every_text_asked_twice_is_told(tmp_path: Path) -> None:
    """Also three on one line, and where an accent is written as one character here and as two there."""
    assert faults(tmp_path, need("uncovered: [MD], asks: {p: qu\u00e9, q: Que\u0301, r: ' qu\u00e9 '}")) == [
        "parking.yaml:2: n/q: asked before, in n/p at parking.yaml:2",
        "parking.yaml:2: n/r: asked before, in n/p at parking.yaml:2",
    ]


def test_one_need_in_two_files(tmp_path: Path) -> None:
    """A need's id is its own over the whole set."""
    (tmp_path / "a.yaml").write_text("needs: [{id: n, uncovered: [MD], asks: {p: one}}]")
    (tmp_path / "b.yaml").write_text("needs: [{id: n, uncovered: [MD], asks: {p: two}}]")
    with pytest.raises(InputError, match=r"b\.yaml:1: n: the id is given twice, first at .*a\.yaml:1"):
        load_questions(tmp_path, CORPUS)


def test_a_bad_need_hides_no_other(tmp_path: Path) -> None:
    """The faults of every need of a file come together: what YAML refuses, what the form does, what the laws do."""
    text = """\
needs:
  - id: twice
    id: again
    uncovered: [MD]
    asks: {p: a}
  - {id: 0123, uncovered: [MD], asks: {p: b}}
  - {id: both, expected: {MD: [MD-9]}, uncovered: [MD], asks: {p: c}}
  - id: cut
    uncovered: [MD]
    asks:
      p: see § 12 # note
    searches:
      - section 12 # note
  - {id: time, uncovered: [MD], asks: {p: 21:30}}
"""
    assert faults(tmp_path, text) == [
        "parking.yaml:3: the key 'id' is given twice, first on line 2",
        "parking.yaml:6: `needs.id`: 0123 is read as a number, not as text: quote it",
        "parking.yaml:7: both: MD is both expected and uncovered",
        "parking.yaml:7: both: expected MD-9 is no law of MD: no law has it",
        "parking.yaml:11: cut: is the part after # meant? A bare # starts a comment: quote the text",
        "parking.yaml:13: cut: is the part after # meant? A bare # starts a comment: quote the text",
        "parking.yaml:14: `needs.asks.p`: 21:30 is read as a number, not as text: quote it",
    ]


def test_a_corpus_without_states_is_one_state(tmp_path: Path) -> None:
    """There a plain list of expected laws is of the file's state: asks may name it, and it cannot be uncovered too."""
    corpus = {"LAWS": [Law("a", "")]}
    path = tmp_path / "a.yaml"
    path.write_text("needs: [{id: n, expected: [a], asks: {p: {ask: q, states: [LAWS]}}}]")
    assert [pair.state for pair in load_questions(tmp_path, corpus)] == ["LAWS"]
    for body, what in [
        ("uncovered: [LAWS], asks: {p: q}", "LAWS is both expected and uncovered"),
        ("asks: {p: {ask: q, states: [MD]}}", "asked in MD, which the need does not name"),
    ]:
        path.write_text(f"needs: [{{id: n, expected: [a], {body}}}]")
        with pytest.raises(InputError, match=what):
            load_questions(tmp_path, corpus)


def test_without_laws_the_form_alone_is_checked(tmp_path: Path) -> None:
    """Where no laws could be read, ids are not judged; what the form refuses is still told."""
    (tmp_path / "a.yaml").write_text("needs: [{id: n, expected: [a], asks: {p: q}}]")
    assert load_questions(tmp_path, {}) == []
    (tmp_path / "b.yaml").write_text("needs: [{id: m, expected: {MD: [1]}, asks: {p: q}}]")
    with pytest.raises(InputError, match="quote it"):
        load_questions(tmp_path, {})


def test_nothing_to_ask(tmp_path: Path) -> None:
    """No files, and no need for any state of the corpus, are told apart and refused."""
    with pytest.raises(InputError, match=r"no \*\.yaml file"):
        load_questions(tmp_path, CORPUS)
    (tmp_path / "a.yaml").write_text("needs: [{id: n, uncovered: [TX], asks: {p: one}}]")
    with pytest.raises(InputError, match="0 of 1 needs are asked in AL, MD"):
        load_questions(tmp_path, CORPUS)


def test_the_order_of_files_and_of_keys_changes_nothing(tmp_path: Path) -> None:
    """Pairs come in the order of topic and line, whatever order files were made in."""
    for name in ("b", "a", "c"):
        (tmp_path / f"{name}.yaml").write_text(f"needs: [{{id: {name}, uncovered: [MD], asks: {{p: {name}}}}}]")
    assert [pair.need for pair in load_questions(tmp_path, CORPUS)] == ["a", "b", "c"]


def test_the_questions_that_come_with_the_project() -> None:
    """They load against the laws that come with it, and hold every kind of ask and every class of unrelated need."""
    pairs = load_questions(Path(__file__).parents[1] / "questions", load_corpus())
    assert {pair.kind for pair in pairs} == {"plain", "paraphrase", "typo", "spanish", "situation", "sibling"}
    assert {pair.unrelated for pair in pairs} == {"lexical", "app", "off-topic", "adjacent", None}
    assert {pair.expects for pair in pairs} == {"answerable", "unrelated", "uncovered"}
