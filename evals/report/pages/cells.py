"""A table as a page shows it: what is in each cell, which columns hold numbers, and how strongly a cell is coloured."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from evals.report.markdown import shown


@dataclass(frozen=True)
class Cell:
    """A value of a table as people read it; `heat` is its share of the way from 0 to 1 where a table is coloured."""

    text: str
    number: bool
    heat: str | None = None


@dataclass(frozen=True)
class Table:
    """A table as the page shows it."""

    name: str
    caption: str
    columns: Sequence[tuple[str, bool]]
    rows: Sequence[Sequence[Cell]]


def table(name: str, frame: pd.DataFrame, caption: str) -> Table:
    """A frame as a table, its columns and rows in their order."""
    numbers = [bool(pd.api.types.is_numeric_dtype(frame[column])) for column in frame.columns]
    rows = [
        [Cell(shown(value), number) for value, number in zip(row, numbers, strict=True)]
        for row in frame.itertuples(index=False, name=None)
    ]
    return Table(name, caption, list(zip(map(str, frame.columns), numbers, strict=True)), rows)
