"""The verdict: what arrived before and does not now fails the gate, each law by name. Decides nothing by a mean.

Judged are the pool and the answer; the searches before them are shown. Status 0: passed. 1: failed. 3: not
comparable, because another model was measured or nothing is left in common.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evals.baseline import DIGITS, NOTHING, AcceptedLoss, Baseline, searches, still_lost
from evals.compare import Comparison, Flip, compare
from evals.counted import by_cause, counted
from evals.outcomes import JUDGED, Group, Outcome, Side

PASSED, FAILED, NOT_COMPARABLE = 0, 1, 3
EDGE_COSINE = 0.005
EDGE_PLACES = 2
NAMED = 10


@dataclass(frozen=True)
class Margin:
    """A group that still arrives and moved close to an edge since the baseline."""

    outcome: Outcome
    group: Group
    what: str


@dataclass(frozen=True)
class Louder:
    """A pair that no law answers, to which the near search returns more laws than before."""

    outcome: Outcome
    before: int


@dataclass(frozen=True)
class Verdict:
    """What the gate found. `reasons` are the sentences it fails for; the rest names what they count.

    lost and gained: by the pool and the answer. louder: only where those of a state got more laws together.
    still_lost: losses accepted before. fallbacks: pairs whose reranker gave no answer; unrephrased: pairs whose
    rephraser's answer could not be used. searches: mean recall of the stages before the pool, before and now, each
    over its own pairs; shown, not judged. same: for each fingerprint whether it is the baseline's.
    """

    status: int
    reasons: tuple[str, ...]
    lost: tuple[Flip, ...]
    gained: tuple[Flip, ...]
    louder: tuple[Louder, ...]
    margins: tuple[Margin, ...]
    still_lost: tuple[AcceptedLoss, ...]
    fallbacks: int
    unrephrased: int
    searches: Mapping[str, tuple[float | None, float | None]]
    comparison: Comparison
    same: Mapping[str, bool]

    @property
    def passed(self) -> bool:
        """Whether the change may go in."""
        return self.status == PASSED

    @property
    def acceptable(self) -> bool:
        """Whether a new baseline would let it in: a reranker or rephraser that fails is never accepted."""
        return self.status == FAILED and len(self.reasons) > bool(self.fallbacks) + bool(self.unrephrased)


def judge(baseline: Baseline, after: Side) -> Verdict:
    """A side that was measured now against the baseline.

    What both hold is judged, by what the baseline expected. Questions, laws or settings that differ make nothing
    incomparable: another model does, and a set that shares no question with the baseline.
    """
    comparison = compare(baseline.outcomes, after.outcomes)
    then = baseline.summary.fingerprints
    verdict = Verdict(
        status=PASSED,
        reasons=(),
        lost=tuple(_of_judged(comparison.lost)),
        gained=tuple(_of_judged(comparison.gained)),
        louder=tuple(_louder(comparison)),
        margins=tuple(_margins(comparison, baseline.summary.cutoff, after.cutoff)),
        still_lost=tuple(still_lost(baseline, after.outcomes)),
        fallbacks=sum(each.fell_back for each in after.outcomes.values()),
        unrephrased=sum(each.unrephrased for each in after.outcomes.values()),
        searches={stage: (baseline.summary.searches[stage], now) for stage, now in searches(after.outcomes).items()},
        comparison=comparison,
        same={name: then.get(name) == value for name, value in after.fingerprints.items()},
    )
    incomparable = tuple(_incomparable(then["model"], after.fingerprints["model"], comparison))
    if incomparable:
        return replace(verdict, status=NOT_COMPARABLE, reasons=incomparable)
    reasons = tuple(_reasons(verdict, baseline, after))
    return replace(verdict, status=FAILED if reasons else PASSED, reasons=reasons)


def _of_judged(flips: Iterable[Flip]) -> Iterable[Flip]:
    return (replace(flip, stages=flip.judged) for flip in flips if flip.judged)


def _incomparable(before: str, now: str, comparison: Comparison) -> Iterable[str]:
    if before != now:
        yield f"another model was measured: {now}, and the baseline is of {before}; record a baseline of the new one"
    elif gone := [stage for stage in JUDGED if _judges(comparison, stage)]:
        yield f"the baseline judges the {' and the '.join(gone)}, and the run measured now does not hold it"
    elif not comparison.pairings:
        yield "no question of the baseline is asked any more: there is nothing in common to judge"


def _judges(comparison: Comparison, stage: str) -> bool:
    """Whether a stage is known of what was, and not of what is now."""
    both = (pair for pairing in comparison.pairings for pair in pairing.groups)
    return any(stage in was.reached and stage not in now.reached for was, now in both)


def _reasons(verdict: Verdict, baseline: Baseline, after: Side) -> Iterable[str]:
    for stage in JUDGED:
        count = sum(stage in flip.stages for flip in verdict.lost)
        if count:
            yield f"{counted(count, 'expected law')} no longer reached by the {stage}"
    if verdict.louder:
        before = sum(each.before for each in verdict.louder)
        now = counted(sum(each.outcome.near_laws for each in verdict.louder), "law")
        pairs = counted(len(verdict.louder), "pair")
        yield f"the near search returns {now} for {pairs} that no law answers, and {before} before"
    yield from _vanished(verdict.comparison.vanished, baseline, after)
    every = after.outcomes.values()
    if verdict.fallbacks:
        said = _causes([each.outcome for each in every if each.fell_back], len(every))
        yield f"the reranker fell back for {said}"
    if verdict.unrephrased:
        said = _causes([each.rephrase for each in every if each.unrephrased], len(every))
        yield f"the rephraser's answer could not be used for {said}"


def _causes(causes: Sequence[str], pairs: int) -> str:
    """How many of so many pairs failed, and for which causes."""
    return f"{len(causes)} of {counted(pairs, 'pair')} ({by_cause(causes)}); none is allowed"


def _vanished(vanished: tuple[Outcome, ...], baseline: Baseline, after: Side) -> Iterable[str]:
    for what in ("state", "kind"):
        gone = {getattr(each, what) for each in baseline.outcomes.values()}
        gone -= {getattr(each, what) for each in after.outcomes.values()}
        if gone:
            yield f"no question of the {what} {', '.join(sorted(gone))} is asked any more"
    if vanished:
        names = [f"{each.question} ({each.state})" for each in vanished]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield f"{counted(len(names), 'pair')} no longer asked: {', '.join(names[:NAMED])}{more}"


def _louder(comparison: Comparison) -> Iterable[Louder]:
    """The pairs that got more laws, of those groups (what they are, and where) that got more together."""
    groups: dict[tuple[str, str], list[Louder]] = {}
    for pairing in comparison.pairings:
        before, now = pairing.before, pairing.after
        if before.expects in NOTHING and now.expects in NOTHING:
            groups.setdefault((now.expects, now.state), []).append(Louder(now, before.near_laws))
    for _, each in sorted(groups.items()):
        if sum(one.outcome.near_laws - one.before for one in each) > 0:
            yield from (one for one in each if one.outcome.near_laws > one.before)


def _margins(comparison: Comparison, cutoff_before: float, cutoff: float) -> Iterable[Margin]:
    for pairing in comparison.pairings:
        for was, now in pairing.groups:
            if not (was.reached.get("pool") and now.reached.get("pool")):
                continue
            above, above_before = _above(now.cosine, cutoff), _above(was.cosine, cutoff_before)
            if above is not None and above_before is not None and 0 <= above < EDGE_COSINE <= above_before:
                what = f"cosine {now.cosine:.4f}, {above:.4f} above the cutoff, {above_before:.4f} before"
                yield Margin(pairing.after, now, what)
            left, left_before = _left(now, pairing.after), _left(was, pairing.before)
            if left is not None and left_before is not None and 0 <= left < EDGE_PLACES <= left_before:
                before = f"{was.place} of {pairing.before.pool_laws} before"
                yield Margin(pairing.after, now, f"{now.place} of {pairing.after.pool_laws} in the pool, {before}")


def _above(cosine: float | None, cutoff: float) -> float | None:
    """How far a cosine lies above the cutoff, to the digits that a baseline keeps; below 0 where it is cut."""
    if cosine is None:
        return None
    return round(cosine, DIGITS) - cutoff if cosine >= cutoff else cosine - cutoff


def _left(group: Group, outcome: Outcome) -> int | None:
    """How many places of the pool come after a group's; below 0 for page rows that stand beside it."""
    return None if group.place is None else outcome.pool_laws - group.place
