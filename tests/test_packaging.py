"""What is installed: the wheel and what it holds, where a project is looked for, the generated command reference."""

import re
import shlex
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import click
import pytest

from evals import cli
from evals.commands import reference
from retrieval.project import CLONE, PACKAGE, find_project

ROOT = Path(__file__).parents[1]


def project(folder: Path) -> Path:
    """A folder that is a project."""
    (folder / "questions").mkdir(parents=True)
    (folder / "settings.yaml").write_text("")
    return folder


def test_the_current_directory_is_the_project_where_it_holds_one(tmp_path: Path) -> None:
    """Its settings, questions and laws, its recordings though there are none yet, its reports and its cache."""
    here, clone = project(tmp_path / "here"), project(tmp_path / "clone")
    (here / "laws").mkdir()
    found = find_project(here, clone, tmp_path / "packaged")
    assert (found.root, found.settings, found.questions) == (here, here / "settings.yaml", here / "questions")
    assert (found.laws, found.recordings) == (here / "laws", here / "recordings")
    assert (found.reports, found.cache) == (here / "reports", here / ".cache" / "vectors")


def test_a_project_without_laws_measures_the_packages_own(tmp_path: Path) -> None:
    """And replays what was recorded for them, unless it has recordings itself."""
    here, clone = project(tmp_path / "here"), project(tmp_path / "clone")
    found = find_project(here, clone, tmp_path / "packaged")
    assert (found.laws, found.recordings) == (PACKAGE / "laws", clone / "recordings")
    (here / "recordings").mkdir()
    assert find_project(here, clone, tmp_path / "packaged").recordings == here / "recordings"


def test_elsewhere_the_clone_is_the_project(tmp_path: Path) -> None:
    """Whatever else a directory holds: somebody's settings.yaml alone makes no project."""
    (tmp_path / "settings.yaml").write_text("of something else")
    clone = project(tmp_path / "clone")
    found = find_project(tmp_path, clone, tmp_path / "packaged")
    assert (found.root, found.settings, found.recordings) == (clone, clone / "settings.yaml", clone / "recordings")


def test_without_a_clone_the_package_answers_and_writes_under_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reports go where the user is; what is computed goes into the user's cache, or beside, for one without a home."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    packaged = tmp_path / "packaged"
    found = find_project(tmp_path, tmp_path / "site-packages", packaged)
    assert (found.root, found.reports) == (tmp_path, tmp_path / "reports")
    assert (found.settings, found.questions) == (packaged / "settings.yaml", packaged / "questions")
    assert (found.laws, found.recordings) == (PACKAGE / "laws", packaged / "recordings")
    assert found.cache == tmp_path / "home" / ".cache" / "near-enough" / "vectors"

    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", homeless)
    assert find_project(tmp_path, tmp_path / "none", packaged).cache == tmp_path / ".cache" / "vectors"


def test_this_clone_is_its_own_project() -> None:
    """Its laws lie in the package, all else beside it."""
    found = find_project(ROOT)
    assert (found.root, found.laws) == (CLONE, CLONE / "retrieval" / "laws")


def test_importing_retrieval_alone_is_light() -> None:
    """Neither pandas nor matplotlib, nor anything of evals."""
    program = (
        "import sys, retrieval\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'pandas', 'matplotlib', 'evals', 'sklearn'}))"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_the_command_reference_is_that_of_the_code() -> None:
    """docs/commands.md is what `python -m evals.commands.reference` writes."""
    written = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    # In a process of its own: click keeps the help option that a command was first asked with.
    made = subprocess.run(
        [sys.executable, "-m", "evals.commands.reference"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert written == made.stdout, "make commands"


def test_the_reference_holds_every_command_that_is_not_hidden() -> None:
    """Those of groups too, each with its options."""
    text = reference.reference(cli.group)
    for name, command in cli.group.commands.items():
        assert (f"\n## near-enough {name}\n" in text) == (not command.hidden)
    assert "--set NAME=VALUE" in text
    assert "\\b" not in text, "click keeps lines after a backspace, which a raw docstring does not hold"


def test_every_option_of_every_command_says_what_it_does() -> None:
    """An option without a help text is a fault of the reference."""
    silent = [
        f"{name} {parameter.opts[0]}"
        for name, command in cli.group.commands.items()
        for parameter in command.params
        if parameter.param_type_name == "option" and not getattr(parameter, "help", None)
    ]
    assert silent == []


DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("evals/starter/*.md"), *ROOT.glob("evals/starter/*.yaml")]
)
named = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())

SHELL = {"|", "||", "&&", ";", ">", ")", "..."}


