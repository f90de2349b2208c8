"""The published analysis of the default model: a page of text, its pictures and the tables they were drawn from.

The text's figures are filled in from the run, so that text, pictures and tables cannot part. Run: `make publish`.
"""

from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from evals import bands
from evals.report.contents import Contents
from evals.report.markdown import measured, table
from evals.report.plots import plots
from evals.sweep import Setting
from evals.tables import stage_means

TABLES = (
    "stages",
    "by-kind",
    "by-state",
    "by-language",
    "expect-nothing",
    "bands",
    "loss-reasons",
    "over-cutoffs",
    "over-laws",
    "over-near-laws",
    "parts",
    "set",
)
PICTURES = ("bands", "recall-over-cutoff", "precision-over-cutoff", "recall-over-pool")


def published_tables(contents: Contents) -> dict[str, str]:
    """The tables as CSV by the file's name; figures to six digits, so that a diff shows what a person would see."""
    return {
        f"tables/{name}.csv": contents.tables[name].to_csv(index=False, lineterminator="\n", float_format="%.6f")
        for name in TABLES
    }


def published_files(contents: Contents, written: Contents) -> dict[str, str]:
    """Every file of the analysis. `written`: the same with the searches of the question set fused."""
    drawn = plots(contents)
    return {
        "README.md": published_text(contents, written),
        **published_tables(contents),
        **{f"plots/{name}.svg": drawn[name] for name in PICTURES},
    }


def published_text(contents: Contents, written: Contents) -> str:
    """The text, its figures filled in."""
    loader = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=loader, undefined=StrictUndefined, autoescape=False)  # noqa: S701  # Markdown
    return environment.get_template("published.md").render(**_figures(contents), recall_written=_pool_recall(written))


def _pool_recall(contents: Contents) -> str:
    stages = stage_means(contents.measures)
    return f"{stages[stages['stage'] == 'pool']['recall'].iloc[0]:.3f}"


def _figures(contents: Contents) -> dict[str, object]:
    run, points, sweep = contents.run, contents.points, contents.sweep
    settings = run.settings
    pool = settings.candidate_laws
    in_force, higher = Setting(settings.cutoff, settings.near_laws, pool), Setting(0.80, settings.near_laws, pool)
    reached, reached_higher = sweep.reached(in_force, "pool"), sweep.reached(higher, "pool")
    ahead, answers = bands.beats_wrong(points)
    reasons = contents.tables["loss-reasons"]
    return {
        "embedder": settings.embedder,
        "cutoff": settings.cutoff,
        "near_laws": settings.near_laws,
        "measured": measured(contents),
        "verdict": contents.verdict,
        "answering": _quantiles(contents, "answering"),
        "unrelated": _quantiles(contents, "unrelated"),
        "separation": _digits(bands.separation(points)),
        "ahead": f"{ahead:,}",
        "answers": f"{answers:,}",
        "silent": _silent(contents, settings.cutoff),
        "silent_80": _silent(contents, 0.80),
        "lost_at_80": int((reached & ~reached_higher).sum()),
        "reached": f"{int(reached.sum()):,}",
        "lost": f"{int((~reached).sum()):,}",
        "expected": f"{len(reached):,}",
        "reasons": table(reasons[reasons["stage"] == "pool"].drop(columns="stage")),
        "recall_pool": _pool_recall(contents),
        "recall_near_32": _digits(sweep.at(Setting(settings.cutoff, 32, pool), "pool").recall),
        "recall_pool_64": _digits(sweep.at(Setting(settings.cutoff, settings.near_laws, 64), "pool").recall),
        "promises": contents.tables["promises"]["sentence"].tolist(),
    }


def _digits(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


def _quantiles(contents: Contents, group: str) -> Mapping[float, str]:
    found = bands.quantiles(bands.cosines(contents.points, group)) or {}
    return {at: f"{value:.3f}" for at, value in found.items()}


def _silent(contents: Contents, cutoff: float) -> str:
    points = [point for point in contents.points if point.group == "unrelated"]
    return f"{sum(point.cosine < cutoff for point in points)} of {len(points):,}"
