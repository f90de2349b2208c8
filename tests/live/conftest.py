"""One server on loopback for all tests, which each test finds as if it were new."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.live.loopback import Loopback, serving
from tests.live.world import World, made


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[], Loopback]]:
    """The server that is up for all tests."""
    with serving() as anew:
        yield anew


@pytest.fixture
def server(serve: Callable[[], Loopback], monkeypatch: pytest.MonkeyPatch) -> Loopback:
    """A server that answers right until told otherwise; nothing of this machine's environment leads elsewhere."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    return serve()


@pytest.fixture
def world(tmp_path: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch) -> World:
    """A small project whose models are all at the server."""
    return made(tmp_path, server, monkeypatch)
