"""What each pair got, in the form in which two sides are compared: expected groups, where they arrived, how narrowly.

A side is a run, the folder of a run's report, or a baseline; two sides may come from different sources. Nothing is
judged here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from evals.judged import first_place
from evals.questions import Key
from evals.run import Measured, Run
from evals.stages import STAGES
from retrieval.documents import parse_json, read_json_lines, read_text
from retrieval.errors import Fault, InputError, as_found, named
from retrieval.pipeline import Ranking

FORMAT = 1  # of the folder of a report
JUDGED = ("pool", "answer")

# How an answer may be chosen where a reranker answered.
ANSWERED = ("ranked", "none named")

# And without one having failed; every other outcome is a fallback's cause.
CHOSEN = ("off", "empty pool", *ANSWERED)

# How the searches may have come; everything else is the cause for which the rephraser's answer could not be used.
REPHRASED = ("off", "written", "rephrased")

LARGEST_COSINE = 1.01  # of one that was rounded and is read back
RoundedCosine = Annotated[float, Field(ge=-LARGEST_COSINE, le=LARGEST_COSINE)]


def _names_the_model(prints: dict[str, str]) -> dict[str, str]:
    if "model" not in prints:
        raise ValueError("expected `model` among them")
    return prints


Fingerprints = Annotated[dict[str, str], AfterValidator(_names_the_model)]


@dataclass(frozen=True)
class Group:
    """An expected group of a pair: whether each stage reached it, its best place in the pool, its best cosine.

    place counts from 1 and is None where the pool lacks it; cosine is None where no law of it has one, or nobody kept
    it.
    """

    laws: tuple[str, ...]
    reached: Mapping[str, bool]
    place: int | None
    cosine: float | None

    @property
    def name(self) -> frozenset[str]:
        """What makes it the same group on both sides, whatever the order of its laws."""
        return frozenset(self.laws)


@dataclass(frozen=True)
class Outcome:
    """A pair's groups, what the stages returned for it, and how many laws the near search returned.

    pool_laws: how many laws the pool was asked for; a baseline keeps it where laws are expected. outcome: how the
    answer was chosen. rephrase: how the searches came, or why the rephraser's could not be used; a baseline does not
    keep it. stages: the ids that each stage returned; a baseline does not keep them. searches and family: what
    was fused beside the question, and the family whose page rows stood beside the laws.
    """

    question: str
    state: str
    kind: str
    language: str
    expects: str
    groups: tuple[Group, ...]
    near_laws: int
    pool_laws: int
    outcome: str = "off"
    rephrase: str = "off"
    stages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    topic: str = ""
    text: str = ""
    searches: tuple[str, ...] = ()
    family: str | None = None
    file: str = ""
    line: int = 0

    @property
    def key(self) -> Key:
        """What makes an outcome the same one on both sides: question and state."""
        return self.question, self.state

    @property
    def need(self) -> str:
        """The need that the question asks."""
        return self.question.split("/", 1)[0]

    @property
    def fell_back(self) -> bool:
        """Whether a reranker was asked and gave no answer."""
        return self.outcome not in CHOSEN

    @property
    def unrephrased(self) -> bool:
        """Whether a rephraser was asked and its answer could not be used."""
        return self.rephrase not in REPHRASED

    def sees(self, group: Group) -> Group | None:
        """What became of a group here, also of one that this side does not expect; None where nobody can tell."""
        own = next((each for each in self.groups if each.name == group.name), None)
        return own or (group_of(group.laws, self.stages, {}) if self.stages else None)


@dataclass(frozen=True)
class Side:
    """One side of a comparison: the outcomes by question and state, in that order, and what they were measured with.

    bands: what the cutoff keeps out and costs, in a sentence; empty where nobody asked.
    """

    outcomes: Mapping[Key, Outcome]
    settings: Mapping[str, Any]
    fingerprints: Mapping[str, str]
    cutoff: float
    bands: str = ""

    @classmethod
    def of(cls, run: Run, bands: str = "") -> Self:
        """The side that a run is."""
        return cls(outcomes(run), run.settings.model_dump(), run.fingerprints, run.settings.cutoff, bands)


def group_of(laws: Sequence[str], stages: Mapping[str, Sequence[str]], cosines: Mapping[str, float]) -> Group:
    """A group of a pair that got these stages' laws; `cosines` are those of its laws that have one, by id."""
    pool, wanted = stages.get("pool", ()), set(laws)
    return Group(
        laws=tuple(laws),
        reached={stage: not wanted.isdisjoint(returned) for stage, returned in stages.items()},
        place=first_place(laws, pool),
        cosine=max((cosines[each] for each in laws if each in cosines), default=None),
    )


