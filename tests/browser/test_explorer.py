"""The explorer in the page: its arithmetic is the sweep's, its sliders and its address say where it stands."""

import csv
import io
import random
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from evals.questions import Pair
from evals.report.contents import Contents
from evals.report.pages.page import page
from evals.sweep import Setting, Sweep
from retrieval.settings import changed
from tests.browser import world
from tests.browser.chromium import Opened, opened

SLIDERS = ("near_enough", "near_laws", "retrieved_laws", "candidate_laws")
FILTERS: Mapping[str, Callable[[Pair, str], bool]] = {
    "state": lambda pair, value: pair.state == value,
    "kind": lambda pair, value: pair.kind == value,
    "language": lambda pair, value: pair.lang == value,
    "tag": lambda pair, value: value in pair.tags,
    "topic": lambda pair, value: pair.topic == value,
}

# Sets every control of a position in turn and reads back what the page shows there, in full.
READ = """async (positions) => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const set = (id, value, event) => {
    const control = document.getElementById(id);
    control.value = value;
    control.dispatchEvent(new Event(event));
  };
  const found = [];
  for (const { sliders, filters } of positions) {
    for (const [id, value] of Object.entries(sliders)) set(id, value, "input");
    for (const [id, value] of Object.entries(filters)) set(id, value, "change");
    await frame();
    const shown = { near_enough: document.getElementById("near_enough-out").textContent };
    for (const row of document.querySelectorAll("#stages-body tr")) {
      const cells = [...row.querySelectorAll("td")].map((cell) => cell.dataset.value);
      shown[row.dataset.stage] = [cells[1], cells[4], cells[7]];
    }
    for (const value of document.querySelectorAll("#silence b")) shown[value.dataset.silence] = value.dataset.value;
    found.push(shown);
  }
  return found;
}"""


@dataclass(frozen=True)
class Position:
    """A position of every slider and filter."""

    sliders: Mapping[str, float]
    filters: Mapping[str, str]

    def holds(self, pair: Pair) -> bool:
        """Whether the filters let a pair in."""
        return all(FILTERS[name](pair, value) for name, value in self.filters.items() if value)


def positions(opened_page: Opened, count: int, names: tuple[str, ...]) -> list[Position]:
    """Random positions of the page's own controls."""
    draw = random.Random(7)
    values = {
        name: opened_page.page.eval_on_selector_all(f"#{name} option", "(all) => all.map((each) => each.value)")
        for name in FILTERS
    }
    ranges = {
        name: [float(opened_page.page.get_attribute(f"#{name}", end) or "") for end in ("min", "max")] for name in names
    }
    found = []
    for nth in range(count):
        sliders = {name: float(draw.randint(int(low), int(high))) for name, (low, high) in ranges.items()}
        sliders["near_enough"] = round(draw.uniform(*ranges["near_enough"]), 3)
        filters = dict.fromkeys(FILTERS, "")
        if nth % 2:
            name = draw.choice(list(FILTERS))
            filters[name] = draw.choice(values[name])
        found.append(Position(sliders, filters))
    return found


@cache
def swept(rephrase: str, values: tuple[str, ...]) -> Sweep:
    """The sweep of the pairs that filters of these values let in."""
    return Sweep.of(world.run(rephrase), only=Position({}, dict(zip(FILTERS, values, strict=True))).holds)


def expected(position: Position, cutoff: float, rephrase: str = "off") -> dict[str, Any]:
    """What the sweep says at a position."""
    sliders, near_laws = position.sliders, int(position.sliders["near_laws"])
    sweep = swept(rephrase, tuple(position.filters.values()))
    at = {
        "near": sweep.at(Setting(cutoff, near_laws, 1), "near"),
        "fused": sweep.at(Setting(cutoff, near_laws, int(sliders["retrieved_laws"]))),
        "pool": sweep.at(Setting(cutoff, near_laws, int(sliders["candidate_laws"]))),
    }
    silence = sweep.expect_nothing(cutoff, near_laws)
    shown: dict[str, Any] = {stage: [each.recall, each.precision, each.laws] for stage, each in at.items()}
    if silence:
        shown |= {"silent": silence.returned_nothing, "laws": silence.laws}
    return shown


