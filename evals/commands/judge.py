"""`near-enough judge`: a person reads laws one at a time in the terminal, and two judges are compared."""

import shutil
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evals.commands.options import FOLDER, takes, wanted_states

if TYPE_CHECKING:
    from evals.judge.judging import Agreement, Item, Returned, Share, Task
    from evals.questions import Pair
    from retrieval.corpus import Law

WIDTH = 100
TIMEOUT = 60.0  # seconds a reply of a retriever of one's own

KEYS = {"a": "answers", "s": "sibling", "n": "no"}
BACK, QUIT = "b", "q"
ASKED = "a answers, s sibling, n no, b back, q quit"

Corpus = Mapping[str, Mapping[str, "Law"]]


@click.command("judge")
@click.argument("folder", type=FOLDER)
@click.argument("other", type=FOLDER, required=False)
@click.option("--list", "listed", type=FOLDER, help="Judge for the questions of this file, one a line, such as a log.")
@click.option("--retriever", help="Pool what this command finds too, JSON lines in and out, as for near-enough ask.")
@click.option("--embedder", "embedders", multiple=True, help="Pool what this model finds; may be given several times.")
@takes("states", "settings", "laws", "questions")
def judge_command(folder: Path, other: Path | None, **inputs: Any) -> None:
    """Judge which laws answer which questions, one law at a time; or compare two judges.

    FOLDER is the judge's own, and its name the judge's. The first eight laws of every method are shown, blind and
    shuffled, with those that the set names among them. A judgement is kept as soon as it is made: stop at any time,
    and the same command goes on. FOLDER/needs.yaml holds this command's needs that are judged to the end, in the form
    that --questions reads.

    \b
    near-enough judge judged/alice --states MD                   # the needs of the question set
    near-enough judge judged/alice --states MD --list log.txt    # a plain list of questions
    near-enough judge judged/alice judged/bob                    # two judges: kappa, and where they disagree
    """  # noqa: D301 - click keeps the lines after a backspace as they are
    from evals.judge.judging import agreement, read_judgements, shares, tasks
    from evals.judge.labels import keep, refuse_others

    if other is not None:
        click.echo(_agreement_text(agreement(_judged(folder), _judged(other)), folder.name, other.name))
        return
    refuse_others(folder)
    pairs, methods, corpus = _pooled(**inputs)
    todo = tasks(pairs, methods, folder.resolve().name)
    judged = read_judgements(folder)
    _sit(todo, judged, corpus, lambda: keep(folder, todo, judged))
    if judged:
        keep(folder, todo, judged)
    click.echo(_progress_text(todo, judged, shares(pairs, methods, judged), folder))


def _judged(folder: Path) -> "dict[Item, str]":
    """A judge's grades; InputError where there are none."""
    from evals.judge.judging import read_judgements
    from retrieval.errors import Fault, InputError

    found = read_judgements(folder)
    if not found:
        raise InputError([Fault(str(folder), None, "nobody has judged here: `near-enough judge FOLDER` begins")])
    return found


def _pooled(
    listed: Path | None,
    retriever: str | None,
    embedders: Sequence[str],
    states: str | None,
    settings_file: Path | None,
    laws: Path | None,
    questions: Path | None,
) -> "tuple[list[Pair], dict[str, Returned], Corpus]":
    """The pairs to judge, what each method returned for them, and the laws by state and id."""
    from evals.judge.judging import DEPTH, returned_by
    from evals.judge.labels import listed_pairs
    from evals.questions import QUESTIONS, load_questions
    from evals.retrievers import Command, ask
    from evals.run import evaluate
    from retrieval.corpus import LAWS, load_corpus
    from retrieval.models import embedder
    from retrieval.recordings import CACHE, RECORDINGS, Vectors
    from retrieval.settings import SETTINGS, changed, load_settings

    wanted = wanted_states(states)
    corpus = load_corpus(laws or LAWS, wanted)
    if listed and len(corpus) > 1 and not wanted:
        raise click.UsageError(f"a list does not say of which state it asks: add --states, of {', '.join(corpus)}")
    pairs = listed_pairs(listed, list(corpus)) if listed else load_questions(questions or QUESTIONS, corpus)
    numbers = load_settings(settings_file or SETTINGS)
    methods: dict[str, Returned] = {}
    searched = ("off", "written") if any(pair.searches for pair in pairs) else ("off",)
    for name in dict.fromkeys(embedders or [numbers.embedder]):
        vectors = Vectors(embedder(name), RECORDINGS / name, CACHE / f"{name}.jsonl")
        for rephrase in searched:
            given = changed(numbers, [f"embedder={name}", f"rephrase={rephrase}", "rerank=off"])
            methods |= returned_by(evaluate(given, corpus, pairs, vectors.embed, name))
    if retriever:
        with Command(retriever, TIMEOUT) as process:
            answers = list(ask(process, pairs, corpus, DEPTH))
        methods["the retriever"] = {(each.question, each.state): each.laws for each in answers}
    return pairs, methods, {state: {law.id: law for law in of_state} for state, of_state in corpus.items()}


