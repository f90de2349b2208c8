"""The working set that `init` writes, and the way from it that docs/ shows, walked as a new user would."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple, get_args

import pytest
import yaml
from click.testing import CliRunner

from evals import cli
from evals.commands.start import init_command
from evals.lint.checked import read_checked
from evals.lint.report import find_doubts
from evals.questions import KINDS, UnrelatedClass, _Ask, _Need, load_questions
from evals.starting import STARTER, UNKNOWN, requirement, start, starter
from retrieval.corpus import Law, load_laws
from retrieval.errors import InputError
from retrieval.settings import Settings, load_settings

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def test_init_writes_a_set_without_faults(tmp_path: Path) -> None:
    """Laws, questions, settings, a workflow; its one kind of doubt is that it is small."""
    ended = CliRunner().invoke(init_command, [str(tmp_path / "mine")], catch_exceptions=False)
    assert ended.exit_code == 0
    names = sorted(path.relative_to(tmp_path / "mine").as_posix() for path in (tmp_path / "mine").rglob("*.*"))
    assert [name for name in names if (tmp_path / "mine" / name).is_file()] == [
        ".github/workflows/near-enough.yml",
        ".gitignore",
        "README.md",
        "laws/library.jsonl",
        "questions/library.yaml",
        "questions/unanswered.yaml",
        "settings.yaml",
    ]
    assert all(str(tmp_path / "mine" / name) in ended.output.splitlines() for name in starter())
    checked = read_checked(*(tmp_path / "mine" / name for name in ("settings.yaml", "laws", "questions")))
    assert {doubt.kind for doubt in find_doubts(checked)} == {"small group"}
    assert {pair.expects for pair in checked.pairs} == {"answerable", "uncovered", "unrelated"}


def test_init_overwrites_nothing(tmp_path: Path) -> None:
    """Every file that stands in the way is named, a link that leads nowhere too, and nothing is written."""
    (tmp_path / "settings.yaml").write_text("mine")
    (tmp_path / "README.md").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError) as error:
        start(tmp_path)
    told = str(error.value).splitlines()
    assert [line.split(": ")[0] for line in told] == [str(tmp_path / "README.md"), str(tmp_path / "settings.yaml")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "settings.yaml"]
    assert (tmp_path / "settings.yaml").read_text() == "mine"


def test_init_where_nothing_can_be_written(tmp_path: Path) -> None:
    """A file in place of the folder is bad input, not a fault of the program."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        start(tmp_path / "file")


def test_the_starters_settings_are_those_in_force() -> None:
    """Every setting with its reason, and the numbers of the project."""
    text = starter()["settings.yaml"]
    assert Settings.model_validate(yaml.safe_load(text)) == load_settings(ROOT / "settings.yaml")


