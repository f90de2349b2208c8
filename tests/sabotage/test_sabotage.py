"""One fault at a time, planted where the pipeline runs: what must catch it does."""

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from evals.gate import FAILED
from evals.outcomes import Side
from retrieval.errors import NearEnoughError
from tests.sabotage.faults import FAULTS, GATE, REFUSED, Fault, Test
from tests.sabotage.world import World, verdict

DOCS = Path(__file__).parents[2] / "docs" / "sabotage.md"


@pytest.fixture(scope="module")
def world() -> World:
    """Two states of the real set."""
    return World.as_committed()


@pytest.fixture(scope="module")
def baseline(world: World) -> Side:
    """What holds there, with nothing planted."""
    return world.measure()


def cases(test: Test) -> Iterable[dict[str, Any]]:
    """The arguments a test is run with, by its own parameters."""
    marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
    sets: list[list[dict[str, Any]]] = []
    for mark in marks:
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else list(mark.args[0])
        values = [[each] if len(names) == 1 else list(each) for each in mark.args[1]]
        sets.append([dict(zip(map(str.strip, names), each, strict=True)) for each in values])
    for chosen in itertools.product(*sets):
        yield {name: value for each in chosen for name, value in each.items()}


def fails(test: Test) -> bool:
    """Whether a test fails now, with any of its parameters."""
    for case in cases(test):
        try:
            test(**case)
        except AssertionError:
            return True
    return False


def catches(catcher: str | Test, planted: World, baseline: Side) -> bool:
    """Whether the gate, the reading or a test notices what was planted."""
    if callable(catcher):
        return fails(catcher)
    if catcher == GATE:
        return verdict(baseline, planted.measure()).status == FAILED
    assert catcher == REFUSED
    try:
        planted.measure()
    except NearEnoughError:
        return True
    return False


def test_nothing_planted_passes(world: World, baseline: Side) -> None:
    """The gate passes the same state measured again, and every test that is to catch a fault passes."""
    again = verdict(baseline, world.measure())
    assert (again.passed, again.lost, again.gained, again.margins, again.louder) == (True, (), (), (), ())
    tests: set[Callable[..., None]] = {
        each for fault in FAULTS for each in fault.caught_by if not isinstance(each, str)
    }
    assert [test.__name__ for test in tests if fails(test)] == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_caught(
    fault: Fault, world: World, baseline: Side, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By everything that the table names for it."""
    planted = fault.plant(world, monkeypatch, tmp_path)
    slipped = [each for each in fault.caught_by if not catches(each, planted, baseline)]
    assert slipped == [], "this fault slips through: the set lacks a question, or the tests lack a case"


def test_the_table_in_the_docs_is_this_one() -> None:
    """`docs/sabotage.md` says what is planted and what catches it."""
    rows = [line for line in DOCS.read_text("utf-8").splitlines() if line.startswith("| ")]
    assert rows[1:] == [fault.row() for fault in FAULTS]
