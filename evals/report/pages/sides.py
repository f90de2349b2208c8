"""The page of two sides compared, or of one that is no run of the pipeline here: a file that fetches nothing.

What others wrote is escaped or stays text. What the page's script reads is in `evals.report.pages.traces`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from evals.baseline import NOTHING
from evals.compare import Comparison, Flip, compare
from evals.report.pages import recalls, traces
from evals.report.pages.cells import Cell, Table, table
from evals.report.pages.details import Shown
from evals.report.pages.embedding import rendered
from evals.report.pages.facts import compared, deciding, facts_of, measured
from evals.report.verdicts.verdict import moved
from evals.stages import STAGES

SCRIPTS = (
    "scripts/unpack.js",
    "scripts/elements.js",
    "scripts/ticks.js",
    "scripts/dots.js",
    "scripts/sides/data.js",
    "scripts/sides/state.js",
    "scripts/address.js",
    "scripts/contents.js",
    "scripts/listing.js",
    "scripts/sides/bands.js",
    "scripts/sides/questions.js",
    "scripts/sides/trace.js",
    "sides.js",
)
STYLES = ("page.css", "sides.css")
NAMED = 20


@dataclass(frozen=True)
class Flipped:
    """A group that flipped, as a list names it: the pair's key for the address, and where the group was and is."""

    key: str
    text: str
    about: str
    laws: str
    stages: str
    moved: str


def comparison_page(before: Shown, after: Shown, gate: Sequence[str] = ()) -> str:
    """The page of two sides. gate: what the gate says of the second, in lines; nothing where nobody asked."""
    comparison = compare(before.side.outcomes, after.side.outcomes)
    rows = recalls.difference_rows(comparison)
    facts = list(facts_of([before, after]))
    return rendered(
        "sides.html",
        STYLES,
        SCRIPTS,
        traces.data([before, after], comparison),
        title="Two runs compared",
        two=True,
        names=[before.name, after.name],
        stages=comparison.stages,
        sentences=[(title, said) for title, said in compared(before.side, after.side, comparison, rows, gate) if said],
        facts=[fact for fact in facts if fact.differs],
        same=[fact for fact in facts if not fact.differs],
        kinds=recalls.of(rows, "kind", "all"),
        others=recalls.of(rows, "state", "language"),
        heat=_heat(rows, comparison.stages),
        flips=[(word, len(flips), _flipped(flips)) for word, flips in _judged(comparison)],
        tables=_tables(before, after, comparison),
        lists=(),
        linked=False,
        signed=signed,
    )


def run_page(
    shown: Shown,
    sentences: Sequence[tuple[str, str]],
    said: Sequence[str],
    tables: Mapping[str, tuple[str, pd.DataFrame]],
) -> str:
    """The page of one side.

    sentences: further ones for its beginning, each under a title. said: how much was measured, in lines. tables: by the
    name of their file, with a caption.
    """
    stages = [stage for stage in STAGES if stage in shown.stages]
    rows = recalls.recall_rows(shown.side.outcomes.values(), stages)
    return rendered(
        "sides.html",
        STYLES,
        SCRIPTS,
        traces.data([shown], None),
        title="What another system returned",
        two=False,
        names=[shown.name],
        stages=stages,
        sentences=[(title, text) for title, text in (*measured(shown.side, stages, rows), *sentences) if text],
        facts=list(facts_of([shown])),
        same=(),
        kinds=recalls.of(rows, "kind", "all"),
        others=recalls.of(rows, "state", "language"),
        heat=(),
        flips=(),
        tables=[table(name, frame, caption) for name, (caption, frame) in tables.items() if len(frame)],
        lists=list(said),
        linked=True,
        signed=signed,
    )


# -- Lists and tables


def _judged(comparison: Comparison) -> Iterable[tuple[str, list[Flip]]]:
    """The flips of the stages that decide, lost and gained."""
    stages = set(deciding(comparison.stages))
    for word, flips in (("Lost", comparison.lost), ("Gained", comparison.gained)):
        yield word, [flip for flip in flips if stages & set(flip.stages)]


def _flipped(flips: Sequence[Flip]) -> list[Flipped]:
    return [
        Flipped(
            key=f"{flip.after.question}@{flip.after.state}",
            text=flip.after.text,
            about=f"{flip.after.question}, {flip.after.state}, {flip.after.kind}",
            laws=" or ".join(flip.was.laws) + ("" if flip.still_expected else ", not expected any more"),
            stages=", ".join(flip.stages),
            moved=moved(flip),
        )
        for flip in flips[:NAMED]
    ]


def _heat(
    rows: Sequence[recalls.Row[recalls.Difference]], stages: Sequence[str]
) -> Sequence[tuple[str, int, list[Cell]]]:
    """The differences by kind and stage, each with its share of the greatest, below 0 where recall fell."""
    part = recalls.of(rows, "kind", "all")
    most = max((abs(cell.change) for row in part for cell in row.cells), default=0.0) or 1.0
    return [
        (row.group, row.pairs, [Cell(signed(cell.change), True, f"{cell.change / most:.3f}") for cell in row.cells])
        for row in part
        if stages
    ]


def signed(change: float) -> str:
    """A difference with its sign, to three digits; ±0 where those are none.

    >>> signed(0.0123), signed(-0.0004)
    ('+0.012', '±0')
    """
    text = f"{abs(change):.3f}"
    return "±0" if not float(text) else f"{'+' if change > 0 else '−'}{text}"


def _tables(before: Shown, after: Shown, comparison: Comparison) -> list[Table]:
    found = [
        (
            "expect-nothing",
            "Questions that no law answers, of those that both sides hold",
            _expect_nothing(before, after),
        ),
        ("only-one-side", "Pairs of question and state that only one side holds", _only(comparison)),
    ]
    return [table(name, frame, caption) for name, caption, frame in found if len(frame)]


def _expect_nothing(before: Shown, after: Shown) -> pd.DataFrame:
    """How many laws each stage gives to them, and to how many none; only stages that both ran."""
    rows = []
    both = [(old, after.side.outcomes[key]) for key, old in before.side.outcomes.items() if key in after.side.outcomes]
    for what in NOTHING:
        pairs = [(old, new) for old, new in both if old.expects == what == new.expects]
        for stage in STAGES:
            if pairs and stage in before.stages & after.stages:
                laws = [[len(each.stages.get(stage, ())) for each in of] for of in zip(*pairs, strict=True)]
                silent = [counts.count(0) for counts in laws]
                rows.append((what, stage, len(pairs), sum(laws[0]), sum(laws[1]), silent[0], silent[1]))
    columns = ["expects", "stage", "pairs", "laws before", "laws now", "nothing before", "nothing now"]
    return pd.DataFrame(rows, columns=columns)


def _only(comparison: Comparison) -> pd.DataFrame:
    """By state how many pairs each side alone holds, and their questions, the first few by name."""
    rows = []
    for word, outcomes in (("before", comparison.vanished), ("now", comparison.new)):
        for state in sorted({each.state for each in outcomes}):
            part = [each.question for each in outcomes if each.state == state]
            rows.append((f"only {word}", state, len(part), _names(part)))
    return pd.DataFrame(rows, columns=["side", "state", "pairs", "questions"])


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
