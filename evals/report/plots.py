"""The pictures, by matplotlib, as SVG for papers and pull requests. Drawn without a display, closed when written.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; lines differ in dash as well.
"""

import io
import math
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib

matplotlib.use("svg")

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from evals import bands
from evals.report.contents import Contents
from evals.report.overview import with_searches

COLOURS = {
    "words": "#E69F00",
    "answering": "#0072B2",
    "nearest wrong": "#E69F00",
    "unrelated": "#D55E00",
    "uncovered": "#CC79A7",
    "near": "#D55E00",
    "fused": "#009E73",
    "pool": "#0072B2",
}
LAYERS = 8
CROWD = 1000  # dots of a lane, from which on they are paler
LABEL_ROOM = 0.1  # of the axis
DASHES = {"words": (6, 2, 1, 2), "near": (4, 2), "fused": (1, 1), "pool": ()}
STYLE: dict[str, Any] = {
    "svg.hashsalt": "near-enough",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e5e5",
    "grid.linewidth": 0.6,
    "figure.figsize": (8, 4.2),
    "figure.constrained_layout.use": True,
}


def plots(contents: Contents) -> dict[str, str]:
    """Every picture as SVG text by its file's name. The same run gives the same bytes."""
    drawings = {
        "bands": draw_bands,
        "recall-over-cutoff": draw_recall_over_cutoff,
        "precision-over-cutoff": draw_precision_over_cutoff,
        "recall-over-pool": draw_recall_over_pool,
        **({"recall-over-corpus-size": draw_recall_over_corpus_size} if contents.grown else {}),
    }
    return {name: _drawn(draw, contents) for name, draw in drawings.items()}


@contextmanager
def _style() -> Any:
    with matplotlib.rc_context(STYLE):  # type: ignore[arg-type]
        yield


def _drawn(draw: Callable[[Contents, Axes], None], contents: Contents) -> str:
    with _style():
        figure, axes = plt.subplots()
        try:
            draw(contents, axes)
            written = io.StringIO()
            figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
        finally:
            plt.close(figure)
    return written.getvalue()


def draw_bands(contents: Contents, axes: Axes) -> None:
    """Each cosine a dot in its group's lane, the middle half as a bar, the cutoff a line through all lanes."""
    for lane, group in enumerate(bands.GROUPS):
        values = bands.cosines(contents.points, group)
        height = -lane
        _draw_dots(axes, values, height, COLOURS[group])
        found = bands.quantiles(values)
        if found is not None:
            axes.plot([found[0.25], found[0.75]], [height - 0.4] * 2, color=COLOURS[group], linewidth=4)
            axes.plot([found[0.05], found[0.95]], [height - 0.4] * 2, color=COLOURS[group], linewidth=1)
    cutoff = contents.run.settings.cutoff
    axes.axvline(cutoff, color="black", linewidth=1)
    axes.annotate(
        f"cutoff {cutoff:g}",
        (cutoff, 0.52),
        xytext=(4, 0),
        textcoords="offset points",
        va="bottom",
        fontsize=9,
    )
    counts = [len(bands.cosines(contents.points, group)) for group in bands.GROUPS]
    axes.set_yticks(
        [-lane for lane in range(len(bands.GROUPS))],
        [f"{group}\n(n = {count:,})" for group, count in zip(bands.GROUPS, counts, strict=True)],
    )
    axes.set_ylim(-len(bands.GROUPS) + 0.4, 0.7)
    axes.autoscale_view(scaley=False)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(
        f"cosine of question and law, {contents.run.settings.embedder} (bar: middle half; line: 5 % to 95 %)"
    )


def _draw_dots(axes: Axes, values: Sequence[float], height: float, colour: str) -> None:
    """Dots as strokes without length, round at the end: a few paths in the file, where a marker each takes megabytes.

    Dots of one path do not darken each other; those of several do, so that a crowd can be seen.
    """
    dots = [(value, height + _spread(at)) for at, value in enumerate(values)]
    alpha = 0.35 if len(dots) >= CROWD else 0.7
    for layer in range(LAYERS):
        mine = dots[layer::LAYERS]
        if mine:
            path = Path([each for dot in mine for each in (dot, dot)], [Path.MOVETO, Path.LINETO] * len(mine))
            path.should_simplify = False
            axes.add_patch(PathPatch(path, fill=False, edgecolor=colour, alpha=alpha, linewidth=2.4, capstyle="round"))
    if values:
        axes.update_datalim([(values[0], height), (values[-1], height)])


