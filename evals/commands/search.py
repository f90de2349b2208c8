"""`near-enough search`: one question through the stages."""

from collections.abc import Sequence
from typing import Any

import click

from evals.commands.options import open_vectors, read_inputs, takes


@click.command("search")
@click.argument("state")
@click.argument("question")
@takes("set", "embedder", "settings", "laws")
@click.option("--search", "searches", multiple=True, help="A search to fuse beside the question.")
@click.option("--family", help="A family of page rows to stand beside the laws.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people, or for programs.",
)
def search_command(
    state: str, question: str, searches: Sequence[str], family: str | None, form: str, **inputs: Any
) -> None:
    """Show what each stage gives for QUESTION in STATE."""
    from evals.recording.asking import searcher
    from evals.report.search import as_json, as_text
    from retrieval.documents import strict_json, too_long

    for text in (question, *searches):
        if not text.strip():
            raise click.UsageError("the question, or a search, is empty: there is nothing to look for")
        if long := too_long(text):
            raise click.UsageError(f"the question, or a search: {long}")
        if not text.isascii() and text != text.encode(errors="replace").decode():
            raise click.UsageError("the question, or a search, holds bytes that are no text")
    given = read_inputs(states=state, **inputs)
    if len(given.corpus) != 1:
        raise click.UsageError("a question is searched in one state")
    laws = next(iter(given.corpus.values()))
    if family and not any(law.is_page_row and law.concept == family for law in laws):
        raise click.UsageError(f"no page row of {state} is of the family {family}")
    with open_vectors(given.settings.embedder, ask=True) as vectors:
        pipeline, rephrase = searcher(given.settings, laws, vectors.embed)
        said = rephrase(question)
        trace = pipeline.answer(question, [*searches, *said.searches], said.family or family)
    click.echo(strict_json(as_json(pipeline, trace), indent=2) if form == "json" else as_text(pipeline, trace))
