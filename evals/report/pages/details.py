"""A side as a page shows it: beside its outcomes its name, what else is known of each pair, and its laws' texts."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.bands import Point
from evals.outcomes import LARGEST_COSINE, RoundedCosine, Side, first_fault
from evals.questions import Key
from evals.run import Run
from retrieval.corpus import Law
from retrieval.documents import read_json_lines, read_text
from retrieval.errors import Fault, InputError
from retrieval.settings import Settings

Nearest = tuple[str, float]


@dataclass(frozen=True)
class Detail:
    """What a page shows of a pair beside its outcome.

    accepted: laws that answer too. cosines: those of the laws that the near search returned, in its order; () where
    nobody kept them. nearest: the nearest law that does not answer, and its cosine; None where none is known.
    """

    accepted: tuple[str, ...] = ()
    cosines: tuple[float, ...] = ()
    nearest: Nearest | None = None


@dataclass(frozen=True)
class Shown:
    """A side with its name and details. laws: each state's texts by id; {} where the side's laws are not at hand."""

    name: str
    side: Side
    details: Mapping[Key, Detail]
    laws: Mapping[str, Mapping[str, str]]

    def detail(self, key: Key) -> Detail:
        """The details of a pair; nothing where none are known."""
        return self.details.get(key, Detail())

    @property
    def stages(self) -> frozenset[str]:
        """The stages that any pair has."""
        return frozenset(stage for each in self.side.outcomes.values() for stage in each.stages)


def texts(corpus: Mapping[str, Sequence[Law]]) -> dict[str, dict[str, str]]:
    """Each state's texts by id."""
    return {state: {law.id: law.law for law in laws} for state, laws in corpus.items()}


def nearest_wrong(points: Iterable[Point]) -> dict[Key, Nearest]:
    """By question and state the nearest law that does not answer, of a run's bands."""
    return {each.pair.key: (each.law, each.cosine) for each in points if each.group != "answering"}


def shown_run(name: str, run: Run, side: Side, points: Iterable[Point]) -> Shown:
    """A run of the pipeline; `points` are those of its bands."""
    nearest = nearest_wrong(points)
    details = {
        each.pair.key: Detail(
            each.pair.accepted,
            tuple(float(hit.score) for hit in each.trace.near),
            nearest.get(each.pair.key),
        )
        for each in run.pairs
    }
    return Shown(name, side, details, texts(run.corpus))


class _Row(BaseModel):
    """What `evals.outcomes` does not read of a line of per_question.jsonl."""

    model_config = ConfigDict(strict=True)

    question: str
    state: str
    accepted: list[str] = []
    cosines: Annotated[list[RoundedCosine], Field(alias="near cosines", default_factory=list)]


def shown_folder(folder: Path, side: Side, corpus: Mapping[str, Sequence[Law]], settings: Settings) -> Shown:
    """The report of a run, which `side` was read from; its laws are those of `corpus` where that is what was measured.

    InputError with every line of `per_question.jsonl` or `tables/band-points.csv` that cannot be read; without the
    latter no nearest law is known.
    """
    path = folder / "tables" / "band-points.csv"
    nearest = read_nearest(path) if path.is_file() else {}
    rows, faults = read_json_lines(folder / "per_question.jsonl")
    details: dict[Key, Detail] = {}
    for line, content in rows:
        try:
            row = _Row.model_validate(content)
        except ValidationError as error:
            faults.append(Fault(str(folder / "per_question.jsonl"), line, first_fault(error)))
            continue
        key = row.question, row.state
        details[key] = Detail(tuple(row.accepted), tuple(row.cosines), nearest.get(key))
    if faults:
        raise InputError(faults)
    return Shown(str(folder), side, details, _measured_laws(side, corpus, settings))


def read_nearest(path: Path) -> dict[Key, Nearest]:
    """By question and state the nearest law that does not answer, of a report's `tables/band-points.csv`."""
    found: dict[Key, Nearest] = {}
    faults = []
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""))
    try:
        for row in reader:
            try:
                cosine = float(row["cosine"])
                if not abs(cosine) <= LARGEST_COSINE:
                    raise ValueError(f"{cosine} is no cosine")
                if row["band"] != "answering":
                    found[row["question"], row["state"]] = row["law"], cosine
            except (KeyError, TypeError, ValueError) as error:
                faults.append(Fault(str(path), reader.line_num, f"no point of a band: {first_fault(error)}"))
    except csv.Error as error:
        faults.append(Fault(str(path), reader.line_num, f"no table: {error}"))
    if faults:
        raise InputError(faults)
    return found


def _measured_laws(side: Side, corpus: Mapping[str, Sequence[Law]], settings: Settings) -> dict[str, dict[str, str]]:
    """The texts of the corpus's laws, narrowed to the side's states; {} where these are not the laws it measured."""
    states = {each.state for each in side.outcomes.values()}
    here = {state: laws for state, laws in corpus.items() if state in states}
    measured = Run(settings, here, (), "").fingerprints["laws"]
    return texts(here) if measured == side.fingerprints.get("laws") else {}
