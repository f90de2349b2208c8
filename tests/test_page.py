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
from evals.metrics import parse_metric
from evals.outcomes import Side
from evals.report import overview
from evals.report.contents import Contents
from evals.report.pages.embedding import embedded as as_embedded
from evals.report.pages.packed import packed
from evals.report.pages.page import page
from evals.report.sentences import sentences
from evals.run import Run, evaluate
from retrieval import Law
from retrieval.settings import changed
from tests import fakes
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
    contents = Contents(world.run())
    moves = overview.moves(contents.run, contents.sweep).set_index("near_enough")
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
    deep = len(as_embedded(packed(run)))
    monkeypatch.setattr("evals.report.pages.page.MOST_DATA", deep - 1)
    text = page(Contents(run), world.PLOTS)
    assert embedded(text)["depths"] == {"near_laws": 16, "laws": 32}
    assert re.search(r'id="candidate_laws" min="1" max="32"', text)
    monkeypatch.setattr("evals.report.pages.page.MOST_DATA", 0)
    assert embedded(page(Contents(run), world.PLOTS))["depths"] == {"near_laws": 6, "laws": 32}


def rerun(run: Run, *changes: str) -> Run:
    """The pipeline over the same pairs with some settings changed: what a sweep must not need."""
    settings = changed(run.settings, changes)
    return evaluate(settings, run.corpus, [each.pair for each in run.pairs], fakes.embed, run.model)


def pool_reached(run: Run) -> list[bool]:
    """Whether each expected group is in its pool."""
    return [
        not set(group).isdisjoint(each.trace.pool)
        for each in run.pairs
        if each.pair.expects == "answerable"
        for group in each.pair.expected
    ]


def said(run: Run) -> dict[str, str]:
    """The sentences that the page begins with, by title."""
    contents = Contents(run)
    return dict(sentences(run, contents.sweep, contents.tables))


@pytest.mark.parametrize("rephrase", ["off", "written"])
def test_what_a_wider_pool_would_do_is_what_it_does(rephrase: str) -> None:
    """The numbers in the sentence are those of the pipeline run again with that setting."""
    run = world.run(rephrase)
    before = pool_reached(run)
    moves = re.findall(r"(\w+) (\d+) in place of (\d+) would (.*?) \(([\d.]+) laws", said(run)["More laws"])
    assert [name for name, *_ in moves] == [
        "candidate_laws" if rephrase == "off" else "searched_candidate_laws",
        "near_laws",
    ]
    for name, value, now, does, laws in moves:
        assert int(now) == getattr(run.settings, name)
        wider = rerun(run, f"{name}={value}")
        after = pool_reached(wider)
        lost = sum(was and not is_now for was, is_now in zip(before, after, strict=True))
        gained = sum(is_now and not was for was, is_now in zip(before, after, strict=True))
        told = [int(number) for number in re.findall(r"\d+", does.replace("none", "0"))]
        assert told == [lost, gained], name
        pools = [len(each.trace.pool) for each in wider.pairs if each.pair.expected]
        assert laws == f"{sum(pools) / len(pools):.1f}"


def test_a_step_beyond_the_sweep_is_not_told() -> None:
    """Where more neighbours than the sweep looks at would be needed, the sentence tells of the pool alone."""
    deep = rerun(world.run(), "near_laws=32")
    assert "near_laws" not in said(deep)["More laws"]
    assert said(deep)["More laws"].startswith("candidate_laws 17 in place of 9 would ")


def test_the_worst_state_and_kind_are_the_least_of_the_table() -> None:
    """By recall of the pool; among one state there is no worst."""
    run = world.run()
    sure = Contents(run).tables["how-sure"].query("stage == 'pool'")
    worst = {by: sure[sure["by"] == by].sort_values("recall").iloc[0] for by in ("state", "kind")}
    for by, noun in (("state", "state"), ("kind", "kind of question")):
        assert f"the worst {noun} is {worst[by]['group']}, {worst[by]['recall']:.3f}" in said(run)["Worst"]
    one = replace(run, pairs=tuple(each for each in run.pairs if each.pair.state == "AL"))
    assert "worst state" not in said(one)["Worst"]


def test_one_of_a_thing_is_told_in_the_singular() -> None:
    """One law, need, way, pair and expected law."""
    law = Law("AL-1", "Park no nearer than fifteen feet to a hydrant.")
    run = evaluate(fakes.settings(), {"AL": [law]}, [fakes.pair(expected=(("AL-1",),))], fakes.embed, "fake")
    text = page(Contents(run), world.PLOTS)
    first = text[text.index("<main>") : text.index("</section>")]
    assert "1 law of AL; 1 need asked in 1 way, 1 pair of question and state, 1 of which expect a law" in first
    assert "of 1 expected law." in first
    assert not re.search(r"\b1 (laws|needs|ways|pairs|questions)\b", first)


