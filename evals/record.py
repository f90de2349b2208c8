"""What a run needs of a model, written where it is committed: a file of vectors a state, and one of the questions."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from evals.questions import Pair
from retrieval.corpus import Law
from retrieval.models import Kind
from retrieval.recordings import Vectors
from retrieval.vectors import embedding_text


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
