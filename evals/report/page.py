"""The page: one HTML file that opens from the disk and fetches nothing. What others wrote is escaped or stays text.

The script, the style and the data are in the file. A content security policy lets only this script run.
"""

import base64
import hashlib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evals.baseline import Baseline
from evals.compare import Change
from evals.gate import NOT_COMPARABLE, judge
from evals.outcomes import Side
from evals.report import overview
from evals.report.contents import Contents
from evals.report.markdown import shown
from evals.report.packed import packed
from evals.run import Run
from evals.stages import STAGES
from evals.sweep import LAWS, NEAR_LAWS
from retrieval.documents import strict_json

HERE = Path(__file__).parent
# In the order in which they need each other.
SCRIPTS = (
    "data",
    "sweep",
    "curves",
    "elements",
    "state",
    "charts",
    "bands",
    "explorer",
    "questions",
    "trace",
)
ON_THE_PAGE = {
    "loss-reasons": "Where expected laws were lost, by reason",
    "parts": "What each part earns: the figures with one part left out",
    "stages": "Stages: means over all questions that expect a law",
    "expect-nothing": "Questions that no law answers",
    "rerank-depth": "The answer beside what the pool could give, at equal depth",
    "searches-pools": "What searches move into the pool and out of it, at both its sizes",
    "bands": "Bands: quantiles of the cosines",
    "what-shows": "What the set can show: the smallest share of losing needs of which it shows one, at 95 %",
}
FOLDED = {
    "by-kind": "By kind and stage",
    "by-state": "By state and stage",
    "by-language": "By language and stage",
    "by-tag": "By tag and stage",
    "by-topic": "By topic and stage",
}
HEAT = {
    "kind-by-stage": ("Recall by kind of question and stage", "kind"),
    "state-by-topic": ("Recall of the pool by topic and state", "topic"),
    "cutoff-by-pool": ("Recall by cutoff and number of laws asked for", "near_enough"),
}
DEPTHS = ((NEAR_LAWS, LAWS), (NEAR_LAWS // 2, LAWS // 2), (0, 0))
MOST_DATA = 5_700_000  # bytes: of six million, the tables and the script take the rest
MOVED = ["near_enough", "recall of pool", "lost", "gained", "laws in pool", "silent"]
COUNTS = {"pairs", "needs"}


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


def page(contents: Contents, plots: Collection[str]) -> str:
    """The page's text, with what changed since the baseline where `contents` has one. `plots` names the pictures."""
    loader = FileSystemLoader(HERE)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    script = _script()
    tables = contents.tables
    data, depths = _data(contents.run)
    return environment.get_template("page.html").render(
        policy=_policy(script),
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),  # noqa: S704  # ours
        script=Markup(script),  # noqa: S704  # ours
        data=Markup(data),  # noqa: S704  # no < is left in it
        stages=STAGES,
        measured=_measured(contents.run),
        facts=_facts(contents.run),
        sentences=overview.sentences(contents),
        kinds=[*overview.recall_rows(tables["how-sure"], "kind"), *overview.recall_rows(tables["how-sure"], "all")],
        states=list(overview.recall_rows(tables["how-sure"], "state")),
        moves=_moves(tables["cutoff-moves"], contents.run.settings.cutoff),
        against=_against(contents.run, contents.baseline),
        sliders=_sliders(contents, depths),
        heat=_heats(contents),
        tables=[_table(name, tables[name], caption) for name, caption in ON_THE_PAGE.items() if name in tables],
        folded=[_table(name, tables[name], caption) for name, caption in FOLDED.items() if name in tables],
        others=[name for name in tables if name not in {*ON_THE_PAGE, *FOLDED, *HEAT}],
        plots=list(plots),
    )


def _script() -> str:
    files = [*(HERE / "scripts" / f"{name}.js" for name in SCRIPTS), HERE / "page.js"]
    return '"use strict";\n' + "".join(file.read_text(encoding="utf-8") for file in files)


def _policy(script: str) -> str:
    """What the browser may load and run: nothing from anywhere, and of scripts this one alone."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    sources = f"script-src 'sha256-{digest}'; style-src 'unsafe-inline'"
    return f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"


def _data(run: Run) -> tuple[str, Mapping[str, int]]:
    """The data for the script, and the depths of its rankings: the deepest that keep it within its size."""
    for near_laws, laws in DEPTHS:
        content = packed(run, near_laws, laws)
        data = _embedded(content)
        if len(data.encode()) <= MOST_DATA:
            break
    return data, cast(Mapping[str, int], content["depths"])


def _embedded(content: object) -> str:
    """JSON that can stand inside a script element: no text can end it, and no reader takes a part for a line's end."""
    text = strict_json(content).replace("<", "\\u003c")
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _measured(run: Run) -> str:
    """What was measured, in one line."""
    laws = sum(map(len, run.corpus.values()))
    needs = len({each.pair.need for each in run.pairs})
    questions = len({each.pair.question for each in run.pairs})
    expecting = sum(bool(each.pair.expected) for each in run.pairs)
    return (
        f"{laws:,} laws of {', '.join(run.corpus)}; {needs:,} needs asked in {questions:,} ways, {len(run.pairs):,}"
        f" pairs of question and state, {expecting:,} of which expect a law; {run.model},"
        f" {f'vectors recorded {run.recorded}' if run.recorded else 'no recorded vectors'}"
    )


def _facts(run: Run) -> list[tuple[str, str]]:
    """The settings in force, and the fingerprints of what was measured."""
    settings = {**run.settings.model_dump(), "near_enough": f"{run.settings.cutoff:g}"}
    prints = {name: value for name, value in run.fingerprints.items() if name != "model"}
    return [
        ("Settings", ", ".join(f"{name} {value}" for name, value in settings.items())),
        ("Fingerprints", ", ".join(f"{name} {value}" for name, value in prints.items())),
    ]


def _moves(frame: pd.DataFrame, cutoff: float) -> list[tuple[str, bool, list[Cell]]]:
    """The rows of the table of moved cutoffs: its name, whether it is in force, and its cells."""
    rows = []
    for at, *values in frame[MOVED].itertuples(index=False, name=None):
        name = "no cutoff" if at == overview.NO_CUTOFF else f"{at:g}"
        rows.append((name, at == cutoff, [Cell(_shown(value), True) for value in values]))
    return rows


@dataclass(frozen=True)
class Against:
    """The run against the baseline: a sentence, and the change of the pool's recall by kind, `all` among them."""

    sentence: str
    changes: Mapping[str, Change]


def _against(run: Run, baseline: Baseline | None) -> Against | None:
    if baseline is None:
        return None
    verdict = judge(baseline, Side.of(run))
    since = f"Against {baseline.summary.date} ({baseline.summary.why})"
    if verdict.status == NOT_COMPARABLE:
        return Against(f"{since}: {'; '.join(verdict.reasons)}.", {})
    gained = sum("pool" in flip.stages for flip in verdict.gained)
    said = "; ".join([*(verdict.reasons or ["nothing is lost"]), f"gained by the pool: {gained:,}"])
    changes = [each for each in verdict.comparison.changes if each.stage == "pool" and each.by in ("all", "kind")]
    return Against(f"{since}: {said}.", {each.group: each for each in changes})


@dataclass(frozen=True)
class Slider:
    """A slider of the explorer: the setting's name, what it does, its range and step."""

    name: str
    about: str
    low: str
    high: str
    step: str
    value: str


def _sliders(contents: Contents, depths: Mapping[str, int]) -> Iterable[Slider]:
    settings, most = contents.run.settings, depths["laws"]
    cosines = contents.sweep.breakpoints() or [settings.cutoff]
    low = math.floor(min(cosines[0], settings.cutoff) * 100) / 100
    high = math.ceil(max(cosines[-1], settings.cutoff) * 100 + 1e-9) / 100
    about = "cosine needed"
    yield Slider("near_enough", about, f"{low:g}", f"{high:g}", "0.001", f"{settings.cutoff:g}")
    limits = [
        ("near_laws", "at most", 0, depths["near_laws"]),
        ("retrieved_laws", "for an answer", 1, most),
        ("candidate_laws", "in the pool", 1, most),
    ]
    if any(len(each.trace.scorings) > 1 for each in contents.run.pairs):
        limits.append(("searched_candidate_laws", "in a searched pool", 1, most))
    for name, said, low_limit, high_limit in limits:
        yield Slider(name, said, str(low_limit), str(high_limit), "1", str(getattr(settings, name)))


def _table(name: str, frame: pd.DataFrame, caption: str) -> Table:
    numbers = [bool(pd.api.types.is_numeric_dtype(frame[column])) for column in frame.columns]
    rows = [
        [Cell(_shown(value), number) for value, number in zip(row, numbers, strict=True)]
        for row in frame.itertuples(index=False, name=None)
    ]
    return Table(name, caption, list(zip(map(str, frame.columns), numbers, strict=True)), rows)


def _heats(contents: Contents) -> list[Table]:
    found = []
    for name, (caption, first) in HEAT.items():
        frame = contents.tables[name]
        if name == "cutoff-by-pool":
            frame = _marked(frame, contents.run)
        found.append(_heat(frame, name, caption, first))
    return found


def _marked(frame: pd.DataFrame, run: Run) -> pd.DataFrame:
    """The table of cutoffs and pools with the settings in force named in its heads."""
    cutoffs = {overview.NO_CUTOFF: "no cutoff", run.settings.cutoff: f"{run.settings.cutoff:g}, in force"}
    size = str(overview.pool_laws(run))
    named = [cutoffs.get(value, f"{value:g}") for value in frame["near_enough"].tolist()]
    return frame.assign(near_enough=named).rename(columns={size: f"{size}, in force"})


def _heat(frame: pd.DataFrame, name: str, caption: str, first: str) -> Table:
    """A table whose shares are coloured between the least and the greatest of them; its first column and counts not."""
    shares = [column for column in frame.columns if column != first and column not in COUNTS]
    values = pd.concat([pd.Series(dtype=float), *(frame[column].astype(float) for column in shares)]).dropna()
    low, span = (values.min(), values.max() - values.min() or 1.0) if len(values) else (0.0, 1.0)

    def cell(column: str, value: object) -> Cell:
        if column == first:
            return Cell(str(value), False)
        if column in COUNTS or _shown(value) == "":
            return Cell(_shown(value), True)
        return Cell(_shown(value), True, f"{(float(str(value)) - low) / span:.3f}")

    columns = [str(column) for column in frame.columns]
    rows = [
        [cell(column, value) for column, value in zip(columns, row, strict=True)]
        for row in frame.itertuples(index=False, name=None)
    ]
    return Table(name, caption, [(column, column != first) for column in columns], rows)


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else shown(value)
