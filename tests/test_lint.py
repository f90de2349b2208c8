"""The lint: every error of settings, laws and questions at once; every warning once, at its place, with what to do."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from evals.cli import main
from evals.lint.checked import CONCEPTS, Checked, load_concepts, read_checked
from evals.lint.coverage import small_groups, unknown_concepts
from evals.lint.doubts import KINDS, Doubt
from evals.lint.labels import NEAR_DEPTH, VERY_NEAR, missed, not_judged, page_rows
from evals.lint.report import find_doubts, report
from evals.lint.wording import same_texts, shared_runs, telling_words
from evals.run import evaluate
from retrieval import Law, load_corpus
from retrieval.corpus import LAWS
from retrieval.errors import InputError, MissingRecordingError
from retrieval.models import EMBEDDERS, Kind
from tests import fakes

SETTINGS = "embedder: fake\nnear_enough: {fake: 0.3}\n"
Corpus = Mapping[str, Sequence[Law]]

UNLIKE = [Law(f"X-{at}", f"alpha{at} beta{at} gamma{at}", concept="unlike") for at in range(30)]


def write(folder: Path, corpus: Corpus, questions: str, concepts: str | None = None) -> Path:
    """A folder with settings.yaml, laws/ and questions/parking.yaml."""
    for name in ("laws", "questions"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "settings.yaml").write_text(SETTINGS)
    for state, laws in corpus.items():
        rows = [{"id": law.id, "law": law.law, "question": law.question, "concept": law.concept} for law in laws]
        kinds = [{**row, "kind": law.kind} for row, law in zip(rows, laws, strict=True)]
        (folder / "laws" / f"{state.lower()}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in kinds))
    if concepts is not None:
        (folder / "laws" / CONCEPTS).write_text(concepts)
    (folder / "questions" / "parking.yaml").write_text(f"needs:\n{questions}")
    return folder


def read(folder: Path) -> Checked:
    """What `write` wrote."""
    return read_checked(folder / "settings.yaml", folder / "laws", folder / "questions")


def checked(folder: Path, corpus: Corpus, questions: str, concepts: str | None = None) -> Checked:
    """The set of these laws and questions."""
    return read(write(folder, corpus, questions, concepts))


def errors(folder: Path) -> list[str]:
    """What is wrong with what `write` wrote, without the folder."""
    with pytest.raises(InputError) as refused:
        read(folder)
    return [str(fault).replace(f"{folder}/", "") for fault in refused.value.faults]


def told(doubts: Sequence[Doubt], folder: Path) -> list[str]:
    """The warnings as they are printed, without the folder."""
    return [str(doubt.fault).replace(f"{folder}/", "") for doubt in doubts]


# Errors


def test_the_faults_of_all_files_come_together(tmp_path: Path) -> None:
    """Settings, laws, concept list and questions are all read before anything is refused."""
    write(tmp_path, fakes.CORPUS, "  - {id: a, expected: {MD: [MD-9, AL-1]}, asks: {p: q}}\n", "parking: [hydrant]\n")
    (tmp_path / "settings.yaml").write_text("embedder: fake\nnear_enough: {other: 0.3}\nnear_law: 3\n")
    (tmp_path / "laws" / "tx.jsonl").write_text('{"id": "TX-1", "law": 1}\n{"id": "TX-1", "id": "TX-2", "law": "b"}\n')
    (tmp_path / "questions" / "signs.yaml").write_text("needs:\n- {id: NO, uncovered: [MD], asks: {p: r}}\n")
    assert errors(tmp_path) == [
        "laws/concepts.yaml:1: parking: expected concepts, one `name: what it is about` a line",
        "laws/tx.jsonl:1: `law` must be text, found 1",
        'laws/tx.jsonl:2: the key "id" is given twice',
        "questions/parking.yaml:2: a: expected AL-1 is no law of MD: it is a law of AL",
        "questions/parking.yaml:2: a: expected MD-9 is no law of MD: no law has it",
        "questions/signs.yaml:2: `needs.id`: NO is read as a truth value, not as text: quote it",
        "settings.yaml:3: unknown setting `near_law`; there are embedder, near_enough, near_laws, retrieved_laws,"
        " candidate_laws, searched_candidate_laws, answer_laws, rephrase, rerank",
    ]


@pytest.mark.parametrize(
    ("questions", "expected"),
    [
        ("  - {id: a, expected: {MD: [MD-7]}, asks: {p: q}}", ["a: expected MD-7 is no law of MD: no law has it"]),
        (
            "  - {id: a, expected: {MD: [[MD-1, AL-2]]}, accepted: {MD: [AL-1]}, asks: {p: q}}",
            [
                "a: accepted AL-1 is no law of MD: it is a law of AL",
                "a: expected AL-2 is no law of MD: it is a law of AL",
            ],
        ),
        (
            "  - {id: a, uncovered: [MD], asks: {p: q}, asks: {p: r}}",
            ["the key 'asks' is given twice, first on line 2"],
        ),
        (
            "  - {id: a, expected: {MD: [MD-1], MD: [MD-2]}, asks: {p: q}}",
            ["the key 'MD' is given twice, first on line 2"],
        ),
        (
            "  - {id: a, uncovered: [MD], asks: {p: 0123}}",
            ["`needs.asks.p`: 0123 is read as a number, not as text: quote it"],
        ),
        (
            "  - {id: a, uncovered: [MD], asks: {NO: q}}",
            ["the key NO is read as false, not as text: quote it"],
        ),
        ("  - {id: a, uncovered: [MD], asks: {p: q, r: Q}}", ["a/r: asked before, in a/p at questions/parking.yaml:2"]),
        (
            "  - {id: a, expected: {MD: [MD-1]}, uncovered: [MD], asks: {p: q}}",
            ["a: MD is both expected and uncovered"],
        ),
        (
            "  - {id: a, expected: {MD: [MD-1]}, asks: {p: {ask: q, states: [AL]}}}",
            ["a: asked in AL, which the need does not name"],
        ),
        ("  - {id: a, expected: {ZZ: [ZZ-1]}, uncovered: [MD], asks: {p: q}}", ["a: no laws of ZZ; there are AL, MD"]),
        ("  - {id: a, expected: {MD: [MD-1]}, uncovered: [al], asks: {p: q}}", ["a: no laws of al; there are AL, MD"]),
        (
            "  - {id: a, unrelated: app, asks: {p: {ask: q, states: [ZZ]}, r: s}}",
            ["a: no laws of ZZ; there are AL, MD"],
        ),
    ],
)
def test_every_kind_of_error_has_its_place(tmp_path: Path, questions: str, expected: list[str]) -> None:
    """An error says the file, the line, and what is wrong there, and nothing else is told beside it."""
    write(tmp_path, fakes.CORPUS, questions)
    assert errors(tmp_path) == [f"questions/parking.yaml:2: {each}" for each in expected]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ('{"id": "MD-1", "law": "a"}\n{"id": "MD-1", "law": "b"}', "2: the id MD-1 is given twice, first on line 1"),
        ('{"id": 1, "law": "a"}', "1: `id` must be text, found 1"),
        ('{"id": "MD-1", "law": "a", "law": "b"}', '1: the key "law" is given twice'),
    ],
)
def test_errors_in_laws_have_their_place(tmp_path: Path, rows: str, expected: str) -> None:
    """A law's error is told with its file and line; a question about that state is not blamed for it."""
    write(tmp_path, {"AL": fakes.CORPUS["AL"]}, "  - {id: a, expected: {MD: [MD-1], AL: [AL-1]}, asks: {p: q}}")
    (tmp_path / "laws" / "md.jsonl").write_text(rows)
    assert errors(tmp_path) == [f"laws/md.jsonl:{expected}"]


