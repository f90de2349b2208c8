"""The summary in a terminal: a table of kinds, the stages, the bands, and where laws were lost."""

from pathlib import Path

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.counted import counted
from evals.report.contents import Contents
from evals.report.markdown import measured, shown
from evals.stages import STAGES

LOSSES_SHOWN = 10
UNLIMITED = 10_000  # columns: in a file or a pipe nothing needs to be cut


def show(contents: Contents, computed: int, folder: Path, console: Console | None = None) -> None:
    """Print what a person wants to know before opening the report. `computed`: vectors that were not recorded."""
    out = console or _standard_output()
    out.print(Text(measured(contents)))
    if computed:
        were = f"{counted(computed, 'vector')} {'was' if computed == 1 else 'were'}"
        out.print(Text(f"{were} not recorded and computed here (near-enough record keeps what a run needs)."))
    tables = contents.tables
    _print(out, "Recall by kind and stage (mean over pairs)", kinds(contents))
    _print(out, "Stages, questions that expect a law", tables["stages"].drop(columns="hit"))
    _print(out, "Bands (cosine)", tables["bands"])
    out.print(Text(f"\n{contents.verdict}"))
    out.print(*(Text(sentence) for sentence in tables["promises"]["sentence"]), sep="\n")
    if contents.metrics:
        _print(out, "Metrics", tables["metrics"])
    _print(out, "Questions that no law answers", tables["expect-nothing"])
    _print(out, "Where laws were lost", tables["loss-reasons"])
    lost = tables["losses"]
    in_pool = lost[lost["stage"] == "pool"][["question", "state", "expected", "words", "near"]]
    first = in_pool.head(LOSSES_SHOWN)
    _print(out, f"Lost before the pool: {len(first)} of {len(in_pool):,}", first)
    out.print(Text(f"\nThe report: {folder / 'index.html'}"))


def _print(out: Console, title: str, frame: pd.DataFrame) -> None:
    out.print(Text(f"\n{title}", style="bold"), Text("None.") if frame.empty else table(frame), sep="\n")


def _standard_output() -> Console:
    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=UNLIMITED)


def kinds(contents: Contents) -> pd.DataFrame:
    """Recall by kind at each stage, with n, and all kinds together in the last row."""
    by_kind, overall = contents.tables["by-kind"], contents.tables["stages"].assign(kind="all")
    both = pd.concat([by_kind, overall])
    wide = both.pivot_table(index="kind", columns="stage", values="recall", sort=False)[list(STAGES)]
    counts = both[both["stage"] == STAGES[0]].set_index("kind")[["pairs", "needs"]]
    return counts.join(wide).reset_index()


def table(frame: pd.DataFrame) -> Table:
    """A frame as a table for a terminal: numbers to the right, what others wrote as plain text."""
    shown_table = Table(
        header_style="",
        box=SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    for name in frame.columns:
        number = bool(pd.api.types.is_numeric_dtype(frame[name]))
        word = max(map(len, str(name).split()))
        shown_table.add_column(str(name), justify="right" if number else "left", overflow="fold", min_width=word)
    for row in frame.itertuples(index=False, name=None):
        shown_table.add_row(*(Text(shown(value)) for value in row))
    return shown_table
