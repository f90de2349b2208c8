"""What services do wrong, and what comes of it: the tables that the tests go through and docs/live.md shows.

A fault that stays ends in an error; its text stands here with … for what is left out.
"""

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from tests.live.loopback import Body, Fault, Said, envelope, failure, message, vector
from tests.live.providers import (
    CLOUDFLARE,
    EVERYBODY,
    HAIKU,
    TEXTS,
    Ask,
    embed_bge,
    embed_bge_beside_mean,
    embed_openai,
    embed_openai_beside_seven,
    named,
    rephrase,
    rerank_base,
    rerank_haiku,
    rerank_m3,
)


class Case(NamedTuple):
    """A fault: its name, whom it is tried with, what the server does in turn, and what comes of it."""

    name: str
    providers: Sequence[Ask]
    faults: Sequence[Fault]
    outcome: Any = None


def rows_of(good: Any) -> list[Any]:
    """The vectors or scores of a right reply."""
    found: list[Any] = good["data"] if "data" in good else good["result"].get("data", good["result"].get("response"))
    return found


def changed(change: Callable[[list[Any]], object]) -> Fault:
    """A reply whose list of vectors or scores was changed."""

    def fault(body: Body, good: Any) -> Said:
        good = copy.deepcopy(good)
        change(rows_of(good))
        return Said(raw=json.dumps(good).encode())  # NaN, as some servers write it

    return fault


without_last = changed(lambda rows: rows.pop())
reversed_rows = changed(lambda rows: rows.reverse())


def second(change: Callable[[Any], Any]) -> Fault:
    """One vector or score changed."""

    def replaced(rows: list[Any]) -> None:
        rows[1] = change(rows[1])

    return changed(replaced)


def beginning(value: Any) -> Fault:
    """One vector with another first number."""
    return second(
        lambda row: {**row, "embedding": [value, *row["embedding"][1:]]} if isinstance(row, dict) else [value, *row[1:]]
    )


def score(value: Any) -> Fault:
    """One score changed."""
    return second(lambda row: {**row, "score": value})


def id_of(value: Any) -> Fault:
    """One id changed."""
    return second(lambda row: {**row, "id": value})


NAN = float("nan")
HUGE = 10**400
SLOW = Said(status=200, content={}, silence=0.9)
FREE = "you have used up your daily free allocation of 10,000 neurons"

