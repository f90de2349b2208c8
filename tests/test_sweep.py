"""Sweeps equal the pipeline run again with each setting, to the last digit; and what curves may and may not do."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from evals.arrays.depths import ABSENT, Plane, both_beat_one, candidates_found, returned
from evals.metrics import hit, mean, precision, reached, recall
from evals.questions import Pair
from evals.run import Measured, Run, evaluate
from evals.sweep import Figures, Setting, Silence, Stage, Sweep
from retrieval import Law, Pipeline, Ranking, Scoring, embedding_text, fuse
from tests.fakes import embed, settings

STAGES: tuple[Stage, ...] = ("near", "fused", "pool")
NO_FIGURES = Figures(0, None, None, None, 0, None, None)


def pair(text: str, expected: Sequence[Sequence[str]], state: str = "AL", **other: object) -> Pair:
    """A pair that expects these groups, or nothing at all."""
    fields = {
        "need": text or "empty",
        "ask": "plain",
        "state": state,
        "text": text,
        "kind": "plain",
        "lang": "en",
        "topic": "topic",
        "tags": (),
        "expects": "answerable" if expected else "unrelated",
        "unrelated": None if expected else "lexical",
        "expected": tuple(map(tuple, expected)),
        "accepted": (),
        "searches": (),
        "family": None,
        "file": "topic.yaml",
        "line": 1,
    }
    return Pair(**(fields | other))  # type: ignore[arg-type]


def figures(run: Run, stage: str) -> Figures:
    """A stage's figures from the traces of a run, by the metrics one by one."""
    found = [(each.pair, each.trace.stages()[stage]) for each in run.pairs if each.pair.expects == "answerable"]
    return Figures(
        pairs=len(found),
        recall=mean(recall(pair.expected, laws) for pair, laws in found),
        hit=mean(hit(pair.expected, laws) for pair, laws in found),
        precision=mean(precision(pair.relevant, laws) for pair, laws in found),
        nothing_returned=sum(not laws for _, laws in found),
        laws=mean(len(laws) for _, laws in found),
        characters=mean(sum(len(embedding_text(run.laws[pair.state][each])) for each in laws) for pair, laws in found),
    )


def groups_reached(run: Run, stage: str) -> list[bool]:
    """Whether each expected group of the answerable pairs is reached, in the run's order."""
    return [each for one in run.pairs for each in reached(one.pair.expected, one.trace.stages()[stage])]


# Whole runs, drawn at random.

vocabulary = st.sampled_from(["hydrant", "park", "red", "light", "stop", "turn", "yield", "signs", "bus", "school"])
texts = st.lists(vocabulary, max_size=4).map(" ".join)
families = st.sampled_from(["fee", "test"])


@st.composite
def corpora(draw: st.DrawFn) -> dict[str, list[Law]]:
    """Two states' laws: some say the same, some nothing, some are page rows of two families."""
    corpus = {}
    for state in ("AL", "MD"):
        rows = draw(st.lists(st.tuples(texts, texts, st.none() | families), max_size=14))
        rows += draw(st.lists(st.sampled_from(rows), max_size=3)) if rows else []
        corpus[state] = [
            Law(f"{state}-{at}", law, question, family or "road-rule", "process" if family else "rule")
            for at, (law, question, family) in enumerate(rows)
        ]
    return corpus


@st.composite
def pairs_of(draw: st.DrawFn, corpus: dict[str, list[Law]]) -> list[Pair]:
    """Questions to them. Expected and accepted are any laws, and ids that the state lacks."""
    pairs = []
    for _ in range(draw(st.integers(0, 5))):
        state = draw(st.sampled_from(sorted(corpus)))
        ids = st.sampled_from([*(law.id for law in corpus[state]), "gone"])
        groups = draw(st.lists(st.lists(ids, min_size=1, max_size=3, unique=True), max_size=4))
        other = {
            "accepted": tuple(draw(st.lists(ids, max_size=3, unique=True))),
            "searches": tuple(draw(st.lists(texts, max_size=3))),
            "family": draw(st.none() | families | st.just("no such family")),
        }
        pairs.append(pair(draw(texts), groups, state, **other))
    return pairs


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """A run at some setting; searches and families act where the rephraser is on."""
    corpus = draw(corpora())
    rephrase = draw(st.sampled_from(["off", "written"]))
    return evaluate(settings(rephrase=rephrase), corpus, draw(pairs_of(corpus)), embed, "fake")


