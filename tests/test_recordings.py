"""Vectors recorded, replayed and computed: exact, whole, keyed by all that was asked."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from retrieval import Law
from retrieval.errors import InputError, MissingRecordingError, ModelError
from retrieval.models import EMBEDDERS, Embedder, Kind, embedder
from retrieval.recordings import RECORDINGS, Vectors, quantise, write_all, write_beside
from retrieval.vectors import Floats

DIMENSIONS = 4
LOCAL = sorted(name for name, model in EMBEDDERS.items() if not model.remote)


def fake(version: str = "1", dimensions: int = DIMENSIONS) -> tuple[Embedder, list[str]]:
    """A model whose vectors follow from the text, and the list of the texts it was asked for."""
    asked: list[str] = []

    def embed(kind: Kind, texts: Sequence[str]) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
        asked.extend(f"{kind}: {text}" for text in texts)
        return np.array([[len(text), len(kind), 1, -0.5][:dimensions] for text in texts], dtype=np.float32)

    return Embedder("fake", version, dimensions, 64, lambda: (embed, "engine-1")), asked


def test_vectors_become_integers() -> None:
    """The largest component is 32767 in size, the rest in proportion, and cosines move by less than 1e-4."""
    assert quantise([[0.5, -1.0, 0.25]], ["t"]).tolist() == [[16384, -32767, 8192]]
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 50, 384))

    def cosines(a: Floats, b: Floats) -> Floats:
        return np.asarray((a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1))

    texts = ["t"] * 50
    rounded = quantise(a, texts).astype(float), quantise(b, texts).astype(float)
    moved = np.abs(cosines(*rounded) - cosines(a, b))
    assert moved.max() < 1e-4


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[0.0, 0.0]], "zero for the text 'the text'"),
        ([[np.nan, 1.0]], "not finite for the text 'the text'"),
        ([[np.inf, 1.0]], "not finite for the text 'the text'"),
        ([[1.0], [2.0]], "asked to embed 1 texts"),
        ([1.0, 2.0], "asked to embed 1 texts"),
    ],
)
def test_a_vector_that_cannot_be_used_names_its_text(vectors: object, message: str) -> None:
    """Zero, NaN, infinite, or another number of vectors than texts: an error, nothing stored."""
    with pytest.raises(ModelError, match=message):
        quantise(np.array(vectors), ["the text"])


def test_what_is_missing_is_computed_once_and_cached(tmp_path: Path) -> None:
    """The first run computes, the second reads the cache and needs no model."""
    model, asked = fake()
    first = Vectors(model, None, tmp_path / "cache.jsonl")
    vectors = first.embed("query", ["a", "bb", "a"])
    assert asked == ["query: a", "query: bb"]
    again = Vectors(model, None, tmp_path / "cache.jsonl")
    assert np.array_equal(again.embed("query", ["a", "bb", "a"]), vectors)
    assert (again.computed, len(asked)) == (0, 2)


def test_a_text_is_embedded_as_what_it_is(tmp_path: Path) -> None:
    """The same text as a question and as a law has two vectors."""
    model, asked = fake()
    vectors = Vectors(model, None, None)
    assert not np.array_equal(vectors.embed("query", ["a"]), vectors.embed("passage", ["a"]))
    assert asked == ["query: a", "passage: a"]


def test_another_version_or_size_of_the_model_misses(tmp_path: Path) -> None:
    """Vectors of another version are not replayed."""
    folder = tmp_path / "fake"
    model, _ = fake()
    vectors = Vectors(model, None, None)
    vectors.embed("query", ["a"])
    vectors.write(folder / "q.jsonl", vectors.lines([("query", "a")]))
    assert Vectors(model, folder, None).missing("query", ["a"]) == []
    assert Vectors(fake("2")[0], folder, None).missing("query", ["a"]) == ["a"]
    assert Vectors(fake(dimensions=3)[0], folder, None).missing("query", ["a"]) == ["a"]


def test_one_text_is_one_line(tmp_path: Path) -> None:
    """A file has a header and a line a vector, in the order asked; editing one text changes one line."""
    model, _ = fake()
    vectors = Vectors(model, None, None)
    for name, texts in (("before", ["a", "b", "c"]), ("after", ["a", "bbb", "c"])):
        vectors.embed("passage", texts)
        vectors.write(tmp_path / name, vectors.lines([("passage", text) for text in texts]))
    before, after = ((tmp_path / name).read_text().splitlines() for name in ("before", "after"))
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, True, False, True]
    assert json.loads(before[0]) == {"model": "fake", "version": "1", "dimensions": 4}
    assert json.loads(before[1])["engine"] == "engine-1"


def test_the_same_vectors_of_another_version_are_written_anew(tmp_path: Path) -> None:
    """A file keeps its day while lines and model are the same; a first line of another model is replaced, or none."""
    path = tmp_path / "q.jsonl"

    def record(version: str, day: str) -> dict[str, object]:
        vectors = Vectors(fake(version)[0], None, None)
        vectors.embed("query", ["a"])
        vectors.write(path, vectors.lines([("query", "a")]), day)
        head: dict[str, object] = json.loads(path.read_text().splitlines()[0])
        return head

    first = record("1", "2026-11-01")
    assert record("1", "2026-11-02") == first
    assert record("2", "2026-11-03") == {**first, "version": "2", "recorded": "2026-11-03"}
    assert Vectors(fake("2")[0], tmp_path, None).missing("query", ["a"]) == []
    path.write_text("no JSON\n" + path.read_text().partition("\n")[2])
    assert record("2", "2026-11-04")["recorded"] == "2026-11-04"


def test_a_model_that_cannot_run_here(tmp_path: Path) -> None:
    """A missing text is one clear error that names it; recorded texts still work."""

    def load() -> object:
        raise ModelError("no build for this machine")

    vectors = Vectors(Embedder("fake", "1", 4, 64, load), None, None)  # type: ignore[arg-type]
    with pytest.raises(
        MissingRecordingError, match=r"2 query texts .* the first: 'how far'\. no build for this machine"
    ):
        vectors.embed("query", ["how far", "when"])


def test_an_empty_text_has_no_vector() -> None:
    """Models give empty text a vector, which then was near to everything: it is refused before it is asked."""
    with pytest.raises(ValueError, match="empty text"):
        Vectors(fake()[0], None, None).embed("query", ["a", " "])


def test_what_was_computed_before_a_failure_is_kept(tmp_path: Path) -> None:
    """A model that fails on a later batch loses nothing of the earlier ones."""
    good, _ = fake()

    def load() -> object:
        embed, engine = good.load()

        def failing(kind: Kind, texts: Sequence[str]) -> object:
            return [[np.nan] * 4 if text == "bad" else row for text, row in zip(texts, embed(kind, texts), strict=True)]

        return failing, engine

    model = Embedder("fake", "1", 4, 64, load)  # type: ignore[arg-type]
    texts = [f"t{at}" for at in range(100)]
    with pytest.raises(ModelError, match="'bad'"):
        Vectors(model, None, tmp_path / "cache").embed("query", [*texts, "bad"])
    assert Vectors(model, None, tmp_path / "cache").missing("query", texts)[:1] == ["t64"]


def test_a_cache_whose_end_is_torn_keeps_the_rest(tmp_path: Path) -> None:
    """A run that was killed while it wrote loses the vector it was at; the next run adds to what is there."""
    model, asked = fake()
    cache = tmp_path / "cache.jsonl"
    Vectors(model, None, cache).embed("query", ["a", "bb", "ccc"])
    cache.write_bytes(cache.read_bytes()[:-20])
    torn = Vectors(model, None, cache)
    assert torn.missing("query", ["a", "bb", "ccc"]) == ["ccc"]
    torn.embed("query", ["a", "bb", "ccc"])
    assert asked == ["query: a", "query: bb", "query: ccc", "query: ccc"]
    assert Vectors(model, None, cache).missing("query", ["a", "bb", "ccc"]) == []


def test_two_runs_add_to_one_cache(tmp_path: Path) -> None:
    """Neither takes away what the other has computed, also where the cache was of no use to both."""
    model, _ = fake()
    cache = tmp_path / "cache.jsonl"
    for before in (None, "nothing of use\n"):
        cache.unlink(missing_ok=True)
        if before is not None:
            cache.write_text(before)
        one, other = Vectors(model, None, cache), Vectors(model, None, cache)
        one.embed("query", ["a"])
        other.embed("query", ["bb"])
        one.embed("query", ["ccc"])
        assert Vectors(model, None, cache).missing("query", ["a", "bb", "ccc"]) == []


def test_a_committed_file_whose_end_is_torn_is_refused(tmp_path: Path) -> None:
    """Recordings are whole or bad input."""
    model, _ = fake()
    vectors = Vectors(model, None, None)
    vectors.embed("query", ["a"])
    vectors.write(tmp_path / "q.jsonl", vectors.lines([("query", "a")]))
    (tmp_path / "q.jsonl").write_bytes((tmp_path / "q.jsonl").read_bytes()[:-1])
    with pytest.raises(InputError, match="its end is missing"):
        Vectors(model, tmp_path, None)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("nothing", "not JSON"),
        ('{"kind": "law", "text": "a", "vector": ""}', "expected a kind"),
        ('{"kind": "query", "text": "a", "vector": "AAA="}', "expected 4 int16 numbers in base64"),
        ('{"kind": "query", "text": "a", "vector": "?"}', "expected 4 int16 numbers in base64"),
        ('{"kind": "query", "text": "a", "vector": 3}', "expected 4 int16 numbers in base64"),
    ],
)
def test_a_broken_recording_is_told_with_its_line(tmp_path: Path, line: str, fault: str) -> None:
    """A committed file that cannot be read is bad input; a cache that cannot be read is computed anew."""
    model, _ = fake()
    path = tmp_path / "fake" / "q.jsonl"
    path.parent.mkdir()
    header = json.dumps({"model": "fake", "version": "1", "dimensions": 4})
    path.write_text(f"{header}\n{line}\n")
    with pytest.raises(InputError, match=rf"q\.jsonl:2: {fault}"):
        Vectors(model, path.parent, None)
    assert Vectors(model, None, path).missing("query", ["a"]) == ["a"]


def test_a_file_without_its_header_is_refused(tmp_path: Path) -> None:
    """Without model and version a vector could be anybody's."""
    (tmp_path / "q.jsonl").write_text('{"kind": "query", "text": "a", "vector": ""}\n')
    with pytest.raises(InputError, match=r"q\.jsonl:1: expected the first line to name model, version, dimensions"):
        Vectors(fake()[0], tmp_path, None)