def test_one_need_in_two_files(tmp_path: Path) -> None:
    """The second place names the first."""
    write(tmp_path, fakes.CORPUS, "  - {id: a, uncovered: [MD], asks: {p: q}}")
    (tmp_path / "questions" / "signs.yaml").write_text("needs: [{id: a, uncovered: [MD], asks: {p: r}}]")
    assert errors(tmp_path) == [
        "questions/signs.yaml:1: a: the id is given twice, first at questions/parking.yaml:2",
    ]


def test_a_corpus_without_states_has_no_unknown_state(tmp_path: Path) -> None:
    """A plain list of expected laws is of the one file there is, and its place is that of the list."""
    laws = [Law("a", "", "", "", "process"), *UNLIKE]
    found = checked(tmp_path, {"LAWS": laws}, "  - id: n\n    asks: {p: q}\n    expected: [a]\n")
    assert [doubt.fault.line for doubt in page_rows(found)] == [4]


@pytest.mark.parametrize("text", ["", "- hydrant\n", "parking: {hydrant: a}\nfamilies: permit\n"])
def test_a_concept_list_that_is_none(tmp_path: Path, text: str) -> None:
    """It is refused, not read as an empty list that every concept would be missing from."""
    (tmp_path / CONCEPTS).write_text(text)
    with pytest.raises(InputError, match="expected"):
        load_concepts(tmp_path / CONCEPTS)


