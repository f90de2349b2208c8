"""`near-enough compare`: two settings, or two runs, question by question."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evals.commands.options import FOLDER, Inputs, baseline_for, read_inputs, takes, uncollected

if TYPE_CHECKING:
    from evals.outcomes import Side


@click.command("compare")
@click.argument("runs", nargs=-1, type=FOLDER)
@takes("set", "embedder", "states", "settings", "laws", "questions")
@uncollected()
def compare_command(runs: Sequence[Path], changes: Sequence[str], embedder: str | None, **inputs: Any) -> None:
    """Compare the settings in force with a change of them, or two RUNS by the folders of their reports.

    \b
    near-enough compare --set near_enough=0.82
    near-enough compare --embedder use-multilingual
    near-enough compare reports/before reports/latest
    """  # noqa: D301  # click reads the sign itself, which a raw string does not hold
    from evals.gate import judge
    from evals.outcomes import read_side
    from evals.report.comparison import comparison_text

    options = [part for change in changes for part in ("--set", change)]
    options += ["--embedder", embedder] if embedder else []
    if len(runs) == 2 and not options and not any(inputs.values()):
        before, after = (read_side(folder) for folder in runs)
    elif not runs and options:
        before, after = _sides(read_inputs(**inputs), changes, embedder)
    else:
        raise click.UsageError("give a change (--set or --embedder), or the folders of two runs and no option")
    baseline = baseline_for({each.state for each in after.outcomes.values()}, inputs)
    verdict = judge(baseline, after) if baseline else None
    own = not (inputs["laws"] or inputs["questions"])
    none = (
        'no baseline is recorded: make baseline WHY="..."'
        if own
        else "the baseline is of the project's own laws and questions"
    )
    click.echo(comparison_text(before, after, verdict, none, options))


def _sides(given: Inputs, changes: Sequence[str], embedder: str | None) -> "tuple[Side, Side]":
    """The settings in force and a change of them, measured once where both take the same scorings."""
    from evals import bands
    from evals.outcomes import Side
    from evals.rerun import can_rerun, rerun
    from retrieval.settings import changed

    old, _ = given.measure()
    settings = changed(given.settings, [*([f"embedder={embedder}"] if embedder else []), *changes])
    points = bands.points(old)
    before = Side.of(old, bands.verdict(points, old.settings.cutoff))
    if can_rerun(old.settings, settings):
        return before, Side.of(rerun(old, settings), bands.verdict(points, settings.cutoff))
    new, _ = replace(given, settings=settings).measure()
    others = bands.points(new)
    after = Side.of(new, bands.verdict(others, settings.cutoff))
    if settings.embedder != old.settings.embedder:
        areas = (f"{each.bands} {bands.separation_said(side)}" for each, side in ((before, points), (after, others)))
        before, after = (replace(each, bands=said) for each, said in zip((before, after), areas, strict=True))
    return before, after
