"""`near-enough search`: one question through the stages."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from evals.commands.options import open_vectors, read_inputs, takes

if TYPE_CHECKING:
    pass


@click.command("search")
@click.argument("state")
@click.argument("question")
@takes("set", "embedder", "settings", "laws")
@click.option("--search", "searches", multiple=True, help="A search to fuse beside the question.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people, or for programs.",
)
def search_command(state: str, question: str, searches: Sequence[str], form: str, **inputs: Any) -> None:
    """Show what each stage gives for QUESTION in STATE."""
    from evals.recording.asking import searcher
    from evals.report.search import as_json, as_text
    from retrieval.documents import strict_json

    given = read_inputs(states=state, **inputs)
    if len(given.corpus) != 1:
        raise click.UsageError("a question is searched in one state")
    if not question.isascii() and question != question.encode(errors="replace").decode():
        raise click.UsageError("the question holds bytes that are no text")
    with open_vectors(given.settings.embedder, ask=True) as vectors:
        pipeline, rephrase = searcher(given.settings, given.corpus[state.strip().upper()], vectors.embed)
        said = rephrase(question)
        trace = pipeline.answer(question, [*searches, *said.searches], said.family)
    click.echo(strict_json(as_json(pipeline, trace), indent=2) if form == "json" else as_text(pipeline, trace))
