"""What fusing searches beside the question moves into the pool and out of it, at both sizes of the pool."""

from collections.abc import Iterator

import pandas as pd

from evals.judged import first_place
from evals.metrics import mean, recall
from evals.run import Measured, Pools, Run

COLUMNS = ["question", "state", "kind", "expected", "plain", "narrow", "wide", "moved", "text"]


def source(run: Run) -> str:
    """Whose searches were fused: those the run used, or the written ones of the set."""
    return "written" if run.settings.rephrase in ("off", "written") else run.settings.rephrase


def _fused(run: Run) -> Iterator[tuple[Measured, Pools]]:
    for each in run.pairs:
        if each.searched is not None:
            yield each, each.searched


def pools(run: Run) -> pd.DataFrame:
    """The pool without searches and with them at both sizes: recall, expected groups moved in and out.

    Over the answerable pairs that have searches. `moved in` and `moved out` are expected groups, against the pool of
    the question alone. Empty where no pair has any.
    """
    found = list(_fused(run))
    narrow, wide = run.settings.candidate_laws, run.settings.searched_candidate_laws
    rows = []
    for name, pool, size in (
        ("question alone", "plain", narrow),
        ("searches fused", "narrow", narrow),
        ("searches fused", "wide", wide),
    ):
        reached = [
            (group, {*searched.plain}, {*getattr(searched, pool)})
            for each, searched in found
            for group in each.pair.expected
        ]
        recalls = [recall(each.pair.expected, getattr(searched, pool)) for each, searched in found]
        moved_in = sum(before.isdisjoint(group) and not after.isdisjoint(group) for group, before, after in reached)
        moved_out = sum(after.isdisjoint(group) and not before.isdisjoint(group) for group, before, after in reached)
        counts = {"laws": size, "pairs": len(found), "expected": len(reached), "recall": mean(recalls)}
        rows.append({"pool": name, **counts, "moved in": moved_in, "moved out": moved_out})
    return pd.DataFrame(rows if found else [], columns=list(rows[0]))


def moves(run: Run) -> pd.DataFrame:
    """Every expected group that fusing the searches moved into a pool or out of it, with its place in each pool.

    plain, narrow, wide: the place of the group's best law in the pool of the question alone and in the two with
    searches, from 1; empty where the pool lacks it. moved: `in`, `out at 24, back at 32`, `out at both`, and so on.
    """
    sizes = run.settings.candidate_laws, run.settings.searched_candidate_laws
    rows = []
    for each, searched in _fused(run):
        for group in each.pair.expected:
            places = [first_place(group, pool) for pool in (searched.plain, searched.narrow, searched.wide)]
            moved = _moved(places, sizes)
            if moved:
                of_pair = [each.pair.question, each.pair.state, each.pair.kind, " or ".join(group)]
                rows.append(dict(zip(COLUMNS, [*of_pair, *places, moved, each.pair.text], strict=True)))
    return pd.DataFrame(rows, columns=COLUMNS)


def _moved(places: list[int | None], sizes: tuple[int, int]) -> str:
    """How a group moved, by its places; empty where all pools hold it or none does."""
    plain, narrow, wide = (place is not None for place in places)
    if plain == narrow == wide:
        return ""
    if plain:
        if not narrow:
            return f"out at {sizes[0]}, back at {sizes[1]}" if wide else "out at both"
        return f"out at {sizes[1]} alone"
    if narrow:
        return "in at both" if wide else f"in at {sizes[0]} alone"
    return f"in at {sizes[1]} alone"


TABLES = {"searches-pools": pools, "searches-moves": moves}