def _spread(at: int) -> float:
    """A height within a lane that neighbours do not share: the golden ratio's multiples, always the same."""
    return (at * 0.6180339887 % 1 - 0.5) * 0.6


def draw_recall_over_cutoff(contents: Contents, axes: Axes) -> None:
    """Recall of the near search, the fused result and the pool as the cutoff moves."""
    _draw_over_cutoff(contents, axes, "recall", "recall, mean over pairs; share of questions")
    silent = contents.expect_nothing_over_cutoffs
    axes.plot(
        silent["near_enough"],
        silent["returned nothing"],
        color="#666666",
        linewidth=1,
        label="near returns nothing to\nquestions without an answer",
    )
    _legend_outside(axes)


def draw_precision_over_cutoff(contents: Contents, axes: Axes) -> None:
    """Precision of the returned set as the cutoff moves."""
    _draw_over_cutoff(contents, axes, "precision", "precision of the returned set, mean over pairs")
    _legend_outside(axes)


def _draw_over_cutoff(contents: Contents, axes: Axes, measure: str, label: str) -> None:
    settings, curve = contents.run.settings, contents.over_cutoffs
    asked = {
        "near": f"near, at most {settings.near_laws}",
        "fused": f"fused, {settings.retrieved_laws} asked for",
        "pool": f"pool, {settings.candidate_laws} asked for{with_searches(contents.run)}",
    }
    for stage, name in asked.items():
        part = curve[curve["stage"] == stage]
        _line(axes, part["near_enough"], part[measure], stage, name)
    axes.axvline(settings.cutoff, color="black", linewidth=1, label=f"cutoff in force, {settings.cutoff:g}")
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(f"near_enough (cosine, {settings.embedder})")
    axes.set_ylabel(label)


def draw_recall_over_pool(contents: Contents, axes: Axes) -> None:
    """Recall and precision of the fused result over the number of laws it is asked for."""
    settings, curve = contents.run.settings, contents.over_laws
    _line(axes, curve["laws asked for"], curve["recall"], "pool", "recall")
    _line(axes, curve["laws asked for"], curve["precision"], "near", "precision")
    sizes = [("retrieved_laws", ":"), ("candidate_laws", "-")]
    if with_searches(contents.run):
        sizes.append(("searched_candidate_laws", "--"))
    for name, style in sizes:
        laws = getattr(settings, name)
        axes.axvline(laws, color="black", linewidth=1, linestyle=style, label=f"{name} {laws}")
    axes.set_ylim(0, 1.02)
    axes.set_xlim(0, len(curve) + 1)
    axes.set_xlabel("laws asked for")
    axes.set_ylabel("mean over pairs")
    _legend_outside(axes)


def draw_recall_over_corpus_size(contents: Contents, axes: Axes) -> None:
    """Recall at each stage as other states' laws join a state's own; each state's pool behind."""
    table = contents.tables["growth"]
    pools = table[(table["by"] == "state") & (table["stage"] == "pool")]
    for at, (_, part) in enumerate(pools.groupby("group", sort=True)):
        label = "pool, each state" if at == 0 else None
        axes.plot(part["most laws"], part["recall"].astype(float), color="#bbbbbb", linewidth=0.8, label=label)
    laws = pools.groupby("grown to", sort=False)["most laws"].mean()
    for stage, part in table[table["by"] == "all"].groupby("stage", sort=False):
        _line(axes, part["grown to"].map(laws), part["recall"], str(stage), str(stage))
    axes.set_xscale("log")
    ticks = _apart(laws.tolist())
    axes.set_xticks(ticks, [f"{each:,.0f}" for each in ticks])
    axes.minorticks_off()
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("laws in a state's corpus, with other states' laws of other concepts")
    axes.set_ylabel("recall, mean over pairs")
    _legend_outside(axes)


def _apart(values: Sequence[float]) -> list[float]:
    """Of values on a logarithmic axis, from the greatest down, those that leave room for a label between them."""
    rising = sorted(set(values))
    room = LABEL_ROOM * math.log(rising[-1] / rising[0]) if rising else 0.0
    kept = rising[-1:]
    for value in reversed(rising[:-1]):
        if math.log(kept[0] / value) > room:
            kept.insert(0, value)
    return kept


def _line(axes: Axes, x: "pd.Series[Any]", y: "pd.Series[Any]", key: str, label: str) -> None:
    axes.plot(x, y.astype(float), color=COLOURS[key], linewidth=1.8, dashes=DASHES[key], label=label)


def _legend_outside(axes: Axes) -> None:
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9)
