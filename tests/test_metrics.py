"""The metrics against hand-worked tables, their invariants, trec_eval's own files, and trec_eval itself."""

import doctest
import random
from array import array
from collections.abc import Callable
from math import inf, log2
from pathlib import Path

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from evals.exchange import rankings
from evals.exchange.rankings import in_order, judged
from evals.exchange.trec import read_qrels, read_run
from evals.judged import Judged
from evals.metrics import METRICS, Metric, evaluate, hit, mean, parse_metric, precision, recall
from retrieval.errors import InputError
from tests.reference import COLLECTIONS, needs_collections

# Every metric stands in one of these; a new one that is in none of them fails a test.
NEVER_FALLS = {"recall", "hit", "MRR", "MAP"}  # as k grows
MAY_FALL = {"precision", "nDCG"}
TAKES_NO_K = {"silent", "returned"}

KS = (1, 2, 3, 5, 8, 100)
EVERY_METRIC = [Metric(name) for name in METRICS]
EVERY_CUT = [Metric(name, k) for name, each in METRICS.items() if each.cut for k in KS]


def value(text: str, question: Judged) -> float | None:
    """The value of the metric that is written so."""
    return parse_metric(text)(question)


# -- Hand-worked


ABC = [["a"], ["b"], ["c"]]
THREE = Judged(ABC, ["a"])
GROUPS = Judged([["a", "b"], ["c"]], ["x", "b", "a", "c"], accepted=["y"])
GRADED = Judged(ABC, ["x", "b", "a"], gains=[3, 1, 2])


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        # 4 expected, k 1, one hit: never divided by min(k, expected).
        ("recall@1", Judged([*ABC, ["d"]], ["a", "x"]), 1 / 4),
        # One hit returned, k = 5: the one divides by k, the other by what came back.
        ("precision@5", Judged([["a"]], ["a"]), 1 / 5),
        ("precision", Judged([["a"]], ["a"]), 1.0),
        # 3 expected, 1 returned first: the ideal is made of all three.
        ("recall", THREE, 1 / 3),
        ("nDCG", THREE, 1 / (1 + 1 / log2(3) + 1 / 2)),
        ("nDCG@1", THREE, 1.0),
        ("MAP", THREE, 1 / 3),
        ("MRR", THREE, 1.0),
        # Groups: the first is reached at 2, by b; the second at 4. Of the first four, b, a and c are right.
        ("recall@2", GROUPS, 1 / 2),
        ("recall@4", GROUPS, 1.0),
        ("hit@1", GROUPS, 0.0),
        ("hit@2", GROUPS, 1.0),
        ("MRR", GROUPS, 1 / 2),
        ("MAP", GROUPS, (1 / 2 + 3 / 4) / 2),
        ("MAP@3", GROUPS, (1 / 2) / 2),
        ("precision@2", GROUPS, 1 / 2),
        ("precision", GROUPS, 3 / 4),
        ("nDCG", GROUPS, (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3))),
        # Grades: b (1) at 2, a (3) at 3; ideally 3, 2, 1.
        ("nDCG", GRADED, (1 / log2(3) + 3 / 2) / (3 + 2 / log2(3) + 1 / 2)),
        ("nDCG@2", GRADED, (1 / log2(3)) / (3 + 2 / log2(3))),
        # An accepted law is right, and is not what was looked for.
        ("precision@2", Judged([["a"]], ["y", "a"], accepted=["y"]), 1.0),
        ("MAP", Judged([["a"]], ["y", "a"], accepted=["y"]), 1.0),
        ("MRR", Judged([["a"]], ["y", "a"], accepted=["y"]), 1 / 2),
        ("recall@1", Judged([["a"]], ["y", "a"], accepted=["y"]), 0.0),
        # One law that reaches two groups at once, and everything.
        ("recall@1", Judged([["a"], ["a", "b"]], ["a"]), 1.0),
        ("nDCG", Judged([["a"], ["a", "b"]], ["a"]), 1.0),
        ("MAP", Judged([["a"], ["a", "b"]], ["a"]), 1.0),
        ("nDCG", Judged([["a"], ["a", "b"], ["c"]], ["c", "a"]), 1.0),
        ("nDCG", Judged([["a"], ["a", "b"]], ["x", "a"]), (1 / log2(3) + 1 / 2) / (1 + 1 / log2(3))),
        # Returned twice, expected twice, accepted and expected: once.
        ("recall", Judged([["a"], ["b"]], ["a", "a"]), 1 / 2),
        ("precision", Judged([["a"]], ["a", "a", "x"]), 1 / 2),
        ("precision@3", Judged([["a"]], ["a", "a", "a"]), 1 / 3),
        ("MRR", Judged([["b"]], ["x", "x", "b"]), 1 / 2),
        ("recall", Judged([["a", "b"], ["b", "a"], ["c"]], ["a"]), 1 / 2),
        ("recall", Judged([["a", "a"], ["c"]], ["a"]), 1 / 2),
        ("nDCG", Judged([["a"], ["a"]], ["a"]), 1.0),
        ("precision", Judged([["a"]], ["a"], accepted=["a"]), 1.0),
        # Nothing expected.
        ("silent", Judged([]), 1.0),
        ("silent", Judged([], ["x"]), 0.0),
        ("returned", Judged([], ["x", "y", "x"]), 2.0),
    ],
)
def test_hand_worked(text: str, question: Judged, expected: float) -> None:
    """The value of each metric follows from its definition by hand."""
    assert value(text, question) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("metric", [*EVERY_METRIC, *EVERY_CUT], ids=str)
