"""The verdict: what arrived before and does not now fails the gate, each law by name. Decides nothing by a mean.

Judged are the pool and the answer; the searches before them are somebody's to look at. Status 0: passed. 1: failed.
3: not comparable, because another model was measured or nothing is left in common.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evals.baseline import AcceptedLoss, Baseline, expect_nothing_total, still_lost
from evals.compare import Comparison, Flip, compare
from evals.outcomes import JUDGED, Group, Key, Outcome

PASSED, FAILED, NOT_COMPARABLE = 0, 1, 3
EDGE_COSINE = 0.005
EDGE_PLACES = 2


@dataclass(frozen=True)
class Margin:
    """A group that still arrives and moved close to an edge since the baseline."""

    outcome: Outcome
    group: Group
    what: str


@dataclass(frozen=True)
class Verdict:
    """What the gate found. `reasons` are the sentences it fails for; `lost` are the losses that nobody accepted."""

    status: int
    reasons: tuple[str, ...]
    lost: tuple[Flip, ...]
    accepted: tuple[AcceptedLoss, ...]
    margins: tuple[Margin, ...]
    comparison: Comparison
    same: Mapping[str, bool]

    @property
    def passed(self) -> bool:
        """Whether the change may go in."""
        return self.status == PASSED


def judge(
    baseline: Baseline,
    after: Mapping[Key, Outcome],
    fingerprints: Mapping[str, str],
    cutoff: float,
    pool_laws: int,
) -> Verdict:
    """A run against the baseline. `cutoff` and `pool_laws` are those in force, for the margins."""
    comparison = compare(baseline.outcomes, after)
    same = {name: baseline.summary.fingerprints.get(name) == value for name, value in fingerprints.items()}
    accepted = still_lost(baseline, after)
    pardoned = {(each.question, each.state, each.expected, each.stage) for each in accepted}
    lost = tuple(flip for flip in comparison.lost if flip.stage in JUDGED and (*flip.name, flip.stage) not in pardoned)
    margins = tuple(_margins(comparison, cutoff, pool_laws))
    if not same.get("model", False):
        reasons: tuple[str, ...] = (
            f"another model was measured: {fingerprints['model']}, and the baseline is of {baseline.summary.model};"
            " record a baseline of the new one",
        )
        return Verdict(NOT_COMPARABLE, reasons, (), tuple(accepted), (), comparison, same)
    if not comparison.common:
        reasons = ("no question of the baseline is left: there is nothing in common to judge",)
        return Verdict(NOT_COMPARABLE, reasons, (), tuple(accepted), (), comparison, same)
    reasons = tuple(_reasons(lost, comparison, after))
    return Verdict(FAILED if reasons else PASSED, reasons, lost, tuple(accepted), margins, comparison, same)


def _reasons(lost: tuple[Flip, ...], comparison: Comparison, after: Mapping[Key, Outcome]) -> Iterable[str]:
    for stage in JUDGED:
        count = sum(flip.stage == stage for flip in lost)
        if count:
            yield f"{count} expected {'law' if count == 1 else 'laws'} no longer reached by the {stage}"
    before = expect_nothing_total({old.key: old for old, _ in comparison.common})
    now = expect_nothing_total({new.key: new for _, new in comparison.common})
    if now > before:
        yield f"the near search returns {now} laws to questions that no law answers, and {before} before"
    yield from _vanished(comparison, after)
    fallbacks = sum(each.fell_back for each in after.values())
    if fallbacks:
        yield f"the reranker fell back for {fallbacks} of {len(after)} questions; none is allowed"


def _vanished(comparison: Comparison, after: Mapping[Key, Outcome]) -> Iterable[str]:
    if not comparison.vanished:
        return
    states = {each.state for each in comparison.vanished} - {each.state for each in after.values()}
    kinds = {each.kind for each in comparison.vanished} - {each.kind for each in after.values()}
    if states:
        yield f"no question is asked any more in {', '.join(sorted(states))}"
    if kinds:
        yield f"no question of the kind {', '.join(sorted(kinds))} is asked any more"
    names = [f"{each.question} ({each.state})" for each in comparison.vanished]
    shown = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    yield f"{len(names)} pairs of question and state vanished: {shown}"


def _margins(comparison: Comparison, cutoff: float, pool_laws: int) -> Iterable[Margin]:
    for before, after in comparison.common:
        earlier = {frozenset(group.laws): group for group in before.groups}
        for group in after.groups:
            was = earlier.get(frozenset(group.laws))
            if was is None or not group.reached["pool"]:
                continue
            if _near_cutoff(group.cosine, cutoff) and not _near_cutoff(was.cosine, cutoff):
                yield Margin(after, group, f"cosine {group.cosine:.3f}, cutoff {cutoff:g}")
            if _near_end(group.place, pool_laws) and not _near_end(was.place, pool_laws):
                yield Margin(
                    after, group, f"{group.place} of {pool_laws} in the pool, {was.place or 'not in it'} before"
                )


def _near_cutoff(cosine: float | None, cutoff: float) -> bool:
    return cosine is not None and cutoff <= cosine < cutoff + EDGE_COSINE


def _near_end(place: int | None, pool_laws: int) -> bool:
    return place is not None and pool_laws - EDGE_PLACES < place <= pool_laws
