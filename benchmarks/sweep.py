"""Times a sweep beside the pipeline run again for each setting, on one generated run, and checks that they agree.

The sweep is timed from the stored run: tables and grid together. The pipeline is timed on settings drawn at random,
twice: as a whole, and fusing what it scored before, which is the least that a rerun must do. A setting's figures are
recall and the rest, at one cutoff, one `near_laws` and one number of laws asked for; all of them must be equal floats.

Run it as `python -m benchmarks.sweep`; status 1 where a figure differs.
"""

import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from evals.metrics import hit, mean, precision, recall
from evals.questions import Pair
from evals.run import Measured, Run, evaluate
from evals.sweep import Figures, Setting, Sweep
from retrieval import Law, Pipeline, Settings, embedding_text
from retrieval.models import Kind

SEED = 60
PAIRS = 1_000
STATES = 9
MANY_PAIRS = 5_000
LAWS = 600  # of each state
LAW_WORDS = 40
VOCABULARY = 3_000
DIMENSIONS = 384
CUTOFFS = np.linspace(0.25, 0.75, 100).tolist()  # where the generated cosines are
NEAR_LAWS = range(1, 33)
SIZES = range(1, 65)
SETTINGS = 20
ROUNDS = 3  # of the grid, sweep and all

Found = TypeVar("Found")


@dataclass(frozen=True)
class Row:
    """What was timed, how many settings that were, and how many times faster a setting is than the pipeline's two."""

    what: str
    seconds: float
    settings: int
    times_whole: float | None = None
    times_fusion: float | None = None

    @property
    def milliseconds_a_setting(self) -> float:
        """The time that one setting took."""
        return 1000 * self.seconds / self.settings


