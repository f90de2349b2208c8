"""What another system returned, as a side that is compared and judged like a run: outcomes, bands, lost laws."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evals import bands
from evals.exchange.foreign import Foreign, Returned
from evals.exchange.kept import key
from evals.exchange.scores import STAGE as NEAR
from evals.exchange.scores import coverage, ranking
from evals.outcomes import Group, Key, Outcome, Side
from evals.questions import Pair
from evals.report.pages.details import Detail, Shown, nearest_wrong, texts
from evals.run import Measured, Run
from retrieval.corpus import Law
from retrieval.pipeline import Ranking, Scoring, Trace
from retrieval.settings import Settings

POOL = "pool"
COSINE = 1.000001


def side(foreign: Foreign, settings: Settings, corpus: Mapping[str, Sequence[Law]]) -> Side:
    """The side that another system is; its model is the file's name, so that a later run of it is compared with it.

    settings: those in force here, which its cutoff is read from; they say nothing of the other system.
    """
    as_run = _as_run(foreign, settings, corpus)
    points = bands.points(as_run)
    found = [_outcome(foreign, pair, settings) for pair in foreign.pairs]
    return Side(
        outcomes={each.key: each for each in sorted(found, key=lambda each: each.key)},
        settings=settings.model_dump(),
        fingerprints=as_run.fingerprints,
        cutoff=settings.cutoff,
        bands=f"{coverage(foreign)} {bands.verdict(points, settings.cutoff)}" if points else "",
    )


def points(foreign: Foreign, settings: Settings, corpus: Mapping[str, Sequence[Law]]) -> list[bands.Point]:
    """The cosines of the bands, of the near search's scores; [] where the file holds none, or other scores."""
    return bands.points(_as_run(foreign, settings, corpus))


def shown(foreign: Foreign, side: Side, points: Sequence[bands.Point], corpus: Mapping[str, Sequence[Law]]) -> Shown:
    """The side as a page shows it; `points` are those of its bands."""
    nearest = nearest_wrong(points)
    near = foreign.returned.get(NEAR, {}) if _are_cosines(foreign) else {}
    details = {
        key(pair): Detail(pair.accepted, _scores(near.get(key(pair))), nearest.get(key(pair))) for pair in foreign.pairs
    }
    return Shown(foreign.name, side, details, texts(corpus))


def _scores(returned: Returned | None) -> tuple[float, ...]:
    return (returned.scores or ()) if returned else ()


def _as_run(foreign: Foreign, settings: Settings, corpus: Mapping[str, Sequence[Law]]) -> Run:
    """A run that holds the pairs and their near rankings and no more: what fingerprints and bands are made of."""
    places = {state: {law.id: at for at, law in enumerate(laws)} for state, laws in corpus.items()}
    near = foreign.returned.get(NEAR, {}) if _are_cosines(foreign) else {}
    nothing = Ranking(np.empty(0, np.intp), np.empty(0))
    measured = []
    for pair in foreign.pairs:
        scoring = Scoring(pair.text, nothing, ranking(near.get(key(pair)), places[pair.state]))
        measured.append(Measured(pair, Trace(pair.text, (scoring,), (), (), (), (), (), (), "off")))
    return Run(settings, corpus, tuple(measured), f"the run {foreign.name}")


def _are_cosines(foreign: Foreign) -> bool:
    """Whether the near search's scores can all be cosines; a ranking without scores tells nothing against it."""
    scores = [score for each in foreign.returned.get(NEAR, {}).values() for score in each.scores or ()]
    return all(-COSINE <= score <= COSINE for score in scores)


def _outcome(foreign: Foreign, pair: Pair, settings: Settings) -> Outcome:
    own: Key = key(pair)
    stages = {stage: foreign.laws(stage, own) for stage in foreign.stages}
    near = foreign.returned.get(NEAR, {}).get(own) if _are_cosines(foreign) else None
    return Outcome(
        question=pair.question,
        state=pair.state,
        kind=pair.kind,
        language=pair.lang,
        expects=pair.expects,
        groups=tuple(_group(laws, stages, near) for laws in pair.expected),
        near_laws=len(stages.get(NEAR, ())),
        pool_laws=settings.pool_laws(0),
        outcome=foreign.outcomes.get(own, "off"),
        stages=stages,
        topic=pair.topic,
        text=pair.text,
        file=pair.file,
        line=pair.line,
    )


def _group(laws: Sequence[str], stages: Mapping[str, Sequence[str]], near: Returned | None) -> Group:
    pool, wanted = stages.get(POOL, ()), set(laws)
    cosines = [score for law, score in zip(near.laws, near.scores or (), strict=False) if law in wanted] if near else []
    return Group(
        laws=tuple(laws),
        reached={stage: not wanted.isdisjoint(returned) for stage, returned in stages.items()},
        place=min((pool.index(each) + 1 for each in laws if each in pool), default=None),
        cosine=max(cosines, default=None),
    )


def losses(foreign: Foreign) -> pd.DataFrame:
    """Every expected group that a stage which was run did not return, with its place in each stage before that had it.

    A group lost at several stages stands at the first after which no stage has it again.
    """
    rows = []
    for pair in foreign.pairs:
        for group in pair.expected:
            places = {stage: _place(group, foreign.laws(stage, key(pair))) for stage in foreign.stages}
            missing = [stage for stage in foreign.stages if places[stage] is None]
            if not missing or missing[-1] != foreign.stages[-1]:
                continue
            kept = [stage for stage in foreign.stages if places[stage] is not None]
            lost = foreign.stages[foreign.stages.index(kept[-1]) + 1] if kept else foreign.stages[0]
            rows.append(
                {
                    "question": pair.question,
                    "state": pair.state,
                    "kind": pair.kind,
                    "stage": lost,
                    "expected": " or ".join(group),
                    **places,
                    "text": pair.text,
                }
            )
    columns = ["question", "state", "kind", "stage", "expected", *foreign.stages, "text"]
    return pd.DataFrame(rows, columns=columns)


def _place(group: Sequence[str], returned: Sequence[str]) -> int | None:
    return min((returned.index(each) + 1 for each in group if each in returned), default=None)
