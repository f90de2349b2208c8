"""Embeddings of any server that speaks OpenAI's protocol, at any address. A question and a law are asked for alike."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from retrieval.errors import ModelError
from retrieval.models.calls import Bounds, CallError, Pace, bounded
from retrieval.models.credentials import credential

if TYPE_CHECKING:
    from retrieval.models.http import Answer

PREFIX = "openai/"
ADDRESS = "https://api.openai.com"
TEXTS_A_REQUEST = 100
BOUNDS = Bounds(at_once=4, a_minute=2_000)

SPENT = {"insufficient_quota", "billing_hard_limit_reached"}


@dataclass(frozen=True)
class Server:
    """Where to ask, and the key, which a server of one's own may not want."""

    address: str
    key: str = field(default="", repr=False)

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] | None = None) -> "Server":
        """From OPENAI_BASE_URL (with or without /v1) and OPENAI_API_KEY: one of the two must be there."""
        found = os.environ if environment is None else environment
        address, key = credential(found, "OPENAI_BASE_URL"), credential(found, "OPENAI_API_KEY")
        if not address and not key:
            raise ModelError("an OpenAI-compatible model needs OPENAI_API_KEY or OPENAI_BASE_URL in the environment")
        return cls((address or ADDRESS).rstrip("/").removesuffix("/v1"), key)


def _judge(answer: "Answer") -> None:
    error = answer.body.get("error") if isinstance(answer.body, dict) else None
    if isinstance(error, dict) and {str(error.get("code")), str(error.get("type"))} & SPENT:
        raise CallError("threw", f"the account's quota is spent ({answer.said})", stop=True)


def load(model: str, server: Server | None = None, bounds: Bounds = BOUNDS) -> tuple[Callable[..., Any], str]:
    """The embedding function and what it asks; ModelError where the environment names neither key nor address."""
    from retrieval.models import Embedded, http
    from retrieval.models.embedding import embed_all

    asked = server or Server.of_environment()
    pace = Pace(bounds.a_minute)
    headers = {"Authorization": f"Bearer {asked.key}"} if asked.key else {}

    async def embed_texts(texts: Sequence[str]) -> Embedded:
        async with http.client(asked.address, headers, bounds) as client:

            async def ask(part: Sequence[str]) -> list[list[float]]:
                body = {"model": model, "input": list(part), "encoding_format": "float"}

                async def attempt() -> Any:
                    return await http.post(client, "/v1/embeddings", body, _judge, (asked.key,))

                return aligned(await bounded(attempt, bounds, pace, model), part)

            return Embedded(await embed_all(ask, texts, TEXTS_A_REQUEST, bounds))

    return lambda kind, texts: asyncio.run(embed_texts(texts)), model


def aligned(reply: object, texts: Sequence[str]) -> list[list[float]]:
    """A reply's vectors in the order of the texts, by `index`: the order of the list is not promised."""
    from retrieval.models.embedding import checked

    data = reply.get("data") if isinstance(reply, dict) else None
    if not isinstance(data, list) or not all(isinstance(each, dict) for each in data):
        raise CallError("threw", "the reply holds no list of vectors")
    if len(data) != len(texts):
        raise CallError("wrong number of vectors", f"asked to embed {len(texts)} texts, given {len(data)} vectors")
    found = {each["index"]: each.get("embedding") for each in data if type(each.get("index")) is int}
    if set(found) != set(range(len(texts))):
        raise CallError("threw", f"the reply's indices are not those of {len(texts)} texts")
    return checked([found[at] for at in range(len(texts))], texts)