# Warnings that texts alone decide


def test_laws_with_one_text(tmp_path: Path) -> None:
    """Told at every law but the first, whatever the case, spaces and punctuation; other states do not count."""
    laws = [
        Law("MD-1", "Stop, at  a red light."),
        Law("MD-2", "", "May I?"),
        Law("MD-3", "stop at a RED light", "Why?"),
        Law("MD-4", "", "may i"),
        Law("MD-5", "STOP at a red light!"),
        Law("MD-6", ""),
        Law("MD-7", ""),
        Law("MD-8", "Stop at a red light or not"),
    ]
    found = checked(tmp_path, {"MD": laws, "AL": laws[:1]}, "  - {id: a, uncovered: [MD], asks: {p: q}}")
    what_to_do = "drop one of the two, or wherever one is expected make them one group"
    assert told(list(same_texts(found)), tmp_path) == [
        f"laws/md.jsonl:3: MD-3: the same text as MD-1 on line 1; {what_to_do}",
        f"laws/md.jsonl:4: MD-4: the same text as MD-2 on line 2; {what_to_do}",
        f"laws/md.jsonl:5: MD-5: the same text as MD-1 on line 1; {what_to_do}",
    ]


@pytest.mark.parametrize(
    ("ask", "shared"),
    [
        ("Park fifteen feet from the nearest hydrant", "park fifteen feet from the nearest"),
        ("so, how NEAR to a hydrant may I stand", "how near to a hydrant may"),
        ("park fifteen feet from the hydrant", None),  # five in a row
        ("nearest hydrant how near to a", None),  # six in a row over the end of the rule
        ("is the curb there painted red or blue", None),  # the words of an accepted law
    ],
)
def test_six_words_in_a_row(tmp_path: Path, ask: str, shared: str | None) -> None:
    """An ask that copies six words of an expected law's rule or card question, and no other law's."""
    laws = [
        Law("MD-1", "Park fifteen feet from the nearest hydrant.", "How near to a hydrant may I stand?"),
        Law("MD-2", "If the curb there is painted, is the curb there painted red or blue?"),
    ]
    set_ = checked(
        tmp_path,
        {"MD": laws},
        f"  - {{id: a, expected: {{MD: [MD-1]}}, accepted: {{MD: [MD-2]}}, asks: {{p: '{ask}'}}}}",
    )
    found = told(list(shared_runs(set_.corpus, set_.pairs)), tmp_path)
    expected = f'"{shared}" stands word for word in MD-1; ask it in a learner\'s own words'
    assert found == ([f"questions/parking.yaml:2: a/p: {expected}"] if shared else [])