def test_where_nothing_came_back(metric: Metric) -> None:
    """A question that returned nothing counts 0 in every mean; only the precision of what came back has no value."""
    found = metric(Judged(ABC))
    if METRICS[metric.name].asked_of == "expects nothing" or str(metric) == "precision":
        assert found is None
    else:
        assert found == 0.0


@pytest.mark.parametrize("metric", [*EVERY_METRIC, *EVERY_CUT], ids=str)
@pytest.mark.parametrize("returned", [[], ["a"]])
def test_what_is_expected_decides_who_is_asked(metric: Metric, returned: list[str]) -> None:
    """Questions that expect nothing have metrics of their own, and no value in the others."""
    nothing = METRICS[metric.name].asked_of == "expects nothing"
    assert (metric(Judged([], returned)) is not None) == nothing
    assert not nothing or metric(Judged([["a"]], returned)) is None


# -- The registry


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_a_worked_example(name: str) -> None:
    """The docstring of a metric computes it."""
    examples = doctest.DocTestParser().get_examples(METRICS[name].compute.__doc__ or "")
    assert any(f'Metric("{name}"' in each.source for each in examples)


def test_every_metric_is_classified() -> None:
    """A metric that is not in exactly one class of these tests fails here."""
    assert sorted([*NEVER_FALLS, *MAY_FALL, *TAKES_NO_K]) == sorted(METRICS)
    assert {name for name, each in METRICS.items() if not each.cut} == TAKES_NO_K
    assert all(name == each.name for name, each in METRICS.items())


@given(st.sampled_from([*EVERY_METRIC, *EVERY_CUT]))
def test_a_metric_is_what_its_name_says(metric: Metric) -> None:
    """The printed form, parsed, is the metric."""
    assert parse_metric(str(metric)) == metric
    assert f"{metric}" == metric.name + (f"@{metric.k}" if metric.k else "")