class World:
    """Laws, questions to them, and a model: a text's vector is its law's, moved at random; all from one seed."""

    def __init__(self, pairs: int, states: int, rephrase: str) -> None:
        self.rng = np.random.default_rng(SEED)
        self.vectors: dict[str, NDArray[np.int16]] = {}
        self.settings = _settings(Setting(0.5, 8, 8), rephrase)
        self.corpus: dict[str, list[Law]] = {}
        self.pairs: list[Pair] = []
        for number in range(states):
            state = f"S{number}"
            self.corpus[state] = [self._law(state, at) for at in range(LAWS)]
            share = pairs // states + (number < pairs % states)
            self.pairs += [self._pair(state, at, self.corpus[state]) for at in range(share)]

    def embed(self, kind: Kind, texts: Sequence[str]) -> NDArray[np.int16]:
        """The vectors drawn for these texts when they were made."""
        return np.array([self.vectors[text] for text in texts]).reshape(len(texts), DIMENSIONS)

    def run(self, settings: Settings) -> Run:
        """The whole pipeline at some settings."""
        return evaluate(settings, self.corpus, self.pairs, self.embed, "generated")

    def _law(self, state: str, at: int) -> Law:
        words = self._some(int(self.rng.integers(LAW_WORDS // 2, LAW_WORDS * 3 // 2)))
        page_row = at >= LAWS - LAWS // 20
        law = Law(f"{state}-{at}", words, "", f"concept-{at % 4}", "process" if page_row else "rule")
        self.vectors[embedding_text(law)] = self._vector()
        return law

    def _pair(self, state: str, at: int, laws: Sequence[Law]) -> Pair:
        meant = [laws[place] for place in self.rng.choice(len(laws), self.rng.integers(1, 4), replace=False)]
        text, search = (self._about(meant[0], f"{state} {at} {which}") for which in ("asked", "searched"))
        return Pair(
            need=f"need-{state}-{at}",
            ask="plain",
            state=state,
            text=text,
            kind="plain",
            lang="en",
            topic="generated",
            tags=(),
            expects="answerable",
            unrelated=None,
            expected=tuple((law.id,) for law in meant),
            accepted=(laws[int(self.rng.integers(len(laws)))].id,),
            searches=(search,),
            family=f"concept-{at % 40}",
            file="generated",
            line=1,
        )

    def _about(self, law: Law, name: str) -> str:
        text = " ".join([*self.rng.choice(law.law.split(), 3), self._some(3), name])
        self.vectors[text] = (0.5 * self.vectors[embedding_text(law)] + 0.8 * self._vector()).astype(np.int16)
        return text

    def _some(self, count: int) -> str:
        """Words by Zipf's law; a question's name, of digits and capitals, is none of them."""
        shares = 1 / np.arange(1, VOCABULARY + 1)
        return " ".join(f"w{word}" for word in self.rng.choice(VOCABULARY, count, p=shares / shares.sum()))

    def _vector(self) -> NDArray[np.int16]:
        # A part that all share, so that cosines lie in a band as a model's do.
        return (6_000 * self.rng.normal(size=DIMENSIONS) + 4_000).clip(-16_000, 16_000).astype(np.int16)


def _settings(setting: Setting, rephrase: str) -> Settings:
    return Settings.model_validate(
        {
            "embedder": "generated",
            "near_enough": {"generated": setting.near_enough},
            "near_laws": setting.near_laws,
            "retrieved_laws": setting.laws,
            "rephrase": rephrase,
        }
    )


def timed(work: Callable[[], Found]) -> tuple[float, Found]:
    """The seconds that some work took, and what it gave."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def fused_again(run: Run, pipelines: dict[str, Pipeline], settings: Settings) -> Run:
    """The pipeline's stages from what it scored before."""
    measured = []
    for each in run.pairs:
        pipeline = pipelines[each.pair.state]
        pipeline.settings = settings
        family = each.pair.family if settings.rephrase != "off" else None
        measured.append(Measured(each.pair, pipeline.trace(each.trace.scorings, family)))
    return Run(settings, run.corpus, tuple(measured), run.model)


def figures(run: Run) -> Figures:
    """The fused stage's figures, by the metrics."""
    found = [(each.pair, each.trace.fused) for each in run.pairs]
    lengths = [sum(len(embedding_text(run.laws[pair.state][each])) for each in returned) for pair, returned in found]
    return Figures(
        pairs=len(found),
        recall=mean(recall(pair.expected, returned) for pair, returned in found),
        hit=mean(hit(pair.expected, returned) for pair, returned in found),
        precision=mean(precision(pair.relevant, returned) for pair, returned in found),
        nothing_returned=sum(not returned for _, returned in found),
        laws=mean(len(returned) for _, returned in found),
        characters=mean(lengths),
    )


def measure(rephrase: str) -> tuple[list[Row], int]:
    """1,000 pairs, searches fused or not: the grid, and the settings of the pipeline that agreed with it."""
    world = World(PAIRS, 1, rephrase)
    run = world.run(world.settings)
    rounds = [timed(lambda: _grid(run)) for _ in range(ROUNDS)]
    grid_seconds, (sweep, grid) = min(rounds, key=lambda timing: timing[0])
    rng = np.random.default_rng(SEED)
    places = [tuple(rng.integers(grid.shape).tolist()) for _ in range(SETTINGS)]
    whole = again = 0.0
    equal = 0
    pipelines = {state: Pipeline(world.settings, laws, world.embed) for state, laws in world.corpus.items()}
    for cutoff, near_laws, laws in places:
        setting = Setting(CUTOFFS[cutoff], NEAR_LAWS[near_laws], SIZES[laws])
        settings = _settings(setting, rephrase)
        seconds, rerun = timed(lambda settings=settings: world.run(settings))  # type: ignore[misc]
        whole += seconds
        seconds, refused = timed(lambda settings=settings: fused_again(run, pipelines, settings))  # type: ignore[misc]
        again += seconds
        expected = figures(rerun)
        same = figures(refused) == expected == sweep.at(setting)
        equal += same and bool(grid[cutoff, near_laws, laws] == expected.recall)
    name = "searches fused" if rephrase != "off" else "no searches"
    faster = [seconds / SETTINGS / (grid_seconds / grid.size) for seconds in (whole, again)]
    return [
        Row(f"{name}: sweep, recall at every setting", grid_seconds, grid.size, *faster),
        Row(f"{name}: pipeline, whole", whole, SETTINGS),
        Row(f"{name}: pipeline, fusion alone", again, SETTINGS),
    ], equal


def _grid(run: Run) -> tuple[Sweep, NDArray[np.float64]]:
    sweep = Sweep.of(run)
    return sweep, sweep.grid(CUTOFFS, NEAR_LAWS, SIZES)


def everything(run: Run) -> int:
    """All that a report asks of a sweep; the number of settings whose figures it gave."""
    sweep = Sweep.of(run)
    curves: list[Sequence[object]] = [
        *(sweep.over_cutoffs(near_laws=8, laws=laws) for laws in (8, 24)),
        sweep.over_cutoffs(near_laws=8, laws=8, stage="near"),
        sweep.over_laws(SIZES, near_enough=0.5, near_laws=8),
        sweep.over_near_laws(range(33), near_enough=0.5, laws=8),
    ]
    return sum(map(len, curves)) + sweep.grid(CUTOFFS, NEAR_LAWS, SIZES).size


def measure_many(rephrase: str) -> tuple[Row, float]:
    """A whole question set: everything, and the most memory that it held at once, in megabytes."""
    world = World(MANY_PAIRS, STATES, rephrase)
    run = world.run(world.settings)
    seconds, settings = timed(lambda: everything(run))
    tracemalloc.start()
    everything(run)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    name = "searches fused" if rephrase != "off" else "no searches"
    return Row(f"{MANY_PAIRS:,} pairs, {name}: everything", seconds, settings), peak / 2**20


def table(rows: Sequence[Row]) -> str:
    """The rows as text, a line each."""
    head = f"{'what':<50}{'seconds':>9}{'settings':>10}{'ms/setting':>12}{'x whole':>10}{'x fusion':>10}"
    lines = (
        f"{row.what:<50}{row.seconds:>9.2f}{row.settings:>10,}{row.milliseconds_a_setting:>12.4f}"
        + "".join(f"{times:>10,.0f}" for times in (row.times_whole, row.times_fusion) if times is not None)
        for row in rows
    )
    return "\n".join([head, *lines])


def main() -> int:
    rows: list[Row] = []
    memory = {}
    equal = 0
    for rephrase in ("off", "written"):
        found, agreed = measure(rephrase)
        rows += found
        equal += agreed
    for rephrase in ("off", "written"):
        row, memory[rephrase] = measure_many(rephrase)
        rows.append(row)
    print(f"{PAIRS:,} pairs, {LAWS} laws; the pipeline on {SETTINGS} settings; a setting's figures are all pairs'")
    print(table(rows))
    print(f"equal to the last digit: {equal} of {2 * SETTINGS} settings, all figures")
    print(f"memory at most: {memory['off']:.0f} MB without searches, {memory['written']:.0f} MB with them")
    if equal < 2 * SETTINGS:
        print("a figure differs from the pipeline's", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
