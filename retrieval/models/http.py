"""JSON asked of a service over HTTP: what its transport and its status say. Knows no service's own codes."""

import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

import httpx

from retrieval.models.calls import AgainError, Bounds, CallError, TooLongError, shown

AGAIN = (408, 425, 429)
TOO_LONG = (400, 413, 422)
WRONG_ADDRESS_OR_KEY = (401, 402, 403, 404, 405)


class Answer(NamedTuple):
    """What a service sent. body: its JSON, None where it is none; said: status and beginning, fit to be shown.

    wait: the seconds that it asks to wait before the next attempt.
    """

    status: int
    body: Any
    text: str
    said: str
    wait: float | None


Judge = Callable[[Answer], None]  # raises what the service's own codes say


def client(base: str, headers: Mapping[str, str], bounds: Bounds) -> httpx.AsyncClient:
    """A client for one address, with the bounds' silence as its timeout. CallError for an address that is none."""
    try:
        # Certificates take a moment to load and are of no use to a plain address.
        secure = not base.startswith("http:")
        return httpx.AsyncClient(base_url=base, headers=dict(headers), timeout=bounds.read, verify=secure)
    except (httpx.InvalidURL, ValueError) as error:
        raise CallError("threw", f"{base!r} is no address: {error}", stop=True) from None


async def post(
    asked: httpx.AsyncClient, path: str, body: Mapping[str, Any], judge: Judge, secrets: tuple[str, ...] = ()
) -> Any:
    """The parsed JSON of a reply that nothing is wrong with: status 200, and the service's own `judge` is content.

    Raises AgainError for what may pass (no connection, silence, a body cut off, 408, 429, 5xx, no JSON), TooLongError
    for 400, 413 and 422, CallError for every other status.
    """
    try:
        response = await asked.post(path, json=body)
    except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
        raise CallError("threw", f"{asked.base_url} is no address: {error}", stop=True) from None
    except httpx.TimeoutException as error:
        raise AgainError(f"no answer in time ({type(error).__name__})") from None
    except (httpx.TransportError, httpx.DecodingError) as error:
        raise AgainError(f"{type(error).__name__}: {shown(str(error), secrets)}") from None
    text = shown(response.text, secrets)
    try:
        parsed = json.loads(response.content)
    except (ValueError, RecursionError):
        parsed = None
    status, wait = response.status_code, retry_after(response.headers.get("retry-after"), datetime.now(UTC))
    said = f"status {status}: {text or 'an empty body'}"
    judge(Answer(status, parsed, response.text, said, wait))
    if status in AGAIN or status >= 500:
        raise AgainError(said, wait)
    if status in TOO_LONG:
        raise TooLongError("threw", said)
    if status != 200:
        raise CallError("threw", said, stop=status in WRONG_ADDRESS_OR_KEY)
    if parsed is None:
        raise AgainError(f"the reply is {'no JSON: ' + text if text else 'empty'}")
    return parsed


def retry_after(value: str | None, now: datetime) -> float | None:
    """The seconds that a Retry-After header asks for, as a number or as a date; None where it says neither."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            until = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = (until if until.tzinfo else until.replace(tzinfo=UTC)).timestamp() - now.timestamp()
    return max(0.0, seconds) if math.isfinite(seconds) else None
