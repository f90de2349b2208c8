"""A comparison and the gate's verdict, for the person whose change is judged: what was lost and gained, by name.

Text for a terminal and Markdown for a pull request. What others wrote (questions, ids) is escaped in Markdown.
"""

import shlex
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

from evals.baseline import Summary
from evals.compare import Change, Comparison, Flip
from evals.gate import FAILED, NOT_COMPARABLE, PASSED, Verdict
from evals.outcomes import JUDGED
from evals.report.markdown import cell
from evals.statistics import PairedTest, paired_permutation

WORDS = {PASSED: "passed", FAILED: "failed", NOT_COMPARABLE: "not comparable"}
SHOWN = 20


def verdict_text(verdict: Verdict) -> str:
    """The gate's verdict: the reasons, what was lost and how to see or accept it, what was gained, and the rest."""
    return "\n".join(_verdict_lines(verdict))


def _verdict_lines(verdict: Verdict) -> Iterable[str]:
    comparison = verdict.comparison
    yield f"gate: {WORDS[verdict.status]}"
    yield from (f"  {reason}" for reason in verdict.reasons)
    yield from flip_lines("lost", verdict.lost)
    if verdict.lost:
        first = verdict.lost[0].outcome
        yield f"  to see one: near-enough search {first.state} {shlex.quote(first.text)}"
        yield '  to accept all of them by name: make baseline WHY="..."'
    yield from flip_lines("gained", tuple(flip for stage in JUDGED for flip in comparison.flips("gained", stage)))
    for loss in verdict.accepted:
        yield f"  still lost, accepted ({loss.why}): {loss.question} ({loss.state}): {' or '.join(loss.expected)}"
    if verdict.margins:
        yield f"  moved close to an edge: {len(verdict.margins)}"
        for margin in verdict.margins[:SHOWN]:
            where = f"{margin.outcome.question} ({margin.outcome.state})"
            yield f"    {where}: {' or '.join(margin.group.laws)}, {margin.what}"
    yield from _held(comparison, verdict)
    yield from (f"  {line}" for line in _means(comparison))


def flip_lines(word: str, flips: Sequence[Flip]) -> Iterable[str]:
    """The flips of the pool and the answer, by stage, each by name; the first twenty and how many more."""
    for stage in JUDGED:
        of_stage = [flip for flip in flips if flip.stage == stage]
        if not of_stage:
            continue
        yield f"  {word} by the {stage}: {len(of_stage)}"
        yield from (f"    {_flip(flip)}" for flip in of_stage[:SHOWN])
        if len(of_stage) > SHOWN:
            yield f"    and {len(of_stage) - SHOWN} more"


def _flip(flip: Flip) -> str:
    group = " or ".join(flip.after.laws)
    return f"{flip.outcome.question} ({flip.outcome.state}): {group}, {_moved(flip)}: {flip.outcome.text}"


def _moved(flip: Flip) -> str:
    def place(at: int | None) -> str:
        return f"{at}. in the pool" if at else "not in the pool"

    cosine = "" if flip.after.cosine is None else f", cosine {flip.after.cosine:.3f}"
    return f"{place(flip.before.place)} before, {place(flip.after.place)} now{cosine}"


def _held(comparison: Comparison, verdict: Verdict) -> Iterable[str]:
    pairs, groups = len(comparison.common), comparison.groups
    yield f"  judged: {groups} expected laws of {pairs} pairs of question and state that both sides hold"
    if comparison.new:
        yield f"  new, not judged: {len(comparison.new)} pairs"
    if comparison.edited:
        yield f"  expected laws edited in {len(comparison.edited)} pairs: judged where both sides expect the same"
    other = [name for name, same in verdict.same.items() if not same]
    if other:
        yield f"  changed since the baseline: {', '.join(other)}"


def _means(comparison: Comparison) -> Iterable[str]:
    for change in comparison.changes:
        if change.group == "all":
            yield f"{_change(change)}; {certainty(comparison, change.stage)}"


def _change(change: Change) -> str:
    return (
        f"mean recall of the {change.stage}: {change.before:.4f} before, {change.after:.4f} now"
        f" ({change.n} pairs of {change.needs} needs)"
    )


