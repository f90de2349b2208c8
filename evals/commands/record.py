"""`near-enough record` and `near-enough recordings`: what a run needs of its models."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evals.commands.options import FOLDER, RULES, Inputs, open_vectors, read_inputs, takes

if TYPE_CHECKING:
    from evals.questions import Pair
    from retrieval.corpus import Law
    from retrieval.settings import Settings


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
    do = plan_recording if dry_run else check_recordings if check else record_all
    for settings, corpus, pairs, below in _passes(given):
        _head(below)
        with open_vectors(settings.embedder, ask=not dry_run, recordings=_below(recordings, below)) as vectors:
            for line in do(settings, corpus, pairs, vectors, folder / below):
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
    for settings, corpus, pairs, below in _passes(given):
        _head(below)
        with open_vectors(settings.embedder, recordings=_below(recordings, below)) as vectors:
            for line in list_recordings(settings, corpus, pairs, vectors, folder / below, prune):
                click.echo(line)


def _passes(given: Inputs) -> "Iterator[tuple[Settings, Mapping[str, Sequence[Law]], Sequence[Pair], str]]":
    """What a run needs, and where below the recordings it stands.

    Then, of a model that computes here, the laws without their cards' questions: they serve a single row of a report,
    for which nobody should have to pay.
    """
    from evals.parts import rules
    from retrieval.models import embedder
    from retrieval.settings import changed

    yield given.settings, given.corpus, given.pairs(), ""
    if not embedder(given.settings.embedder).remote:
        yield changed(given.settings, ["rephrase=off", "rerank=off"]), rules(given.corpus), [], RULES


def _head(below: str) -> None:
    if below:
        click.echo("the laws without their cards' questions:")


def _below(recordings: Path | None, below: str) -> Path:
    from retrieval.recordings import RECORDINGS

    return (recordings or RECORDINGS) / below