def again(run: Run, setting: Setting, pool: int, searched: int | None) -> Run:
    """The pipeline run with the setting: `fused` asks for its laws, `pool` for so many, other ones with searches."""
    numbers = settings(
        rephrase=run.settings.rephrase,
        near_enough={"fake": setting.near_enough},
        near_laws=setting.near_laws,
        retrieved_laws=setting.laws,
        candidate_laws=pool,
        searched_candidate_laws=pool if searched is None else searched,
    )
    return evaluate(numbers, run.corpus, [each.pair for each in run.pairs], embed, "fake")


def cutoffs_of(run: Run) -> st.SearchStrategy[float]:
    """Cutoffs anywhere, and at, just above and just below the cosines of a run."""
    seen = [score for each in run.pairs for scoring in each.trace.scorings for score in scoring.near.scores.tolist()]
    beside = [math.nextafter(score, side) for score in seen for side in (-1.0, 1.0)]
    anywhere = st.floats(-1, 1)
    return (
        st.sampled_from(sorted({max(-1.0, min(1.0, each)) for each in [*seen, *beside]})) | anywhere
        if seen
        else anywhere
    )


# At the deeper depths a law in both rankings may come second, and nothing is tabulated.
depths = st.sampled_from([(32, 64), (9, 12), (70, 80)])


@hypothesis_settings(max_examples=100)
@given(st.data(), runs(), depths)
def test_every_figure_is_the_pipelines(data: st.DataObject, run: Run, depth: tuple[int, int]) -> None:
    """Figures, groups and silence at a setting are those of the pipeline run with it: equal floats, all stages."""
    sweep = Sweep.of(run, *depth)
    for _ in range(2):
        cutoff, near_laws = data.draw(cutoffs_of(run)), data.draw(st.integers(0, 9))
        laws, pool = data.draw(st.tuples(st.integers(1, 12), st.integers(1, 12)))
        searched = data.draw(st.none() | st.integers(1, 12))
        rerun = again(run, Setting(cutoff, near_laws, laws), pool, searched)
        for stage in STAGES:
            setting = Setting(cutoff, near_laws, pool if stage == "pool" else laws, searched)
            assert sweep.at(setting, stage) == figures(rerun, stage)
            assert sweep.reached(setting, stage).tolist() == groups_reached(rerun, stage)
        near = [len(each.trace.near) for each in rerun.pairs if each.pair.expects != "answerable"]
        silent = Silence(near.count(0) / len(near), sum(near) / len(near), len(near)) if near else None
        assert sweep.expect_nothing(cutoff, near_laws) == silent


