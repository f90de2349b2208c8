"""Collections that others made, in and out: what comes in goes out again, and what is broken is told with its line."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.commands.exchange import export_command, import_command
from evals.exchange import trec
from evals.exchange.beir import Collection, read_collection
from evals.exchange.given_out import collections, judgements, left_out
from evals.exchange.names import NeedNames, as_word, from_word, topics
from evals.exchange.taken_in import laws_and_questions, quoted, summary
from evals.imported import KEPT, by_key, grades, read_kept
from evals.lint.checked import read_checked
from evals.lint.report import find_doubts
from evals.questions import Pair, load_questions
from retrieval.corpus import Law, load_corpus
from retrieval.documents import scan_yaml
from retrieval.errors import InputError
from tests import fakes
from tests.reference import COLLECTIONS, needs_collections

Rows = Sequence[Mapping[str, object]]

DOCUMENTS: Rows = [
    {"_id": "0123", "title": "Hydrants", "text": "Keep 15 feet away."},
    {"_id": "§ 2", "title": "", "text": "Stop at a red light.", "metadata": {"page": 3}},
    {"_id": "NO", "text": "Yield."},
    {"_id": "empty", "title": "", "text": ""},
]
QUERIES: Rows = [
    {"_id": "q/1", "text": "how near a hydrant", "metadata": {"topic": "parking"}},
    {"_id": "q 2", "text": "NO"},
    {"_id": "nobody judged", "text": "what is this # about"},
]
QRELS = {"test": "q/1\t0123\t2\nq/1\tNO\t0\nq 2\tNO\t-1\n"}

Corpus = Mapping[str, Sequence[Law]]


def layout(
    folder: Path,
    documents: Rows = DOCUMENTS,
    queries: Rows = QUERIES,
    qrels: Mapping[str, str] = QRELS,
) -> Path:
    """A folder with a collection in it."""
    (folder / "qrels").mkdir(parents=True)
    for name, rows in (("corpus", documents), ("queries", queries)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8", newline="\n")
    for split, text in qrels.items():
        path = folder / "qrels" / f"{split}.tsv"
        path.write_text(f"query-id\tcorpus-id\tscore\n{text}", encoding="utf-8", newline="\n")
    return folder


def taken_in(out: Path, *found: Collection) -> tuple[Corpus, list[Pair]]:
    """Collections written as laws and questions, and read as every command reads them."""
    for name, text in laws_and_questions(found).items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    corpus = load_corpus(out / "laws")
    return corpus, load_questions(out / "questions", corpus)


# -- By hand


def test_a_collection_by_hand(tmp_path: Path) -> None:
    """Title and text become the law, ids stay text, grades above 0 are expected, what is not judged is not asked."""
    corpus, pairs = taken_in(tmp_path / "out", read_collection(layout(tmp_path / "docs")))
    assert [(law.id, law.law, law.question) for law in corpus["DOCS"]] == [
        ("0123", "Hydrants Keep 15 feet away.", ""),
        ("§%202", "Stop at a red light.", ""),
        ("NO", "Yield.", ""),
        ("empty", "", ""),
    ]
    assert [(each.question, each.text, each.expected, each.expects, each.topic) for each in pairs] == [
        ("q-1/plain", "how near a hydrant", (("0123",),), "answerable", "test"),
        ("q-2/plain", "NO", (), "uncovered", "test"),
    ]
    kept = read_kept(tmp_path / "out" / "questions")
    assert [(each.id, each.question) for each in kept] == [
        ("q/1", "q-1/plain"),
        ("q 2", "q-2/plain"),
        ("nobody judged", None),
    ]
    assert topics(pairs, by_key(kept)) == {("q-1/plain", "DOCS"): "q/1", ("q-2/plain", "DOCS"): "q%202"}
    assert judgements(pairs, by_key(kept)) == {"q/1": {"NO": 0, "0123": 2}, "q%202": {"NO": -1}}


def test_the_state_stays_unnamed_where_there_is_one_corpus(tmp_path: Path) -> None:
    """Expected laws of a corpus that is not of states are a plain list."""
    text = laws_and_questions([read_collection(layout(tmp_path / "docs"))])["questions/test.yaml"]
    assert '    expected: ["0123"]\n' in text


def test_one_question_in_several_collections_is_one_need(tmp_path: Path) -> None:
    """One text asked of two collections is one need in two states; one id for two texts makes two needs."""
    found = []
    for state, other in (("md", "may i turn"), ("oh", "must i stop")):
        queries = [{"_id": f"{state}/4.0", "text": "how near"}, {"_id": f"{state}/5", "text": other}]
        documents = [{"_id": f"{state}/d", "text": "Fifteen feet."}]
        qrels = {"test": f"{state}/4.0\t{state}/d\t1\n{state}/5\t{state}/d\t1\n"}
        found.append(read_collection(layout(tmp_path / state, documents, queries, qrels)))
    _, pairs = taken_in(tmp_path / "out", *found)
    assert [(each.question, each.state, each.expected) for each in pairs] == [
        ("4.0/plain", "MD", (("md/d",),)),
        ("4.0/plain", "OH", (("oh/d",),)),
        ("5/plain", "MD", (("md/d",),)),
        ("oh-5/plain", "OH", (("oh/d",),)),
    ]
    kept = by_key(read_kept(tmp_path / "out" / "questions"))
    assert list(topics(pairs, kept).values()) == ["md/4.0", "oh/4.0", "md/5", "oh/5"]


def test_two_splits_that_judge_one_query(tmp_path: Path) -> None:
    """The question stands in the first split's file and has the highest grades; both splits go out as they came."""
    qrels = {"graded": "q/1\t0123\t3\nq/1\tNO\t0\n", "test": "q/1\t0123\t1\nq/1\tempty\t1\n"}
    source = layout(tmp_path / "docs", qrels=qrels)
    both = read_collection(source)
    corpus, pairs = taken_in(tmp_path / "out", both)
    (pair,) = pairs
    kept = by_key(read_kept(tmp_path / "out" / "questions"))[pair.key]
    assert (pair.topic, pair.expected) == ("graded", (("0123",), ("empty",)))
    assert grades(pair, kept) == {"NO": 0, "0123": 3, "empty": 1}
    out = collections(corpus, pairs, [kept])
    assert {split: out[f"qrels/{split}.tsv"].partition("\n")[2] for split in qrels} == qrels
    assert "  1 queries are judged in several of them (graded, test): the highest grade counts" in summary([both])
    assert read_collection(source, "test").judged == {"test": {"q/1": {"0123": 1, "empty": 1}}}