FORMS = "recall, recall@k, precision, precision@k, hit, hit@k, MRR, MRR@k, MAP, MAP@k, nDCG, nDCG@k, silent, returned"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bpref", f"--metric bpref: no metric bpref; there are {FORMS}"),
        ("ndcg@10", f"--metric ndcg@10: no metric ndcg; there are {FORMS}; was nDCG@10 meant?"),
        ("", f"--metric : no metric; there are {FORMS}, with k from 1 to 1000000"),
        ("nDCG@0", f"--metric nDCG@0: no metric; there are {FORMS}, with k from 1 to 1000000"),
        ("nDCG@", f"--metric nDCG@: no metric; there are {FORMS}, with k from 1 to 1000000"),
        ("nDCG@-1", f"--metric nDCG@-1: no metric; there are {FORMS}, with k from 1 to 1000000"),
        ("nDCG@10 ", f"--metric nDCG@10 : no metric; there are {FORMS}, with k from 1 to 1000000"),
        ("nDCG@١", f"--metric nDCG@١: no metric; there are {FORMS}, with k from 1 to 1000000"),
        ("nDCG@1000001", "--metric nDCG@1000001: nDCG@1000001: k is a number from 1 to 1000000"),
        ("silent@3", "--metric silent@3: silent takes no @k"),
    ],
)
def test_what_is_no_metric_is_refused(text: str, message: str) -> None:
    """The message names what there is, and what was meant where it can."""
    with pytest.raises(InputError) as caught:
        parse_metric(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(("name", "k"), [("made-up", None), ("nDCG", 0), ("nDCG", -1), ("silent", 1), ("", None)])
def test_an_unregistered_metric_cannot_be_made(name: str, k: int | None) -> None:
    """There is no metric outside the registry, and none with a k that means nothing."""
    with pytest.raises(ValueError, match=r"metric|number from 1|takes no"):
        Metric(name, k)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (lambda: Judged(["a"]), "an expected group is a collection"),
        (lambda: Judged([["a"], []]), "an expected group is a collection"),
        (lambda: Judged([["a"], ["b"]], gains=[1]), "1 gains for 2 expected groups"),
        (lambda: Judged([["a"]], gains=[0]), "a gain is a number above 0"),
        (lambda: Judged([["a"]], gains=[float("nan")]), "a gain is a number above 0"),
        (lambda: Judged([["a"]], gains=[inf]), "a gain is a number above 0"),
    ],
)
def test_what_is_no_judged_question_is_refused(question: Callable[[], Judged], message: str) -> None:
    """A bare id in place of a group would be taken for its letters; a gain of 0 expects nothing."""
    with pytest.raises(ValueError, match=message):
        question()


# -- Invariants over all of it

laws = st.sampled_from("abcdefgh")
groups = st.lists(st.lists(laws, min_size=1, max_size=3), max_size=4)
rankings_of_laws = st.lists(laws, max_size=10)
ungraded = st.builds(Judged, groups, rankings_of_laws, st.lists(laws, max_size=3))


@st.composite
def graded(draw: st.DrawFn) -> Judged:
    """A question of single laws with grades, as in a TREC collection."""
    grades = draw(st.dictionaries(laws, st.integers(1, 4), max_size=5))
    return Judged([[law] for law in grades], draw(rankings_of_laws), gains=list(grades.values()))


questions = ungraded | graded()
any_metric = st.sampled_from([*EVERY_METRIC, *EVERY_CUT])


@given(any_metric, questions)
def test_within_its_bounds(metric: Metric, question: Judged) -> None:
    """Between 0 and 1; the number returned between 0 and all."""
    found = metric(question)
    assert found is None or 0 <= found <= METRICS[metric.name].highest
    assert METRICS[metric.name].highest == (inf if metric.name == "returned" else 1)


@given(questions)
def test_the_best_ranking_has_the_best_value(question: Judged) -> None:
    """Everything expected, the largest gain first, and nothing else: 1. Nothing for nothing: silence."""
    gains = question.gains or [1] * len(question.expected)
    best: list[str] = []
    for _, group in sorted(zip(gains, question.expected, strict=True), key=lambda pair: -pair[0]):
        if not set(group) & set(best):
            best.append(next(iter(group)))
    perfect = Judged(question.expected, best, question.accepted, question.gains)
    found = {str(metric): metric(perfect) for metric in EVERY_METRIC}
    ones = {"recall", "precision", "hit", "MRR", "MAP", "nDCG"} if question.expected else {"silent"}
    assert {name for name, each in found.items() if each == 1} == ones
    assert found["returned"] == (None if question.expected else 0)
    assert all(Metric("precision", k)(perfect) == 1 for k in range(1, len(best) + 1))


@given(questions, st.sampled_from(sorted(NEVER_FALLS)))
def test_never_falls_as_k_grows(question: Judged, name: str) -> None:
    """Looking further down a ranking loses nothing."""
    found = [Metric(name, k)(question) for k in range(1, 12)] + [Metric(name)(question)]
    there = [each for each in found if each is not None]
    assert len(there) == (len(found) if question.expected else 0)
    assert there == sorted(there)


@pytest.mark.parametrize("name", sorted(MAY_FALL))
def test_may_fall_as_k_grows(name: str) -> None:
    """These are lower further down where what follows is wrong."""
    first, second = Metric(name, 1)(THREE), Metric(name, 2)(THREE)
    assert first is not None
    assert second is not None
    assert second < first


