"""The page as people read it: bands, questions and traces, with hostile texts, on a phone, by keyboard, on paper."""

import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from evals import bands
from evals.losses import losses
from evals.sweep import Setting, Sweep
from retrieval.settings import changed
from tests.browser import world
from tests.browser.chromium import opened


@pytest.mark.parametrize("width", [1280, 390, 380, 320])
@pytest.mark.parametrize("colour", ["light", "dark"])
@pytest.mark.parametrize("fragment", ["", "#near_enough=0.5&near_laws=3&retrieved_laws=2&candidate_laws=12"])
def test_the_page_fits_and_says_nothing_on_its_console(
    browser: Browser, report: Path, width: int, colour: Any, fragment: str
) -> None:
    """Opened from the disk with the network off: no request, no message, nothing wider than the window.

    Nor is it where the sliders were moved and the line to copy is long.
    """
    with opened(browser, report, fragment, width=width, color_scheme=colour) as page:
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.page.locator("#question-rows tr").count() == 50
        assert page.text("h1") == "Recall of the retrieval pipeline"


@pytest.mark.parametrize(("width", "colour"), [(1280, "light"), (390, "dark")])
def test_an_accessibility_check_finds_nothing(browser: Browser, report: Path, width: int, colour: Any) -> None:
    """axe-core over the whole page, and over an open trace."""
    axe = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    run = "axe.run({resultTypes: ['violations']}).then((found) => found.violations.map((each) => [each.id, each.help]))"
    with opened(browser, report, width=width, color_scheme=colour) as page:
        page.page.evaluate(axe)
        assert page.page.evaluate(run) == []
        page.page.click("#question-rows button >> nth=0")
        assert page.page.evaluate(run) == []


def test_hostile_texts_stay_text_everywhere(browser: Browser, report: Path) -> None:
    """In the question list, a tooltip, a trace, the options and the tables: shown as written, making nothing."""
    made = (
        "[...document.querySelectorAll('b, i')].filter((each) => ['bold', 'topic', 'tag'].includes(each.textContent))"
    )
    with opened(browser, report) as page:
        for hostile in ("</script><img src=x onerror=alert(1)>", '"><b>bold</b>'):
            page.page.fill("#search", hostile)
            page.settle()
            assert hostile in page.text("#question-rows button >> nth=0")
            page.page.click("#question-rows button >> nth=0")
            assert hostile in page.text("#trace-title")
            page.page.keyboard.press("Escape")
        page.page.fill("#search", "")
        page.page.select_option("#topic", "<b>topic</b>")
        page.page.focus("#bands-canvas")
        page.page.keyboard.press("Home")
        page.settle()
        assert page.page.evaluate("document.images.length") == 0
        assert page.page.evaluate("document.scripts.length") == 2
        assert page.page.evaluate(f"{made}.length") == 0


