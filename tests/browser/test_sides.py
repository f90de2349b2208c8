"""The page of two sides or one as people use it: filters, bands and traces, on a phone, by keyboard, on paper."""

import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from evals import bands
from evals.compare import Flip
from evals.report.pages import traces
from evals.report.pages.sides import comparison_page
from evals.stages import STAGES
from tests.browser import compared
from tests.browser.chromium import Opened, opened

LISTS = ("lost", "gained", "lost or gained")


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two sides as a file."""
    return _written(tmp_path_factory, compared.html())


@pytest.fixture(scope="session")
def two_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two models as a file."""
    return _written(tmp_path_factory, compared.models_html())


@pytest.fixture(scope="session")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of another system's run as a file."""
    return _written(tmp_path_factory, compared.foreign_files()["index.html"])


def _written(factory: pytest.TempPathFactory, text: str) -> Path:
    path = factory.mktemp("sides") / "index.html"
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def count(page: Opened) -> int:
    """How many questions the list says it holds."""
    page.settle()
    return int(page.text("#question-count").split()[0])


@pytest.mark.parametrize("name", ["two", "two_models", "one"])
@pytest.mark.parametrize("width", [1280, 390, 380])
def test_the_page_fits_and_says_nothing_on_its_console(
    browser: Browser, request: pytest.FixtureRequest, name: str, width: int
) -> None:
    """Opened from the disk with the network off: no request, no message, nothing wider than the window."""
    for colour in ("light", "dark"):
        with opened(browser, request.getfixturevalue(name), width=width, color_scheme=colour) as page:
            page.page.select_option("#list", "all")
            assert count(page) > 50
            assert page.page.evaluate("document.documentElement.scrollWidth") <= width
            page.page.click("#question-rows button >> nth=0")
            assert page.page.evaluate("document.querySelector('dialog').scrollWidth") <= width


@pytest.mark.parametrize(("width", "colour"), [(1280, "light"), (390, "dark")])
def test_an_accessibility_check_finds_nothing(
    browser: Browser, two: Path, two_models: Path, one: Path, width: int, colour: Any
) -> None:
    """axe-core over each whole page, and over an open question."""
    axe = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    run = "axe.run({resultTypes: ['violations']}).then((found) => found.violations.map((each) => [each.id, each.help]))"
    for path in (two, two_models, one):
        with opened(browser, path, width=width, color_scheme=colour) as page:
            page.page.evaluate(axe)
            assert page.page.evaluate(run) == []
            page.page.click("#question-rows button >> nth=0")
            assert page.page.evaluate(run) == []


@pytest.mark.parametrize("stage", ["any stage", *STAGES])
def test_the_list_holds_the_flips_of_the_comparison(browser: Browser, two: Path, stage: str) -> None:
    """Lost, gained and either, at each stage: the pairs with such a group, no more and no fewer."""
    found = compared.comparison()

    def pairs(*flips: tuple[Flip, ...]) -> int:
        at = (flip for each in flips for flip in each if stage in ("any stage", *flip.stages))
        return len({flip.after.key for flip in at})

    wanted = [pairs(found.lost), pairs(found.gained), pairs(found.lost, found.gained)]
    with opened(browser, two) as page:
        page.page.select_option("#stage", stage)
        shown = []
        for name in LISTS:
            page.page.select_option("#list", name)
            shown.append(count(page))
    assert shown == wanted
    if stage == "any stage":
        assert min(wanted) > 0


def test_the_list_is_filtered_and_searched(browser: Browser, two: Path) -> None:
    """By state, kind and language, by words and a law's id; pairs of one side alone stand by themselves."""
    before, now = (side.side.outcomes for side in compared.both())
    every = {**before, **now}
    tests: dict[str, Callable[[Any], str]] = {
        "state": lambda each: str(each.state),
        "kind": lambda each: str(each.kind),
        "language": lambda each: str(each.language),
    }
    with opened(browser, two) as page:
        page.page.select_option("#list", "all")
        assert count(page) == len(every)
        for name, value in (("state", "MD"), ("kind", "spanish"), ("language", "es")):
            page.page.select_option(f"#{name}", value)
            assert count(page) == sum(tests[name](each) == value for each in every.values())
            page.page.select_option(f"#{name}", "")
        page.page.fill("#search", "need-3/ask-6 MD")
        assert count(page) == 1
        page.page.fill("#search", "")
        for name, wanted in (("only before", before.keys() - now.keys()), ("only now", now.keys() - before.keys())):
            page.page.select_option("#list", name)
            assert count(page) == len(wanted) > 0
        page.page.select_option("#list", "expect nothing")
        assert count(page) == sum(not each.groups for each in every.values())


