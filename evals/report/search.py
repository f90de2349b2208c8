"""One question through every stage, as text for a person and as JSON for a program."""

from collections.abc import Iterable

from retrieval.corpus import Law
from retrieval.pipeline import Pipeline, Ranking, Scoring, Trace
from retrieval.words import words

SHOWN_BELOW = 3
WIDTH = 100


def as_text(pipeline: Pipeline, trace: Trace) -> str:
    """Each stage: the words and what they stand for, both rankings, the fused order and the end of the pool.

    A law that the near search found under the cutoff is shown with an x: it was not returned.
    """
    return "\n".join(_lines(pipeline, trace))


def _lines(pipeline: Pipeline, trace: Trace) -> Iterable[str]:
    settings, laws = pipeline.settings, {law.id: law for law in pipeline.laws}
    for number, scoring in enumerate(trace.scorings):
        yield f"{'question' if number == 0 else 'search'}: {scoring.text}"
        yield f"words: {_spelled(pipeline, scoring.text) or 'none'}"
        yield f"by words, {settings.retrieved_laws} asked for:"
        yield from _ranked(scoring.words, pipeline.laws, settings.retrieved_laws) or ["    no law shares a word"]
        yield f"by meaning, {settings.embedder}, cutoff {settings.cutoff:g}, at most {settings.near_laws}:"
        yield from _near(pipeline, scoring) or ["    no law has a vector here"]
    yield f"fused, {settings.retrieved_laws} asked for:"
    yield from (_law(laws[each], f"{place:3}.") for place, each in enumerate(trace.fused, 1))
    size = settings.pool_laws(len(trace.scorings) - 1)
    yield f"pool, {len(trace.pool)} laws of {size} asked for; its end:"
    start = max(0, len(trace.pool) - SHOWN_BELOW)
    yield from (_law(laws[each], f"{place:3}.") for place, each in enumerate(trace.pool[start:], start + 1))
    if trace.outcome != "off":
        yield f"answer ({trace.outcome}):"
        yield from (_law(laws[each], f"{place:3}.") for place, each in enumerate(trace.answer, 1))


def _spelled(pipeline: Pipeline, text: str) -> str:
    """The words that survived; one the laws do not use with what it stands for."""
    shown = []
    for word in dict.fromkeys(words(text)):
        stands = pipeline.word_index.spelled_as(word)
        shown.append(word if stands == (word,) else f"{word} → {', '.join(stands) if stands else 'nothing'}")
    return " · ".join(shown)


def _ranked(ranking: Ranking, laws: tuple[Law, ...], limit: int) -> list[str]:
    return [
        _law(laws[at], f"{score:7.3f}") for at, score in zip(ranking.laws[:limit], ranking.scores[:limit], strict=True)
    ]


def _near(pipeline: Pipeline, scoring: Scoring) -> list[str]:
    settings, near = pipeline.settings, scoring.near
    shown = zip(near.laws[: settings.near_laws], near.scores, strict=False)
    return [_law(pipeline.laws[at], f"{score:7.3f} {' ' if score >= settings.cutoff else 'x'}") for at, score in shown]


def _law(law: Law, lead: str) -> str:
    text = " ".join(law.law.split())
    return f"{lead}  {law.id}  {text if len(text) <= WIDTH else text[: WIDTH - 1] + '…'}"


def as_json(pipeline: Pipeline, trace: Trace) -> dict[str, object]:
    """The same as data: scores in full, near hits under the cutoff marked."""
    settings = pipeline.settings
    return {
        "question": trace.question,
        "settings": settings.model_dump(),
        "texts": [_scoring_json(pipeline, scoring) for scoring in trace.scorings],
        **{stage: list(ids) for stage, ids in trace.stages().items()},
        "outcome": trace.outcome,
    }


def _scoring_json(pipeline: Pipeline, scoring: Scoring) -> dict[str, object]:
    settings = pipeline.settings
    return {
        "text": scoring.text,
        "words": {word: list(pipeline.word_index.spelled_as(word)) for word in dict.fromkeys(words(scoring.text))},
        "by words": _scores(pipeline.laws, scoring.words, settings.retrieved_laws),
        "by meaning": [
            {**row, "under the cutoff": float(score) < settings.cutoff}
            for row, score in zip(
                _scores(pipeline.laws, scoring.near, settings.near_laws), scoring.near.scores, strict=False
            )
        ],
    }


def _scores(laws: tuple[Law, ...], ranking: Ranking, limit: int) -> list[dict[str, object]]:
    return [
        {"id": laws[at].id, "score": float(score)}
        for at, score in zip(ranking.laws[:limit], ranking.scores[:limit], strict=True)
    ]
