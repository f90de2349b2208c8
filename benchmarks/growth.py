"""Times the pipeline, and its peak memory, as a generated corpus grows; prints a Markdown table and draws it.

Each size runs in a process of its own: the laws are generated, indexed, and 1,000 questions go through every stage,
a few at a time, so that no matrix of all questions and all laws exists. Making the laws is in the memory and not in
the time, which is the processor's, on one thread: that others use the machine is hardly in it. Words follow Zipf's law,
vectors are random: what is found says nothing about quality.

Run it as `python -m benchmarks.growth [--plot FILE]`; status 1 where a size takes 3 GB or more, or where time grows
faster than the laws, beyond noise.
"""

import argparse
import multiprocessing
import os
import resource
import string
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.corpus import Law
from retrieval.models import Kind
from retrieval.pipeline import Pipeline
from retrieval.settings import Settings
from retrieval.words import STOP_WORDS

SEED = 1994
SIZES = (500, 6_000, 60_000, 300_000)
MOST_MEGABYTES = 3_000
NOISE = 1.2  # how much steeper than the laws the time may look on a machine that others use
QUESTIONS = 1_000
QUESTION_WORDS = 7  # and a mistyped one, and 4 stop words
LAW_WORDS = 40  # on average: 20 to 60
VOCABULARY = 50_000
DIMENSIONS = 384
LARGEST = 32767
CHUNK = 4_096  # laws generated at a time
BATCH = 16  # questions scored at a time
# Random vectors are near nothing: a cutoff of 0 lets the near search return its eight all the same.
SETTINGS = Settings(embedder="generated", near_enough={"generated": 0.0})
STYLE: dict[str, Any] = {
    "svg.hashsalt": "near-enough",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e5e5",
}


@dataclass(frozen=True)
class Row:
    """One size: seconds to index the laws and to answer all questions, and the process's peak memory in MB."""

    laws: int
    indexing: float
    answering: float
    megabytes: float

    @property
    def seconds(self) -> float:
        """Everything that was timed."""
        return self.indexing + self.answering


