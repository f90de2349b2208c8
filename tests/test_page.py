"""The page as a file: what it embeds can be read back, is inert, and is no more than it may be."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evals.baseline import Baseline, new_summary
from evals.outcomes import Side
from evals.report import overview
from evals.report.contents import Contents
from evals.report.packed import packed
from evals.report.page import _embedded, page
from retrieval import Law
from tests.browser import world


def embedded(text: str) -> Any:
    """The data that a page's script reads."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


def unpacked(array: dict[str, Any]) -> NDArray[np.int64]:
    """Whole numbers packed in bits, read back."""
    octets = np.frombuffer(base64.b64decode(array["data"]), dtype=np.uint8)
    bits = np.unpackbits(octets, bitorder="little")[: array["count"] * array["bits"]]
    spread = bits.reshape(array["count"], array["bits"]).astype(np.int64)
    found: NDArray[np.int64] = (spread << np.arange(array["bits"])).sum(axis=1)
    return found


def test_the_rankings_in_the_page_are_the_runs() -> None:
    """Every text's words and neighbours, as deep as a sweep looks, in order."""
    run = world.run()
    rankings = embedded(world.html())["rankings"]
    for name, depth in (("words", 64), ("near", 32)):
        counts, laws = unpacked(rankings[f"{name[:4].rstrip('s')}Counts"]), unpacked(rankings[name])
        starts = np.cumsum(counts) - counts
        texts = list(dict.fromkeys((each.pair.state, each.pair.text) for each in run.pairs))
        scorings = {(each.pair.state, each.pair.text): each.trace.scorings[0] for each in run.pairs}
        for nth, text in enumerate(texts):
            expected = getattr(scorings[text], name).laws[:depth]
            assert laws[starts[nth] : starts[nth] + counts[nth]].tolist() == expected.tolist()


def test_a_level_is_the_number_of_cutoffs_that_a_cosine_reaches() -> None:
    """So comparing levels with a cutoff's place decides as comparing the cosine with the cutoff."""
    run = world.run()
    data = embedded(world.html())
    cutoffs = np.frombuffer(base64.b64decode(data["cutoffs"]), dtype="<f8")
    levels = unpacked(data["rankings"]["levels"])
    scorings = {(each.pair.state, each.pair.text): each.trace.scorings[0] for each in run.pairs}
    cosines = np.concatenate([each.near.scores[:32] for each in scorings.values()])
    assert run.settings.cutoff in cutoffs.tolist()
    assert (np.diff(cutoffs) > 0).all()
    assert 0.5 in cutoffs.tolist()
    for place in range(0, len(cutoffs), 37):
        assert ((levels > place) == (cosines >= cutoffs[place])).all()


def test_no_text_of_the_corpus_can_end_the_data() -> None:
    """No < and no line separator stands in the data, so nothing there is markup; parsed, every text is as written."""
    text = world.html()
    data = text[text.index('id="data">') : text.index("</script>", text.index('id="data">'))]
    assert not set("<\u2028\u2029") & set(data)
    for state, each in embedded(text)["states"].items():
        written = {law.id: law.law for law in world.run().corpus[state]}
        shown = {law: said for law, said in zip(each["ids"], each["laws"], strict=True) if law}
        assert shown
        assert all(written[law] == said for law, said in shown.items())


def test_markup_in_names_is_escaped_outside_the_data() -> None:
    """A topic and a model that hold markup make no element."""
    text = world.html()
    assert "&lt;b&gt;topic&lt;/b&gt;" in text
    assert "<b>topic" not in text.replace('"<b>topic', "")
    assert "fake &lt;model&gt;" in text


def test_the_page_asks_for_nothing_from_anywhere() -> None:
    """No element loads a thing, links stay in the report's folder, and the policy allows only the page's script."""
    text = world.html()
    markup = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"<(img|link|iframe|object|embed|video|audio|base)\b|\bsrc=|url\(|@import", markup)
    assert all(
        re.fullmatch(r"#[\w-]+|(tables|plots)/[\w-]+\.(csv|svg)", link) for link in re.findall(r'href="(.*?)"', markup)
    )
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)
    assert script
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert f"script-src &#39;sha256-{digest}&#39;" in text
    assert "default-src &#39;none&#39;" in text


