"""The report of another system's run: the text of every file, and of the terminal. Prints nothing, writes nothing.

`run.json` and `per_question.jsonl` are of the form that a run of the pipeline writes, so that `compare` reads them;
the stages that the file does not hold are absent from both.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from evals import bands, tables
from evals.counted import by_cause, counted
from evals.exchange import agreement, figures, sides
from evals.exchange.agreement import Agreement
from evals.exchange.foreign import Foreign
from evals.imported import Kept
from evals.metrics import Metric, mean
from evals.outcomes import FORMAT, Side, written
from evals.questions import Key
from evals.report.files import records
from evals.report.markdown import cell, table
from evals.report.pages.details import Shown
from evals.report.pages.sides import run_page
from evals.run import Run
from retrieval.corpus import Law
from retrieval.documents import strict_json
from retrieval.settings import Settings

NAMED = 10
MEANS = ("stages", "by-kind", "by-state", "expect-nothing", "bands")
ON_THE_PAGE = {
    "agreement": "How far it agrees with the pipeline here",
    "stages": "Stages: means over all questions that expect a law",
    "by-kind": "By kind and stage",
    "by-state": "By state and stage",
    "expect-nothing": "Questions that no law answers",
    "bands": "Bands: quantiles of the cosines",
}


@dataclass(frozen=True)
class Foreigner:
    """Another system's run, measured. agreements: beside the pipeline here; None where that could not run."""

    foreign: Foreign
    settings: Settings
    corpus: Mapping[str, Sequence[Law]]
    kept: Mapping[Key, Kept]
    agreements: Sequence[Agreement] | None
    metrics: Sequence[Metric] = figures.FIGURES

    @cached_property
    def run(self) -> Run:
        """Its pairs and near rankings as a run."""
        return sides.as_run(self.foreign, self.settings, self.corpus)

    @cached_property
    def points(self) -> list[bands.Point]:
        """The cosines of its bands, of the near search's scores; [] where the file holds none, or other scores."""
        return bands.points(self.run)

    @cached_property
    def side(self) -> Side:
        """It as `compare` and the gate see it."""
        return sides.side(self.foreign, self.run, self.points)

    @cached_property
    def shown(self) -> Shown:
        """It as a page shows it."""
        return sides.shown(self.foreign, self.side, self.points, self.corpus)

    @cached_property
    def rows(self) -> pd.DataFrame:
        """A row a stage and pair."""
        return figures.of_run(self.foreign, self.kept, self.metrics)

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by name; bands only where the near search's cosines are there."""
        return {
            "stages": figures.means(self.rows, ["stage"]),
            "by-kind": figures.means(self.rows, ["kind", "stage"]),
            "by-state": figures.means(self.rows, ["state", "stage"]),
            "expect-nothing": figures.means(self.rows, ["class", "stage"], expecting=False),
            **({"bands": tables.band_quantiles(self.points)} if self.points else {}),
            **({"band-points": tables.band_points(self.points)} if self.points else {}),
            **({} if self.agreements is None else {"agreement": _agreement(self.agreements)}),
            "losses": sides.losses(self.foreign),
            "per-question": self.rows,
        }


def lines(found: Foreigner) -> Iterable[str]:
    """What was measured and how much of it matched, a line each; then how far it agrees with the pipeline here."""
    yield from _matched(found)
    if found.agreements is not None:
        yield from agreement.said(found.agreements)
    if found.side.bands:
        yield found.side.bands


def _matched(found: Foreigner) -> Iterable[str]:
    foreign = found.foreign
    yield f"{foreign.name}: the stages {', '.join(foreign.stages)}; others were not run and are not here."
    for stage, returned in foreign.returned.items():
        missing = len(foreign.pairs) - len(returned)
        rest = f"; the other {missing:,} count as nothing returned" if missing else ""
        yield f"{stage}: {len(returned):,} of {len(foreign.pairs):,} pairs are in the file{rest}"
    yield from _named("name", "in the file that no question of the set has", foreign.unmatched)
    yield from _named("returned id", "that no law of its state has, counted as wrong", foreign.unknown)
    failed = [each.outcome for each in found.side.outcomes.values() if each.fell_back]
    if failed:
        yield f"fell back: {len(failed):,} of {len(foreign.pairs):,} pairs ({by_cause(failed)})"


def _named(what: str, which: str, names: Sequence[str]) -> Iterable[str]:
    if names:
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        yield f"{counted(len(names), what)} {which}: {', '.join(names[:NAMED])}{more}"


