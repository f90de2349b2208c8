"""The outside world: the embedding models, one file each, looked up by the name that settings.yaml gives."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import NearEnoughError
from retrieval.models import e5_small, use_multilingual

Kind = Literal["query", "passage"]
Embed = Callable[[Kind, Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True)
class Embedder:
    """A model: `version` and `dimensions` belong to the key of its vectors, `load` needs its package.

    `batch`: how many texts it is asked for at once. `load()` gives the function that embeds, and the provenance of
    what computes: the hash of its engine.
    """

    name: str
    version: str
    dimensions: int
    batch: int
    load: Callable[[], tuple[Embed, str]]


EMBEDDERS = {
    each.name: each
    for each in (
        Embedder("e5-small", e5_small.VERSION, e5_small.DIMENSIONS, e5_small.BATCH, e5_small.load),
        Embedder(
            "use-multilingual",
            use_multilingual.VERSION,
            use_multilingual.DIMENSIONS,
            use_multilingual.BATCH,
            use_multilingual.load,
        ),
    )
}


def embedder(name: str) -> Embedder:
    """The embedder of that name; NearEnoughError naming the known ones where there is none."""
    if name not in EMBEDDERS:
        raise NearEnoughError(f"no embedder {name!r}; there are {', '.join(EMBEDDERS)}")
    return EMBEDDERS[name]