@given(questions, st.sampled_from(sorted(NEVER_FALLS | {"nDCG"})))
def test_a_k_beyond_the_corpus_is_all_of_it(question: Judged, name: str) -> None:
    """No metric but precision@k, which divides by k, knows how much further k goes."""
    assert Metric(name, 1_000_000)(question) == Metric(name)(question)


@given(st.lists(questions, max_size=6), st.randoms(use_true_random=False))
def test_blind_to_the_order_of_questions(asked: list[Judged], rng: random.Random) -> None:
    """Each question keeps its value, and the mean its last bit."""
    order = list(range(len(asked)))
    rng.shuffle(order)
    before = evaluate([*EVERY_METRIC, *EVERY_CUT], asked)
    after = evaluate([*EVERY_METRIC, *EVERY_CUT], [asked[at] for at in order])
    for metric, found in before.items():
        assert after[metric] == [found[at] for at in order]
        assert mean(after[metric]) == mean(found)


@given(any_metric, ungraded, st.permutations("abcdefgh"), st.randoms(use_true_random=False))
def test_blind_to_names_and_to_the_order_of_what_is_expected(
    metric: Metric, question: Judged, names: list[str], rng: random.Random
) -> None:
    """Laws under other names, and groups in another order, have the same values: a name breaks no tie."""
    new = dict(zip("abcdefgh", names, strict=True))
    expected = [[new[law] for law in group] for group in question.expected]
    rng.shuffle(expected)
    renamed = Judged(expected, [new[law] for law in question.returned], {new[law] for law in question.accepted})
    assert metric(renamed) == metric(question)


@given(any_metric, questions)
def test_a_repeat_changes_nothing(metric: Metric, question: Judged) -> None:
    """What came back before, expected groups and accepted laws may stand there again."""
    gains = None if question.gains is None else [*question.gains, *question.gains]
    again = Judged(
        [*question.expected, *question.expected],
        [*question.returned, *question.returned],
        [*question.accepted, *question.accepted],
        gains,
    )
    assert metric(again) == metric(question)


@given(st.dictionaries(laws, st.integers(0, 3), min_size=1), st.lists(laws, unique=True))
def test_a_group_of_alternatives_is_one_law(group_of: dict[str, int], returned: list[str]) -> None:
    """Where one law of each group comes back at most, the groups might as well be single laws."""
    names = {law: f"group {group}" for law, group in group_of.items()}
    expected = [[law for law in names if names[law] == name] for name in dict.fromkeys(names.values())]
    once = {names.get(law, law): law for law in returned}
    alternatives = Judged(expected, list(once.values()))
    single = Judged([[name] for name in dict.fromkeys(names.values())], list(once))
    for metric in [*EVERY_METRIC, *EVERY_CUT]:
        assert metric(alternatives) == metric(single)


@given(st.lists(questions, max_size=4))
def test_evaluating_many_is_evaluating_each(asked: list[Judged]) -> None:
    """The values of a list are those of its questions."""
    assert evaluate(EVERY_METRIC, asked) == {
        metric: [metric(question) for question in asked] for metric in EVERY_METRIC
    }


@given(questions)
def test_the_functions_of_a_set_are_the_metrics_of_all_that_came_back(question: Judged) -> None:
    """recall, hit and precision have one meaning, however they are called."""
    distinct = list(dict.fromkeys(map(frozenset, question.expected)))
    assert recall(distinct, question.returned) == Metric("recall")(question)
    assert hit(question.expected, question.returned) == Metric("hit")(question)
    if question.expected:
        relevant = set(question.accepted).union(*question.expected)
        assert precision(relevant, question.returned) == Metric("precision")(question)


def test_no_question_has_no_mean() -> None:
    """Nothing to evaluate: no values, and no mean."""
    assert evaluate(EVERY_METRIC, []) == {metric: [] for metric in EVERY_METRIC}
    assert mean([]) is None


# -- Foreign rankings


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({"a": 1.0, "b": 2.0}, ["b", "a"]),
        # Equal as float32, though not as float64: the last of the alphabet first.
        ({"a": 1.00000001, "b": 1.0}, ["b", "a"]),
        ({"a": 1.0000001, "b": 1.0}, ["a", "b"]),
        ({"B": 0.5, "a": 0.5, "é": 0.5, "10": 0.5, "9": 0.5}, ["é", "a", "B", "9", "10"]),
        ({"a": 0.0, "b": -0.0}, ["b", "a"]),
        ({"a": -inf, "b": inf, "c": 1e300, "d": -1e300}, ["c", "b", "d", "a"]),
        ({}, []),
    ],
)
def test_the_order_of_a_foreign_run(scores: dict[str, float], expected: list[str]) -> None:
    """Score as float32 first, then the id, descending, whatever the order of the file."""
    assert in_order(scores) == expected
    assert in_order(dict(reversed(scores.items()))) == expected


