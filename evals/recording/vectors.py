"""What a run needs of a model, written where it is committed: a file of vectors a state, and one of the questions."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from evals.questions import Pair
from evals.run import Run
from retrieval.corpus import Law
from retrieval.models import Kind
from retrieval.recordings import Vectors
from retrieval.settings import Settings
from retrieval.vectors import embedding_text

SEARCHES = "searches-"  # and the rephraser's name: a file of vectors for each


def wanted(corpus: Mapping[str, Sequence[Law]], pairs: Sequence[Pair]) -> dict[str, tuple[Kind, list[str]]]:
    """The texts that a run may embed, each once, by the file of vectors that they stand in."""
    files: dict[str, tuple[Kind, list[str]]] = {
        f"laws/{state.lower()}.jsonl": (
            "passage",
            list(dict.fromkeys(text for law in laws if (text := embedding_text(law)))),
        )
        for state, laws in corpus.items()
    }
    asked = [text for pair in pairs for text in (pair.text, *pair.searches) if text.strip()]
    if asked:
        files["questions.jsonl"] = ("query", list(dict.fromkeys(asked)))
    return files


def record(
    vectors: Vectors, folder: Path, corpus: Mapping[str, Sequence[Law]], pairs: Sequence[Pair], day: str
) -> dict[Path, int]:
    """Embed all laws and asks, searches included, and write them; the number of vectors by file.

    A file's lines keep the order of the laws and of the questions, so an edit of one law changes one line. What no
    law and no question needs any more is dropped from the files written; files of other states stay as they are, and so
    does a file that would not change. `day` is written into those that do.
    """
    written = {}
    for name, (kind, texts) in wanted(corpus, pairs).items():
        vectors.embed(kind, texts)
        lines = vectors.lines([(kind, text) for text in texts])
        vectors.write(folder / name, lines, day)
        written[folder / name] = len(lines)
    return written


def record_searches(vectors: Vectors, folder: Path, run: Run, day: str) -> dict[Path, int]:
    """Write the vectors of what a run's rephraser said into a file of its own; the number of vectors by file."""
    asked = {text for each in run.pairs for text in (each.pair.text, *each.pair.searches)}
    texts = sorted(searches_of(run) - asked)
    vectors.embed("query", texts)
    lines = vectors.lines([("query", text) for text in texts])
    path = folder / searches_file(run.settings)
    vectors.write(path, lines, day)
    return {path: len(lines)}


def searches_file(settings: Settings) -> str:
    """The name of the file that holds the vectors of what the settings' rephraser said; ValueError where it is off."""
    if settings.rephraser is None:
        raise ValueError("no rephraser is named")
    return f"{SEARCHES}{settings.rephraser.model}.jsonl"


def searches_of(run: Run) -> set[str]:
    """The searches that a run fused."""
    return {scoring.text for each in run.pairs for scoring in each.trace.scorings[1:]}
