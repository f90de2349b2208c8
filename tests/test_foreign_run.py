"""What another system returned: matched with the set, measured, compared with the pipeline; and what is refused."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from evals.commands.exchange import export_command, measure_against_qrels, measure_run
from evals.exchange import figures, trec
from evals.exchange.agreement import Difference, agreements, said
from evals.exchange.foreign import Foreign, Line, Returned, lines_of, match, read_foreign
from evals.exchange.names import Names
from evals.exchange.report import Foreigner, files, lines
from evals.exchange.sides import losses
from evals.imported import Kept, judged
from evals.metrics import parse_metric
from evals.outcomes import Side, outcomes, written
from evals.questions import Key
from evals.stages import STAGES
from retrieval.corpus import Law
from retrieval.errors import InputError
from tests import fakes, sides

RUN = sides.run()
CORPUS = {state: fakes.CORPUS[state] for state in ("AL", "MD")}
KEPT: dict[Key, Kept] = {}


def foreign(path: Path, *rows: Mapping[str, object], stage: str = "pool") -> Foreign:
    """Rankings in JSON Lines, read and matched with the small world's questions."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return match(read_foreign(path), sides.PAIRS, CORPUS, KEPT, path, stage)


def of_pipeline(path: Path, stages: tuple[str, ...] = STAGES) -> Foreign:
    """The pipeline's own run, as another system's."""
    path.write_text(lines_of(RUN, stages), encoding="utf-8")
    return match(read_foreign(path), sides.PAIRS, CORPUS, KEPT, path)


def foreigner(found: Foreign) -> Foreigner:
    """It measured, and not compared with the pipeline here."""
    return Foreigner(found, fakes.settings(), CORPUS, KEPT, None)


# -- Reading


def test_json_lines_by_hand(tmp_path: Path) -> None:
    """Everything but question and laws may be missing; an id returned twice counts once, at its first place."""
    path = tmp_path / "run.jsonl"
    path.write_text(
        '{"state": "MD", "question": "a/b", "laws": ["x", "y", "x"], "scores": [3, 2.5, 1], "stage": "near"}\n\n'
        '{"question": "c/d", "laws": [], "scores": null, "stage": null, "outcome": "timed out"}\n'
    )
    assert read_foreign(path) == [
        Line(1, "MD", "a/b", "near", Returned(("x", "y"), (3, 2.5))),
        Line(3, None, "c/d", None, Returned(()), "timed out"),
    ]


def test_a_trec_run_is_ranked_by_its_scores(tmp_path: Path) -> None:
    """Not by the ranks it states; what is no JSON is read as TREC's."""
    path = tmp_path / "run.txt"
    path.write_text("q Q0 low 1 0.1 tag\nq Q0 high 2 0.9 tag\n")
    assert read_foreign(path) == [Line(None, None, "q", None, Returned(("high", "low"), (0.9, 0.1)))]


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ('{"question": "a/b"}', "`laws` is missing"),
        ('{"question": "a/b", "laws": [1]}', "`laws.0`: expected text, found 1"),
        ('{"question": "a/b", "laws": "x"}', '`laws`: expected a list, found "x"'),
        ('{"question": "a/b", "laws": ["x"], "scores": []}', "1 laws and 0 scores"),
        ('{"question": "a/b", "laws": ["x"], "scores": [NaN]}', "NaN is not JSON"),
        ('{"question": "a/b", "laws": ["x"], "scores": ["1"]}', '`scores.0`: expected a number, found "1"'),
        ('{"question": "a/b", "laws": ["x", "y"], "scores": [0.1, 0.2]}', "the scores rise"),
        ('{"question": "a/b", "laws": [], "stage": "rerank"}', "no stage rerank; there are words, near"),
        ('{"question": "a/b", "laws": [], "rank": 1}', "`rank` is not known here"),
        ('{"question": "a/b", "laws": []', "not JSON"),
        ("[]", "expected an object"),
    ],
)
def test_lines_that_are_no_ranking(tmp_path: Path, row: str, what: str) -> None:
    """Each is refused with its line and what was expected, all of them together."""
    path = tmp_path / "run.jsonl"
    path.write_text(f'{{"question": "a/b", "laws": []}}\n{row}\n{row}\n')
    with pytest.raises(InputError) as refused:
        read_foreign(path)
    assert [fault.line for fault in refused.value.faults] == [2, 3]
    assert all(what in message for message in str(refused.value).splitlines()), str(refused.value)