def test_a_constant_scorer_has_one_ranking() -> None:
    """Where all scores are equal, every metric sees the same order; none of them sees a lucky one."""
    documents = [f"d{at}" for at in range(1, 6)]
    (question,) = judged({"q": {"d2": 1}}, {"q": dict.fromkeys(documents, 0.5)}).values()
    assert question.returned == ["d5", "d4", "d3", "d2", "d1"]
    expected = {"MRR": 1 / 4, "MAP": 1 / 4, "nDCG": 1 / log2(5), "hit@3": 0, "recall@4": 1, "precision@4": 1 / 4}
    assert {text: value(text, question) for text in expected} == expected


def test_a_judged_question_that_the_run_lacks_stays() -> None:
    """It counts 0 and cannot leave the mean; a question that was not judged is not asked."""
    found = judged({"1": {"a": 1}, "2": {"b": 2}, "3": {"c": 0}}, {"1": {"a": 0.5}, "9": {"b": 0.5}})
    assert list(found) == ["1", "2", "3"]
    values = evaluate([Metric("recall"), Metric("silent")], found.values())
    assert list(values.values()) == [[1.0, 0.0, None], [None, None, 1.0]]


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"q1": {"a": 0.5}}, "run.txt: 0 of 4 judged questions matched: judged are 1, 2, 3, ...; here are q1"),
        ({}, "run.txt: 0 of 4 judged questions matched: judged are 1, 2, 3, ...; here are none"),
    ],
)
def test_questions_that_match_nothing_are_refused(run: rankings.Scores, message: str) -> None:
    """A run with other names for the questions is no run that found nothing."""
    with pytest.raises(InputError) as caught:
        judged({name: {"a": 1} for name in "1234"}, run, "run.txt")
    assert str(caught.value) == message


