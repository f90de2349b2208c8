"""What the page says first: how sure each recall is, what moving the cutoff would do, and one sentence for each worst.

Tables for people who decide, computed from `Contents`' sweep and measures. Draws and writes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from evals.metrics import mean
from evals.parts import parts
from evals.run import Run
from evals.stages import STAGES
from evals.statistics import recall_interval, smallest_visible_loss
from evals.sweep import Setting

if TYPE_CHECKING:
    from evals.report.contents import Contents

MOVES = (-0.03, -0.02, -0.01, 0.0, 0.01, 0.02, 0.03, 0.04, 0.05)
POOLS = (4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64)
HEAT_STEPS = 12
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
    rows = []
    for by in ("all", "kind", "state", "language"):
        groups = [("all", answerable)] if by == "all" else [(str(name), part) for name, part in answerable.groupby(by)]
        rows += [_sure(by, name, part[part["stage"] == stage], stage) for name, part in groups for stage in STAGES]
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


def moves(contents: "Contents") -> pd.DataFrame:
    """What the near search and the pool would do at cutoffs around the one in force, and without any.

    `lost` and `gained` count expected groups of the pool against the cutoff in force.
    """
    settings, in_force = contents.run.settings, Setting.of_pool(contents.run)
    base = contents.sweep.reached(in_force, "pool")
    around = [round(settings.cutoff + move, 6) for move in MOVES]
    rows = []
    for cutoff in [NO_CUTOFF, *(each for each in around if -1 < each <= 1)]:
        setting = replace(in_force, near_enough=cutoff)
        pool, reached = contents.sweep.at(setting, "pool"), contents.sweep.reached(setting, "pool")
        silence = contents.sweep.expect_nothing(cutoff, settings.near_laws)
        rows.append(
            {
                "near_enough": cutoff,
                "recall of near": contents.sweep.at(setting, "near").recall,
                "recall of pool": pool.recall,
                "lost": int((base & ~reached).sum()),
                "gained": int((reached & ~base).sum()),
                "precision of pool": pool.precision,
                "laws in pool": pool.laws,
                "silent": silence.returned_nothing if silence else None,
            }
        )
    return pd.DataFrame(rows)


def parts_table(run: Run) -> pd.DataFrame:
    """What each part earns: recall and precision of the fused result and the pool with that part left out.

    No row where no pair expects a law.
    """
    found = parts(run) if any(each.pair.expected for each in run.pairs) else []
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
    for by in ("all", "kind", "state", "language"):
        for name, part in [("all", once)] if by == "all" else once.groupby(by):
            needs = part["need"].nunique()
            rows.append((by, str(name), len(part), needs, smallest_visible_loss(needs)))
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
    """Mean recall with `rows` down and `columns` across, `pairs` in front and all columns together behind."""
    across = list(dict.fromkeys(frame[columns]))
    found = []
    for name, part in frame.groupby(rows, sort=True):
        cells = {each: mean(part[part[columns] == each]["recall"].tolist()) for each in across}
        found.append({rows: name, "pairs": len(part), **cells, "all": mean(part["recall"].tolist())})
    return pd.DataFrame(found, columns=[rows, "pairs", *across, "all"])


def cutoff_by_pool(contents: "Contents") -> pd.DataFrame:
    """Recall of fusion by cutoff, a column a number of laws asked for, at the `near_laws` in force."""
    settings = contents.run.settings
    in_force = {settings.candidate_laws, pool_laws(contents.run), settings.retrieved_laws}
    sizes = [size for size in sorted({*POOLS, *in_force}) if size <= contents.sweep.laws]
    cutoffs = _heat_cutoffs(contents)
    grid = contents.sweep.grid(cutoffs, [settings.near_laws], sizes)[:, 0, :].tolist()
    rows = [
        {"near_enough": cutoff, **dict(zip(map(str, sizes), row, strict=True))}
        for cutoff, row in zip(cutoffs, grid, strict=True)
    ]
    return pd.DataFrame(rows, columns=["near_enough", *map(str, sizes)])


def _heat_cutoffs(contents: "Contents") -> list[float]:
    """Hundredths around the cutoff in force, that itself, and none at all."""
    cutoff = contents.run.settings.cutoff
    around = {round(cutoff + step / 100, 6) for step in range(-HEAT_STEPS // 2, HEAT_STEPS // 2 + 1)}
    return [NO_CUTOFF, *sorted(each for each in around if -1 < each <= 1)]


def sentences(contents: "Contents") -> list[tuple[str, str]]:
    """One sentence each, under a short title: the cutoff, moving it, where most is lost, the worst state and kind."""
    said = [
        ("The cutoff", _cutoff_costs(contents)),
        ("Moving it", _moving(contents)),
        ("Lost most", _lost_most(contents)),
        ("Worst", _worst(contents)),
    ]
    return [(title, sentence) for title, sentence in said if sentence]


def _groups(run: Run) -> int:
    return sum(len(each.pair.expected) for each in run.pairs)


def _cutoff_costs(contents: "Contents") -> str:
    settings, table = contents.run.settings, contents.tables["cutoff-moves"]
    costs = int(table["gained"].iloc[0])  # what the first row, without a cutoff, would gain
    said = f"near_enough {settings.cutoff:g} costs the pool {f'{costs:,}' if costs else 'none'} of"
    said = f"{said} {_groups(contents.run):,} expected laws"
    silence = contents.sweep.expect_nothing(settings.cutoff, settings.near_laws)
    if silence is None:
        return f"{said}. There is no question without an answer to tell what it keeps out."
    empty = round(silence.returned_nothing * silence.pairs)
    return f"{said}, and keeps the near search silent on {empty:,} of {silence.pairs:,} questions that no law answers."


def _moving(contents: "Contents") -> str:
    """What two steps down and two steps up would do."""
    table, cutoff = contents.tables["cutoff-moves"], contents.run.settings.cutoff
    lower = table[(table["near_enough"] < cutoff) & (table["near_enough"] > NO_CUTOFF)].tail(2).head(1)
    higher = table[table["near_enough"] > cutoff].head(2).tail(1)
    silence = contents.sweep.expect_nothing(cutoff, 0)
    steps = pd.concat([lower, higher]).itertuples(index=False, name=None)
    columns = list(table.columns)
    said = [_move(dict(zip(columns, step, strict=True)), silence.pairs if silence else 0) for step in steps]
    return f"{'; '.join(said)}." if said else ""


def _move(step: Mapping[str, Any], unanswerable: int) -> str:
    gained, lost = int(step["gained"]), int(step["lost"])
    said = f"{step['near_enough']:g} would gain {_laws(gained)} and lose {_laws(lost)}"
    return f"{said}, silent on {round(step['silent'] * unanswerable):,}" if unanswerable else said


def _laws(count: int) -> str:
    return f"{count:,} expected {'law' if count == 1 else 'laws'}" if count else "none"


def _lost_most(contents: "Contents") -> str:
    reasons = contents.tables["loss-reasons"]
    pool = reasons[reasons["stage"] == "pool"]
    if pool.empty:
        return "Every expected law reached the pool."
    lost, first, reason = int(pool["lost"].sum()), int(pool["lost"].iloc[0]), str(pool["reason"].iloc[0])
    return f"{lost:,} of {_groups(contents.run):,} expected laws miss the pool, most often ({first:,}) thus: {reason}."


def _worst(contents: "Contents") -> str:
    sure = contents.tables["how-sure"]
    pool = sure[sure["stage"] == "pool"]
    said = []
    for by, noun in (("state", "state"), ("kind", "kind of question")):
        groups = pool[(pool["by"] == by) & pool["recall"].notna()]
        if len(groups) > 1:
            name, recall, low, high = groups.sort_values(["recall", "group"])[["group", "recall", "low", "high"]].iloc[
                0
            ]
            said.append(f"{name} is the worst {noun}, recall of the pool {_recall(recall, low, high)}")
    return f"{'; '.join(said)}." if said else ""


def _recall(recall: float, low: float, high: float) -> str:
    return f"{recall:.3f} ({low:.3f} to {high:.3f})"


def recall_rows(sure: pd.DataFrame, by: str) -> Iterable[tuple[str, int, int, "Sequence[pd.Series[Any]]"]]:
    """The rows of a table of recall by stage: the group, its pairs and needs, and a row of `how_sure` a stage."""
    for group, part in sure[sure["by"] == by].groupby("group", sort=False):
        rows = [row for _, row in part.iterrows()]
        yield str(group), int(rows[0]["pairs"]), int(rows[0]["needs"]), rows