def outcomes(run: Run) -> dict[Key, Outcome]:
    """The outcomes of a run by question and state, in that order."""
    found = [_outcome(run, measured) for measured in run.pairs]
    return {each.key: each for each in sorted(found, key=lambda each: each.key)}


def _outcome(run: Run, measured: Measured) -> Outcome:
    pair, trace = measured.pair, measured.trace
    stages = trace.stages()
    searches = tuple(scoring.text for scoring in trace.scorings[1:])
    cosines = _cosines(trace.scorings[0].near, run.positions[pair.state], pair.expected)
    return Outcome(
        question=pair.question,
        state=pair.state,
        kind=pair.kind,
        language=pair.lang,
        expects=pair.expects,
        groups=tuple(group_of(laws, stages, cosines) for laws in pair.expected),
        near_laws=len(trace.near),
        pool_laws=run.settings.pool_laws(len(searches)),
        outcome=trace.outcome,
        rephrase=measured.rephrase,
        stages=stages,
        topic=pair.topic,
        text=pair.text,
        searches=searches,
        family=measured.family if trace.family else None,
        file=pair.file,
        line=pair.line,
    )


def _cosines(near: Ranking, positions: Mapping[str, int], groups: Iterable[Sequence[str]]) -> dict[str, float]:
    """The cosine of each law of the groups, by id, that has one; `positions` are those in the corpus."""
    places = {law: near.place([positions[law]]) for group in groups for law in group}
    return {law: float(near.scores[place - 1]) for law, place in places.items() if place}


class _Row(BaseModel):
    """What is read of a line of per_question.jsonl; the rest is for people."""

    model_config = ConfigDict(strict=True)

    question: Annotated[str, Field(pattern="^[^/]+/[^/]+$")]
    state: str
    text: str
    kind: str
    language: str
    topic: str
    expects: str
    expected: list[Annotated[list[str], Field(min_length=1)]]
    cosines: list[RoundedCosine | None]
    near_laws: Annotated[int, Field(ge=0, alias="near laws")]
    pool_laws: Annotated[int, Field(ge=1, alias="pool laws")]
    searches: list[str]
    family: str | None = None
    stages: dict[str, list[str]]
    outcome: str
    rephrase: str = "off"

    def as_outcome(self) -> Outcome:
        """The line as an outcome; ValueError where its parts do not belong together."""
        if len(self.expected) != len(self.cosines):
            raise ValueError(f"{len(self.expected)} expected groups and {len(self.cosines)} cosines")
        if not self.stages or not set(self.stages) <= set(STAGES):
            raise ValueError(
                f"expected some of the stages {', '.join(STAGES)}, found {', '.join(self.stages) or 'none'}"
            )
        each = zip(self.expected, self.cosines, strict=True)
        return Outcome(
            question=self.question,
            state=self.state,
            kind=self.kind,
            language=self.language,
            expects=self.expects,
            groups=tuple(
                group_of(laws, self.stages, {} if cosine is None else dict.fromkeys(laws, cosine))
                for laws, cosine in each
            ),
            near_laws=self.near_laws,
            pool_laws=self.pool_laws,
            outcome=self.outcome,
            rephrase=self.rephrase,
            stages=self.stages,
            topic=self.topic,
            text=self.text,
            searches=tuple(self.searches),
            family=self.family,
        )


class _RunSummary(BaseModel):
    """What is read of run.json."""

    model_config = ConfigDict(strict=True)

    format: int = FORMAT
    settings: dict[str, Any]
    fingerprints: Fingerprints
    verdict: str


