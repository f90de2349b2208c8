"""A report's files: the same bytes from the same run, whole or not at all, and what others wrote is inert."""

import csv
import io
import itertools
import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.outcomes import outcomes, read_outcomes, written
from evals.report import markdown, plots
from evals.report.contents import Contents
from evals.report.files import refuse_to_replace, report_files, write_report
from evals.run import Run, evaluate
from retrieval.errors import InputError
from tests.fakes import CORPUS, embed, pair, settings

HOSTILE = "</script><script>alert(1)</script> <img src=x onerror=alert(1)> | `code` [link](x) \u2028 \" ' & {{ 7*7 }}"


def hostile_run() -> Run:
    """A run whose questions and laws hold markup."""
    laws = [replace(law, law=law.law + HOSTILE) for law in CORPUS["AL"][:3]]
    pairs = [
        pair("red", text=f"red light {HOSTILE}", expected=(("AL-2",),)),
        pair("hydrant", text=f"hydrant {HOSTILE}", expected=(("AL-2",),), kind="typo"),
        pair("moon", text=f"moon {HOSTILE}", unrelated="lexical"),
    ]
    return evaluate(settings(near_laws=0, retrieved_laws=1, candidate_laws=1), {"AL": laws}, pairs, embed, "fake")


@pytest.fixture(scope="module")
def hostile() -> dict[str, str]:
    """The files of the hostile run."""
    return report_files(Contents(hostile_run()))


def test_markup_in_questions_and_laws_is_inert(hostile: dict[str, str]) -> None:
    """The page and the summary hold no tag that a question or a law brought."""
    for name in ("index.html", "summary.md"):
        assert "<img" not in hostile[name], name
        assert "<script>alert" not in hostile[name], name
    assert "49" not in [cell.strip() for cell in hostile["summary.md"].split("|")]


def test_every_table_is_csv_that_reads_back(hostile: dict[str, str]) -> None:
    """Each has a header and rows of one length, whatever the cells hold."""
    tables = {name: text for name, text in hostile.items() if name.startswith("tables/")}
    assert len(tables) > 10
    for name, text in tables.items():
        rows = list(csv.reader(io.StringIO(text)))
        assert len({len(row) for row in rows}) == 1, name


def test_no_nan_is_written_anywhere(hostile: dict[str, str]) -> None:
    """Missing values are null or empty; strict JSON reads every file."""

    def refuse(name: str) -> object:
        raise AssertionError(name)

    json.loads(hostile["run.json"], parse_constant=refuse)
    for line in hostile["per_question.jsonl"].rstrip("\n").split("\n"):
        json.loads(line, parse_constant=refuse)
    assert not any("nan" in line.lower().split(",") for text in hostile.values() for line in text.split("\n")[:50])


def test_the_page_names_no_address_to_fetch(hostile: dict[str, str]) -> None:
    """Nothing in the page is fetched from anywhere: no link, script, style or image with an address."""
    page = hostile["index.html"]
    for mark in ('src="http', "src='http", 'href="http', "@import", "url(http", '<link rel="stylesheet"'):
        assert mark not in page


