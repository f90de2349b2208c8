"""The gate's verdict as text, for the person whose change is judged: the laws by name first, the verdict at the end."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evals.baseline import DIGITS, AcceptedLoss, Summary
from evals.compare import Change, Comparison, Flip
from evals.counted import counted
from evals.gate import FAILED, NAMED, NOT_COMPARABLE, PASSED, Verdict
from evals.outcomes import JUDGED, Group, Outcome
from evals.report.verdicts.again import TO_ACCEPT, one_line, to_see

WORDS = {PASSED: "passed", FAILED: "failed", NOT_COMPARABLE: "not comparable"}
MARGINS_SHOWN = 20


def verdict_text(verdict: Verdict, options: Sequence[str] | None = (), to_accept: str = TO_ACCEPT) -> str:
    """Every law lost and how to see it, every law gained, what else changed; the verdict and its reasons at the end.

    Two lines where nothing did. options: those of the commands that show one question, as `to_see` takes them;
    to_accept: the command that records what was measured as the baseline.
    """
    return "\n".join(map(one_line, [*_found(verdict, options), *conclusion(verdict, to_accept)]))


def _found(verdict: Verdict, options: Sequence[str] | None) -> Iterable[str]:
    if verdict.status == NOT_COMPARABLE:
        return
    yield from flip_lines("lost", verdict.lost, options)
    yield from flip_lines("gained", verdict.gained, options)
    if verdict.louder:
        yield f"more laws near what no law answers: {counted(len(verdict.louder), 'pair')}"
        for each in verdict.louder:
            yield f"  {named(each.outcome)}: {each.before} before, {each.outcome.near_laws} now: {each.outcome.text}"
    if len(verdict.comparison.vanished) > NAMED:
        yield f"no longer asked: {counted(len(verdict.comparison.vanished), 'pair')}"
        yield from (f"  {named(outcome)}" for outcome in verdict.comparison.vanished)
    if verdict.still_lost:
        yield f"lost before and accepted: {counted_losses(verdict.still_lost)}"
        for loss, stages in accepted(verdict.still_lost).items():
            by = " and ".join(stages)
            yield f"  {loss.question} ({loss.state}): {' or '.join(loss.expected)}, by {by}: {loss.why}"
    if verdict.margins:
        yield f"shrinking margins, they still arrive: {len(verdict.margins)}"
        for margin in verdict.margins[:MARGINS_SHOWN]:
            yield f"  {named(margin.outcome)}: {' or '.join(margin.group.laws)}, {margin.what}"
        yield from _more(len(verdict.margins) - MARGINS_SHOWN)
    yield from dropped_lines(verdict.comparison)
    yield judged(verdict)
    yield from (mean_line(verdict.comparison, change) for change in moved_means(verdict.comparison))
    yield from searches_lines(verdict)


def conclusion(verdict: Verdict, to_accept: str = TO_ACCEPT) -> list[str]:
    """The verdict, its reasons, and how to go on."""
    lines = [f"gate: {WORDS[verdict.status]}", *(f"  {reason}" for reason in verdict.reasons)]
    if verdict.acceptable:
        lines.append(f"  to accept what was lost, each law by name in the baseline: {to_accept}")
    elif verdict.status == PASSED and verdict.gained:
        lines.append(f"  to hold what was gained from now on: {to_accept}")
    return lines


def named(outcome: Outcome) -> str:
    """A pair as messages name it."""
    return f"{outcome.question} ({outcome.state})"


def accepted(losses: Iterable[AcceptedLoss]) -> Mapping[AcceptedLoss, list[str]]:
    """Accepted losses, each group and reason once, with the stages that lost it, in the pipeline's order."""
    found: dict[AcceptedLoss, list[str]] = {}
    for loss in sorted(losses, key=lambda each: JUDGED.index(each.stage)):
        found.setdefault(loss.model_copy(update={"stage": ""}), []).append(loss.stage)
    return dict(sorted(found.items(), key=lambda each: (each[0].question, each[0].state, each[0].expected)))