def files(found: Foreigner) -> dict[str, str]:
    """The text of every file by its path in the report."""
    every = found.tables
    return {
        "index.html": _page(found),
        "summary.md": _summary(found),
        "run.json": strict_json(_run(found), indent=2) + "\n",
        "per_question.jsonl": "".join(strict_json(row) + "\n" for row in _per_question(found.shown)),
        **{f"tables/{name}.csv": frame.to_csv(index=False, lineterminator="\n") for name, frame in every.items()},
    }


def _agreement(found: Sequence[Agreement]) -> pd.DataFrame:
    """In how many pairs each stage is the same as here, and the first few pairs in which it is not."""
    rows = []
    for each in found:
        first = "; ".join(map(str, each.differences[: agreement.SHOWN]))
        rows.append((each.stage, each.pairs, each.identical, each.same_ids, first))
    columns = ["stage", "pairs", "same laws in the same order", "same laws", "first differences"]
    return pd.DataFrame(rows, columns=columns)


def _per_question(shown: Shown) -> Iterable[dict[str, object]]:
    """A row a pair as a run of the pipeline writes it, so that a page can be made of the folder."""
    for key, outcome in shown.side.outcomes.items():
        detail = shown.detail(key)
        yield {**written(outcome), "accepted": detail.accepted, "near cosines": detail.cosines}


def _page(found: Foreigner) -> str:
    every = found.tables
    lost = every["losses"].groupby(["stage", "kind"]).size().reset_index(name="lost laws")
    lost = lost.sort_values(["lost laws", "stage", "kind"], ascending=[False, True, True])
    shown = {name: (caption, every[name]) for name, caption in ON_THE_PAGE.items() if name in every}
    tables = {**shown, "losses": ("Lost laws, by stage and kind", lost)}
    return run_page(found.shown, [("Agreement", _agreed(found.agreements))], list(_matched(found)), tables)


def _agreed(found: Sequence[Agreement] | None) -> str:
    """In how many pairs each stage is the same as here, in a sentence."""
    if found is None:
        return "Not compared with the pipeline here."
    each = (f"{one.stage} for {one.identical:,} of {one.pairs:,} pairs" for one in found)
    return f"The same laws in the same order as the pipeline here: {', '.join(each)}."


def _run(found: Foreigner) -> dict[str, object]:
    side = found.side
    names = [name for name in found.tables if name in MEANS]
    return {
        "format": FORMAT,
        "settings": side.settings,
        "fingerprints": dict(side.fingerprints),
        "stages": list(found.foreign.stages),
        "pairs": len(found.foreign.pairs),
        "verdict": side.bands,
        "means": {name: records(found.tables[name]) for name in names},
        "unmatched": list(found.foreign.unmatched),
        "unknown laws": list(found.foreign.unknown),
        "agreement": None if found.agreements is None else agreement.records(found.agreements),
    }


def _summary(found: Foreigner) -> str:
    every = found.tables
    titles = {
        "by-kind": "By kind of question",
        "stages": "Stages, all questions that expect a law",
        "by-state": "By state",
        "bands": "Bands",
        "expect-nothing": "Questions that no law answers",
    }
    parts = ["# A run of another system", "\n".join(f"* {cell(line.strip())}" for line in lines(found))]
    for name, title in titles.items():
        if name in every:
            parts += [f"## {title}", table(every[name])]
    parts += [f"## Lost laws: {len(every['losses']):,}, all in tables/losses.csv", table(every["losses"].head(NAMED))]
    return "\n\n".join(parts) + "\n"


def aligned(frame: pd.DataFrame) -> str:
    """A table with a row or more for a terminal: four digits of a share, nothing where there is no value."""
    every = list(frame.itertuples(index=False, name=None))
    cells = [[str(name) for name in frame.columns], *([_cell(value) for value in row] for row in every)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(frame.columns))]
    text = [isinstance(value, str) for value in every[0]]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(row, widths, text, strict=True)
        ).rstrip()
        for row in cells
    )


def _cell(value: object) -> str:
    if value is None or value != value:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def mean_lines(frame: pd.DataFrame, metrics: Sequence[str]) -> Iterable[str]:
    """Each metric's mean over the judged questions that expect something, to the digits of trec_eval, with n."""
    expecting = frame[frame["class"] == "answerable"]
    there = int(expecting["in the file"].sum())
    relevant = f"{len(expecting):,} with a relevant document; {there:,} of those are in the run"
    yield f"{counted(len(frame), 'question')} judged, {relevant}"
    for name in metrics:
        values = figures.there(expecting[name])
        value, none = mean(values), sum(each is None for each in values)
        without = f", {none} without a value" if none else ""
        yield f"{name:<14}{'none' if value is None else f'{value:.4f}'}  n {len(values) - none}{without}"
