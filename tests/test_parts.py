"""What parts earn, and the report's figures of the pool, in a set where only some pairs have searches."""

from collections.abc import Sequence

import pytest
from matplotlib.figure import Figure

from evals.metrics import mean, precision, recall
from evals.parts import parts, rules, rules_alone
from evals.questions import Pair
from evals.report.contents import Contents
from evals.report.markdown import measured
from evals.report.overview import pool_laws
from evals.report.plots import draw_precision_over_cutoff, draw_recall_over_pool
from evals.run import Run, evaluate
from retrieval import Law
from tests.fakes import embed, pair, settings

LAWS = [
    Law(f"L{at:02}", f"Stop for sign {at}." + " Stop." * (at % 5), f"What of sign {at}?", "stop") for at in range(40)
]


def asked(searches: Sequence[Sequence[str]]) -> list[Pair]:
    """A pair for each law, that expects it alone; the searches of the first, the second and so on, over again."""
    return [
        pair(f"need {at}", text="stop", state="X", expected=((law.id,),), searches=tuple(searches[at % len(searches)]))
        for at, law in enumerate(LAWS)
    ]


def run_of(*searches: Sequence[str], **changes: object) -> Run:
    """Every law asked for with a pool of six, fourteen where searches are fused."""
    numbers = {"near_laws": 3, "retrieved_laws": 4, "candidate_laws": 6, "searched_candidate_laws": 14, **changes}
    return evaluate(settings(rephrase="written", **numbers), {"X": LAWS}, asked(searches), embed, "fake")


MIXED = ((), ("sign",), ("sign 7", "what"))


@pytest.fixture(scope="module")
def mixed() -> Contents:
    """Some pairs without searches, some with one, some with two."""
    return Contents(run_of(*MIXED))


def pool_recall(run: Run) -> float | None:
    """The mean recall of the pools of the pipeline."""
    return mean(recall(each.pair.expected, each.trace.pool) for each in run.pairs)


def test_the_first_part_is_the_pipeline(mixed: Contents) -> None:
    """With nothing left out the pool is each pair's own: recall, precision and laws are those of the traces."""
    run = mixed.run
    pool = parts(run)[0].pool
    assert {len(each.trace.pool) for each in run.pairs} == {6, 14}
    assert pool.recall == pool_recall(run)
    assert pool.precision == mean(precision(each.pair.relevant, each.trace.pool) for each in run.pairs)
    assert pool.laws == mean(len(each.trace.pool) for each in run.pairs)


def test_without_searches_the_pool_is_that_of_plain_questions(mixed: Contents) -> None:
    """The part `searches` is the run with none fused; where there are none to leave out it has no row."""
    last = parts(mixed.run)[-1]
    plain = run_of(())
    assert last.left_out == "searches"
    assert last.pool.recall == pool_recall(plain)
    assert "searches" not in [part.left_out for part in parts(plain)]


def test_curves_meet_the_pools_at_the_settings_in_force(mixed: Contents) -> None:
    """At the cutoff and `near_laws` in force the tables say what the traces do, and nothing is lost or gained."""
    run, numbers = mixed.run, mixed.run.settings
    moves = mixed.tables["cutoff-moves"].set_index("near_enough").loc[numbers.cutoff]
    assert (moves["recall of pool"], moves["lost"], moves["gained"]) == (pool_recall(run), 0, 0)
    assert moves["laws in pool"] == mean(len(each.trace.pool) for each in run.pairs)
    assert mixed.over_near_laws.set_index("near_laws").loc[3, "recall"] == pool_recall(run)


def test_the_curve_over_cutoffs_asks_each_pair_for_its_own_pool(mixed: Contents) -> None:
    """A point of the pool's curve is the pipeline run with that cutoff."""
    curve = mixed.over_cutoffs[mixed.over_cutoffs["stage"] == "pool"]
    for _, point in curve.iloc[[0, 40, 100]].iterrows():
        again = run_of(*MIXED, near_enough={"fake": point["near_enough"]})
        assert point["recall"] == pool_recall(again)


def test_every_loss_of_the_pool_has_its_entry(mixed: Contents) -> None:
    """What the pools lack is what savings were looked for, found or not; each names the pool that its pair has."""
    lost = [loss for loss in mixed.losses if loss.stage == "pool"]
    assert {(loss.pair.question, loss.pair.state, loss.group) for loss in lost} == set(mixed.saved_by)
    named = {bool(loss.pair.searches): set[str]() for loss in lost}
    for loss in lost:
        for said in filter(None, mixed.saved_by[loss.pair.question, loss.pair.state, loss.group].split("; ")):
            named[bool(loss.pair.searches)].add(said.split()[0])
    assert "candidate_laws" in named[False]
    assert "searched_candidate_laws" in named[True]
    assert "searched_candidate_laws" not in named[False]
    assert "candidate_laws" not in named[True]


@pytest.mark.parametrize("setting", ["candidate_laws", "searched_candidate_laws"])
def test_a_wider_pool_saves_from_its_number_on(mixed: Contents, setting: str) -> None:
    """Run with the number said the pipeline's pool holds the law, with one less it does not."""
    tried = 0
    for (question, _, group), several in mixed.saved_by.items():
        for words in (said.split() for said in several.split("; ") if said.startswith(f"{setting} ")):
            held = [
                set(group) <= set(each.trace.pool)
                for less in (0, 1)
                for each in run_of(*MIXED, **{setting: int(words[1]) - less}).pairs
                if each.pair.question == question
            ]
            assert held == [True, False]
            tried += 1
        if tried == 3:
            return
    assert tried


def legend(contents: Contents, over: str) -> list[str]:
    """The lines' names in the picture over cutoffs or over the pool's sizes."""
    axes = Figure().subplots()
    (draw_precision_over_cutoff if over == "cutoff" else draw_recall_over_pool)(contents, axes)
    return [str(name) for name in axes.get_legend_handles_labels()[1]]


def test_captions_name_both_pools_where_both_are(mixed: Contents) -> None:
    """The summary and the pictures say 6, and 14 with searches; without searches they say 6 alone."""
    plain = Contents(run_of(()))
    assert " pool 6, 14 with searches, rephrase written" in measured(mixed)
    assert " pool 6, rephrase written" in measured(plain)
    assert (pool_laws(mixed.run), pool_laws(plain.run)) == (14, 6)
    assert legend(mixed, "cutoff")[2] == "pool, 6 asked for, 14 with searches"
    assert legend(plain, "cutoff")[2] == "pool, 6 asked for"
    lines = ["retrieved_laws 4", "candidate_laws 6"]
    assert legend(mixed, "pool")[2:] == [*lines, "searched_candidate_laws 14"]
    assert legend(plain, "pool")[2:] == lines


def test_without_the_cards_the_figures_are_those_of_laws_without_cards(mixed: Contents) -> None:
    """Left out of both searches, the part is the pipeline over laws whose cards ask nothing."""
    run = mixed.run
    found = {part.left_out: part for part in parts(run, rules_alone(run, embed))}
    again = evaluate(run.settings, rules(run.corpus), [each.pair for each in run.pairs], embed, "fake")
    part = found["the cards' questions, in both searches"]
    assert part.pool.recall == pool_recall(again)
    assert part.fused.recall == mean(recall(each.pair.expected, each.trace.fused) for each in again.pairs)
    assert part.pool.recall != found["the cards' questions, in the word search"].pool.recall
    assert part.left_out not in [each.left_out for each in parts(run)]
