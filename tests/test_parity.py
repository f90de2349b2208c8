"""Imported collections beside trec_eval: the same figures for every query, on what the commands wrote and read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd
import pytest
import pytrec_eval

from evals import cli, tables
from evals.commands.exchange import measure_against_qrels
from evals.exchange import figures, trec
from evals.exchange.foreign import match, read_foreign
from evals.exchange.given_out import judgements
from evals.exchange.names import topics
from evals.imported import Kept, by_key, judged, read_kept
from evals.metrics import parse_metric
from evals.questions import Key, Pair, load_questions
from evals.run import evaluate
from evals.stages import STAGES
from retrieval.corpus import Law, load_corpus
from tests import fakes
from tests.reference import COLLECTIONS, needs_collections

# What trec_eval calls it. `success` is its hit, and every expected law of an import is a group of its own.
ORACLE = {
    "MAP": "map",
    "nDCG": "ndcg",
    "nDCG@10": "ndcg_cut_10",
    "recall": "set_recall",
    "recall@10": "recall_10",
    "precision": "set_P",
    "precision@10": "P_10",
    "hit@5": "success_5",
    "MRR": "recip_rank",
}
CLOSE = 1e-12
OF_OTHERS = [pytest.param(name, marks=needs_collections) for name in ("driving", "housing", "cranfield")]


def by_hand(folder: Path) -> list[Path]:
    """A graded collection of its own: grades that order, a query whose law no word finds, one that expects nothing."""
    texts = {
        "corpus": [("a", "Park far from a hydrant."), ("b", "A hydrant is red."), ("c", "Yield."), ("d", "Hydrants.")],
        "queries": [("1", "how far from a hydrant"), ("2", "who goes first"), ("3", "do i yield"), ("4", "the moon")],
    }
    (folder / "qrels").mkdir(parents=True)
    for name, rows in texts.items():
        lines = "".join(f'{{"_id": "{identifier}", "text": "{text}"}}\n' for identifier, text in rows)
        (folder / f"{name}.jsonl").write_text(lines)
    judged = "1\ta\t1\n1\tb\t4\n1\td\t0\n2\tc\t2\n3\tc\t3\n3\ta\t1\n4\ta\t0\n"
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")
    return [folder]


def folders_of(name: str, tmp_path: Path) -> list[Path]:
    """The folders of a collection, one a state."""
    if name == "by hand":
        return by_hand(tmp_path / "graded")
    folder = COLLECTIONS / name
    return [folder] if (folder / "corpus.jsonl").is_file() else sorted(folder.iterdir())


@dataclass(frozen=True)
class Imported:
    """A collection as the command took it in."""

    folder: Path
    corpus: Mapping[str, Sequence[Law]]
    pairs: Sequence[Pair]
    kept: Mapping[Key, Kept]
    topic: Mapping[Key, str]

    def options(self) -> list[str]:
        """What names it to a command."""
        return ["--laws", str(self.folder / "laws"), "--questions", str(self.folder / "questions")]


def command(*arguments: object) -> None:
    """Run a command that must end well."""
    with pytest.raises(SystemExit) as ended:
        cli.main([str(each) for each in arguments])
    assert ended.value.code == 0


@pytest.fixture(scope="module", params=["by hand", *OF_OTHERS])
def imported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Imported:
    """Each collection, imported."""
    folder = tmp_path_factory.mktemp("imported")
    out = folder / "data"
    command("import", "beir", *folders_of(request.param, folder), "--out", out)
    corpus = load_corpus(out / "laws")
    pairs = load_questions(out / "questions", corpus)
    kept = by_key(read_kept(out / "questions"))
    return Imported(out, corpus, pairs, kept, topics(pairs, kept))


Values = Mapping[str, Mapping[str, float]]


def trec_eval(qrels: Path, run: Path) -> Values:
    """What trec_eval gives for every judged query, by its id; 0 for one that the run lacks (trec_eval -c)."""
    judged = trec.read_qrels(qrels)
    found: Values = pytrec_eval.RelevanceEvaluator(judged, set(ORACLE.values())).evaluate(trec.read_run(run))
    return {query: found.get(query, dict.fromkeys(ORACLE.values(), 0.0)) for query in judged}


def same(row: Mapping[Any, Any], theirs: Mapping[str, float], laws: int) -> None:
    """Every metric of a query; the precision of nothing has no value here, and is 0 there."""
    for ours, name in ORACLE.items():
        value = row[ours]
        if ours == "precision" and not laws:
            assert pd.isna(value) and theirs[name] == 0
        else:
            assert value == pytest.approx(theirs[name], abs=CLOSE), (row, ours)


def expecting(found: Imported) -> dict[str, Pair]:
    """The queries with a relevant document, by the name that they have in TREC's files."""
    return {found.topic[pair.key]: pair for pair in found.pairs if pair.expected}


