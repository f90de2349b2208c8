"""The pipeline over the whole question set: one trace a pair, and the fingerprints of what was measured."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from evals.questions import Pair
from retrieval.corpus import Law
from retrieval.fuse import distinct_searches
from retrieval.pipeline import EmbedTexts, Pipeline, Trace
from retrieval.settings import Settings

STAGES = ("words", "near", "fused", "pool", "answer")

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Measured:
    """A pair and what each stage gave for it."""

    pair: Pair
    trace: Trace


@dataclass(frozen=True)
class Run:
    """Everything one evaluation measured. `pairs` keeps the order of the question set, by state within a need.

    `recorded`: the last day on which vectors that it used were recorded; None where none were.
    """

    settings: Settings
    corpus: Mapping[str, Sequence[Law]]
    pairs: tuple[Measured, ...]
    model: str
    recorded: str | None = None

    @cached_property
    def laws(self) -> Mapping[str, Mapping[str, Law]]:
        """Each state's laws by id."""
        return {state: {law.id: law for law in laws} for state, laws in self.corpus.items()}

    @cached_property
    def fingerprints(self) -> Mapping[str, str]:
        """Hashes of the parsed content of laws, questions and settings: blind to comments and to order of files."""
        laws = {state: [_law(law) for law in laws] for state, laws in sorted(self.corpus.items())}
        questions = sorted(
            [_question(measured.pair) for measured in self.pairs],
            key=lambda each: json.dumps(each, sort_keys=True),
        )
        return {
            "laws": fingerprint(laws),
            "questions": fingerprint(questions),
            "settings": fingerprint(self.settings.model_dump()),
            "model": self.model,
        }


def evaluate(
    settings: Settings,
    corpus: Mapping[str, Sequence[Law]],
    pairs: Sequence[Pair],
    embed: EmbedTexts | None,
    model: str,
    progress: Progress | None = None,
) -> Run:
    """Every pair through the pipeline of its state. `model` names what `embed` computes, version included.

    A state's texts are embedded and scored together; each distinct text once. `progress` is told the state, how many
    of its pairs are done and how many there are.
    """
    traces: dict[int, Trace] = {}
    for state, laws in corpus.items():
        pipeline = Pipeline(settings, laws, embed)
        of_state = [(at, pair) for at, pair in enumerate(pairs) if pair.state == state]
        searched = {at: _texts(settings, pair) for at, pair in of_state}
        texts = list(dict.fromkeys(text for texts in searched.values() for text in texts))
        scorings = dict(zip(texts, pipeline.score(texts), strict=True))
        for done, (at, pair) in enumerate(of_state, 1):
            family = pair.family if settings.rephrase != "off" else None
            traces[at] = pipeline.trace([scorings[text] for text in searched[at]], family)
            if progress is not None:
                progress(state, done, len(of_state))
    return Run(settings, corpus, tuple(Measured(pair, traces[at]) for at, pair in enumerate(pairs)), model)


def _texts(settings: Settings, pair: Pair) -> list[str]:
    searches = pair.searches if settings.rephrase == "written" else ()
    return [pair.text, *distinct_searches(pair.text, searches)]


def fingerprint(content: Any) -> str:
    """The first 16 hex digits of the SHA-256 of content as canonical JSON."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _law(law: Law) -> dict[str, object]:
    return {"id": law.id, "law": law.law, "question": law.question, "concept": law.concept, "kind": law.kind}


def _question(pair: Pair) -> dict[str, object]:
    content = asdict(pair)
    for place in ("file", "line"):
        del content[place]
    return content


def answerable(run: Run) -> Iterable[Measured]:
    """The pairs that expect a law."""
    return (each for each in run.pairs if each.pair.expects == "answerable")