def test_shared_words_of_several_states_are_one_warning(tmp_path: Path) -> None:
    """The ask is the place, so its states and runs come together; another ask has its own."""
    text = "keep your car fifteen feet away from it"
    corpus = {state: [Law(f"{state}-{at}", text) for at in (1, 2)] for state in ("AL", "MD", "TX")}
    expected = ", ".join(f"{state}: [[{state}-1, {state}-2]]" for state in corpus)
    asks = f"      p: {text}\n      q: must i {text}\n      r: where\n"
    set_ = checked(tmp_path, corpus, f"  - id: a\n    expected: {{{expected}}}\n    asks:\n{asks}")
    assert told(list(shared_runs(set_.corpus, set_.pairs)), tmp_path) == [
        f'questions/parking.yaml:{line}: a/{ask}: "keep your car fifteen feet away" stands word for word in AL-1, AL-2,'
        " MD-1, MD-2 and 2 more; ask it in a learner's own words"
        for line, ask in ((5, "p"), (6, "q"))
    ]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        ("may i stand near the fireplug", []),
        ("where do hydrants go", ["hydrant"]),
        ("where do firehydrants go", ["hydrant"]),  # holds it
        ("the hydramt thing", ["hydrant"]),  # one letter away
        ("the hidramt thing", []),  # two letters away: the word search does not know it
        ("tank and hydrant, hydrant and tank", ["tank", "hydrant"]),
        ("can my vehicle go there", []),  # a word of more than a tenth of the laws
        ("bring the paper along", []),  # a page row's words
        ("what about kerbside", ["kerbside"]),  # the concept's words are searched too
    ],
)
def test_telling_words_of_a_paraphrase(tmp_path: Path, ask: str, words: list[str]) -> None:
    """A paraphrase shares no word with its laws, as the word search spells it, but for common ones."""
    laws = [
        Law("MD-1", "A vehicle stays fifteen feet from a hydrant.", "And from a tank?", "kerbside-hydrant"),
        Law("MD-P1", "Bring the paper.", "", "", "process"),
        *[Law(f"MD-{at}", f"vehicle number {at}") for at in range(2, 6)],
        *UNLIKE,
    ]
    kinds = f"p: {{ask: '{ask}', kind: paraphrase}}, r: 'so, {ask}'"
    set_ = checked(tmp_path, {"MD": laws}, f"  - {{id: a, expected: {{MD: [MD-1, MD-P1]}}, asks: {{{kinds}}}}}")
    named = ", ".join(f'"{word}" (MD)' for word in words)
    what = f"a/p: a paraphrase that shares {named} with its law; say it without, or call it another kind"
    found = told(list(telling_words(set_.corpus, set_.pairs)), tmp_path)
    assert found == ([f"questions/parking.yaml:2: {what}"] if words else [])


def test_a_tenth_of_the_laws_decides_what_is_common(tmp_path: Path) -> None:
    """A word in exactly a tenth of the ranked laws tells, in one more it does not; page rows do not count."""
    for holders, common in ((2, False), (3, True)):
        laws = [
            *[Law(f"MD-{at}", "hydrant") for at in range(holders)],
            *[Law(f"MD-{at}", f"other{at}") for at in range(holders, 20)],
            *[Law(f"MD-P{at}", "page", "", "", "process") for at in range(20)],
        ]
        set_ = checked(
            tmp_path, {"MD": laws}, "  - {id: a, expected: {MD: [MD-1]}, asks: {p: {ask: hydrant, kind: paraphrase}}}"
        )
        assert (list(telling_words(set_.corpus, set_.pairs)) == []) is common


def test_a_word_of_one_law_tells_it_in_any_corpus(tmp_path: Path) -> None:
    """Among three laws one is more than a tenth, and its own word still gives it away."""
    question = "  - {id: a, expected: {MD: [MD-1]}, asks: {p: {ask: hydrant, kind: paraphrase}}}"
    set_ = checked(tmp_path, fakes.CORPUS, question)
    assert [doubt.kind for doubt in telling_words(set_.corpus, set_.pairs)] == ["telling word"]


