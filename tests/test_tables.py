"""The tables against means worked by hand: what counts, what is empty, and what is counted instead."""

from typing import Any

import pandas as pd
import pytest

from evals import tables
from evals.bands import points
from evals.losses import losses
from evals.metrics import parse_metric
from evals.run import Run, evaluate
from evals.stages import STAGES
from tests.fakes import CORPUS, embed, pair, settings


def small_run() -> Run:
    """Two needs in Alabama asked three ways, one unrelated, one uncovered."""
    pairs = [
        pair("hydrant", "plain", text="hydrant", expected=(("AL-1",), ("AL-3",)), tags=("seed",)),
        pair("hydrant", "spanish", text="¿hidrante?", kind="spanish", lang="es", expected=(("AL-1",), ("AL-3",))),
        pair("red", text="red light", expected=(("AL-2",),), accepted=("AL-3",), topic="signals"),
        pair("moon", text="hydrant on the moon", unrelated="lexical"),
        pair("teens", text="zebra", expects="uncovered"),
    ]
    return evaluate(settings(near_laws=0, retrieved_laws=2), {"AL": CORPUS["AL"]}, pairs, embed, "fake")


def row(frame: pd.DataFrame, **where: object) -> "pd.Series[Any]":
    """The one row with these values."""
    for name, value in where.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_means_by_hand() -> None:
    """Words find AL-1 for the first pair, nothing for the second, AL-2 and AL-3 for the third."""
    found = row(tables.stage_means(tables.measures(small_run())), stage="words")
    assert (found["pairs"], found["needs"]) == (3, 2)
    assert found["recall"] == pytest.approx((0.5 + 0 + 1) / 3)
    assert found["recall over needs"] == pytest.approx(((0.5 + 0) / 2 + 1) / 2)
    assert found["hit"] == pytest.approx(2 / 3)
    assert found["precision"] == pytest.approx((1 + 1) / 2)  # the second returned nothing: no value, and counted
    assert found["nothing returned"] == 1
    assert found["laws"] == pytest.approx((1 + 0 + 2) / 3)


def test_characters_are_those_a_model_must_read() -> None:
    """The rule and the card's question of every law returned."""
    run = small_run()
    frame = tables.measures(run)
    words = row(frame, question="hydrant/plain", stage="words")
    law = run.laws["AL"]["AL-1"]
    assert words["characters"] == len(f"{law.law} {law.question}")


def test_groups_count_their_own_pairs() -> None:
    """By kind, language and topic: every pair once; a tag counts the pairs that have it."""
    frame = tables.measures(small_run())
    for by in ("kind", "language", "topic", "state"):
        parts = tables.stage_means(frame, [by])
        assert parts[parts["stage"] == "pool"]["pairs"].sum() == 3
    assert row(tables.by_tag(frame), tag="seed", stage="pool")["pairs"] == 1


def test_questions_that_no_law_answers_have_measures_of_their_own() -> None:
    """They are in no mean of recall; the near search is judged by silence, later stages by the number they return."""
    frame = tables.measures(small_run())
    nothing = tables.expect_nothing(frame)
    assert list(nothing["class"]) == ["lexical", "uncovered"]
    lexical = row(nothing, **{"class": "lexical"})
    assert (lexical["pairs"], lexical["near returned nothing"], lexical["laws by words"]) == (1, 1.0, 1.0)
    assert set(frame[frame["expects"] != "answerable"]["recall"].isna()) == {True}


def test_losses_are_counted_by_stage_and_reason() -> None:
    """The Spanish pair loses both groups, the first pair one: none shares a word."""
    found = losses(small_run())
    table = tables.loss_reasons(found)
    assert table["lost"].sum() == len(found) == 3
    by = tables.losses_by(found)
    assert by.groupby("by")["lost"].sum().to_dict() == {"kind": 3, "state": 3}
    assert by[by["group"] == "spanish"]["lost"].sum() == 2
    assert len(tables.losses_by([])) == 0
    assert set(table["stage"]) == {"pool"}
    saved: dict[tuple[str, str, tuple[str, ...]], str] = {("hydrant/plain", "AL", ("AL-3",)): "near_laws 2"}
    lost = tables.losses_table(found, saved)
    assert list(lost["question"]) == ["hydrant/plain", "hydrant/spanish", "hydrant/spanish"]
    assert list(lost["saved by"]) == ["near_laws 2", "", ""]
    assert list(tables.losses_table([], {}).columns) == list(lost.columns)


