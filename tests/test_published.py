"""The published analysis and the README say what a run says now."""

import csv
import re
from pathlib import Path

import pytest

from evals.commands.options import read_inputs
from evals.questions import QUESTIONS, load_questions
from evals.report.contents import Contents
from evals.report.published import PICTURES, published_tables, published_text
from evals.run import Run, evaluate
from retrieval import load_corpus, load_settings, recordings
from retrieval.models import EMBEDDERS
from retrieval.recordings import RECORDINGS, Vectors
from retrieval.settings import changed

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "reports" / "near-enough"
RENEW = "run `make publish` and look at what changed"


def run_with(*changes: str) -> Run:
    """The project's own set with the settings in force, from the recordings alone."""
    settings, corpus = changed(load_settings(), changes), load_corpus()
    model = EMBEDDERS[settings.embedder]
    vectors = Vectors(model, RECORDINGS / model.name, None)
    name = f"{model.name} ({model.version})"
    pairs = sorted(load_questions(QUESTIONS, corpus), key=lambda pair: (pair.question, pair.state))
    return evaluate(settings, corpus, pairs, vectors.embed, name)


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    """What a report of the project's own set holds, from the recordings alone: nothing is left to be computed."""
    run, cache = run_with(), tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(recordings, "CACHE", cache)
        near_rules = read_inputs().rules_alone(run)
    assert near_rules is not None
    assert list(cache.iterdir()) == []
    return Contents(run, near_rules=near_rules)


def test_the_published_tables_are_those_of_a_run(contents: Contents) -> None:
    """Every table, byte for byte."""
    for name, text in published_tables(contents).items():
        assert (PUBLISHED / name).read_text(encoding="utf-8") == text, f"{name}: {RENEW}"


def test_the_published_text_says_what_a_run_says(contents: Contents) -> None:
    """Its figures are the run's, and its pictures are there."""
    text = published_text(contents, Contents(run_with("rephrase=written")))
    assert (PUBLISHED / "README.md").read_text(encoding="utf-8") == text, RENEW
    for name in PICTURES:
        assert (PUBLISHED / "plots" / f"{name}.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_the_readme_quotes_a_run(contents: Contents) -> None:
    """The table of recall by kind in the README holds the means of a run, to three digits."""
    rows = re.findall(r"^\| ([a-z]+) \| ([\d,]+) \| (\d+) \| (\d\.\d{3}) \| (\d\.\d{3}) \|$", readme(), re.MULTILINE)
    sure = contents.tables["how-sure"]
    found = sure[sure["by"].isin(["all", "kind"])].set_index(["group", "stage"])
    assert len(rows) == 7
    for kind, pairs, needs, *recalls in rows:
        row = found.loc[kind, "pool"]
        assert (pairs, needs) == (f"{row['pairs']:,}", f"{row['needs']}")
        assert recalls == [f"{found.loc[(kind, stage), 'recall']:.3f}" for stage in ("pool", "answer")], kind


def test_the_readme_quotes_the_published_tables() -> None:
    """Recall without the cards, and the losses that the smallest and the largest group can show."""
    parts = {row[0]: row for row in rows_of("parts")}
    shown = {(row[0], row[1]): f"{float(row[-1]):.1%}".replace("%", " %") for row in rows_of("set") if row[-1]}
    text = " ".join(readme().split())
    names = ("the cards' questions, in both searches", "the cards' questions, in the word search", "nothing")
    without, by_words, inside = (float(parts[name][3]) for name in names)
    assert f"the pool's recall is {without:.3f} instead of {inside:.3f} ({by_words:.3f} where" in text
    assert f"fewer than {shown['kind', 'situation']} of them" in text
    assert f"one under {shown['kind', 'plain']}" in text  # every need is asked plainly


def rows_of(table: str) -> list[list[str]]:
    """The rows of a published table, without its header."""
    with (PUBLISHED / "tables" / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def test_what_the_readme_names_is_there() -> None:
    """Every file it links to exists, and every command and make target it shows is one."""
    from evals.cli import group

    text = readme()
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / target).exists(), target
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for command in re.findall(r"near-enough ([a-z]+) ", text):
        assert command in group.commands, command


def readme() -> str:
    """The README's text."""
    return (ROOT / "README.md").read_text(encoding="utf-8")