def test_an_exported_run_has_the_figures_of_trec_eval(imported: Imported, tmp_path: Path) -> None:
    """Written by the commands as TREC's files and measured by `eval --run`: every metric of every query."""
    out, report = tmp_path / "trec", tmp_path / "report"
    deep = ["--set", "retrieved_laws=100"]
    command("export", "trec", *imported.options(), *deep, "--stage", "words", "--out", out)
    metrics = [part for each in ORACLE for part in ("--metric", each)]
    command("eval", "--run", out / "words.txt", "--stage", "words", *metrics, *imported.options(), "--out", report)
    rows = pd.read_csv(report / "tables" / "per-question.csv", dtype={"question": str, "state": str})
    theirs = trec_eval(out / "qrels.txt", out / "words.txt")
    ours = {imported.topic[row["question"], row["state"]]: row for row in rows.to_dict(orient="records")}
    queries = expecting(imported)
    assert set(queries) == {
        query for query, grades in trec.read_qrels(out / "qrels.txt").items() if max(grades.values()) > 0
    }
    for query in queries:
        same(ours[query], theirs[query], ours[query]["laws"])


def test_judgements_alone_give_the_same(imported: Imported, tmp_path: Path) -> None:
    """`eval --run --qrels`, with no laws and no questions: every metric of every query again."""
    out = tmp_path / "trec"
    command("export", "trec", *imported.options(), "--stage", "words", "--out", out)
    measure_against_qrels(out / "words.txt", out / "qrels.txt", list(ORACLE), out)
    theirs = trec_eval(out / "qrels.txt", out / "words.txt")
    rows = pd.read_csv(out / "per-question.csv", dtype={"question": str}).to_dict(orient="records")
    assert [row["question"] for row in rows] == list(theirs)
    for row in rows:
        if row["class"] == "answerable":
            same(row, theirs[row["question"]], row["laws"])
    assert {row["question"] for row in rows if row["class"] == "answerable"} == set(expecting(imported))


def test_recall_and_precision_of_what_every_stage_returned(imported: Imported, tmp_path: Path) -> None:
    """In the pipeline's own tables: set_recall and set_P of each stage's exported run, for every query.

    The precision is of the returned set: returned laws that are expected (an import accepts none) / returned laws.
    """
    run = evaluate(fakes.settings(), imported.corpus, imported.pairs, fakes.embed, "fake")
    frame = tables.measures(run)
    qrels = tmp_path / "qrels.txt"
    qrels.write_text(trec.qrels_text(judgements(imported.pairs, imported.kept)), encoding="utf-8")
    queries, compared = expecting(imported), 0
    for stage in STAGES:
        path = tmp_path / f"{stage}.txt"
        returned = {imported.topic[each.pair.key]: each.trace.stages()[stage] for each in run.pairs}
        path.write_text(trec.run_text(returned, stage), encoding="utf-8")
        theirs = trec_eval(qrels, path)
        for row in frame[(frame["stage"] == stage) & (frame["expects"] == "answerable")].to_dict(orient="records"):
            query = imported.topic[row["question"], row["state"]]
            assert query in queries
            assert row["recall"] == pytest.approx(theirs[query]["set_recall"], abs=CLOSE)
            assert pd.isna(row["precision"]) == (row["laws"] == 0) == (not returned[query])
            if row["laws"]:
                assert row["precision"] == pytest.approx(theirs[query]["set_P"], abs=CLOSE)
            compared += 1
    assert compared == len(queries) * len(STAGES)


