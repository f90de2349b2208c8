"""Which laws of the pool answer the question, as a reranker judges. Finds nothing that the pool lacks.

A reranker is a callable: the question and the pool's texts in, a score for each text out, higher is better, on any
scale. There is no floor: scores order, they do not judge.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from retrieval.corpus import Law
from retrieval.documents import parse_json
from retrieval.errors import MissingRecordingError, RerankError
from retrieval.settings import CLAUDE, Settings
from retrieval.vectors import embedding_text

ANSWER_LAWS: int = Settings.model_fields["answer_laws"].default
HAIKU_MODEL = CLAUDE[0]
HAIKU_NAMES = 5
NO_EFFORT = ("claude-haiku-4-5",)  # refuses a request that says how much effort it may take
CUT_OFF = ("max_tokens", "model_context_window_exceeded")

Rerank = Callable[[str, list[str]], Sequence[float]]


class Messages(Protocol):
    """What of an anthropic client's `messages` is used."""

    def create(self, **request: Any) -> Any:
        """One request; the response has `stop_reason` and `content`, a list of blocks."""
        ...


class MessagesClient(Protocol):
    """An anthropic client, or anything with its `messages.create`."""

    @property
    def messages(self) -> Messages:
        """The messages API."""
        ...


@dataclass(frozen=True)
class Choice:
    """The laws chosen, best first, and how: the outcome is `off`, `ranked`, `none named` or the fallback's cause.

    scores: the reranker's, one for each law of the pool, where it answered.
    """

    laws: tuple[Law, ...]
    outcome: str
    message: str = ""
    scores: tuple[float, ...] = ()


def pool_size(searches: Sequence[object]) -> int:
    """How many laws the reranker reads: 24, or 32 when searches were fused, since fusing moves laws out too."""
    usual: int = Settings.model_fields["searched_candidate_laws" if searches else "candidate_laws"].default
    return usual


def choose_laws(
    pool: Sequence[Law],
    fallback: Sequence[Law],
    question: str,
    rerank: Rerank | None,
    answer_laws: int = ANSWER_LAWS,
) -> list[Law]:
    """The reranker's best `answer_laws` of the pool that are no page rows, and page rows beside them.

    Page rows among the first `answer_laws` of the whole ranking stand after the laws. Equal scores keep the pool's
    order. The fallback comes back where there is no reranker, an empty pool, or a reranker that did not answer: it
    threw, or gave another number of scores, or a NaN.
    """
    return list(choose(pool, fallback, question, rerank, answer_laws).laws)


def choose(
    pool: Sequence[Law],
    fallback: Sequence[Law],
    question: str,
    rerank: Rerank | None,
    answer_laws: int = ANSWER_LAWS,
) -> Choice:
    """As `choose_laws`, with the outcome beside the laws, so that a run can count fallbacks by cause."""
    if rerank is None or not pool:
        return Choice(tuple(fallback), "off" if rerank is None else "empty pool")
    try:
        scores = _checked(rerank(question, [embedding_text(law) for law in pool]), len(pool))
    except MissingRecordingError:
        raise  # nobody asked: that is no answer to be counted
    except RerankError as error:
        return Choice(tuple(fallback), error.cause, str(error))
    except TimeoutError as error:
        return Choice(tuple(fallback), "timed out", str(error))
    except Exception as error:  # whatever a reranker throws, the question is still answered
        return Choice(tuple(fallback), "threw", f"{type(error).__name__}: {error}")
    order = sorted(range(len(pool)), key=lambda at: -scores[at])
    laws = [pool[at] for at in order if not pool[at].is_page_row][:answer_laws]
    pages = [pool[at] for at in order[:answer_laws] if pool[at].is_page_row]
    named = any(score > -math.inf for score in scores)
    return Choice((*laws, *pages), "ranked" if named else "none named", scores=tuple(scores))


def _checked(scores: Sequence[float], expected: int) -> list[float]:
    if len(scores) != expected:
        raise RerankError("wrong number of scores", f"{len(scores)} scores for {expected} laws")
    numbers = [float(score) for score in scores]
    if any(math.isnan(score) for score in numbers):
        raise RerankError("not a number", "a score is not a number")
    return numbers


