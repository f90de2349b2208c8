"""The near search against hand-worked cosines, the reference cases and its promises of exactness."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval import Law, VectorIndex, embedding_text, nearest
from retrieval.vectors import best_first
from tests.reference import cases, needs_reference


def test_hand_worked() -> None:
    """(3, 4) against (1, 0), (0, 1), (3, 4), (-1, 0): cosines 0.6, 0.8, 1, -0.6, best first."""
    index = VectorIndex(["east", "north", "same", "west"], [[1, 0], [0, 1], [3, 4], [-1, 0]])
    assert nearest(index, [3, 4], 8, -1) == [("same", 1.0), ("north", 0.8), ("east", 0.6), ("west", -0.6)]


def test_the_cutoff_lets_itself_in() -> None:
    """A law at the cutoff is returned; one just under it is not."""
    index = VectorIndex(["north"], [[0, 1]])
    assert nearest(index, [3, 4], 8, 0.8) == [("north", 0.8)]
    assert nearest(index, [3, 4], 8, np.nextafter(0.8, 1)) == []


def test_ties_keep_the_corpus_order() -> None:
    """Twins come back in the order of the index, whatever their ids and whatever the length of the index."""
    ids = [f"L{99 - at}" for at in range(37)]
    index = VectorIndex(ids, [[0.3, 0.1, 0.7]] * 37)
    assert [hit.id for hit in nearest(index, [0.2, 0.9, 0.4], 37, -1)] == ids


def test_zero_vectors_match_nothing() -> None:
    """Neither a zero vector asked nor one in the index is near anything, at any cutoff."""
    index = VectorIndex(["zero", "one"], [[0, 0], [1, 0]])
    assert [hit.id for hit in nearest(index, [1, 0], 8, -1)] == ["one"]
    assert nearest(index, [0, 0], 8, -1) == []


def test_an_empty_index_answers_nothing() -> None:
    """No laws, no hits, and no error."""
    assert nearest(VectorIndex([], []), [1.0, 2.0], 8, -1) == []


@pytest.mark.parametrize(
    ("ids", "vectors", "message"),
    [
        (["a"], [[1, 2], [3, 4]], "2 vectors for 1 ids"),
        (["a"], [[np.nan, 1]], "finite"),
        (["a"], [[np.inf, 1]], "finite"),
    ],
)
def test_bad_vectors_are_refused(ids: list[str], vectors: list[list[float]], message: str) -> None:
    """What cannot be scored is refused when the index is made."""
    with pytest.raises(ValueError, match=message):
        VectorIndex(ids, vectors)


def test_a_question_of_other_dimensions_is_refused() -> None:
    """Vectors of another model do not fit and are not cut to fit."""
    with pytest.raises(ValueError, match="3 dimensions"):
        nearest(VectorIndex(["a"], [[1, 2]]), [1, 2, 3], 8, 0)


def test_a_negative_number_of_laws_is_refused() -> None:
    """A negative top_k is an error, not a slice from the end."""
    with pytest.raises(ValueError, match="top_k"):
        nearest(VectorIndex(["a"], [[1, 2]]), [1, 2], -1, 0)


def test_embedded_text() -> None:
    """The rule and the card's question, with a space; nothing where both are empty."""
    assert embedding_text(Law("a", "Stop.", "What then?")) == "Stop. What then?"
    assert embedding_text(Law("a", "Stop.")) == "Stop."
    assert embedding_text(Law("a", "")) == ""


