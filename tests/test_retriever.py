"""Retrievers that others wrote: a callable, a command in any language, what it may say and what becomes of failures."""

import io
import json
import math
import shlex
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evals.commands.ask import ask_command
from evals.exchange.foreign import read_foreign
from evals.questions import Pair
from evals.retrievers import Answer, Command, Found, RetrieverError, ask, serve
from retrieval import Law
from retrieval.errors import NearEnoughError
from tests import fakes

ROOT = Path(__file__).parents[1]
CORPUS = {"AL": [Law(law, "") for law in ("a", "b", "c")], "MD": [Law("d", "")]}
PAIRS = [fakes.pair(f"need{at}", state="AL", text=f"question {at}") for at in range(5)]


def sh(script: str) -> str:
    """A command that is this shell script; $line is the question's JSON line where it reads one."""
    return f"sh -c {shlex.quote(script)}"


def each(reply: str) -> str:
    """A command that says this to every question."""
    return sh(f"while read -r line; do echo {shlex.quote(reply)}; done")


def asked(command: str, timeout: float = 30, pairs: Sequence[Pair] = PAIRS) -> list[Answer]:
    """What a command answers."""
    with Command(command, timeout) as retriever:
        return list(ask(retriever, pairs, CORPUS, 2))


def test_a_callable_is_a_retriever() -> None:
    """It is given state, text and limit; what it gives beyond the limit is cut, and no law is an answer too."""
    seen = []

    def retrieve(state: str, question: str, limit: int) -> Found:
        seen.append((state, question, limit))
        return Found(["c", "a", "b"], [3, 2, 2]) if question == "question 0" else Found([])

    found = list(ask(retrieve, PAIRS[:2], CORPUS, 2, "pool"))
    assert seen == [("AL", "question 0", 2), ("AL", "question 1", 2)]
    assert found == [
        Answer("AL", "need0/plain", ("c", "a"), (3.0, 2.0), "pool", "ranked"),
        Answer("AL", "need1/plain", (), None, "pool", "ranked"),
    ]


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (Found(["a", "x", "d"]), "x, d are no law of this state"),
        (Found(["x"]), "x is no law of this state"),
        (Found(["a", "b", "a"]), "a law is given twice: a, b, a"),
        (Found(["a", "b"], [1.0]), "1 scores for 2 laws"),
        (Found(["a"], [math.nan]), "a score is not a finite number"),
        (Found(["a", "b"], [0.1, 0.2]), "scores rise"),
    ],
)
def test_a_reply_that_is_wrong_in_itself_ends_the_asking(found: Found, told: str) -> None:
    """It is never counted as an answer; the message names the question, the state and what is wrong."""
    with pytest.raises(NearEnoughError, match=told) as error:
        list(ask(lambda *_: found, PAIRS, CORPUS, 8))
    assert "'question 0' in AL" in str(error.value)


def test_a_command_is_started_once_and_answers_line_by_line(tmp_path: Path) -> None:
    """One process reads every question, as ASCII JSON, and each of its lines is the reply to one."""
    log = tmp_path / "log"
    script = f'echo start >>{log}; while read -r line; do echo "$line" >>{log}; echo \'{{"laws": ["b"]}}\'; done'
    pair = fakes.pair(state="AL", text="¿un hidrante?")
    assert [answer.laws for answer in asked(sh(script), pairs=[*PAIRS, pair])] == [("b",)] * 6
    lines = log.read_text(encoding="ascii").splitlines()
    assert lines[0] == "start"
    assert [json.loads(line)["question"] for line in lines[1:]] == [*(pair.text for pair in PAIRS), "¿un hidrante?"]
    assert json.loads(lines[1]) == {"state": "AL", "question": "question 0", "limit": 2}


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ("loading the index", "expected a JSON object on one line, found 'loading the index'"),
        ("", "expected a JSON object on one line, found ''"),
        ('["a"]', "expected a JSON object on one line"),
        ('{"laws": "a"}', 'expected "laws", a list of ids, found \'{"laws": "a"}\''),
        ('{"ids": ["a"]}', 'expected "laws", a list of ids'),
        ('{"laws": [1]}', 'expected "laws", a list of ids'),
        ('{"laws": ["a"], "scores": ["1"]}', 'expected "scores", a list of numbers'),
        ('{"laws": ["a"], "scores": [true]}', 'expected "scores", a list of numbers'),
        ('{"laws": ["a"], "scores": [NaN]}', "expected a JSON object on one line"),
        ('{"laws": ["a"], "scores": [1e999]}', "expected a JSON object on one line"),
        ('{"laws": ["a"], "scores": [1' + "0" * 400 + "]}", 'expected "scores", a list of numbers'),
    ],
)
def test_a_line_that_is_no_reply_is_refused(reply: str, told: str) -> None:
    """With what was found; a message on standard output is told apart from a reply."""
    with pytest.raises(NearEnoughError) as error:
        asked(each(reply))
    assert told in str(error.value)


def test_a_silent_command_is_ended_and_started_anew() -> None:
    """Its question has no laws and says why; the others are answered."""
    script = 'while read -r line; do case "$line" in *"question 1"*) sleep 600;; esac; echo \'{"laws": ["a"]}\'; done'
    found = asked(sh(script), timeout=2)
    assert [answer.outcome for answer in found] == ["ranked", "timed out", "ranked", "ranked", "ranked"]
    assert (found[1].laws, found[1].scores) == ((), None)


