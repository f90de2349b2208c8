"""`near-enough eval`: the pipeline, or what another system returned, over the question set."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evals.commands.options import (
    FOLDER,
    baseline_for,
    open_vectors,
    read_inputs,
    reports_folder,
    stage_option,
    takes,
    uncollected,
)

if TYPE_CHECKING:
    from evals.growth import Grown


@click.command("eval")
@takes("set", "embedder", "states", "settings", "laws", "questions")
@click.option("--metric", "metrics", multiple=True, help="A further metric at every stage, such as nDCG@10 or MRR.")
@click.option("--growth", is_flag=True, help="Also measure each state as its corpus grows to 6,000 laws.")
@click.option("--run", "foreign", type=FOLDER, help="Measure what another system returned: a TREC run or JSON Lines.")
@stage_option
@click.option("--qrels", type=FOLDER, help="With --run: TREC's judgements in place of the question set.")
@click.option("--scores", type=FOLDER, help="Raw cosines from elsewhere, in place of a model.")
@click.option("--out", type=FOLDER, help="Where the report goes.  [default: reports/latest, reports/run with --run]")
@uncollected()
def evaluate_command(
    metrics: Sequence[str],
    growth: bool,
    foreign: Path | None,
    stage: str | None,
    qrels: Path | None,
    scores: Path | None,
    out: Path | None,
    **inputs: Any,
) -> None:
    """Measure the pipeline over the question set and write a report."""
    if (qrels or stage) and not foreign:
        raise click.UsageError("--qrels and --stage go with --run")
    if foreign and (scores or growth):
        raise click.UsageError("--run measures what a file holds: leave out --scores and --growth")
    if scores and growth:
        raise click.UsageError("--growth takes the cosines of more laws than --scores gives: leave one of the two out")
    if foreign:
        _evaluate_foreign(foreign, stage, qrels, metrics, out, inputs)
        return
    from evals.commands.exchange import run_from_scores
    from evals.growth import grow
    from evals.metrics import parse_metric
    from evals.report.contents import Contents
    from evals.report.files import refuse_to_replace, report_files, write_report
    from evals.report.terminal import show
    from retrieval.errors import Fault, InputError

    wanted = tuple(dict.fromkeys(parse_metric(each) for each in metrics))
    folder = out or reports_folder() / "latest"
    refuse_to_replace(folder)
    given, computed = read_inputs(**inputs), 0
    baseline = baseline_for(given.corpus if inputs["states"] else None, inputs)
    if scores:
        run, said = run_from_scores(scores, given)
        click.echo(said)
    else:
        run, computed = given.measure(pools=True)
    if not any(each.pair.expected for each in run.pairs):
        asked = ", ".join(given.corpus)
        raise InputError([Fault("questions", None, f"none expects a law in {asked}: there is no recall to measure")])
    grown: list[Grown] = []
    if growth:
        with open_vectors(run.settings.embedder) as vectors:
            grown = grow(run, vectors.embed)
    near_rules = None if scores else given.rules_alone(run)
    kept = given.kept() if wanted else {}
    contents = Contents(run, baseline, wanted, tuple(grown), near_rules, given.file, kept)
    write_report(report_files(contents), folder)
    show(contents, computed, folder)


def _evaluate_foreign(
    file: Path, stage: str | None, qrels: Path | None, metrics: Sequence[str], out: Path | None, inputs: Any
) -> None:
    """`eval --run`: what another system returned, by the question set or by judgements of its own."""
    from evals.commands.exchange import measure_against_qrels, measure_run

    if qrels:
        measure_against_qrels(file, qrels, metrics, out)
    else:
        measure_run(file, stage, metrics, out or reports_folder() / "run", read_inputs(**inputs))
