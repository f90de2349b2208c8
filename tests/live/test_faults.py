"""Every way in which a service misbehaves ends in a right result or one clear error, and never in a wrong recording."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from retrieval.errors import NearEnoughError
from tests.live.faults import ANSWERS, FAILS, PASSES, Case, attempts, documented
from tests.live.loopback import Loopback
from tests.live.providers import ACCOUNT, RIGHT, TOKEN, Ask, environment


@pytest.fixture(autouse=True)
def _credentials(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(server).items():
        monkeypatch.setenv(name, value)


def each(cases: Sequence[Case]) -> pytest.MarkDecorator:
    """A case a fault and provider."""
    return pytest.mark.parametrize(
        ("ask", "case"),
        [pytest.param(ask, case, id=f"{case.name}, {ask.__name__}") for case in cases for ask in case.providers],
    )


@each(PASSES)
def test_what_passes_ends_in_the_right_result(ask: Ask, case: Case, server: Loopback, tmp_path: Path) -> None:
    """A fault that passes costs an attempt, and what is recorded is as if it had not been."""
    server.faults = list(case.faults)
    assert ask(server, tmp_path) == RIGHT[ask]
    assert len(server.asked) == attempts(case)


@each(FAILS)
def test_what_does_not_pass_is_one_clear_error(ask: Ask, case: Case, server: Loopback, tmp_path: Path) -> None:
    """It says what happened on one line, names no secret, is asked no oftener than may help; nothing is recorded."""
    server.faults = list(case.faults)
    outcome = ".*".join(map(re.escape, case.outcome.split("…")))
    with pytest.raises(NearEnoughError, match=outcome) as failed:
        ask(server, tmp_path)
    assert len(server.asked) == (3 if len(case.faults) == 9 else 1)
    assert "\n" not in str(failed.value)
    assert TOKEN not in str(failed.value)
    assert ACCOUNT not in str(failed.value)
    assert [path.parent.name for path in tmp_path.rglob("*.jsonl")] in ([], ["recorded"])


@each(ANSWERS)
def test_answers_of_a_model(ask: Ask, case: Case, server: Loopback, tmp_path: Path) -> None:
    """An answer that cannot be used is recorded as an outcome of its own, by its cause, and not asked again."""
    server.faults = list(case.faults)
    assert ask(server, tmp_path) == case.outcome
    assert len(server.asked) == 1


def test_the_documents_tables_are_these() -> None:
    """docs/live.md holds each fault with its providers and its outcome, as they are tested here."""
    text = (Path(__file__).parents[2] / "docs" / "live.md").read_text(encoding="utf-8")
    table = text.partition("| a fault that passes |")
    assert (table[1] + table[2]).strip().splitlines() == list(documented())