def test_the_list_is_sorted(browser: Browser, two: Path) -> None:
    """By a column, twice for the other way; a reader of the screen hears which."""
    with opened(browser, two, "#list=all") as page:
        for name, column in (("state", 2), ("kind", 3)):
            for order in ("ascending", "descending"):
                page.page.click(f"[data-sort={name}]")
                page.settle()
                cells = page.page.locator(f"#question-rows tr td:nth-child({column})").all_inner_texts()
                shown = [cell.split(",")[0] for cell in cells]
                assert shown == sorted(shown, reverse=order == "descending")
                assert page.page.get_attribute(f"th:has([data-sort={name}])", "aria-sort") == order
        page.page.click("[data-sort=place]")
        page.settle()
        assert "sort=place" in page.fragment()
        shown = page.page.locator("#question-rows tr td:nth-child(10)").all_inner_texts()
        places = [int(text.split()[-1]) for text in shown if not text.endswith("–")]
        assert places == sorted(places)
        assert len(places) > 5


def test_all_is_done_by_keyboard_and_the_address_keeps_it(browser: Browser, two: Path) -> None:
    """Filters, a question opened and closed; a link with the position shows the same view."""
    with opened(browser, two) as page:
        page.page.focus("#state")
        page.page.keyboard.press("ArrowDown")
        page.page.keyboard.press("Enter")
        page.page.focus("#list")
        page.page.keyboard.type("lost")
        page.page.keyboard.press("Enter")
        page.page.focus("#search")
        page.page.keyboard.type("a")
        page.settle()
        filters = page.page.evaluate("[view.state, view.list, view.search]")
        assert filters[0] == "AL"
        assert filters[1] in LISTS
        shown = count(page)
        page.page.focus("#question-rows button >> nth=0")
        page.page.keyboard.press("Enter")
        assert page.page.is_visible("dialog")
        title = page.text("#trace-title")
        link = page.fragment()
        page.page.keyboard.press("Escape")
        assert not page.page.is_visible("dialog")
        assert page.page.evaluate("document.activeElement.closest('#question-rows') !== null")
        assert "open=" not in page.fragment()
    assert {"state=AL", "search=a"} < set(link[1:].split("&"))
    with opened(browser, two, link) as page:
        assert page.text("#trace-title") == title
        assert count(page) == shown
        assert page.page.evaluate("[view.state, view.list, view.search]") == filters


def test_an_address_that_cannot_be_is_left_out(browser: Browser, two: Path) -> None:
    """Values that no control offers, and names that objects have by themselves."""
    with opened(browser, two, "#state=XX&stage=__proto__&constructor=1&list=nothing&open=x@y&sort=-nothing") as page:
        assert page.page.evaluate("[view.state, view.stage, view.list, view.open, view.sort]") == [
            "",
            "any stage",
            "lost or gained",
            "",
            "question",
        ]


def test_a_question_shows_both_sides_rankings(browser: Browser, two: Path) -> None:
    """Every stage's laws side by side in their order, the expected and the accepted marked, and where the law went."""
    flip = next(flip for flip in compared.comparison().lost if {"near", "pool"} <= set(flip.stages))
    with opened(browser, two, f"#open={flip.after.question}@{flip.after.state}") as page:
        page.page.evaluate("document.querySelectorAll('dialog details').forEach((each) => (each.open = true))")
        for nth, stage in enumerate(STAGES):
            table = page.page.locator("dialog details").nth(nth)
            for side, own in enumerate((flip.before, flip.after)):
                cells = table.locator(f"tbody td:nth-of-type({side + 1})").all()
                texts = [cell.inner_text() for cell in cells]
                ids = [re.sub(r"^[✓○] ", "", text).split()[0] for text in texts if text.strip()]
                assert ids == list(own.stages[stage])
                expected = {law for group in own.groups for law in group.laws}
                assert {law for law, text in zip(ids, texts, strict=False) if text.startswith("✓")} == expected & set(
                    ids
                )
        said = page.text(".fates li:has-text('Lost by')")
        assert f"Lost by {', '.join(flip.stages)}: " in said
        place = flip.was.place
        assert f"{place} of {len(flip.before.stages['pool'])}" in said
        assert "lies under the cutoff 0.55" in said