@hypothesis_settings(max_examples=40)
@given(st.data(), runs(), depths)
def test_curves_and_grids_are_made_of_single_settings(data: st.DataObject, run: Run, depth: tuple[int, int]) -> None:
    """A point of a curve or a grid is the figure of its setting, in whatever order the points are asked for."""
    sweep = Sweep.of(run, *depth)
    cutoffs = data.draw(st.lists(cutoffs_of(run), max_size=4))
    counts = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=3))
    sizes = data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=3))
    searched = data.draw(st.none() | st.integers(1, 12))
    for stage in STAGES:
        at = [(each, sweep.at(Setting(each, counts[0], sizes[0], searched), stage)) for each in cutoffs]
        curve = sweep.over_cutoffs(cutoffs, near_laws=counts[0], laws=sizes[0], stage=stage, searched_laws=searched)
        assert curve == at
        nears = [(each, sweep.at(Setting(0.5, each, sizes[0], searched), stage)) for each in counts]
        assert (
            sweep.over_near_laws(counts, near_enough=0.5, laws=sizes[0], stage=stage, searched_laws=searched) == nears
        )
    found = [(each, sweep.at(Setting(0.5, counts[0], each))) for each in sizes]
    assert sweep.over_laws(sizes, near_enough=0.5, near_laws=counts[0]) == found
    for measure in ("recall", "hit", "precision", "laws", "characters"):
        grid = sweep.grid(cutoffs, counts, sizes, measure)
        assert grid.shape == (len(cutoffs), len(counts), len(sizes))
        assert grid.tolist() == [
            [
                [getattr(sweep.at(Setting(*each, size)), measure) for size in sizes]
                for each in ((cutoff, n) for n in counts)
            ]
            for cutoff in cutoffs
        ]


@hypothesis_settings(max_examples=40)
@given(runs(), st.integers(0, 9), st.integers(1, 12))
def test_nothing_changes_between_breakpoints(run: Run, near_laws: int, laws: int) -> None:
    """Just above one breakpoint everything is as at the next, and above the last as without a near search."""
    sweep = Sweep.of(run)
    breakpoints = sweep.breakpoints(near_laws)
    assert breakpoints == sorted(set(breakpoints))
    assert set(breakpoints) <= set(sweep.breakpoints())
    for stage in STAGES:
        curve = sweep.over_cutoffs(near_laws=near_laws, laws=laws, stage=stage)
        assert [cutoff for cutoff, _ in curve] == breakpoints
        above = [math.nextafter(cutoff, math.inf) for cutoff in (-2.0, *breakpoints)]
        without = sweep.at(Setting(0.0, 0, laws), stage)
        expected = [*(found for _, found in curve), without]
        assert [
            found for _, found in sweep.over_cutoffs(above, near_laws=near_laws, laws=laws, stage=stage)
        ] == expected
    silent = [sweep.expect_nothing(cutoff, near_laws) for cutoff in breakpoints]
    assert silent == [sweep.expect_nothing(cutoff, near_laws) for cutoff in above[:-1]]


@hypothesis_settings(max_examples=40)
@given(runs(), st.integers(0, 9), st.integers(1, 12))
def test_what_is_monotone(run: Run, near_laws: int, laws: int) -> None:
    """A higher cutoff loses groups of the near search and gains none; without searches a wider pool loses none."""
    sweep = Sweep.of(run)
    rising = [sweep.reached(Setting(cutoff, near_laws, 1), "near") for cutoff in sweep.breakpoints(near_laws)]
    assert not any((after & ~before).any() for before, after in itertools.pairwise(rising))
    alone = Sweep.of(run, only=lambda pair: not pair.searches)
    widening = [alone.reached(Setting(0.5, near_laws, size)) for size in range(1, laws + 1)]
    assert not any((before & ~after).any() for before, after in itertools.pairwise(widening))


# By hand: laws by name, rankings as given.

NAMES = "abcdefghijklmnopqrstuvwxyz"
LETTERS = {"AL": [Law(name, name * at) for at, name in enumerate(NAMES, 1)]}


def scoring(words: str, near: Sequence[tuple[str, float]] = ()) -> Scoring:
    """One text's rankings, laws by letter; near with their cosines."""
    return Scoring(
        f"{words} {near}",
        Ranking(np.array([NAMES.index(each) for each in words], dtype=np.intp), -np.arange(len(words)) / 1),
        Ranking(
            np.array([NAMES.index(each) for each, _ in near], dtype=np.intp), np.array([score for _, score in near])
        ),
    )


