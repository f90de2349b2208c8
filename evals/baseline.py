"""The baseline: what held when it was recorded, its means, and the losses accepted on the way.

`baseline_files` writes and reads it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from evals.compare import Flip, compare
from evals.metrics import mean
from evals.outcomes import JUDGED, Fingerprints, Outcome, Side, recalls
from evals.questions import Key
from evals.stages import STAGES

FORMAT = 1
DIGITS = 4  # of a cosine
NOTHING = ("unrelated", "uncovered")
SEARCHES = tuple(stage for stage in STAGES if stage not in JUDGED)

Recall = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class AcceptedLoss(BaseModel):
    """A group that a stage stopped reaching and that was let go, with the reason; it stays until it is won back."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    question: str
    state: str
    expected: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    stage: Annotated[str, Field(pattern=f"^({'|'.join(JUDGED)})$")]
    why: str

    @property
    def name(self) -> tuple[str, str, frozenset[str], str]:
        """What makes it the same loss."""
        return self.question, self.state, frozenset(self.expected), self.stage


class Summary(BaseModel):
    """What baseline.json holds.

    recall: the mean over pairs, by group and stage; null where nothing is expected. searches: that of the stages
    before the pool over all pairs, which are shown and not judged; null where nobody kept it.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    format: int
    why: Annotated[str, Field(min_length=1)]
    date: str
    fingerprints: Fingerprints
    settings: dict[str, Any]
    cutoff: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
    pairs: Annotated[int, Field(ge=1)]
    recall: dict[str, dict[str, Recall | None]]
    searches: dict[str, Recall | None] = Field(default_factory=lambda: dict.fromkeys(SEARCHES))
    near_laws_of_expect_nothing: dict[str, Count]
    accepted_losses: list[AcceptedLoss]

    @field_validator("searches")
    @classmethod
    def _names_the_searches(cls, value: dict[str, float | None]) -> dict[str, float | None]:
        if set(value) != set(SEARCHES):
            raise ValueError(f"expected {', '.join(SEARCHES)}")
        return value


@dataclass(frozen=True)
class Baseline:
    """A baseline as the gate reads it. Its outcomes hold no stage but the pool and the answer, and no texts."""

    summary: Summary
    outcomes: Mapping[Key, Outcome]

    def only(self, states: Iterable[str]) -> "Baseline":
        """What it holds for some states; the summary stays that of all."""
        wanted = set(states)
        return replace(self, outcomes={key: each for key, each in self.outcomes.items() if each.state in wanted})


def expect_nothing(side: Iterable[Outcome]) -> dict[str, int]:
    """How many laws the near search returned to questions that no law answers, by what they are."""
    found = dict.fromkeys(NOTHING, 0)
    for each in side:
        if each.expects in found:
            found[each.expects] += each.near_laws
    return found


_Measured = tuple[int, dict[str, dict[str, float | None]], dict[str, int]]


def measured(outcomes: Mapping[Key, Outcome]) -> _Measured:
    """The number of pairs, their mean recall by group and stage, and the near laws of those that expect nothing."""
    parts: dict[str, list[Outcome]] = {"all": list(outcomes.values())}
    for each in outcomes.values():
        for by in ("kind", "state", "language"):
            parts.setdefault(f"{by} {getattr(each, by)}", []).append(each)
    recall = {name: {stage: _rounded(mean(recalls(parts[name], stage))) for stage in JUDGED} for name in sorted(parts)}
    return len(outcomes), recall, expect_nothing(outcomes.values())


def searches(outcomes: Mapping[Key, Outcome]) -> dict[str, float | None]:
    """The mean recall of the stages before the pool, over all pairs that expect something."""
    return {stage: _rounded(mean(recalls(outcomes.values(), stage))) for stage in SEARCHES}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def new_summary(side: Side, before: Baseline | None, why: str, date: str) -> Summary:
    """The summary of a new baseline. Losses against the one before are accepted with `why`; those won are dropped."""
    pairs, recall, nothing = measured(side.outcomes)
    return Summary(
        format=FORMAT,
        why=why,
        date=date,
        fingerprints=dict(side.fingerprints),
        settings=dict(side.settings),
        cutoff=side.cutoff,
        pairs=pairs,
        recall=recall,
        searches=searches(side.outcomes),
        near_laws_of_expect_nothing=nothing,
        accepted_losses=[] if before is None else _accepted(before, side.outcomes, why),
    )


def _accepted(before: Baseline, outcomes: Mapping[Key, Outcome], why: str) -> list[AcceptedLoss]:
    """Those of the baseline before that are still lost, with their reason, and the new ones that are still expected."""
    lost = compare(before.outcomes, outcomes).lost
    new = [each for flip in lost if flip.still_expected for each in _losses(flip, why)]
    found = {each.name: each for each in [*new, *still_lost(before, outcomes)]}
    return sorted(found.values(), key=lambda each: (each.question, each.state, each.expected, each.stage))


def _losses(flip: Flip, why: str) -> Iterable[AcceptedLoss]:
    question, state = flip.after.key
    for stage in flip.judged:
        yield AcceptedLoss(question=question, state=state, expected=flip.now.laws, stage=stage, why=why)


def still_lost(baseline: Baseline, outcomes: Mapping[Key, Outcome]) -> list[AcceptedLoss]:
    """The accepted losses that are not over: the group is expected and does not arrive."""
    return [each for each in baseline.summary.accepted_losses if _is_lost(each, outcomes)]


def _is_lost(loss: AcceptedLoss, outcomes: Mapping[Key, Outcome]) -> bool:
    outcome = outcomes.get((loss.question, loss.state))
    groups = outcome.groups if outcome else ()
    return any(set(group.laws) == set(loss.expected) and not group.reached.get(loss.stage, True) for group in groups)