def read(shown: Mapping[str, Any]) -> dict[str, Any]:
    """What the page shows, as numbers; None where it shows that there is none."""

    def number(text: str) -> float | None:
        return float(text) if text else None

    return {
        name: [number(each) for each in value] if isinstance(value, list) else number(value)
        for name, value in shown.items()
        if name != "near_enough"
    }


def test_the_explorer_shows_the_sweeps_figures_at_200_random_positions(browser: Browser, report: Path) -> None:
    """To the last bit, at every stage, under any filter."""
    with opened(browser, report) as page:
        asked = positions(page, 200, SLIDERS)
        shown = page.page.evaluate(READ, [{"sliders": each.sliders, "filters": each.filters} for each in asked])
    for position, found in zip(asked, shown, strict=True):
        assert read(found) == expected(position, float(found["near_enough"])), position


def test_the_explorer_fuses_searches_as_the_sweep_does(browser: Browser, searched_report: Path) -> None:
    """Where searches are fused beside some questions, those have a pool size of their own."""
    names = (*SLIDERS, "searched_candidate_laws")
    with opened(browser, searched_report) as page:
        asked = [
            Position({**each.sliders, "searched_candidate_laws": each.sliders["candidate_laws"]}, each.filters)
            for each in positions(page, 60, names)
        ]
        shown = page.page.evaluate(READ, [{"sliders": each.sliders, "filters": each.filters} for each in asked])
    for position, found in zip(asked, shown, strict=True):
        assert read(found) == expected(position, float(found["near_enough"]), "written"), position


def test_the_curves_pass_through_the_figures(browser: Browser, report: Path) -> None:
    """Where a chart marks the position, its recall is the one that the table shows, wherever one came from."""
    with opened(browser, report) as page:
        for sliders in ({}, {"near_laws": "3"}, {"near_enough": "0.6"}, {"candidate_laws": "20"}, {"near_laws": "9"}):
            page.page.evaluate(READ, [{"sliders": sliders, "filters": {}}])
            recall = page.text("[data-stage=pool] td:nth-of-type(2)")
            for name in ("cutoff", "near", "laws"):
                label = page.page.get_attribute(f"#curve-{name} svg", "aria-label") or ""
                assert label.startswith(f"recall {recall} over ")


def test_the_settings_in_force_show_the_runs_own_figures(browser: Browser, report: Path) -> None:
    """Before anything is moved, here and in force are the same, and nothing is lost or gained."""
    run = world.run()
    sweep, settings = Sweep.of(run), run.settings
    pool = sweep.at(Setting(settings.cutoff, settings.near_laws, settings.candidate_laws))
    with opened(browser, report) as page:
        cells = page.page.eval_on_selector_all("[data-stage=pool] td", "(all) => all.map((each) => each.dataset.value)")
        assert [float(cells[0]), float(cells[1])] == [pool.recall, pool.recall]
        assert (page.text("#lost-count"), page.text("#gained-count")) == ("0", "0")
        assert page.text("#command") == "near-enough eval"


def moved(page: Opened) -> None:
    """Another position: a higher cutoff and a smaller pool."""
    page.page.evaluate(READ, [{"sliders": {"near_enough": "0.6", "candidate_laws": "6"}, "filters": {}}])