def test_an_error_that_a_retriever_tells_is_counted() -> None:
    """Two in a row are outcomes, and an answer between begins the count anew."""
    says = """*"question 2"*) echo '{"laws": []}';; *) echo '{"error": "no"}';;"""
    script = f'while read -r line; do case "$line" in {says} esac; done'
    found = asked(sh(script))
    assert [answer.outcome for answer in found] == ["error", "error", "ranked", "error", "error"]


def test_three_failures_in_a_row_end_the_asking() -> None:
    """A command that ends is told with its status and what it said on standard error."""
    with pytest.raises(NearEnoughError) as error:
        asked(sh("read -r line; echo no index here >&2; exit 3"))
    told = str(error.value)
    assert told.startswith("3 questions in a row without an answer; the last: ended with status 3 at 'question 2'")
    assert told.endswith("; it said: no index here"), "the last process's words, not those of the two before"


@pytest.mark.parametrize("command", ["no-such-program --x", "'unbalanced", "", "   "])
def test_a_command_that_cannot_be_started(command: str) -> None:
    """It is named."""
    with pytest.raises(NearEnoughError) as error:
        asked(command)
    assert f"cannot start the retriever {command!r}" in str(error.value)


def test_more_than_a_line_a_question_is_refused() -> None:
    """Every reply after it would be another question's; seen at the last question at the latest."""
    twice = sh('while read -r line; do echo \'{"laws": ["a"]}\'; done; echo \'{"laws": ["b"]}\'')
    with pytest.raises(NearEnoughError, match="more than a line a question"):
        asked(twice, pairs=PAIRS[:1])
    with pytest.raises(NearEnoughError, match=r"more than a line a question|expected a JSON object"):
        asked("yes")


def test_nothing_that_a_command_started_stays_behind(tmp_path: Path) -> None:
    """Its own children end with it."""
    script = f"sleep 600 & echo $! >{tmp_path}/pid; wait"
    with Command(sh(script), 2) as retriever, pytest.raises(RetrieverError, match="no reply"):
        retriever("AL", "q", 1)
    stat = Path("/proc") / (tmp_path / "pid").read_text().strip() / "stat"
    if not Path("/proc/self/stat").exists():
        pytest.skip("no /proc here")
    until = time.monotonic() + 10
    while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z" and time.monotonic() < until:
        time.sleep(0.02)
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_serve_makes_a_command_of_a_callable() -> None:
    """A line in, a line out; RetrieverError becomes an error that the run counts."""

    def retrieve(state: str, question: str, limit: int) -> Found:
        if question == "bad":
            raise RetrieverError("error", "the index is being rebuilt")
        return Found([f"{state}-{limit}"], [0.5] if question == "scored" else None)

    lines = [json.dumps({"state": "AL", "question": text, "limit": 3}) for text in ("scored", "bad", "plain")]
    out = io.StringIO()
    serve(retrieve, lines, out)
    assert [json.loads(line) for line in out.getvalue().splitlines()] == [
        {"laws": ["AL-3"], "scores": [0.5]},
        {"error": "the index is being rebuilt"},
        {"laws": ["AL-3"], "scores": None},
    ]


LAWS = [
    {"id": "AL-1", "law": "Park 15 feet from a hydrant."},
    {"id": "AL-2", "law": "Stop at a red light."},
]
QUESTIONS = "needs: [{id: n, expected: [AL-1], asks: {p: how near a hydrant may i park, q: quiero parar}}]\n"


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    """The options that name a small project of one file of laws."""
    for name, file, text in (
        ("laws", "al.jsonl", "".join(json.dumps(law) + "\n" for law in LAWS)),
        ("questions", "parking.yaml", QUESTIONS),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text(text, encoding="utf-8")
    return ["--laws", str(tmp_path / "laws"), "--questions", str(tmp_path / "questions")]


def run(*arguments: str) -> Result:
    """`near-enough ask` with these arguments."""
    return CliRunner().invoke(ask_command, arguments)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(
            f"node {ROOT / 'examples/node/retriever.mjs'}",
            marks=pytest.mark.skipif(shutil.which("node") is None, reason="Node is not on this machine"),
        ),
        f"{sys.executable} {ROOT / 'examples/retriever.py'}",
    ],
    ids=["node", "python"],
)
def test_the_examples_are_asked_and_read_as_runs(
    command: str, folders: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they find becomes a run in the form that foreign runs are read in."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    out = tmp_path / "run.jsonl"
    ended = run("--retriever", f"{command} {tmp_path / 'laws'}", "--out", str(out), *folders)
    assert (ended.exit_code, ended.output) == (0, f"{out}: 2 questions asked\n")
    found, nothing = read_foreign(out)
    assert (found.state, found.question, found.stage, found.outcome) == ("AL", "n/p", "answer", "ranked")
    assert found.returned.laws[0] == "AL-1"
    assert found.returned.scores is not None
    assert nothing.returned.laws == ()


def test_failures_are_counted_in_the_terminal_and_in_the_run(folders: list[str], tmp_path: Path) -> None:
    """The line says how many questions have no answer, and why; the run keeps them, without laws."""
    out = tmp_path / "run.jsonl"
    ended = run("--retriever", each('{"error": "no"}'), "--out", str(out), *folders)
    assert (ended.exit_code, ended.output) == (0, f"{out}: 2 questions asked, of which 2 error\n")
    assert [(line.outcome, line.returned.laws) for line in read_foreign(out)] == [("error", ())] * 2


def test_a_broken_retriever_leaves_no_run(folders: list[str], tmp_path: Path) -> None:
    """No file where the asking ended half way."""
    ended = run("--retriever", each("{}"), "--out", str(tmp_path / "run.jsonl"), *folders)
    assert isinstance(ended.exception, NearEnoughError)
    assert not (tmp_path / "run.jsonl").exists()