def test_no_foreign_script_could_run(browser: Browser, report: Path, tmp_path: Path) -> None:
    """Even where markup came through, the policy lets only the page's own script run."""
    through = tmp_path / "index.html"
    text = report.read_text(encoding="utf-8")
    planted = '<script>document.title = "run"</script><img src="x" onerror="document.title = \'run\'">'
    through.write_text(text.replace("<h1", f"{planted}<h1", 1), encoding="utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(through.as_uri())
    page.wait_for_timeout(200)
    assert page.title() == "near-enough: recall of the retrieval pipeline"
    context.close()


def test_the_bands_count_what_lies_under_the_cutoff(browser: Browser, report: Path) -> None:
    """Each band's number of cosines, and how many the cutoff cuts, are those of the run's bands."""
    points = bands.points(world.run())
    with opened(browser, report, "#near_enough=0.5") as page:
        said = page.page.text_content("#bands-text") or ""
    for group in bands.GROUPS:
        values = bands.cosines(points, group)
        assert f"{group}: {sum(value < 0.5 for value in values)} of {len(values)} under 0.5" in said


def test_a_band_is_walked_by_keyboard(browser: Browser, report: Path) -> None:
    """Each dot names its question and law; the ends are reached; Enter opens the question; Escape lets go."""
    points = bands.points(world.run())
    lowest = min((each for each in points if each.group == "answering"), key=lambda each: each.cosine)
    with opened(browser, report) as page:
        page.page.focus("#state")
        page.page.focus("#bands-canvas")
        page.page.keyboard.press("Home")
        tip = page.text("#bands-tip")
        assert lowest.law in tip
        assert lowest.pair.text.split()[-1] in tip
        page.page.keyboard.press("ArrowDown")
        assert "nearest wrong" in page.text("#bands-tip")
        page.page.keyboard.press("Enter")
        assert page.page.is_visible("dialog")
        page.page.keyboard.press("Escape")
        assert not page.page.is_visible("dialog")


def test_a_dot_names_itself_under_the_pointer(browser: Browser, report: Path) -> None:
    """Hovering shows the question, its law and the cosine; leaving hides them."""
    with opened(browser, report) as page:
        page.page.locator("#bands-canvas").scroll_into_view_if_needed()
        place = page.page.evaluate(
            "dotPlace(bands.dots.answering[0], 0, 0, document.getElementById('bands-canvas').clientWidth)"
        )
        page.page.hover("#bands-canvas", position={"x": place[0], "y": place[1]}, force=True)
        assert "answering, cosine" in page.text("#bands-tip")
        page.page.mouse.move(5, 5)
        assert not page.page.is_visible("#bands-tip")


def test_the_question_list_is_searched_sorted_and_filtered(browser: Browser, report: Path) -> None:
    """Search by words or a law's id; sort by a column, twice for the other way; show only what is lost."""
    run = world.run()
    lost = {(loss.pair.question, loss.pair.state) for loss in losses(run) if loss.stage == "pool"}
    with opened(browser, report) as page:
        page.page.click("[data-sort=cosine]")
        page.settle()
        texts = page.page.locator("#question-rows tr td:nth-child(4)").all_inner_texts()
        cosines = [float(text) for text in texts if text != "–"]
        assert cosines == sorted(cosines)
        page.page.click("[data-sort=cosine]")
        page.settle()
        assert page.page.get_attribute("th:has([data-sort=cosine])", "aria-sort") == "descending"
        page.page.select_option("#list", "lost here")
        page.settle()
        assert page.text("#question-count") == f"{len(lost)} questions of {len(run.pairs)}"
        page.page.select_option("#list", "all")
        page.page.fill("#search", "need-3/ask-6 MD")
        page.settle()
        assert page.page.locator("#question-rows tr").count() == 1


def test_what_would_have_saved_a_loss_does(browser: Browser, report: Path) -> None:
    """Each saving change that a trace names is one that the sweep confirms for that group."""
    run = world.run()
    sweep = Sweep.of(run)
    lost = [(loss.pair, loss.pair.expected.index(loss.group)) for loss in losses(run) if loss.stage == "pool"]
    places = {id(each.pair): at for at, each in enumerate(run.pairs)}
    change = re.compile(r"(near_enough|near_laws|candidate_laws) (-?[\d.]+)(?:,|\.$)")
    checked = 0
    with opened(browser, report) as page:
        for pair, nth in lost:
            page.page.evaluate("(at) => openTrace(pairs[at])", places[id(pair)])
            said = page.page.locator(".fates li").nth(nth).inner_text()
            for name, value in change.findall(said.splitlines()[-1]):
                settings = changed(run.settings, [f"{name}={value}"])
                setting = Setting(settings.cutoff, settings.near_laws, settings.candidate_laws)
                assert sweep.reached(setting)[sweep.groups.index((places[id(pair)], nth))], (name, value, said)
                checked += 1
    assert checked >= 20


def test_a_trace_ranks_laws_as_the_pipeline_did(browser: Browser, report: Path) -> None:
    """The pool's laws stand in its order, with the places and scores that the searches gave."""
    measured = world.run().pairs[10]
    with opened(browser, report, f"#open={measured.pair.question}@{measured.pair.state}") as page:
        rows = page.page.locator("dialog tbody tr").all_inner_texts()
    cells = [re.split(r"\t", row) for row in rows]
    pool = [re.sub(r"^[✓○] ", "", row[0]).split()[0] for row in cells if row[1].strip()]
    assert pool == list(measured.trace.pool)
    cosines = {hit.id: hit.score for hit in measured.trace.near}
    for row in cells:
        law = re.sub(r"^[✓○] ", "", row[0]).split()[0]
        if law in cosines:
            assert abs(float(row[6]) - cosines[law]) < 1e-4


def test_a_trace_names_the_searches_and_their_places(browser: Browser, searched_report: Path) -> None:
    """Beside the question's own places stand those of each search, as the run ranked them."""
    run = world.run("written")
    measured = next(each for each in run.pairs if len(each.trace.scorings) == 3 and each.pair.expected)
    corpus = run.corpus[measured.pair.state]
    with opened(browser, searched_report, f"#open={measured.pair.question}@{measured.pair.state}") as page:
        said = page.text("#trace-body")
        rows = [row.split("\t") for row in page.page.locator("dialog tbody tr").all_inner_texts()]
    for nth, scoring in enumerate(measured.trace.scorings):
        if nth:
            assert f"search {nth}, {scoring.text}" in said
        words, near = ([corpus[at].id for at in ranking.laws] for ranking in (scoring.words, scoring.near))
        for row in rows:
            law = re.sub(r"^[✓○] ", "", row[0]).split()[0]
            place, _, by_meaning, cosine = row[3 + 4 * nth : 7 + 4 * nth]
            assert place == (str(words.index(law) + 1) if law in words[:64] else "")
            if law in near[:32]:
                assert by_meaning.split()[0] == str(near.index(law) + 1)
                assert abs(float(cosine) - scoring.near.scores[near.index(law)]) < 1e-4
            else:
                assert by_meaning == cosine == ""


def test_a_trace_names_what_the_reranker_chose(browser: Browser, reranked_report: Path) -> None:
    """The laws of the answer with their scores, and that another position has no answer of its own."""
    run = world.reranked()
    assert {each.trace.outcome for each in run.pairs} == {"ranked"}
    for measured in (run.pairs[0], run.pairs[11]):
        with opened(browser, reranked_report, f"#open={measured.pair.question}@{measured.pair.state}") as page:
            said = page.text("#trace-body")
        scores = dict(zip(measured.trace.pool, measured.trace.rerank_scores, strict=True))
        named = [law if scores[law] < 0 else f"{law} ({scores[law]:g})" for law in measured.trace.answer]
        assert measured.trace.answer[0] == measured.trace.pool[2]
        told = f"At the settings in force the reranker, recorded claude-haiku-4-5, chose: {', '.join(named)}."
        assert told in said


def test_the_contents_lead_to_their_sections(browser: Browser, report: Path) -> None:
    """Following one keeps the position in the address, and puts the focus there."""
    with opened(browser, report, "#near_enough=0.5") as page:
        page.page.click("nav a[href='#tables']")
        assert page.page.evaluate("document.activeElement.id") == "tables"
        assert page.fragment() == "#near_enough=0.5&at=tables"


def test_on_paper_the_controls_give_way_to_the_position(browser: Browser, report: Path) -> None:
    """The explorer's position is text there; what can only be pressed is not printed."""
    with opened(browser, report, "#near_enough=0.5") as page:
        page.page.emulate_media(media="print")
        assert page.page.is_visible(".print-only")
        assert "near_enough 0.5" in page.text("#position")
        assert not page.page.is_visible("#near_enough")
        assert not page.page.is_visible("nav")


def test_without_a_script_the_figures_stay(browser: Browser, report: Path) -> None:
    """The first screen and the tables need none, and what does is not shown."""
    context = browser.new_context(offline=True, java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.is_visible(".moves")
    assert not page.is_visible("#near_enough")
    context.close()
