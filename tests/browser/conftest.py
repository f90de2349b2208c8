"""The browser, once for each module, and the pages of the two runs as files, once for all tests of a process."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from evals.report.contents import Contents
from evals.report.pages.page import page
from tests.browser import world
from tests.browser.chromium import launched


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Headless Chromium. Playwright's event loop runs until it is closed: no other module's test meets it."""
    with sync_playwright() as playwright:
        found = launched(playwright)
        yield found
        found.close()


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the run as a file."""
    return _written(tmp_path_factory, "off")


@pytest.fixture(scope="session")
def searched_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the run with searches."""
    return _written(tmp_path_factory, "written")


@pytest.fixture(scope="session")
def reranked_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the run with a reranker."""
    path = tmp_path_factory.mktemp("report") / "index.html"
    path.write_text(page(Contents(world.reranked()), world.PLOTS), encoding="utf-8", newline="\n")
    return path


def _written(factory: pytest.TempPathFactory, rephrase: str) -> Path:
    path = factory.mktemp("report") / "index.html"
    path.write_text(world.html(rephrase), encoding="utf-8", newline="\n")
    return path
