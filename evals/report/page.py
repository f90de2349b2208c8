"""The page: one HTML file that opens from the disk and fetches nothing. What others wrote is escaped."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evals.report.contents import Contents
from evals.report.markdown import measured, shown

ROWS_SHOWN = 200


@dataclass(frozen=True)
class Table:
    """A table as the page shows it: columns and cells with whether they are numbers."""

    name: str
    columns: list[tuple[str, bool]]
    rows: list[list[tuple[str, bool]]]
    left_out: int


def page(contents: Contents, plots: Mapping[str, str]) -> str:
    """The page's text, with the pictures and every table in it."""
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.get_template("page.html").render(
        measured=measured(contents),
        verdict=contents.verdict,
        plots={name: Markup(_inline(svg)) for name, svg in plots.items()},  # noqa: S704  # drawn here, not read
        tables=[_table(name, frame) for name, frame in contents.tables.items()],
    )


def _inline(svg: str) -> str:
    return svg[svg.index("<svg") :]


def _table(name: str, frame: pd.DataFrame) -> Table:
    numbers = [bool(pd.api.types.is_numeric_dtype(frame[column])) for column in frame.columns]
    shown_rows = frame.head(ROWS_SHOWN)
    rows = [
        [(shown(value), number) for value, number in zip(row, numbers, strict=True)]
        for row in shown_rows.itertuples(index=False, name=None)
    ]
    return Table(name, list(zip(map(str, frame.columns), numbers, strict=True)), rows, len(frame) - len(rows))