def test_what_the_set_holds_and_can_show() -> None:
    """Pairs, needs and expected laws of each group, and the smallest loss that would show in its mean."""
    table = tables.what_the_set_holds(tables.measures(small_run()))
    english = row(table, by="language", group="en")
    assert (english["needs"], english["pairs"]) == (4, 4)
    plain = row(table, by="kind", group="plain")
    assert (plain["pairs that expect a law"], plain["expected laws"]) == (2, 3)
    assert plain["one law"] == pytest.approx(1 / (2 * 2))
    assert plain["would show"] == pytest.approx(1 - 0.05 ** (1 / 2))  # two needs expect a law


def test_further_metrics_at_every_stage() -> None:
    """Words: AL-1 first of two groups, nothing, AL-2 first: recall@1 is (0.5 + 0 + 1) / 3, MRR (1 + 0 + 1) / 3."""
    table = tables.metric_means(small_run(), [parse_metric("recall@1"), parse_metric("MRR"), parse_metric("silent")])
    assert row(table, stage="words", metric="recall@1")["mean"] == pytest.approx(0.5)
    assert row(table, stage="words", metric="MRR")["mean"] == pytest.approx(2 / 3)
    assert row(table, stage="words", metric="MRR")["pairs"] == 3
    silent = row(table, stage="near", metric="silent")  # the two pairs that expect nothing, and no near law at all
    assert (silent["pairs"], silent["mean"]) == (2, 1.0)


def test_bands_by_kind_language_and_state() -> None:
    """Every cosine stands once under each of the three, in its own band."""
    run = evaluate(settings(), {"AL": CORPUS["AL"]}, [each.pair for each in small_run().pairs], embed, "fake")
    table, every = tables.bands_by(points(run)), points(run)
    for by in ("kind", "language", "state"):
        assert table[table["by"] == by]["n"].sum() == len(every)
    spanish = [each.cosine for each in every if each.pair.lang == "es" and each.group == "answering"]
    assert row(table, by="language", group="es", band="answering")["n"] == len(spanish)


def test_how_far_the_bands_overlap() -> None:
    """One row a band without an answer; where the answers lie above, nothing overlaps."""
    run = evaluate(settings(), {"AL": CORPUS["AL"]}, [each.pair for each in small_run().pairs], embed, "fake")
    table = tables.overlaps(points(run)).set_index("band")
    assert list(table.index) == ["unrelated", "uncovered", "nearest wrong"]
    for share in ("answers below", "above answers"):
        assert table[share].between(0, 1).all()
    assert tables.overlaps([]).set_index("band").loc["unrelated", "in the overlap"] == 0


def test_what_may_be_promised_stands_in_a_table() -> None:
    """Two needs certify nothing at 1, 5 and 10 %, and each row says so; without an answer there is no row."""
    run = evaluate(settings(), {"AL": CORPUS["AL"]}, [each.pair for each in small_run().pairs], embed, "fake")
    table = tables.promises(points(run))
    assert table["share"].tolist() == [0.01, 0.05, 0.1]
    assert table["cutoff"].isna().all()
    assert all("Cannot certify" in sentence for sentence in table["sentence"])
    assert len(tables.promises([])) == 0


def test_permuting_questions_changes_no_table() -> None:
    """Means are exact sums over whatever order the questions have."""
    run = small_run()
    backwards = evaluate(run.settings, run.corpus, [each.pair for each in run.pairs][::-1], embed, "fake")
    for by in ([], ["kind"], ["topic"]):
        one, other = (tables.stage_means(tables.measures(each), by) for each in (run, backwards))
        pd.testing.assert_frame_equal(one, other)
    assert run.fingerprints == backwards.fingerprints


def test_every_stage_has_a_row_for_every_pair() -> None:
    """Nothing that returned nothing leaves the table."""
    frame = tables.measures(small_run())
    assert len(frame) == 5 * len(STAGES)