def test_edits_made_here_go_out(tmp_path: Path) -> None:
    """A law expected since has grade 1, one that is not expected any more has no grade, a question added is a query."""
    corpus, (first, second) = taken_in(tmp_path / "out", read_collection(layout(tmp_path / "docs")))
    kept = read_kept(tmp_path / "out" / "questions")
    edited = [
        fakes.pair("q-1", "plain", "DOCS", text="how near", expected=(("NO",), ("§%202",))),
        second,
        fakes.pair("new", "plain", "DOCS", text="new", expected=(("NO", "0123"),), accepted=("empty",)),
    ]
    assert first.question == edited[0].question
    out = collections(corpus, edited, kept)
    assert out["qrels/test.tsv"].splitlines()[1:] == [
        "q/1\tNO\t1",
        "q/1\t§ 2\t1",
        "q 2\tNO\t-1",
        "new/plain\tNO\t1",
        "new/plain\t0123\t1",
    ]
    assert [json.loads(line)["text"] for line in out["queries.jsonl"].splitlines()] == [
        "how near",
        "NO",
        "what is this # about",
        "new",
    ]
    assert "(1 groups" in left_out(edited) and "(1 are left out)" in left_out(edited)
    assert left_out([first, second]) == ""


def test_a_set_that_was_never_imported(tmp_path: Path) -> None:
    """Our own laws and questions go out with all their fields, a folder a state."""
    pairs = [fakes.pair(state="AL", expected=(("AL-1",),)), fakes.pair(state="MD", expected=(("MD-2",),))]
    out = collections(fakes.CORPUS, pairs, [])
    assert json.loads(out["al/corpus.jsonl"].splitlines()[0]) == {
        "_id": "AL-1",
        "title": "How close to a hydrant may I park?",
        "text": "Park 15 feet from a hydrant.",
        "metadata": {"concept": "hydrant", "kind": "rule", "page": None, "cite": None},
    }
    assert out["md/qrels/test.tsv"] == "query-id\tcorpus-id\tscore\nneed/plain\tMD-2\t1\n"
    assert topics(pairs, {}) == {("need/plain", "AL"): "AL/need/plain", ("need/plain", "MD"): "MD/need/plain"}


# -- Ids and text

