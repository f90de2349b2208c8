"""The command line: the only place that reads arguments, prints and exits.

Status 0: good. 2: the input is bad, every fault listed. 70: a fault of the program. Heavy imports stand inside the
commands that need them, so that `--help` answers at once.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from retrieval.corpus import Law
    from retrieval.recordings import Vectors
    from retrieval.settings import Settings

ROOT = Path(__file__).parents[1]

BAD_INPUT = 2
PROGRAM_FAULT = 70


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit with its status."""
    from retrieval.errors import NearEnoughError

    try:
        status = group.main(args=arguments, prog_name="near-enough", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        status = BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        status = 130
    except NearEnoughError as error:
        click.echo(f"near-enough: {error}", err=True)
        status = BAD_INPUT
    except BrokenPipeError:
        sys.stderr.close()
        status = 0
    except Exception:
        import traceback

        traceback.print_exc()
        click.echo("near-enough: this is a fault of the program; please report it with the lines above", err=True)
        status = PROGRAM_FAULT
    sys.exit(status or 0)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="near-enough")
def group() -> None:
    """Measure a retrieval pipeline before anybody changes a number in it."""


def _pipeline_options(command: Callable[..., Any]) -> Callable[..., Any]:
    folder = click.Path(path_type=Path)
    options = [
        click.option("--settings", "settings_file", type=folder, help="The settings file.  [default: settings.yaml]"),
        click.option("--set", "changes", multiple=True, metavar="NAME=VALUE", help="Change a setting for this run."),
        click.option("--embedder", help="Another embedding model: e5-small or use-multilingual."),
        click.option("--laws", type=folder, help="A folder of laws, a JSON Lines file a state."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


_states_option = click.option("--states", help="Only these states, separated by commas: MD,OH.")
_questions_option = click.option("--questions", type=click.Path(path_type=Path), help="A folder of questions.")


def _settings(settings_file: Path | None, changes: Sequence[str], embedder: str | None) -> "Settings":
    from retrieval.settings import SETTINGS, changed, load_settings

    settings = load_settings(settings_file or SETTINGS)
    first = [f"embedder={embedder}"] if embedder else []
    return changed(settings, [*first, *changes])


def _corpus(laws: Path | None, states: str | None) -> "dict[str, list[Law]]":
    from retrieval.corpus import LAWS, load_corpus

    wanted = [state.strip().upper() for state in states.split(",") if state.strip()] if states else None
    return load_corpus(laws or LAWS, wanted)


@contextmanager
def _vectors(name: str) -> "Iterator[Vectors]":
    """The vectors of a model, with a progress bar on a terminal while missing ones are computed."""
    from rich.console import Console
    from rich.progress import Progress

    from retrieval.models import embedder
    from retrieval.recordings import CACHE, RECORDINGS, Vectors

    with Progress(console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def progress(what: str, done: int, total: int) -> None:
            task = tasks.setdefault(what, bar.add_task(what, total=total)) if what not in tasks else tasks[what]
            bar.update(task, completed=done, total=total)

        model = embedder(name)
        yield Vectors(model, RECORDINGS / name, CACHE / f"{name}.jsonl", progress)


@group.command("eval")
@_pipeline_options
@_states_option
@_questions_option
@click.option("--out", type=click.Path(path_type=Path), help="Where the report goes.  [default: reports/latest]")
def evaluate_command(
    settings_file: Path | None,
    changes: Sequence[str],
    embedder: str | None,
    states: str | None,
    laws: Path | None,
    questions: Path | None,
    out: Path | None,
) -> None:
    """Measure the pipeline over the question set and write a report."""
    from evals.questions import QUESTIONS, load_questions
    from evals.report.contents import Contents
    from evals.report.files import write_report
    from evals.report.terminal import show
    from evals.run import evaluate

    settings = _settings(settings_file, changes, embedder)
    corpus = _corpus(laws, states)
    pairs = load_questions(questions or QUESTIONS, corpus)
    with _vectors(settings.embedder) as vectors:
        run = evaluate(settings, corpus, pairs, vectors.embed, f"{vectors.model.name} ({vectors.model.version})")
    contents = Contents(run)
    folder = out or ROOT / "reports" / "latest"
    write_report(contents, folder)
    show(contents, vectors.computed, folder)


@group.command("search")
@click.argument("state")
@click.argument("question")
@_pipeline_options
@click.option("--search", "searches", multiple=True, help="A search to fuse beside the question.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def search_command(
    state: str,
    question: str,
    settings_file: Path | None,
    changes: Sequence[str],
    embedder: str | None,
    laws: Path | None,
    searches: Sequence[str],
    form: str,
) -> None:
    """Show what each stage gives for QUESTION in STATE."""
    from evals.report.search import as_json, as_text
    from retrieval.documents import strict_json
    from retrieval.pipeline import Pipeline

    settings = _settings(settings_file, changes, embedder)
    corpus = _corpus(laws, state)
    with _vectors(settings.embedder) as vectors:
        pipeline = Pipeline(settings, corpus[state.upper()], vectors.embed)
        trace = pipeline.answer(question, searches)
    if form == "json":
        click.echo(strict_json(as_json(pipeline, trace), indent=2))
    else:
        click.echo(as_text(pipeline, trace))


@group.command("record")
@_pipeline_options
@_questions_option
@click.option("--recordings", type=click.Path(path_type=Path), help="Where they go.  [default: recordings]")
def record_command(
    settings_file: Path | None,
    changes: Sequence[str],
    embedder: str | None,
    laws: Path | None,
    questions: Path | None,
    recordings: Path | None,
) -> None:
    """Record the vectors of laws and questions, so that later runs need no model."""
    from evals.questions import QUESTIONS, load_questions
    from evals.record import record
    from retrieval.recordings import RECORDINGS

    settings = _settings(settings_file, changes, embedder)
    corpus = _corpus(laws, None)
    pairs = load_questions(questions or QUESTIONS, corpus)
    with _vectors(settings.embedder) as vectors:
        written = record(vectors, (recordings or RECORDINGS) / settings.embedder, corpus, pairs)
    for path, lines in written.items():
        click.echo(f"{path}: {lines} vectors")


if __name__ == "__main__":
    main()
