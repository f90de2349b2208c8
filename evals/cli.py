"""The command line: the only place that reads arguments, prints and exits.

Status 0: good. 1: the gate failed. 2: the input is bad, every fault listed. 3: not comparable. 70: a fault of the
program. Heavy imports stand inside the
commands that need them, so that `--help` answers at once.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from evals.gate import Verdict
    from evals.run import Run
    from retrieval.corpus import Law
    from retrieval.recordings import Vectors
    from retrieval.settings import Settings

REPORTS = Path(__file__).parents[1] / "reports"
BASELINE = REPORTS / "baseline"

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


@dataclass(frozen=True)
class Inputs:
    """What a run is made of, from the options that all commands share."""

    settings: "Settings"
    corpus: "dict[str, list[Law]]"
    questions: Path | None

    def measure(self) -> "tuple[Run, int]":
        """The run, and how many vectors had to be computed for it."""
        from evals.questions import QUESTIONS, load_questions
        from evals.run import evaluate

        pairs = load_questions(self.questions or QUESTIONS, self.corpus)
        with _vectors(self.settings.embedder) as vectors:
            model = f"{vectors.model.name} ({vectors.model.version})"
            run = evaluate(self.settings, self.corpus, pairs, vectors.embed, model)
        return replace(run, recorded=max(vectors.recorded, default=None)), vectors.computed


def _inputs(
    settings_file: Path | None = None,
    changes: Sequence[str] = (),
    embedder: str | None = None,
    states: str | None = None,
    laws: Path | None = None,
    questions: Path | None = None,
) -> Inputs:
    from retrieval.corpus import LAWS, load_corpus
    from retrieval.settings import SETTINGS, changed, load_settings

    settings = load_settings(settings_file or SETTINGS)
    first = [f"embedder={embedder}"] if embedder else []
    wanted = [state.strip().upper() for state in states.split(",") if state.strip()] if states else None
    return Inputs(changed(settings, [*first, *changes]), load_corpus(laws or LAWS, wanted), questions)


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
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done)

        model = embedder(name)
        yield Vectors(model, RECORDINGS / name, CACHE / f"{name}.jsonl", progress)


FOLDER = click.Path(path_type=Path)
_OPTIONS = {
    "settings": click.option(
        "--settings", "settings_file", type=FOLDER, help="The settings.  [default: settings.yaml]"
    ),
    "set": click.option("--set", "changes", multiple=True, metavar="NAME=VALUE", help="Change a setting for this run."),
    "embedder": click.option("--embedder", help="Another embedding model: e5-small or use-multilingual."),
    "states": click.option("--states", help="Only these states, separated by commas: MD,OH."),
    "laws": click.option("--laws", type=FOLDER, help="A folder of laws, a JSON Lines file a state."),
    "questions": click.option("--questions", type=FOLDER, help="A folder of questions."),
}


def _takes(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of these names, shown in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(names):
            command = _OPTIONS[name](command)
        return command

    return add


@group.command("eval")
@_takes("set", "embedder", "states", "settings", "laws", "questions")
@click.option("--out", type=FOLDER, help="Where the report goes.  [default: reports/latest]")
def evaluate_command(out: Path | None, **inputs: Any) -> None:
    """Measure the pipeline over the question set and write a report."""
    from evals.report.contents import Contents
    from evals.report.files import write_report
    from evals.report.terminal import show

    run, computed = _inputs(**inputs).measure()
    contents = Contents(run)
    folder = out or REPORTS / "latest"
    write_report(contents, folder)
    show(contents, computed, folder)


@group.command("search")
@click.argument("state")
@click.argument("question")
@_takes("set", "embedder", "settings", "laws")
@click.option("--search", "searches", multiple=True, help="A search to fuse beside the question.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def search_command(state: str, question: str, searches: Sequence[str], form: str, **inputs: Any) -> None:
    """Show what each stage gives for QUESTION in STATE."""
    from evals.report.search import as_json, as_text
    from retrieval.documents import strict_json
    from retrieval.pipeline import Pipeline

    given = _inputs(states=state, **inputs)
    with _vectors(given.settings.embedder) as vectors:
        pipeline = Pipeline(given.settings, given.corpus[state.strip().upper()], vectors.embed)
        trace = pipeline.answer(question, searches)
    click.echo(strict_json(as_json(pipeline, trace), indent=2) if form == "json" else as_text(pipeline, trace))


@group.command("compare")
@click.argument("runs", nargs=-1, type=FOLDER)
@_takes("set", "embedder", "states", "settings", "laws", "questions")
def compare_command(runs: Sequence[Path], changes: Sequence[str], embedder: str | None, **inputs: Any) -> None:
    r"""Compare the settings in force with a change of them, or two RUNS by their folders.

    \b
    near-enough compare --set near_enough=0.82
    near-enough compare --embedder use-multilingual
    near-enough compare reports/before reports/latest
    """
    from evals.outcomes import outcomes, read_outcomes
    from evals.report.comparison import show_comparison, show_runs

    if len(runs) == 2 and not changes and not embedder:
        before, after = (read_outcomes(folder / "per_question.jsonl") for folder in runs)
        show_comparison(before, after)
    elif not runs and (changes or embedder):
        old, _ = _inputs(**inputs).measure()
        new, _ = _inputs(changes=changes, embedder=embedder, **inputs).measure()
        show_runs(old, new, _gate_of(new))
        show_comparison(outcomes(old), outcomes(new))
    else:
        raise click.UsageError("give a change (--set or --embedder), or the folders of two runs")


def _gate_of(run: "Run") -> "Verdict | None":
    """The verdict that the gate would give for a run; None where there is no baseline."""
    from evals.baseline import read_baseline
    from evals.gate import judge
    from evals.outcomes import outcomes

    if not BASELINE.exists():
        return None
    settings = run.settings
    return judge(read_baseline(BASELINE), outcomes(run), run.fingerprints, settings.cutoff, settings.candidate_laws)


@group.command("gate")
@_takes("set", "settings", "laws", "questions")
@click.option("--baseline", type=FOLDER, help="The baseline.  [default: reports/baseline]")
@click.option("--junit", type=FOLDER, help="Write JUnit XML here, a case a pair.")
@click.option("--markdown", type=FOLDER, help="Write a comment for a pull request here.")
@click.option("--json", "json_file", type=FOLDER, help="Write the verdict as JSON here.")
@click.option("--github", is_flag=True, help="Print GitHub annotations on the questions' lines.")
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
    from evals.baseline import read_baseline
    from evals.gate import judge
    from evals.outcomes import outcomes
    from evals.report.ci import annotations, junit_xml, verdict_json
    from evals.report.verdict import verdict_markdown, verdict_text
    from retrieval.recordings import write_beside

    recorded = read_baseline(baseline or BASELINE)
    run, _ = _inputs(**inputs).measure()
    settings, found = run.settings, outcomes(run)
    verdict = judge(recorded, found, run.fingerprints, settings.cutoff, settings.candidate_laws)
    for path, write in ((junit, junit_xml), (markdown, verdict_markdown), (json_file, verdict_json)):
        if path is not None:
            write_beside(path, write(verdict))
    if github:
        click.echo(annotations(verdict, Path.cwd()), nl=False)
    click.echo(verdict_text(verdict))
    return verdict.status


@group.command("baseline")
@_takes("set", "settings", "laws", "questions")
@click.option("--why", required=True, help="Why this is what should hold from now on.")
@click.option("--out", type=FOLDER, help="Where it goes.  [default: reports/baseline]")
def baseline_command(why: str, out: Path | None, **inputs: Any) -> None:
    """Record what holds now as the baseline of the gate; losses against the one before are accepted by name."""
    from datetime import date

    from evals.baseline import new_summary, read_baseline, write_baseline
    from evals.compare import compare
    from evals.outcomes import outcomes
    from evals.report.verdict import recorded_text

    if not why.strip():
        raise click.UsageError("a baseline needs a reason: --why '...'")
    folder = out or BASELINE
    before = read_baseline(folder) if (folder / "baseline.json").exists() else None
    run, _ = _inputs(**inputs).measure()
    found = outcomes(run)
    today = date.today().isoformat()
    summary = new_summary(found, before, run.fingerprints, run.settings.model_dump(), why.strip(), today)
    comparison = compare(before.outcomes, found) if before else None
    write_baseline(folder, summary, found, comparison)
    click.echo(recorded_text(summary, comparison, folder))


@group.command("record")
@_takes("embedder", "settings", "laws", "questions")
@click.option("--recordings", type=FOLDER, help="Where they go.  [default: recordings]")
def record_command(recordings: Path | None, **inputs: Any) -> None:
    """Record the vectors of all laws and questions, so that later runs need no model."""
    from datetime import date

    from evals.questions import QUESTIONS, load_questions
    from evals.record import record
    from retrieval.recordings import RECORDINGS

    given = _inputs(**inputs)
    pairs = load_questions(given.questions or QUESTIONS, given.corpus)
    with _vectors(given.settings.embedder) as vectors:
        written = record(
            vectors, (recordings or RECORDINGS) / given.settings.embedder, given.corpus, pairs, date.today().isoformat()
        )
    for path, lines in written.items():
        click.echo(f"{path}: {lines} vectors")


if __name__ == "__main__":
    main()