def by_hand(*questions: tuple[Sequence[Scoring], Sequence[Sequence[str]]]) -> Run:
    """A run of such questions, each with the groups it expects."""
    pipeline = Pipeline(settings(), LETTERS["AL"])
    measured = [
        Measured(pair(f"q{at}", groups), pipeline.trace(scorings)) for at, (scorings, groups) in enumerate(questions)
    ]
    return Run(settings(), LETTERS, tuple(measured), "none")


def test_a_lower_cutoff_can_lose_a_law() -> None:
    """Asked for two, b is second by words, until a neighbour at 0.7 ties with a's score and comes before it."""
    sweep = Sweep.of(by_hand(([scoring("ab", [("n", 0.7)])], ["b"])))
    curve = sweep.over_cutoffs([0.71, 0.7, 0.69], near_laws=8, laws=2)
    assert [found.recall for _, found in curve] == [1.0, 0.0, 0.0]
    assert [found.laws for _, found in curve] == [2.0, 2.0, 2.0]
    assert [found.characters for _, found in curve] == [3.0, 15.0, 15.0]  # a and b, then a and n


def test_a_wider_pool_can_lose_a_law() -> None:
    """Asked for three, x and y join the word rankings, beside their near ones, and both pass e.

    Asked for two: z 2/61, then e 1/61 before q. Asked for three: z, x and y 1/62 + 1/63 each, and e is fourth.
    """
    question = [scoring("epx", [("z", 0.9), ("x", 0.8)]), scoring("qry", [("z", 0.9), ("y", 0.8)])]
    sweep = Sweep.of(by_hand((question, ["e"])))
    found = sweep.over_laws([1, 2, 3, 4], near_enough=0.5, near_laws=2)
    assert [each.recall for _, each in found] == [0.0, 1.0, 0.0, 1.0]
    lost = sweep.reached(Setting(0.5, 2, 2)) & ~sweep.reached(Setting(0.5, 2, 3))
    assert [group for group, is_lost in zip(sweep.groups, lost, strict=True) if is_lost] == [(0, 0)]


@pytest.mark.parametrize("depth", [(32, 64), (70, 80)])
def test_a_pool_of_its_own_for_pairs_with_searches(depth: tuple[int, int]) -> None:
    """Asked for one, or three with searches: c is third in both, and only the pair with a search has it."""
    run = by_hand(([scoring("abc")], ["c"]), ([scoring("abc"), scoring("abc")], ["c"]))
    sweep = Sweep.of(run, *depth)
    for setting, is_reached in ((Setting(0.5, 2, 1, 3), [False, True]), (Setting(0.5, 2, 3, 1), [True, False])):
        assert sweep.reached(setting, "pool").tolist() == is_reached
        assert (sweep.at(setting, "pool").recall, sweep.at(setting, "pool").laws) == (0.5, 2.0)


def test_a_cosine_is_let_in_by_itself() -> None:
    """A law whose cosine is the cutoff is in, one the next float above the cutoff's is not; its twin goes with it."""
    sweep = Sweep.of(by_hand(([scoring("", [("a", 0.8), ("b", 0.7), ("c", 0.7)])], ["a", "c"])))
    assert sweep.breakpoints() == [0.7, 0.8]
    assert sweep.breakpoints(near_laws=1) == [0.8]
    cutoffs = [math.nextafter(0.8, 1), 0.8, math.nextafter(0.7, 1), 0.7, math.nextafter(0.7, 0)]
    curve = [found for _, found in sweep.over_cutoffs(cutoffs, near_laws=8, laws=8, stage="near")]
    assert [each.recall for each in curve] == [0.0, 0.5, 0.5, 1.0, 1.0]
    assert [each.precision for each in curve] == [None, 1.0, 1.0, 2 / 3, 2 / 3]
    assert [each.nothing_returned for each in curve] == [1, 0, 0, 0, 0]
    assert curve[0] == Figures(1, 0.0, 0.0, None, 1, 0.0, 0.0)
    for stage in STAGES:
        here = [sweep.reached(Setting(cutoff, 8, 8), stage).tolist() for cutoff in cutoffs]
        assert here == [[False, False], [True, False], [True, False], [True, True], [True, True]]


