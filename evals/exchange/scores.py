"""The pipeline over raw cosines that somebody else computed: no model, no vectors. All else is as in `evals.run`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evals.exchange.foreign import Foreign, Returned
from evals.run import Measured, Run
from retrieval.corpus import Law
from retrieval.errors import Fault, InputError
from retrieval.pipeline import NO_LAW, Pipeline, Ranking
from retrieval.settings import Settings
from retrieval.vectors import best_first

STAGE = "near"


def evaluate_scores(settings: Settings, corpus: Mapping[str, Sequence[Law]], given: Foreign) -> Run:
    """Every pair through the pipeline of its state, with the near search's cosines taken from a file.

    A law without a cosine is not near; a pair without any gets what the words find. The cutoff in the settings is
    applied to what was given. InputError where searches are to be fused: their cosines are not there.
    """
    if settings.rephrase != "off":
        what = "rephrase must be off where cosines are given: those of the searches are not there"
        raise InputError([Fault(given.name, None, what)])
    near = given.returned[STAGE]
    measured: dict[int, Measured] = {}
    for state, laws in corpus.items():
        pipeline = Pipeline(settings, laws)
        positions = {law.id: at for at, law in enumerate(laws)}
        of_state = [(at, pair) for at, pair in enumerate(given.pairs) if pair.state == state]
        scorings = pipeline.score([pair.text for _, pair in of_state])
        for (at, pair), scoring in zip(of_state, scorings, strict=True):
            scored = replace(scoring, near=ranking(near.get(pair.key), positions))
            measured[at] = Measured(pair, pipeline.trace([scored]))
    return Run(settings, corpus, tuple(measured[at] for at in sorted(measured)), f"cosines of {given.name}")


def ranking(returned: Returned | None, positions: Mapping[str, int]) -> Ranking:
    """Positions and cosines, the highest first; equal cosines keep the corpus's order."""
    if returned is None or returned.scores is None:
        return NO_LAW
    both = zip(returned.laws, returned.scores, strict=True)
    found = sorted((positions[law], score) for law, score in both if law in positions)
    laws, scores = np.array([at for at, _ in found], np.intp), np.array([score for _, score in found], float)
    order = best_first(scores)
    return Ranking(laws[order], scores[order])


def coverage(given: Foreign) -> str:
    """How much of the set the cosines cover, in a sentence: bands and losses are of what was given."""
    near = [each for each in given.returned[STAGE].values() if each.laws]
    groups = [(pair.key, group) for pair in given.pairs for group in pair.expected]
    covered = sum(not set(group).isdisjoint(given.laws(STAGE, each)) for each, group in groups)
    return (
        f"Cosines of {given.name}: {len(near):,} of {len(given.pairs):,} pairs have some, and {covered:,} of"
        f" {len(groups):,} expected laws; a law without one is not in the bands."
    )