# -- Matching


@pytest.mark.parametrize(
    ("state", "name", "found"),
    [
        ("MD", "hydrant/plain", ("hydrant/plain", "MD")),
        ("md", "who goes first in a crosswalk", ("cross/plain", "MD")),
        (None, "MD/hydrant/plain", ("hydrant/plain", "MD")),
        (None, "cross/plain", ("cross/plain", "MD")),
        (None, "hydrant/plain", None),  # asked in two states
        ("AL", "cross/plain", None),
        ("TX", "hydrant/plain", None),
        ("MD", "hydrant", None),
    ],
)
def test_the_names_of_a_pair(state: str | None, name: str, found: Key | None) -> None:
    """A question by its id or its text in its state, or by a name that no other pair has."""
    assert Names.of(sides.PAIRS, {}).find(state, name) == found


def test_imported_queries_and_documents_by_their_own_ids(tmp_path: Path) -> None:
    """A run over the collection itself names what the collection names."""
    pairs = [fakes.pair("q-1", "plain", "DOCS", text="how near", expected=(("a%20b",),))]
    kept = {("q-1/plain", "DOCS"): Kept(state="DOCS", question="q-1/plain", query={"_id": "q 1"}, judged={})}
    corpus = {"DOCS": [Law("a%20b", "Fifteen feet."), Law("c", "Stop.")]}
    path = tmp_path / "run.jsonl"
    path.write_text('{"question": "q 1", "laws": ["c", "a b"]}\n')
    found = match(read_foreign(path), pairs, corpus, kept, path)
    assert found.laws("pool", ("q-1/plain", "DOCS")) == ("c", "a%20b")
    path.write_text("q%201 Q0 a%20b 1 1 x\n")
    assert match(read_foreign(path), pairs, corpus, kept, path).unknown == ()


def test_what_matches_nothing(tmp_path: Path) -> None:
    """0 of N: of questions, and of laws, with examples of both sides' names."""
    path = tmp_path / "run.jsonl"
    with pytest.raises(InputError) as refused:
        foreign(path, {"question": "7", "laws": ["MD-1"]}, {"question": "8", "laws": []})
    asked = "AL/hydrant/plain, MD/hydrant/plain, MD/hydrant/spanish, ..."
    assert str(refused.value) == f"{path}: 0 of 2 rankings matched a question: asked are {asked}; here are 7, 8"
    with pytest.raises(InputError, match=r"0 of 2 returned laws matched: returned are 1, 2; the corpus has AL-1"):
        foreign(path, {"state": "MD", "question": "cross/plain", "laws": ["1", "2"]})
    both = [{"state": state, "question": "hydrant/plain", "laws": ["AL-1"]} for state in ("AL", "MD")]
    assert foreign(path, *both).unknown == ("AL-1",)  # in MD alone


def test_what_matches_in_part_is_counted(tmp_path: Path) -> None:
    """Names that match nothing are told, ids that are no law count as wrong, a missing pair as nothing returned."""
    found = foreign(
        tmp_path / "run.jsonl",
        {"state": "MD", "question": "cross/plain", "laws": ["gone", "MD-2"]},
        {"state": "MD", "question": "nobody/asked", "laws": ["MD-2"]},
    )
    assert (found.unmatched, found.unknown, found.stages) == (("MD/nobody/asked",), ("gone",), ("pool",))
    told = list(lines(foreigner(found)))
    assert told == [
        "run.jsonl: the stages pool; others were not run and are not here.",
        "pool: 1 of 6 pairs are in the file; the other 5 count as nothing returned",
        "1 name in the file that no question of the set has: MD/nobody/asked",
        "1 returned id that no law of its state has, counted as wrong: gone",
    ]


