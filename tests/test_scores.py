"""Raw cosines from elsewhere: the pipeline, its bands and its curves without a vector at hand."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from evals import bands
from evals.commands.exchange import run_from_scores
from evals.exchange.foreign import Foreign, cosines, match, read_foreign
from evals.exchange.scores import coverage, evaluate_scores
from evals.losses import losses
from evals.outcomes import outcomes, written
from evals.sweep import Sweep
from retrieval.errors import InputError
from tests import fakes, sides

RUN = sides.run()
CORPUS = {state: fakes.CORPUS[state] for state in ("AL", "MD")}


def given(path: Path, *rows: Mapping[str, object]) -> Foreign:
    """Cosines in JSON Lines, matched with the small world's questions."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return match(cosines(read_foreign(path), path), sides.PAIRS, CORPUS, {}, path, "near")


def every_cosine() -> list[dict[str, object]]:
    """All cosines of the small world's run, as a vector database would log them."""
    found: list[dict[str, object]] = []
    for each in RUN.pairs:
        near, laws = each.trace.scorings[0].near, CORPUS[each.pair.state]
        found.append(
            {
                "state": each.pair.state,
                "question": each.pair.question,
                "laws": [laws[at].id for at in near.laws],
                "scores": near.scores.tolist(),
            }
        )
    return found


def test_cosines_from_elsewhere_give_the_very_run(tmp_path: Path) -> None:
    """With every cosine in the file, outcomes, bands, losses and the curve over cutoffs are the model's own."""
    run = evaluate_scores(fakes.settings(), CORPUS, given(tmp_path / "scores.jsonl", *every_cosine()))
    assert run.model == "cosines of scores.jsonl"
    assert [written(each) for each in outcomes(run).values()] == [written(each) for each in outcomes(RUN).values()]
    assert bands.points(run) == bands.points(RUN)
    assert losses(run) == losses(RUN)
    assert bands.points(run)
    curves = [Sweep.of(each, 4, 8).over_cutoffs(near_laws=4, laws=8, stage="near") for each in (run, RUN)]
    assert curves[0] == curves[1]


def test_the_cutoff_is_applied_to_what_was_given(tmp_path: Path) -> None:
    """A cosine at the cutoff is let in, one below is not; ties keep the corpus's order, whatever the file's."""
    row = {"state": "AL", "question": "hydrant/plain", "laws": ["AL-3", "AL-2", "AL-1"], "scores": [0.5, 0.5, 0.25]}
    found = given(tmp_path / "scores.jsonl", row)
    for cutoff, near in ((0.25, ["AL-2", "AL-3", "AL-1"]), (0.5, ["AL-2", "AL-3"]), (0.51, [])):
        run = evaluate_scores(fakes.settings(near_enough={"fake": cutoff}), CORPUS, found)
        assert [hit.id for hit in run.pairs[0].trace.near] == near


def test_what_has_no_cosine_is_counted(tmp_path: Path) -> None:
    """A pair without cosines is answered by words alone, and how much of the set has some is said."""
    found = given(
        tmp_path / "scores.jsonl", every_cosine()[0], {**every_cosine()[3], "laws": ["MD-1"], "scores": [0.9]}
    )
    assert coverage(found) == (
        "Cosines of scores.jsonl: 2 of 6 pairs have some, and 1 of 4 expected laws; a law without one is not in the"
        " bands."
    )
    run = evaluate_scores(fakes.settings(), CORPUS, found)
    assert (run.pairs[1].trace.near, run.pairs[1].trace.words) == ((), RUN.pairs[1].trace.words)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"scores": [1.5]}, "cross/plain: 1.5 is no cosine; expected raw ones, from -1 to 1"),
        ({"scores": [-2]}, "cross/plain: -2 is no cosine; expected raw ones, from -1 to 1"),
        ({}, "cross/plain: no scores; give the raw cosine of each law"),
        ({"scores": [0.5], "stage": "words"}, "no scores of the near search here"),
    ],
)
def test_scores_that_are_no_cosines(tmp_path: Path, row: dict[str, object], what: str) -> None:
    """A BM25 score, a distance or a fused score is not compared with a cutoff of cosines: refused, with its line."""
    with pytest.raises(InputError) as refused:
        given(tmp_path / "scores.jsonl", {"state": "MD", "question": "cross/plain", "laws": ["MD-2"], **row})
    assert [fault.what for fault in refused.value.faults] == [what]


def test_searches_have_no_cosines(tmp_path: Path) -> None:
    """With searches to fuse the file lacks what the near search needs: refused."""
    found = given(tmp_path / "scores.jsonl", *every_cosine())
    with pytest.raises(InputError, match="rephrase must be off"):
        evaluate_scores(fakes.settings(rephrase="written"), CORPUS, found)


def test_a_corpus_that_is_not_of_states(tmp_path: Path) -> None:
    """One file of laws, expected laws in a plain list, cosines in a TREC run: no state is named anywhere."""
    from evals.commands.options import Inputs
    from retrieval.corpus import load_corpus

    for name in ("laws", "questions"):
        (tmp_path / name).mkdir()
    (tmp_path / "laws" / "docs.jsonl").write_text('{"id": "A", "law": "Stop."}\n{"id": "B", "law": "Go."}\n')
    questions = "needs:\n  - {id: stop, expected: [A], asks: {plain: must i halt}}\n"
    (tmp_path / "questions" / "q.yaml").write_text(questions)
    (tmp_path / "near.txt").write_text("stop/plain Q0 B 1 0.7 x\nstop/plain Q0 A 2 0.4 x\n")
    numbers = fakes.settings(near_enough={"fake": 0.5})
    inputs = Inputs(numbers, numbers, load_corpus(tmp_path / "laws"), tmp_path / "questions")
    run, told = run_from_scores(tmp_path / "near.txt", inputs)
    assert [(each.group, each.cosine) for each in bands.points(run)] == [("answering", 0.4), ("nearest wrong", 0.7)]
    assert "1 of 1 pairs have some, and 1 of 1 expected laws" in told
    assert run.pairs[0].trace.near[0].id == "B"