def test_telling_words_name_their_states(tmp_path: Path) -> None:
    """One warning an ask, each word with the states whose law holds it."""
    corpus = {
        "AL": [Law("AL-1", "fireplug"), *UNLIKE],
        "MD": [Law("MD-1", "fireplug curb"), *UNLIKE],
        "TX": [Law("TX-1", "hydrant"), *UNLIKE],
    }
    expected = ", ".join(f"{state}: [{state}-1]" for state in corpus)
    set_ = checked(
        tmp_path,
        corpus,
        f"  - {{id: a, expected: {{{expected}}}, asks: {{p: {{ask: curb fireplug, kind: paraphrase}}}}}}",
    )
    assert told(list(telling_words(set_.corpus, set_.pairs)), tmp_path) == [
        'questions/parking.yaml:2: a/p: a paraphrase that shares "fireplug" (AL, MD), "curb" (MD) with its law; say it'
        " without, or call it another kind"
    ]


def test_expected_page_rows(tmp_path: Path) -> None:
    """Once for a need and state, where it is expected; a rule in its group can be reached, an accepted row is free."""
    questions = """\
  - id: a
    expected:
      MD: [MD-1]
      AL: [AL-1, AL-P1, AL-P2]
    asks: {p: q, r: s}
  - {id: b, expected: {AL: [[AL-P1, AL-1]]}, accepted: {AL: [AL-P2]}, asks: {p: t}}
  - {id: c, expected: {AL: [[AL-P1, AL-P2]]}, asks: {p: u}}
"""
    found = told(list(page_rows(checked(tmp_path, fakes.CORPUS, questions))), tmp_path)
    what = "expected alone, and words never reach a page row; put a rule that says the same into the group, or accept"
    assert found == [
        f"questions/parking.yaml:5: a: AL-P1, AL-P2 {what} that only meaning finds it",
        f"questions/parking.yaml:8: c: AL-P1, AL-P2 {what} that only meaning finds it",
    ]


def test_concepts_that_the_list_lacks(tmp_path: Path) -> None:
    """Told once a state at the first law; a page row's concept is a family; without a list nothing is told."""
    questions = "  - {id: a, uncovered: [MD], asks: {p: q}}"
    assert list(unknown_concepts(checked(tmp_path, fakes.CORPUS, questions))) == []
    concepts = "parking: {hydrant: near a hydrant, permit-application: no family}\nsignals: {red-light: a}\n"
    set_ = checked(tmp_path, fakes.CORPUS, questions, f"{concepts}families: {{crosswalk: no rule}}\n")
    assert told(list(unknown_concepts(set_)), tmp_path) == [
        "laws/al.jsonl:3: AL-3: the concept right-on-red is not among the topics of concepts.yaml; spell it as there,"
        " or add it",
        "laws/al.jsonl:5: AL-P1, AL-P2: the concept permit-application is not among the families of concepts.yaml;"
        " spell it as there, or add it",
        "laws/md.jsonl:2: MD-2, MD-3: the concept crosswalk is not among the topics of concepts.yaml; spell it as"
        " there, or add it",
    ]
    whole = "all: {hydrant: a, red-light: b, right-on-red: c, crosswalk: d}\nfamilies: {permit-application: e}\n"
    assert list(unknown_concepts(checked(tmp_path, fakes.CORPUS, questions, whole))) == []


def test_small_groups(tmp_path: Path) -> None:
    """Needs that expect a law are counted, not pairs, by kind, language and state; a group without any is told too."""
    questions = """\
  - id: a
    expected: {AL: [AL-1]}
    asks: {p: one, q: two, s: {ask: tres, kind: spanish, lang: es}}
  - {id: b, expected: {AL: [AL-1]}, asks: {p: three}}
  - {id: c, unrelated: app, asks: {p: {ask: four, kind: typo}}}
  - {id: d, uncovered: [MD], asks: {p: five}}
"""
    set_ = checked(tmp_path, fakes.CORPUS, questions)
    what_to_do = "write more, or lean on none of its means"
    assert told(list(small_groups(set_, 2)), tmp_path) == [
        f"questions: kind spanish: 1 need expects a law, fewer than 2; {what_to_do}",
        f"questions: kind typo: 0 needs expect a law, fewer than 2; {what_to_do}",
        f"questions: language es: 1 need expects a law, fewer than 2; {what_to_do}",
        f"questions: state MD: 0 needs expect a law, fewer than 2; {what_to_do}",
    ]
    assert len(list(small_groups(set_))) == 7  # below ten: kinds, languages and states alike
    assert list(small_groups(set_, 0)) == []


