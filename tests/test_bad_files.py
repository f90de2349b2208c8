"""Broken files in bulk: each is refused with its file, its line, and what is wrong there, in words to act on."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evals.cli import main
from retrieval import models, project, recordings
from retrieval.errors import MOST_SHOWN, Fault, InputError, NearEnoughError
from tests.loaders import BASELINE, FAKE, FOREIGN, LOADERS, VECTORS, asked, lines, need, vector, write
from tests.loaders import LAW_ROWS as LAWS

Content = str | bytes | Callable[[str], str]


def replacing(old: str, new: str) -> Callable[[str], str]:
    """The good file with one thing changed."""

    def change(good: str) -> str:
        assert good.count(old) >= 1, old
        return good.replace(old, new, 1)

    return change


def law(**change: object) -> str:
    """A file of laws whose second is changed; None takes the field out."""
    row = {name: value for name, value in (LAWS[1] | change).items() if value is not None}
    return lines(LAWS[0], row, LAWS[2])


def ranking(**change: object) -> str:
    """A run whose second line is changed; None takes the field out."""
    row = {"state": "AL", "question": "hydrant/plain", "laws": ["AL-1"], "scores": [0.5], "stage": "near", **change}
    first = json.loads(FOREIGN.split("\n")[0])
    return lines(first, {name: value for name, value in row.items() if value is not None})


LONG = "word " * 4_001
DEEP = "[" * 200 + "]" * 200
HALF = '{"id": "a", "law": "\\ud800"}\n'

# loader, content, line (None: of the whole file), what is said
BROKEN: list[tuple[str, Content, int | None, str]] = [
    # Laws
    ("laws", "Stop at a red light.\n", 1, "not JSON: Expecting value at column 1"),
    ("laws", '[{"id": "a", "law": "b"}]\n', 1, "expected an object {...} on every line"),
    ("laws", b'{"id": "a", "law": "caf\xe9"}\n', 1, "not UTF-8 text; save the file as UTF-8"),
    ("laws", law(id=None), 2, "`id` is missing"),
    ("laws", law(law=None), 2, "`law` is missing"),
    ("laws", law(id=7), 2, "`id` must be text, found 7"),
    ("laws", law(id="MD 2"), 2, '`id` must be one word without spaces, found "MD 2"'),
    ("laws", law(id=""), 2, "`id` must be one word without spaces, found an empty text"),
    ("laws", law(id="MD-1"), 2, "the id MD-1 is given twice, first on line 1"),
    ("laws", law(law=["Stop."]), 2, "`law` must be text, found a list [...]"),
    ("laws", law(law=LONG), 2, "`law`: expected at most 20,000 characters, found 20,005; split it into several laws"),
    ("laws", law(question=LONG), 2, "`question`: expected at most 20,000 characters, found 20,005"),
    ("laws", law(kind={"a": 1}), 2, "`kind` must be text, found an object {...}"),
    ("laws", law(page=0), 2, "`page` must be a page number from 1, or null, found 0"),
    ("laws", law(page="3"), 2, '`page` must be a page number from 1, or null, found "3"'),
    ("laws", law(cite=3), 2, "`cite` must be text or null, found 3"),
    ("laws", replacing('"page": 3', '"page": NaN'), 2, "NaN is not JSON; write null where there is no value"),
    ("laws", replacing("1.5", "1e999"), 2, "1e999 is too large a number"),
    ("laws", replacing("1.5", "9" * 5_000), 2, "a number of more than 4,300 digits is not read here"),
    ("laws", replacing("[1.5]", DEEP), 2, "nested too deeply"),
    ("laws", replacing('"law": "Yield', '"law": "a", "law": "Yield'), 2, 'the key "law" is given twice'),
    ("laws", HALF, 1, "holds half a character: a \\u escape of a surrogate without its other half"),
    ("laws", replacing("§ 1", "§\x00 1"), 2, "not JSON: Invalid control character"),
    # Concept list
    ("concepts", "", 1, "expected topics, each with its concepts"),
    ("concepts", "- hydrant\n", 1, "expected topics, each with its concepts"),
    (
        "concepts",
        "a: {b: c}\nparking: [hydrant]\n",
        2,
        "parking: expected concepts, one `name: what it is about` a line",
    ),
    ("concepts", "parking: {hydrant: a, NO: b}\n", 1, "the key NO is read as false, not as text: quote it"),
    # Questions
    ("questions", "", 1, "expected names with values, found null"),
    ("questions", "needs: 7\n", 1, "`needs`: expected a list, found 7"),
    ("questions", "asks: []\nneeds: []\n", 1, "`asks` is not known here"),
    ("questions", "needs: [\n", 2, "not YAML"),
    ("questions", "needs:\n\t- a\n", 2, "not YAML: found character that cannot start any token"),
    ("questions", "needs: []\n---\nneeds: []\n", 2, "not YAML: but found another document"),
    ("questions", b"needs: [\xff]\n", 1, "not UTF-8 text; save the file as UTF-8"),
    ("questions", "needs: &a []\nmore: *a\n", 1, "anchors and aliases (& and *) are not read here"),
    (
        "questions",
        need("<<: {tags: []}, uncovered: [MD], asks: {p: q}"),
        2,
        "<< means something else in YAML: quote it",
    ),
    ("questions", need(f"uncovered: [MD], tags: {DEEP}, asks: {{p: q}}"), 2, "nested too deeply"),
    ("questions", "needs:\n  - {uncovered: [MD], asks: {p: q}}\n", 2, "`needs.id` is missing"),
    ("questions", replacing("id: moon", "id: the moon"), 13, "expected a name of letters, digits, `.`, `_` and `-`"),
    ("questions", replacing("id: moon", "id: 0123"), 13, "`needs.id`: 0123 is read as a number, not as text: quote it"),
    ("questions", replacing("id: moon", "id: hydrant"), 13, "hydrant: the id is given twice, first at"),
    ("questions", need("uncovered: [MD], asks: {}"), 2, "`needs.asks`: expected at least 1, found an object {...}"),
    ("questions", need("uncovered: [MD], asks: {p: ''}"), 2, "expected text, found an empty text"),
    ("questions", need("uncovered: [MD], asks: {p: }"), 2, "an empty value is read as nothing, not as text: quote it"),
    ("questions", need("uncovered: [MD], asks: {p: 21:30}"), 2, "21:30 is read as a number, not as text: quote it"),
    ("questions", need(f"uncovered: [MD], asks: {{p: {LONG}}}"), 2, "expected at most 20,000 characters, found 20,004"),
    ("questions", need("uncovered: [MD], asks: {p: q}, searches: [' ']"), 2, "expected text, found blanks alone"),
    (
        "questions",
        need("uncovered: [MD], asks: {p: {ask: q, kind: rude}}"),
        2,
        'expected plain, paraphrase, typo, spanish, situation or sibling, found "rude"',
    ),
    ("questions", need("unrelated: sports, asks: {p: q}"), 2, 'expected lexical, app, off-topic or adjacent, found "s'),
    ("questions", need("uncovered: [MD], asks: {p: {ask: q, knd: typo}}"), 2, "`needs.asks.p.knd` is not known here"),
    ("questions", need("expected: {MD: [[]]}, asks: {p: q}"), 2, "expected at least 1, found an empty list []"),
    ("questions", need("expected: {MD: [MD-9]}, asks: {p: q}"), 2, "n: expected MD-9 is no law of MD: no law has it"),
    ("questions", need("expected: {Md: [MD-1]}, asks: {p: q}"), 2, "n: no laws of Md; there are AL, MD"),
    ("questions", need("uncovered: [MD, Ohio], asks: {p: q}"), 2, "n: no laws of Ohio; there are AL, MD"),
    ("questions", need("unrelated: app, asks: {p: {ask: q, states: [al]}}"), 2, "n: no laws of al; there are AL, MD"),
    (
        "questions",
        need("expected: {MD: [MD-1]}, accepted: {Md: [MD-2]}, asks: {p: q}"),
        2,
        "n: Md has accepted laws and expects none",
    ),
    ("questions", need("uncovered: [MD], asks: {p: q}, family: permit"), 2, "n: no page row of MD is of permit"),
    # The same through lint, which reads everything together
    ("lint", need("expected: {MD: [AL-1]}, asks: {p: q}"), 2, "n: expected AL-1 is no law of MD: it is a law of AL"),
    ("lint", need("uncovered: [Md], asks: {p: q}"), 2, "n: no laws of Md; there are AL, MD"),
    # Settings
    ("settings", "", 1, "expected settings, one `name: value` a line"),
    ("settings", replacing("near_laws", "near_law"), 3, "unknown setting `near_law`; there are embedder, near_enough"),
    ("settings", replacing("0.3", "1.5"), 2, "`near_enough.fake`: expected 1 or less, found 1.5"),
    ("settings", replacing("0.3", "high"), 2, '`near_enough.fake`: expected a number, found "high"'),
    ("settings", replacing("0.3", ".nan"), 2, "`near_enough.fake`: expected a finite number, found NaN"),
    (
        "settings",
        replacing("{fake: 0.3, other: 0.5}", "0.3"),
        2,
        "`near_enough`: expected names with values, found 0.3",
    ),
    ("settings", replacing("laws: 8", "laws: 010"), 3, "`near_laws`: 010 is read as another number"),
    ("settings", replacing("laws: 8", "laws: 8.0"), 3, "`near_laws`: expected a whole number, found 8.0"),
    ("settings", replacing("laws: 8", "laws: -1"), 3, "`near_laws`: expected 0 or more, found -1"),
    ("settings", replacing("fake: 0.3, ", ""), 2, "no cutoff for the embedder fake; known here: other"),
    ("settings", replacing("embedder: fake\n", ""), 1, "the setting `embedder` is missing"),
    (
        "settings",
        replacing("rerank: off", "rerank: live"),
        5,
        "`rerank`: expected off, or recorded or live with the name",
    ),
    # Qrels
    ("qrels", "", None, "no line of question 0 document grade here"),
    ("qrels", replacing("q1 0 d2 0", "q1 0 d2"), 2, "expected 4 columns, question 0 document grade, found 3"),
    ("qrels", replacing("d1 -1", "d1 0.5"), 3, "expected a grade, a whole number, found 0.5"),
    ("qrels", replacing("q1 0 d2 0", "q1 0 d1 0"), 2, "d1 stands twice for q1, first on line 1"),
    # TREC runs
    ("trec run", "\n\n", None, "no line of question Q0 document rank score tag here"),
    ("trec run", replacing("q1 Q0 d2 2 -1e-3 tag", "q1 d2 -1e-3"), 2, "expected 6 columns, question Q0 document rank"),
    ("trec run", replacing("3.5", "high"), 1, "expected a score, a number, found high"),
    ("trec run", replacing("3.5", "nan"), 1, "expected a score, a number, found nan"),
    ("trec run", replacing("d2 2", "d1 2"), 2, "d1 stands twice for q1, first on line 1"),
    # Runs in JSON Lines
    ("run", f"[{FOREIGN.splitlines()[0]}]", 1, "a JSON array; expected JSON Lines, an object {...} on every line"),
    ("run", ranking(question=None), 2, "`question` is missing"),
    ("run", ranking(laws="AL-1"), 2, '`laws`: expected a list, found "AL-1"'),
    ("run", ranking(laws=[1], scores=None), 2, "`laws.0`: expected text, found 1"),
    ("run", ranking(scores=[0.5, 0.4]), 2, "1 laws and 2 scores"),
    ("run", ranking(laws=["AL-1", "AL-2"], scores=[0.4, 0.5]), 2, "the scores rise: laws stand best first"),
    ("run", ranking(stage="rerank"), 2, "no stage rerank; there are words, near, fused, pool, answer"),
    ("run", ranking(state="MD", laws=["MD-1"]), 2, "hydrant/plain in MD has a ranking of this stage before"),
    ("run", lines({"question": "other", "laws": []}), None, "0 of 1 rankings matched a question: asked are"),
    (
        "run",
        lines({"state": "MD", "question": "hydrant/plain", "laws": ["x"]}),
        None,
        "0 of 1 returned laws matched: returned are x; the corpus has",
    ),
    # Raw cosines
    ("scores", ranking(scores=None), 2, "hydrant/plain: no scores; give the raw cosine of each law"),
    ("scores", ranking(scores=[37.5]), 2, "hydrant/plain: 37.5 is no cosine; expected raw ones, from -1 to 1"),
    ("scores", FOREIGN.replace('"near"', '"pool"'), None, "no scores of the near search here"),
    # What was imported with questions
    ("kept", replacing('"state": "MD", "question": "', '"question": "'), 1, "`state` is missing"),
    ("kept", replacing("hydrant/plain", "hydrant"), 1, "`question`: expected a need and an ask, with a slash between"),
    ("kept", replacing('"MD-1": 2', '"MD-1": 2.5'), 1, "`judged.test.MD-1`: expected a whole number, found 2.5"),
    ("kept", replacing('{"_id": "q 1"}', "{}"), 1, "`query._id` must be text"),
    # Collections in BEIR's layout
    ("corpus.jsonl", lambda good: good + good.split("\n")[0], 3, "the _id d1 is given twice, first on line 1"),
    ("corpus.jsonl", replacing('"text": "", ', ""), 2, "`text` is missing"),
    ("corpus.jsonl", replacing('"title": "T"', '"title": 7'), 1, "`title` must be text, found 7"),
    ("queries.jsonl", replacing("when to go", " "), 2, "the query q2 has an empty text: nothing could be asked"),
    ("test.tsv", replacing("query-id\tcorpus-id\tscore\n", ""), 1, "expected the first line query-id corpus-id score"),
    ("test.tsv", replacing("q1\td 2\t0", "q1 d2 0"), 3, "expected 3 columns, query-id corpus-id score, with tabs"),
    ("test.tsv", replacing("d 2\t0", "d9\t0"), 3, "d9 is no document of corpus.jsonl"),
    ("test.tsv", replacing("q2\t", "q9\t"), 4, "q9 is no query of queries.jsonl"),
    ("test.tsv", replacing("\t-1", "\tgood"), 4, "expected a grade, a whole number, found good"),
    # Baselines
    ("baseline.json", "", None, "not a baseline: Expecting value"),
    ("baseline.json", "<<<<<<< HEAD\n{}", None, "not a baseline: Expecting value"),
    (
        "baseline.json",
        replacing('"format": 1', '"format": 99'),
        None,
        "this version reads format 1: record the baseline",
    ),
    ("baseline.json", replacing('"pairs": 2', '"pairs": "two"'), None, '`pairs`: expected a whole number, found "two"'),
    ("baseline.json", replacing('"cutoff": 0.3', '"cutoff": 3'), None, "`cutoff`: expected 1 or less, found 3"),
    ("baseline.json", replacing('"pool": 0.5', '"pool": 0.9'), None, "its means are not those of outcomes.csv"),
    ("outcomes.csv", "question,state\n", 1, "expected the columns question, state, kind, language, expects"),
    ("outcomes.csv", replacing("unrelated,3,,,", "unrelated,3"), 3, "expected 9 values, found 6"),
    ("outcomes.csv", replacing("unrelated,3", "unrelated,-3"), 3, "expected a whole number, found -3"),
    ("outcomes.csv", replacing("moon/speed", '"moon/speed'), None, "not a table: unexpected end of data"),
    ("margins.csv", replacing("0.9", "nan"), 2, "expected a cosine, found nan"),
    ("margins.csv", replacing("24,2 -", "24,second -"), 2, "expected a whole number, found second"),
    # A report that is compared
    ("run.json", "{", None, "not a run's summary: Expecting property name"),
    (
        "run.json",
        replacing('"settings"', '"format": 99, "settings"'),
        None,
        "format 99, and this version reads format 1",
    ),
    ("run.json", replacing('"settings"', '"numbers"'), None, "not a run's summary: `settings` is missing"),
    ("run.json", replacing("0.3", '"0.3"'), None, "`settings.near_enough`: expected the cutoff of the embedder"),
    ("run.json", replacing('"s"', "7"), None, "`fingerprints.settings`: expected text, found 7"),
    ("per_question.jsonl", "", None, "no outcome of any question here"),
    ("per_question.jsonl", replacing('"near laws": 0, ', ""), 1, "`near laws` is missing"),
    ("per_question.jsonl", replacing('"cosines": [0.9]', '"cosines": [90]'), 1, "`cosines.0`: expected 1.01 or less"),
    ("per_question.jsonl", replacing('"cosines": [0.9]', '"cosines": []'), 1, "1 expected groups and 0 cosines"),
    ("per_question.jsonl", replacing('"words": ["MD-1"], ', '"word": [], '), 1, "expected some of the stages words, n"),
    ("per_question.jsonl", replacing("moon/speed", "hydrant/plain"), 2, "hydrant/plain in MD stands here twice"),
    # Recorded vectors
    ("vectors", VECTORS.split("\n", 1)[1], 1, "expected the first line to name model, version, dimensions"),
    ("vectors", replacing('"dimensions": 16', '"dimensions": 16, "model": "x"'), 1, 'the key "model" is given twice'),
    ("vectors", VECTORS[:-1], None, "its end is missing: the last line has no line break"),
    ("vectors", replacing('"kind": "query"', '"kind": "question"'), 3, "expected a kind (query or passage) and a text"),
    ("vectors", VECTORS + lines(vector("three", dimensions=15)), 4, "expected 16 int16 numbers in base64"),
    ("vectors", VECTORS + lines(vector("three", vector="%%%")), 4, "expected 16 int16 numbers in base64"),
    ("vectors", VECTORS + lines(vector("one", vector="A" * 42 + "E=")), 4, "another vector was recorded for 'one' bef"),
    # Recorded replies
    ("replies", replacing('"how far"', '"how near"'), 1, "its key is not that of what was asked: the line was changed"),
    ("replies", replacing("[0.5, -3]", "[0.5]"), 1, "expected 2 scores, each a number"),
    ("replies", replacing("[0.5, -3]", '[0.5, "-3"]'), 1, "expected 2 scores, each a number"),
    ("replies", replacing('"ranked": [1]', '"ranked": [2]'), 2, "expected positions below 2"),
    ("replies", replacing('"refusal"', "7"), 3, "expected a cause"),
    ("replies", replacing('"usage": {"input": 7}', '"usage": 7'), 1, "expected a number of tokens a kind as `usage`"),
    ("replies", lines({"reply": {}}), 1, "expected a key and what was asked"),
    (
        "replies",
        lines(asked({"question": 7})),
        1,
        "expected to see which stage and model were asked, and which question",
    ),
    ("replies", lines(asked({"texts": "two"})), 1, "expected a reply"),
    ("rephrased", replacing('["distance"]', '[""]'), 1, "expected searches and a family or null"),
    # Judgements, and a list to judge for
    (
        "judgements",
        replacing('"no"', '"maybe"'),
        2,
        "expected need, state, law and a grade, one of answers, sibling, no",
    ),
    ("judgements", replacing('"law": "MD-2"', '"law": 2'), 2, "expected need, state, law and a grade, one of answers"),
    ("judgements", replacing("MD-2", "MD-1"), 2, "MD-1 is judged twice for hydrant in MD"),
    ("list", "\n  \n", None, "no question here; expected one a line"),
    ("list", f"how far\n{LONG}\n", 2, "expected at most 20,000 characters, found 20,005"),
    ("list", b"how far\ncaf\xe9\n", 2, "not UTF-8 text; save the file as UTF-8"),
]

REPLIES = [
    ("", "expected a JSON object on one line, found ''"),
    ("MD-1, MD-2", "expected a JSON object on one line, found 'MD-1, MD-2'"),
    ('["MD-1"]', "expected a JSON object on one line"),
    ('{"laws": "MD-1"}', 'expected "laws", a list of ids'),
    ('{"laws": [1]}', 'expected "laws", a list of ids'),
    ('{"ids": ["MD-1"]}', 'expected "laws", a list of ids'),
    ('{"laws": ["MD-1"], "scores": ["0.5"]}', 'expected "scores", a list of numbers'),
    ('{"laws": ["MD-1"], "scores": 0.5}', 'expected "scores", a list of numbers'),
    ('{"laws": ["MD-1"], "scores": [NaN]}', "expected a JSON object on one line"),
    ('{"error": "no index"}', "no index"),
]


def broken(name: str, content: Content) -> bytes:
    """What the loader's file holds then."""
    if callable(content):
        content = content(LOADERS[name].good)
    return content if isinstance(content, bytes) else content.encode()


