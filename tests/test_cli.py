"""The command line as a person meets it: exit statuses, exact messages, start-up."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evals.cli import main

LAWS = [
    {"id": "AL-1", "law": "Park 15 feet from a hydrant.", "question": "How close to a hydrant may I park?"},
    {"id": "AL-2", "law": "Stop at a red light.", "question": "What do I do at a red light?"},
]
SETTINGS = "embedder: use-multilingual\nnear_enough: {use-multilingual: 0.3}\n"
QUESTIONS = """\
needs:
  - id: hydrant
    expected: {AL: [AL-1]}
    asks: {plain: how far from a hydrant}
  - id: moon
    unrelated: lexical
    asks: {speed: the speed limit on the moon}
"""


@pytest.fixture
def project(tmp_path: Path) -> list[str]:
    """The options that name a small project of one state."""
    for name in ("laws", "questions"):
        (tmp_path / name).mkdir()
    (tmp_path / "laws" / "al.jsonl").write_text("".join(json.dumps(law) + "\n" for law in LAWS))
    (tmp_path / "questions" / "parking.yaml").write_text(QUESTIONS)
    (tmp_path / "settings.yaml").write_text(SETTINGS)
    options = []
    for name in ("laws", "questions"):
        options += [f"--{name}", str(tmp_path / name)]
    return [*options, "--settings", str(tmp_path / "settings.yaml")]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test computes stays out of the project's cache."""
    monkeypatch.setattr("retrieval.recordings.CACHE", tmp_path / "cache")


def run(*arguments: str) -> int:
    """The exit status of a command."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return int(ended.value.code or 0)


def test_help_does_not_import_what_it_does_not_need() -> None:
    """`--help` is there at once: no numpy, pandas or matplotlib."""
    program = (
        "import sys; from evals.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'pandas', 'matplotlib', 'sklearn', 'pydantic', 'anthropic', 'yaml'} & set(sys.modules)\n"
        "sys.exit(repr(heavy) if heavy else 0)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "eval" in ended.stdout


def test_importing_retrieval_pulls_in_no_tables_and_no_plots() -> None:
    """The pipeline alone needs neither pandas nor matplotlib nor a client."""
    program = "import sys, retrieval; sys.exit(repr({'pandas', 'matplotlib', 'anthropic'} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.stderr.strip() == "set()"


def test_search_shows_every_stage(project: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Words that survived and what they stand for, both rankings, x under the cutoff, the fused order, the pool."""
    options = [*project[:2], *project[4:]]
    assert run("search", "al", "how far is the firehydrant on the moon", *options, "--set", "near_enough=0.99") == 0
    shown = capsys.readouterr().out
    assert "words: far → nothing · firehydrant → hydrant · moon → nothing" in shown
    assert "x  AL-1  Park 15 feet from a hydrant." in shown
    assert "fused, 8 asked for:\n  1.  AL-1" in shown
    assert "pool, 1 laws of 24 asked for; its end:" in shown


def test_search_as_data(project: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The same as JSON: ids of every stage, scores in full."""
    options = [*project[:2], *project[4:]]
    assert run("search", "AL", "red light", *options, "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["words"] == ["AL-2"]
    assert found["texts"][0]["by words"][0]["score"] > 0
    assert found["texts"][0]["by meaning"][0]["under the cutoff"] in (True, False)


def test_eval_writes_a_report(project: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every file of the report is there, and the terminal says where."""
    out = tmp_path / "out"
    assert run("eval", *project, "--out", str(out)) == 0
    assert {path.name for path in out.iterdir()} == {
        "index.html",
        "summary.md",
        "run.json",
        "per_question.jsonl",
        "tables",
        "plots",
    }
    assert str(out / "index.html") in capsys.readouterr().out.replace("\n", "")
    assert json.loads((out / "run.json").read_text())["pairs"] == 2
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".out")]


def test_every_fault_at_once(project: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bad YAML values and unknown ids come together, with file and line."""
    (tmp_path / "questions" / "bad.yaml").write_text(
        "needs:\n  - {id: NO, uncovered: [AL], asks: {p: q}}\n  - {id: n, expected: {AL: [AL-9]}, asks: {p: q}}\n"
    )
    assert run("eval", *project, "--out", str(tmp_path / "out")) == 2
    told = capsys.readouterr().err
    assert "bad.yaml:2: `needs.id`: NO is read as a truth value, not as text: quote it" in told
    assert "bad.yaml:3: n: expected AL-9 is no law of AL: no law has it" in told
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["eval", "--set", "near_enuogh=0.8"], "--set near_enuogh=0.8: expected NAME=VALUE, NAME one of"),
        (["eval", "--states", "ZZ"], "no laws of ZZ; there are"),
        (["eval", "--embedder", "gpt"], "no cutoff for the embedder gpt"),
        (["search", "ZZ", "q"], "no laws of ZZ; there are"),
        (["eval", "--laws", "nowhere"], "no *.jsonl file of laws here"),
        (["eval", "--questions", "nowhere"], "no *.yaml file of questions here"),
        (["eval", "--settings", "nowhere.yaml"], "nowhere.yaml: cannot be read: No such file or directory"),
        (["eval", "--scores", "cosines.jsonl", "--growth"], "leave one of the two out"),
        (["compare"], "give a change (--set or --embedder), or the folders of two runs"),
        (["gate", "--baseline", "nowhere"], "nowhere"),
        (["baseline", "--why", "  "], "a baseline needs a reason"),
        (["nonsense"], "No such command 'nonsense'"),
        (["eval", "--nonsense"], "No such option"),
    ],
)
def test_bad_arguments(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each gets one clear message and status 2."""
    assert run(*arguments) == 2
    assert told in capsys.readouterr().err


def test_a_fault_of_the_program_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What nobody foresaw is status 70, with the traceback for a report, and never looks like bad input."""

    def broken(*arguments: object) -> None:
        raise RuntimeError("unforeseen")

    monkeypatch.setattr("retrieval.settings.load_settings", broken)
    assert run("eval") == 70
    told = capsys.readouterr().err
    assert "RuntimeError: unforeseen" in told
    assert "this is a fault of the program" in told


def test_the_module_is_the_command() -> None:
    """`python -m evals` is `near-enough`."""
    ended = subprocess.run([sys.executable, "-m", "evals", "--version"], capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("near-enough, version ")
