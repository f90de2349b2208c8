"""The commands `record` and `recordings` as lines for a person: what was done, what it took, what is left."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

from evals.questions import Pair
from evals.recording import drift, stock
from evals.recording.asking import FOLDER, Recorder, replaying
from evals.recording.costs import LISTED, Cost, embedding, taken
from evals.recording.plan import plan
from evals.recording.vectors import record, record_searches, wanted
from evals.run import evaluate
from retrieval.corpus import Law
from retrieval.errors import MissingRecordingError, ModelError
from retrieval.live import REPHRASERS, RERANKERS
from retrieval.models.workers_ai import TEXTS_A_REQUEST
from retrieval.recordings import Vectors
from retrieval.replies import Replies
from retrieval.settings import Settings

Corpus = Mapping[str, Sequence[Law]]
SHOWN = 10


def plan_recording(
    settings: Settings, corpus: Corpus, pairs: Sequence[Pair], vectors: Vectors, folder: Path
) -> Iterator[str]:
    """What a recording would take, a line a stage."""
    planned = plan(settings, corpus, pairs, vectors, Replies(folder / FOLDER))
    yield from map(str, planned)
    yield from _listed([each.cost for each in planned if each.needed > each.recorded])


def _listed(costs: Iterable[Cost | None]) -> Iterator[str]:
    """Where the dollars come from, if there are any."""
    if any(cost is not None and cost.dollars is not None for cost in costs):
        yield LISTED


def record_all(
    settings: Settings, corpus: Corpus, pairs: Sequence[Pair], vectors: Vectors, folder: Path
) -> Iterator[str]:
    """Record what is missing and say what it took. NearEnoughError where some calls got no answer; the rest is kept."""
    begun, day = time.monotonic(), date.today().isoformat()
    texts = [(kind, text) for kind, found in wanted(corpus, pairs).values() for text in found]
    lacking = [text for kind, text in texts if vectors.missing(kind, [text])]
    for path, lines in record(vectors, folder / settings.embedder, corpus, pairs, day).items():
        yield f"{path}: {lines} vectors"
    costs = [embedding(vectors.model.version, lacking, TEXTS_A_REQUEST)] if vectors.model.remote and lacking else []
    yield from (f"{vectors.model.name}: {cost}" for cost in costs)
    if settings.rephraser is None and settings.reranker is None:
        yield from _listed(costs)
        return
    recorder = Recorder(Replies(folder / FOLDER), day, vectors.progress)
    try:
        run = evaluate(settings, corpus, pairs, vectors.embed, vectors.model.name, ask=recorder)
    finally:
        took = _took(recorder)
        yield from (f"{what}: {said}" for what, said, _ in took)
        yield from _listed([*costs, *(cost for *_, cost in took)])
    if settings.rephraser is not None:
        for path, lines in record_searches(vectors, folder / settings.embedder, run, day).items():
            yield f"{path}: {lines} vectors"
    yield f"{time.monotonic() - begun:.0f} s in all"


def _took(recorder: Recorder) -> list[tuple[str, str, Cost | None]]:
    """What each stage took: its name, a sentence, and its cost where it was asked."""
    stages = {f"{stage.stage} with {stage.name}": stage for stage in (*RERANKERS.values(), *REPHRASERS.values())}
    found: list[tuple[str, str, Cost | None]] = []
    for what, asked in recorder.asked.items():
        failed = sum(bool(reply.failed) for _, reply in asked)
        unusable = f"; {failed} answers could not be used" if failed else ""
        cost = taken(stages[what], asked) if asked else None
        found.append((what, f"{cost}{unusable}" if cost else "nothing was asked", cost))
    return found


def check_recordings(
    settings: Settings, corpus: Corpus, pairs: Sequence[Pair], vectors: Vectors, folder: Path
) -> Iterator[str]:
    """A sample of what is recorded asked again: how much is the same, and how far the rest is off."""
    texts = [(kind, text) for kind, found in wanted(corpus, pairs).values() for text in found]
    try:
        yield str(drift.of_vectors(vectors, texts))
    except ModelError as error:
        yield f"vectors of {vectors.model.name}: not checked: {error}"
    if settings.rephraser is not None or settings.reranker is not None:
        checker = drift.Checker(replaying(settings, folder), [])
        evaluate(settings, corpus, pairs, vectors.embed, vectors.model.name, ask=checker)
        yield from map(str, checker.found)


def list_recordings(
    settings: Settings, corpus: Corpus, pairs: Sequence[Pair], vectors: Vectors, folder: Path, prune: bool
) -> Iterator[str]:
    """What is recorded against what is needed, the first names of each kind; `prune` drops what is stale or unused."""
    replies = Replies(folder / FOLDER)
    for path in replies.torn:
        yield f"{path}: its last line was cut off and is left out; the next recording replaces it"
    try:
        needs = stock.needs_of(settings, corpus, pairs, vectors, replies)
    except MissingRecordingError as error:
        needs = stock.Needs(replies)
        yield f"replies: not judged: {error}"
    yield from _lines(stock.of_vectors(vectors, folder / settings.embedder, corpus, pairs, needs.said))
    for each in stock.of_replies(needs):
        yield from _lines(each)
    if prune:
        gone = stock.prune_vectors(vectors, folder / settings.embedder, corpus, pairs, needs.said)
        yield f"pruned: {gone} vectors, {stock.prune_replies(needs)} replies"


def _lines(found: stock.Stock) -> Iterator[str]:
    if found.note:
        yield f"{found.what}: {found.note}"
        return
    kinds = {
        "missing": found.missing,
        "stale": found.stale,
        "unused": found.unused,
        "failed": found.failed,
    }
    counts = ", ".join(f"{len(names)} {kind}" for kind, names in kinds.items())
    yield f"{found.what}: {found.needed} needed, {counts}"
    for kind, names in kinds.items():
        for name in names[:SHOWN]:
            yield f"  {kind}: {name[:100]}"
        if len(names) > SHOWN:
            yield f"  {kind}: and {len(names) - SHOWN} more"