def shown(text: str) -> Iterator[tuple[bool, list[str]]]:
    """The near-enough commands of a document, each with whether it stands in a block, whole, or in a sentence."""
    blocks = re.findall(r"^```[a-z]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in re.sub(r"\n\s+(?=--)", " ", block).splitlines()]
    for whole, found in [
        *((True, line) for line in lines),
        *((False, each) for each in re.findall("`([^`]+)`", prose)),
    ]:
        match = re.match(r"(?:\$ |> )?(?:.+\| |- run: )?(?:\.venv/bin/)?near-enough (.+)", found)
        if match:
            arguments = shlex.split(match[1], comments=True)
            yield whole, list(takewhile(lambda each: each not in SHELL, arguments))


def unknown(arguments: list[str], whole: bool) -> str | None:
    """What is wrong with a command, None where nothing is: a name or an option that is not there, one that lacks."""
    command: click.Command = cli.group
    names = ["near-enough"]
    while isinstance(command, click.Group) and arguments:
        name, *arguments = arguments
        if name not in command.commands:
            return f"no command {name}"
        names.append(name)
        command = command.commands[name]
    try:
        command.make_context(" ".join(names), arguments, resilient_parsing=not whole and not arguments)
    except click.MissingParameter as error:
        return error.format_message() if whole else None
    except click.ClickException as error:
        return error.format_message()
    return None


@named
def test_every_command_that_a_document_shows_is_one(document: Path) -> None:
    """Its name, its options and their values; in a block nothing that it needs is missing either."""
    text = document.read_text(encoding="utf-8")
    assert [(each, what) for whole, each in shown(text) if (what := unknown(each, whole))] == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^|`|&& )make ([a-z]+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_a_command_that_is_none_would_be_seen() -> None:
    """The test above finds a name, an option or a value that is not there, and what lacks."""
    text = """
```sh
$ near-enough evil
echo x | near-enough eval --nowhere && echo
near-enough eval --stage somewhere
near-enough init   # a folder is missing
near-enough export trec --out x || echo "$?"
```
`near-enough export trec --stage words`, `near-enough gate --why "x"`, `near-enough judge`
"""
    found = [unknown(each, whole) for whole, each in shown(text)]
    assert [what is None for what in found] == [False, False, False, False, True, True, False, True]


@named
def test_what_a_document_links_to_is_there(document: Path) -> None:
    """Every file beside it, and every picture."""
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
        if not re.match("https?:", target):
            assert (document.parent / target).exists(), target


def test_the_index_holds_every_page() -> None:
    """docs/README.md links to each page of docs/."""
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert set(re.findall(r"\]\(([a-z-]+\.md)\)", index)) == pages


def test_every_dependency_has_its_reason() -> None:
    """docs/dependencies.md names what pyproject.toml asks for: a row for each that a run needs, the others in prose."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    names = [re.split("[ ><=;]", each)[0] for each in project["dependencies"]]
    assert sorted(re.findall(r"^\| ([a-z0-9-]+) \|", text, re.MULTILINE)) == sorted(["package", *names])
    for extra in project["optional-dependencies"].values():
        for each in extra:
            name = re.split("[ ><=;]", each)[0]
            assert name in text or name.removesuffix("-stubs") in names or name.startswith("types-"), name


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this clone."""
    build = pytest.importorskip("hatchling.build", reason="hatchling is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    program = f"from hatchling.build import build_wheel; print(build_wheel({str(folder)!r}))"
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert build
    return folder / ended.stdout.split()[-1]


def test_the_wheel_holds_all_that_a_run_needs(wheel: Path) -> None:
    """Code, laws, questions, settings, recordings, the page's parts and the starter; no test, no report, no cache."""
    names = set(zipfile.ZipFile(wheel).namelist())
    held = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    for source, target in held["force-include"].items():
        files = [ROOT / source] if (ROOT / source).is_file() else list((ROOT / source).rglob("*"))
        wanted = {f"{target}{str(each)[len(str(ROOT / source)) :]}" for each in files if each.is_file()}
        assert wanted
        assert wanted <= names
    for package in ("evals", "retrieval"):
        files = [each for each in (ROOT / package).rglob("*") if each.is_file() and "__pycache__" not in each.parts]
        assert {each.relative_to(ROOT).as_posix() for each in files} <= names
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"evals", "retrieval", "near_enough"}
    assert not [name for name in names if name.endswith(".pyc") or "/.cache" in name]


def test_the_wheel_works_from_an_empty_directory(wheel: Path, tmp_path: Path) -> None:
    """Unpacked away from the clone: laws and settings inside, nothing but a report is left where the user is."""
    site, empty = tmp_path / "site", tmp_path / "empty"
    empty.mkdir()
    zipfile.ZipFile(wheel).extractall(site)
    question = "what is the legal blood alcohol limit if you're 21 or older"
    ended = subprocess.run(
        [sys.executable, "-m", "evals", "search", "MD", question],
        cwd=empty,
        env={"PYTHONPATH": str(site), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "MD-S326" in ended.stdout
    assert list(empty.iterdir()) == []
