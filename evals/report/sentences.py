"""What the page says first, a sentence each: what the numbers in force cost, what moving them would do, what is worst.

Computed from a run, its sweep and its tables. Draws and writes nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from evals.counted import counted
from evals.report.overview import NO_CUTOFF
from evals.run import Run
from evals.sweep import Setting, Sweep

POOL_STEP = 8
NEAR_STEP = 4


def sentences(run: Run, sweep: Sweep, tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, str]]:
    """Each under a short title; `tables` are those of a report. What a run cannot tell is left out."""
    said = [
        ("The cutoff", _cutoff_costs(run, sweep, tables["cutoff-moves"])),
        ("Moving it", _moving(run, sweep, tables["cutoff-moves"])),
        ("More laws", _more(run, sweep)),
        ("Lost most", _lost_most(run, tables["loss-reasons"])),
        ("Worst", _worst(tables["how-sure"])),
    ]
    return [(title, sentence) for title, sentence in said if sentence]


def _groups(run: Run) -> str:
    return counted(sum(len(each.pair.expected) for each in run.pairs), "expected law")


def _cutoff_costs(run: Run, sweep: Sweep, moves: pd.DataFrame) -> str:
    settings = run.settings
    costs = int(moves["gained"].iloc[0])  # what the first row, without a cutoff, would gain
    said = f"near_enough {settings.cutoff:g} costs the pool {f'{costs:,}' if costs else 'none'} of {_groups(run)}"
    silence = sweep.expect_nothing(settings.cutoff, settings.near_laws)
    if silence is None:
        return f"{said}. There is no question without an answer to tell what it keeps out."
    empty = round(silence.returned_nothing * silence.pairs)
    asked = counted(silence.pairs, "question")
    return f"{said}, and keeps the near search silent on {empty:,} of {asked} that no law answers."


def _moving(run: Run, sweep: Sweep, moves: pd.DataFrame) -> str:
    """What two steps down and two steps up would do."""
    cutoff = run.settings.cutoff
    lower = moves[(moves["near_enough"] < cutoff) & (moves["near_enough"] > NO_CUTOFF)].tail(2).head(1)
    higher = moves[moves["near_enough"] > cutoff].head(2).tail(1)
    silence = sweep.expect_nothing(cutoff, 0)
    said = [_move(step, silence.pairs if silence else 0) for step in pd.concat([lower, higher]).to_dict("records")]
    return f"{'; '.join(said)}." if said else ""


def _move(step: Mapping[Any, Any], unanswerable: int) -> str:
    said = f"{step['near_enough']:g} would {_change(int(step['lost']), int(step['gained']))}"
    return f"{said}, silent on {round(step['silent'] * unanswerable):,}" if unanswerable else said


def _change(lost: int, gained: int) -> str:
    if not lost and not gained:
        return "lose and gain nothing"
    return f"lose {counted(lost, 'expected law') if lost else 'none'} and gain {f'{gained:,}' if gained else 'none'}"


def _more(run: Run, sweep: Sweep) -> str:
    """What a wider pool and more neighbours would do to the pool, and how many laws it would then hold."""
    in_force = Setting.of_pool(run)
    now = sweep.at(in_force, "pool").laws
    if now is None:
        return ""
    steps = list(_wider(in_force, sweep))
    base, *every = sweep.reached_at([in_force, *(wider for _, wider in steps)], "pool")
    said: list[str] = []
    for (change, wider), reached in zip(steps, every, strict=True):
        laws = sweep.at(wider, "pool").laws
        does = _change(int((base & ~reached).sum()), int((reached & ~base).sum()))
        said.append(f"{change} would {does} ({laws:.1f} laws in the pool{'' if said else f', now {now:.1f}'})")
    return f"{'; '.join(said)}." if said else ""


def _wider(in_force: Setting, sweep: Sweep) -> Iterable[tuple[str, Setting]]:
    """A step more of each, with the change in words; none beyond what the sweep holds."""
    laws, searched, near_laws = in_force.laws, in_force.searched_laws, in_force.near_laws
    if searched is None and laws + POOL_STEP <= sweep.laws:
        yield f"candidate_laws {laws + POOL_STEP} in place of {laws}", replace(in_force, laws=laws + POOL_STEP)
    if searched is not None and searched + POOL_STEP <= sweep.laws:
        wider = replace(in_force, searched_laws=searched + POOL_STEP)
        yield f"searched_candidate_laws {searched + POOL_STEP} in place of {searched}", wider
    if near_laws + NEAR_STEP <= sweep.near_laws:
        more = near_laws + NEAR_STEP
        yield f"near_laws {more} in place of {near_laws}", replace(in_force, near_laws=more)


def _lost_most(run: Run, reasons: pd.DataFrame) -> str:
    pool = reasons[reasons["stage"] == "pool"]
    if pool.empty:
        return "Every expected law reached the pool."
    lost, first, reason = int(pool["lost"].sum()), int(pool["lost"].iloc[0]), str(pool["reason"].iloc[0])
    return f"The pool lacks {lost:,} of {_groups(run)}; the commonest reason ({first:,}): {reason}."


def _worst(sure: pd.DataFrame) -> str:
    pool = sure[(sure["stage"] == "pool") & sure["recall"].notna()]
    said = []
    for by, noun in (("state", "state"), ("kind", "kind of question")):
        groups = pool[pool["by"] == by].sort_values(["recall", "group"])
        if len(groups) > 1:
            worst = groups.iloc[0]
            recall = f"{worst['recall']:.3f} ({worst['low']:.3f} to {worst['high']:.3f})"
            said.append(f"the worst {noun} is {worst['group']}, {recall}")
    return f"By recall of the pool, {'; '.join(said)}." if said else ""
