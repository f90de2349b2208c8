"""A server on loopback for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.loopback import Loopback, serving
from tests.live.world import World, made


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """A server that answers right until told otherwise; nothing of this machine's environment leads elsewhere."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serving() as told:
        yield told


@pytest.fixture
def world(tmp_path: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch) -> World:
    """A small project whose models are all at the server."""
    return made(tmp_path, server, monkeypatch)
