"""Two runs side by side in a terminal: stages, bands, kinds, laws lost and gained by name, the gate's verdict."""

from collections.abc import Mapping

import pandas as pd
from rich.console import Console
from rich.text import Text

from evals import bands
from evals.baseline import expect_nothing_total
from evals.compare import Comparison, compare
from evals.gate import Verdict
from evals.outcomes import Key, Outcome
from evals.report.terminal import table
from evals.report.verdict import WORDS, certainty, flip_lines
from evals.run import Run


def show_runs(before: Run, after: Run, verdict: Verdict | None, console: Console | None = None) -> None:
    """What changed in the settings, what each cutoff does to the bands, and the gate's verdict on the second run."""
    out = console or Console(highlight=False)
    old, new = before.settings.model_dump(), after.settings.model_dump()
    for name in old:
        if old[name] != new[name]:
            out.print(Text(f"{name}: {old[name]} → {new[name]}"))
    for word, run in (("before", before), ("now", after)):
        out.print(Text(f"{word}: {bands.verdict(bands.points(run), run.settings.cutoff)}"))
    if verdict is None:
        out.print(Text('no baseline: record one with make baseline WHY="..."'))
    else:
        out.print(
            Text(
                f"the gate would say: {WORDS[verdict.status]}{': ' if verdict.reasons else ''}"
                + "; ".join(verdict.reasons)
            )
        )


def show_comparison(
    before: Mapping[Key, Outcome], after: Mapping[Key, Outcome], console: Console | None = None
) -> None:
    """Recall at each stage on both sides, by kind, state and language; the laws lost and gained by pool and answer."""
    out = console or Console(highlight=False)
    comparison = compare(before, after)
    out.print(table("Recall, mean over the pairs that both hold", changes(comparison)))
    for stage in ("pool", "answer"):
        out.print(Text(f"{stage}: {certainty(comparison, stage)}"))
    nothing = [expect_nothing_total(side) for side in (before, after)]
    out.print(Text(f"laws that the near search returned to questions without an answer: {nothing[0]} → {nothing[1]}"))
    for word, flips in (("lost", comparison.lost), ("gained", comparison.gained)):
        lines = list(flip_lines(word, flips))
        out.print(Text("\n".join(lines) if lines else f"nothing {word} by the pool or the answer"))
    for word, side in (("only before", comparison.vanished), ("only now", comparison.new)):
        if side:
            out.print(Text(f"{word}: {len(side)} pairs of question and state"))


def changes(comparison: Comparison) -> pd.DataFrame:
    """The means of both sides, one row a group and stage; groups that did not change are left out."""
    rows = []
    for change in comparison.changes:
        if change.group != "all" and change.before == change.after:
            continue
        rows.append(
            {
                "group": change.group,
                "stage": change.stage,
                "pairs": change.n,
                "needs": change.needs,
                "before": change.before,
                "now": change.after,
                "change": change.after - change.before,
            }
        )
    return pd.DataFrame(rows, columns=["group", "stage", "pairs", "needs", "before", "now", "change"])
