"""A call's bounds: its attempts and waits, one wall time for all of it, the pace, how many are under way at once."""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from retrieval.live import RERANKERS, ask_all
from retrieval.models import workers_ai
from retrieval.models.calls import AgainError, Bounds, CallError, Pace, bounded
from retrieval.models.http import retry_after
from tests.live.loopback import Loopback, Said, asked_texts, failure
from tests.live.providers import LAWS, QUICK, bge, embedded, environment, openai, recorded


class Clock:
    """A clock that sleeping alone moves."""

    def __init__(self) -> None:
        self.time = 100.0
        self.slept: list[float] = []

    def now(self) -> float:
        """The time."""
        return self.time

    async def sleep(self, seconds: float) -> None:
        """Move on."""
        self.slept.append(seconds)
        self.time += seconds

    def pace(self, a_minute: float = math.inf) -> Pace:
        """A pace by this clock."""
        return Pace(a_minute, self.now, self.sleep)


def failing(*waits: float | None) -> Callable[[], Any]:
    """Attempts that fail with these waits, one after another, and then pass."""
    left = list(waits)

    async def attempt() -> str:
        if left:
            raise AgainError("no capacity", left.pop(0))
        return "good"

    return attempt


@pytest.mark.parametrize(
    ("waits", "slept"),
    [
        ([], []),
        ([None, None, None], [1, 2, 4]),  # doubled where nobody says how long
        ([7.0], [7]),
        ([0.0, None, 3.0], [0, 2, 3]),
    ],
)
def test_waits_between_attempts(waits: list[float | None], slept: list[float]) -> None:
    """As long as the provider says, or twice as long as the time before."""
    clock = Clock()
    assert asyncio.run(bounded(failing(*waits), Bounds(), clock.pace(), "m")) == "good"
    assert clock.slept == slept


def test_attempts_come_to_an_end() -> None:
    """After so many the last reason is told, and nobody waits for another."""
    clock = Clock()
    with pytest.raises(CallError, match="m: failed 3 times, at last: no capacity") as failed:
        asyncio.run(bounded(failing(*[None] * 9), Bounds(attempts=3), clock.pace(), "m"))
    assert (failed.value.cause, failed.value.stop) == ("threw", False)
    assert clock.slept == [1, 2]


def test_a_wait_beyond_the_bound_is_not_begun() -> None:
    """Told to wait longer than the call may last, nothing is asked again, and nothing after it is."""
    clock = Clock()
    with pytest.raises(CallError, match="told to wait 30 s, a call has 60 s in all") as failed:
        asyncio.run(bounded(failing(40.0, 30.0), Bounds(seconds=60), clock.pace(), "m"))
    assert (failed.value.cause, failed.value.stop) == ("timed out", True)
    assert clock.slept == [40]


def test_attempts_begin_evenly_spaced() -> None:
    """Five at 60 a minute begin a second apart; after a silence the next begins at once."""
    clock = Clock()
    pace = clock.pace(60)

    async def begun(times: int) -> list[float]:
        found = []
        for _ in range(times):
            await pace.turn()
            found.append(clock.time)
        return found

    assert asyncio.run(begun(5)) == [100, 101, 102, 103, 104]
    clock.time = 200
    assert asyncio.run(begun(2)) == [200, 201]


def test_a_stage_keeps_its_pace(server: Loopback) -> None:
    """Six calls at 3,000 a minute take five gaps of 20 ms, however many may be under way."""
    stage = RERANKERS["bge-reranker-base"]
    calls = [stage.call(f"question {at}", LAWS) for at in range(6)]
    begun = time.monotonic()
    ask_all(stage, calls, environment=environment(server), bounds=replace(QUICK, a_minute=3_000))
    assert time.monotonic() - begun >= 5 * 0.02


def test_the_providers_limits_are_kept() -> None:
    """3,000 embedding and 2,000 reranking requests a minute at most; a minute of silence is waited for."""
    assert workers_ai.EMBEDDING.a_minute < 3_000
    assert workers_ai.RERANKING.a_minute < 2_000
    for bounds in (workers_ai.EMBEDDING, *(stage.bounds for stage in RERANKERS.values())):
        assert bounds.read == 60
        assert bounds.read < bounds.seconds < 600