def _sit(todo: "Sequence[Task]", judged: "dict[Item, str]", corpus: Corpus, keep: Callable[[], None]) -> None:
    """Ask for every item that is not judged, in order, until all are, or until the judge stops."""
    items = [(task, item) for task in todo for item in task.items()]
    at = _next(items, judged, 0)
    told: Task | None = None
    while at < len(items):
        task, item = items[at]
        if task is not told:
            click.echo(_task_text(task, todo.index(task) + 1, len(todo)))
            told = task
        key = _answer(_law_text(task, item, corpus[item.state][item.law], judged.get(item)))
        if key == QUIT:
            return
        if key == BACK:
            at = max(0, at - 1)
            continue
        judged[item] = KEYS[key]
        keep()
        at = _next(items, judged, at + 1)


def _next(items: "Sequence[tuple[Task, Item]]", judged: "Mapping[Item, str]", start: int) -> int:
    """The first place from `start` on that is not judged, else before it; the number of items where all are."""
    open_ones = [at for at, (_, item) in enumerate(items) if item not in judged]
    return next((at for at in open_ones if at >= start), open_ones[0] if open_ones else len(items))


def _answer(shown: str) -> str:
    """One of the keys; the end of the input is the wish to stop."""
    click.echo(shown)
    choice = click.Choice([*KEYS, BACK, QUIT], case_sensitive=False)
    try:
        return str(click.prompt(ASKED, type=choice, show_choices=False))
    except click.Abort:
        click.echo()
        return QUIT


def _task_text(task: "Task", number: int, count: int) -> str:
    asks = [_plain(pair.text) for pair in task.pairs]
    return "\n".join(["", f"Need {number:,} of {count:,}, {_plain(task.state)}. A learner asks:", *map(_wrapped, asks)])


def _law_text(task: "Task", item: "Item", law: "Law", before: str | None) -> str:
    lines = ["", f"Law {task.laws.index(item.law) + 1} of {len(task.laws)}:", _wrapped(_plain(law.law) or "(no text)")]
    if law.question:
        lines.append(_wrapped(f"Its card asks: {_plain(law.question)}"))
    return "\n".join([*lines, f"You said: {before}"] if before else lines)


def _plain(text: str) -> str:
    """A text on one line, without what a terminal would obey or hide."""
    return " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())


def _wrapped(text: str) -> str:
    width = min(WIDTH, shutil.get_terminal_size().columns)
    return textwrap.fill(text, width, initial_indent="  ", subsequent_indent="  ")


def _progress_text(
    todo: "Sequence[Task]", judged: "Mapping[Item, str]", shares: "Sequence[Share]", folder: Path
) -> str:
    from evals.judge.judging import DEPTH, JUDGEMENTS, NEEDS, finished

    items = [item for task in todo for item in task.items()]
    ended = len(list(finished(todo, judged)))
    done = sum(item in judged for item in items)
    lines = ["", f"{done:,} of {len(items):,} laws judged; {ended:,} of {len(todo):,} needs to the end."]
    lines.append(f"Judged, of the first {DEPTH} laws that each method returned:")
    for share in shares:
        percent = f"{share.judged / share.returned:6.1%}" if share.returned else "      "
        lines.append(f"  {percent}  {share.judged:,} of {share.returned:,}  {share.method}")
    if judged:
        lines.append(f"Judgements: {folder / JUDGEMENTS}")
    if ended and (folder / NEEDS).is_file():
        lines.append(f"Labels, for --questions {folder}: {folder / NEEDS}")
    return "\n".join(lines)


def _agreement_text(found: "Agreement", one: str, other: str) -> str:
    if not found.grades:
        return f"{one} and {other} have judged no law in common."
    agreed = len(found.grades) - len(found.disagreements)
    lines = [
        f"{one} and {other} both judged {len(found.grades):,} laws and agree on {agreed:,}.",
        f"Cohen's kappa, answers / sibling / no: {_kappa(found.kappa)}",
        f"Cohen's kappa, answers or not: {_kappa(found.kappa_answers)}",
    ]
    for (first, second), count in sorted(Counter(found.grades.values()).items()):
        lines.append(f"  {count:6,}  {one} {first}, {other} {second}")
    if found.disagreements:
        lines.append("Where they disagree:")
    lines += [
        f"  {item.need}, {item.state}, {item.law}: {one} {first}, {other} {second}"
        for item, first, second in found.disagreements
    ]
    return "\n".join(lines)


def _kappa(value: float | None) -> str:
    return "none, every grade is the same" if value is None else f"{value:.3f}"
