"""Cloudflare Workers AI over plain HTTP: bge-m3's embeddings, and the rerankers bge-reranker-base and bge-m3.

Source: the service's documentation as of November 2026. Nothing here was tried against the service itself.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from retrieval.errors import ModelError
from retrieval.models.calls import AgainError, Bounds, CallError, Pace, PartError, bounded
from retrieval.models.credentials import credential

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

    from retrieval.models.http import Answer

ADDRESS = "https://api.cloudflare.com"
VENDOR = "@cf/baai/"  # begins the service's name of each model that is used here
EMBEDDER = f"{VENDOR}bge-m3"
DIMENSIONS = 1024
TEXTS_A_REQUEST = 100

EMBEDDING = Bounds(at_once=4, a_minute=2_400)  # of 3,000 that are allowed
RERANKING = Bounds(at_once=8, a_minute=1_600)  # of 2,000

SPENT = {"3036", "4006"}  # the day's allowance: nothing will pass today
SPENT_TEXT = "daily free allocation"
PASSING = {"3040", "3007", "3008"}  # no capacity, and two kinds of timeouts


@dataclass(frozen=True)
class Account:
    """Where the service is and who asks. The token is in no message and no recording."""

    address: str
    account: str = field(repr=False)
    token: str = field(repr=False)

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] | None = None) -> "Account":
        """From CLOUDFLARE_ACCOUNT_ID, CLOUDFLARE_API_TOKEN and, for another address, CLOUDFLARE_BASE_URL."""
        found = os.environ if environment is None else environment
        values = {name: credential(found, name) for name in ("CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_TOKEN")}
        lacking = [name for name, value in values.items() if not value]
        if lacking:
            raise ModelError(f"Workers AI needs {' and '.join(lacking)} in the environment")
        return cls(credential(found, "CLOUDFLARE_BASE_URL") or ADDRESS, *values.values())

    def client(self, bounds: Bounds) -> "httpx.AsyncClient":
        """An HTTP client for it."""
        from retrieval.models import http

        return http.client(self.address, {"Authorization": f"Bearer {self.token}"}, bounds)

    async def run(self, client: "httpx.AsyncClient", model: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """One attempt: the `result` of a reply that says success."""
        from retrieval.models import http

        path = f"/client/v4/accounts/{quote(self.account, safe='')}/ai/run/{model}"
        reply = await http.post(client, path, body, _judge, (self.token, self.account))
        result: Mapping[str, Any] = reply["result"]
        return result


def _judge(answer: "Answer") -> None:
    """What the envelope says beyond the status: a failure can come under status 200."""
    body = answer.body if isinstance(answer.body, dict) else {}
    if answer.status == 200 and body.get("success") is True:
        if not isinstance(body.get("result"), dict):
            raise CallError("threw", f"the reply holds no result ({answer.said})")
        return
    errors = body.get("errors")
    codes = {str(each.get("code")) for each in errors if isinstance(each, dict)} if isinstance(errors, list) else set()
    if codes & SPENT or SPENT_TEXT in answer.text.lower():
        raise CallError("threw", f"the day's allowance is spent ({answer.said})", stop=True)
    if codes & PASSING:
        raise AgainError(answer.said, answer.wait)
    if answer.status == 200 and answer.body is not None:
        raise CallError("threw", f"the service reports a failure ({answer.said})")


def load(account: Account | None = None, bounds: Bounds = EMBEDDING) -> tuple[Callable[..., Any], str]:
    """The embedding function and what it asks; ModelError where the environment names no account."""
    from retrieval.models import Embedded
    from retrieval.models.embedding import checked, embed_all

    asked = account or Account.of_environment()
    pace = Pace(bounds.a_minute)

    async def embed_texts(texts: Sequence[str]) -> Embedded:
        poolings: set[str] = set()
        async with asked.client(bounds) as client:

            async def ask(part: Sequence[str]) -> list[list[float]]:
                body = {"text": list(part), "truncate_inputs": False}
                result = await bounded(partial(asked.run, client, EMBEDDER, body), bounds, pace, EMBEDDER)
                vectors = checked(result.get("data"), part)
                other = next((vector for vector in vectors if len(vector) != DIMENSIONS), None)
                if other is not None:
                    raise CallError("threw", f"expected {DIMENSIONS} dimensions, given {len(other)}")
                if not isinstance(result.get("pooling"), str):
                    raise CallError("threw", "the reply does not say how its vectors were pooled")
                poolings.add(result["pooling"])
                return vectors

            try:
                vectors = await embed_all(ask, texts, TEXTS_A_REQUEST, bounds)
            except PartError as error:
                error.pooling = " and ".join(sorted(poolings))
                raise
        if len(poolings) > 1:
            raise CallError("threw", f"vectors pooled by {' and by '.join(sorted(poolings))} cannot be compared")
        return Embedded(vectors, poolings.pop())

    return lambda kind, texts: asyncio.run(embed_texts(texts)), EMBEDDER


@asynccontextmanager
async def reranking(
    model: str, account: Account, bounds: Bounds
) -> "AsyncIterator[Callable[[str, Sequence[str]], Awaitable[list[float]]]]":
    """A function that scores texts for a question: one raw score a text, in the texts' order, on no known scale."""
    pace = Pace(bounds.a_minute)
    async with account.client(bounds) as client:

        async def ask(question: str, texts: Sequence[str]) -> list[float]:
            body: dict[str, Any] = {"query": question, "contexts": [{"text": text} for text in texts]}
            if model != EMBEDDER:
                body["top_k"] = len(texts)
            result = await bounded(partial(account.run, client, model, body), bounds, pace, model)
            return scores(result.get("response"), len(texts))

        yield ask


def scores(response: object, given: int) -> list[float]:
    """The scores of a reply, realigned by `id`, which is a position in what was given; CallError by its cause."""
    from retrieval.models.embedding import LARGEST

    if not isinstance(response, list) or not all(isinstance(each, dict) for each in response):
        raise CallError("unreadable", "the reply holds no list of scores")
    found: dict[int, float] = {}
    for each in response:
        at, score = each.get("id"), each.get("score")
        if type(at) is not int or not 0 <= at < given:
            raise CallError("named what was not given", f"the reply scores the text {at!r} of {given}")
        if type(score) not in (int, float) or not abs(score) <= LARGEST:
            raise CallError("not a number", f"the reply's score of text {at} is {score!r:.20}")
        if at in found:
            raise CallError("wrong number of scores", f"the reply scores the text {at} twice")
        found[at] = float(score)
    if len(found) != given:
        raise CallError("wrong number of scores", f"{len(found)} scores for {given} laws")
    return [found[at] for at in range(given)]