def test_reading_judgements_and_a_run(tmp_path: Path) -> None:
    """Columns stand between any white space; blank lines and a byte order mark pass; a run's tag may hold spaces."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("\ufeff1 0 a 1\r\n\n1\t0\tb\t-1\n2 Q0 a 0\n", encoding="utf-8")
    run.write_text("1 Q0 b 1 -inf my tag\n  2 Q0 a 7 1.5e-3 x\n1 Q0 a 2 .5 my tag\n", encoding="utf-8")
    assert read_qrels(qrels) == {"1": {"a": 1, "b": -1}, "2": {"a": 0}}
    assert read_run(run) == {"1": {"b": -inf, "a": 0.5}, "2": {"a": 0.0015}}


def test_faults_of_judgements_are_all_told(tmp_path: Path) -> None:
    """Each line that is none is named, with what was expected."""
    path = tmp_path / "qrels"
    path.write_text("1 0 a 1\n1 0 b\n1 0 c 0.5\n1 0 d 1_0\n1 0 a 0\n1 0 e 1 x\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_qrels(path)
    assert str(caught.value).replace(str(path), "qrels").split("\n") == [
        "qrels:2: expected 4 columns, question 0 document grade, found 3",
        "qrels:3: expected a grade, a whole number, found 0.5",
        "qrels:4: expected a grade, a whole number, found 1_0",
        "qrels:5: a stands twice for 1, first on line 1",
        "qrels:6: expected a grade, a whole number, found 1 x",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 Q0 a 1 nan t", "run:1: expected a score, a number, found nan"),
        ("1 Q0 a 1 1_0 t", "run:1: expected a score, a number, found 1_0"),
        ("1 Q0 a 1 . t", "run:1: expected a score, a number, found ."),
        ("1 Q0 a 1 t", "run:1: expected 6 columns, question Q0 document rank score tag, found 5"),
        ("\n1 Q0 a 1 2 t\n1 Q0 a 2 1 t", "run:3: a stands twice for 1, first on line 2"),
        (" \n", "run: no line of question Q0 document rank score tag here"),
    ],
)
def test_faults_of_a_run(tmp_path: Path, text: str, expected: str) -> None:
    """A NaN, which would sort anywhere, a document twice and an empty file are refused."""
    path = tmp_path / "run"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_run(path)
    assert str(caught.value).replace(str(path), "run") == expected


# -- trec_eval

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
NIST = {
    Metric("recall"): "set_recall",
    Metric("precision"): "set_P",
    Metric("MRR"): "recip_rank",
    Metric("MAP"): "map",
    Metric("nDCG"): "ndcg",
    **{Metric("hit", k): f"success_{k}" for k in (1, 5, 10)},
    **{Metric("recall", k): f"recall_{k}" for k in CUTOFFS},
    **{Metric("precision", k): f"P_{k}" for k in CUTOFFS},
    **{Metric("MAP", k): f"map_cut_{k}" for k in CUTOFFS},
    **{Metric("nDCG", k): f"ndcg_cut_{k}" for k in CUTOFFS},
}


def printed(name: str) -> dict[tuple[str, str], str]:
    """What trec_eval printed into a file: its text by measure and query."""
    lines = (COLLECTIONS / "trec_eval" / name).read_text(encoding="utf-8").splitlines()
    return {(measure.strip(), query): text for measure, query, text in (line.split("\t") for line in lines)}


@needs_collections
def test_nist_s_own_files() -> None:
    """Every metric that trec_eval printed for each query of its test, and for all, is the same to its four digits."""
    folder = COLLECTIONS / "trec_eval"
    asked = judged(read_qrels(folder / "qrels.test"), read_run(folder / "results.test"))
    values = evaluate(NIST, asked.values())
    ours = {
        (measure, query): f"{found:.4f}"
        for metric, measure in NIST.items()
        for query, found in zip([*asked, "all"], [*values[metric], mean(values[metric])], strict=True)
    }
    theirs = printed("out.test.aq")
    assert ours == {key: theirs[key] for key in ours}
    assert len(ours) == (3 + 1) * 44
    for key, text in printed("out.test").items():
        assert ours.get(key, text) == text
    assert len(ours.keys() & printed("out.test").keys()) == 2 + len(CUTOFFS)


@needs_collections
def test_the_cacm_run() -> None:
    """trec_eval gives P_30 = 0.1942 on Anserini's run."""
    folder = COLLECTIONS / "cacm"
    asked = judged(read_qrels(folder / "qrels.cacm.txt"), read_run(folder / "cacm-bm25.txt"))
    found = mean(evaluate([Metric("precision", 30)], asked.values())[Metric("precision", 30)])
    assert f"{found:.4f}" == "0.1942"


def random_run(rng: random.Random) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Five questions, one of them absent; grades of -1 to 4, documents nobody judged, ties in float32 alone."""
    judgements: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for question in ("1", "2", "ten", "é", "absent"):
        documents = [f"{rng.choice('aBé')}{at}" for at in range(rng.randint(1, 60))]
        judgements[question] = {
            each: rng.choice((-1, 0, 0, 0, 1, 1, 2, 3, 4)) for each in rng.sample(documents, (len(documents) + 1) // 2)
        }
        returned = rng.sample(documents, rng.randint(1, len(documents)))
        if question != "absent":
            run[question] = {each: rng.randint(-5, 5) / 3 + rng.choice((0, 1e-9)) for each in returned}
    return judgements, run


def test_two_hundred_random_runs() -> None:
    """trec_eval gives the same for each question that it looks at, ties included."""
    rng = random.Random(1994)
    compared = ties = 0
    for _ in range(200):
        judgements, run = random_run(rng)
        theirs = pytrec_eval.RelevanceEvaluator(judgements, pytrec_eval.supported_measures).evaluate(run)
        asked = judged(judgements, run)
        values = evaluate(NIST, asked.values())
        for at, (question, seen) in enumerate(asked.items()):
            for metric, measure in NIST.items():
                found = values[metric][at]
                if not seen.expected:  # trec_eval says 0; here such a question has metrics of its own
                    assert found is None
                elif question == "absent":  # trec_eval -c says 0
                    assert found == (None if str(metric) == "precision" else 0.0)
                else:
                    assert found == pytest.approx(theirs[question][measure], abs=1e-12)
                    compared += 1
            scores = set(run.get(question, {}).values())
            ties += len(set(array("f", scores))) < len(scores)
    assert compared > 500 * len(NIST)
    assert ties > 400