# Warnings that need vectors


def by_number(kind: Kind, texts: Sequence[str]) -> NDArray[np.int16]:
    """Laws that end in a number lie the farther from every question the higher it is."""
    return np.array([[1000, 0 if kind == "query" else 5 * int(text.rsplit(" ", 1)[-1])] for text in texts], np.int16)


def test_questions_that_every_search_misses(tmp_path: Path) -> None:
    """No shared word, and neither the hundredth by meaning nor nearer; one group out of reach is enough."""
    laws = [Law(f"MD-{at}", f"rule {at}") for at in range(1, NEAR_DEPTH + 21)]
    corpus = {"MD": [*laws, Law("MD-X", "")], "AL": [Law("AL-X", "")]}
    questions = """\
  - {id: hundredth, expected: {MD: [MD-100]}, asks: {p: где}}
  - {id: next, expected: {MD: [MD-101]}, asks: {p: куда, q: a rule}}
  - {id: either, expected: {MD: [[MD-120, MD-3]]}, asks: {p: когда}}
  - {id: both, expected: {MD: [[MD-120, MD-110], MD-3, MD-X], AL: [AL-X]}, asks: {p: кто}}
  - {id: moon, unrelated: app, asks: {p: зачем}}
"""
    set_ = checked(tmp_path, corpus, questions)
    run = evaluate(set_.settings, set_.corpus, set_.pairs, by_number, "fake")
    what_to_do = "see whether the label is right, then the ask"
    assert told(list(missed(run)), tmp_path) == [
        "questions/parking.yaml:3: next/p: no search reaches MD-101 (no shared word, place 101 by meaning);"
        f" {what_to_do}",
        "questions/parking.yaml:5: both/p: no search reaches AL-X (no shared word, no vector), MD-120 or MD-110 (no"
        f" shared word, place 110 by meaning), MD-X (no shared word, no vector); {what_to_do}",
    ]


def test_a_search_that_is_fused_can_reach_what_the_question_misses(tmp_path: Path) -> None:
    """With the written searches on, theirs count as well."""
    laws = [Law(f"MD-{at}", f"rule {at}") for at in range(1, NEAR_DEPTH + 21)]
    question = "  - {id: a, expected: {MD: [MD-120]}, asks: {p: где}, searches: [rule]}"
    set_ = checked(tmp_path, {"MD": laws}, question)
    for rephrase, found in (("off", 1), ("written", 0)):
        settings = fakes.settings(rephrase=rephrase)
        assert len(list(missed(evaluate(settings, set_.corpus, set_.pairs, by_number, "fake")))) == found


