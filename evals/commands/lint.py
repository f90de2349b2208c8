"""`near-enough lint`: settings, laws and questions checked."""

from collections.abc import Sequence
from pathlib import Path

import click

from evals.commands.options import open_vectors, takes


@click.command("lint")
@takes("set", "embedder", "settings", "laws", "questions")
@click.option(
    "--smallest-group", type=click.IntRange(min=0), default=10, show_default=True, help="Warn below so many needs."
)
def lint_command(
    smallest_group: int,
    settings_file: Path | None,
    changes: Sequence[str],
    embedder: str | None,
    laws: Path | None,
    questions: Path | None,
) -> None:
    """Check settings, laws and questions: every error at once, then what deserves a second look."""
    from evals.lint.checked import read_checked
    from evals.lint.report import find_doubts, report
    from evals.questions import QUESTIONS
    from evals.run import evaluate
    from retrieval.corpus import LAWS
    from retrieval.errors import MissingRecordingError
    from retrieval.settings import SETTINGS, changed

    checked = read_checked(settings_file or SETTINGS, laws or LAWS, questions or QUESTIONS)
    settings = changed(checked.settings, [*([f"embedder={embedder}"] if embedder else []), *changes])
    left_out = None
    with open_vectors(settings.embedder) as vectors:
        try:
            off = changed(settings, ["rephrase=off", "rerank=off"])
            run = evaluate(off, checked.corpus, checked.pairs, vectors.embed, vectors.model.name)
            doubts = find_doubts(checked, run, vectors.embed, smallest_group)
        except MissingRecordingError as error:
            doubts, left_out = find_doubts(checked, smallest_group=smallest_group), str(error)
    click.echo(report(checked, doubts, left_out))