def test_the_workflow_runs_commands_that_exist(tmp_path: Path) -> None:
    """It reads, may only read, installs what init was told, and every option it gives is known."""
    start(tmp_path, "near-enough @ git+https://example.org/near-enough@0123abc")
    workflow = yaml.safe_load((tmp_path / ".github/workflows/near-enough.yml").read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    assert job["env"] == {"NEAR_ENOUGH": "near-enough @ git+https://example.org/near-enough@0123abc"}
    runs = [step["run"].split() for step in job["steps"] if step.get("run", "").startswith("near-enough ")]
    assert [arguments[1] for arguments in runs] == ["lint", "gate", "eval"]
    for _, name, *options in runs:
        known = {option for parameter in cli.group.commands[name].params for option in parameter.opts}
        assert {option for option in options if option.startswith("--")} <= known


@pytest.mark.parametrize(
    ("noted", "expected"),
    [
        (
            {"url": "https://example.org/n.git", "vcs_info": {"vcs": "git", "commit_id": "0123abc"}},
            "near-enough @ git+https://example.org/n.git@0123abc",
        ),
        ({"url": "file:///home/me/near-enough", "dir_info": {"editable": True}}, UNKNOWN),
        ({"url": 'https://example.org/"', "vcs_info": {"vcs": "git", "commit_id": "0123abc"}}, UNKNOWN),
        ({}, UNKNOWN),
        (None, UNKNOWN),
    ],
)
def test_what_ci_installs(noted: object, expected: str) -> None:
    """The very commit, where pip noted one; else a line that says what to fill in."""
    assert requirement(noted) == expected


class Step(NamedTuple):
    """A command of a document, and the lines that it says the terminal shows."""

    command: str
    shown: list[str]


def steps(document: Path) -> Iterator[Step]:
    """A document's commands in order: in console blocks `$ ` begins one and `> ` goes on; in sh blocks, every line."""
    fence = ""
    step: Step | None = None
    for line in document.read_text(encoding="utf-8").splitlines():
        if line.startswith("```") or (fence == "console" and line.startswith("$ ")):
            if step:
                yield step
            step = None
        if line.startswith("```"):
            fence = "" if fence else line[3:] or "text"
        elif fence == "sh" and line.strip():
            yield Step(line, [])
        elif fence == "console" and line.startswith("$ "):
            step = Step(line[2:], [])
        elif step and line.startswith(">"):
            step = Step(f"{step.command}\n{line[2:]}", step.shown)
        elif step:
            step.shown.append(line)


def missing(step: Step, printed: str) -> str | None:
    """The first line that a document shows and the terminal does not; `...` stands for anything."""
    rest = " ".join(printed.split())
    for line in step.shown:
        for part in line.split("..."):
            if (words := " ".join(part.split())) and words not in rest:
                return line
            rest = rest.partition(words)[2] if words else rest
    return None


def others(work: Path) -> None:
    """What `exchange.md` takes as given: a set to measure with, and files that others made, as small as can be."""
    start(work)
    for name in ("cranfield", "driving/md", "driving/oh"):
        folder = work / name
        (folder / "qrels").mkdir(parents=True)
        (folder / "corpus.jsonl").write_text('{"_id": "d", "title": "Wings", "text": "Air passes over a wing."}\n')
        (folder / "queries.jsonl").write_text('{"_id": "1", "text": "what passes over a wing"}\n')
        (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\td\t2\n")
    (work / "qrels.cacm.txt").write_text("1 0 CACM-1 1\n")
    (work / "cacm-bm25.txt").write_text("1 Q0 CACM-1 1 2.5 anserini\n")
    row = {"question": "more-time/plain", "laws": ["LOAN-3", "LOAN-1"], "scores": [0.9, 0.8]}
    (work / "service.jsonl").write_text(json.dumps({**row, "stage": "answer", "outcome": "ranked"}) + "\n")
    (work / "cosines.jsonl").write_text(json.dumps(row) + "\n")
    (work / "prototype.txt").write_text("more-time/plain Q0 LOAN-3 1 0.9 prototype\n")


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
@pytest.mark.parametrize(
    "document",
    [
        *(DOCS / name for name in ("your-own-corpus.md", "tutorial.md", "judging.md", "exchange.md")),
        STARTER / "README.md",
    ],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_the_documents_say_what_happens(document: Path, tmp_path: Path) -> None:
    """Each command of the document, in its order and from an empty folder, ends well and prints what is shown there.

    What `exchange.md` and the starter's own README take as given is there before.
    """
    program = tmp_path / "bin" / "near-enough"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m evals "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "work").mkdir()
    if document.name == "exchange.md":
        others(tmp_path / "work")
    elif document.parent == STARTER:
        start(tmp_path / "work")
    walked = list(steps(document))
    assert len(walked) >= 7
    mark = "-- next --"
    script = "".join(f"{step.command}\necho '{mark}'\n" for step in walked)
    path = f"{program.parent}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=tmp_path / "work",
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "120", "HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    printed = ended.stdout.split(f"{mark}\n")
    assert ended.returncode == 0, printed[-1]
    for step, text in zip(walked, printed, strict=False):
        assert missing(step, text) is None, f"{step.command}\n{text}"


def test_the_page_of_formats_is_true(tmp_path: Path) -> None:
    """Its examples are read as laws and questions, and its tables name every field that there is, and no other."""
    text = (DOCS / "formats.md").read_text(encoding="utf-8")
    examples = dict(re.findall(r"^```(json|yaml)\n(.+?)^```", text, re.MULTILINE | re.DOTALL))
    (tmp_path / "questions.yaml").write_text(examples["yaml"], encoding="utf-8")
    (tmp_path / "library.jsonl").write_text(examples["json"], encoding="utf-8")
    assert [law.id for law in load_laws(tmp_path / "library.jsonl")] == ["LOAN-1"]
    corpus = {"AL": ["AL-S04", "AL-S09", "AL-S12", "AL-S31"], "MD": ["MD-S01", "MD-S07"]}
    pairs = load_questions(tmp_path, {state: [Law(law, "") for law in laws] for state, laws in corpus.items()})
    assert [(pair.question, pair.state, pair.expected) for pair in pairs[:3]] == [
        ("hydrant-distance/plain", "AL", (("AL-S04", "AL-S09"), ("AL-S12",))),
        ("hydrant-distance/spanish", "AL", (("AL-S04", "AL-S09"), ("AL-S12",))),
        ("hydrant-distance/phone", "AL", (("AL-S04", "AL-S09"), ("AL-S12",))),
    ]
    assert {pair.expects for pair in pairs} == {"answerable", "unrelated", "uncovered"}
    laws, questions = text.split("## Questions")
    named = [
        set(re.findall("`([a-z]+)`", " ".join(re.findall(r"^\| (`.+?) \|", part, re.MULTILINE))))
        for part in (laws, questions)
    ]
    assert named == [{field.name for field in fields(Law)} - {"extra"}, set(_Need.model_fields)]
    for name in (*_Ask.model_fields, *KINDS, *get_args(UnrelatedClass)):
        assert f"`{name}`" in questions, name
