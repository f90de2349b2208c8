"""The gate's verdict as text, for the person whose change is judged: the laws by name first, the verdict at the end."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from evals.baseline import DIGITS, Summary
from evals.compare import Comparison, Flip
from evals.gate import FAILED, NAMED, NOT_COMPARABLE, PASSED, Verdict, counted
from evals.outcomes import JUDGED, Group, Outcome

WORDS = {PASSED: "passed", FAILED: "failed", NOT_COMPARABLE: "not comparable"}
MARGINS_SHOWN = 20
TO_ACCEPT = 'make baseline WHY="..."'


def verdict_text(verdict: Verdict, options: Sequence[str] = ()) -> str:
    """Every law lost and how to see it, every law gained, what else changed; the verdict and its reasons at the end.

    `options` are those that the run was started with, for the commands that show one question.
    """
    return "\n".join([*_found(verdict, options), *conclusion(verdict)])


def _found(verdict: Verdict, options: Sequence[str]) -> Iterable[str]:
    if verdict.status == NOT_COMPARABLE:
        return
    yield from flip_lines("lost", verdict.lost, options)
    yield from flip_lines("gained", verdict.gained, options)
    if verdict.louder:
        yield f"more laws near questions that no law answers: {len(verdict.louder)}"
        for each in verdict.louder:
            yield f"  {named(each.outcome)}: {each.before} before, {each.outcome.near_laws} now: {each.outcome.text}"
    if len(verdict.comparison.vanished) > NAMED:
        yield f"no longer asked: {len(verdict.comparison.vanished)}"
        yield from (f"  {named(outcome)}" for outcome in verdict.comparison.vanished)
    if verdict.still_lost:
        yield f"lost before and accepted: {len(verdict.still_lost)}"
        for loss in verdict.still_lost:
            yield f"  {loss.question} ({loss.state}): {' or '.join(loss.expected)} by the {loss.stage}: {loss.why}"
    if verdict.margins:
        yield f"shrinking margins, they still arrive: {len(verdict.margins)}"
        for margin in verdict.margins[:MARGINS_SHOWN]:
            yield f"  {named(margin.outcome)}: {' or '.join(margin.group.laws)}, {margin.what}"
        yield from _more(len(verdict.margins) - MARGINS_SHOWN)
    yield from dropped_lines(verdict.comparison)
    yield judged(verdict)
    for stage in verdict.comparison.stages:
        yield from mean_lines(verdict.comparison, stage)
    yield searches_line(verdict)


def conclusion(verdict: Verdict) -> list[str]:
    """The verdict, its reasons, and how to go on."""
    lines = [f"gate: {WORDS[verdict.status]}", *(f"  {reason}" for reason in verdict.reasons)]
    if verdict.acceptable:
        lines.append(f"  to accept what was lost, each law by name in the baseline: {TO_ACCEPT}")
    elif verdict.status == PASSED and verdict.gained:
        lines.append(f"  to hold what was gained from now on: {TO_ACCEPT}")
    return lines


def named(outcome: Outcome) -> str:
    """A pair as messages name it."""
    return f"{outcome.question} ({outcome.state})"


def flip_lines(word: str, flips: Sequence[Flip], options: Sequence[str] = ()) -> Iterable[str]:
    """Flips by name, none left out: where the group was and is, and the command that shows its question."""
    if flips:
        yield f"{word}: {counted(len(flips), 'expected law')}"
    for flip in flips:
        edited = "" if flip.still_expected else ", not expected any more"
        by = " and ".join(flip.stages)
        yield f"  {named(flip.after)}: {' or '.join(flip.was.laws)}{edited}, by {by}: {moved(flip)}"
        yield f"    {to_see(flip.after, options)}"


def to_see(outcome: Outcome, options: Sequence[str] = ()) -> str:
    """The command that shows what each stage gives for a pair."""
    searches = [part for search in outcome.searches for part in ("--search", search)]
    return " ".join(["near-enough search", *map(_quoted, [*options, *searches, outcome.state, outcome.text])])


def _quoted(text: str) -> str:
    """Text for a shell, in double quotes where it holds an apostrophe and nothing that those would change."""
    return f'"{text}"' if "'" in text and not set(text) & set('"$`\\!') else shlex.quote(text)


def moved(flip: Flip) -> str:
    """Where a group was and is: its place in the pool, and its cosine."""
    places = [_place(flip.was, flip.before), _place(flip.now, flip.after)]
    # To the digits that a baseline keeps, or the same cosine would seem to move.
    cosines = ["none" if group.cosine is None else f"{group.cosine:.{DIGITS}f}" for group in (flip.was, flip.now)]
    said = f"{places[0]} → {places[1]}"
    if not flip.still_expected or cosines == ["none", "none"]:
        return said
    return f"{said}, cosine {' → '.join(dict.fromkeys(cosines))}"


def _place(group: Group, outcome: Outcome) -> str:
    return "not in the pool" if group.place is None else f"{group.place} of {outcome.pool_laws} in the pool"


def dropped_lines(comparison: Comparison) -> Iterable[str]:
    """The groups that are not expected any more, by name: whether they arrive was judged all the same."""
    if comparison.dropped:
        yield f"not expected any more, judged as before: {len(comparison.dropped)}"
        yield from (f"  {named(outcome)}: {' or '.join(group.laws)}" for outcome, group in comparison.dropped)


def _more(count: int) -> Iterable[str]:
    if count > 0:
        yield f"  and {count} more"


def judged(verdict: Verdict) -> str:
    """How much both sides hold, and what differs between them."""
    comparison = verdict.comparison
    said = [
        f"judged: {counted(comparison.groups, 'expected law')} of {counted(len(comparison.pairings), 'pair')}"
        " of question and state that both sides hold"
    ]
    if comparison.vanished:
        said.append(f"gone: {counted(len(comparison.vanished), 'pair')}")
    if comparison.new or comparison.added:
        pairs, laws = counted(len(comparison.new), "pair"), counted(comparison.added, "expected law")
        said.append(f"new and not judged: {pairs}, and {laws} of pairs that are not new")
    other = [name for name, same in verdict.same.items() if not same]
    if other:
        said.append(f"changed since the baseline: {', '.join(other)}")
    return "; ".join(said)


def mean_lines(comparison: Comparison, stage: str) -> Iterable[str]:
    """A stage's mean recall on both sides and how sure its change is; nothing where nothing was compared."""
    for change in comparison.changes:
        if change.by == "all" and change.stage == stage:
            yield (
                f"mean recall of the {stage}: {change.before:.4f} → {change.after:.4f}"
                f" over {counted(change.pairs, 'pair')} of {counted(change.needs, 'need')};"
                f" {certainty(comparison, stage)}"
            )


