"""Two sides beside each other as text: the laws lost and gained first, then the means, then the gate's verdict."""

from collections.abc import Iterable, Mapping, Sequence

from evals.baseline import NOTHING
from evals.compare import Change, Comparison, compare
from evals.counted import counted
from evals.gate import Verdict
from evals.outcomes import JUDGED, Side
from evals.report.verdicts.again import TO_ACCEPT, one_line
from evals.report.verdicts.verdict import certainty, conclusion, dropped_lines, flip_lines

HEAD = ("", "stage", "pairs", "needs", "before", "now", "change", "lost", "gained")


def comparison_text(
    before: Side,
    after: Side,
    verdict: Verdict | None,
    no_verdict: str = "",
    options: Sequence[str] | None = (),
    to_accept: str = TO_ACCEPT,
) -> str:
    """Laws lost and gained by pool and answer, recall at each stage, bands, how sure, and what the gate would say.

    verdict: the gate's on the second side, or None with the reason in `no_verdict`. options: those of
    the commands that show one question, as `to_see` takes them. to_accept: the command that makes the second side the
    baseline.
    """
    comparison = compare(before.outcomes, after.outcomes)
    lines = [
        *_flips(comparison, options),
        *_only_one_side(comparison),
        *changed_settings(before.settings, after.settings),
        *_fingerprints(before, after),
        *_table(comparison),
        *_sure(comparison),
        *_expect_nothing(before, after),
        *_bands(before, after),
        *(conclusion(verdict, to_accept) if verdict else [f"gate: no verdict, {no_verdict}"]),
    ]
    return "\n".join(map(one_line, lines))


def _flips(comparison: Comparison, options: Sequence[str] | None) -> Iterable[str]:
    for word, flips in (("lost", comparison.lost), ("gained", comparison.gained)):
        judged = [flip for flip in flips if flip.judged]
        yield from flip_lines(word, judged, options) if judged else [f"{word}: no law, by pool or answer"]


def _only_one_side(comparison: Comparison) -> Iterable[str]:
    yield from dropped_lines(comparison)
    if comparison.vanished:
        yield f"asked only before: {counted(len(comparison.vanished), 'pair')} of question and state"
    if comparison.new:
        yield f"asked only now: {counted(len(comparison.new), 'pair')} of question and state"


def changed_settings(before: Mapping[str, object], after: Mapping[str, object]) -> Iterable[str]:
    """A line for each setting that differs; of a setting by model, the models that differ."""
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from (f"{name} of {line}" for line in changed_settings(old, new))
        elif old != new:
            yield f"{name}: {old} → {new}"


def _fingerprints(before: Side, after: Side) -> Iterable[str]:
    """What else than the settings differs between two runs."""
    for name, now in after.fingerprints.items():
        was = before.fingerprints.get(name)
        if name != "settings" and was != now:
            yield f"{name}: {was} → {now}"


def _table(comparison: Comparison) -> Iterable[str]:
    """Every stage over all; pool and answer of the kinds, states and languages that changed."""
    rows = [
        change
        for change in comparison.changes
        if change.by == "all" or (change.stage in JUDGED and (change.lost or change.gained))
    ]
    cells = [HEAD, *(_cells(change) for change in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(HEAD))]
    for row in cells if rows else ():
        left = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        right = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        yield "  ".join([*left, *right])


def _cells(change: Change) -> tuple[str, ...]:
    return (
        "all" if change.by == "all" else f"{change.by} {change.group}",
        change.stage,
        str(change.pairs),
        str(change.needs),
        f"{change.before:.4f}",
        f"{change.after:.4f}",
        f"{change.after - change.before:+.4f}",
        str(change.lost),
        str(change.gained),
    )


def _sure(comparison: Comparison) -> Iterable[str]:
    return (f"{stage}: {certainty(comparison, stage)}" for stage in JUDGED if stage in comparison.stages)


def _expect_nothing(before: Side, after: Side) -> Iterable[str]:
    """What the near search returns to the questions that no law answers, of those that both sides hold."""
    both = [(old, after.outcomes[key]) for key, old in before.outcomes.items() if key in after.outcomes]
    for what in NOTHING:
        pairs = [(old, new) for old, new in both if old.expects == what == new.expects]
        if pairs:
            laws = [sum(side.near_laws for side in of) for of in zip(*pairs, strict=True)]
            silent = [sum(side.near_laws == 0 for side in of) for of in zip(*pairs, strict=True)]
            yield (
                f"{what}, {counted(len(pairs), 'pair')}: laws by the near search {laws[0]} → {laws[1]},"
                f" none at all for {silent[0]} → {silent[1]}"
            )


def _bands(before: Side, after: Side) -> Iterable[str]:
    for word, side in (("before", before), ("now", after)):
        if side.bands:
            yield f"{word}: {side.bands}"
