"""A run for the page to show: two states of laws and questions of every kind, some of them with hostile texts."""

import random
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from evals.questions import KINDS, Pair
from evals.report.contents import Contents
from evals.report.pages.page import page
from evals.run import Run, evaluate
from retrieval import Law
from retrieval.live import LiveStage
from retrieval.replies import Call, Reply
from tests import fakes

WORDS = """
    park hydrant curb signal turn red light stop yield lane speed limit school bus pass night lamp horn belt child
    phone text fine license permit test vision crash report insurance parking brake hill snow fog rain bridge
""".split()  # noqa: SIM905  # a list of them would take forty lines

HOSTILE = (
    "</script><img src=x onerror=alert(1)> park",
    '"><b>bold</b> hydrant & &amp; <!-- curb',
    "signal \u2028 turn \u2029 red",
    "\u202eright to left\u202c light \u200f stop",
    "yield" + "w" * 300,
    "NaN Infinity null __proto__ constructor",
)

PLOTS = ("bands", "recall-over-cutoff")


def _law(draw: random.Random, state: str, nth: int) -> Law:
    text = " ".join(draw.choices(WORDS, k=draw.randint(3, 7)))
    if nth < len(HOSTILE):
        text = f"{HOSTILE[nth]} {text}"
    kind = "process" if nth % 11 == 10 else "rule"
    return Law(f"{state}-{nth}", text.capitalize(), f"May I {draw.choice(WORDS)}?", draw.choice(WORDS), kind)


def _pairs(draw: random.Random, corpus: dict[str, list[Law]]) -> Iterable[Pair]:
    for nth in range(30):
        text = " ".join(draw.choices(WORDS, k=draw.randint(1, 4)))
        searches = tuple(" ".join(draw.choices(WORDS, k=2)) for _ in range(nth % 3))
        if nth < len(HOSTILE):
            text = f"{HOSTILE[nth]} {text}"
        for state, laws in corpus.items():
            shared = [law.id for law in laws if set(text.split()) & set(law.law.lower().split())]
            yield _pair(draw, nth, state, text, searches, [*shared, *shared, *(law.id for law in laws)])


def _pair(draw: random.Random, nth: int, state: str, text: str, searches: tuple[str, ...], ids: list[str]) -> Pair:
    expects: Any = "unrelated" if nth % 10 == 7 else "uncovered" if nth % 10 == 8 and state == "MD" else "answerable"
    groups = [tuple(dict.fromkeys(draw.sample(ids, draw.choice([1, 1, 2])))) for _ in range(draw.choice([1, 1, 2, 3]))]
    return Pair(
        need=f"need-{nth // 2}",
        ask=f"ask-{nth}",
        state=state,
        text=text,
        kind=KINDS[nth % len(KINDS)],
        lang="es" if nth % len(KINDS) == 3 else "en",
        topic="<b>topic</b>" if nth < 5 else f"topic-{nth % 3}",
        tags=("<i>tag</i>",) if nth % 4 == 0 else (),
        expects=expects,
        unrelated="lexical" if expects == "unrelated" else None,
        expected=tuple(groups) if expects == "answerable" else (),
        accepted=tuple(draw.sample(ids, 2)) if expects == "answerable" else (),
        searches=searches,
        family=draw.choice(WORDS) if nth % 3 == 0 else None,
        file="questions/world.yaml",
        line=nth + 1,
    )


@cache
def run(rephrase: str = "off") -> Run:
    """The run; with `written`, searches are fused beside the questions that have any."""
    draw = random.Random(20260101)
    corpus = {state: [_law(draw, state, nth) for nth in range(45)] for state in ("AL", "MD")}
    settings = fakes.settings(
        near_enough={"fake": 0.4125}, near_laws=6, retrieved_laws=4, candidate_laws=9, rephrase=rephrase
    )
    pairs = list(_pairs(draw, corpus))
    return evaluate(settings, corpus, pairs, fakes.embed, "fake <model>")


@cache
def reranked() -> Run:
    """The run with a reranker that names the pool's third law and its first; an empty list where a pool has fewer."""

    def ask(stage: LiveStage, calls: Sequence[Call]) -> Mapping[str, Reply]:
        return {call.key: Reply({"ranked": [2, 0] if len(call.texts) > 2 else []}) for call in calls}

    plain = run()
    settings = plain.settings.model_copy(update={"rerank": "recorded claude-haiku-4-5"})
    pairs = [each.pair for each in plain.pairs]
    return evaluate(settings, plain.corpus, pairs, fakes.embed, "fake <model>", ask=ask)


@cache
def html(rephrase: str = "off") -> str:
    """The page of the run."""
    return page(Contents(run(rephrase)), PLOTS)
