"""The summary in a terminal: a table of kinds, the stages, the bands, and where laws were lost."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evals.report.contents import Contents
from evals.report.markdown import measured, shown
from evals.stages import STAGES

LOSSES_SHOWN = 10


def show(contents: Contents, computed: int, folder: Path, console: Console | None = None) -> None:
    """Print what a person wants to know before opening the report. `computed`: vectors that were not recorded."""
    out = console or Console(highlight=False)
    out.print(Text(measured(contents)))
    if computed:
        out.print(Text(f"{computed} vectors were not recorded and were computed here (near-enough record keeps them)."))
    out.print(table("Recall by kind and stage (mean over pairs)", kinds(contents)))
    out.print(table("Stages, questions that expect a law", contents.tables["stages"]))
    out.print(table("Bands (cosine)", contents.tables["bands"]))
    out.print(Text(contents.verdict))
    out.print(*(Text(sentence) for sentence in contents.tables["promises"]["sentence"]), sep="\n")
    if contents.metrics:
        out.print(table("Metrics", contents.tables["metrics"]))
    out.print(table("Questions that no law answers", contents.tables["expect-nothing"]))
    out.print(table("Where laws were lost", contents.tables["loss-reasons"]))
    lost = contents.tables["losses"]
    in_pool = lost[lost["stage"] == "pool"][["question", "state", "expected", "words", "near"]]
    out.print(
        table(
            f"Lost before the pool: {min(LOSSES_SHOWN, len(in_pool))} of {len(in_pool)}",
            in_pool.head(LOSSES_SHOWN),
        )
    )
    out.print(Text(f"The report: {folder / 'index.html'}"))


def kinds(contents: Contents) -> pd.DataFrame:
    """Recall by kind at each stage, with n, and all kinds together in the last row."""
    by_kind, overall = contents.tables["by-kind"], contents.tables["stages"].assign(kind="all")
    both = pd.concat([by_kind, overall])
    wide = both.pivot_table(index="kind", columns="stage", values="recall", sort=False)[list(STAGES)]
    counts = both[both["stage"] == STAGES[0]].set_index("kind")[["pairs", "needs"]]
    return counts.join(wide).reset_index()


def table(title: str, frame: pd.DataFrame) -> Table:
    """A frame as a table for a terminal: numbers to the right, what others wrote as plain text."""
    shown_table = Table(title=title, title_justify="left", title_style="bold", header_style="", pad_edge=False)
    for name in frame.columns:
        number = bool(pd.api.types.is_numeric_dtype(frame[name]))
        shown_table.add_column(str(name), justify="right" if number else "left")
    for row in _rows(frame):
        shown_table.add_row(*(Text(shown(value)) for value in row))
    return shown_table


def _rows(frame: pd.DataFrame) -> Sequence[Sequence[object]]:
    return [list(row) for row in frame.itertuples(index=False, name=None)]