def test_every_pool_size_in_force_is_marked_on_the_heat_map() -> None:
    """Two where some questions have searches and some have none, and the caption says whose they are."""
    heads = {rephrase: re.findall(r">(\d+), in force</th>", world.html(rephrase)) for rephrase in ("off", "written")}
    assert heads == {"off": ["9"], "written": ["9", "32"]}
    caption = "9 is in force for a question alone, 32 where searches are fused"
    assert caption in world.html("written")
    assert caption not in world.html("off")
    run = world.run("written")
    searched = replace(run, pairs=tuple(each for each in run.pairs if len(each.trace.scorings) > 1))
    text = page(Contents(searched), world.PLOTS)
    assert re.findall(r">(\d+), in force</th>", text) == ["32"]
    assert caption not in text


def test_further_metrics_stand_on_the_page() -> None:
    """Where some were asked for, with their file; else there is neither."""
    run = world.run()
    text = page(Contents(run, metrics=(parse_metric("MRR"),)), world.PLOTS)
    assert "Further metrics at every stage" in text
    assert text.count('href="tables/metrics.csv"') == 1
    assert text.count('<th scope="row">words</th><td>MRR</td>') == 1
    assert "metrics" not in re.sub(r"<(script|style).*?</\1>", "", world.html(), flags=re.DOTALL)


def test_an_empty_table_is_named_and_not_shown() -> None:
    """So is what no question could fill: the share of silent questions where every question has an answer."""
    run = world.run()
    part = replace(run, pairs=tuple(each for each in run.pairs if each.pair.expects == "answerable"))
    text = page(Contents(part), world.PLOTS)
    for said_of_it in ("Questions that no law answers", ">silent</th>", "Silent: the share"):
        assert said_of_it in world.html()
        assert said_of_it not in text
    assert 'href="tables/expect-nothing.csv"' in text


def test_states_and_kinds_stand_in_the_order_of_their_names() -> None:
    """On the heat map and in the explorer, whatever question comes first."""
    run = world.run()
    turned = replace(run, pairs=run.pairs[::-1])
    assert list(overview.state_by_topic(Contents(turned).measures).columns) == ["topic", "pairs", "AL", "MD", "all"]
    data: Any = packed(turned)
    for name, of in (("kinds", "kind"), ("languages", "lang"), ("topics", "topic")):
        assert data[name] == sorted({getattr(each.pair, of) for each in run.pairs})


def test_the_page_holds_what_the_reranker_chose() -> None:
    """How each answer was chosen, its laws and their scores; nothing where there is no reranker."""
    run = world.reranked()
    data = embedded(page(Contents(run), world.PLOTS))
    assert len(data["answers"]) == len(run.pairs)
    for (outcome, laws), each in zip(data["answers"], run.pairs, strict=True):
        scores = dict(zip(each.trace.pool, each.trace.rerank_scores, strict=True))
        assert outcome == each.trace.outcome
        assert [run.corpus[each.pair.state][at].id for at, _ in laws] == list(each.trace.answer)
        for (_, score), law in zip(laws, each.trace.answer, strict=True):
            assert score == (scores[law] if scores[law] > -1 else None)
    assert embedded(world.html())["answers"] == []


def test_the_page_holds_every_search() -> None:
    """Each text's words in the page, 0 for a question's own."""
    run = world.run("written")
    data = embedded(world.html("written"))
    rows, texts = unpacked(data["searches"]["rows"]), data["searches"]["texts"]
    for each, pair in zip(run.pairs, data["pairs"], strict=True):
        assert rows[pair[3][0]] == 0
        assert [texts[rows[at] - 1] for at in pair[3][1:]] == [scoring.text for scoring in each.trace.scorings[1:]]


@pytest.mark.parametrize("cutoff", ["0.41250001", "1", "-0.995", "-1"])
def test_a_cutoff_of_many_digits_or_out_of_the_way_has_a_page(cutoff: str) -> None:
    """It is marked as in force on both tables of cutoffs, and every sentence is told."""
    run = rerun(world.run(), f"near_enough={cutoff}")
    text = page(Contents(run), world.PLOTS)
    assert [title for title in said(run) if title != "Moving it"] == ["The cutoff", "More laws", "Lost most", "Worst"]
    assert text.count(", in force</th>") == 3  # a row of each, and the pool's column