def read_side(folder: Path) -> Side:
    """A run by the folder of its report; InputError with every fault of `run.json` and `per_question.jsonl`."""
    path = folder / "run.json"
    if not path.is_file():
        raise InputError([Fault(str(folder), None, "no report of a run here: `near-enough eval --out` writes one")])
    found = read_outcomes(folder / "per_question.jsonl")
    try:
        run = _RunSummary.model_validate(parse_json(read_text(path)))
        if run.format != FORMAT:
            raise ValueError(f"format {run.format}, and this version reads format {FORMAT}: measure anew")
        cutoff = _cutoff(run.settings)
    except ValueError as error:
        raise InputError([Fault(str(path), None, f"not a run's summary: {first_fault(error)}")]) from None
    return Side(found, run.settings, run.fingerprints, cutoff, run.verdict)


def _cutoff(settings: Mapping[str, Any]) -> float:
    """The cutoff of the embedder in use; ValueError where the settings hold none."""
    embedder, cutoffs = settings.get("embedder"), settings.get("near_enough")
    cutoff: object = cutoffs.get(embedder) if isinstance(cutoffs, dict) and isinstance(embedder, str) else None
    if not isinstance(cutoff, int | float) or isinstance(cutoff, bool) or not -1 <= cutoff <= 1:
        what = f"`settings.near_enough`: expected the cutoff of the embedder, from -1 to 1, found {as_found(cutoff)}"
        raise ValueError(what)
    return float(cutoff)


def read_outcomes(path: Path) -> dict[Key, Outcome]:
    """The outcomes of a run's `per_question.jsonl`, all of the same stages.

    InputError with every line that is none, or where there is none.
    """
    rows, faults = read_json_lines(path)
    found: dict[Key, Outcome] = {}
    stages: tuple[str, ...] = ()
    for line, content in rows:
        try:
            outcome = _Row.model_validate(content).as_outcome()
        except ValueError as error:
            faults.append(Fault(str(path), line, first_fault(error)))
            continue
        if outcome.key in found:
            faults.append(Fault(str(path), line, f"{outcome.question} in {outcome.state} stands here twice"))
        stages = stages or tuple(outcome.stages)
        if set(outcome.stages) != set(stages):
            what = f"expected the stages {', '.join(stages)}, as in the lines before, found {', '.join(outcome.stages)}"
            faults.append(Fault(str(path), line, what))
        found[outcome.key] = outcome
    if not rows and not faults:
        faults.append(Fault(str(path), None, "no outcome of any question here"))
    if faults:
        raise InputError(faults)
    return dict(sorted(found.items()))


def first_fault(error: Exception) -> str:
    """An error in one line: of a validation its first fault, with the name of the field."""
    if isinstance(error, ValidationError):
        each = error.errors()[0]
        return named(".".join(map(str, each["loc"])), dict(each))
    return str(error)


def written(outcome: Outcome) -> dict[str, object]:
    """An outcome as a line of `per_question.jsonl` holds it; `read_outcomes` reads it back."""
    return {
        "question": outcome.question,
        "state": outcome.state,
        "text": outcome.text,
        "kind": outcome.kind,
        "language": outcome.language,
        "topic": outcome.topic,
        "expects": outcome.expects,
        "expected": [list(group.laws) for group in outcome.groups],
        "reached": {stage: [group.reached[stage] for group in outcome.groups] for stage in outcome.stages},
        "places": [group.place for group in outcome.groups],
        "cosines": [group.cosine for group in outcome.groups],
        "near laws": outcome.near_laws,
        "pool laws": outcome.pool_laws,
        "searches": list(outcome.searches),
        "family": outcome.family,
        "stages": {stage: list(returned) for stage, returned in outcome.stages.items()},
        "outcome": outcome.outcome,
        "rephrase": outcome.rephrase,
    }


def recalls(side: Iterable[Outcome], stage: str) -> list[float]:
    """The recall of every outcome that expects something, at a stage; [] where the stage was not run."""
    expecting = [each for each in side if each.groups and all(stage in group.reached for group in each.groups)]
    return [sum(group.reached[stage] for group in each.groups) / len(each.groups) for each in expecting]
