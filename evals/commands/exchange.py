"""`near-enough import`, `near-enough export`, and what `eval` does with `--run`, `--qrels` and `--scores`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evals.commands.options import FOLDER, Inputs, open_vectors, read_inputs, takes
from evals.counted import counted
from evals.stages import STAGES

if TYPE_CHECKING:
    from evals.exchange.agreement import Agreement
    from evals.exchange.foreign import Foreign
    from evals.imported import Kept
    from evals.questions import Key
    from evals.run import Run

THERE = "is there already: give another --out, or move it away"


@click.group("import")
def import_command() -> None:
    """Take in laws and questions that others made."""


@import_command.command("beir")
@click.argument("folders", nargs=-1, required=True, type=FOLDER, metavar="DIR...")
@click.option("--out", type=FOLDER, required=True, help="Where laws/ and questions/ go.")
@click.option("--split", help="Only the judgements of qrels/SPLIT.tsv.  [default: those of all]")
def import_beir(folders: Sequence[Path], out: Path, split: str | None) -> None:
    """Take in collections in BEIR's layout: corpus.jsonl, queries.jsonl, qrels/*.tsv.

    \b
    near-enough import beir cranfield --out data
    near-enough import beir driving/* --out data          # several become several states
    near-enough lint --laws data/laws --questions data/questions
    """  # noqa: D301 - click keeps the lines after a backspace as they are
    from evals.exchange.beir import read_collection
    from evals.exchange.taken_in import laws_and_questions, summary
    from retrieval.errors import Fault, InputError

    there = [out / name for name in ("laws", "questions") if (out / name).exists()]
    faults = [Fault(str(path), None, THERE) for path in there]
    collections = []
    for folder in folders:
        try:
            collections.append(read_collection(folder, split))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    _write(laws_and_questions(collections), out)
    click.echo("\n".join([*summary(collections), f"{out}: laws/ and questions/"]))


@click.group("export")
def export_command() -> None:
    """Give laws, questions and what the pipeline returned in forms that others read."""


@export_command.command("beir")
@click.option("--out", type=FOLDER, required=True, help="Where the collection goes, or a folder a state.")
@takes("states", "laws", "questions")
def export_beir(out: Path, **inputs: Any) -> None:
    """Write laws and questions in BEIR's layout: what was imported comes out as it came in."""
    from evals.exchange.given_out import collections, left_out
    from evals.imported import read_kept
    from retrieval.errors import Fault, InputError

    given = read_inputs(**inputs)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError([Fault(str(out), None, THERE)])
    pairs = given.pairs()
    _write(collections(given.corpus, pairs, read_kept(given.questions)), out)
    click.echo(
        "\n".join(filter(None, [left_out(pairs), f"{out}: {', '.join(given.corpus)}, {counted(len(pairs), 'pair')}"]))
    )


def _measured(command: Callable[..., None]) -> Callable[..., None]:
    """The options of a command that measures the pipeline."""
    stages = click.option(
        "--stage",
        "stages",
        multiple=True,
        type=click.Choice(STAGES),
        help="Only this stage; may be given several times. Words alone need no model.",
    )
    return stages(takes("set", "embedder", "states", "settings", "laws", "questions")(command))


@export_command.command("trec")
@click.option("--out", type=FOLDER, required=True, help="A folder for qrels.txt and a run a stage.")
@_measured
def export_trec(out: Path, stages: Sequence[str], **inputs: Any) -> None:
    """Write judgements (qrels.txt) and what each stage returned (words.txt, near.txt, ...) as TREC's files.

    \b
    near-enough export trec --out trec
    trec_eval -m map -m ndcg_cut.10 trec/qrels.txt trec/pool.txt
    """  # noqa: D301 - click keeps the lines after a backspace as they are
    from evals.exchange.given_out import judgements, left_out
    from evals.exchange.names import topics
    from evals.exchange.trec import qrels_text, run_text

    given = read_inputs(**inputs)
    run = _run_of(given, stages)
    pairs = [each.pair for each in run.pairs]
    kept = given.kept()
    topic = topics(pairs, kept)
    files = {"qrels.txt": qrels_text(judgements(pairs, kept))}
    for stage in stages or STAGES:
        returned = {topic[each.pair.key]: each.trace.stages()[stage] for each in run.pairs}
        files[f"{stage}.txt"] = run_text(returned, f"near-enough-{stage}")
    _write(files, out)
    click.echo("\n".join(filter(None, [left_out(pairs), f"{out}: {', '.join(files)}"])))


@export_command.command("run")
@click.option("--out", type=FOLDER, required=True, help="The file.")
@_measured
def export_run(out: Path, stages: Sequence[str], **inputs: Any) -> None:
    """Write what each stage returned as JSON Lines, in the form that `eval --run` reads."""
    from evals.exchange.foreign import lines_of
    from retrieval.recordings import write_beside

    run = _run_of(read_inputs(**inputs), stages)
    write_beside(out, lines_of(run, stages or STAGES))
    click.echo(f"{out}: {counted(len(run.pairs), 'pair')}, {', '.join(stages or STAGES)}")


def _write(files: dict[str, str], out: Path) -> None:
    from retrieval.recordings import write_beside

    for name, text in files.items():
        write_beside(out / name, text)


def _run_of(given: Inputs, stages: Sequence[str]) -> "Run":
    """The pipeline's run; without a model where the word search alone is wanted."""
    if set(stages) == {"words"}:
        return _words_alone(given)
    run, _ = given.measure()
    return run


def _words_alone(given: Inputs) -> "Run":
    from evals.run import evaluate

    return evaluate(given.settings, given.corpus, given.pairs(), None, "words alone")


def foreign_run(file: Path, stage: str | None, given: Inputs) -> "tuple[Foreign, dict[Key, Kept]]":
    """Another system's run, matched with the question set; and what was imported with it."""
    from evals.exchange.foreign import DEFAULT_STAGE, match, read_foreign

    kept = given.kept()
    return match(read_foreign(file), given.pairs(), given.corpus, kept, file, stage or DEFAULT_STAGE), kept


def measure_run(file: Path, stage: str | None, metrics: Sequence[str], out: Path, given: Inputs) -> None:
    """`eval --run`: measure what another system returned, and write a report."""
    from evals.exchange.figures import FIGURES
    from evals.exchange.report import Foreigner, aligned, files, lines
    from evals.metrics import parse_metric
    from evals.report.files import refuse_to_replace, write_report

    refuse_to_replace(out)
    wanted = [parse_metric(each) for each in metrics] or FIGURES
    foreign, kept = foreign_run(file, stage, given)
    agreements, why_not = _agreements(foreign, given)
    found = Foreigner(foreign, given.settings, given.corpus, kept, agreements, wanted)
    write_report(files(found), out)
    click.echo("\n".join([*lines(found), *([why_not] if why_not else [])]))
    for name in ("by-kind", "stages", "expect-nothing"):
        if len(found.tables[name]):
            click.echo(f"\n{name}\n{aligned(found.tables[name])}")
    lost = counted(len(found.tables["losses"]), "expected law")
    click.echo(f"\n{lost} did not arrive: {out / 'tables' / 'losses.csv'}")
    click.echo(f"The report: {out / 'index.html'}")


def _agreements(foreign: "Foreign", given: Inputs) -> "tuple[list[Agreement] | None, str]":
    """How far it agrees with the pipeline here; None, and why, where that would have to compute vectors."""
    from evals.exchange.agreement import agreements
    from retrieval.vectors import embedding_text

    if foreign.stages == ("words",):
        return agreements(_words_alone(given), foreign), ""
    with open_vectors(given.settings.embedder) as vectors:
        laws = [text for laws in given.corpus.values() for law in laws if (text := embedding_text(law))]
        asked = [text for pair in foreign.pairs for text in (pair.text, *pair.searches)]
        missing = len(vectors.missing("passage", laws)) + len(vectors.missing("query", asked))
    if missing:
        return None, (
            f"Not compared with the pipeline here: {missing:,} vectors of {given.settings.embedder} are not at hand;"
            " `near-enough eval` with the same laws and questions computes them."
        )
    run, _ = given.measure()
    return agreements(run, foreign), ""


def measure_against_qrels(file: Path, qrels: Path, metrics: Sequence[str], out: Path | None) -> None:
    """`eval --run --qrels`: measure a TREC run against TREC's judgements, with no laws and no question set."""
    from evals.exchange.figures import FIGURES, of_judgements
    from evals.exchange.rankings import judged
    from evals.exchange.report import mean_lines
    from evals.exchange.trec import read_qrels, read_run
    from evals.metrics import parse_metric

    wanted = [parse_metric(each) for each in metrics] or list(FIGURES)
    run = read_run(file)
    frame = of_judgements(judged(read_qrels(qrels), run, str(file)), run, wanted)
    click.echo("\n".join(mean_lines(frame, [str(each) for each in wanted])))
    if out is not None:
        _write({"per-question.csv": frame.to_csv(index=False, lineterminator="\n")}, out)
        click.echo(f"Every question: {out / 'per-question.csv'}")


def run_from_scores(file: Path, given: Inputs) -> "tuple[Run, str]":
    """`eval --scores`: the pipeline over raw cosines from a file, and how much of the set they cover."""
    from evals.exchange.foreign import cosines, match, read_foreign
    from evals.exchange.scores import STAGE, coverage, evaluate_scores

    found = match(cosines(read_foreign(file), file), given.pairs(), given.corpus, given.kept(), file, STAGE)
    return evaluate_scores(given.settings, given.corpus, found), coverage(found)
