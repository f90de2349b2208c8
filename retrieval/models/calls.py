"""A call to the outside world, bounded: its retries, its pace, one wall time for all of it. Knows no provider."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from retrieval.errors import ModelError

Result = TypeVar("Result")

SHOWN = 200


class CallError(ModelError):
    """A call that gave nothing that can be used. `cause` is what a run counts it by.

    `stop`: whatever is asked next will fail alike (the day's allowance is spent, the credentials are wrong).
    """

    def __init__(self, cause: str, message: str, stop: bool = False) -> None:
        self.cause = cause
        self.stop = stop
        super().__init__(message)


class PartError(CallError):
    """Why the rest of some texts was not embedded; these `texts` were, and `vectors` (n, d) are theirs.

    pooling: how they were pooled, where the provider says so.
    """

    def __init__(self, error: CallError, texts: Sequence[str], vectors: Any) -> None:
        self.texts = texts
        self.vectors = vectors
        self.pooling: str | None = None
        super().__init__(error.cause, str(error), error.stop)


class TooLongError(CallError):
    """What was sent is more than the provider takes at once, or holds a text that it does not take."""


class AgainError(Exception):
    """An attempt that failed and may be made again, after `wait` seconds where the provider said so."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        self.wait = wait
        super().__init__(message)


@dataclass(frozen=True)
class Bounds:
    """How long and how often. seconds: a call with all its attempts and waits; read: one silence within an attempt.

    attempts: at most so many a call; the waits between them double from `first_wait` seconds. at_once: calls under way
    together. a_minute: attempts begun in a minute, evenly spaced.
    """

    seconds: float = 180.0
    read: float = 60.0
    attempts: int = 8
    first_wait: float = 1.0
    at_once: int = 8
    a_minute: float = 1_000.0


class Pace:
    """Lets attempts begin evenly spaced, at most so many a minute. `now` and `sleep` are its clock, in seconds."""

    def __init__(
        self,
        a_minute: float,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.now = now
        self.sleep = sleep
        self._gap = 60.0 / a_minute
        self._next = 0.0

    async def turn(self) -> None:
        """Wait for one's turn."""
        now = self.now()
        at = max(now, self._next)
        self._next = at + self._gap
        if at > now:
            await self.sleep(at - now)


async def bounded(attempt: Callable[[], Awaitable[Result]], bounds: Bounds, pace: Pace, what: str) -> Result:
    """The result of `attempt`, made again while it raises AgainError, within the bounds; `what` begins the messages.

    Raises CallError: `timed out` when the seconds are up, `threw` when the attempts are. A provider that asks for a
    longer wait than the seconds leave is not asked again, and neither is what comes after (`stop`).
    """
    before = "no answer"
    end = pace.now() + bounds.seconds
    try:
        async with asyncio.timeout(bounds.seconds):
            for tried in range(1, bounds.attempts + 1):
                await pace.turn()
                try:
                    return await attempt()
                except AgainError as error:
                    before = str(error)
                    wait = error.wait
                if wait is not None and pace.now() + wait > end:
                    message = f"{what}: {before}; told to wait {wait:.0f} s, a call has {bounds.seconds:g} s in all"
                    raise CallError("timed out", message, stop=True)
                if tried < bounds.attempts:
                    await pace.sleep(bounds.first_wait * 2 ** (tried - 1) if wait is None else wait)
    except TimeoutError:
        raise CallError("timed out", f"{what}: not answered within {bounds.seconds:g} s ({before})") from None
    raise CallError("threw", f"{what}: failed {bounds.attempts} times, at last: {before}")


async def together(tasks: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """The results of all, in their order. The first that fails ends the others, and its error is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            started = [group.create_task(each) for each in tasks]
    except BaseExceptionGroup as group_of_errors:
        error: BaseException = group_of_errors
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None
    return [each.result() for each in started]


def shown(text: str, secrets: tuple[str, ...] = ()) -> str:
    """The beginning of what a provider said, on one line, with the secrets that it may have repeated taken out."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "…")
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
