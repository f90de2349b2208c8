"""The options that commands share, and what a command makes of them: inputs, vectors, folders."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evals.stages import STAGES

if TYPE_CHECKING:
    from evals.baseline import Baseline
    from evals.imported import Kept
    from evals.parts import Near
    from evals.questions import Key, Pair
    from evals.run import Run
    from retrieval.corpus import Law
    from retrieval.recordings import Vectors
    from retrieval.settings import Settings


# Below the recordings: vectors of the laws without their cards' questions, for what the cards earn.
RULES = "rules"


@dataclass(frozen=True)
class Inputs:
    """What a run is made of, from the options that all commands share. file: the settings without their changes."""

    settings: "Settings"
    file: "Settings"
    corpus: "dict[str, list[Law]]"
    questions: Path

    def measure(self, pools: bool = False) -> "tuple[Run, int]":
        """The run, and how many vectors had to be computed for it. pools: as in `evaluate`."""
        from evals.recording.asking import answering
        from evals.run import evaluate
        from retrieval import recordings

        # In one order, so that moving questions about changes no byte of a report.
        pairs = sorted(self.pairs(), key=lambda pair: pair.key)
        with open_vectors(self.settings.embedder) as vectors:
            model = f"{vectors.model.name} ({vectors.model.version})"
            ask = answering(self.settings, recordings.RECORDINGS, vectors.progress)
            run = evaluate(self.settings, self.corpus, pairs, vectors.embed, model, ask=ask, pools=pools)
        return replace(run, recorded=max(vectors.recorded, default=None)), vectors.computed

    def rules_alone(self, run: "Run") -> "Near | None":
        """The near rankings without the cards' questions; None where vectors of the rules alone are not at hand."""
        from evals.parts import rules, rules_alone
        from retrieval import recordings
        from retrieval.vectors import embedding_text

        name = self.settings.embedder
        with open_vectors(name) as vectors, open_vectors(name, recordings=recordings.RECORDINGS / RULES) as alone:
            texts = [embedding_text(law) for laws in rules(self.corpus).values() for law in laws]
            if alone.missing("passage", filter(None, texts)):
                return None
            return rules_alone(run, lambda kind, each: (alone if kind == "passage" else vectors).embed(kind, each))

    def pairs(self) -> "list[Pair]":
        """The questions, checked against the laws."""
        from evals.questions import load_questions

        return load_questions(self.questions, self.corpus)

    def kept(self) -> "dict[Key, Kept]":
        """What was imported with the questions, by question and state."""
        from evals.imported import by_key, read_kept

        return by_key(read_kept(self.questions))


def read_inputs(
    settings_file: Path | None = None,
    changes: Sequence[str] = (),
    embedder: str | None = None,
    states: str | None = None,
    laws: Path | None = None,
    questions: Path | None = None,
) -> Inputs:
    """Settings with their changes, and the laws of the states wanted; UsageError where `states` names none."""
    from evals.questions import QUESTIONS
    from retrieval.corpus import LAWS, load_corpus
    from retrieval.settings import SETTINGS, changed, load_settings

    file = load_settings(settings_file or SETTINGS)
    settings = changed(file, [*([f"embedder={embedder}"] if embedder else []), *changes])
    corpus = load_corpus(laws or LAWS, wanted_states(states))
    return Inputs(settings, file, corpus, questions or QUESTIONS)


def wanted_states(states: str | None) -> list[str] | None:
    """The states of a `--states`, in capitals; None where it was not given, UsageError where it names none."""
    if states is None:
        return None
    wanted = [state.strip().upper() for state in states.split(",") if state.strip()]
    if not wanted:
        raise click.UsageError("name a state, or several separated by commas: MD,OH")
    return wanted


def reports_folder() -> Path:
    """Where reports go. Read when it is needed: the package of the pipeline is slow to import."""
    from retrieval import project

    return project.PROJECT.reports


def baseline_folder() -> Path:
    """Where the baseline is, if nobody says otherwise."""
    return reports_folder() / "baseline"


@contextmanager
def open_vectors(name: str, ask: bool = False, recordings: Path | None = None) -> "Iterator[Vectors]":
    """The vectors of a model, with a progress bar on a terminal while missing ones are computed, a line elsewhere.

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
                if not console.is_terminal and done < total:
                    click.echo(f"computing: {what}", err=True)
            bar.update(tasks[what], completed=done)

        model = embedder(name)
        vectors = Vectors(model, (recordings or RECORDINGS) / name, CACHE / f"{name}.jsonl", progress, ask)
        yield vectors
    if vectors.unkept:
        click.echo(f"near-enough: what was computed is not kept: {vectors.unkept}", err=True)


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


stage_option = click.option(
    "--stage", type=click.Choice(STAGES), help="With --run: its stage, where the file names none.  [default: pool]"
)


def takes(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of these names, shown in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(names):
            command = _OPTIONS[name](command)
        return command

    return add


@contextmanager
def uncollected() -> "Iterator[None]":
    """No garbage collection: a run is millions of objects that live to the end, and walking them takes a second."""
    import gc

    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def baseline_for(states: Collection[str] | None, inputs: Mapping[str, Any]) -> "Baseline | None":
    """The baseline, of these states alone where some are given.

    None where none is recorded, or where other laws or questions are measured.
    """
    from evals.baseline_files import is_recorded, read_baseline

    if inputs["laws"] or inputs["questions"] or not is_recorded(baseline_folder()):
        return None
    baseline = read_baseline(baseline_folder())
    return baseline if states is None else baseline.only(states)
