"""The page: one HTML file that opens from the disk and fetches nothing. What others wrote is escaped or stays text.

The script, the style and the data are in the file. A content security policy lets only this script run.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import pandas as pd

from evals.baseline import Baseline
from evals.compare import Change
from evals.gate import NOT_COMPARABLE, judge
from evals.outcomes import Side
from evals.report import overview
from evals.report.contents import Contents
from evals.report.markdown import asked, shown
from evals.report.pages import recalls
from evals.report.pages.cells import Cell, Table, table
from evals.report.pages.embedding import MOST_DATA, embedded, rendered
from evals.report.pages.packed import packed
from evals.report.sentences import sentences
from evals.reranking import statement
from evals.run import Run
from evals.stages import STAGES
from evals.sweep import LAWS, NEAR_LAWS
from retrieval.settings import Settings

# In the order in which they need each other.
SCRIPTS = (
    "scripts/unpack.js",
    "scripts/data.js",
    "scripts/sweep.js",
    "scripts/curves.js",
    "scripts/elements.js",
    "scripts/numbers.js",
    "scripts/copy.js",
    "scripts/csv.js",
    "scripts/state.js",
    "scripts/address.js",
    "scripts/contents.js",
    "scripts/listing.js",
    "scripts/ticks.js",
    "scripts/charts.js",
    "scripts/dots.js",
    "scripts/bands.js",
    "scripts/explorer.js",
    "scripts/questions.js",
    "scripts/trace.js",
    "page.js",
)
ON_THE_PAGE = {
    "loss-reasons": "Where expected laws were lost, by reason",
    "parts": "What each part earns: the figures with one part left out",
    "stages": "Stages: means over all questions that expect a law",
    "metrics": "Further metrics at every stage: means over the pairs that have a value",
    "expect-nothing": "Questions that no law answers",
    "rerank-depth": "The answer beside what the pool could give, at equal depth",
    "rerank-fallbacks": "Where the reranker or the rephraser did not answer, by cause",
    "rerank-none-named": "Where the reranker named no law",
    "rerank-no-floor": "Why there is no floor: what one that suits English would cut",
    "rerank-page-rows": "Page rows beside the answer's laws",
    "searches-pools": "What searches move into the pool and out of it, at both its sizes",
    "bands": "Bands: quantiles of the cosines",
    "overlap": "How far the bands without an answer reach into the answers",
    "promises": "What may be promised of a cutoff: the share of needs it costs at most, and how sure that is",
    "what-shows": "What the set can show: where this share of the needs lost a law, it would hold one of them, at 95 %",
}
FOLDED = {
    "by-kind": "By kind and stage",
    "by-state": "By state and stage",
    "by-language": "By language and stage",
    "by-tag": "By tag and stage",
    "by-topic": "By topic and stage",
    "bands-by": "Bands by kind, language and state",
    "losses-by": "Where expected laws were lost, by kind and state",
    "growth": "Recall as the corpus grows",
    "set": "What the set holds",
}
HEAT = {
    "kind-by-stage": ("Recall by kind of question and stage", "kind"),
    "state-by-topic": ("Recall of the pool by topic and state", "topic"),
    "cutoff-by-pool": ("Recall by cutoff and number of laws asked for", "near_enough"),
}
DEPTHS = ((NEAR_LAWS, LAWS), (NEAR_LAWS // 2, LAWS // 2), (0, 0))
MOVED = {"recall of pool": "recall", "lost": "lost", "gained": "gained", "laws in pool": "laws", "silent": "silent"}
COUNTS = {"pairs", "needs"}


def page(contents: Contents, plots: Collection[str]) -> str:
    """The page's text, with what changed since the baseline where `contents` has one. `plots` names the pictures."""
    tables = contents.tables
    filled = {name for name, frame in tables.items() if len(frame)}
    moved = [column for column in MOVED if tables["cutoff-moves"][column].notna().any()]
    rows = list(_recall_rows(tables["how-sure"]))
    data, depths = _data(contents.run, contents.file or contents.run.settings)
    return rendered(
        "page.html",
        ["page.css"],
        SCRIPTS,
        data,
        stages=STAGES,
        measured=_measured(contents.run),
        facts=_facts(contents.run),
        sentences=sentences(contents.run, contents.sweep, tables),
        kinds=recalls.of(rows, "kind", "all"),
        states=recalls.of(rows, "state"),
        moved=[MOVED[column] for column in moved],
        moves=_moves(tables["cutoff-moves"], moved, contents.run.settings.cutoff),
        against=_against(contents.run, contents.baseline),
        sliders=_sliders(contents, depths),
        heat=_heats(contents),
        tables=[table(name, tables[name], caption) for name, caption in ON_THE_PAGE.items() if name in filled],
        folded=[table(name, tables[name], caption) for name, caption in FOLDED.items() if name in filled],
        others=[name for name in tables if name not in HEAT and name not in {*ON_THE_PAGE, *FOLDED} & filled],
        plots=list(plots),
    )


