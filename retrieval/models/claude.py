"""Anthropic's messages API through its SDK: the rephraser and Haiku as a reranker, each with structured output."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from retrieval.errors import ModelError
from retrieval.models.calls import AgainError, Bounds, CallError, Pace, bounded, shown
from retrieval.models.credentials import credential

BOUNDS = Bounds(at_once=6, a_minute=1_000)

AGAIN = (408, 409, 429)
WRONG_ADDRESS_OR_KEY = (401, 402, 403, 404)
NO_CREDIT = "credit balance"

Create = Callable[[Mapping[str, Any]], Awaitable[Any]]


@dataclass(frozen=True)
class Access:
    """Where to ask and with what key; `address` None is the vendor's own."""

    key: str = field(repr=False)
    address: str | None = None

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] | None = None) -> "Access":
        """From ANTHROPIC_API_KEY and, for another address, ANTHROPIC_BASE_URL; ModelError without a key."""
        found = os.environ if environment is None else environment
        key = credential(found, "ANTHROPIC_API_KEY")
        if not key:
            raise ModelError("Anthropic's models need ANTHROPIC_API_KEY in the environment")
        return cls(key, credential(found, "ANTHROPIC_BASE_URL") or None)


@asynccontextmanager
async def messages(access: Access, bounds: Bounds = BOUNDS) -> AsyncIterator[Create]:
    """A function that sends a request to the messages API and gives the message, bounded as a call is.

    The SDK's own retries are off: those of `bounded` are the only ones. Nor does it follow a redirection, which would
    take the key to another host.
    """
    import anthropic

    pace = Pace(bounds.a_minute)
    # Certificates take a moment to load and are of no use to a plain address.
    secure = not (access.address or "").startswith("http:")
    transport = anthropic.DefaultAsyncHttpxClient(follow_redirects=False, verify=secure, timeout=bounds.read)
    async with anthropic.AsyncAnthropic(
        api_key=access.key, base_url=access.address, max_retries=0, timeout=bounds.read, http_client=transport
    ) as client:

        async def create(request: Mapping[str, Any]) -> Any:
            async def attempt() -> Any:
                try:
                    reply = await client.messages.create(**request)
                except anthropic.APIError as error:
                    raise _judged(error, access.key) from None
                except ValueError as error:
                    raise AgainError(f"the reply is no JSON ({error})") from None
                if not isinstance(reply, anthropic.types.Message):
                    raise CallError("unreadable", f"the reply is no message: {shown(str(reply), (access.key,))}")
                return reply

            return await bounded(attempt, bounds, pace, str(request["model"]))

        yield create


def _judged(error: Any, key: str) -> Exception:
    """An error of the SDK as one that may pass or one that will not."""
    from retrieval.models.http import retry_after

    status = getattr(error, "status_code", None)
    said = shown(str(error), (key,))
    if status is None:  # no connection, silence, a body cut off
        return AgainError(f"{type(error).__name__}: {said}")
    said = f"status {status}: {said}"
    if status in AGAIN or status >= 500:
        return AgainError(said, retry_after(error.response.headers.get("retry-after"), datetime.now(UTC)))
    return CallError("threw", said, stop=status in WRONG_ADDRESS_OR_KEY or NO_CREDIT in said)


def usage(message: Any) -> dict[str, int]:
    """The tokens of a message as they were counted, cached ones included in the input."""
    counted = getattr(message, "usage", None)
    if counted is None:
        return {}
    cached = ("cache_creation_input_tokens", "cache_read_input_tokens")
    read = [_whole(getattr(counted, name, None)) for name in ("input_tokens", *cached)]
    return {"input": sum(read), "output": _whole(getattr(counted, "output_tokens", None))}


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