def counted_losses(losses: Iterable[AcceptedLoss]) -> str:
    """How many expected laws they are, whatever the stages that lost them."""
    return counted(len({(each.question, each.state, frozenset(each.expected)) for each in losses}), "expected law")


def flip_lines(word: str, flips: Sequence[Flip], options: Sequence[str] | None = ()) -> Iterable[str]:
    """Flips by name, none left out: where the group was and is, and the command that shows its question."""
    if flips:
        yield f"{word}: {counted(len(flips), 'expected law')}"
    for flip in flips:
        edited = "" if flip.still_expected else ", not expected any more"
        by = " and ".join(flip.stages)
        yield f"  {named(flip.after)}: {' or '.join(flip.was.laws)}{edited}, by {by}: {moved(flip)}"
        yield f"    {to_see(flip.after, options)}"


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
    """How much both sides hold, what differs between them, and the means where they are the same."""
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
    means = [change for change in comparison.changes if change.by == "all"]
    if means and not moved_means(comparison):
        said.append(f"mean recall as before: {', '.join(f'{each.stage} {each.after:.4f}' for each in means)}")
    return "; ".join(said)


def moved_means(comparison: Comparison) -> list[Change]:
    """The means of all stages over all pairs where one of them lost or gained a law; none where all stay as they were.

    None, too, where nothing was compared.
    """
    means = [change for change in comparison.changes if change.by == "all"]
    return means if any(change.lost or change.gained for change in means) else []


def mean_line(comparison: Comparison, change: Change) -> str:
    """A stage's mean recall on both sides and how sure its change is."""
    return (
        f"mean recall of the {change.stage}: {change.before:.4f} → {change.after:.4f}"
        f" over {counted(change.pairs, 'pair')} of {counted(change.needs, 'need')};"
        f" {certainty(comparison, change.stage)}"
    )


def searches_lines(verdict: Verdict) -> Iterable[str]:
    """Mean recall of the searches before the pool, which decide nothing; no line where none moved."""

    def shown(value: float | None) -> str:
        return "none" if value is None else f"{value:.4f}"

    each = [(stage, shown(before), shown(now)) for stage, (before, now) in verdict.searches.items()]
    said = [f"{stage} {before} → {now}" for stage, before, now in each if before != now]
    if said:
        yield f"not judged: mean recall before the pool, each side over its own pairs: {', '.join(said)}"


def certainty(comparison: Comparison, stage: str) -> str:
    """How sure the change of a mean is, in words. It decides nothing."""
    test = comparison.paired(stage)
    if test is None or test.difference == 0:
        return "no change"
    if test.p > 0.05:
        return f"p = {test.p:.2f}, not to be told from chance"
    return f"p = {test.p:.4f}, more than chance"


def recorded_text(
    summary: Summary, comparison: Comparison | None, folder: Path, options: Sequence[str] | None = ()
) -> str:
    """What a new baseline holds, and what it lets go against the one before. options: as `to_see` takes them."""
    lines: list[str] = []
    if comparison is not None:
        for word, flips in (
            ("lost, and accepted", comparison.lost),
            ("gained, and held from now on", comparison.gained),
        ):
            lines += flip_lines(word, [flip for flip in flips if flip.judged], options)
        lines += dropped_lines(comparison)
        if comparison.vanished:
            lines.append(f"no longer asked: {counted(len(comparison.vanished), 'pair')}")
            lines += [f"  {named(outcome)}" for outcome in comparison.vanished]
    overall = summary.recall["all"]
    lines.append(f"baseline recorded in {folder}: {counted(summary.pairs, 'pair')}; {summary.why}")
    lines += [f"  mean recall of the {stage}: {_shown(overall[stage])}" for stage in JUDGED]
    lines.append(f"  lost and accepted, by now: {counted_losses(summary.accepted_losses)}")
    return "\n".join(map(one_line, lines))


def _shown(value: float | None) -> str:
    return "none, nothing is expected" if value is None else f"{value:.4f}"