def certainty(comparison: Comparison, stage: str) -> str:
    """How sure the change of a mean is, in words: told beside it, it decides nothing."""
    test = paired(comparison, stage)
    if test is None or test.difference == 0:
        return "no change of the mean"
    if test.p > 0.05:
        return f"p = {test.p:.2f}: a set of {test.needs} needs is too small to tell this change from chance"
    return f"p = {test.p:.4f}: more than chance in a set of {test.needs} needs"


def paired(comparison: Comparison, stage: str) -> PairedTest | None:
    """The paired permutation test over needs of recall at a stage, over the groups that both sides expect."""
    before: list[Fraction] = []
    after: list[Fraction] = []
    needs: list[str] = []
    for was, now in comparison.common:
        earlier = {frozenset(group.laws): group for group in was.groups}
        shared = [(earlier[key], group) for group in now.groups if (key := frozenset(group.laws)) in earlier]
        if shared and all(stage in group.reached for pair in shared for group in pair):
            before.append(Fraction(sum(old.reached[stage] for old, _ in shared), len(shared)))
            after.append(Fraction(sum(new.reached[stage] for _, new in shared), len(shared)))
            needs.append(now.need)
    return paired_permutation(before, after, needs) if needs else None


def verdict_markdown(verdict: Verdict) -> str:
    """The verdict as a comment that fits a pull request: the table, the lost laws, details folded away."""
    comparison = verdict.comparison
    lines = [f"### Retrieval gate: {WORDS[verdict.status]}", ""]
    lines += [f"* {cell(reason)}" for reason in verdict.reasons]
    if comparison.changes:
        lines += ["", "| stage | recall before | recall now | pairs | lost | gained |"]
        lines += ["|---|---:|---:|---:|---:|---:|"]
        lines += [
            f"| {change.stage} | {change.before:.4f} | {change.after:.4f} | {change.n}"
            f" | {len(comparison.flips('lost', change.stage))} | {len(comparison.flips('gained', change.stage))} |"
            for change in comparison.changes
            if change.group == "all"
        ]
    lines += _details("Lost laws", verdict.lost, opened=True)
    gained = [flip for stage in JUDGED for flip in comparison.flips("gained", stage)]
    lines += _details("Gained laws", gained)
    if verdict.lost:
        state = cell(verdict.lost[0].outcome.state)
        lines += [
            "",
            f"To see one: `near-enough search {state} '...'`. To accept all by name: `make baseline WHY='...'`.",
        ]
    return "\n".join(lines) + "\n"


def _details(title: str, flips: Sequence[Flip], opened: bool = False) -> list[str]:
    if not flips:
        return []
    rows = [
        f"| {cell(flip.outcome.question)} | {cell(flip.outcome.state)} | {cell(' or '.join(flip.after.laws))}"
        f" | {flip.stage} | {cell(_moved(flip))} | {cell(flip.outcome.text)} |"
        for flip in flips[: 5 * SHOWN]
    ]
    more = [f"and {len(flips) - 5 * SHOWN} more"] if len(flips) > 5 * SHOWN else []
    head = ["| question | state | expected | stage | moved | text |", "|---|---|---|---|---|---|"]
    tag = "<details open>" if opened else "<details>"
    return ["", f"{tag}<summary>{title}: {len(flips)}</summary>", "", *head, *rows, "", *more, "</details>"]


def recorded_text(summary: Summary, comparison: Comparison | None, folder: Path) -> str:
    """What a new baseline holds, and what changed against the one before."""
    overall = summary.recall["all"]
    lines = [f"baseline recorded in {folder}: {summary.why}"]
    lines += [f"  recall of the {stage}: {overall[stage]}" for stage in JUDGED]
    if comparison is not None:
        lines += flip_lines("lost and accepted", [flip for flip in comparison.lost if flip.stage in JUDGED])
        lines += flip_lines("gained", [flip for flip in comparison.gained if flip.stage in JUDGED])
    lines.append(f"  accepted losses that are still lost: {len(summary.accepted_losses)}")
    return "\n".join(lines)
