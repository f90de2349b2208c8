"""What one side or two were measured with, and what their page says first, a sentence each. Draws nothing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evals.compare import Comparison
from evals.counted import counted
from evals.outcomes import JUDGED, Outcome, Side
from evals.report.pages import recalls
from evals.report.pages.details import Shown
from evals.report.verdicts.verdict import certainty
from evals.stages import STAGES


@dataclass(frozen=True)
class Fact:
    """What one or two sides were measured with: a name, each side's value, whether they differ."""

    name: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether the sides have different values."""
        return len(set(self.values)) > 1


def facts_of(sides: Sequence[Shown]) -> Iterable[Fact]:
    """What was asked of each side, which stages it has, its settings and its fingerprints."""
    yield Fact("Run", tuple(each.name for each in sides))
    yield Fact("Asked", tuple(_asked(each.side.outcomes.values()) for each in sides))
    yield Fact("Stages", tuple(", ".join(stage for stage in STAGES if stage in each.stages) for each in sides))
    settings = [dict(_flat(each.side.settings)) for each in sides]
    for name in dict.fromkeys(name for each in settings for name in each):
        yield Fact(name, tuple(each.get(name, "") for each in settings))
    for name in dict.fromkeys(name for each in sides for name in each.side.fingerprints):
        what = name if name == "model" else f"fingerprint of {name}"
        yield Fact(what, tuple(each.side.fingerprints.get(name, "") for each in sides))


def _asked(outcomes: Iterable[Outcome]) -> str:
    """How much was asked, in one line."""
    every = list(outcomes)
    questions, needs = len({each.question for each in every}), len({each.need for each in every})
    states = ", ".join(sorted({each.state for each in every}))
    return (
        f"{counted(questions, 'question')} of {counted(needs, 'need')} in {states}:"
        f" {counted(len(every), 'pair')}, {sum(bool(each.groups) for each in every):,} of which expect a law"
    )


def _flat(settings: Mapping[str, object], within: str = "") -> Iterable[tuple[str, str]]:
    """Each setting as text; of a setting by model, each model's."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name} of ")
        else:
            yield f"{within}{name}", str(value)


def compared(
    before: Side,
    after: Side,
    comparison: Comparison,
    rows: Sequence[recalls.Row[recalls.Difference]],
    gate: Sequence[str],
) -> Iterable[tuple[str, str]]:
    """Two sides, each sentence under a title; empty where there is nothing to say. gate: its verdict, in lines."""
    stages = deciding(comparison.stages)
    yield "Flipped", _flips_said(comparison, stages)
    means = {stage: row.cells[comparison.stages.index(stage)] for row in rows if row.by == "all" for stage in stages}
    yield (
        "Recall",
        "; ".join(
            f"{stage} {cell.before:.3f} → {cell.after:.3f} ({certainty(comparison, stage)})"
            for stage, cell in means.items()
        ),
    )
    yield "Lost most", "; ".join(filter(None, (_most(comparison, stages, by) for by in ("kind", "state"))))
    yield "Cosines", _models_differ(before, after)
    yield "Bands before", before.bands
    yield "Bands now", after.bands if after.bands != before.bands else ""
    yield "Only one side", _only_said(comparison)
    yield "Gate", "; ".join(line.strip().removeprefix("gate: ") for line in gate)


def deciding(stages: Sequence[str]) -> list[str]:
    """The stages that decide, of those that there are: pool and answer, else the last."""
    return [stage for stage in stages if stage in JUDGED] or list(stages[-1:])


def _flips_said(comparison: Comparison, stages: Sequence[str]) -> str:
    if not stages:
        return "Nothing can be compared: no pair that both sides hold expects a law."
    said = []
    for stage in stages:
        lost, gained = (sum(stage in flip.stages for flip in flips) for flips in (comparison.lost, comparison.gained))
        said.append(f"the {stage} loses {_laws(lost)} and gains {_laws(gained)}")
    text = "; ".join(said)
    return f"Of {counted(comparison.groups, 'expected law')} in both, {text}."


def _laws(count: int) -> str:
    return f"{count:,}" if count else "none"


def _most(comparison: Comparison, stages: Sequence[str], by: str) -> str:
    """Which kind or state loses most of its expected laws by the stages that decide."""
    counts: dict[str, int] = {}
    for flip in comparison.lost:
        if set(stages) & set(flip.stages):
            group = str(getattr(flip.after, by))
            counts[group] = counts.get(group, 0) + 1
    if not counts:
        return ""
    worst = max(sorted(counts), key=lambda each: counts[each])
    return f"{counts[worst]:,} of {sum(counts.values()):,} lost laws are of the {by} {worst}"


def _models_differ(before: Side, after: Side) -> str:
    one, other = (side.fingerprints.get("model") for side in (before, after))
    if one == other:
        return ""
    return (
        "The two sides have different models, and a cosine of one means nothing beside a cosine of the other: each has"
        " an axis and a cutoff of its own."
    )


def _only_said(comparison: Comparison) -> str:
    said = []
    if comparison.vanished:
        said.append(f"{counted(len(comparison.vanished), 'pair')} asked only before")
    if comparison.new:
        said.append(f"{counted(len(comparison.new), 'pair')} asked only now")
    if comparison.dropped:
        said.append(f"{counted(len(comparison.dropped), 'expected law')} not expected any more, judged as before")
    if comparison.added:
        said.append(f"{counted(comparison.added, 'expected law')} expected only now, not judged")
    return f"{'; '.join(said)}." if said else ""


def measured(side: Side, stages: Sequence[str], rows: Sequence[recalls.Row[recalls.Sure]]) -> Iterable[tuple[str, str]]:
    """One side, in the same way."""
    every = next((row for row in rows if row.by == "all"), None)
    if every is None:
        yield "Recall", "No pair expects a law: there is no recall."
    else:
        sure, last = every.cells[-1], stages[-1]
        groups = [group for each in side.outcomes.values() for group in each.groups]
        lost = sum(not group.reached[last] for group in groups)
        yield (
            "Recall",
            f"The {last} reaches {len(groups) - lost:,} of {counted(len(groups), 'expected law')}: recall"
            f" {_between(sure)} over {counted(every.pairs, 'pair')} of {counted(every.needs, 'need')}.",
        )
        worst = (_worst(rows, by, noun) for by, noun in (("state", "state"), ("kind", "kind of question")))
        yield "Worst", "; ".join(filter(None, worst))
    yield "Bands", side.bands


def _worst(rows: Sequence[recalls.Row[recalls.Sure]], by: str, noun: str) -> str:
    part = recalls.of(rows, by)
    if len(part) < 2:
        return ""
    worst = min(part, key=lambda row: (row.cells[-1].recall, row.group))
    return f"{worst.group} is the worst {noun}, recall {_between(worst.cells[-1])}"


def _between(sure: recalls.Sure) -> str:
    return f"{sure.recall:.3f} ({sure.low:.3f} to {sure.high:.3f})"