def test_a_ranking_given_twice_and_two_outcomes(tmp_path: Path) -> None:
    """Which of the two was meant nobody can tell: refused, with the lines."""
    row = {"state": "MD", "question": "cross/plain", "laws": ["MD-2"], "stage": "near", "outcome": "ranked"}
    with pytest.raises(InputError) as refused:
        foreign(
            tmp_path / "run.jsonl",
            row,
            {**row, "question": sides.PAIRS[3].text},
            {**row, "stage": "pool", "outcome": "off"},
        )
    assert [(fault.line, fault.what) for fault in refused.value.faults] == [
        (2, "cross/plain in MD has a ranking of this stage before"),
        (3, "cross/plain in MD has the outcomes ranked and off"),
    ]


# -- Measuring


def test_figures_by_hand(tmp_path: Path) -> None:
    """Means over the pairs that expect a law, those not in the file included; the others have their own."""
    found = foreign(
        tmp_path / "run.jsonl",
        {"state": "AL", "question": "hydrant/plain", "laws": ["AL-2", "AL-1"]},
        {"state": "MD", "question": "cross/plain", "laws": ["MD-3"]},
        {"state": "MD", "question": "moon/speed", "laws": ["MD-3"]},
    )
    rows = figures.of_run(found, KEPT)
    (mean,) = figures.means(rows, ["stage"]).to_dict(orient="records")
    assert (mean["stage"], mean["questions"], mean["in the file"], mean["nothing returned"]) == ("pool", 4, 2, 2)
    assert (mean["recall"], mean["MRR"], mean["hit"]) == (0.5, 0.375, 0.5)
    assert mean["precision"] == 0.75  # of the two to which something was returned
    by_kind = figures.means(rows, ["kind"])[["kind", "questions", "recall"]].to_dict(orient="records")
    assert by_kind == [
        {"kind": "plain", "questions": 3, "recall": 2 / 3},
        {"kind": "spanish", "questions": 1, "recall": 0.0},
    ]
    (nothing,) = figures.means(rows, ["class"], expecting=False).to_dict(orient="records")
    assert (nothing["class"], nothing["questions"], nothing["silent"], nothing["returned"]) == ("lexical", 2, 0.5, 0.5)


def test_grades_are_gains() -> None:
    """An imported question's grades weigh in nDCG; without grades every group weighs the same."""
    pair = fakes.pair("q", "plain", "D", expected=(("a",), ("b",)))
    kept = Kept(state="D", question="q/plain", query={"_id": "q"}, judged={"test": {"a": 1, "b": 3}})
    ndcg = parse_metric("nDCG@1")
    assert ndcg(judged(pair, ["a"], kept)) == 1 / 3
    assert ndcg(judged(pair, ["a"])) == 1


def test_a_stage_that_was_not_run_is_absent(tmp_path: Path) -> None:
    """Neither figures nor outcomes speak of it."""
    found = of_pipeline(tmp_path / "run.jsonl", ("near", "answer"))
    assert set(figures.of_run(found, KEPT)["stage"]) == {"near", "answer"}
    made = foreigner(found).side
    assert all(set(each.stages) == {"near", "answer"} for each in made.outcomes.values())
    assert all(set(group.reached) == {"near", "answer"} for each in made.outcomes.values() for group in each.groups)


def test_the_pipeline_s_own_run_is_itself(tmp_path: Path) -> None:
    """Read back as another system's, every stage's outcome is the pipeline's, and nothing differs."""
    found = of_pipeline(tmp_path / "run.jsonl")
    own = {key: written(each) for key, each in outcomes(RUN).items()}
    other = {key: written(each) for key, each in foreigner(found).side.outcomes.items()}
    for each in (*own.values(), *other.values()):
        del each["cosines"]  # a file holds those of the returned laws alone
    assert other == own
    both = agreements(RUN, found)
    assert [(each.stage, each.pairs, each.identical, each.same_ids) for each in both] == [(s, 6, 6, 6) for s in STAGES]
    assert len(list(said(both))) == len(STAGES)


