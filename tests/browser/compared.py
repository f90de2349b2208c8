"""Two runs of the world for a page to compare, and one as another system's: they differ in all that two runs can."""

from dataclasses import replace
from functools import cache

from evals import bands
from evals.compare import Comparison, compare
from evals.exchange.agreement import agreements
from evals.exchange.foreign import Foreign, Returned
from evals.exchange.report import Foreigner, files
from evals.outcomes import Side
from evals.questions import Pair
from evals.report.pages.details import Shown, shown_run
from evals.report.pages.sides import comparison_page
from evals.rerun import rerun
from evals.run import Measured, Run
from evals.stages import STAGES
from retrieval.settings import changed
from tests.browser import world

BEFORE, NOW = 'before "<b>bold</b>"', "now </script><i>tag</i>"


def _shown(name: str, run: Run) -> Shown:
    points = bands.points(run)
    return shown_run(name, run, Side.of(run, bands.verdict(points, run.settings.cutoff)), points)


def _relabelled(measured: Measured) -> Measured:
    """Its first group not expected any more, another law expected in its place."""
    first, *rest = measured.pair.expected
    pair: Pair = replace(measured.pair, expected=(*rest, (measured.trace.pool[-1],)), accepted=first)
    return replace(measured, pair=pair)


@cache
def both() -> tuple[Shown, Shown]:
    """Before, and now with another cutoff and a smaller pool; each lacks two pairs, and one was labelled anew."""
    run = world.run()
    now = rerun(run, changed(run.settings, ["near_enough=0.55", "candidate_laws=7"]))
    edited = (*now.pairs[2:3], _relabelled(now.pairs[3]), *now.pairs[4:])
    return _shown(BEFORE, replace(run, pairs=run.pairs[:-2])), _shown(NOW, replace(now, pairs=edited))


@cache
def models() -> tuple[Shown, Shown]:
    """The same questions by two models."""
    one, other = both()
    side = replace(other.side, fingerprints={**other.side.fingerprints, "model": "another"}, cutoff=0.25)
    return one, replace(other, side=side)


@cache
def comparison() -> Comparison:
    """What was lost and gained between the two."""
    before, now = both()
    return compare(before.side.outcomes, now.side.outcomes)


@cache
def html() -> str:
    """The page of the two."""
    return comparison_page(*both(), ["gate: failed", "  a <b>reason</b>"])


@cache
def models_html() -> str:
    """The page of two models."""
    return comparison_page(*models())


@cache
def foreigner() -> Foreigner:
    """The run as another system's: its scores, its stages but the words, some pairs missing, an id nobody knows."""
    run = world.run()
    returned: dict[str, dict[tuple[str, str], Returned]] = {stage: {} for stage in STAGES if stage != "words"}
    for measured in run.pairs[:-3]:
        key = measured.pair.question, measured.pair.state
        for stage, laws in measured.trace.stages().items():
            scores = tuple(float(hit.score) for hit in measured.trace.near) if stage == "near" else None
            if stage in returned:
                returned[stage][key] = Returned((*laws, "<img src=x>") if stage == "answer" else laws, scores)
    pairs = tuple(each.pair for each in run.pairs)
    made = Foreign("run <b>.jsonl", pairs, returned, {}, ("<i>nobody</i>",), ("<img src=x>",))
    return Foreigner(made, run.settings, run.corpus, {}, agreements(run, made))


@cache
def foreign_files() -> dict[str, str]:
    """The report of the other system's run."""
    return files(foreigner())


def nothing() -> tuple[Shown, Shown]:
    """Two sides that share no pair and know no cosine."""
    run = world.run()
    made = [replace(run, pairs=run.pairs[at : at + 2]) for at in (0, 2)]
    shown = [Shown(name, Side.of(each), {}, {}) for name, each in zip(("one", "other"), made, strict=True)]
    return shown[0], shown[1]