def test_the_same_run_writes_the_same_bytes(tmp_path: Path) -> None:
    """Another hash seed, time zone, locale, thread count and folder change no byte of any file."""
    program = (
        "import sys; from pathlib import Path; from tests.test_report_files import hostile_run\n"
        "from evals.report.contents import Contents; from evals.report.files import report_files, write_report\n"
        "write_report(report_files(Contents(hostile_run())), Path(sys.argv[1]))"
    )
    root = Path(__file__).parents[1]
    plain = {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C", "OPENBLAS_NUM_THREADS": "1"}
    other = {"PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "2"}
    for name, changes in (("one", plain), ("two", other)):
        (tmp_path / f"in-{name}").mkdir()
        subprocess.run(
            [sys.executable, "-W", "error", "-c", program, str(tmp_path / name)],
            env={**os.environ, **changes, "PYTHONPATH": str(root)},
            cwd=tmp_path / f"in-{name}",
            check=True,
        )
    written = [
        sorted(path.relative_to(tmp_path / name) for path in (tmp_path / name).rglob("*")) for name in ("one", "two")
    ]
    assert written[0] == written[1]
    for path in written[0]:
        if (tmp_path / "one" / path).is_file():
            assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes(), path


def test_a_failed_write_leaves_the_old_report(tmp_path: Path) -> None:
    """What stood there stays whole when writing fails half way, and nothing is left beside it."""
    folder = tmp_path / "latest"
    folder.mkdir()
    (folder / "index.html").write_text("old")
    (folder / "run.json").write_text("{}")
    with pytest.raises(ValueError, match="null"):
        write_report({"index.html": "new", "bad\0name": "x"}, folder)
    assert [path.name for path in tmp_path.iterdir()] == ["latest"]
    assert (folder / "index.html").read_text() == "old"


def test_what_is_no_report_is_never_replaced(tmp_path: Path) -> None:
    """A folder of somebody's files, or a file, is refused and stays; an empty folder is taken."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "mine.txt").write_text("mine")
    for taken, told in ((notes, "holds other files"), (notes / "mine.txt", "is a file")):
        with pytest.raises(InputError, match=told):
            write_report({"run.json": "{}"}, taken)
    assert (notes / "mine.txt").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    write_report({"run.json": "{}"}, tmp_path / "empty")
    assert (tmp_path / "empty" / "run.json").exists()


def test_a_new_report_replaces_the_old_one_whole(tmp_path: Path) -> None:
    """Files of an older report do not linger."""
    folder = tmp_path / "latest"
    (folder / "tables").mkdir(parents=True)
    (folder / "tables" / "gone.csv").write_text("old")
    (folder / "run.json").write_text("{}")
    write_report({"run.json": "{}", "index.html": "new"}, folder)
    assert not (folder / "tables" / "gone.csv").exists()
    assert (folder / "index.html").exists()


def test_a_question_a_line_without_spaces_reads_back_as_it_was(hostile: dict[str, str], tmp_path: Path) -> None:
    """Every outcome, its cosines to the last digit; the only spaces are in texts."""
    path = tmp_path / "per_question.jsonl"
    path.write_text(hostile["per_question.jsonl"], encoding="utf-8", newline="\n")
    for key, outcome in read_outcomes(path).items():
        assert written(outcome) == written(outcomes(hostile_run())[key])
    for line in hostile["per_question.jsonl"].rstrip("\n").split("\n"):
        values = json.loads(line)
        assert line == json.dumps(values, ensure_ascii=False, separators=(",", ":"))
        assert "near cosines" in values


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234, "1,234"),
        (np.int64(5667), "5,667"),
        (7, "7"),
        (True, "True"),
        (1234.5, "1,234"),
        (None, ""),
        ("12345", "12345"),
    ],
)
def test_counts_are_written_with_their_thousands_apart(value: object, text: str) -> None:
    """In the summary as on the page; what is no number stays as it is."""
    assert markdown.shown(value) == text
    if value is not None:
        assert markdown.table(pd.DataFrame({"n": [value]})).splitlines()[-1] == f"| {text} |"


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=12))
def test_labels_of_a_logarithmic_axis_never_touch(values: list[float]) -> None:
    """The greatest is kept, and every two that are kept lie a tenth of the axis apart."""
    kept = plots._apart(values)
    room = 0.1 * math.log(max(values) / min(values))
    assert kept[-1] == max(values)
    assert all(math.log(after / before) > room for before, after in itertools.pairwise(kept))
    dropped = set(values) - set(kept)
    assert all(any(abs(math.log(each / near)) <= room + 1e-12 for near in kept) for each in dropped)


@pytest.mark.parametrize("name", ["settings.yaml", "notes.txt", "laws"])
def test_a_folder_that_holds_more_than_a_report_is_left_alone(name: str, tmp_path: Path) -> None:
    """Whatever its `run.json`: what is no file of a report would be lost with it."""
    (tmp_path / "run.json").write_text("{}", encoding="utf-8")
    (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=name):
        refuse_to_replace(tmp_path)
    (tmp_path / name).unlink()
    refuse_to_replace(tmp_path)