def test_laws_near_an_expected_one_that_nobody_judged(tmp_path: Path) -> None:
    """Once a need and state, nearest first, each with its nearest expected law; a law without text is near nothing."""
    vectors = {"a": [5, 0], "b": [0, 5], "c": [4, 3], "d": [3, 4], "e": [5, 0], "f": [5, 0], "z": [-5, 0], "o": [0, 0]}

    def embed(kind: Kind, texts: Sequence[str]) -> NDArray[np.int16]:
        return np.array([vectors[text] for text in texts], np.int16)

    laws = [Law("MD-X", ""), *[Law(f"MD-{name}", name) for name in vectors]]
    questions = """\
  - id: n
    expected:
      MD: [[MD-a, MD-b], MD-X]
    accepted: {MD: [MD-f]}
    asks: {p: q, r: s}
  - {id: m, expected: {MD: [MD-z, MD-X]}, asks: {p: t}}
  - {id: k, expected: {MD: [MD-X]}, asks: {p: u}}
  - {id: l, expected: {MD: [MD-o]}, asks: {p: v}}
"""
    set_ = checked(tmp_path, {"AL": [Law("AL-1", "")], "MD": laws}, questions)
    near = "MD-e (cosine 1.000 to MD-a)"
    both = ", MD-c (cosine 0.800 to MD-a), MD-d (cosine 0.800 to MD-b)"
    what_to_do = "neither expected nor accepted; accept it if it answers too"
    for very_near, listed in ((0.8, near + both), (0.801, near)):
        found = told(list(not_judged(set_, embed, very_near)), tmp_path)
        assert found == [f"questions/parking.yaml:4: n: {listed}, {what_to_do}"]


def test_how_near_is_very_near_belongs_to_a_known_model() -> None:
    """Every number is of a model that exists, and is a cosine that not everything reaches."""
    assert set(VERY_NEAR) <= set(EMBEDDERS)
    assert all(0.5 < value < 1 for value in VERY_NEAR.values())


# All together

FAULTY = """\
  - id: hydrant
    expected:
      MD: [MD-1]
      AL: [AL-1]
    asks:
      plain: how near a hydrant may I park
      fireplug: {ask: where is fifteen away from a hydrant, kind: paraphrase}
  - {id: empty, expected: {AL: [AL-4]}, asks: {plain: где}}
  - {id: crossing, expected: {MD: [MD-2]}, asks: {plain: who goes}}
  - {id: permit, expected: {AL: [AL-P2]}, asks: {plain: papers}}
"""
CONCEPT_LIST = "all: {hydrant: a, red-light: b, right-on-red: c}\nfamilies: {permit-application: d}\n"


def embed(kind: Kind, texts: Sequence[str]) -> NDArray[np.int16]:
    """The fakes' vectors."""
    return fakes.embed(kind, texts)