def test_precision_is_missing_where_nothing_comes_back() -> None:
    """A grid masks what has no value, and its list says None."""
    sweep = Sweep.of(by_hand(([scoring("", [("a", 0.8)])], ["a"]), ([scoring("", [("b", 0.6)])], ["a"])))
    grid = sweep.grid([0.9, 0.7, 0.5], [1], [1], "precision")
    assert grid.tolist() == [[[None]], [[1.0]], [[0.5]]]
    assert sweep.grid([0.9, 0.7, 0.5], [1], [1]).tolist() == [[[0.0]], [[0.5]], [[0.5]]]


def test_questions_that_expect_nothing_have_figures_of_their_own() -> None:
    """They count in no mean, and the near search over them is told apart: nothing returned, and laws."""
    silent, loud = scoring("ab", [("c", 0.5)]), scoring("", [("c", 0.9), ("d", 0.8), ("e", 0.7)])
    sweep = Sweep.of(by_hand(([silent], []), ([loud], []), ([scoring("a")], ["a"])))
    assert sweep.expect_nothing(0.6, 2) == Silence(returned_nothing=0.5, laws=1.0, pairs=2)
    assert sweep.expect_nothing(0.5, 32) == Silence(returned_nothing=0.0, laws=2.0, pairs=2)
    assert sweep.at(Setting(0.6, 8, 8)).pairs == 1
    assert sweep.groups == [(2, 0)]
    answerable = Sweep.of(by_hand(([scoring("a")], ["a"])))
    assert answerable.expect_nothing(0.6, 2) is None


def test_a_sweep_of_some_pairs() -> None:
    """`only` leaves the others out of every figure; a group keeps its pair's place in the run."""
    run = by_hand(([scoring("b")], ["a"]), ([scoring("a")], ["a", "b"]))
    assert Sweep.of(run).at(Setting(0.5, 8, 8)).recall == 0.25
    second = Sweep.of(run, only=lambda pair: pair.text == "q1")
    assert second.at(Setting(0.5, 8, 8)).recall == 0.5
    assert second.groups == [(1, 0), (1, 1)]
    assert second.reached(Setting(0.5, 8, 8)).tolist() == [True, False]


@pytest.mark.parametrize("depth", [(32, 64), (70, 80), (0, 1)])
def test_a_run_of_nothing(depth: tuple[int, int]) -> None:
    """No pairs: no figures, no groups, no breakpoints, and no number in a grid."""
    sweep = Sweep.of(by_hand(), *depth)
    assert sweep.at(Setting(0.5, 0, 1)) == sweep.at(Setting(0.5, 0, 1), "near") == NO_FIGURES
    assert sweep.reached(Setting(0.5, 0, 1)).tolist() == sweep.reached(Setting(0.5, 0, 1), "near").tolist() == []
    assert sweep.over_cutoffs(near_laws=0, laws=1) == []
    assert sweep.grid([0.5], [0], [1]).tolist() == [[[None]]]
    assert sweep.grid([], [], []).shape == (0, 0, 0)


def test_settings_beyond_the_depths_are_refused() -> None:
    """What the tables do not hold is an error that says what they do; the near search is asked for no laws."""
    sweep = Sweep.of(by_hand(([scoring("a")], ["a"])), near_laws=4, laws=6)
    for setting, message in (
        (Setting(0.5, 5, 6), "holds 0 to 4"),
        (Setting(0.5, -1, 6), "holds 0 to 4"),
        (Setting(0.5, 4, 7), "holds 1 to 6"),
        (Setting(0.5, 4, 0), "holds 1 to 6"),
        (Setting(math.nan, 4, 6), "not a number"),
    ):
        with pytest.raises(ValueError, match=message):
            sweep.at(setting)
        with pytest.raises(ValueError, match=message):
            sweep.reached(setting)
    assert sweep.at(Setting(0.5, 4, 7), "near").pairs == 1
    for searched in (0, 7):
        with pytest.raises(ValueError, match="holds 1 to 6"):
            sweep.at(Setting(0.5, 4, 6, searched), "pool")
        with pytest.raises(ValueError, match="holds 1 to 6"):
            sweep.reached(Setting(0.5, 4, 6, searched), "pool")
        assert sweep.at(Setting(0.5, 4, 6, searched), "fused").pairs == 1
    with pytest.raises(ValueError, match="no mean 'nothing_returned'"):
        sweep.grid([0.5], [4], [6], "nothing_returned")
    with pytest.raises(ValueError, match="near_laws 0 or more"):
        Sweep.of(by_hand(), near_laws=-1)
    with pytest.raises(ValueError, match="laws 1 or more"):
        Sweep.of(by_hand(), laws=0)