def test_every_table_of_the_report_is_shown_or_named() -> None:
    """With a link to its file."""
    text = world.html()
    for name in Contents(world.run()).tables:
        assert f'href="tables/{name}.csv"' in text


def test_the_same_run_gives_the_same_page() -> None:
    """To the byte, computed anew."""
    assert page(Contents(world.run()), world.PLOTS) == world.html()


def test_a_run_without_questions_that_expect_nothing_has_a_page() -> None:
    """And one where every question expects nothing has one too: missing figures are left empty, not NaN."""
    run = world.run()
    for kept in ("answerable", "unrelated"):
        part = replace(run, pairs=tuple(each for each in run.pairs if each.pair.expects == kept))
        text = page(Contents(part), world.PLOTS)
        shown = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
        assert not re.search(r">\s*(nan|None|inf)\s*<", shown)


def test_numbers_that_do_not_fit_are_refused() -> None:
    """A corpus of more laws than the script's arithmetic holds is an error, never a wrong number."""
    run = world.run()
    state = next(iter(run.corpus))
    measured = run.pairs[0]
    scoring = measured.trace.scorings[0]
    far = replace(scoring.near, laws=scoring.near.laws + 2**24)
    scorings = (replace(scoring, near=far),)
    broken = replace(run, pairs=(replace(measured, trace=replace(measured.trace, scorings=scorings)),))
    assert state == measured.pair.state
    with pytest.raises((ValueError, IndexError)):
        packed(broken)


def test_a_baseline_is_told_in_a_sentence_and_beside_every_kind() -> None:
    """What was lost and gained since, and the pool's recall by kind then."""
    run = world.run()
    side = Side.of(run)
    summary = new_summary(side, None, "a first baseline", "2026-01-02")
    text = page(Contents(run, Baseline(summary, side.outcomes)), world.PLOTS)
    assert "Against 2026-01-02 (a first baseline): nothing is lost; gained by the pool: 0." in text
    kinds = {each.pair.kind for each in run.pairs if each.pair.expected}
    assert text.count("+0.000") == len(kinds) + 1


def test_the_moves_count_what_the_pool_would_lose_and_gain() -> None:
    """At the cutoff in force nothing; without a cutoff the near search is never silent."""
    moves = overview.moves(Contents(world.run())).set_index("near_enough")
    in_force = moves.loc[world.run().settings.cutoff]
    assert (in_force["lost"], in_force["gained"]) == (0, 0)
    assert moves["silent"].tolist()[0] == 0


def test_a_topic_that_a_state_does_not_ask_has_no_value_there() -> None:
    """Missing is empty, never 0."""
    run = world.run()
    kept = tuple(each for each in run.pairs if not (each.pair.state == "AL" and each.pair.topic == "topic-1"))
    table = overview.state_by_topic(Contents(replace(run, pairs=kept)).measures).set_index("topic")
    missing = table.isna().loc["topic-1"]
    assert (missing["AL"], missing["MD"]) == (True, False)


def test_a_long_law_is_cut_and_one_that_nothing_names_is_left_out() -> None:
    """The page shows what its rankings hold; places in the corpus stay."""
    run = world.run()
    unnamed = Law("AL-P", "nowhere " * 200, "", "apart", "process")
    first = replace(run.corpus["AL"][0], law="long " * 200)
    corpus = {**run.corpus, "AL": [first, *run.corpus["AL"][1:], unnamed]}
    state: Any = packed(replace(run, corpus=corpus))["states"]
    assert len(state["AL"]["laws"][0]) == 600
    assert (state["AL"]["ids"][-1], state["AL"]["laws"][-1]) == ("", "")
    assert len(state["AL"]["ids"]) == len(corpus["AL"])


def test_a_page_that_would_be_too_large_looks_less_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Down to the limits in force; the sliders end where the rankings do."""
    run = world.run()
    deep = len(_embedded(packed(run)))
    monkeypatch.setattr("evals.report.page.MOST_DATA", deep - 1)
    text = page(Contents(run), world.PLOTS)
    assert embedded(text)["depths"] == {"near_laws": 16, "laws": 32}
    assert re.search(r'id="candidate_laws" min="1" max="32"', text)
    monkeypatch.setattr("evals.report.page.MOST_DATA", 0)
    assert embedded(page(Contents(run), world.PLOTS))["depths"] == {"near_laws": 6, "laws": 32}
