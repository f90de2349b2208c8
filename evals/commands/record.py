"""`near-enough record` and `near-enough recordings`: what a run needs of its models."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evals.commands.options import FOLDER, open_vectors, read_inputs, takes

if TYPE_CHECKING:
    pass


@click.command("record")
@takes("set", "embedder", "settings", "laws", "questions")
@click.option("--recordings", type=FOLDER, help="Where they go.  [default: recordings]")
@click.option("--dry-run", is_flag=True, help="Say how many calls, tokens and dollars it would take.")
@click.option("--check", is_flag=True, help="Ask a sample of what is recorded again and report what has drifted.")
def record_command(recordings: Path | None, dry_run: bool, check: bool, **inputs: Any) -> None:
    """Record what a run needs of its models, so that later runs need neither model nor network.

    \b
    near-enough record                                             the vectors of laws and questions
    near-enough record --embedder bge-m3 --set near_enough=0.5     the same of a model over the network
    near-enough record --set "rerank=recorded bge-reranker-base"   and the reranker's scores

    What was recorded is not asked again: a recording that was stopped goes on where it was.
    """  # noqa: D301 - click keeps the lines after a backspace as they are
    from evals.recording.lines import check_recordings, plan_recording, record_all
    from retrieval.project import PROJECT

    if dry_run and check:
        raise click.UsageError("give --dry-run or --check, not both")
    given, folder = read_inputs(**inputs), recordings or PROJECT.root / "recordings"
    pairs = given.pairs()
    do = plan_recording if dry_run else check_recordings if check else record_all
    with open_vectors(given.settings.embedder, ask=not dry_run, recordings=recordings) as vectors:
        for line in do(given.settings, given.corpus, pairs, vectors, folder):
            click.echo(line)


@click.command("recordings")
@takes("set", "embedder", "settings", "laws", "questions")
@click.option("--recordings", type=FOLDER, help="Where they are.  [default: recordings]")
@click.option("--prune", is_flag=True, help="Drop what is stale or unused.")
def recordings_command(recordings: Path | None, prune: bool, **inputs: Any) -> None:
    """List what is recorded and missing, stale or unused, for the settings, laws and questions as they are."""
    from evals.recording.lines import list_recordings
    from retrieval.project import PROJECT

    given, folder = read_inputs(**inputs), recordings or PROJECT.root / "recordings"
    with open_vectors(given.settings.embedder, recordings=recordings) as vectors:
        for line in list_recordings(given.settings, given.corpus, given.pairs(), vectors, folder, prune):
            click.echo(line)