def test_lost_and_gained_are_the_groups_whose_membership_changed(browser: Browser, report: Path) -> None:
    """Counted and named as the sweep's two memberships differ."""
    run = world.run()
    sweep, settings = Sweep.of(run), run.settings
    before = sweep.reached(Setting(settings.cutoff, settings.near_laws, settings.candidate_laws))
    here = sweep.reached(Setting(0.6, settings.near_laws, 6))
    names = [" or ".join(run.pairs[at].pair.expected[nth]) for at, nth in sweep.groups]
    lost = [name for name, was, now in zip(names, before, here, strict=True) if was and not now]
    gained = [name for name, was, now in zip(names, before, here, strict=True) if now and not was]
    assert lost
    with opened(browser, report) as page:
        moved(page)
        for name, groups in (("lost", lost), ("gained", gained)):
            assert page.text(f"#{name}-count") == str(len(groups))
            while page.page.is_visible(f"#{name}-more button"):
                page.page.click(f"#{name}-more button")
            shown = page.page.locator(f"#{name} .meta").all_inner_texts()
            assert len(shown) == len(groups)
            assert all(f": {group} " in text for group, text in zip(groups, shown, strict=True))


def test_the_command_to_copy_sets_what_the_sliders_show(browser: Browser, report: Path) -> None:
    """Its changes, read as the command line reads them, give the position; the diff names the same."""
    with opened(browser, report) as page:
        moved(page)
        command, diff = page.text("#command"), page.text("#diff")
    words = command.split()
    assert words[:2] == ["near-enough", "eval"]
    settings = changed(world.run().settings, words[3::2])
    assert (settings.cutoff, settings.candidate_laws, settings.near_laws) == (0.6, 6, 6)
    assert "-  fake: 0.4125\n+  fake: 0.6" in diff
    assert "-candidate_laws: 9\n+candidate_laws: 6" in diff


def test_the_command_and_the_diff_are_against_the_settings_file(browser: Browser, tmp_path: Path) -> None:
    """A run that was given other settings than the file's: the line to copy gives the position from the file's."""
    run = world.run("written")
    file = run.settings.model_copy(
        update={"embedder": "other", "near_enough": {"fake": 0.3, "other": 0.5}, "rephrase": "off", "near_laws": 8}
    )
    path = tmp_path / "index.html"
    path.write_text(page(Contents(run, file=file), world.PLOTS), encoding="utf-8", newline="\n")
    with opened(browser, path) as shown:
        at_first = shown.text("#command"), shown.text("#diff")
        page_of_it = shown.page
        page_of_it.evaluate(READ, [{"sliders": {"near_laws": "8", "candidate_laws": "6"}, "filters": {}}])
        then = shown.text("#command"), shown.text("#diff")
    for command, diff, candidate_laws, near_laws in ((*at_first, 9, 6), (*then, 6, 8)):
        words = shlex.split(command)
        assert words[:2] == ["near-enough", "eval"]
        settings = changed(file, words[3::2])
        assert (settings.embedder, settings.cutoff, settings.rephrase) == ("fake", 0.4125, "written")
        assert (settings.candidate_laws, settings.near_laws) == (candidate_laws, near_laws)
        assert "-embedder: other\n+embedder: fake\n near_enough:\n-  fake: 0.3\n+  fake: 0.4125\n" in diff
        assert "-rephrase: off\n+rephrase: written" in diff
        assert ("-near_laws: 8\n+near_laws: 6" in diff) is (near_laws == 6)


def test_a_setting_of_two_words_is_quoted_for_a_shell(browser: Browser, tmp_path: Path) -> None:
    """The reranker's setting names its model after a space."""
    run = world.reranked()
    path = tmp_path / "index.html"
    path.write_text(page(Contents(run, file=world.run().settings), world.PLOTS), encoding="utf-8", newline="\n")
    with opened(browser, path) as shown:
        assert shlex.split(shown.text("#command")) == ["near-enough", "eval", "--set", f"rerank={run.settings.rerank}"]
        assert "-rerank: off\n+rerank: recorded claude-haiku-4-5" in shown.text("#diff")


def saved(shown: Opened, button: str) -> list[dict[str, str]]:
    """The rows of the CSV that a button saves."""
    with shown.page.expect_download() as download:
        shown.page.click(f"{button} button")
    return list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8"))))