def test_unknown_models_are_named_with_the_known_ones() -> None:
    """A wrong name tells the right ones."""
    with pytest.raises(Exception, match="no embedder 'gpt'; there are e5-small, use-multilingual"):
        embedder("gpt")


@pytest.mark.parametrize("name", LOCAL)
def test_the_models_that_come_inside_packages(name: str) -> None:
    """Each gives vectors of its size, the same alone or in a batch, and finds a hydrant nearer than the moon."""
    model = EMBEDDERS[name]
    try:
        model.load()
    except ModelError as error:
        pytest.skip(str(error))
    texts = ["how far from a fire hydrant can i park", "the speed limit on the moon"]
    vectors = Vectors(model, None, None)
    asked = vectors.embed("query", texts).astype(float)
    law = Law("x", "You may not park within 15 feet of a fire hydrant.")
    (passage,) = vectors.embed("passage", [law.law]).astype(float)
    assert asked.shape == (2, model.dimensions)
    alone = Vectors(model, None, None).embed("query", texts[1:])
    assert np.abs(alone - asked[1:]).max() <= 1
    hydrant, moon = asked @ passage / np.linalg.norm(asked, axis=1)
    assert hydrant > moon


@pytest.mark.parametrize("name", LOCAL)
def test_versions_are_those_of_the_installed_packages(name: str) -> None:
    """The version that keys the recordings is that of the package which computes."""
    from importlib.metadata import PackageNotFoundError, version

    package, expected = EMBEDDERS[name].version.split()
    try:
        assert version(package) == expected
    except PackageNotFoundError:
        pytest.skip(f"{package} has no build for this machine")


