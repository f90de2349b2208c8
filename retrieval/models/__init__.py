"""The outside world: the embedding models, one file a provider, looked up by the name that settings.yaml gives."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import NearEnoughError
from retrieval.models import e5_small, openai_compatible, use_multilingual, workers_ai

Kind = Literal["query", "passage"]


class Embedded(NamedTuple):
    """Vectors (n, d) of a model behind a network, and how it pooled them where it says so."""

    vectors: NDArray[Any]
    pooling: str | None = None


Embed = Callable[[Kind, Sequence[str]], NDArray[np.float32] | Embedded]


@dataclass(frozen=True)
class Embedder:
    """A model: `version` and `dimensions` belong to the key of its vectors, `load` needs its package.

    dimensions: None where only its vectors tell. batch: how many texts it is asked for at once. `load()` gives the
    function that embeds, and the provenance of what computes: the hash of its engine. remote: it is asked over a
    network, so only where somebody means to. pooled: its vectors come with their pooling, and only those of one
    pooling can be compared.
    """

    name: str
    version: str
    dimensions: int | None
    batch: int
    load: Callable[[], tuple[Embed, str]]
    remote: bool = False
    pooled: bool = False


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
        Embedder(
            "bge-m3",
            workers_ai.EMBEDDER,
            workers_ai.DIMENSIONS,
            workers_ai.EMBEDDING.at_once * workers_ai.TEXTS_A_REQUEST,
            workers_ai.load,
            remote=True,
            pooled=True,
        ),
    )
}

_OPENAI = re.compile(
    re.escape(openai_compatible.PREFIX) + r"(?P<model>[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*)"
)


def embedder(name: str) -> Embedder:
    """The embedder of that name; `openai/MODEL` is a model of an OpenAI-compatible server.

    NearEnoughError naming the known ones where there is none.
    """
    if name in EMBEDDERS:
        return EMBEDDERS[name]
    found = _OPENAI.fullmatch(name)
    if found is None:
        raise NearEnoughError(f"no embedder {name!r}; there are {', '.join(EMBEDDERS)} and openai/MODEL")
    batch = openai_compatible.BOUNDS.at_once * openai_compatible.TEXTS_A_REQUEST
    model = found["model"]
    return Embedder(name, "openai-compatible", None, batch, partial(openai_compatible.load, model), remote=True)
