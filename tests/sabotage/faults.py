"""The faults, how each is planted, and what must catch it. `docs/sabotage.md` shows this table."""

import __future__

import inspect
import json
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.fuse import fuse
from retrieval.models import Kind
from retrieval.recordings import RECORDINGS
from retrieval.rerank import choose
from retrieval.settings import changed
from retrieval.vectors import best_first
from retrieval.words import WordIndex, _best, words
from tests import test_fuse, test_pipeline, test_rerank, test_vectors, test_words
from tests.sabotage.world import MODEL, World, copied, read, recorded

GATE = "the gate"
REFUSED = "refused when it is read"

Test = Callable[..., None]
Plant = Callable[[World, pytest.MonkeyPatch, Path], World]


@dataclass(frozen=True)
class Fault:
    """A fault. caught_by: the gate, a refusal before anything is measured, or tests; each of them must catch it."""

    name: str
    plant: Plant
    caught_by: Sequence[str | Test]

    def row(self) -> str:
        """The fault in the table of the documentation."""
        return (
            f"| {self.name} | {', '.join(each if isinstance(each, str) else _named(each) for each in self.caught_by)} |"
        )


def _named(test: Test) -> str:
    return f"`{test.__module__.rpartition('.')[2]}::{test.__name__}`"


def code(function: Any, old: str, new: str) -> Plant:
    """A text edit of one function, in force wherever the function was imported."""

    def plant(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
        assert isinstance(function, FunctionType)
        source = textwrap.dedent(inspect.getsource(function))
        assert source.count(old) == 1, f"the line to edit is not in {function.__qualname__} any more: {old}"
        made: dict[str, Any] = {}
        flags = __future__.annotations.compiler_flag
        exec(compile(source.replace(old, new), "<planted>", "exec", flags=flags), function.__globals__, made)
        monkeypatch.setattr(function, "__code__", made[function.__name__].__code__)
        return world

    return plant


def setting(change: Callable[[World], str]) -> Plant:
    """A change of the settings in force."""
    return lambda world, monkeypatch, tmp_path: replace(world, settings=changed(world.settings, [change(world)]))


def embedding(change: Callable[[World, Kind, Sequence[str]], NDArray[np.int16]]) -> Plant:
    """Other vectors than those asked for."""
    return lambda world, monkeypatch, tmp_path: replace(world, embed=lambda kind, texts: change(world, kind, texts))


def spanish_as_passages(world: World, kind: Kind, texts: Sequence[str]) -> NDArray[np.int16]:
    """What the near search gets when Spanish questions are embedded as laws are."""
    _, pairs = read(world.laws, world.questions)
    spanish = [text for text in texts if text in {pair.text for pair in pairs if pair.lang == "es"}]
    if kind == "query" and spanish:
        world.embed("passage", spanish)
    return world.embed(kind, texts)


def index_of_another_state(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    """The laws' vectors of the state that was indexed first, for every state after it."""
    kept: list[NDArray[np.int16]] = []

    def embed(kind: Kind, texts: Sequence[str]) -> NDArray[np.int16]:
        found = world.embed(kind, texts)
        if kind == "query":
            return found
        kept.append(found)
        return np.resize(kept[0], found.shape)

    return replace(world, embed=embed)


def of_another_model(world: World, kind: Kind, texts: Sequence[str]) -> NDArray[np.int16]:
    """Laws' vectors of another space, under this model's name and of its size."""
    found = world.embed(kind, texts)
    return np.roll(found, 1, axis=1) if kind == "passage" else found


def of_another_version(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    """A file of recordings that says it is of another version of the model."""
    folder = RECORDINGS / MODEL
    lines = (folder / "laws" / "md.jsonl").read_text("utf-8").splitlines(keepends=True)
    head = json.dumps({**json.loads(lines[0]), "version": "another"}) + "\n"
    copied(folder, tmp_path / "recordings", {})
    copied(folder / "laws", tmp_path / "recordings" / "laws", {"md.jsonl": [head, *lines[1:]]})
    return replace(world, embed=recorded(tmp_path / "recordings"))


def laws(edit: Callable[[list[str]], list[str]]) -> Plant:
    """Maryland's file of laws with its lines edited."""

    def plant(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
        lines = (world.laws / "md.jsonl").read_text("utf-8").splitlines(keepends=True)
        return replace(world, laws=copied(world.laws, tmp_path / "laws", {"md.jsonl": edit(lines)}))

    return plant


def swapped(one: str, other: str) -> Callable[[list[str]], list[str]]:
    """Two laws that carry each other's rule and card question."""

    def edit(lines: list[str]) -> list[str]:
        rows = {row["id"]: row for row in map(json.loads, lines)}
        texts = {each: {name: rows[each][name] for name in ("law", "question")} for each in (one, other)}
        rows[one] |= texts[other]
        rows[other] |= texts[one]
        return [json.dumps(row) + "\n" for row in rows.values()]

    return edit


def without_topic(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    """The question set without its file on parking."""
    return replace(world, questions=copied(world.questions, tmp_path / "questions", {"parking.yaml": None}))


FAULTS = (
    Fault(
        "a stop word “park”",
        code(words, "not in STOP_WORDS", 'not in STOP_WORDS | {"park"}'),
        [test_words.test_tokens],
    ),
    Fault(
        "no plural folding",
        code(words, 'run[-1] == "s" and', "False and"),
        [GATE, test_words.test_tokens],
    ),
    Fault("“bus” folded to “bu”", code(words, "len(run) > 3", "len(run) > 2"), [test_words.test_tokens]),
    Fault(
        "no typo tolerance",
        code(WordIndex.spelled_as, "len(word) >= _SHORTEST_MISTYPED", "False"),
        [GATE, test_words.test_what_a_word_stands_for],
    ),
    Fault(
        "page rows ranked by words",
        code(WordIndex._read, "law.is_page_row", "False"),
        [GATE, test_words.test_page_rows_are_not_ranked_or_counted],
    ),
    Fault(
        "an index kept from another state",
        index_of_another_state,
        [GATE],
    ),
    Fault("the cutoff up by .05", setting(lambda world: f"near_enough={world.settings.cutoff + 0.05:.3f}"), [GATE]),
    Fault("`near_laws` 2", setting(lambda world: "near_laws=2"), [GATE]),
    Fault("a pool of 12", setting(lambda world: "candidate_laws=12"), [GATE]),
    Fault(
        "fusion from rank 0",
        code(fuse, "enumerate(ranking, 1)", "enumerate(ranking)"),
        [test_fuse.test_ranks_start_at_one],
    ),
    Fault(
        "fusion that counts a repeated id twice",
        code(
            fuse,
            "best.setdefault(each, rank)",
            "scores[each] = scores.get(each, 0.0) + 1 / (RANK_CONSTANT + rank)",
        ),
        [test_fuse.test_hand_worked],
    ),
    Fault(
        "ties reversed in the word search",
        code(
            _best,
            "order = (-scores[candidates]).argsort",
            "candidates = candidates[::-1]; order = (-scores[candidates]).argsort",
        ),
        [test_words.test_ties_keep_the_order_of_the_corpus],
    ),
    Fault(
        "ties reversed in the near search",
        code(
            best_first,
            'np.argsort(falling, kind="stable")',
            'len(falling) - 1 - np.argsort(falling[::-1], kind="stable")',
        ),
        [test_vectors.test_ties_keep_the_corpus_order],
    ),
    Fault(
        "ties reversed in the fusion",
        code(fuse, "sorted(scores, ", "sorted(reversed(scores), "),
        [test_fuse.test_hand_worked],
    ),
    Fault(
        "a floor for the reranker",
        code(choose, "sorted(range(len(pool)), ", "sorted((at for at in range(len(pool)) if scores[at] > 0), "),
        [test_rerank.test_hand_worked],
    ),
    Fault(
        "the fallback taken silently",
        code(choose, "error.cause, str(error)", '"ranked"'),
        [test_rerank.test_a_reranker_that_did_not_answer, test_pipeline.test_a_reranker_chooses_from_the_pool],
    ),
    Fault("Spanish questions embedded as passages", embedding(spanish_as_passages), [REFUSED]),
    Fault("a state's file cut off between two laws", laws(lambda lines: lines[: len(lines) // 2]), [REFUSED]),
    Fault("a state's file cut off inside a law", laws(lambda lines: [*lines[:-1], lines[-1][:40]]), [REFUSED]),
    Fault("a law's text swapped with its sibling's", laws(swapped("MD-S293", "MD-S295")), [GATE]),
    Fault("recordings of another model under this one's name", embedding(of_another_model), [GATE]),
    Fault(
        "recordings of another version of the model",
        of_another_version,
        [REFUSED],
    ),
    Fault("a topic's file removed", without_topic, [GATE]),
)