def test_links_and_devices_are_written_to_and_not_replaced(tmp_path: Path) -> None:
    """A link's target gets the text, a device stays a device, and a failed write leaves nothing beside."""
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_beside(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"
    write_beside(Path(os.devnull), "gone")
    assert not Path(os.devnull).is_file()
    with pytest.raises(IsADirectoryError):
        write_beside(tmp_path, "text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "target"]


def test_recorded_files_hold_no_secrets() -> None:
    """No token, key or account id is in a committed recording."""
    for path in RECORDINGS.rglob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = {key: value for key, value in json.loads(line).items() if key != "vector"}
            for mark in ("Bearer ", "api_key", "sk-ant", "Authorization"):
                assert mark not in json.dumps(row), path


def test_files_that_belong_together_change_together(tmp_path: Path) -> None:
    """A text that cannot be written leaves all of them as they were, and nothing beside them."""
    for name in ("a", "b"):
        (tmp_path / name).write_text("old", encoding="utf-8")
    with pytest.raises(UnicodeEncodeError):
        write_all({tmp_path / "a": "new", tmp_path / "b": "\ud800"})
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {"a": "old", "b": "old"}
    write_all({tmp_path / "a": "new", tmp_path / "b": "newer"})
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {"a": "new", "b": "newer"}