@pytest.mark.parametrize("kind", ["int16", "float64"])
def test_the_same_bits_in_blocks_of_any_size(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors are worked on a block at a time; the block's size changes no bit, zero vectors included."""
    rng = np.random.default_rng(6)
    laws, asked = rng.normal(size=(50, 24)), rng.normal(size=(7, 24))
    if kind == "int16":
        laws, asked = (np.rint(a / np.abs(a).max(axis=1, keepdims=True) * 32767) for a in (laws, asked))
    laws[[0, 20]] = 0
    ids = [str(at) for at in range(50)]
    whole = VectorIndex(ids, laws).cosines(asked)
    for block in (1, 7, 49, 50):
        monkeypatch.setattr("retrieval.vectors.BLOCK", block)
        assert np.array_equal(VectorIndex(ids, laws).cosines(asked), whole, equal_nan=True)


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 0.7, np.nan]), max_size=12), st.integers(0, 14))
def test_a_few_of_the_best_are_the_first_of_all(scores: list[float], most: int) -> None:
    """Asked for so many, the same positions as the first of the whole order: ties and missing numbers alike."""
    array = np.array(scores, dtype=np.float64)
    assert best_first(array, most).tolist() == best_first(array).tolist()[:most]


@pytest.mark.parametrize("kind", ["int16", "float32", "float64"])
def test_the_same_bits_for_any_order_of_dimensions_and_any_batch(kind: str) -> None:
    """Permuting dimensions, or asking one at a time or a hundred, changes no bit of a cosine."""
    rng = np.random.default_rng(5)
    laws = rng.normal(size=(83, 384))
    asked = rng.normal(size=(100, 384))
    if kind == "int16":
        laws, asked = (np.rint(a / np.abs(a).max(axis=1, keepdims=True) * 32767) for a in (laws, asked))
    laws, asked = laws.astype(kind), asked.astype(kind)
    ids = [str(at) for at in range(83)]
    together = VectorIndex(ids, laws).cosines(asked)
    order = rng.permutation(384)
    assert np.array_equal(VectorIndex(ids, laws[:, order]).cosines(asked[:, order]), together)
    for at in range(0, 100, 7):
        assert np.array_equal(VectorIndex(ids, laws).cosines(asked[at : at + 1]), together[at : at + 1])
    plain = (asked.astype(float) @ laws.astype(float).T) / np.outer(
        np.linalg.norm(asked.astype(float), axis=1), np.linalg.norm(laws.astype(float), axis=1)
    )
    assert np.abs(together - plain).max() < 1e-11


def test_the_same_bits_with_one_thread_or_two() -> None:
    """The number of BLAS threads changes no bit."""
    program = (
        "import numpy, hashlib; from retrieval import VectorIndex; r = numpy.random.default_rng(1);"
        "v = r.integers(-32767, 32768, (900, 384)); q = r.integers(-32767, 32768, (300, 384));"
        "print(hashlib.sha256(VectorIndex([str(i) for i in range(900)], v).cosines(q).tobytes()).hexdigest())"
    )
    digests = set()
    for threads in "12":
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        run = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        digests.add(run.stdout)
    assert len(digests) == 1


@given(
    st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=1, max_size=20),
    st.floats(-1, 1),
    st.integers(0, 25),
)
def test_hits_are_cut_ordered_and_counted(vectors: list[list[int]], cutoff: float, top_k: int) -> None:
    """At most top_k, none under the cutoff, none that could have been returned left out for a worse one."""
    index = VectorIndex([str(at) for at in range(len(vectors))], vectors)
    hits = nearest(index, [1, 2, 3], top_k, cutoff)
    scores = [hit.score for hit in hits]
    assert len(hits) <= top_k
    assert scores == sorted(scores, reverse=True)
    assert all(score >= cutoff for score in scores)
    everything = nearest(index, [1, 2, 3], len(vectors), cutoff)
    assert everything[: len(hits)] == hits
    assert len(hits) == min(top_k, len(everything))


@needs_reference
def test_the_reference_cases() -> None:
    """All cases give the same ids in the same order, and cosines to nine digits."""
    for at, case in enumerate(cases("stages.json")["near"]):
        index = VectorIndex(case["ids"], case["vectors"])
        hits = nearest(index, case["vector"], case["top_k"], case["cutoff"])
        assert [hit.id for hit in hits] == [hit["id"] for hit in case["hits"]], at
        assert np.allclose([hit.score for hit in hits], [hit["score"] for hit in case["hits"]], rtol=0, atol=1e-9), at
