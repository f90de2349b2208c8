"""The summary in a terminal: in a pipe nothing is cut, in 80 columns no heading is."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from evals.metrics import parse_metric
from evals.report.contents import Contents
from evals.report.terminal import show
from tests.browser import world


def headings(contents: Contents) -> set[str]:
    """The headings of the tables that are shown."""
    shown = ("stages", "bands", "expect-nothing", "loss-reasons", "metrics")
    return {str(name) for table in shown for name in contents.tables[table].columns} - {"hit"}


def test_in_a_pipe_nothing_is_cut(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every heading and every lost law stands whole on its line, however many columns a terminal would have."""
    monkeypatch.setenv("COLUMNS", "40")
    contents = Contents(world.run(), metrics=(parse_metric("MRR"),))
    show(contents, 1, Path("latest"))
    told = capsys.readouterr().out
    assert all(heading in told for heading in headings(contents))
    assert "…" not in told
    lost = contents.tables["losses"].query("stage == 'pool'").head(10)
    lines = told.splitlines()
    for row in lost.itertuples():
        assert any(all(str(part) in line for part in (row.question, row.words, row.near)) for line in lines)
    assert "1 vector was not recorded" in told
    assert told.endswith("The report: latest/index.html\n")


def test_a_terminal_of_80_columns_cuts_no_heading() -> None:
    """Headings break between words; no line is longer than the terminal."""
    contents = Contents(world.run(), metrics=(parse_metric("MRR"),))
    out = io.StringIO()
    show(contents, 0, Path("latest"), Console(file=out, width=80, force_terminal=True, color_system=None))
    told = out.getvalue()
    assert all(len(line) <= 80 for line in told.splitlines())
    words = {word for heading in headings(contents) for word in heading.split()}
    assert words <= set(told.split())


def test_a_table_without_rows_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """A set without questions that no law answers is no fault."""
    run = world.run()
    part = replace(run, pairs=tuple(each for each in run.pairs if each.pair.expects == "answerable"))
    show(Contents(part), 0, Path("latest"))
    assert "Questions that no law answers\nNone.\n" in capsys.readouterr().out