# At full depth, and what depends on it.


def large_run(seed: int, questions: int, laws: int, texts: int) -> Run:
    """Rankings longer than a sweep looks, that share much; one to seven groups expected of each."""
    rng = np.random.default_rng(seed)
    corpus = {"AL": [Law(f"L{at}", "x" * int(rng.integers(1, 300))) for at in range(laws)]}
    pipeline = Pipeline(settings(), corpus["AL"])
    measured = []
    for at in range(questions):
        meant = rng.normal(size=laws)
        scorings = []
        for _ in range(texts):
            by_words = np.argsort(-(meant + rng.normal(size=laws)))[: rng.integers(1, laws)]
            by_meaning = np.argsort(-(meant + rng.normal(size=laws)))
            cosines = -np.sort(-np.round(rng.normal(0.8, 0.05, laws), 2))
            scorings.append(Scoring("", Ranking(by_words, -by_words / 1), Ranking(by_meaning, cosines)))
        groups = [[f"L{law}"] for law in np.argsort(-meant)[rng.integers(0, 30, rng.integers(1, 8))]]
        measured.append(Measured(pair(f"q{at}", groups), pipeline.trace(scorings)))
    return Run(settings(), corpus, tuple(measured), "none")


@pytest.mark.parametrize("texts", [1, 3])
def test_at_full_depth(texts: int) -> None:
    """To 64 laws and 32 near ones, of rankings that are longer, every figure is that of the pipeline's fusion."""
    run = large_run(7, 60, 120, texts)
    sweep = Sweep.of(run)
    rng = np.random.default_rng(8)
    for near_laws, laws in ((32, 64), (32, 63), (31, 64), (0, 64), *rng.integers([0, 1], [33, 65], (12, 2)).tolist()):
        cutoff = round(float(rng.uniform(0.7, 0.9)), 2)
        numbers = settings(near_enough={"fake": cutoff}, near_laws=near_laws, retrieved_laws=laws)
        pipeline = Pipeline(numbers, run.corpus["AL"])
        traces = [pipeline.trace(each.trace.scorings) for each in run.pairs]
        rerun = Run(
            numbers,
            run.corpus,
            tuple(Measured(each.pair, trace) for each, trace in zip(run.pairs, traces, strict=True)),
            "none",
        )
        for stage in ("near", "fused"):
            setting = Setting(cutoff, near_laws, laws)
            assert sweep.at(setting, stage) == figures(rerun, stage)


def test_sums_are_blind_to_the_order_of_pairs() -> None:
    """Thirds and sevenths of many pairs, forwards or backwards, tabulated or not: the same bits."""
    run = large_run(9, 400, 80, 1)
    backwards = Run(run.settings, run.corpus, run.pairs[::-1], run.model)
    cutoffs = np.linspace(0.65, 0.95, 31).tolist()
    for measure in ("recall", "precision"):
        grid = Sweep.of(run).grid(cutoffs, [0, 5, 32], [1, 7, 40], measure).tolist()
        assert Sweep.of(backwards).grid(cutoffs, [0, 5, 32], [1, 7, 40], measure).tolist() == grid
        assert Sweep.of(run, 32, 200).grid(cutoffs, [0, 5, 32], [1, 7, 40], measure).tolist() == grid


