"""What another system returned, read and matched with the pairs of a question set. Computes no metric.

Two forms. A TREC run: one stage, its score alone ranks. JSON Lines, a line a pair and stage:
`{"state", "question", "laws", "scores", "stage", "outcome"}`; state (of a corpus that is not of states), scores, stage
and outcome may be missing. A stage that the file does not name was not run: it is absent, and never empty.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.exchange.names import Names, as_word
from evals.exchange.rankings import in_order, some
from evals.exchange.trec import read_run
from evals.imported import Kept
from evals.outcomes import first_fault
from evals.questions import Key, Pair
from evals.run import Run
from evals.stages import STAGES
from retrieval.corpus import Law
from retrieval.documents import read_json_lines, read_text, strict_json
from retrieval.errors import Fault, InputError

DEFAULT_STAGE = "pool"


@dataclass(frozen=True)
class Returned:
    """Laws, best first, each once; the score of each, where scores were given."""

    laws: tuple[str, ...]
    scores: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Line:
    """One ranking of a foreign file: for whom, of which stage (None where it does not say), and how it was chosen."""

    line: int | None
    state: str | None
    question: str
    stage: str | None
    returned: Returned
    outcome: str | None = None


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    question: Annotated[str, Field(min_length=1)]
    laws: list[Annotated[str, Field(min_length=1)]]
    state: Annotated[str, Field(min_length=1)] | None = None
    scores: list[Annotated[float, Field(allow_inf_nan=False)]] | None = None
    stage: str | None = None
    outcome: Annotated[str, Field(min_length=1)] | None = None

    def ranked(self) -> Returned:
        """The ranking; ValueError where its parts do not belong together."""
        if self.stage is not None and self.stage not in STAGES:
            raise ValueError(f"no stage {self.stage}; there are {', '.join(STAGES)}")
        if self.scores is None:
            return Returned(tuple(dict.fromkeys(self.laws)))
        if len(self.scores) != len(self.laws):
            raise ValueError(f"{len(self.laws)} laws and {len(self.scores)} scores")
        if any(after > before for before, after in zip(self.scores, self.scores[1:], strict=False)):
            raise ValueError("the scores rise: laws stand best first, and a larger score is a better one")
        best: dict[str, float] = {}
        for law, score in zip(self.laws, self.scores, strict=True):
            best.setdefault(law, score)
        return Returned(tuple(best), tuple(best.values()))


def read_foreign(path: Path | str) -> list[Line]:
    """The rankings of a file, in its order: JSON Lines where its first character is `{`, else a TREC run.

    An id returned twice in a ranking counts once, at its first place. InputError with every bad line.
    """
    path = Path(path)
    first = read_text(path).lstrip()[:1]
    if first == "[":
        what = "a JSON array; expected JSON Lines, an object {...} on every line, or a TREC run"
        raise InputError([Fault(str(path), 1, what)])
    if first != "{":
        return [Line(None, None, question, None, _of_scores(scores)) for question, scores in read_run(path).items()]
    rows, faults = read_json_lines(path)
    found: list[Line] = []
    for line, content in rows:
        try:
            row = _Row.model_validate(content)
            found.append(Line(line, row.state, row.question, row.stage, row.ranked(), row.outcome))
        except (ValidationError, ValueError) as error:
            faults.append(Fault(str(path), line, first_fault(error)))
    if faults:
        raise InputError(faults)
    return found


def _of_scores(scores: Mapping[str, float]) -> Returned:
    order = in_order(scores)
    return Returned(tuple(order), tuple(scores[each] for each in order))


def lines_of(run: Run, stages: Sequence[str]) -> str:
    """A run of the pipeline in JSON Lines, as `read_foreign` reads it: scores where the stage has some of its own."""
    rows = []
    for each in run.pairs:
        question = each.trace.scorings[0]
        for stage in stages:
            laws = each.trace.stages()[stage]
            own = {"words": question.words.scores, "near": question.near.scores}.get(stage)
            rows.append(
                {
                    "state": each.pair.state,
                    "question": each.pair.question,
                    "laws": list(laws),
                    "scores": None if own is None else own[: len(laws)].tolist(),
                    "stage": stage,
                    "outcome": each.trace.outcome if stage == "answer" else None,
                }
            )
    return "".join(strict_json(row) + "\n" for row in rows)


@dataclass(frozen=True)
class Foreign:
    """Another system's rankings of the pairs of a set.

    returned: by stage, in the pipeline's order, what the pairs got that the file names; a stage is here where the file
    holds it. outcomes: how the answer was chosen, where the file says. unmatched: what names no pair. unknown: returned
    ids that are no law of their state, which stay in the rankings as wrong.
    """

    name: str
    pairs: tuple[Pair, ...]
    returned: Mapping[str, Mapping[Key, Returned]]
    outcomes: Mapping[Key, str]
    unmatched: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that the file holds."""
        return tuple(self.returned)

    def laws(self, stage: str, key: Key) -> tuple[str, ...]:
        """What a stage returned for a pair: nothing where the file has no line for it."""
        found = self.returned[stage].get(key)
        return found.laws if found else ()


