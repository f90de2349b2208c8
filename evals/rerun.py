"""A run's pairs under other settings, from the scorings that the run holds: nothing is embedded or searched again."""

from dataclasses import replace

from evals.run import Measured, Run
from retrieval.pipeline import Pipeline
from retrieval.settings import Settings


def same_texts(before: Settings, after: Settings) -> bool:
    """Whether both settings score the same texts with the same model: then one run's scorings answer for both."""
    return (before.embedder, before.rephrase) == (after.embedder, after.rephrase)


def rerun(run: Run, settings: Settings) -> Run:
    """The run that the pipeline would give under these settings.

    ValueError where they take another model or other searches: those texts were not scored. A reranker is not asked
    again: settings with one are measured, not rerun.
    """
    if not same_texts(run.settings, settings) or settings.rerank != "off":
        raise ValueError("another model, other searches or a reranker: measure these settings instead")
    pipelines = {state: Pipeline(settings, laws) for state, laws in run.corpus.items()}
    pairs = []
    for measured in run.pairs:
        family = measured.pair.family if settings.rephrase != "off" else None
        trace = pipelines[measured.pair.state].trace(measured.trace.scorings, family)
        pairs.append(Measured(measured.pair, trace))
    return replace(run, settings=settings, pairs=tuple(pairs))
