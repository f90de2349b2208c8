"""What each pair got, in the form in which two runs are compared: expected groups, where they arrived, how narrowly.

An outcome is read from a run, from a run's `per_question.jsonl`, or from a baseline; two sides may come from different
sources. Nothing is judged here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.metrics import reached
from evals.run import Measured, Run
from retrieval.documents import read_json_lines
from retrieval.errors import Fault, InputError

JUDGED = ("pool", "answer")

Key = tuple[str, str]


@dataclass(frozen=True)
class Group:
    """An expected group of a pair: whether each stage reached it, its best place in the pool, its best cosine."""

    laws: tuple[str, ...]
    reached: Mapping[str, bool]
    place: int | None
    cosine: float | None


@dataclass(frozen=True)
class Outcome:
    """A pair's groups, and how many laws the near search returned for it. `key` is question and state."""

    question: str
    state: str
    kind: str
    language: str
    topic: str
    expects: str
    text: str
    groups: tuple[Group, ...]
    near_laws: int
    fell_back: bool = False
    file: str = ""
    line: int = 0

    @property
    def key(self) -> Key:
        """What makes an outcome the same one on both sides."""
        return self.question, self.state

    @property
    def need(self) -> str:
        """The need that the question asks."""
        return self.question.split("/", 1)[0]


def outcomes(run: Run) -> dict[Key, Outcome]:
    """The outcomes of a run by question and state, in that order."""
    found = [_outcome(run, measured) for measured in run.pairs]
    return {each.key: each for each in sorted(found, key=lambda each: each.key)}


def _outcome(run: Run, measured: Measured) -> Outcome:
    pair, trace = measured.pair, measured.trace
    stages = {stage: reached(pair.expected, returned) for stage, returned in trace.stages().items()}
    places = {each: place for place, each in enumerate(trace.pool, 1)}
    near, laws = trace.scorings[0].near, run.corpus[pair.state]
    expected = frozenset[str]().union(*pair.expected)
    cosines = {
        laws[at].id: float(score) for at, score in zip(near.laws, near.scores, strict=True) if laws[at].id in expected
    }
    return Outcome(
        question=pair.question,
        state=pair.state,
        kind=pair.kind,
        language=pair.lang,
        topic=pair.topic,
        expects=pair.expects,
        text=pair.text,
        groups=tuple(
            Group(
                laws=group,
                reached={stage: bits[at] for stage, bits in stages.items()},
                place=min((places[each] for each in group if each in places), default=None),
                cosine=max((cosines[each] for each in group if each in cosines), default=None),
            )
            for at, group in enumerate(pair.expected)
        ),
        near_laws=len(trace.near),
        fell_back=trace.outcome not in ("off", "ranked", "none named"),
        file=pair.file,
        line=pair.line,
    )


class _Row(BaseModel):
    """What is read of a line of per_question.jsonl; the rest is for people."""

    model_config = ConfigDict(strict=True)

    question: Annotated[str, Field(pattern=".+/.+")]
    state: str
    text: str
    kind: str
    language: str
    topic: str
    expects: str
    expected: list[list[str]]
    reached: dict[str, list[bool]]
    places: list[Annotated[int, Field(ge=1)] | None]
    cosines: list[Annotated[float, Field(ge=-1.01, le=1.01)] | None]
    near_laws: Annotated[int, Field(ge=0, alias="near laws")]
    fell_back: Annotated[bool, Field(alias="fell back")]


def read_outcomes(path: Path) -> dict[Key, Outcome]:
    """The outcomes of a run's `per_question.jsonl`; InputError with every line that is none, or where there is none."""
    rows, faults = read_json_lines(path)
    found: dict[Key, Outcome] = {}
    for line, content in rows:
        try:
            outcome = _read(_Row.model_validate(content))
        except (ValidationError, ValueError) as error:
            faults.append(Fault(str(path), line, _first(error)))
            continue
        if outcome.key in found:
            faults.append(Fault(str(path), line, f"{outcome.question} in {outcome.state} stands here twice"))
        found[outcome.key] = outcome
    if not rows and not faults:
        faults.append(Fault(str(path), None, "no outcome of any question here"))
    if faults:
        raise InputError(faults)
    return dict(sorted(found.items()))


def _read(row: _Row) -> Outcome:
    counts = {len(row.expected), len(row.places), len(row.cosines), *(map(len, row.reached.values()))}
    if len(counts) > 1:
        raise ValueError("expected groups, reached, places and cosines differ in number")
    return Outcome(
        question=row.question,
        state=row.state,
        kind=row.kind,
        language=row.language,
        topic=row.topic,
        expects=row.expects,
        text=row.text,
        groups=tuple(
            Group(
                tuple(laws), {stage: bits[at] for stage, bits in row.reached.items()}, row.places[at], row.cosines[at]
            )
            for at, laws in enumerate(row.expected)
        ),
        near_laws=row.near_laws,
        fell_back=row.fell_back,
    )


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        each = error.errors()[0]
        return f"`{'.'.join(map(str, each['loc']))}`: {each['msg'][0].lower()}{each['msg'][1:]}"
    return str(error)


def written(outcome: Outcome) -> dict[str, object]:
    """An outcome as a line of `per_question.jsonl` holds it; `read_outcomes` reads it back."""
    stages = list(outcome.groups[0].reached) if outcome.groups else []
    return {
        "question": outcome.question,
        "state": outcome.state,
        "text": outcome.text,
        "kind": outcome.kind,
        "language": outcome.language,
        "topic": outcome.topic,
        "expects": outcome.expects,
        "expected": [list(group.laws) for group in outcome.groups],
        "reached": {stage: [group.reached[stage] for group in outcome.groups] for stage in stages},
        "places": [group.place for group in outcome.groups],
        "cosines": [group.cosine for group in outcome.groups],
        "near laws": outcome.near_laws,
        "fell back": outcome.fell_back,
    }


def recalls(side: Iterable[Outcome], stage: str) -> list[float]:
    """The recall of every answerable outcome at a stage."""
    return [sum(group.reached[stage] for group in each.groups) / len(each.groups) for each in side if each.groups]