@pytest.mark.parametrize("stage", ["bge-reranker-base", "claude-haiku-4-5"])
def test_one_bound_on_a_whole_call(
    stage: str, server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body that drips for ever, each byte in time, ends with the seconds of the call."""
    for name, value in environment(server).items():
        monkeypatch.setenv(name, value)
    server.always = Said({"text": "x" * 500}, drip=0.02)
    with pytest.raises(Exception, match=r"not answered within 0\.4 s"):
        recorded(RERANKERS[stage], tmp_path, replace(QUICK, seconds=0.4, attempts=99))


def test_attempts_and_waits_are_in_the_bound() -> None:
    """Attempts that fail at once, for ever, end with the seconds of the call too."""
    with pytest.raises(CallError, match=r"m: not answered within 0\.2 s \(no capacity\)") as failed:
        asyncio.run(bounded(failing(*[None] * 99), Bounds(seconds=0.2, first_wait=0.05, attempts=99), Pace(1e9), "m"))
    assert failed.value.cause == "timed out"


def test_calls_under_way_are_bounded(server: Loopback) -> None:
    """No more calls are under way than the bounds say, and all of them are made."""
    server.always = lambda body, good: Said(good, silence=0.02)
    stage = RERANKERS["bge-reranker-base"]
    calls = [stage.call(f"question {at}", LAWS) for at in range(20)]
    found = ask_all(stage, calls, environment=environment(server), bounds=replace(QUICK, at_once=3))
    assert len(found.replies) == 20
    assert 1 < server.most_at_once <= 3


def test_embedding_is_bounded_alike(server: Loopback, tmp_path: Path) -> None:
    """Of 700 texts no request holds more than 100, and no more of them are under way than the bounds say."""
    server.always = lambda body, good: Said(good, silence=0.02)
    texts = [f"text {at}" for at in range(700)]
    embedded(openai(server, replace(QUICK, at_once=2)), tmp_path, texts)
    assert sorted(server.texts()) == sorted(texts)
    assert max(len(asked_texts(body)) for _, body in server.asked) == 100
    assert server.most_at_once == 2


@pytest.mark.parametrize(
    ("fault", "most", "said"),
    [
        (Said(failure(3036), 429), 2, "the day's allowance is spent"),
        (Said({}, 401), 2, "status 401"),
        (Said({}, 400), 12, "12 calls failed in a row, at last: status 400"),
    ],
    ids=["spent", "token", "all"],
)
def test_no_more_is_asked_where_nothing_passes(fault: Said, most: int, said: str, server: Loopback) -> None:
    """A spent allowance or a wrong token ends the asking; so do twelve failures in a row. What was got is kept.

    Two calls are out at once: one may be under way when the end is seen, and one failure may overtake a good reply.
    """
    stage = RERANKERS["bge-reranker-base"]
    calls = [stage.call(f"question {at}", LAWS) for at in range(40)]
    server.faults = [lambda body, good: Said(good)] * 5
    server.always = fault
    found = ask_all(stage, calls, environment=environment(server), bounds=replace(QUICK, at_once=2))
    assert len(found.replies) == 5
    assert said in str(found.stopped)
    assert 1 <= len(found.failed) <= most + 2
    assert len(server.asked) <= 5 + most + 2


def test_a_program_fault_is_not_taken_for_a_call_that_failed(server: Loopback) -> None:
    """What nobody foresaw comes out as it is, and does not hang."""

    def broken(call: object, reply: object) -> None:
        raise KeyError("a fault of the program")

    stage = RERANKERS["bge-reranker-base"]
    with pytest.raises(KeyError):
        ask_all(stage, [stage.call("q", LAWS)], broken, environment=environment(server), bounds=QUICK)
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()


def test_nobody_there(server: Loopback, tmp_path: Path) -> None:
    """A refused connection is tried as often as the bounds say."""
    server.address = "http://127.0.0.1:9"
    with pytest.raises(CallError, match="failed 3 times, at last: ConnectError"):
        embedded(bge(server), tmp_path)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("7", 7),
        ("0.5", 0.5),
        ("-3", 0),
        ("soon", None),
        ("nan", None),
        ("Sun, 29 Nov 2026 12:00:30 GMT", 30),
        ("Sun, 29 Nov 2026 11:00:00 GMT", 0),
    ],
)
def test_retry_after(value: str | None, seconds: float | None) -> None:
    """Seconds or a date; what is neither is as if it were not there."""
    assert retry_after(value, datetime(2026, 11, 29, 12, tzinfo=UTC)) == seconds