def searches_line(verdict: Verdict) -> str:
    """Mean recall of the searches before the pool, which decide nothing."""

    def shown(value: float | None) -> str:
        return "none" if value is None else f"{value:.4f}"

    said = [f"{stage} {shown(before)} → {shown(now)}" for stage, (before, now) in verdict.searches.items()]
    return f"not judged, each over its own pairs: mean recall of {', '.join(said)}"


def certainty(comparison: Comparison, stage: str) -> str:
    """How sure the change of a mean is, in words. It decides nothing."""
    test = comparison.paired(stage)
    if test is None or test.difference == 0:
        return "no change"
    if test.p > 0.05:
        return f"p = {test.p:.2f}, too few needs changed to tell this from chance"
    return f"p = {test.p:.4f}, more than chance"


def recorded_text(summary: Summary, comparison: Comparison | None, folder: Path) -> str:
    """What a new baseline holds, and what it lets go against the one before."""
    lines: list[str] = []
    if comparison is not None:
        lines += flip_lines("lost, and accepted", [flip for flip in comparison.lost if flip.judged])
        lines += flip_lines("gained, and held from now on", [flip for flip in comparison.gained if flip.judged])
        lines += dropped_lines(comparison)
        if comparison.vanished:
            lines.append(f"no longer asked: {len(comparison.vanished)}")
            lines += [f"  {named(outcome)}" for outcome in comparison.vanished]
    overall = summary.recall["all"]
    lines.append(f"baseline recorded in {folder}: {counted(summary.pairs, 'pair')}; {summary.why}")
    lines += [f"  mean recall of the {stage}: {_shown(overall[stage])}" for stage in JUDGED]
    lines.append(f"  accepted losses that are still lost: {len(summary.accepted_losses)}")
    return "\n".join(lines)


def _shown(value: float | None) -> str:
    return "none, nothing is expected" if value is None else f"{value:.4f}"