class Texts:
    """Made-up texts whose words follow Zipf's law."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(SEED)
        self.vocabulary = self._made_up(VOCABULARY)
        shares = 1 / np.arange(1, VOCABULARY + 1)
        self._until = np.cumsum(shares / shares.sum())

    def _made_up(self, count: int) -> list[str]:
        """Distinct words of two to four syllables; none is a stop word or ends in s."""
        syllables = [consonant + vowel for consonant in "bcdfghklmnprtvw" for vowel in "aeiou"]
        found: dict[str, None] = {}
        while len(found) < count:
            drawn, length = self.rng.integers(len(syllables), size=4).tolist(), int(self.rng.integers(2, 5))
            found["".join(syllables[at] for at in drawn[:length])] = None
        return [word for word in found if word not in STOP_WORDS]

    def some(self, count: int) -> list[str]:
        """So many words, the commonest most often."""
        numbers = np.searchsorted(self._until, self.rng.random(count)).clip(max=len(self.vocabulary) - 1)
        return [self.vocabulary[at] for at in numbers.tolist()]

    def laws(self, count: int) -> list[Law]:
        """Laws L0, L1 and so on: a rule, a card's question of eight words, and a concept of two."""
        found: list[Law] = []
        for start in range(0, count, CHUNK):
            lengths = self.rng.integers(LAW_WORDS // 2, LAW_WORDS * 3 // 2 + 1, min(CHUNK, count - start)).tolist()
            drawn, end = self.some(sum(lengths)), 0
            for length in lengths:
                text, end = drawn[end : end + length], end + length
                found.append(Law(f"L{len(found)}", " ".join(text[:-10]), " ".join(text[-10:-2]), "-".join(text[-2:])))
        return found

    def questions(self) -> list[str]:
        """Questions of common and rare words, stop words and one word with a letter changed."""
        stops = sorted(STOP_WORDS)
        found = []
        for _ in range(QUESTIONS):
            *known, word = self.some(QUESTION_WORDS + 1)
            place, letter = int(self.rng.integers(len(word))), string.ascii_lowercase[int(self.rng.integers(26))]
            said = [*known, word[:place] + letter + word[place + 1 :], *self.rng.choice(stops, 4).tolist()]
            found.append(" ".join(self.rng.permutation(said).tolist()))
        return found


def embed(kind: Kind, texts: Sequence[str]) -> NDArray[np.int16]:
    """Random vectors as they are recorded, whatever the texts: int16, the largest component 32767."""
    rng = np.random.default_rng([SEED, len(kind)])
    found = np.empty((len(texts), DIMENSIONS), dtype=np.int16)
    for start in range(0, len(texts), CHUNK):
        drawn = rng.standard_normal((min(CHUNK, len(texts) - start), DIMENSIONS), dtype=np.float32)
        found[start : start + CHUNK] = np.rint(drawn / np.abs(drawn).max(axis=1, keepdims=True) * LARGEST)
    return found


def measure(size: int) -> Row:
    """One size, in this process."""
    texts = Texts()
    questions, laws, most = texts.questions(), texts.laws(size), SETTINGS.most_laws(searches=0)
    start = time.process_time()
    pipeline = Pipeline(SETTINGS, laws, embed)
    pipeline.score(questions[:1], most)  # what is built only when it is asked for belongs to the indexing
    indexed = time.process_time()
    for batch in _batches(questions):
        for scoring in pipeline.score(batch, most):
            pipeline.trace([scoring])
    answered = time.process_time()
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return Row(size, indexed - start, answered - indexed, peak / 10**6)


def _batches(questions: Sequence[str]) -> Iterator[Sequence[str]]:
    return (questions[start : start + BATCH] for start in range(0, len(questions), BATCH))


def measured_apart(size: int) -> Row:
    """One size, in a fresh process, whose matrix products have one thread."""
    for library in ("OPENBLAS", "OMP", "MKL"):  # read when numpy is loaded there
        os.environ[f"{library}_NUM_THREADS"] = "1"
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as process:
        return process.submit(measure, size).result()


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table, a line a size."""
    lines = [
        "| laws | indexing, s | answering, s | a question, ms | time grew / laws grew | peak memory, MB |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    for before, row in pairwise([None, *rows]):
        assert row is not None
        ratio = "" if before is None else f"{_steeper(before, row):.2f}"
        lines.append(
            f"| {row.laws:,} | {row.indexing:.2f} | {row.answering:.1f} | {1000 * row.answering / QUESTIONS:.2f}"
            f" | {ratio} | {row.megabytes:,.0f} |"
        )
    return "\n".join(lines)


def _steeper(before: Row, row: Row) -> float:
    """By how much the time grew / by how much the laws did: 1 where both grew alike, less where the time lagged."""
    return (row.seconds / before.seconds) / (row.laws / before.laws)


def draw(rows: Sequence[Row], file: Path) -> None:
    """Time and peak memory over the number of laws, each on logarithmic axes, as SVG."""
    import matplotlib as mpl  # here and not above: it would count in the memory of every size

    mpl.use("svg")
    from matplotlib import pyplot as plt

    laws = [row.laws for row in rows]
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure, (times, memory) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
        times.loglog(laws, [row.answering for row in rows], "o-", color="#0072B2", label="answering")
        times.loglog(laws, [row.indexing for row in rows], "s--", color="#D55E00", label="indexing")
        slope = [rows[-1].seconds * each / laws[-1] for each in laws]
        times.loglog(laws, slope, ":", color="#666666", label="in proportion to the laws")
        times.set(xlabel="laws", ylabel=f"seconds, {QUESTIONS:,} questions")
        times.legend(frameon=False)
        memory.loglog(laws, [row.megabytes for row in rows], "o-", color="#0072B2", label="peak memory")
        memory.axhline(MOST_MEGABYTES, color="#D55E00", linestyle="--", label=f"{MOST_MEGABYTES:,} MB")
        memory.set(xlabel="laws", ylabel="MB")
        memory.legend(frameon=False)
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)


def faults(rows: Sequence[Row]) -> list[str]:
    """What was promised and does not hold."""
    found = [
        f"{row.laws:,} laws take {row.megabytes:,.0f} MB: {MOST_MEGABYTES:,} or more"
        for row in rows
        if row.megabytes >= MOST_MEGABYTES
    ]
    found += [
        f"from {before.laws:,} laws to {row.laws:,} the time grows faster than the laws"
        for before, row in pairwise(rows)
        if _steeper(before, row) > NOISE
    ]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the pipeline and its memory as the corpus grows.")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the measurement here, as SVG")
    arguments = parser.parse_args()
    rows = [measured_apart(size) for size in SIZES]
    print(table(rows))
    if arguments.plot is not None:
        draw(rows, arguments.plot)
    for fault in faults(rows):
        print(fault, file=sys.stderr)
    return int(bool(faults(rows)))


if __name__ == "__main__":
    sys.exit(main())
