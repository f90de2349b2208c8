"""A run as files: `index.html`, `summary.md`, `tables/*.csv`, `plots/*.svg`, `run.json`, `per_question.jsonl`.

They are written into a folder beside the wanted one and put in its place when all are there. No clock, no path and no
machine's name is in them: the same run gives the same bytes.
"""

import os
import platform
import shutil
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from evals.outcomes import FORMAT, outcomes, written
from evals.report.contents import Contents
from evals.report.markdown import summary
from evals.report.pages.page import page
from evals.report.plots import plots
from evals.run import Measured, Run
from retrieval.documents import strict_json
from retrieval.errors import Fault, InputError

# What a report's folder may hold: its own files, and the verdicts that CI puts beside them.
HELD = {
    "index.html",
    "summary.md",
    "run.json",
    "per_question.jsonl",
    "tables",
    "plots",
    "gate.xml",
    "gate.md",
    "gate.json",
}
PACKAGES = ("near-enough", "numpy", "pandas", "scipy", "scikit-learn", "matplotlib")


def write_report(files: Mapping[str, str], folder: Path) -> None:
    """The files of a report by their paths in it, in place of what the folder held. Interrupted, the old report stays.

    InputError as `refuse_to_replace` says.
    """
    folder = folder.resolve()
    refuse_to_replace(folder)
    beside = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        for name, text in files.items():
            path = beside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        _swap(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def refuse_to_replace(folder: Path) -> None:
    """InputError where a report would take the place of something that is no report: a file, or a folder of others'."""
    if folder.exists() and not folder.is_dir():
        raise InputError([Fault(str(folder), None, "is a file; a report is a folder")])
    held = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    others = sorted(held - HELD)
    if others or (held and "run.json" not in held):
        what = "holds other files, which a report would replace: name a new folder, an empty one or an earlier report"
        raise InputError([Fault(str(folder), None, f"{what} ({', '.join(others[:3])})" if others else what)])
    if not folder.resolve().name:
        raise InputError([Fault(str(folder), None, "no place for a report")])


def _swap(beside: Path, folder: Path) -> None:
    old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
    if folder.exists():
        folder.rename(old)
    beside.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def report_files(contents: Contents) -> dict[str, str]:
    """The text of every file by its path in the report."""
    drawn = plots(contents)
    return {
        "index.html": page(contents, drawn),
        "summary.md": summary(contents),
        "run.json": strict_json(run_summary(contents), indent=2) + "\n",
        "per_question.jsonl": "".join(strict_json(row, spaces=False) + "\n" for row in per_question(contents.run)),
        **{
            f"tables/{name}.csv": frame.to_csv(index=False, lineterminator="\n")
            for name, frame in contents.tables.items()
        },
        **{f"plots/{name}.svg": svg for name, svg in drawn.items()},
    }


def run_summary(contents: Contents) -> dict[str, object]:
    """What run.json holds: settings, versions, fingerprints, counts and means."""
    run, all_tables = contents.run, contents.tables
    return {
        "format": FORMAT,
        "settings": run.settings.model_dump(),
        "fingerprints": dict(run.fingerprints),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        "laws": {state: len(laws) for state, laws in run.corpus.items()},
        "pairs": len(run.pairs),
        "verdict": contents.verdict,
        "means": {name: records(all_tables[name]) for name in ("stages", "by-kind", "by-state", "by-language")},
        "expect nothing": records(all_tables["expect-nothing"]),
        "bands": records(all_tables["bands"]),
        "losses": len(contents.losses),
        "outcomes": _counts(each.trace.outcome for each in run.pairs),
    }


def records(frame: pd.DataFrame) -> list[dict[str, object]]:
    """A table's rows as JSON takes them: null where there is no value."""
    return [
        {str(key): None if pd.isna(value) else value for key, value in row.items()}
        for row in frame.astype(object).to_dict(orient="records")
    ]


def _counts(values: Iterable[str]) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return dict(sorted(counts.items()))


def per_question(run: Run) -> Iterable[dict[str, object]]:
    """One row a pair, by question and state: what was expected, where it arrived, and what each stage returned."""
    found = outcomes(run)
    by_key = {each.pair.key: each for each in run.pairs}
    return ({**written(outcome), **_trace(by_key[key])} for key, outcome in found.items())


def _trace(measured: Measured) -> dict[str, object]:
    pair, trace = measured.pair, measured.trace
    return {
        "tags": pair.tags,
        "accepted": pair.accepted,
        "near cosines": [hit.score for hit in trace.near],
    }