def test_every_stage_read_back_has_the_same_figures(imported: Imported, tmp_path: Path) -> None:
    """A TREC run of each stage, read and matched as another system's: MAP and nDCG@10 of every query too."""
    run = evaluate(fakes.settings(), imported.corpus, imported.pairs, fakes.embed, "fake")
    qrels = tmp_path / "qrels.txt"
    qrels.write_text(trec.qrels_text(judgements(imported.pairs, imported.kept)), encoding="utf-8")
    metrics = [parse_metric(each) for each in ORACLE]
    for stage in ("near", "pool"):
        path = tmp_path / f"{stage}.txt"
        returned = {imported.topic[each.pair.key]: each.trace.stages()[stage] for each in run.pairs}
        path.write_text(trec.run_text(returned, stage), encoding="utf-8")
        found = match(read_foreign(path), imported.pairs, imported.corpus, imported.kept, path, stage)
        assert (found.unmatched, found.unknown) == ((), ())
        theirs = trec_eval(qrels, path)
        rows = figures.of_run(found, imported.kept, metrics)
        for row in rows[rows["class"] == "answerable"].to_dict(orient="records"):
            same(row, theirs[imported.topic[row["question"], row["state"]]], row["laws"])


def test_further_metrics_of_a_report_know_the_grades(imported: Imported, tmp_path: Path) -> None:
    """`eval --metric nDCG@10` is trec_eval's mean of every stage's exported run: grades are gains there too."""
    run = evaluate(fakes.settings(), imported.corpus, imported.pairs, fakes.embed, "fake")
    metrics = [parse_metric(each) for each in ORACLE]
    table = tables.metric_means(run, metrics, imported.kept)
    qrels, path = tmp_path / "qrels.txt", tmp_path / "pool.txt"
    qrels.write_text(trec.qrels_text(judgements(imported.pairs, imported.kept)), encoding="utf-8")
    returned = {imported.topic[each.pair.key]: each.trace.pool for each in run.pairs}
    path.write_text(trec.run_text(returned, "pool"), encoding="utf-8")
    theirs = trec_eval(qrels, path)
    for row in table[table["stage"] == "pool"].to_dict(orient="records"):
        there = [query for query in expecting(imported) if returned[query] or row["metric"] != "precision"]
        assert row["pairs"] == len(there)
        assert row["mean"] == pytest.approx(fmean(theirs[query][ORACLE[row["metric"]]] for query in there), abs=CLOSE)


def test_grades_order_the_collection_by_hand(tmp_path: Path) -> None:
    """The collection above tells gains from no gains: its first query's nDCG differs where each law weighs the same."""
    out = tmp_path / "data"
    command("import", "beir", *by_hand(tmp_path / "graded"), "--out", out)
    corpus = load_corpus(out / "laws")
    pairs = load_questions(out / "questions", corpus)
    kept = by_key(read_kept(out / "questions"))
    ndcg = parse_metric("nDCG@10")
    graded, plain = (ndcg(judged(pairs[0], ["a", "b"], each)) for each in (kept[pairs[0].key], None))
    assert plain == 1
    assert graded is not None and graded < 1


@needs_collections
def test_the_cacm_run_by_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """P@30 of Anserini's BM25 is trec_eval's 0.1942, with the judgements of ids spelt otherwise left unmatched."""
    folder = COLLECTIONS / "cacm"
    files = ["--run", folder / "cacm-bm25.txt", "--qrels", folder / "qrels.cacm.txt"]
    command("eval", *files, "--metric", "precision@30")
    assert "precision@30  0.1942  n 52" in capsys.readouterr().out
