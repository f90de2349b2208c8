"""Times the metrics beside pytrec_eval, ir-measures and ranx, each in a fresh process, and compares every value.

All read one generated pickle of judgements and scored rankings, and give six metrics of every question. Start-up,
reading, ordering and writing are inside the time: that is what a person waits for. It does not measure memory.

Needs the `bench` extra. Run it as `python -m benchmarks.metrics` (as a file it would put the modules beside it before
Python's own); status 1 where a value differs.
"""

from __future__ import annotations

import argparse
import math
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

SEED = 1994
QUESTIONS = 2_000
RETURNED = 100
DOCUMENTS = 100_000
ROUNDS = 5
TOLERANCE = 1e-12

METRICS = ("recall@100", "precision@10", "hit@10", "MRR", "MAP", "nDCG@10")

Judgements = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]
Values = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Row:
    """One tool's seconds: the whole process, first and fastest; and of its fastest, from parsed input to values."""

    tool: str
    first: float
    fastest: float
    times_ours: float
    values: float
    largest_difference: float


def generate(seed: int) -> tuple[Judgements, Scores]:
    """Each question has 5 to 15 judged documents graded 0 to 3, half of them returned. No two scores are equal."""
    import numpy as np

    rng = np.random.default_rng(seed)
    judgements: Judgements = {}
    scores: Scores = {}
    for number in range(QUESTIONS):
        count = int(rng.integers(5, 16))
        documents = [f"D{each:06}" for each in rng.choice(DOCUMENTS, RETURNED + count, replace=False)]
        reached = rng.choice(RETURNED, count // 2, replace=False).tolist()
        judged = [documents[at] for at in [*reached, *range(RETURNED, RETURNED + count - len(reached))]]
        judgements[f"Q{number}"] = dict(zip(judged, [1, *rng.integers(0, 4, count - 1).tolist()], strict=True))
        # Steps that float32 tells apart: tools break ties in ways of their own.
        steps = np.sort(rng.choice(2**20, RETURNED, replace=False))[::-1]
        scores[f"Q{number}"] = dict(zip(documents[:RETURNED], (steps / 2**16).tolist(), strict=True))
    return judgements, scores


def ours(judgements: Judgements, scores: Scores) -> Values:
    """This project's registry."""
    from evals.exchange.rankings import judged
    from evals.metrics import evaluate, parse_metric

    questions = judged(judgements, scores)
    values = evaluate([parse_metric(name) for name in METRICS], questions.values())
    return {str(metric): dict(zip(questions, each, strict=True)) for metric, each in values.items()}  # type: ignore[arg-type]


def pytrec_eval(judgements: Judgements, scores: Scores) -> Values:
    """NIST's C code behind a Python module."""
    import pytrec_eval

    names = ("recall_100", "P_10", "success_10", "recip_rank", "map", "ndcg_cut_10")
    asked = {"recall.100", "P.10", "success.10", "recip_rank", "map", "ndcg_cut.10"}
    found = pytrec_eval.RelevanceEvaluator(judgements, asked).evaluate(scores)
    return {
        metric: {question: each[name] for question, each in found.items()}
        for metric, name in zip(METRICS, names, strict=True)
    }


def ir_measures(judgements: Judgements, scores: Scores) -> Values:
    """ir-measures, which chooses the provider of each measure itself."""
    import ir_measures

    names = dict(zip(("R@100", "P@10", "Success@10", "RR", "AP", "nDCG@10"), METRICS, strict=True))
    measures = [ir_measures.parse_measure(name) for name in names]
    found: dict[str, dict[str, float]] = {metric: {} for metric in METRICS}
    for each in ir_measures.iter_calc(measures, judgements, scores):
        found[names[str(each.measure)]][each.query_id] = each.value
    return found


def ranx(judgements: Judgements, scores: Scores) -> Values:
    """ranx, compiled by numba: its first process compiles, the others find that in a cache."""
    from ranx import Qrels, Run, evaluate

    names = ["recall@100", "precision@10", "hit_rate@10", "mrr", "map", "ndcg@10"]
    run = Run(scores)
    evaluate(Qrels(judgements), run, names)
    return {metric: dict(run.scores[name]) for metric, name in zip(METRICS, names, strict=True)}


TOOLS: dict[str, Callable[[Judgements, Scores], Values]] = {
    "this project": ours,
    "pytrec_eval": pytrec_eval,
    "ir-measures": ir_measures,
    "ranx": ranx,
}


def child(tool: str, file: Path) -> None:
    """What a fresh process does: read, compute, write; in the form that costs least, since that is no tool's own."""
    judgements, scores = pickle.loads(file.read_bytes())  # noqa: S301 - written below
    start = time.perf_counter()
    values = TOOLS[tool](judgements, scores)
    sys.stdout.buffer.write(pickle.dumps((time.perf_counter() - start, values)))


def measure(file: Path, cache: Path) -> list[Row]:
    """All tools, one after the other in each round, so that a slow spell of the machine meets them alike."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONWARNINGS": "ignore"}
    whole: dict[str, list[float]] = {tool: [] for tool in TOOLS}
    inside: dict[str, list[float]] = {tool: [] for tool in TOOLS}
    values: dict[str, Values] = {}
    for _ in range(ROUNDS):
        for tool in TOOLS:
            command = [sys.executable, "-m", "benchmarks.metrics", "--child", tool, str(file)]
            start = time.perf_counter()
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
            whole[tool].append(time.perf_counter() - start)
            seconds, values[tool] = pickle.loads(done.stdout)  # noqa: S301 - written above
            inside[tool].append(seconds)
    fastest = {tool: min(seconds) for tool, seconds in whole.items()}
    return [
        Row(
            tool=tool,
            first=seconds[0],
            fastest=fastest[tool],
            times_ours=fastest[tool] / fastest["this project"],
            values=min(inside[tool]),
            largest_difference=difference(values[tool], values["this project"]),
        )
        for tool, seconds in whole.items()
    ]


def difference(values: Values, our: Values) -> float:
    """The largest difference of a metric of a question; infinite where a value is there on one side alone."""
    if any(values[metric].keys() != our[metric].keys() for metric in METRICS):
        return math.inf
    return max(abs(values[metric][question] - our[metric][question]) for metric in METRICS for question in our[metric])


def table(rows: list[Row]) -> str:
    """The rows as text, a line a tool."""
    head = f"{'tool':<14}{'first, s':>10}{'fastest, s':>12}{'x ours':>8}{'values alone, s':>17}{'differs by':>12}"
    lines = (
        f"{row.tool:<14}{row.first:>10.3f}{row.fastest:>12.3f}{row.times_ours:>8.2f}"
        f"{row.values:>17.3f}{row.largest_difference:>12.0e}"
        for row in rows
    )
    return "\n".join([head, *lines])


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the metrics beside pytrec_eval, ir-measures and ranx.")
    parser.add_argument("--child", nargs=2, metavar=("TOOL", "FILE"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(asked.child[0], Path(asked.child[1]))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "generated.pickle")
        file.write_bytes(pickle.dumps(generate(SEED)))
        rows = measure(file, Path(folder, "numba"))
    print(f"{', '.join(METRICS)} of {QUESTIONS:,} questions x top {RETURNED}, {ROUNDS} fresh processes each")
    print(table(rows))
    print("values alone: with the tool's imports, without Python's start, reading and writing")
    if not all(row.largest_difference <= TOLERANCE for row in rows):
        print("a value differs", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
