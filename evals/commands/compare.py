"""`near-enough compare`: two settings, or two runs, question by question."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evals.commands.again import of_recorded, of_search, to_accept
from evals.commands.options import FOLDER, Inputs, baseline_for, read_inputs, takes, uncollected

if TYPE_CHECKING:
    from evals.bands import Point
    from evals.report.pages.details import Shown
    from evals.run import Run


@click.command("compare")
@click.argument("runs", nargs=-1, type=FOLDER)
@takes("set", "embedder", "states", "settings", "laws", "questions")
@click.option(
    "--html", "page", type=FOLDER, metavar="FILE", help="Also write a page of both, which opens from the disk."
)
@uncollected()
def compare_command(
    runs: Sequence[Path], changes: Sequence[str], embedder: str | None, page: Path | None, **inputs: Any
) -> None:
    """Compare the settings in force with a change of them, or two RUNS by the folders of their reports.

    \b
    near-enough compare --set near_enough=0.82
    near-enough compare --embedder use-multilingual
    near-enough compare reports/before reports/latest --html compared.html

    What the gate would say stands at the end; the status is 0 whatever it says: `near-enough gate` fails.
    """  # noqa: D301  # click reads the sign itself, which a raw string does not hold
    from evals.gate import judge
    from evals.report.verdicts.comparison import comparison_text
    from evals.report.verdicts.verdict import conclusion
    from retrieval.errors import Fault, InputError

    if page is not None and page.is_dir():
        raise InputError([Fault(str(page), None, "is a folder; --html names a file")])
    given = {**inputs, "changes": changes, "embedder": embedder}
    if len(runs) == 2 and not any(given.values()):
        both = _folders(runs, page is not None)
        options, accept = of_recorded(both[1].side), to_accept({})
    elif not runs and (changes or embedder):
        both = _settings(read_inputs(**inputs), changes, embedder, page is not None)
        options, accept = of_search(given), to_accept(given)
    else:
        raise click.UsageError("give a change (--set or --embedder), or the folders of two runs and no option")
    before, after = (each.side for each in both)
    asked = {each.state for side in (before, after) for each in side.outcomes.values()}
    baseline = baseline_for(asked if runs or inputs["states"] else None, inputs)
    verdict = judge(baseline, after) if baseline else None
    own = not (inputs["laws"] or inputs["questions"])
    none = (
        'no baseline is recorded: near-enough baseline --why "..."'
        if own
        else "the baseline is of the project's own laws and questions"
    )
    click.echo(comparison_text(before, after, verdict, none, options, accept))
    if page:
        _write_page(page, both, conclusion(verdict, accept) if verdict else [f"gate: no verdict, {none}"])


def _write_page(path: Path, both: "tuple[Shown, Shown]", gate: Sequence[str]) -> None:
    from evals.report.pages.sides import comparison_page
    from retrieval.errors import Fault, InputError
    from retrieval.recordings import write_beside

    text = comparison_page(*both, gate)
    try:
        write_beside(path, text)
    except OSError as error:
        raise InputError([Fault(str(path), None, f"cannot be written: {error.strerror or error}")]) from None
    click.echo(f"The page: {path}")


def _folders(runs: Sequence[Path], with_page: bool) -> "tuple[Shown, Shown]":
    """Two reports; what a page alone shows of them only where one is wanted."""
    from evals.outcomes import read_side
    from evals.report.pages.details import Shown, shown_folder
    from retrieval.corpus import load_corpus
    from retrieval.settings import load_settings

    before, after = (read_side(folder) for folder in runs)
    if not with_page:
        return Shown(str(runs[0]), before, {}, {}), Shown(str(runs[1]), after, {}, {})
    corpus, settings = load_corpus(), load_settings()
    return shown_folder(runs[0], before, corpus, settings), shown_folder(runs[1], after, corpus, settings)


def _settings(given: Inputs, changes: Sequence[str], embedder: str | None, with_page: bool) -> "tuple[Shown, Shown]":
    """The settings in force and a change of them, measured once where both take the same scorings."""
    from evals import bands
    from evals.outcomes import Side
    from evals.report.pages.details import Shown, shown_run
    from evals.rerun import can_rerun, rerun
    from retrieval.settings import changed

    old, _ = given.measure()
    wanted = [*([f"embedder={embedder}"] if embedder else []), *changes]
    settings = changed(given.settings, wanted)
    again = can_rerun(old.settings, settings)
    new = rerun(old, settings) if again else replace(given, settings=settings).measure()[0]
    points = bands.points(old)
    others = points if again else bands.points(new)
    models_differ = settings.embedder != old.settings.embedder

    def shown(name: str, run: "Run", points: "list[Point]") -> Shown:
        said = bands.verdict(points, run.settings.cutoff)
        side = Side.of(run, f"{said} {bands.separation_said(points)}" if models_differ else said)
        return shown_run(name, run, side, points) if with_page else Shown(name, side, {}, {})

    return shown("the settings in force", old, points), shown(", ".join(wanted), new, others)
