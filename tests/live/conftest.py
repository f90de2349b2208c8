"""A server on loopback for each test."""

from collections.abc import Iterator

import pytest

from tests.live.loopback import Loopback, serving


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """A server that answers right until told otherwise; nothing of this machine's environment leads elsewhere."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serving() as told:
        yield told
