"""`near-enough ask`: the questions of the set to a retriever of yours, into a run that `eval --run` measures."""

from collections import Counter
from pathlib import Path
from typing import Any

import click

from evals.commands.options import FOLDER, takes, wanted_states


@click.command("ask")
@click.option("--retriever", "command", required=True, help="The command that answers, JSON lines in and out.")
@click.option("--out", type=FOLDER, required=True, help="The run, a JSON line a question and state.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=8, show_default=True, help="How many laws it is asked for."
)
@click.option(
    "--stage",
    type=click.Choice(["fused", "pool", "answer"]),
    default="answer",
    show_default=True,
    help="The stage of the pipeline that it stands for.",
)
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), default=60, show_default=True, help="Seconds a reply."
)
@takes("states", "laws", "questions")
def ask_command(command: str, out: Path, limit: int, stage: str, timeout: float, **inputs: Any) -> None:
    """Ask a retriever of yours every question of the set, and keep what it gives as a run.

    The command is started once. A line of its input is a question, {"state": ..., "question": ..., "limit": ...}; a
    line of its output the reply, {"laws": [ids, best first], "scores": [numbers, if there are any]}.

    \b
    near-enough ask --retriever "node retriever.mjs" --out run.jsonl
    near-enough eval --run run.jsonl
    """  # noqa: D301 - click keeps the lines after a backspace as they are
    from rich.console import Console
    from rich.progress import Progress

    from evals.questions import QUESTIONS, load_questions
    from evals.retrievers import Command, ask
    from retrieval.corpus import LAWS, load_corpus
    from retrieval.recordings import write_beside

    corpus = load_corpus(inputs["laws"] or LAWS, wanted_states(inputs["states"]))
    pairs = load_questions(inputs["questions"] or QUESTIONS, corpus)
    console = Console(stderr=True)
    progress = Progress(console=console, transient=True, disable=not console.is_terminal)
    with progress as bar, Command(command, timeout) as retriever:
        task = bar.add_task("asked", total=len(pairs))
        answers = list(ask(retriever, pairs, corpus, limit, stage, lambda done, _: bar.update(task, completed=done)))
    write_beside(out, "".join(answer.line() for answer in answers))
    causes = Counter(answer.outcome for answer in answers if answer.outcome != "ranked")
    failed = f", of which {', '.join(f'{count} {cause}' for cause, count in causes.items())}" if causes else ""
    click.echo(f"{out}: {len(answers):,} questions asked{failed}")
