"""`near-enough gate` and `near-enough baseline`: the verdict, and what it is given against."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evals.commands.options import FOLDER, baseline_folder, read_inputs, stage_option, takes, uncollected

if TYPE_CHECKING:
    pass


@click.command("gate")
@takes("set", "settings", "laws", "questions")
@click.option("--run", "foreign", type=FOLDER, help="Judge what another system returned: a TREC run or JSON Lines.")
@stage_option
@click.option("--baseline", type=FOLDER, help="The baseline.  [default: reports/baseline]")
@click.option("--junit", type=FOLDER, help="Write JUnit XML here, a case a pair.")
@click.option("--markdown", type=FOLDER, help="Write a comment for a pull request here.")
@click.option("--json", "json_file", type=FOLDER, help="Write the verdict as JSON here.")
@click.option("--github", is_flag=True, help="Print GitHub annotations on the questions' lines.")
@uncollected()
def gate_command(
    baseline: Path | None,
    junit: Path | None,
    markdown: Path | None,
    json_file: Path | None,
    github: bool,
    foreign: Path | None,
    stage: str | None,
    **inputs: Any,
) -> int:
    """Fail where a law that arrived in the baseline does not arrive now.

    Status 0: passed. 1: failed, each lost law by name. 2: the baseline or other input is bad. 3: not comparable.
    """
    from evals.baseline import read_baseline
    from evals.commands.exchange import foreign_run
    from evals.exchange.sides import side
    from evals.gate import judge
    from evals.outcomes import Side
    from evals.report.ci import annotations, junit_xml, verdict_json
    from evals.report.comment import verdict_markdown
    from evals.report.verdict import verdict_text
    from retrieval.recordings import write_beside

    recorded = read_baseline(baseline or baseline_folder())
    given = read_inputs(**inputs)
    if foreign:
        after = side(foreign_run(foreign, stage, given)[0], given.settings, given.corpus)
    else:
        after = Side.of(given.measure()[0])
    verdict = judge(recorded, after)
    options = [part for change in inputs["changes"] for part in ("--set", change)]
    if junit is not None:
        write_beside(junit, junit_xml(verdict, Path.cwd()))
    if markdown is not None:
        write_beside(markdown, verdict_markdown(verdict))
    if json_file is not None:
        write_beside(json_file, verdict_json(verdict))
    if github:
        click.echo(annotations(verdict, Path.cwd()), nl=False)
    click.echo(verdict_text(verdict, options))
    return verdict.status


@click.command("baseline")
@takes("set", "settings", "laws", "questions")
@click.option("--why", required=True, help="Why this is what should hold from now on.")
@click.option("--out", type=FOLDER, help="Where it goes.  [default: reports/baseline]")
def baseline_command(why: str, out: Path | None, **inputs: Any) -> None:
    """Record what holds now as the baseline of the gate; losses against the one before are accepted by name."""
    from datetime import date

    from evals.baseline import is_recorded, new_summary, read_baseline, write_baseline
    from evals.compare import compare
    from evals.outcomes import Side
    from evals.report.verdict import recorded_text

    reason = " ".join(why.split())
    if not reason:
        raise click.UsageError("a baseline needs a reason: --why '...'")
    folder = out or baseline_folder()
    before = read_baseline(folder) if is_recorded(folder) else None
    run, _ = read_inputs(**inputs).measure()
    side = Side.of(run)
    summary = new_summary(side, before, reason, date.today().isoformat())
    comparison = compare(before.outcomes, side.outcomes) if before else None
    write_baseline(folder, side, summary, comparison)
    click.echo(recorded_text(summary, comparison, folder))
