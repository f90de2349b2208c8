"""Tables for people who decide: how sure each recall is, what moving a number would do, what each part earns.

Computed from a run, its sweep and its measures. Draws and writes nothing.
"""

from dataclasses import replace

import pandas as pd

from evals.metrics import mean
from evals.parts import Near, parts
from evals.run import Run
from evals.stages import STAGES
from evals.statistics import recall_interval, smallest_visible_loss
from evals.sweep import Setting, Sweep
from evals.tables import parted

MOVES = (-0.03, -0.02, -0.01, 0.0, 0.01, 0.02, 0.03, 0.04, 0.05)
POOLS = (4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64)
HEAT_STEPS = 12
GROUPINGS = ("kind", "state", "language")
NO_CUTOFF = -1.0


def pool_laws(run: Run) -> int:
    """The laws the pool is asked for: that of searched questions where any pair has searches."""
    in_force = Setting.of_pool(run)
    return in_force.laws if in_force.searched_laws is None else in_force.searched_laws


def with_searches(run: Run) -> str:
    """What stands behind the pool's size in a caption: the size where a pair has searches, if any has."""
    size = Setting.of_pool(run).searched_laws
    return "" if size is None else f", {size} with searches"


def how_sure(measures: pd.DataFrame) -> pd.DataFrame:
    """Recall at each stage with its 95 % interval, for all pairs, each kind, each state and each language.

    The interval is of the mean over pairs, with the needs as its units.
    """
    answerable = measures[measures["expects"] == "answerable"]
    rows = [
        _sure(by, name, part[part["stage"] == stage], stage)
        for by, name, part in parted(answerable, GROUPINGS)
        for stage in STAGES
    ]
    return pd.DataFrame(rows, columns=["by", "group", "stage", "pairs", "needs", "recall", "low", "high"])


def _sure(by: str, name: str, part: pd.DataFrame, stage: str) -> dict[str, object]:
    reached, groups, needs = (part[column].tolist() for column in ("reached", "groups", "need"))
    interval = recall_interval(reached, groups, needs, over="pairs")
    return {
        "by": by,
        "group": name,
        "stage": stage,
        "pairs": len(part),
        "needs": part["need"].nunique(),
        "recall": mean(part["recall"].tolist()),
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
    }


def moves(run: Run, sweep: Sweep) -> pd.DataFrame:
    """What the near search and the pool would do at cutoffs around the one in force, and without any.

    `lost` and `gained` count expected groups of the pool against the cutoff in force.
    """
    settings, in_force = run.settings, Setting.of_pool(run)
    base = sweep.reached(in_force, "pool")
    around = [round(settings.cutoff + move, 6) if move else settings.cutoff for move in MOVES]
    cutoffs = [NO_CUTOFF, *(each for each in around if -1 < each <= 1)]
    near_laws, laws, searched = in_force.near_laws, in_force.laws, in_force.searched_laws
    nears = sweep.over_cutoffs(cutoffs, near_laws=near_laws, laws=laws, stage="near")
    pools = sweep.over_cutoffs(cutoffs, near_laws=near_laws, laws=laws, stage="pool", searched_laws=searched)
    every = sweep.reached_at([replace(in_force, near_enough=cutoff) for cutoff in cutoffs], "pool")
    rows = []
    for (cutoff, near), (_, pool), reached in zip(nears, pools, every, strict=True):
        silence = sweep.expect_nothing(cutoff, settings.near_laws)
        rows.append(
            {
                "near_enough": cutoff,
                "recall of near": near.recall,
                "recall of pool": pool.recall,
                "lost": int((base & ~reached).sum()),
                "gained": int((reached & ~base).sum()),
                "precision of pool": pool.precision,
                "laws in pool": pool.laws,
                "silent": silence.returned_nothing if silence else None,
            }
        )
    return pd.DataFrame(rows)


def parts_table(run: Run, near_rules: Near | None = None) -> pd.DataFrame:
    """What each part earns: recall and precision of the fused result and the pool with that part left out.

    No row where no pair expects a law.
    """
    found = parts(run, near_rules) if any(each.pair.expected for each in run.pairs) else []
    rows = [
        (
            part.left_out,
            part.fused.recall,
            part.fused.precision,
            part.pool.recall,
            part.pool.precision,
            part.pool.laws,
        )
        for part in found
    ]
    measures = ["recall of fused", "precision of fused", "recall of pool", "precision of pool", "laws in pool"]
    return pd.DataFrame(rows, columns=["left out", *measures])


def what_shows(measures: pd.DataFrame) -> pd.DataFrame:
    """For all pairs, each kind, state and language: how small a share of losing needs the set would show one of."""
    once = measures[(measures["expects"] == "answerable") & (measures["stage"] == "pool")]
    rows = []
    for by, name, part in parted(once, GROUPINGS):
        needs = part["need"].nunique()
        rows.append((by, name, len(part), needs, smallest_visible_loss(needs)))
    return pd.DataFrame(rows, columns=["by", "group", "pairs", "needs", "share of needs"])


def state_by_topic(measures: pd.DataFrame) -> pd.DataFrame:
    """Recall of the pool by topic, a column a state; nothing where no pair expects a law. All states last."""
    pool = measures[(measures["expects"] == "answerable") & (measures["stage"] == "pool")]
    return _wide(pool, "topic", "state")


def kind_by_stage(measures: pd.DataFrame) -> pd.DataFrame:
    """Recall by kind, a column a stage."""
    answerable = measures[measures["expects"] == "answerable"]
    wide = _wide(answerable, "kind", "stage")
    return wide[["kind", "pairs", *(stage for stage in STAGES if stage in wide.columns)]].assign(
        pairs=wide["pairs"] // len(STAGES)
    )


def _wide(frame: pd.DataFrame, rows: str, columns: str) -> pd.DataFrame:
    """Mean recall with `rows` down and `columns` across by name, `pairs` in front, all columns together behind."""
    across = sorted(set(frame[columns]))
    found = []
    for name, part in frame.groupby(rows, sort=True):
        cells = {each: mean(part[part[columns] == each]["recall"].tolist()) for each in across}
        found.append({rows: name, "pairs": len(part), **cells, "all": mean(part["recall"].tolist())})
    return pd.DataFrame(found, columns=[rows, "pairs", *across, "all"])


def cutoff_by_pool(run: Run, sweep: Sweep) -> pd.DataFrame:
    """Recall of fusion by cutoff, a column a number of laws asked for, at the `near_laws` in force."""
    settings = run.settings
    in_force = {settings.candidate_laws, pool_laws(run), settings.retrieved_laws}
    sizes = [size for size in sorted({*POOLS, *in_force}) if size <= sweep.laws]
    cutoffs = _heat_cutoffs(settings.cutoff)
    grid = sweep.grid(cutoffs, [settings.near_laws], sizes)[:, 0, :].tolist()
    rows = [
        {"near_enough": cutoff, **dict(zip(map(str, sizes), row, strict=True))}
        for cutoff, row in zip(cutoffs, grid, strict=True)
    ]
    return pd.DataFrame(rows, columns=["near_enough", *map(str, sizes)])


def _heat_cutoffs(cutoff: float) -> list[float]:
    """Hundredths around the cutoff in force, that itself, and none at all."""
    around = {
        round(cutoff + step / 100, 6) if step else cutoff for step in range(-HEAT_STEPS // 2, HEAT_STEPS // 2 + 1)
    }
    return [NO_CUTOFF, *sorted(each for each in around if -1 < each <= 1)]