def test_where_two_systems_differ_first(tmp_path: Path) -> None:
    """Compared are the pairs of the file; told is the first place that differs, in the set's order."""
    own = RUN.pairs[0].trace.pool
    changed = [*reversed(own)]
    found = foreign(
        tmp_path / "run.jsonl",
        {"state": "AL", "question": "hydrant/plain", "laws": changed},
        {"state": "MD", "question": "hydrant/plain", "laws": list(RUN.pairs[1].trace.pool)[:-1]},
    )
    (both,) = agreements(RUN, found)
    assert (both.pairs, both.identical, both.same_ids) == (2, 0, 1)
    end = RUN.pairs[1].trace.pool
    assert both.differences == (
        Difference("hydrant/plain", "AL", 1, own[0], own[-1]),
        Difference("hydrant/plain", "MD", len(end), end[-1], None),
    )
    assert f"  hydrant/plain (MD) differs at place {len(end)}: here {end[-1]}, there the end" in said([both])


def test_lost_laws_by_hand(tmp_path: Path) -> None:
    """A group that the last stage lacks, at the first stage after which it is gone, with its place before."""
    found = foreign(
        tmp_path / "run.jsonl",
        {"state": "MD", "question": "cross/plain", "laws": ["MD-1", "MD-3"], "stage": "near"},
        {"state": "MD", "question": "cross/plain", "laws": ["MD-1"], "stage": "answer"},
        {"state": "AL", "question": "hydrant/plain", "laws": ["AL-1"], "stage": "answer"},
    )
    lost = losses(found)[["question", "state", "stage", "expected", "near"]].astype(object)
    assert lost.where(lost.notna(), None).to_numpy().tolist() == [
        ["hydrant/plain", "MD", "near", "MD-1", None],
        ["hydrant/spanish", "MD", "near", "MD-1", None],
        ["cross/plain", "MD", "answer", "MD-2 or MD-3", 2],
    ]


def test_bands_of_cosines_and_of_nothing_else(tmp_path: Path) -> None:
    """The near search's scores make bands where they can be cosines; scores of another kind make none."""
    row = {"state": "AL", "question": "hydrant/plain", "laws": ["AL-2", "AL-1"], "stage": "near"}
    cosines = foreign(tmp_path / "run.jsonl", {**row, "scores": [0.75, 0.5]})
    found = [(each.group, each.law, each.cosine) for each in foreigner(cosines).points]
    assert found == [("answering", "AL-1", 0.5), ("nearest wrong", "AL-2", 0.75)]
    assert foreigner(cosines).side.outcomes["hydrant/plain", "AL"].groups[0].cosine == 0.5
    for scores in ([7.5, 5.5], None):
        other = foreign(tmp_path / "run.jsonl", {**row, "scores": scores})
        assert foreigner(other).points == []
        assert foreigner(other).side.bands == ""


def test_how_an_answer_was_chosen_is_kept(tmp_path: Path) -> None:
    """A reranker that did not answer is a fallback, counted by its cause."""
    found = foreign(
        tmp_path / "run.jsonl",
        {"state": "MD", "question": "cross/plain", "laws": [], "stage": "answer", "outcome": "timed out"},
    )
    made = foreigner(found)
    assert made.side.outcomes["cross/plain", "MD"].fell_back
    assert "fell back: 1 of 6 pairs (timed out 1)" in list(lines(made))


def test_the_report_s_files(tmp_path: Path) -> None:
    """Valid JSON everywhere, every pair a line, the model named after the file; the same run gives the same bytes."""
    found = of_pipeline(tmp_path / "prototype.jsonl", ("pool",))
    made = replace(foreigner(found), agreements=agreements(RUN, found))
    texts = files(made)
    run = json.loads(texts["run.json"])
    assert (run["stages"], run["pairs"], run["fingerprints"]["model"]) == (["pool"], 6, "the run prototype.jsonl")
    assert run["fingerprints"]["laws"] == Side.of(RUN).fingerprints["laws"]
    assert run["agreement"][0]["identical"] == 6
    assert [json.loads(line)["question"] for line in texts["per_question.jsonl"].splitlines()] == sorted(
        each.question for each in sides.PAIRS
    )
    assert "tables/bands.csv" not in texts
    assert files(replace(made)) == texts


