"""Two states of the real set from their recordings alone: what a fault is planted into, and what the gate says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NoReturn

from evals.gate import Verdict, judge
from evals.outcomes import Side
from evals.questions import QUESTIONS, Pair, load_questions
from evals.run import evaluate
from retrieval import Settings, load_corpus, load_settings
from retrieval.corpus import LAWS, Corpus
from retrieval.errors import ModelError
from retrieval.models import embedder
from retrieval.pipeline import EmbedTexts
from retrieval.recordings import RECORDINGS, Vectors
from tests.sides import baseline

STATES = ("MD", "PA")
MODEL = "e5-small"


def recorded(folder: Path = RECORDINGS / MODEL) -> EmbedTexts:
    """The recorded vectors; the model itself is not there."""

    def load() -> NoReturn:
        raise ModelError("the model is not at hand")

    return Vectors(replace(embedder(MODEL), load=load), folder, None).embed


@cache
def read(laws: Path, questions: Path) -> tuple[Corpus, list[Pair]]:
    """Laws and questions, once for all faults that leave both as they are."""
    corpus = load_corpus(laws, STATES)
    return corpus, load_questions(questions, corpus)


@dataclass(frozen=True)
class World:
    """What a run is made of."""

    settings: Settings
    laws: Path
    questions: Path
    embed: EmbedTexts

    @classmethod
    def as_committed(cls) -> "World":
        """Nothing planted."""
        return cls(load_settings(), LAWS, QUESTIONS, recorded())

    def measure(self) -> Side:
        """The run, as the gate's command makes it."""
        corpus, pairs = read(self.laws, self.questions)
        return Side.of(evaluate(self.settings, corpus, pairs, self.embed, MODEL))


def verdict(before: Side, after: Side) -> Verdict:
    """The gate's, with `before` as the baseline."""
    return judge(baseline(before), after)


def copied(folder: Path, into: Path, edits: Mapping[str, Sequence[str] | None]) -> Path:
    """A folder's files in another, with the lines of some of them edited, or a file left out (None)."""
    into.mkdir()
    for path in sorted(folder.iterdir()):
        lines = edits.get(path.name, [])
        if path.is_file() and lines is not None:
            (into / path.name).write_text("".join(lines) if lines else path.read_text("utf-8"), encoding="utf-8")
    return into
