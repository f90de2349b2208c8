"""Sides of a comparison for tests: runs over the small world, and outcomes made by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evals.baseline import DIGITS, Baseline, new_summary
from evals.outcomes import JUDGED, Group, Outcome, Side
from evals.questions import Key, Pair
from evals.run import Run, evaluate
from evals.stages import STAGES
from tests import fakes

MODEL = "fake (1)"
SETTINGS: Mapping[str, object] = {"embedder": "fake", "near_enough": {"fake": 0.3}}


def pair(name: str, state: str, text: str, *expected: str | tuple[str, ...], **changes: object) -> Pair:
    """A pair that expects these laws or groups of laws; one that expects none is unrelated."""
    need, _, ask = name.partition("/")
    fields: dict[str, object] = {
        "text": text,
        "topic": "parking",
        "expected": tuple((group,) if isinstance(group, str) else group for group in expected),
        "unrelated": None if expected else "lexical",
        "file": "questions/parking.yaml",
        "line": 7,
    }
    return fakes.pair(need, ask, state, **{**fields, **changes})


PAIRS = [
    pair("hydrant/plain", "AL", "how close to a hydrant may i park", "AL-1"),
    pair("hydrant/plain", "MD", "how close to a hydrant may i park", "MD-1"),
    pair("hydrant/spanish", "MD", "¿un hidrante?", "MD-1", kind="spanish", lang="es", line=8),
    pair("cross/plain", "MD", "who goes first in a crosswalk", ("MD-2", "MD-3"), line=12),
    pair("moon/speed", "AL", "the speed limit on the moon", line=20),
    pair("moon/speed", "MD", "the speed limit on the moon", line=20),
]


def run(pairs: Sequence[Pair] = PAIRS, model: str = MODEL, **settings: object) -> Run:
    """The pipeline over the small world."""
    corpus = {state: fakes.CORPUS[state] for state in sorted({each.state for each in pairs})}
    return evaluate(fakes.settings(**settings), corpus, pairs, fakes.embed, model, pools=True)


def outcome(
    name: str = "hydrant/plain",
    state: str = "MD",
    expected: Sequence[str | tuple[str, ...]] = ("MD-1",),
    pool: Sequence[str] = ("MD-1",),
    answer: Sequence[str] | None = None,
    cosine: float | None = 0.9,
    near_laws: int = 0,
    **changes: object,
) -> Outcome:
    """An outcome by hand: these ids in the pool, and in every other stage those of the answer (the pool's first)."""
    answer = pool if answer is None else answer
    stages = {stage: tuple(pool if stage == "pool" else answer) for stage in STAGES}
    groups = tuple((group,) if isinstance(group, str) else group for group in expected)
    made = Outcome(
        question=name,
        state=state,
        kind="plain",
        language="en",
        expects="answerable" if groups else "unrelated",
        groups=tuple(
            Group(
                laws=laws,
                reached={stage: not set(laws).isdisjoint(stages[stage]) for stage in STAGES},
                place=min((at for at, law in enumerate(pool, 1) if law in laws), default=None),
                cosine=cosine,
            )
            for laws in groups
        ),
        near_laws=near_laws,
        pool_laws=24,
        stages=stages,
        text=f"the text of {name}",
        file="questions/parking.yaml",
        line=7,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def by_key(*outcomes: Outcome) -> dict[Key, Outcome]:
    """Outcomes by question and state, in that order."""
    return {each.key: each for each in sorted(outcomes, key=lambda each: each.key)}


def side(*outcomes: Outcome, model: str = MODEL, cutoff: float = 0.3, **fingerprints: str) -> Side:
    """A side of these outcomes."""
    prints = {"laws": "l", "questions": "q", "settings": "s", "model": model, **fingerprints}
    return Side(by_key(*outcomes), SETTINGS, prints, cutoff)


def baseline(recorded: Side, before: Baseline | None = None, why: str = "because") -> Baseline:
    """A side as a baseline, recorded after another one; it keeps what the files keep."""
    outcomes = {key: replace(each, stages={}, text="") for key, each in recorded.outcomes.items()}
    for key, each in outcomes.items():
        groups = tuple(
            replace(
                group,
                reached={stage: group.reached[stage] for stage in JUDGED},
                cosine=None if group.cosine is None else round(group.cosine, DIGITS),
            )
            for group in each.groups
        )
        outcomes[key] = replace(each, groups=groups)
    return Baseline(new_summary(recorded, before, why, "2026-11-29"), outcomes)
