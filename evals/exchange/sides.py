"""What another system returned, as a side that is compared and judged like a run: outcomes, bands, lost laws."""

from collections.abc import Mapping, Sequence

import pandas as pd

from evals import bands
from evals.exchange.foreign import Foreign, Returned, is_cosine
from evals.exchange.scores import STAGE as NEAR
from evals.exchange.scores import coverage, ranking
from evals.judged import first_place
from evals.outcomes import Outcome, Side, group_of
from evals.questions import Key, Pair
from evals.report.pages.details import Detail, Shown, nearest_wrong, texts
from evals.run import Measured, Run
from retrieval.corpus import Law
from retrieval.pipeline import NO_LAW, Scoring, Trace
from retrieval.settings import Settings


def as_run(foreign: Foreign, settings: Settings, corpus: Mapping[str, Sequence[Law]]) -> Run:
    """A run that holds the pairs and their near rankings and no more: what fingerprints and bands are made of.

    Its model is the file's name, so that a later run of the system is compared with it. settings: those in force here,
    which the cutoff is read from; they say nothing of the other system.
    """
    places = {state: {law.id: at for at, law in enumerate(laws)} for state, laws in corpus.items()}
    near = _near(foreign)
    measured = []
    for pair in foreign.pairs:
        scoring = Scoring(pair.text, NO_LAW, ranking(near.get(pair.key), places[pair.state]))
        measured.append(Measured(pair, Trace(pair.text, (scoring,), (), (), (), (), (), (), "off")))
    return Run(settings, corpus, tuple(measured), f"the run {foreign.name}")


def side(foreign: Foreign, run: Run, points: Sequence[bands.Point]) -> Side:
    """The side that another system is. run: as `as_run` gives it; points: those of its bands."""
    settings, near = run.settings, _near(foreign)
    found = [_outcome(foreign, pair, near.get(pair.key), settings) for pair in foreign.pairs]
    return Side(
        outcomes={each.key: each for each in sorted(found, key=lambda each: each.key)},
        settings=settings.model_dump(),
        fingerprints=run.fingerprints,
        cutoff=settings.cutoff,
        bands=f"{coverage(foreign)} {bands.verdict(points, settings.cutoff)}" if points else "",
    )


def shown(foreign: Foreign, side: Side, points: Sequence[bands.Point], corpus: Mapping[str, Sequence[Law]]) -> Shown:
    """The side as a page shows it; `points` are those of its bands."""
    nearest, near = nearest_wrong(points), _near(foreign)
    details = {
        pair.key: Detail(pair.accepted, _scores(near.get(pair.key)), nearest.get(pair.key)) for pair in foreign.pairs
    }
    return Shown(foreign.name, side, details, texts(corpus))


def _near(foreign: Foreign) -> Mapping[Key, Returned]:
    """The near rankings; none where their scores cannot all be cosines. One without scores tells nothing against it."""
    near = foreign.returned.get(NEAR, {})
    return near if all(is_cosine(score) for each in near.values() for score in _scores(each)) else {}


def _scores(returned: Returned | None) -> tuple[float, ...]:
    return (returned.scores or ()) if returned else ()


def _outcome(foreign: Foreign, pair: Pair, near: Returned | None, settings: Settings) -> Outcome:
    stages = {stage: foreign.laws(stage, pair.key) for stage in foreign.stages}
    cosines = dict(zip(near.laws, near.scores, strict=True)) if near and near.scores else {}
    return Outcome(
        question=pair.question,
        state=pair.state,
        kind=pair.kind,
        language=pair.lang,
        expects=pair.expects,
        groups=tuple(group_of(laws, stages, cosines) for laws in pair.expected),
        near_laws=len(stages.get(NEAR, ())),
        pool_laws=settings.pool_laws(0),
        outcome=foreign.outcomes.get(pair.key, "off"),
        stages=stages,
        topic=pair.topic,
        text=pair.text,
        file=pair.file,
        line=pair.line,
    )


def losses(foreign: Foreign) -> pd.DataFrame:
    """Every expected group that the last stage of the file did not return, with its place in each stage that did.

    It stands at the first stage after which none has it again.
    """
    rows = []
    for pair in foreign.pairs:
        for group in pair.expected:
            places = {stage: first_place(group, foreign.laws(stage, pair.key)) for stage in foreign.stages}
            if places[foreign.stages[-1]] is not None:
                continue
            kept = [at for at, stage in enumerate(foreign.stages) if places[stage] is not None]
            rows.append(
                {
                    "question": pair.question,
                    "state": pair.state,
                    "kind": pair.kind,
                    "stage": foreign.stages[kept[-1] + 1 if kept else 0],
                    "expected": " or ".join(group),
                    **places,
                    "text": pair.text,
                }
            )
    columns = ["question", "state", "kind", "stage", "expected", *foreign.stages, "text"]
    return pd.DataFrame(rows, columns=columns)