def ids(row: object) -> str | None:
    """Short names for the tests of a table."""
    return row[:40] if isinstance(row, str) and row.isprintable() else None


def test_there_are_enough_of_every_kind() -> None:
    """Every loader of a file has broken ones, and the files that are read well are read well."""
    assert {name for name, *_ in BROKEN} == set(LOADERS) - {"set", "reply"}
    assert len(BROKEN) >= 80


@pytest.mark.parametrize("name", LOADERS)
def test_what_is_broken_below_was_good(tmp_path: Path, name: str) -> None:
    """The layouts are read without a fault, so that what is told is of what was changed."""
    write(tmp_path, LOADERS[name].files)
    LOADERS[name].read(tmp_path)


@pytest.mark.parametrize(("name", "content", "line", "said"), BROKEN, ids=ids)
def test_a_broken_file(tmp_path: Path, name: str, content: Content, line: int | None, said: str) -> None:
    """One fault: this file, this line, these words."""
    loader = LOADERS[name]
    write(tmp_path, {**loader.files, loader.file: broken(name, content)})
    with pytest.raises(InputError) as refused:
        loader.read(tmp_path)
    (fault,) = refused.value.faults
    assert (fault.file, fault.line) == (str(tmp_path / loader.file), line), fault
    assert said in fault.what


