"""What searches move into the pool and out of it."""

from collections.abc import Mapping, Sequence

import pytest

from evals import searches
from evals.questions import QUESTIONS, Pair, load_questions
from evals.run import Run, evaluate
from retrieval.corpus import LAWS, load_corpus
from retrieval.errors import MissingRecordingError
from retrieval.live import LiveStage
from retrieval.models import Kind
from retrieval.rephrase import SEARCHES
from retrieval.replies import Call, Reply
from tests import fakes, sides

SMALL = {"candidate_laws": 1, "searched_candidate_laws": 2, "near_laws": 0}
PAIRS = [
    sides.pair("stop/plain", "AL", "may i turn right on red", "AL-2", searches=("stop light light",)),
    sides.pair("turn/plain", "AL", "may i turn right on red", "AL-3", searches=("stop at a red light",)),
    sides.pair("far/plain", "AL", "birth", "AL-1", searches=("hydrant",)),
    sides.pair("moon/speed", "AL", "the moon", searches=("moon light",)),
]


def run(rephrase: str = "off") -> Run:
    """The small world with small pools, found by words alone."""
    return sides.run(PAIRS, rephrase=rephrase, candidate_laws=1, searched_candidate_laws=2, near_laws=0)


@pytest.mark.parametrize(
    ("places", "moved"),
    [
        ((1, 2, 3), ""),
        ((None, None, None), ""),
        ((1, None, None), "out at both"),
        ((1, None, 30), "out at 24, back at 32"),
        ((1, 2, None), "out at 32 alone"),
        ((None, 3, 3), "in at both"),
        ((None, 3, None), "in at 24 alone"),
        ((None, None, 30), "in at 32 alone"),
    ],
)
def test_how_a_group_moved(places: tuple[int | None, ...], moved: str) -> None:
    """Every combination has its name."""
    assert searches._moved(list(places), (24, 32)) == moved


def test_what_searches_move_is_told_where_none_are_used() -> None:
    """With `rephrase: off` the written searches answer the question of 24 or 32, and the run's pools stay its own."""
    found = run()
    assert [len(each.trace.scorings) for each in found.pairs] == [1] * 4
    assert found.pairs[3].searched is None  # it expects nothing
    table = searches.pools(found)
    assert table["laws"].tolist() == [1, 1, 2]
    assert table["pairs"].tolist() == [3, 3, 3]
    moves = searches.moves(found).set_index("expected")
    assert moves.loc["AL-1", "moved"] == "in at both"
    for each in found.pairs[:3]:
        assert each.searched is not None
        assert each.searched.plain == each.trace.pool


def test_the_pools_are_those_of_the_run_that_uses_them() -> None:
    """What is said to be fused at the wide size is what the pipeline gives with `rephrase: written`."""
    off = run()
    written = run("written")
    for one, other in zip(off.pairs[:3], written.pairs[:3], strict=True):
        assert one.searched == other.searched
        assert other.searched is not None
        assert other.searched.wide == other.trace.pool
    assert searches.pools(off).equals(searches.pools(written))
    assert searches.moves(off).equals(searches.moves(written))


def test_recorded_searches_are_the_rephrasers() -> None:
    """With a rephraser its searches and its family are used, and a failed answer leaves the question alone."""

    def ask(stage: LiveStage, calls: Sequence[Call]) -> Mapping[str, Reply]:
        assert all(call.texts == ("permit-application",) for call in calls)
        said = Reply({"searches": ["hydrant"], "family": "permit-application"})
        return {call.key: Reply(failed="refused") if "moon" in call.question else said for call in calls}

    chosen = fakes.settings(rephrase="recorded", **SMALL)
    found = evaluate(chosen, {"AL": fakes.CORPUS["AL"]}, PAIRS, fakes.embed, sides.MODEL, ask=ask, pools=True)
    assert [each.rephrase for each in found.pairs] == ["rephrased"] * 3 + ["refused"]
    assert found.pairs[0].trace.family == ("AL-P1", "AL-P2")
    assert (found.pairs[3].family, len(found.pairs[3].trace.scorings)) == (None, 1)
    assert searches.source(found) == "recorded claude-haiku-4-5"


def test_the_set_has_searches_and_families() -> None:
    """Every need that a law answers is said again in the law's words, at most three times and never as it was asked."""
    needs: dict[str, list[Pair]] = {}
    for pair in load_questions(QUESTIONS, load_corpus(LAWS)):
        needs.setdefault(pair.need, []).append(pair)
    answered = [pairs for pairs in needs.values() if any(pair.expected for pair in pairs)]
    assert len(answered) >= 60
    assert all(1 <= len(pairs[0].searches) <= SEARCHES for pairs in answered)
    assert not any(pair.text in pair.searches for pairs in answered for pair in pairs)
    assert len({pairs[0].family for pairs in answered if pairs[0].family}) >= 8


def test_searches_without_vectors_are_left_out() -> None:
    """A run that does not use them does not fail for them."""

    def embed(kind: Kind, texts: Sequence[str]) -> object:
        if "hydrant" in texts:
            raise MissingRecordingError("no vector of a search")
        return fakes.embed(kind, texts)

    corpus = {"AL": fakes.CORPUS["AL"]}
    found = evaluate(fakes.settings(**SMALL), corpus, PAIRS, embed, sides.MODEL, pools=True)  # type: ignore[arg-type]
    assert all(each.searched is None for each in found.pairs)
    assert searches.pools(found).empty
    assert searches.moves(found).empty
