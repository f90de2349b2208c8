"""A small world for tests: laws, questions and a model whose vectors follow from the words of a text."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evals.questions import Pair
from retrieval import Law, Settings, words
from retrieval.models import Kind

DIMENSIONS = 16


def embed(kind: Kind, texts: Sequence[str]) -> NDArray[np.int16]:
    """A vector a text: the sum of one small integer vector a word, so that shared words are near and ties happen."""
    vectors = [sum((_word(word) for word in words(text)), np.ones(DIMENSIONS)) for text in texts]
    return np.array(vectors, dtype=np.int16).reshape(len(texts), DIMENSIONS)


def _word(word: str) -> NDArray[np.float64]:
    digest = hashlib.sha256(word.encode()).digest()[:DIMENSIONS]
    return np.frombuffer(digest, dtype=np.uint8).astype(np.float64) % 7 - 3


def settings(**changes: object) -> Settings:
    """The settings of the pipeline with a model called fake."""
    return Settings.model_validate({"embedder": "fake", "near_enough": {"fake": 0.3}, **changes})


def pair(need: str = "need", ask: str = "plain", state: str = "AL", **changes: object) -> Pair:
    """A question in a state that expects what is said; its other fields are the plainest there are."""
    fields: dict[str, object] = {
        "need": need,
        "ask": ask,
        "state": state,
        "text": f"{need} {ask}",
        "kind": "plain",
        "lang": "en",
        "topic": "topic",
        "tags": (),
        "unrelated": None,
        "expected": (),
        "accepted": (),
        "searches": (),
        "family": None,
        "file": "questions/topic.yaml",
        "line": 1,
        **changes,
    }
    reason = "answerable" if fields["expected"] else "unrelated" if fields["unrelated"] else "uncovered"
    return Pair(**{"expects": reason, **fields})  # type: ignore[arg-type]


CORPUS = {
    "AL": [
        Law("AL-1", "Park 15 feet from a hydrant.", "How close to a hydrant may I park?", "hydrant"),
        Law("AL-2", "Stop at a red light.", "What do I do at a red light?", "red-light"),
        Law("AL-3", "Turn right on red after a stop.", "May I turn right on red?", "right-on-red"),
        Law("AL-4", "", "", ""),
        Law("AL-P1", "Bring your birth certificate.", "How do I apply?", "permit-application", "process"),
        Law("AL-P2", "Pay five dollars.", "How do I apply?", "permit-application", "process"),
    ],
    "MD": [
        Law("MD-1", "Keep 15 feet away from a hydrant.", "How near a hydrant may I park?", "hydrant"),
        Law("MD-2", "Yield to a pedestrian in a crosswalk.", "Who goes first in a crosswalk?", "crosswalk"),
        Law("MD-3", "Yield to a pedestrian in a crosswalk.", "Who has the right of way?", "crosswalk"),
    ],
}