@pytest.mark.parametrize(("reply", "said"), REPLIES)
def test_a_broken_reply(tmp_path: Path, reply: str, said: str) -> None:
    """What a retriever of one's own says is refused with what it said and what was expected."""
    write(tmp_path, {"reply": reply})
    with pytest.raises(NearEnoughError) as refused:
        LOADERS["reply"].read(tmp_path)
    assert said in str(refused.value)


# -- The command line


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a model called fake that it may compute with."""
    monkeypatch.setitem(models.EMBEDDERS, "fake", FAKE)
    monkeypatch.setattr(recordings, "RECORDINGS", tmp_path / "recordings")
    monkeypatch.setattr(recordings, "CACHE", tmp_path.with_name("cache"))
    monkeypatch.setattr(project, "PROJECT", replace(project.PROJECT, root=tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a refused command says: status 2, nothing on standard output, no file made or changed."""

    def files() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}

    before = files()
    with pytest.raises(SystemExit) as left:
        main(arguments)
    printed = capsys.readouterr()
    assert (left.value.code, printed.out) == (2, ""), printed.err
    assert files() == before
    assert "Traceback" not in printed.err
    return printed.err


FIRST_OF_EACH = [row for at, row in enumerate(BROKEN) if row[0] not in [name for name, *_ in BROKEN[:at]]]
LAST_OF_EACH = [row for at, row in enumerate(BROKEN) if row[0] not in [name for name, *_ in BROKEN[at + 1 :]]]


