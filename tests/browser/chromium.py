"""A browser for tests: found on the machine, started without a network, and every word it says on its console kept."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def launched(playwright: Playwright) -> Browser:
    """Headless Chromium. Where there is none the test is skipped, and fails where CI is set."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        what = f"no browser on this machine: none of {', '.join(NAMES)} is on the path"
        if os.environ.get("CI"):
            pytest.fail(what)
        pytest.skip(what)
    return playwright.chromium.launch(executable_path=path, args=ARGUMENTS)


@dataclass
class Opened:
    """A page in the browser, and what it said and asked for beside itself."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def settle(self) -> None:
        """Wait until what was set is shown."""
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def text(self, selector: str) -> str:
        """What an element shows."""
        return self.page.inner_text(selector)

    def fragment(self) -> str:
        """The address's fragment, once it is written."""
        self.page.wait_for_timeout(300)
        return str(self.page.evaluate("location.hash"))


@contextmanager
def opened(browser: Browser, path: Path, fragment: str = "", width: int = 1280, **context: Any) -> Iterator[Opened]:
    """A file opened from the disk with the network off."""
    made = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **context)
    try:
        page = made.new_page()
        found = Opened(page)
        address = path.as_uri()
        page.on("console", lambda message: found.said.append(message.text))
        page.on("pageerror", lambda error: found.said.append(str(error)))
        page.on("dialog", lambda dialog: found.said.append(dialog.message))
        page.on("request", lambda request: found.asked.append(request.url))
        page.goto(address + fragment)
        found.settle()
        yield found
        assert found.said == []
        assert {url.partition("#")[0] for url in found.asked} == {address}
    finally:
        made.close()