def test_the_summary_holds_no_markup_of_others(tmp_path: Path) -> None:
    """Names and ids of the file stand there as they are: a backslash before a bracket makes no link of it."""
    row = {"state": "MD", "question": "cross/plain", "laws": ["MD-1", "\\[x](http://there)", "<b>"]}
    found = foreign(tmp_path / "run.jsonl", row, {**row, "question": "`a`"})
    listed = [line for line in files(foreigner(found))["summary.md"].splitlines() if line.startswith("* ")]
    assert listed[2:] == [
        r"* 1 name in the file that no question of the set has: MD/\`a\`",
        r"* 2 returned ids that no law of its state has, counted as wrong: \\\[x\](http://there), &lt;b>",
    ]


# -- The commands


@pytest.fixture
def project(tmp_path: Path) -> list[str]:
    """The options that name a small project of one state, measured by words alone."""
    for name in ("laws", "questions"):
        (tmp_path / name).mkdir()
    laws = [{"id": "A", "law": "Park 15 feet from a hydrant."}, {"id": "B", "law": "Stop at a red light."}]
    (tmp_path / "laws" / "docs.jsonl").write_text("".join(json.dumps(law) + "\n" for law in laws))
    questions = "needs:\n  - {id: hydrant, expected: [A], asks: {plain: how far from a hydrant}}\n"
    (tmp_path / "questions" / "parking.yaml").write_text(questions)
    return ["--laws", str(tmp_path / "laws"), "--questions", str(tmp_path / "questions")]


def test_out_and_in_again(tmp_path: Path, project: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """What the words returned, exported and measured as another system's: identical for every pair."""
    from evals.commands.options import Inputs
    from retrieval.corpus import load_corpus
    from retrieval.settings import load_settings

    path, out = tmp_path / "run.jsonl", tmp_path / "report"
    export_command.main(["run", *project, "--stage", "words", "--out", str(path)], standalone_mode=False)
    inputs = Inputs(load_settings(), load_settings(), load_corpus(tmp_path / "laws"), tmp_path / "questions")
    for _ in range(2):  # a report takes the place of an older one
        measure_run(path, None, ["recall@1", "MAP"], out, inputs)
    shown = capsys.readouterr().out
    assert "words: the same laws in the same order as the pipeline here for 1 of 1 pairs" in shown
    assert "recall@1     MAP" in shown
    assert sorted(each.name for each in out.iterdir()) == [
        "index.html",
        "per_question.jsonl",
        "run.json",
        "summary.md",
        "tables",
    ]
    with pytest.raises(InputError, match="holds other files, which a report would replace"):
        measure_run(path, None, [], tmp_path / "laws", inputs)
    (tmp_path / "empty").mkdir()
    measure_run(path, None, [], tmp_path / "empty", inputs)
    assert (tmp_path / "empty" / "run.json").is_file()
    (tmp_path / "other.txt").write_text("99 Q0 A 1 1 x\n")
    with pytest.raises(InputError, match="0 of 1 rankings matched a question: asked are hydrant/plain; here are 99"):
        measure_run(tmp_path / "other.txt", None, [], out, inputs)


def test_a_run_against_judgements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With no laws and no questions: means over all that is judged, to four digits, and every question in a file."""
    (tmp_path / "qrels.txt").write_text("1 0 a 2\n1 0 b 1\n2 0 a 1\n3 0 a 0\n")
    (tmp_path / "run.txt").write_text(trec.run_text({"1": ["b", "x", "a"], "9": ["a"]}, "tag"))
    measure_against_qrels(tmp_path / "run.txt", tmp_path / "qrels.txt", ["precision@2", "precision", "MAP"], tmp_path)
    assert capsys.readouterr().out.splitlines()[:-1] == [
        "3 questions judged, 2 with a relevant document; 1 of those are in the run",
        "precision@2   0.2500  n 2",
        "precision     0.6667  n 1, 1 without a value",
        "MAP           0.4167  n 2",
    ]
    assert (tmp_path / "per-question.csv").read_text().splitlines()[1].startswith("1,answerable,True,3,0.5,")