def test_every_warning_once_in_one_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By file and line; what needs a run is told with one only; the summary counts each kind that was found."""
    monkeypatch.setattr("evals.lint.report.VERY_NEAR", {"fake": 0.7})
    corpus = {state: [*laws, *UNLIKE] for state, laws in fakes.CORPUS.items()}
    corpus["AL"].append(Law("AL-5", "Slow down near a school.", "How fast near a school?", "hydrant", "proces"))
    set_ = checked(tmp_path, corpus, FAULTY, f"{CONCEPT_LIST}others: {{unlike: e}}\n")
    run = evaluate(set_.settings, set_.corpus, set_.pairs, embed, "fake")
    found = find_doubts(set_, run, embed, smallest_group=2)
    places = [(doubt.fault.file.rsplit("/", 1)[1], doubt.fault.line, doubt.kind) for doubt in found]
    assert places == [
        ("al.jsonl", 4, "no text"),
        ("al.jsonl", 37, "unknown kind"),
        ("md.jsonl", 2, "unknown concept"),
        ("md.jsonl", 3, "same text"),
        ("questions", None, "small group"),
        ("parking.yaml", 7, "shared run of words"),
        ("parking.yaml", 8, "telling word"),
        ("parking.yaml", 9, "missed"),
        ("parking.yaml", 10, "not judged"),
        ("parking.yaml", 11, "page row"),
    ]
    assert len({doubt.fault for doubt in found}) == len(found)
    assert {doubt.kind for doubt in found} == set(KINDS)
    without = find_doubts(set_, smallest_group=2)
    assert without == [doubt for doubt in found if doubt.kind not in ("missed", "not judged")]
    lines = report(set_, found).splitlines()
    assert lines[:-1] == [f"{doubt.fault} [{doubt.kind}]" for doubt in found]
    assert lines[-1] == (
        "70 laws and 4 needs, no errors, 10 warnings: 1 no text, 1 same text, 1 shared run of words, 1 telling word,"
        " 1 page row, 1 unknown concept, 1 unknown kind, 1 small group, 1 missed, 1 not judged."
    )
    left_out = report(set_, without, "No model runs here.").splitlines()
    assert left_out[-2] == "Not looked for: missed, not judged. No model runs here."


def test_the_order_of_laws_and_needs_changes_no_warning(tmp_path: Path) -> None:
    """What is told follows from what is written, not from how files or states came."""
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    first = checked(tmp_path / "one", fakes.CORPUS, FAULTY, CONCEPT_LIST)
    second = checked(tmp_path / "two", dict(reversed(fakes.CORPUS.items())), FAULTY, CONCEPT_LIST)
    told_first = told(find_doubts(first), tmp_path / "one")
    assert told_first == told(find_doubts(second), tmp_path / "two")
    assert len(told_first) > len(set(KINDS)) - 2


def test_a_set_without_faults(tmp_path: Path) -> None:
    """Nothing is told but that there was nothing to tell, and of how much."""
    laws = [Law("MD-1", "Stop.", "", "stop"), Law("MD-2", "Go.", "", "go")]
    set_ = checked(tmp_path, {"MD": laws}, "  - {id: a, expected: {MD: [MD-1]}, asks: {p: halt}}")
    assert report(set_, find_doubts(set_, smallest_group=1)) == "2 laws and 1 need, no errors, no warnings."


def test_the_concept_list_of_the_project_knows_every_concept() -> None:
    """Every law that comes with the project has a concept, and the list beside the laws holds it."""
    concepts = load_concepts(LAWS / CONCEPTS)
    assert concepts is not None
    laws = [law for laws in load_corpus().values() for law in laws]
    assert [law.id for law in laws if not law.concept or not concepts.hold(law)] == []


# The command


def lint(folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str, model_runs: bool = True) -> int:
    """The exit status of the command for what `write` wrote."""

    def embed(kind: Kind, texts: Sequence[str]) -> NDArray[np.int16]:
        if not model_runs:
            raise MissingRecordingError("No model runs here.")
        return fakes.embed(kind, texts)

    @contextmanager
    def vectors(name: str) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(model=SimpleNamespace(name=name), embed=embed)

    monkeypatch.setattr("evals.commands.lint.open_vectors", vectors)
    paths = {"--settings": "settings.yaml", "--laws": "laws", "--questions": "questions"}
    with pytest.raises(SystemExit) as left:
        main(["lint", *(part for name, path in paths.items() for part in (name, str(folder / path))), *options])
    assert isinstance(left.value.code, int)
    return left.value.code


def test_warnings_leave_the_status_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 0 with warnings on standard output, with and without a model that runs."""
    write(tmp_path, fakes.CORPUS, FAULTY)
    assert lint(tmp_path, monkeypatch, "--smallest-group", "0") == 0
    printed = capsys.readouterr().out.replace(f"{tmp_path}/", "").splitlines()
    assert [line.rsplit(" [", 1)[1] for line in printed[:-1]] == [
        "no text]",
        "same text]",
        "shared run of words]",
        "telling word]",
        "missed]",
        "page row]",
    ]
    assert printed[-1].endswith("1 no text, 1 same text, 1 shared run of words, 1 telling word, 1 page row, 1 missed.")
    assert lint(tmp_path, monkeypatch, model_runs=False) == 0
    assert "\nNot looked for: missed, not judged. No model runs here.\n" in capsys.readouterr().out


def test_errors_are_status_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every error on standard error, and nothing else."""
    write(tmp_path, fakes.CORPUS, "  - {id: a, expected: {MD: [MD-8, MD-9]}, asks: {p: q}}")
    assert lint(tmp_path, monkeypatch) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.replace(f"{tmp_path}/", "") == (
        "near-enough: questions/parking.yaml:2: a: expected MD-8 is no law of MD: no law has it\n"
        "questions/parking.yaml:2: a: expected MD-9 is no law of MD: no law has it\n"
    )
