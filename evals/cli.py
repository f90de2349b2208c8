"""The command line: the only place that reads arguments, prints and exits.

Status 0: good. 1: the gate failed. 2: the input is bad, every fault listed. 3: not comparable. 70: a fault of the
program. Heavy imports stand inside the
commands that need them, so that `--help` answers at once.
"""

import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evals.commands.ask import ask_command
from evals.commands.exchange import export_command, import_command
from evals.commands.judge import judge_command
from evals.commands.start import init_command
from evals.stages import STAGES

if TYPE_CHECKING:
    from evals.baseline import Baseline
    from evals.growth import Grown
    from evals.outcomes import Side
    from evals.questions import Pair
    from evals.run import Run
    from retrieval.corpus import Law
    from retrieval.recordings import Vectors
    from retrieval.settings import Settings

BAD_INPUT = 2
PROGRAM_FAULT = 70
INTERRUPTED = 130
PIPE_CLOSED = 141


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit with its status."""
    try:
        status = group.main(args=arguments, prog_name="near-enough", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        status = BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        status = INTERRUPTED
    except SystemExit:  # click's answer to a reader that closed the pipe: neither good nor a failed gate
        status = PIPE_CLOSED
    except Exception as error:  # the one place that tells bad input from a fault of the program
        status = _failed(error)
    sys.exit(status or 0)


def _failed(error: Exception) -> int:
    """Say what went wrong, and the status for it."""
    from retrieval.errors import NearEnoughError

    if isinstance(error, NearEnoughError):
        click.echo(f"near-enough: {error}", err=True)
        return BAD_INPUT
    if isinstance(error, OSError) and error.filename is not None:
        click.echo(f"near-enough: {error.filename}: {error.strerror}", err=True)
        return BAD_INPUT
    traceback.print_exception(error)
    click.echo("near-enough: this is a fault of the program; please report it with the lines above", err=True)
    return PROGRAM_FAULT


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

    def measure(self, pools: bool = False) -> "tuple[Run, int]":
        """The run, and how many vectors had to be computed for it. pools: as in `evaluate`."""
        from evals.recording.asking import answering
        from evals.run import evaluate
        from retrieval import recordings

        # In one order, so that moving questions about changes no byte of a report.
        pairs = sorted(self.pairs(), key=lambda pair: (pair.question, pair.state))
        with _vectors(self.settings.embedder) as vectors:
            model = f"{vectors.model.name} ({vectors.model.version})"
            ask = answering(self.settings, recordings.RECORDINGS, vectors.progress)
            run = evaluate(self.settings, self.corpus, pairs, vectors.embed, model, ask=ask, pools=pools)
        return replace(run, recorded=max(vectors.recorded, default=None)), vectors.computed

    def pairs(self) -> "list[Pair]":
        """The questions, checked against the laws."""
        from evals.questions import QUESTIONS, load_questions

        return load_questions(self.questions or QUESTIONS, self.corpus)


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
    wanted = None if states is None else [state.strip().upper() for state in states.split(",") if state.strip()]
    if wanted == []:
        raise click.UsageError("name a state, or several separated by commas: MD,OH")
    return Inputs(changed(settings, [*first, *changes]), load_corpus(laws or LAWS, wanted), questions)


def reports_folder() -> Path:
    """Where reports go. Read when it is needed: the package of the pipeline is slow to import."""
    from retrieval import project

    return project.PROJECT.reports


def baseline_folder() -> Path:
    """Where the baseline is, if nobody says otherwise."""
    return reports_folder() / "baseline"


@contextmanager
def _vectors(name: str, ask: bool = False, recordings: Path | None = None) -> "Iterator[Vectors]":
    """The vectors of a model, with a progress bar on a terminal while missing ones are computed.

    ask: also where they are asked for over a network. recordings: where they were recorded, if not with the project.
    """
    from rich.console import Console
    from rich.progress import Progress

    from retrieval.models import embedder
    from retrieval.recordings import CACHE, RECORDINGS, Vectors

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks: dict[str, Any] = {}

        def progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done)

        model = embedder(name)
        yield Vectors(model, (recordings or RECORDINGS) / name, CACHE / f"{name}.jsonl", progress, ask)


FOLDER = click.Path(path_type=Path)
_OPTIONS = {
    "settings": click.option(
        "--settings", "settings_file", type=FOLDER, help="The settings.  [default: settings.yaml]"
    ),
    "set": click.option("--set", "changes", multiple=True, metavar="NAME=VALUE", help="Change a setting for this run."),
    "embedder": click.option(
        "--embedder", help="Another embedding model: e5-small, use-multilingual, bge-m3 or openai/MODEL."
    ),
    "states": click.option("--states", help="Only these states, separated by commas: MD,OH."),
    "laws": click.option("--laws", type=FOLDER, help="A folder of laws, a JSON Lines file a state."),
    "questions": click.option("--questions", type=FOLDER, help="A folder of questions."),
}


_stage_option = click.option(
    "--stage", type=click.Choice(STAGES), help="With --run: its stage, where the file names none.  [default: pool]"
)


def _takes(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of these names, shown in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(names):
            command = _OPTIONS[name](command)
        return command

    return add


@contextmanager
def _uncollected() -> "Iterator[None]":
    """No garbage collection: a run is millions of objects that live to the end, and walking them takes a second."""
    import gc

    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@group.command("eval")
@_takes("set", "embedder", "states", "settings", "laws", "questions")
@click.option("--metric", "metrics", multiple=True, help="A further metric at every stage, such as nDCG@10 or MRR.")
@click.option("--growth", is_flag=True, help="Also measure each state as its corpus grows to 6,000 laws.")
@click.option("--run", "foreign", type=FOLDER, help="Measure what another system returned: a TREC run or JSON Lines.")
@_stage_option
@click.option("--qrels", type=FOLDER, help="With --run: TREC's judgements in place of the question set.")
@click.option("--scores", type=FOLDER, help="Raw cosines from elsewhere, in place of a model.")
@click.option("--out", type=FOLDER, help="Where the report goes.  [default: reports/latest, reports/run with --run]")
@_uncollected()
def evaluate_command(
    metrics: Sequence[str],
    growth: bool,
    foreign: Path | None,
    stage: str | None,
    qrels: Path | None,
    scores: Path | None,
    out: Path | None,
    **inputs: Any,
) -> None:
    """Measure the pipeline over the question set and write a report."""
    if (qrels or stage) and not foreign:
        raise click.UsageError("--qrels and --stage go with --run")
    if foreign and (scores or growth):
        raise click.UsageError("--run measures what a file holds: leave out --scores and --growth")
    if foreign:
        _evaluate_foreign(foreign, stage, qrels, metrics, out, inputs)
        return
    from evals.commands.exchange import run_from_scores
    from evals.growth import grow
    from evals.metrics import parse_metric
    from evals.report.contents import Contents
    from evals.report.files import refuse_to_replace, write_report
    from evals.report.terminal import show
    from retrieval.errors import Fault, InputError

    wanted = tuple(dict.fromkeys(parse_metric(each) for each in metrics))
    folder = out or reports_folder() / "latest"
    refuse_to_replace(folder)
    given, computed = _inputs(**inputs), 0
    baseline = _baseline_for(given.corpus, inputs)
    if scores:
        run, said = run_from_scores(scores, given)
        click.echo(said)
    else:
        run, computed = given.measure(pools=True)
    if not any(each.pair.expected for each in run.pairs):
        asked = ", ".join(given.corpus)
        raise InputError([Fault("questions", None, f"none expects a law in {asked}: there is no recall to measure")])
    grown: list[Grown] = []
    if growth:
        with _vectors(run.settings.embedder) as vectors:
            grown = grow(run, vectors.embed)
    contents = Contents(run, baseline, wanted, tuple(grown))
    write_report(contents, folder)
    show(contents, computed, folder)


def _evaluate_foreign(
    file: Path, stage: str | None, qrels: Path | None, metrics: Sequence[str], out: Path | None, inputs: Any
) -> None:
    """`eval --run`: what another system returned, by the question set or by judgements of its own."""
    from evals.commands.exchange import measure_against_qrels, measure_run

    if qrels:
        measure_against_qrels(file, qrels, metrics, out)
    else:
        measure_run(file, stage, metrics, out or reports_folder() / "run", _inputs(**inputs))


@group.command("search")
@click.argument("state")
@click.argument("question")
@_takes("set", "embedder", "settings", "laws")
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

    given = _inputs(states=state, **inputs)
    if len(given.corpus) != 1:
        raise click.UsageError("a question is searched in one state")
    if not question.isascii() and question != question.encode(errors="replace").decode():
        raise click.UsageError("the question holds bytes that are no text")
    with _vectors(given.settings.embedder, ask=True) as vectors:
        pipeline, rephrase = searcher(given.settings, given.corpus[state.strip().upper()], vectors.embed)
        said = rephrase(question)
        trace = pipeline.answer(question, [*searches, *said.searches], said.family)
    click.echo(strict_json(as_json(pipeline, trace), indent=2) if form == "json" else as_text(pipeline, trace))


@group.command("compare")
@click.argument("runs", nargs=-1, type=FOLDER)
@_takes("set", "embedder", "states", "settings", "laws", "questions")
@_uncollected()
def compare_command(runs: Sequence[Path], changes: Sequence[str], embedder: str | None, **inputs: Any) -> None:
    """Compare the settings in force with a change of them, or two RUNS by the folders of their reports.

    \b
    near-enough compare --set near_enough=0.82
    near-enough compare --embedder use-multilingual
    near-enough compare reports/before reports/latest
    """  # noqa: D301  # click reads the sign itself, which a raw string does not hold
    from evals.gate import judge
    from evals.outcomes import read_side
    from evals.report.comparison import comparison_text

    options = [part for change in changes for part in ("--set", change)]
    options += ["--embedder", embedder] if embedder else []
    if len(runs) == 2 and not options and not any(inputs.values()):
        before, after = (read_side(folder) for folder in runs)
    elif not runs and options:
        before, after = _sides(_inputs(**inputs), changes, embedder)
    else:
        raise click.UsageError("give a change (--set or --embedder), or the folders of two runs and no option")
    baseline = _baseline_for({each.state for each in after.outcomes.values()}, inputs)
    verdict = judge(baseline, after) if baseline else None
    own = not (inputs["laws"] or inputs["questions"])
    none = (
        'no baseline is recorded: make baseline WHY="..."'
        if own
        else "the baseline is of the project's own laws and questions"
    )
    click.echo(comparison_text(before, after, verdict, none, options))


def _baseline_for(states: "Collection[str]", inputs: "Mapping[str, Any]") -> "Baseline | None":
    """The baseline of these states; None where none is recorded, or where other laws or questions are measured."""
    from evals.baseline import is_recorded, read_baseline

    if inputs["laws"] or inputs["questions"] or not is_recorded(baseline_folder()):
        return None
    baseline = read_baseline(baseline_folder())
    return baseline.only(states) if inputs["states"] else baseline


def _sides(given: Inputs, changes: Sequence[str], embedder: str | None) -> "tuple[Side, Side]":
    """The settings in force and a change of them, measured once where both take the same scorings."""
    from evals import bands
    from evals.outcomes import Side
    from evals.rerun import can_rerun, rerun
    from retrieval.settings import changed

    old, _ = given.measure()
    settings = changed(given.settings, [*([f"embedder={embedder}"] if embedder else []), *changes])
    points = bands.points(old)
    before = Side.of(old, bands.verdict(points, old.settings.cutoff))
    if can_rerun(old.settings, settings):
        return before, Side.of(rerun(old, settings), bands.verdict(points, settings.cutoff))
    new, _ = replace(given, settings=settings).measure()
    others = bands.points(new)
    after = Side.of(new, bands.verdict(others, settings.cutoff))
    if settings.embedder != old.settings.embedder:
        areas = (f"{each.bands} {bands.separation_said(side)}" for each, side in ((before, points), (after, others)))
        before, after = (replace(each, bands=said) for each, said in zip((before, after), areas, strict=True))
    return before, after


@group.command("gate")
@_takes("set", "settings", "laws", "questions")
@click.option("--run", "foreign", type=FOLDER, help="Judge what another system returned: a TREC run or JSON Lines.")
@_stage_option
@click.option("--baseline", type=FOLDER, help="The baseline.  [default: reports/baseline]")
@click.option("--junit", type=FOLDER, help="Write JUnit XML here, a case a pair.")
@click.option("--markdown", type=FOLDER, help="Write a comment for a pull request here.")
@click.option("--json", "json_file", type=FOLDER, help="Write the verdict as JSON here.")
@click.option("--github", is_flag=True, help="Print GitHub annotations on the questions' lines.")
@_uncollected()
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
    given = _inputs(**inputs)
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


@group.command("baseline")
@_takes("set", "settings", "laws", "questions")
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
    run, _ = _inputs(**inputs).measure()
    side = Side.of(run)
    summary = new_summary(side, before, reason, date.today().isoformat())
    comparison = compare(before.outcomes, side.outcomes) if before else None
    write_baseline(folder, side, summary, comparison)
    click.echo(recorded_text(summary, comparison, folder))


@group.command("lint")
@_takes("set", "embedder", "settings", "laws", "questions")
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
    with _vectors(settings.embedder) as vectors:
        try:
            off = changed(settings, ["rephrase=off", "rerank=off"])
            run = evaluate(off, checked.corpus, checked.pairs, vectors.embed, vectors.model.name)
            doubts = find_doubts(checked, run, vectors.embed, smallest_group)
        except MissingRecordingError as error:
            doubts, left_out = find_doubts(checked, smallest_group=smallest_group), str(error)
    click.echo(report(checked, doubts, left_out))


@group.command("record")
@_takes("set", "embedder", "settings", "laws", "questions")
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
    given, folder = _inputs(**inputs), recordings or PROJECT.root / "recordings"
    pairs = given.pairs()
    do = plan_recording if dry_run else check_recordings if check else record_all
    with _vectors(given.settings.embedder, ask=not dry_run, recordings=recordings) as vectors:
        for line in do(given.settings, given.corpus, pairs, vectors, folder):
            click.echo(line)


@group.command("recordings")
@_takes("set", "embedder", "settings", "laws", "questions")
@click.option("--recordings", type=FOLDER, help="Where they are.  [default: recordings]")
@click.option("--prune", is_flag=True, help="Drop what is stale or unused.")
def recordings_command(recordings: Path | None, prune: bool, **inputs: Any) -> None:
    """List what is recorded and missing, stale or unused, for the settings, laws and questions as they are."""
    from evals.recording.lines import list_recordings
    from retrieval.project import PROJECT

    given, folder = _inputs(**inputs), recordings or PROJECT.root / "recordings"
    with _vectors(given.settings.embedder, recordings=recordings) as vectors:
        for line in list_recordings(given.settings, given.corpus, given.pairs(), vectors, folder, prune):
            click.echo(line)


@group.command("publish", hidden=True)
def publish_command() -> None:
    """Write the published analysis of the settings in force into reports/near-enough."""
    from evals.report.contents import Contents
    from evals.report.published import published_files
    from retrieval.recordings import write_beside

    contents, written = (Contents(_inputs(changes=changes).measure()[0]) for changes in ((), ("rephrase=written",)))
    for name, text in published_files(contents, written).items():
        write_beside(reports_folder() / "near-enough" / name, text)


for command in (ask_command, export_command, import_command, init_command, judge_command):
    group.add_command(command)


if __name__ == "__main__":
    main()