# The arithmetic of ranks against fusion itself, ids that the corpus lacks among them.

LACKING = frozenset("aeiou")
KNOWN = frozenset(NAMES) - LACKING

letters = st.lists(st.sampled_from(NAMES[:12]), unique=True, max_size=10)


def ranks(ranking: Sequence[str], absent: int) -> list[int]:
    """The rank of every letter, from 1."""
    return [ranking.index(each) + 1 if each in ranking else absent for each in NAMES]


@hypothesis_settings(max_examples=100)
@given(letters, letters)
def test_the_plane_is_fusion_at_every_depth(words: list[str], near: list[str]) -> None:
    """Each letter's place in or out of the result, at every number of laws asked for and every near depth."""
    laws, depth = 11, 9
    near_ranks = np.zeros((1, laws), dtype=np.int16)
    for at, each in enumerate(words):
        near_ranks[0, at] = near.index(each) + 1 if each in near[:depth] else 0
    known = [
        [[each in KNOWN for each in ranking[:size]] + [False] * (size - len(ranking))]
        for ranking, size in ((words, laws), (near, depth))
    ]
    plane = Plane(near_ranks, *map(np.array, known))
    weights = [
        np.array(
            [[each in KNOWN and at < len(ranking) and ranking[at] == each for at in range(size)] for each in NAMES]
        )
        for ranking, size in ((words, laws), (near, depth))
    ]
    found = plane.sums(np.zeros(len(NAMES), dtype=np.intp), *weights)
    for asked in range(laws + 1):
        for taken in range(depth + 1):
            expected = fuse([words[:asked], near[:taken]], asked, KNOWN)
            assert {each for each, one in zip(NAMES, found[:, asked, taken], strict=True) if one} == set(expected)


@hypothesis_settings(max_examples=100)
@given(st.lists(st.tuples(letters, letters), min_size=1, max_size=4), st.data())
def test_the_general_way_is_fusion(rankings: list[tuple[list[str], list[str]]], data: st.DataObject) -> None:
    """The same for any number of rankings, at depths drawn at random; and how many laws took part."""
    each_depth = st.lists(st.integers(0, 11), min_size=len(rankings), max_size=len(rankings))
    cases, sizes = data.draw(st.lists(each_depth, min_size=1, max_size=4)), [0, 1, 2, 5, 11, 40]
    of = data.draw(st.lists(st.integers(0, 25), unique=True))
    words, near = (np.array([ranks(each[at], ABSENT) for each in rankings]) for at in (0, 1))
    known = np.array([each in KNOWN for each in NAMES])
    arguments = words, near, known, np.array(cases), np.array(sizes)
    found = returned(*arguments, np.array(of, dtype=np.intp))
    part = candidates_found(*arguments)
    for case, taken in enumerate(cases):
        for at, size in enumerate(sizes):
            cut = [
                ranking
                for (by_words, by_meaning), depth in zip(rankings, taken, strict=True)
                for ranking in (by_words[:size], by_meaning[:depth])
            ]
            expected = fuse(cut, size, KNOWN)
            assert found[:, case, at].tolist() == [NAMES[each] in expected for each in of]
            assert part[case, at] == len({each for ranking in cut for each in ranking} & KNOWN)


def test_where_a_law_in_both_rankings_may_come_second() -> None:
    """At 64 and 32, 1/124 + 1/92 is above 1/61; at 62 and 62, 2/122 is not, and the plane refuses."""
    assert both_beat_one(64, 32)
    assert both_beat_one(61, 61)
    assert not both_beat_one(62, 62)
    with pytest.raises(ValueError, match="may come second"):
        Plane(np.zeros((1, 62), dtype=np.int16), np.zeros((1, 62), dtype=bool), np.zeros((1, 62), dtype=bool))