def test_rankings_that_are_left_out_are_told(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a page that would be too large: where they did not change, and where nothing was lost and gained by it."""
    monkeypatch.setattr(traces, "EXTENTS", traces.EXTENTS[-1:])
    path = tmp_path / "small.html"
    path.write_text(comparison_page(*compared.both()), encoding="utf-8")
    every = traces.asked(compared.both(), compared.comparison())
    steady = [each for each in every if None not in each.outcomes and not each.flipped]
    for changed, said in ((True, "lost and gained no expected law"), (False, "did not change")):
        asked = next(each.latest for each in steady if any(map(each.changed, STAGES)) == changed)
        with opened(browser, path, f"#open={asked.question}@{asked.state}") as page:
            note = f"What the stages returned {said} and is left out, to keep the page small."
            assert page.text("#trace-body .note") == note


def test_accepted_laws_are_marked(browser: Browser, two: Path) -> None:
    """With another sign than the expected ones."""
    before, _ = compared.both()
    key, law = next(
        (key, law)
        for key, each in before.side.outcomes.items()
        if each.groups
        for law in before.detail(key).accepted
        if law in each.stages["pool"] and not any(law in group.laws for group in each.groups)
    )
    with opened(browser, two, f"#open={key[0]}@{key[1]}") as page:
        assert page.page.locator(f"dialog td:has-text('○ {law}')").count() > 0


def test_hostile_texts_stay_text_everywhere(browser: Browser, two: Path, one: Path) -> None:
    """In the list, a trace, a tooltip, the names of runs, the options: shown as written, making nothing."""
    planted = "(each) => /^(bold|tag|nobody|reason)$/.test(each.textContent)"
    made = f"[...document.querySelectorAll('b, i, img')].filter({planted})"
    for path in (two, one):
        with opened(browser, path, "#list=all") as page:
            for hostile in ("</script><img src=x onerror=alert(1)>", '"><b>bold</b>'):
                page.page.fill("#search", hostile)
                page.settle()
                assert hostile in page.text("#question-rows button >> nth=0")
                page.page.click("#question-rows button >> nth=0")
                assert hostile in page.text("#trace-title")
                page.page.keyboard.press("Escape")
            page.page.fill("#search", "")
            page.page.focus("canvas >> nth=0")
            page.page.keyboard.press("Home")
            page.settle()
            assert page.page.evaluate("document.images.length") == 0
            assert page.page.evaluate("document.scripts.length") == 2
            assert page.page.evaluate(f"{made}.length") == 0
    with opened(browser, one, "#list=all") as page:
        page.page.click("#question-rows button >> nth=0")
        page.page.evaluate("document.querySelectorAll('dialog details').forEach((each) => (each.open = true))")
        assert "<img src=x>" in page.text("dialog")


def test_the_bands_count_what_lies_under_each_cutoff(browser: Browser, two: Path, two_models: Path, one: Path) -> None:
    """One row where every cosine is the same, a row a side where not; a picture a model; cutoffs of their own."""
    points = {
        group: bands.cosines(compared.foreigner().points, group) for group in ("answering", "unrelated", "uncovered")
    }
    cutoff = compared.foreigner().side.cutoff
    with opened(browser, one) as page:
        said = page.page.text_content("canvas >> xpath=../preceding-sibling::p") or ""
        for group, values in points.items():
            assert f"{group}: {sum(value < cutoff for value in values)} of {len(values)} under {cutoff}" in said
        assert "without a cosine" in said
    with opened(browser, two) as page:
        assert page.page.locator("canvas").count() == 1
        said = page.page.text_content("#bands-pictures p.unseen") or ""
        assert "answering, before: " in said
        assert re.search(r"answering, now: \d+ of \d+ under 0\.55", said)
    with opened(browser, two_models) as page:
        assert page.page.locator("canvas").count() == 2
        assert "another" in page.text("#bands-pictures h3 >> nth=1")


def test_a_band_is_walked_by_keyboard(browser: Browser, one: Path) -> None:
    """Each dot names its question and law; the ends are reached; Enter opens the question; Escape lets go."""
    answering = [each for each in compared.foreigner().points if each.group == "answering"]
    lowest = min(answering, key=lambda each: each.cosine)
    with opened(browser, one) as page:
        page.page.focus("#reset")
        page.page.focus("canvas")
        page.page.keyboard.press("Home")
        tip = page.text(".dots-tip")
        assert lowest.law in tip
        page.page.keyboard.press("ArrowDown")
        assert "nearest wrong" in page.text(".dots-tip")
        page.page.keyboard.press("Enter")
        assert page.page.is_visible("dialog")
        page.page.keyboard.press("Escape")
        assert not page.page.is_visible("dialog")


def test_a_lost_law_on_the_first_screen_opens_its_question(browser: Browser, two: Path) -> None:
    """By a link that keyboards reach."""
    with opened(browser, two) as page:
        link = page.page.locator(".flips a").first
        text = link.inner_text()
        link.focus()
        page.page.keyboard.press("Enter")
        assert page.text("#trace-title") == text


def test_the_contents_lead_to_their_sections(browser: Browser, two: Path) -> None:
    """Following one keeps the filters in the address, and puts the focus there."""
    with opened(browser, two, "#state=MD") as page:
        page.page.click("nav a[href='#maps']")
        assert page.page.evaluate("document.activeElement.id") == "maps"
        assert page.fragment() == "#state=MD&at=maps"


def test_on_paper_and_without_a_script_the_figures_stay(browser: Browser, two: Path) -> None:
    """What can only be pressed is not printed; the sentences, the tables and the lost laws need no script."""
    with opened(browser, two) as page:
        page.page.emulate_media(media="print")
        assert not page.page.is_visible("#state")
        assert not page.page.is_visible("nav")
        assert page.page.is_visible("canvas")
        assert page.page.is_visible(".flips")
    context = browser.new_context(offline=True, java_script_enabled=False)
    page_of = context.new_page()
    page_of.goto(two.as_uri())
    assert page_of.is_visible(".recall")
    assert page_of.is_visible(".flips")
    assert not page_of.is_visible("#state")
    context.close()
