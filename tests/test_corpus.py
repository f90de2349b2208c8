"""Laws read and checked."""

from pathlib import Path

import pytest

from retrieval import load_corpus, load_laws
from retrieval.corpus import LAWS
from retrieval.errors import InputError


def written(tmp_path: Path, name: str, *lines: str) -> Path:
    """A file of these lines."""
    path = tmp_path / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_a_law_is_read_whole(tmp_path: Path) -> None:
    """Known fields are the law's, unknown ones are kept, missing ones have their defaults."""
    path = written(
        tmp_path,
        "md.jsonl",
        '{"id": "a", "law": "Stop.", "question": "What?", "concept": "c", "kind": "process",'
        ' "page": 3, "cite": "§ 1", "x": [1]}',
        '{"id": "b", "law": ""}',
    )
    first, second = load_laws(path)
    assert (first.id, first.page, first.cite, first.extra, first.is_page_row) == ("a", 3, "§ 1", {"x": [1]}, True)
    assert (second.question, second.concept, second.kind, second.page, second.is_page_row) == (
        "",
        "",
        "rule",
        None,
        False,
    )


def test_every_fault_with_its_line(tmp_path: Path) -> None:
    """Wrong types, missing fields, ids twice or with spaces: all at once."""
    path = written(
        tmp_path,
        "md.jsonl",
        '{"id": "a", "law": "x"}',
        '{"id": "a", "law": "y"}',
        '{"law": "x"}',
        '{"id": 7, "law": null}',
        '{"id": "b c", "law": "x", "page": 0}',
        '{"id": "d", "law": "x", "page": true, "cite": 5}',
        "nothing",
    )
    with pytest.raises(InputError) as refused:
        load_laws(path)
    assert [(fault.line, fault.what) for fault in refused.value.faults] == [
        (2, "the id a is given twice, first on line 1"),
        (3, "`id` is missing"),
        (4, "`id` must be text, found 7"),
        (4, "`law` must be text, found null"),
        (5, '`id` must be one word without spaces, found "b c"'),
        (5, "`page` must be a page number from 1, or null, found 0"),
        (6, "`cite` must be text or null, found 5"),
        (6, "`page` must be a page number from 1, or null, found true"),
        (7, "not JSON: Expecting value at column 1"),
    ]


def test_a_corpus_is_a_file_a_state(tmp_path: Path) -> None:
    """States are the files' names in capitals, in alphabetical order; some may be picked."""
    written(tmp_path, "tx.jsonl", '{"id": "t", "law": "x"}')
    written(tmp_path, "md.jsonl", '{"id": "m", "law": "x"}')
    assert list(load_corpus(tmp_path)) == ["MD", "TX"]
    assert list(load_corpus(tmp_path, ["TX"])) == ["TX"]


def test_faults_of_all_files_and_unknown_states(tmp_path: Path) -> None:
    """The faults of every file come together, and a state without laws is named with those there are."""
    written(tmp_path, "tx.jsonl", "1")
    written(tmp_path, "md.jsonl", "2")
    with pytest.raises(InputError) as refused:
        load_corpus(tmp_path, ["MD", "TX", "ZZ"])
    assert [fault.what for fault in refused.value.faults] == [
        "no laws of ZZ; there are MD, TX",
        "expected an object {...} on every line",
        "expected an object {...} on every line",
    ]
    with pytest.raises(InputError, match=r"no \*\.jsonl file"):
        load_corpus(tmp_path / "none")


def test_two_files_of_one_state_are_refused(tmp_path: Path) -> None:
    """md.jsonl beside MD.jsonl: neither is dropped in silence."""
    written(tmp_path, "md.jsonl", '{"id": "a", "law": "x"}')
    written(tmp_path, "MD.jsonl", '{"id": "b", "law": "x"}')
    if len(list(tmp_path.iterdir())) == 1:
        pytest.skip("this file system does not tell the two names apart")
    with pytest.raises(InputError, match=r"md\.jsonl: the same state as MD\.jsonl: keep one file a state"):
        load_corpus(tmp_path)


def test_the_laws_that_come_with_the_project() -> None:
    """They load; ids begin with their state; every rule has a page or a section; families carry one question each."""
    for state, laws in load_corpus(LAWS).items():
        for law in laws:
            assert law.id.startswith(f"{state}-")
            assert law.page or law.cite, law.id
            assert law.law, law.id
            assert law.question.endswith("?"), law.id
        families = {(law.concept, law.question) for law in laws if law.is_page_row}
        assert len(families) == len({concept for concept, _ in families})
        rules = [law.question for law in laws if not law.is_page_row]
        assert len(rules) == len(set(rules)), state


def test_their_concepts_are_on_the_list() -> None:
    """A concept means one thing in every state: it stands in concepts.yaml, page rows' under families."""
    from retrieval.documents import read_yaml

    topics = read_yaml(LAWS / "concepts.yaml").data
    assert isinstance(topics, dict)
    families = topics.pop("families")
    concepts = {concept for names in topics.values() for concept in names}
    for laws in load_corpus(LAWS).values():
        for law in laws:
            assert law.concept in (families if law.is_page_row else concepts), law.id
            if law.is_page_row:
                assert law.question == families[law.concept], law.id