def test_the_tables_of_a_position_are_saved_as_csv(browser: Browser, report: Path) -> None:
    """Every digit of the sweep's figures, every question of the list beyond those shown, texts as they are."""
    run = world.run()
    sweep, settings = Sweep.of(run), run.settings
    with opened(browser, report) as page:
        moved(page)
        stages, kinds = saved(page, "#save-stages"), saved(page, "#save-kinds")
        questions = saved(page, "#save-questions")
        lost, gained = page.text("#lost-count"), page.text("#gained-count")
    pool = {row["stage"]: row for row in stages}["pool"]
    for column, setting in (("in force", Setting(settings.cutoff, 6, 9)), ("here", Setting(0.6, 6, 6))):
        found = sweep.at(setting, "pool")
        told = [float(pool[f"{name} {column}"]) for name in ("recall", "precision", "laws")]
        assert told == [found.recall, found.precision, found.laws]
    assert [sum(int(row[name]) for row in kinds) for name in ("lost", "gained")] == [int(lost), int(gained)]
    assert {(row["question"], row["state"]): row["text"] for row in questions} == {
        (each.pair.question, each.pair.state): each.pair.text for each in run.pairs
    }
    reached = sum(int(row["reached by pool"] or 0) for row in questions)
    assert reached == sum(sweep.reached(Setting(0.6, 6, 6)))


def test_the_arrow_keys_move_a_slider_and_the_address_follows(browser: Browser, report: Path) -> None:
    """One step is a thousandth of a cosine; the status tells what it does."""
    with opened(browser, report) as page:
        page.page.focus("#near_enough")
        page.page.keyboard.press("ArrowRight")
        page.settle()
        assert page.text("#near_enough-out") == "0.414"
        page.page.focus("#near_laws")
        page.page.keyboard.press("ArrowLeft")
        page.settle()
        assert page.text("#near_laws-out") == "5"
        assert "Recall of pool" in page.text("#status")
        assert page.fragment() == "#near_enough=0.414&near_laws=5"


def test_a_link_shows_somebody_else_the_same_view(browser: Browser, report: Path) -> None:
    """Sliders, filters, the stage judged, the list and its order, the search and the open question."""
    key = f"{world.run().pairs[4].pair.question}@{world.run().pairs[4].pair.state}"
    shown = "document.querySelector('main').innerText + document.querySelector('dialog').innerText"
    with opened(browser, report) as page:
        moved(page)
        page.page.select_option("#stage", "fused")
        page.page.select_option("#state", world.run().pairs[4].pair.state)
        page.page.fill("#search", "need-")
        page.page.select_option("#list", "all")
        page.page.click("[data-sort=cosine]")
        page.settle()
        page.page.evaluate("(key) => openTrace(pairs.find((pair) => pair.key === key))", key)
        fragment, before = page.fragment(), page.page.evaluate(shown)
    with opened(browser, report, fragment) as page:
        assert page.fragment() == fragment
        assert page.page.evaluate(shown) == before
        assert page.page.evaluate("document.querySelector('dialog').open")


@pytest.mark.parametrize(
    "fragment", ["#near_enough=abc&near_laws=-5&stage=x&state=<b>&open=y", "#%E0%A4%A&=&&toString=1", "#bands"]
)
def test_an_address_that_makes_no_sense_shows_what_is_in_force(browser: Browser, report: Path, fragment: str) -> None:
    """What cannot be is left out or brought within its limits."""
    with opened(browser, report, fragment) as page:
        assert page.text("#near_enough-out") == "0.4125"
        assert page.text("#near_laws-out") in ("0", "6")
        assert page.page.input_value("#stage") == "pool"


def test_a_link_pasted_into_the_open_page_moves_it(browser: Browser, report: Path) -> None:
    """The address is read again when it changes, and the button leads back to the settings in force."""
    with opened(browser, report) as page:
        page.page.evaluate("location.hash = '#near_enough=0.5&candidate_laws=12'")
        page.page.wait_for_function("document.getElementById('candidate_laws-out').textContent === '12'")
        assert page.text("#near_enough-out") == "0.5"
        page.page.click("#reset")
        page.settle()
        assert page.text("#candidate_laws-out") == "9"