_INSTRUCTIONS = f"""\
A learner driver asks a question. You read it with a numbered list of laws of one state and pick those that answer it.
Reply with the numbers of the laws that answer, the best first, {HAIKU_NAMES} at most.
Prefer the law that holds the very rule, figure or penalty that is asked for over one that is only about the subject.
Keep to the case that is asked about: drivers under 21 are not adults, a side window is not the windshield, the first
offence is not the second. If no law of the list answers, reply with an empty list."""

_SCHEMA = {
    "type": "object",
    "properties": {"ranked": {"type": "array", "items": {"type": "integer"}}},
    "required": ["ranked"],
    "additionalProperties": False,
}


def haiku_reranker(client: MessagesClient, model: str = HAIKU_MODEL) -> Rerank:
    """Haiku as a reranker: the laws it names score from 5 down to 1, all others minus infinity.

    The reranker raises RerankError for a reply that is no answer: cut off at its limit, a refusal, no JSON, or a
    number that is not on the list. An empty list is an answer. Repeats count once; names after the fifth do not.
    """

    def rerank(question: str, texts: list[str]) -> list[float]:
        response = client.messages.create(**haiku_request(model, question, texts))
        return haiku_scores(named_laws(response, len(texts)), len(texts))

    return rerank


def haiku_request(model: str, question: str, texts: Sequence[str]) -> dict[str, Any]:
    """What is sent to the messages API for a question and the pool's n texts, which are numbered from 0."""
    listed = "\n\n".join(f"[{at}] {text}" for at, text in enumerate(texts))
    return {
        "model": model,
        "max_tokens": 1024,
        "system": _INSTRUCTIONS,
        "output_config": output_config(model, _SCHEMA),
        "messages": [{"role": "user", "content": f"Question: {question}\n\nLaws:\n\n{listed}"}],
    }


def output_config(model: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Structured output by a schema, with low effort where the model takes a word on that."""
    effort = {} if model in NO_EFFORT else {"effort": "low"}
    return {**effort, "format": {"type": "json_schema", "schema": schema}}


def haiku_scores(ranked: Sequence[int], given: int) -> list[float]:
    """A score for each of the `given` laws: 5 down to 1 for those named, best first, minus infinity for the rest."""
    scores = [-math.inf] * given
    for place, at in enumerate(ranked):
        scores[at] = float(HAIKU_NAMES - place)
    return scores


def reply_content(response: Any) -> tuple[object, str]:
    """The JSON of a structured reply, and its text; RerankError where it was cut off or refused, or is no JSON."""
    stop = getattr(response, "stop_reason", None)
    if stop in CUT_OFF:
        raise RerankError("cut off", f"the reply was cut off at its limit of tokens ({stop})")
    if stop == "refusal":
        raise RerankError("refused", "the model refused to answer")
    blocks = getattr(response, "content", None)
    found = [each for each in blocks if getattr(each, "type", None) == "text"] if isinstance(blocks, list) else []
    text = "".join(each.text for each in found if isinstance(each.text, str))
    try:
        return parse_json(text), text[:200]
    except ValueError as error:
        raise RerankError("unreadable", f"the reply is no JSON ({error}): {text[:200]}") from None


def named_laws(response: Any, given: int) -> list[int]:
    """The positions (from 0, below `given`) that a reply names, best first, without repeats, five at most."""
    reply, text = reply_content(response)
    ranked = reply.get("ranked") if isinstance(reply, dict) else None
    if not isinstance(ranked, list):
        raise RerankError("unreadable", f"the reply holds no list of laws: {text}")
    if not all(_is_position(each, given) for each in ranked):
        raise RerankError("named what was not given", f"the reply names laws that were not given: {text}")
    return list(dict.fromkeys(int(each) for each in ranked))[:HAIKU_NAMES]


def _is_position(value: object, given: int) -> bool:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return whole and not isinstance(value, bool) and 0 <= value < given  # type: ignore[operator]