PASSES = [
    Case("nothing wrong", EVERYBODY, []),
    Case("slow once", EVERYBODY, [SLOW]),
    Case("cut off mid-body", EVERYBODY, [lambda body, good: Said(good, cut=True)]),
    Case("429 with Retry-After", EVERYBODY, [Said({}, 429, {"Retry-After": "0"})]),
    Case("429 without", EVERYBODY, [Said({}, 429)]),
    Case("429, no capacity", CLOUDFLARE, [Said(failure(3040), 429)]),
    Case("408", CLOUDFLARE, [Said(failure(3007), 408), Said(failure(3008), 408)]),
    Case("200 that says no capacity", CLOUDFLARE, [Said(failure(3040))]),
    Case("500, then 503", EVERYBODY, [Said({}, 500), Said({}, 503)]),
    Case("529", HAIKU, [Said({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, 529)]),
    Case("an empty body once", EVERYBODY, [Said(raw=b"")]),
    Case("no JSON once", EVERYBODY, [Said(raw=b"<html>try later</html>")]),
    Case("reversed order", [embed_openai, rerank_base, rerank_m3], [reversed_rows]),
]

FAILS = [
    Case("500s", EVERYBODY, [Said({}, 500)] * 9, "failed 3 times, at last: status 500"),
    Case(
        "empty bodies", [*CLOUDFLARE, embed_openai], [Said(raw=b"")] * 9, "failed 3 times, at last: the reply is empty"
    ),
    Case("empty bodies for messages", HAIKU, [Said(raw=b"")] * 9, "failed 3 times, at last: the reply is no JSON"),
    Case("no JSON at all", EVERYBODY, [Said(raw=b"<html>")] * 9, "failed 3 times, at last: the reply is no JSON"),
    Case("slow for ever", [rerank_base, rerank_haiku], [SLOW] * 9, "failed 3 times, at last: …Timeout"),
    Case("429s", EVERYBODY, [Said({}, 429)] * 9, "failed 3 times, at last: status 429"),
    Case(
        "429, wait an hour", EVERYBODY, [Said({}, 429, {"Retry-After": "3600"})], "told to wait 3600 s, a call has 4 s"
    ),
    Case("the day's allowance", CLOUDFLARE, [Said(failure(3036), 429)], "the day's allowance is spent"),
    Case("the same by its other code", CLOUDFLARE, [Said(failure(4006), 429)], "the day's allowance is spent"),
    Case("the same by its text", CLOUDFLARE, [Said(failure(1, FREE), 429)], "the day's allowance is spent"),
    Case(
        "the same behind much text",
        CLOUDFLARE,
        [Said(failure(1, f"{'sorry, ' * 99}{FREE}"), 429)],
        "the day's allowance is spent",
    ),
    Case(
        "the account's quota", [embed_openai], [Said({"error": {"code": "insufficient_quota"}}, 429)], "quota is spent"
    ),
    Case("200 with success: false", CLOUDFLARE, [Said(failure(5007))], "the service reports a failure…5007"),
    Case("200 without a result", CLOUDFLARE, [Said({"success": True})], "the reply holds no result"),
    Case("200 and a list", CLOUDFLARE, [Said([1])], "the service reports a failure"),
    Case("a list for a message", HAIKU, [Said([1])], "the reply is no message"),
    Case(
        "errors of another form",
        CLOUDFLARE,
        [Said({"success": False, "errors": [{"code": [3036]}, "x"]})],
        "the service reports a failure",
    ),
    Case("an error of another form", [embed_openai], [Said({"error": {"code": [1], "type": {}}}, 403)], "status 403"),
    Case("a wrong token", EVERYBODY, [Said({}, 401)], "status 401"),
    Case("forbidden", EVERYBODY, [Said({}, 403)], "status 403"),
    Case("no such model", EVERYBODY, [Said({}, 404)], "status 404"),
    Case("a method that is not allowed", CLOUDFLARE, [Said({}, 405)], "status 405"),
    Case("sent on", EVERYBODY, [Said({}, 307, {"Location": "/elsewhere"})], "status 307"),
    Case("n - 1 vectors", [embed_bge, embed_openai], [without_last], "asked to embed 3 texts, given 2 vectors"),
    Case("n - 1 scores", [rerank_base, rerank_m3], [without_last], "2 scores for 3 laws"),
    Case("NaN in a vector", [embed_bge, embed_openai], [beginning(NAN)], "not finite for the text 'when'"),
    Case("infinity", [embed_bge, embed_openai], [beginning(float("inf"))], "not finite for the text 'when'"),
    Case("a number too large", [embed_bge, embed_openai], [beginning(HUGE)], "not finite for the text 'when'"),
    Case("text in a vector", [embed_bge, embed_openai], [beginning("1")], "no list of numbers for the text 'when'"),
    Case("true in a vector", [embed_bge, embed_openai], [beginning(True)], "no list of numbers for the text 'when'"),
    Case("NaN for a score", [rerank_base], [score(NAN)], "score of text 1 is nan"),
    Case("null for a score", [rerank_base], [score(None)], "score of text 1 is None"),
    Case("a score too large", [rerank_base], [score(HUGE)], "score of text 1 is 1000"),
    Case("an id outside", [rerank_base, rerank_m3], [id_of(3)], "scores the text 3 of 3"),
    Case("an id below 0", [rerank_base], [id_of(-1)], "scores the text -1 of 3"),
    Case("true for an id", [rerank_base], [id_of(True)], "scores the text True of 3"),
    Case("an id twice", [rerank_base], [id_of(0)], "the text 0 twice"),
    Case("scores that are none", [rerank_base], [Said(envelope({"response": "good"}))], "holds no list of scores"),
    Case(
        "an index twice", [embed_openai], [second(lambda row: {**row, "index": 0})], "indices are not those of 3 texts"
    ),
    Case("no vectors", [embed_openai], [Said({"data": "none"})], "holds no list of vectors"),
    Case("another dimension", [embed_bge], [second(lambda row: row[:1000])], "expected 1024 dimensions, given 1000"),
    Case(
        "two dimensions",
        [embed_openai],
        [second(lambda row: {**row, "embedding": [1, 2]})],
        "differ in their dimensions",
    ),
    Case(
        "another dimension than is recorded", [embed_openai_beside_seven], [], "6 dimensions cannot be compared with…7"
    ),
    Case("another pooling than is recorded", [embed_bge_beside_mean], [], "cls cannot be compared with…mean"),
    Case(
        "no pooling",
        [embed_bge],
        [Said(envelope({"data": [vector(text, 1024) for text in TEXTS]}))],
        "the reply does not say how its vectors were pooled",
    ),
    Case("no credit", HAIKU, [Said({"error": {"message": "Your credit balance is too low"}}, 400)], "credit balance"),
    Case("a bad request", HAIKU, [Said({"error": {"message": "minItems is not supported"}}, 400)], "status 400"),
]

ANSWERS = [
    Case("a refusal", HAIKU, [Said(message("", "refusal"))], "refused"),
    Case("cut at the limit of tokens", HAIKU, [Said(message('{"ranked": [1', "max_tokens"))], "cut off"),
    Case("cut, and whole by chance", HAIKU, [Said(message('{"ranked": [1]}', "max_tokens"))], "cut off"),
    Case("the context is full", HAIKU, [Said(message("{", "model_context_window_exceeded"))], "cut off"),
    Case("prose", HAIKU, [Said(message("The second law."))], "unreadable"),
    Case("JSON between marks", HAIKU, [Said(message('```json\n{"ranked": []}\n```'))], "unreadable"),
    Case("JSON of another kind", HAIKU, [Said(message('{"answer": 1}'))], "unreadable"),
    Case("no content", HAIKU, [Said({**message(""), "content": None})], "unreadable"),
    Case("content of another kind", HAIKU, [Said({**message(""), "content": "good"})], "unreadable"),
    Case(
        "blocks of another kind",
        HAIKU,
        [Said({**message(""), "content": [{"kind": 1}, {"type": "text"}]})],
        "unreadable",
    ),
    Case("an object and nothing in it", HAIKU, [Said({})], "unreadable"),
    Case("a law outside the pool", [rerank_haiku], [Said(message('{"ranked": [3]}'))], "named what was not given"),
    Case("a law by its name", [rerank_haiku], [Said(message('{"ranked": ["1"]}'))], "named what was not given"),
    Case(
        "a family not given",
        [rephrase],
        [Said(message('{"searches": [], "family": "tax"}'))],
        "named what was not given",
    ),
    Case("nothing named", [rerank_haiku], [Said(message('{"ranked": []}'))], {"ranked": []}),
    Case("named twice, and six", [rerank_haiku], [Said(message('{"ranked": [2, 2, 0, 1]}'))], {"ranked": [2, 0, 1]}),
    Case(
        "markup in a search",
        [rephrase],
        [Said(message('{"searches": ["<script>alert(1)</script>\\n x"], "family": "permit"}'))],
        {"searches": ["<script>alert(1)</script> x"], "family": "permit"},
    ),
    Case(
        "five searches, one empty, one twice",
        [rephrase],
        [Said(message('{"searches": ["a", " ", "a", "b", "c", "d"], "family": "none"}'))],
        {"searches": ["a", "b", "c"], "family": None},
    ),
]


def attempts(case: Case) -> int:
    """How often a call is made under a fault that passes."""
    return 1 + sum(fault is not reversed_rows for fault in case.faults)


def documented() -> Iterator[str]:
    """The tables as docs/live.md holds them, line by line."""
    yield from ("| a fault that passes | with | outcome |", "|---|---|---|")
    for case in PASSES:
        after = f", after {attempts(case)} attempts" if attempts(case) > 1 else ""
        yield f"| {case.name} | {named(case.providers)} | the right result{after} |"
    yield from ("", "| a fault that stays | with | the error says |", "|---|---|---|")
    yield from (f"| {case.name} | {named(case.providers)} | “{case.outcome}” |" for case in FAILS)
    yield from ("", "| an answer of a model | with | outcome |", "|---|---|---|")
    for case in ANSWERS:
        outcome = case.outcome if isinstance(case.outcome, str) else f"`{json.dumps(case.outcome)}`"
        yield f"| {case.name} | {named(case.providers)} | {outcome} |"