def _data(run: Run, file: Settings) -> tuple[str, Mapping[str, int]]:
    """The data for the script, and the depths of its rankings: the deepest that keep it within its size."""
    for near_laws, laws in DEPTHS:
        content = {**packed(run, near_laws, laws), "file": file.model_dump()}
        data = embedded(content)
        if len(data.encode()) <= MOST_DATA:
            break
    return data, cast(Mapping[str, int], content["depths"])


def _measured(run: Run) -> str:
    """What was measured, in one line."""
    expecting = sum(bool(each.pair.expected) for each in run.pairs)
    recorded = f"vectors recorded {run.recorded}" if run.recorded else "no recorded vectors"
    return f"{asked(run)}, {expecting:,} of which expect a law; {run.model}, {recorded}"


def _facts(run: Run) -> list[tuple[str, str]]:
    """The settings in force, and the fingerprints of what was measured."""
    settings = {**run.settings.model_dump(), "near_enough": f"{run.settings.cutoff:g}"}
    prints = {name: value for name, value in run.fingerprints.items() if name != "model"}
    return [
        ("Reranker", statement(run)),
        ("Settings", ", ".join(f"{name} {value}" for name, value in settings.items())),
        ("Fingerprints", ", ".join(f"{name} {value}" for name, value in prints.items())),
    ]


def _recall_rows(frame: pd.DataFrame) -> Iterable[recalls.Row[recalls.Sure | None]]:
    """The rows of the table of recalls, a cell a stage; None where no pair expects a law."""
    for (by, group), part in frame.groupby(["by", "group"], sort=False):
        pairs, needs = (int(part[column].iloc[0]) for column in ("pairs", "needs"))
        cells = part[["recall", "low", "high"]].itertuples(index=False, name=None)
        sure = tuple(recalls.Sure(*cell) if pairs else None for cell in cells)
        yield recalls.Row(str(by), str(group), pairs, needs, sure)


def _moves(frame: pd.DataFrame, columns: Sequence[str], cutoff: float) -> list[tuple[str, bool, list[Cell]]]:
    """The rows of the table of moved cutoffs: its name, whether it is in force, and its cells."""
    rows = []
    for at, *values in frame[["near_enough", *columns]].itertuples(index=False, name=None):
        name = "no cutoff" if at == overview.NO_CUTOFF else f"{at:g}"
        rows.append((name, at == cutoff, [Cell(shown(value), True) for value in values]))
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


def _heats(contents: Contents) -> list[Table]:
    found = []
    for name, (caption, first) in HEAT.items():
        frame = contents.tables[name]
        if name == "cutoff-by-pool":
            frame, caption = _marked(frame, contents.run), _heat_caption(caption, contents.run)
        found.append(_heat(frame, name, caption, first))
    return found


def _marked(frame: pd.DataFrame, run: Run) -> pd.DataFrame:
    """The table of cutoffs and pools with the settings in force named in its heads: a pool size, or two."""
    cutoffs = {overview.NO_CUTOFF: "no cutoff", run.settings.cutoff: f"{run.settings.cutoff:g}, in force"}
    named = [cutoffs.get(value, f"{value:g}") for value in frame["near_enough"].tolist()]
    sizes = {str(size): f"{size}, in force" for size in _pool_sizes(run)}
    return frame.assign(near_enough=named).rename(columns=sizes)


def _pool_sizes(run: Run) -> Sequence[int]:
    """The numbers of laws that the pools were asked for of pairs that expect one: two where some have searches."""
    expecting = [each for each in run.pairs if each.pair.expected]
    return sorted({run.settings.pool_laws(len(each.trace.scorings) - 1) for each in expecting})


def _heat_caption(caption: str, run: Run) -> str:
    """Where two pool sizes are in force, which is whose."""
    if len(_pool_sizes(run)) < 2:
        return caption
    plain, searched = run.settings.candidate_laws, run.settings.searched_candidate_laws
    return f"{caption}; {plain} is in force for a question alone, {searched} where searches are fused"


def _heat(frame: pd.DataFrame, name: str, caption: str, first: str) -> Table:
    """A table whose shares are coloured between the least and the greatest of them; its first column and counts not."""
    shares = [column for column in frame.columns if column != first and column not in COUNTS]
    values = pd.concat([pd.Series(dtype=float), *(frame[column].astype(float) for column in shares)]).dropna()
    low, span = (values.min(), values.max() - values.min() or 1.0) if len(values) else (0.0, 1.0)

    def cell(column: str, value: object) -> Cell:
        if column == first:
            return Cell(str(value), False)
        if column in COUNTS or shown(value) == "":
            return Cell(shown(value), True)
        return Cell(shown(value), True, f"{(float(str(value)) - low) / span:.3f}")

    columns = [str(column) for column in frame.columns]
    rows = [
        [cell(column, value) for column, value in zip(columns, row, strict=True)]
        for row in frame.itertuples(index=False, name=None)
    ]
    return Table(name, caption, [(column, column != first) for column in columns], rows)