def match(
    lines: Sequence[Line],
    pairs: Sequence[Pair],
    corpus: Mapping[str, Sequence[Law]],
    kept: Mapping[Key, Kept],
    path: Path | str,
    stage: str = DEFAULT_STAGE,
) -> Foreign:
    """The rankings of a file by the pairs they are of. `stage` is that of lines that name none.

    InputError where nothing matches, of questions or of laws, and with the line of every ranking that is given twice.
    """
    names = Names.of(pairs, kept)
    known = {state: {law.id for law in laws} for state, laws in corpus.items()}
    found: dict[str, dict[Key, Returned]] = {}
    outcomes: dict[Key, str] = {}
    unmatched: dict[str, None] = {}
    unknown: dict[str, None] = {}
    faults: list[Fault] = []
    matched = 0
    for each in lines:
        key = names.find(each.state, each.question)
        if key is None:
            unmatched[each.question if each.state is None else f"{each.state}/{each.question}"] = None
            continue
        returned = _as_here(each.returned, known[key[1]])
        strange = [law for law in returned.laws if law not in known[key[1]]]
        unknown.update(dict.fromkeys(strange))
        matched += len(returned.laws) - len(strange)
        of_stage = found.setdefault(each.stage or stage, {})
        if key in of_stage:
            faults.append(Fault(str(path), each.line, f"{key[0]} in {key[1]} has a ranking of this stage before"))
        of_stage[key] = returned
        if each.outcome is not None and outcomes.setdefault(key, each.outcome) != each.outcome:
            what = f"{key[0]} in {key[1]} has the outcomes {outcomes[key]} and {each.outcome}"
            faults.append(Fault(str(path), each.line, what))
    if not found:
        asked = some(list(names.topics.values()))
        what = f"0 of {len(lines)} rankings matched a question: asked are {asked}; here are {some(unmatched)}"
        faults.append(Fault(str(path), None, what))
    elif unknown and not matched:
        here = some([law for ids in known.values() for law in sorted(ids)])
        what = f"0 of {len(unknown)} returned laws matched: returned are {some(unknown)}; the corpus has {here}"
        faults.append(Fault(str(path), None, what))
    if faults:
        raise InputError(faults)
    return Foreign(
        name=Path(path).name,
        pairs=tuple(pairs),
        returned={each: found[each] for each in STAGES if each in found},
        outcomes=outcomes,
        unmatched=tuple(unmatched),
        unknown=tuple(unknown),
    )


def _as_here(returned: Returned, known: set[str]) -> Returned:
    """The ids as they are here: an imported document may be named as its collection names it."""
    return Returned(tuple(law if law in known else as_word(law) for law in returned.laws), returned.scores)


def cosines(lines: Sequence[Line], path: Path | str) -> list[Line]:
    """The lines whose scores are raw cosines: of the near search, or of no stage that is named.

    InputError where there are none, and for every line without scores or with a score that is no cosine.
    """
    near = [each for each in lines if each.stage in (None, "near")]
    faults = [Fault(str(path), each.line, what) for each in near for what in _no_cosines(each)]
    if not near:
        faults.append(Fault(str(path), None, "no scores of the near search here"))
    if faults:
        raise InputError(faults)
    return near


def is_cosine(score: float) -> bool:
    """Whether a score can be a raw cosine, from -1 to 1 but for the last digits; infinities cannot."""
    return abs(score) <= 1 + 1e-6  # float32 may pass 1


def _no_cosines(line: Line) -> Iterable[str]:
    scores = line.returned.scores
    if scores is None:
        yield f"{line.question}: no scores; give the raw cosine of each law"
    else:
        wrong = next((each for each in scores if not is_cosine(each)), None)
        if wrong is not None:
            yield f"{line.question}: {wrong:g} is no cosine; expected raw ones, from -1 to 1"