ids = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=8).filter(
    lambda text: text.strip() != ""
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(st.text(st.sampled_from(list("a%20 Cé\u00a0\n\x1f"))), st.text(st.sampled_from(list("a%20 C"))))
def test_every_id_can_be_had_back(one: str, other: str) -> None:
    """One word, no two ids the same, and the id again."""
    assert from_word(as_word(one)) == one
    assert (as_word(one) == as_word(other)) == (one == other)
    assert not as_word(one) or as_word(one).split() == [as_word(one)]


@given(st.lists(ids, max_size=12))
def test_needs_have_names_of_their_own(queries: list[str]) -> None:
    """Whatever the queries' ids, every need gets an id that the question set allows, and no two the same."""
    names = NeedNames()
    given_names = [names.give(each, "md") for each in queries]
    assert len(set(given_names)) == len(queries)
    for each in given_names:
        assert each[0].isalnum() and each[0].isascii() and set(each) <= set("-._") | {c for c in each if c.isalnum()}


@pytest.mark.parametrize(
    "text", ["NO", "0123", "1.10", "~", "2026-01-01", "a: b", "a # b", "'", '"', "\\", "\x00\x85\ufeff", "😀"]
)
def test_nothing_is_read_as_something_else(tmp_path: Path, text: str) -> None:
    """YAML gives the very text back, of the right type."""
    path = tmp_path / "text.yaml"
    path.write_text(f"texts: [{quoted(text)}]\n", encoding="utf-8")
    document, faults = scan_yaml(path)
    assert (document.data, faults) == ({"texts": [text]}, [])


def rows(
    extra: Mapping[str, st.SearchStrategy[object]], text: st.SearchStrategy[str]
) -> st.SearchStrategy[list[dict[str, object]]]:
    """Rows of a file, no id twice."""
    row = st.fixed_dictionaries({"_id": ids, "text": text}, optional=extra)
    return st.lists(row, min_size=1, max_size=4, unique_by=lambda each: each["_id"])


metadata = st.dictionaries(texts, st.none() | texts | st.integers(), max_size=2)


@st.composite
def anything(draw: st.DrawFn) -> tuple[list[dict[str, object]], list[dict[str, object]], dict[str, str]]:
    """A collection of anything that the layout allows."""
    documents = draw(rows({"title": texts, "metadata": metadata, "kind": texts, "id": texts}, texts))
    queries = draw(rows({"metadata": metadata, "question": texts}, texts))
    for at, query in enumerate(queries):
        query["text"] = f"{at} {query['text']}"  # no text is asked twice
    judged_by = st.dictionaries(st.sampled_from([str(each["_id"]) for each in documents]), st.integers(-1, 4))
    qrels = {}
    for split in draw(st.sets(st.sampled_from(["dev", "test", "train"]), min_size=1)):
        found = {str(query["_id"]): draw(judged_by) for query in queries}
        lines = [f"{query}\t{document}\t{grade}\n" for query, each in found.items() for document, grade in each.items()]
        qrels[split] = "".join(lines)
    if not any(qrels.values()):
        qrels["test"] = f"{queries[0]['_id']}\t{documents[0]['_id']}\t1\n"
    return documents, queries, qrels


@settings(max_examples=25)
@given(anything())
def test_what_comes_in_goes_out(
    collection: tuple[list[dict[str, object]], list[dict[str, object]], dict[str, str]],
) -> None:
    """Whatever ids, texts, titles, fields and grades there are: the same rows, fields and judgements come out again."""
    documents, queries, qrels = collection
    with TemporaryDirectory() as folder:
        source = read_collection(layout(Path(folder) / "docs", documents, queries, qrels))
        corpus, pairs = taken_in(Path(folder) / "out", source)
        out = collections(corpus, pairs, read_kept(Path(folder) / "out" / "questions"))
    assert [json.loads(line) for line in out["corpus.jsonl"].split("\n")[:-1]] == documents
    assert [json.loads(line) for line in out["queries.jsonl"].split("\n")[:-1]] == queries
    for split, text in qrels.items():
        written = out.get(f"qrels/{split}.tsv", "query-id\tcorpus-id\tscore\n")
        assert sorted(written.partition("\n")[2].split("\n")) == sorted(text.split("\n"))


# -- What is broken


def test_every_fault_of_every_file(tmp_path: Path) -> None:
    """Rows without ids, ids twice or that are no text, judgements of nothing, grades that are none: all at once."""
    source = layout(
        tmp_path / "docs",
        [{"_id": "a", "text": "A"}, {"_id": "a", "text": "B"}, {"_id": 5, "text": "C"}, {"_id": "d"}],
        [{"_id": "q", "text": " "}, {"_id": "", "text": "x"}],
        {"test": "q\ta\t1\nq\ta\t2\nq\tnone\t1\nnobody\ta\t1\nq\ta\nr\ta\thigh\n"},
    )
    for name, line in (("corpus", "{broken"), ("queries", r'{"_id": "r", "text": "\ud800"}')):
        path = source / f"{name}.jsonl"
        path.write_text(path.read_text() + line + "\n")
    (source / "qrels" / "dev.tsv").write_text("q\ta\t1\n")
    with pytest.raises(InputError) as refused:
        read_collection(source)
    assert [str(fault).removeprefix(f"{source}/") for fault in refused.value.faults] == [
        "corpus.jsonl:2: the _id a is given twice, first on line 1",
        "corpus.jsonl:3: `_id` must be text, found 5",
        "corpus.jsonl:4: `text` is missing",
        "corpus.jsonl:5: not JSON: Expecting property name enclosed in double quotes at column 2",
        "qrels/dev.tsv:1: expected the first line query-id corpus-id score, with tabs between",
        "qrels/test.tsv:3: a stands twice for q, first on line 2",
        "qrels/test.tsv:4: none is no document of corpus.jsonl",
        "qrels/test.tsv:5: nobody is no query of queries.jsonl",
        "qrels/test.tsv:6: expected 3 columns, query-id corpus-id score, with tabs between, found 2",
        "qrels/test.tsv:7: expected a grade, a whole number, found high",
        "qrels/test.tsv:7: r is no query of queries.jsonl",
        "queries.jsonl:1: the query q has an empty text: nothing could be asked",
        "queries.jsonl:2: `_id` is empty",
        "queries.jsonl:3: holds half a character: a \\u escape of a surrogate without its other half",
    ]


def test_what_is_not_there(tmp_path: Path) -> None:
    """Files, judgements and splits that are missing are told by name."""
    with pytest.raises(InputError) as refused:
        read_collection(tmp_path / "nowhere")
    assert [Path(fault.file).name for fault in refused.value.faults] == ["nowhere"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError) as refused:
        read_collection(tmp_path / "empty")
    assert [Path(fault.file).name for fault in refused.value.faults] == ["corpus.jsonl", "qrels", "queries.jsonl"]
    with pytest.raises(InputError, match="no judgement here"):
        read_collection(layout(tmp_path / "one", qrels={"test": ""}))
    with pytest.raises(InputError, match="no split dev; there are test"):
        read_collection(layout(tmp_path / "two"), "dev")


def test_one_text_asked_twice_and_one_name_twice(tmp_path: Path) -> None:
    """Two judged queries of one text have no one answer; two folders of one name have no state each."""
    queries = [{"_id": "1", "text": "How near"}, {"_id": "2", "text": "how  near"}]
    twice = layout(tmp_path / "a" / "md", queries=queries, qrels={"test": "1\tNO\t1\n2\t0123\t1\n"})
    other = layout(tmp_path / "b" / "MD")
    with pytest.raises(InputError) as refused:
        laws_and_questions([read_collection(twice), read_collection(other)])
    said = [fault.what for fault in refused.value.faults]
    assert any(each.startswith("2: the same text as 1 on line 1") for each in said)
    assert any(each.startswith("named like") for each in said)


def test_texts_that_no_search_could_read(tmp_path: Path) -> None:
    """Refused when they come in, not by every command after: a document and a judged query that are too long."""
    long = "word " * 4_001
    documents = [{"_id": "d", "title": "t", "text": long[:-5]}, {"_id": "whole", "text": long[:20_000]}]
    queries = [{"_id": "q", "text": long}, {"_id": "not judged", "text": long}]
    source = layout(tmp_path / "docs", documents, queries, {"test": "q\twhole\t1\n"})
    with pytest.raises(InputError) as refused:
        laws_and_questions([read_collection(source)])
    assert [str(fault).removeprefix(f"{source}/") for fault in refused.value.faults] == [
        "corpus.jsonl: d: expected at most 20,000 characters, found 20,002; split it into several documents",
        "queries.jsonl:1: q: expected at most 20,000 characters, found 20,005",
    ]


def test_a_bad_line_beside_the_questions(tmp_path: Path) -> None:
    """What was kept is read as strictly as everything else."""
    (tmp_path / KEPT).write_text('{"state": "A"}\n{"state": "A", "question": null, "query": {}, "judged": {}}\n')
    with pytest.raises(InputError) as refused:
        read_kept(tmp_path)
    assert [fault.line for fault in refused.value.faults] == [1, 2]
    assert read_kept(tmp_path / "nowhere") == []


# -- The commands


def test_the_commands_in_and_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Import says what is empty; export gives the very bytes; neither writes over what is there."""
    source, data, out = layout(tmp_path / "docs"), tmp_path / "data", tmp_path / "out"
    (source / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq/1\t0123\t2\nq/1\tNO\t0\nq 2\tNO\t-1\n")
    import_command.main(["beir", str(source), "--out", str(data)], standalone_mode=False)
    said = capsys.readouterr().out
    assert "DOCS: 4 documents, 2 of 3 queries judged, in test" in said
    assert "without any text, so that nothing finds them: empty" in said
    folders = ["--laws", str(data / "laws"), "--questions", str(data / "questions")]
    export_command.main(["beir", *folders, "--out", str(out)], standalone_mode=False)
    for path in source.rglob("*.*"):
        if path.is_file():
            assert (out / path.relative_to(source)).read_bytes() == path.read_bytes()
    for command, arguments in ((import_command, ["beir", str(source)]), (export_command, ["beir", *folders])):
        with pytest.raises(InputError, match="is there already"):
            command.main([*arguments, "--out", str(data)], standalone_mode=False)


def test_trec_files_of_the_words_alone(tmp_path: Path) -> None:
    """Judgements and a run that are read back; the word search needs no model."""
    data, out = tmp_path / "data", tmp_path / "out"
    import_command.main(["beir", str(layout(tmp_path / "docs")), "--out", str(data)], standalone_mode=False)
    folders = ["--laws", str(data / "laws"), "--questions", str(data / "questions")]
    export_command.main(["trec", *folders, "--stage", "words", "--out", str(out)], standalone_mode=False)
    assert sorted(path.name for path in out.iterdir()) == ["qrels.txt", "words.txt"]
    assert trec.read_qrels(out / "qrels.txt") == {"q/1": {"0123": 2, "NO": 0}, "q%202": {"NO": -1}}
    assert trec.read_run(out / "words.txt") == {"q/1": {"0123": 1.0}}


# -- Collections that others made


def of_others(name: str) -> list[Collection]:
    """The collections of a folder: itself one, or one a folder in it."""
    folder = COLLECTIONS / name
    folders = [folder] if (folder / "corpus.jsonl").is_file() else sorted(folder.iterdir())
    return [read_collection(each) for each in folders]


@needs_collections
@pytest.mark.parametrize("name", ["driving", "housing", "cranfield"])
def test_others_collections_come_out_byte_for_byte(tmp_path: Path, name: str) -> None:
    """Every file of every collection: the bytes that came in."""
    found = of_others(name)
    corpus, pairs = taken_in(tmp_path, *found)
    out = collections(corpus, pairs, read_kept(tmp_path / "questions"))
    root = COLLECTIONS / name
    source = {str(path.relative_to(root)): path.read_text() for path in root.rglob("*.*") if path.is_file()}
    assert sorted(out) == sorted(source)
    assert [path for path, text in source.items() if out[path] != text] == []


@needs_collections
def test_others_collections_are_linted(tmp_path: Path) -> None:
    """No error; the warnings are true: an ask that copies its law's words, two laws of one text."""
    taken_in(tmp_path, *of_others("housing"))
    checked = read_checked(Path(__file__).parents[1] / "settings.yaml", tmp_path / "laws", tmp_path / "questions")
    doubts = find_doubts(checked)
    same = [doubt for doubt in doubts if doubt.kind == "same text"]
    texts_of = {law.id: law.law for laws in checked.corpus.values() for law in laws}
    assert {doubt.kind for doubt in doubts} <= {"same text", "shared run of words", "small group"}
    for doubt in same:
        one, _, rest = doubt.fault.what.partition(": the same text as ")
        assert texts_of[one].casefold().split() == texts_of[rest.split(" on line ")[0]].casefold().split()


@pytest.mark.parametrize("split", ["../../escaped", "", "..", "a\\b", "a\0b"])
def test_the_name_of_a_split_is_no_path(split: str, tmp_path: Path) -> None:
    """It becomes a file's name when the collection goes out again."""
    row = {"state": "D", "question": "q/plain", "query": {"_id": "q"}, "judged": {split: {"a": 1}}}
    (tmp_path / "imported.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="no name of a split"):
        read_kept(tmp_path)
