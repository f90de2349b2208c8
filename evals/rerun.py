"""A run's pairs under other settings, from the scorings that the run holds: nothing is embedded or searched again."""

from dataclasses import replace

from evals.run import Measured, Run
from retrieval.pipeline import Pipeline
from retrieval.settings import Settings


def can_rerun(before: Settings, after: Settings) -> bool:
    """Whether a run under one of two settings holds all that the other takes.

    Not where the other takes another model or other searches, whose texts were not scored, or a reranker, which would
    be asked about other pools.
    """
    same_texts = (before.embedder, before.rephrase) == (after.embedder, after.rephrase)
    return same_texts and after.reranker is None


def rerun(run: Run, settings: Settings) -> Run:
    """The run that the pipeline would give under these settings, without what its searches change (`searched`).

    ValueError where the run cannot tell: see `can_rerun`.
    """
    if not can_rerun(run.settings, settings):
        raise ValueError("another model, other searches or a reranker: measure these settings instead")
    pipelines = {state: Pipeline(settings, laws) for state, laws in run.corpus.items()}

    def again(measured: Measured) -> Measured:
        trace = pipelines[measured.pair.state].trace(measured.trace.scorings, measured.family)
        return replace(measured, trace=trace, searched=None)

    return replace(run, settings=settings, pairs=tuple(map(again, run.pairs)))
