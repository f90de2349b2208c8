"""`near-enough gate` and `near-enough baseline`: the verdict, and what it is given against."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evals.commands.again import of_search, to_accept
from evals.commands.options import (
    FOLDER,
    baseline_folder,
    read_inputs,
    reports_folder,
    stage_option,
    takes,
    uncollected,
)

if TYPE_CHECKING:
    from evals.outcomes import Side


def _measured(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of what is measured: the pipeline, or another system."""
    run = click.option("--run", "foreign", type=FOLDER, help="What another system returned: a TREC run or JSON Lines.")
    return takes("set", "settings", "laws", "questions")(run(stage_option(command)))


@click.command("gate")
@_measured
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
    **inputs: Any,
) -> int:
    """Fail where a law that arrived in the baseline does not arrive now.

    Status 0: passed. 1: failed, each lost law by name. 2: the baseline or other input is bad. 3: not comparable.
    """
    from evals.baseline_files import read_baseline
    from evals.gate import judge
    from evals.questions import QUESTIONS
    from evals.report.verdicts.ci import annotations, for_a_log, junit_xml, verdict_json
    from evals.report.verdicts.comment import verdict_markdown
    from evals.report.verdicts.verdict import verdict_text
    from retrieval.recordings import write_beside

    recorded = read_baseline(baseline or baseline_folder())
    side, matched = _side(**inputs)
    verdict = judge(recorded, side)
    options, accept = of_search(inputs), to_accept(inputs, baseline)
    root = _repository(inputs["questions"] or QUESTIONS)
    if junit is not None:
        write_beside(junit, junit_xml(verdict, root, options))
    if markdown is not None:
        write_beside(markdown, verdict_markdown(verdict, options, accept))
    if json_file is not None:
        write_beside(json_file, verdict_json(verdict, options))
    text = "\n".join([*matched, verdict_text(verdict, options, accept)])
    click.echo(annotations(verdict, root, options) + for_a_log(text) if github else text)
    return verdict.status


def _side(foreign: Path | None, stage: str | None, **inputs: Any) -> "tuple[Side, list[str]]":
    """What is measured: the pipeline, or what another system returned, and how much of that matched, a line each."""
    from evals.outcomes import Side

    if stage and not foreign:
        raise click.UsageError("--stage goes with --run")
    given = read_inputs(**inputs)
    if foreign:
        from evals.commands.exchange import foreign_run
        from evals.exchange.report import Foreigner, lines

        run, kept = foreign_run(foreign, stage, given)
        found = Foreigner(run, given.settings, given.corpus, kept, None)
        return found.side, list(lines(found))
    return Side.of(given.measure()[0]), []


def _repository(questions: Path) -> Path:
    """What CI names files from: the repository that holds the questions, wherever the command runs; else where it does.

    A worktree's `.git` is a file.
    """
    folder = questions.resolve()
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), Path.cwd())


@click.command("baseline")
@_measured
@click.option("--why", required=True, help="Why this is what should hold from now on.")
@click.option("--out", type=FOLDER, help="Where it goes.  [default: reports/baseline]")
def baseline_command(why: str, out: Path | None, **inputs: Any) -> None:
    """Record what holds now as the baseline of the gate; losses against the one before are accepted by name.

    The project's own baseline, reports/baseline, also has a line in reports/history.csv each time.
    """
    from datetime import date

    from evals.baseline import new_summary
    from evals.baseline_files import history, is_recorded, read_baseline, write_baseline
    from evals.compare import compare
    from evals.report.verdicts.verdict import recorded_text
    from retrieval.recordings import write_beside

    reason = " ".join(why.split())
    if not reason:
        raise click.UsageError("a baseline needs a reason: --why '...'")
    folder = out or baseline_folder()
    before = read_baseline(folder) if is_recorded(folder) else None
    side, matched = _side(**inputs)
    summary = new_summary(side, before, reason, date.today().isoformat())
    comparison = compare(before.outcomes, side.outcomes) if before else None
    kept = reports_folder() / "history.csv" if folder.resolve() == baseline_folder().resolve() else None
    past = history(kept, summary, comparison) if kept else ""
    write_baseline(folder, side, summary)
    if kept:
        write_beside(kept, past)
    click.echo("\n".join([*matched, recorded_text(summary, comparison, folder, of_search(inputs))]))