@pytest.mark.parametrize(("name", "content", "line", "said"), [*FIRST_OF_EACH, *LAST_OF_EACH], ids=ids)
def test_a_command_refuses_it(
    world: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: Content,
    line: int | None,
    said: str,
) -> None:
    """Status 2 and one line that names the file; nothing is written."""
    loader = LOADERS[name]
    write(world, {**loader.files, loader.file: broken(name, content)})
    message = told(list(loader.command), capsys)
    where = loader.file if line is None else f"{loader.file}:{line}"
    assert message.startswith("near-enough: ") and message.count("\n") == 1, message
    assert f"{where}: " in message and said in message


def test_a_command_refuses_a_retrievers_reply(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It names the command too, and keeps no run."""
    write(world, {**LOADERS["reply"].files, "reply": "MD-1, MD-2"})
    message = told(list(LOADERS["reply"].command), capsys)
    assert message.startswith("near-enough: expected a JSON object on one line, found 'MD-1, MD-2'")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("near_laws", "--set near_laws: expected NAME=VALUE, NAME one of embedder"),
        ("near_law=3", "--set near_law=3: expected NAME=VALUE, NAME one of embedder"),
        ("near_laws=2026-13-45", '--set: `near_laws`: expected a whole number, found "2026-13-45"'),
        ("near_laws=!!bool x", '--set: `near_laws`: expected a whole number, found "!!bool x"'),
        ("near_laws=[1", '--set: `near_laws`: expected a whole number, found "[1"'),
        ("near_laws=\udc80", '--set: `near_laws`: expected a whole number, found "'),
        (f"near_laws={'[' * 5000}", '--set: `near_laws`: expected a whole number, found "[[['),
        (f"near_laws={'9' * 5000}", "--set: `near_laws`: expected a whole number, found "),
    ],
    ids=ids,
)
def test_a_command_refuses_a_change(world: Path, capsys: pytest.CaptureFixture[str], change: str, said: str) -> None:
    """Whatever stands behind --set."""
    write(world, LOADERS["laws"].files)
    assert said in told([*LOADERS["laws"].command, "--set", change], capsys)


@pytest.mark.parametrize("option", ["--laws", "--questions"])
@pytest.mark.parametrize("command", ["eval", "lint"])
def test_a_folder_that_is_not_there(world: Path, capsys: pytest.CaptureFixture[str], command: str, option: str) -> None:
    """One message that says so; a file in a folder's place is told from nothing."""
    write(world, LOADERS["laws"].files)
    arguments = [part for part in LOADERS["laws"].command if not part.startswith("--out") and part != "out"]
    arguments[0] = command
    what = "*.jsonl file of laws here, one a state" if option == "--laws" else "*.yaml file of questions here"
    assert told([*arguments, option, "/nonexistent"], capsys) == (
        f"near-enough: /nonexistent: no such folder: no {what}\n"
    )
    assert told([*arguments, option, "settings.yaml"], capsys) == (
        f"near-enough: settings.yaml: not a folder: no {what}\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["MD", ""], "the question, or a search, is empty: there is nothing to look for"),
        (["MD", " \t\u00a0"], "the question, or a search, is empty: there is nothing to look for"),
        (["MD", "how far", "--search", " "], "the question, or a search, is empty: there is nothing to look for"),
        (["MD", LONG], "expected at most 20,000 characters, found 20,005"),
        (["MD", "how far\udc80"], "holds bytes that are no text"),
    ],
    ids=ids,
)
def test_a_search_for_nothing(world: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    """Refused before anything is loaded."""
    assert said in told(["search", *arguments], capsys)


# -- Many faults, and what is no fault


def test_a_missing_table_is_told_once(tmp_path: Path) -> None:
    """Without margins.csv, the rows of outcomes.csv are not blamed for it."""
    write(tmp_path, {name: text for name, text in BASELINE.items() if not name.endswith("margins.csv")})
    with pytest.raises(InputError) as refused:
        LOADERS["outcomes.csv"].read(tmp_path)
    assert [str(fault).removeprefix(f"{tmp_path}/") for fault in refused.value.faults] == [
        "baseline/margins.csv: cannot be read: No such file or directory"
    ]


def test_a_long_list_is_cut() -> None:
    """Fifty lines and how many more there are, shared out among the files; all of them stay at hand."""
    many = [Fault("a", line, "wrong") for line in range(1, 1_001)]
    error = InputError([*many, Fault("b", 7, "wrong too")])
    shown = str(error).splitlines()
    assert len(error.faults) == 1_001
    assert shown[:2] == ["a:1: wrong", "a:2: wrong"]
    assert shown[-3:] == [f"a:{MOST_SHOWN - 1}: wrong", "b:7: wrong too", "and 951 more faults"]
    assert str(InputError(many[:MOST_SHOWN])).count("\n") == MOST_SHOWN - 1
    assert str(InputError(many[: MOST_SHOWN + 1])).endswith("\nand 1 more fault")


def test_a_fault_is_one_line_of_plain_text() -> None:
    """What would break the line or obey a terminal is written out, and a text without end is cut."""
    assert str(Fault("a", 1, "the id x\n\x1b[2J\ud800é is wrong")) == "a:1: the id x\\n\\x1b[2J\\ud800é is wrong"
    assert len(str(Fault("a", 1, "x" * 5_000_000))) < 1_100


def test_yml_is_read_and_hidden_files_are_not(tmp_path: Path) -> None:
    """An editor's or the system's own files beside the questions, the laws and the recordings change nothing."""
    loader = LOADERS["lint"]
    files = {
        name.replace(".yaml", ".yml") if name.startswith("questions") else name: text
        for name, text in loader.files.items()
    }
    hidden = {"questions/.parking.yaml": "a: [", "questions/.ipynb_checkpoints/b.yaml": "b: [", "laws/._md.jsonl": "\0"}
    write(tmp_path, {**files, **hidden})
    read = loader.read(tmp_path)
    write(tmp_path / "plain", loader.files)
    plain = loader.read(tmp_path / "plain")
    assert [pair.question for pair in read.pairs] == [pair.question for pair in plain.pairs]  # type: ignore[attr-defined]
    assert list(read.corpus) == ["AL", "MD"]  # type: ignore[attr-defined]
    vectors = LOADERS["vectors"]
    write(tmp_path, {**vectors.files, "recordings/fake/._texts.jsonl": b"\x00\x05"})
    vectors.read(tmp_path)
    replies = LOADERS["replies"]
    write(tmp_path, {**replies.files, "recordings/replies/rerank/.bge.jsonl": "{"})
    replies.read(tmp_path)


def test_a_part_of_the_states_asks_no_less_of_the_others(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --states MD a need may name AL, whose laws are in the folder; Al, whose are not, is refused all the same."""
    write(world, LOADERS["questions"].files)
    with pytest.raises(SystemExit) as left:
        main(["export", "run", "--stage", "words", "--out", "run", "--states", "MD", *LOADERS["laws"].command[1:7]])
    assert left.value.code == 0
    assert {json.loads(line)["state"] for line in Path("run").read_text().splitlines()} == {"MD"}
    capsys.readouterr()
    write(world, {"questions/more.yaml": need("expected: {MD: [MD-1], Al: [AL-1]}, asks: {p: q}")})
    message = told([*LOADERS["laws"].command, "--states", "MD"], capsys)
    assert message == "near-enough: questions/more.yaml:2: n: no laws of Al; there are AL, MD\n"
