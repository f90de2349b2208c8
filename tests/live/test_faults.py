"""Every way in which a service misbehaves ends in a right result or one clear error that says what happened.

The table of docs/live.md is this one: a row a fault.
"""

import asyncio
import copy
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.errors import ModelError
from retrieval.live import REPHRASERS, RERANKERS, LiveStage, ask_all, scores, searches
from retrieval.models import openai_compatible, workers_ai
from retrieval.models.calls import Bounds, CallError
from retrieval.models.http import retry_after
from retrieval.models.openai_compatible import Server
from retrieval.models.workers_ai import Account
from retrieval.replies import Reply
from tests.live.loopback import Body, Fault, Loopback, Said, asked_texts, envelope, failure, message, vector

TOKEN, ACCOUNT = "token-that-nobody-may-see", "account-that-nobody-may-see"
QUICK = Bounds(seconds=2.0, read=0.3, attempts=3, first_wait=0.01, a_minute=60_000)
LAWS = ("Park 15 feet from a hydrant, or further.", "Stop at red.", "Yield to a bus that signals.")
TEXTS = ["how far", "when", "where"]


def environment(server: Loopback) -> Mapping[str, str]:
    """Credentials for all providers, all at the server's address."""
    return {
        "CLOUDFLARE_BASE_URL": server.address,
        "CLOUDFLARE_ACCOUNT_ID": ACCOUNT,
        "CLOUDFLARE_API_TOKEN": TOKEN,
        "OPENAI_BASE_URL": f"{server.address}/v1",
        "OPENAI_API_KEY": TOKEN,
        "ANTHROPIC_BASE_URL": server.address,
        "ANTHROPIC_API_KEY": TOKEN,
    }


def embed_bge(server: Loopback, texts: list[str] = TEXTS, bounds: Bounds = QUICK) -> object:
    """Vectors of bge-m3."""
    embed, _ = workers_ai.load(Account.of_environment(environment(server)), bounds)
    return embed("query", texts).vectors.tolist()


def embed_openai(server: Loopback, texts: list[str] = TEXTS, bounds: Bounds = QUICK) -> object:
    """Vectors of a model of an OpenAI-compatible server."""
    embed, _ = openai_compatible.load("some-model", Server.of_environment(environment(server)), bounds)
    return embed("query", texts).vectors.tolist()


def asking(stage: LiveStage, server: Loopback, bounds: Bounds = QUICK) -> Reply:
    """The reply to one call of a stage; its error where there is none."""
    call = stage.call("how far", LAWS if stage.stage == "rerank" else ("renewal", "permit"))
    found = ask_all(stage, [call], environment=environment(server), bounds=bounds)
    if call.key in found.failed:
        raise found.failed[call.key]
    return found.replies[call.key]


def rerank_base(server: Loopback, bounds: Bounds = QUICK) -> object:
    """Scores of bge-reranker-base."""
    return asking(RERANKERS["bge-reranker-base"], server, bounds).content


def rerank_m3(server: Loopback, bounds: Bounds = QUICK) -> object:
    """Scores of bge-m3."""
    return asking(RERANKERS["bge-m3"], server, bounds).content


def rerank_haiku(server: Loopback, bounds: Bounds = QUICK) -> object:
    """The laws that Haiku names, or the cause for which its answer cannot be used."""
    reply = asking(RERANKERS["claude-haiku-4-5"], server, bounds)
    return reply.failed or reply.content


def rephrase(server: Loopback, bounds: Bounds = QUICK) -> object:
    """The searches of the rephraser, or the cause for which its answer cannot be used."""
    reply = asking(REPHRASERS["claude-haiku-4-5"], server, bounds)
    return reply.failed or reply.content


RIGHT: dict[Callable[..., object], object] = {
    embed_bge: [vector(text, 1024) for text in TEXTS],
    embed_openai: [vector(text, 6) for text in TEXTS],
    rerank_base: {"scores": [len(law) / 1000 for law in LAWS]},
    rerank_m3: {"scores": [len(law) / 1000 for law in LAWS]},
    rerank_haiku: {"ranked": [1, 0]},
    rephrase: {"searches": ["distance from a fire hydrant"], "family": None},
}
EVERYBODY = list(RIGHT)
CLOUDFLARE = [embed_bge, rerank_base, rerank_m3]
HAIKU = [rerank_haiku, rephrase]


def cases(table: list[tuple[str, list[Any], list[Fault], Any]]) -> pytest.MarkDecorator:
    """The table as cases, a case a fault and provider."""
    return pytest.mark.parametrize(
        ("ask", "faults", "outcome"),
        [
            pytest.param(ask, faults, outcome, id=f"{name}, {ask.__name__}")
            for name, providers, faults, outcome in table
            for ask in providers
        ],
    )


def without_last(body: Body, good: Any) -> Said:
    """One vector or score less than asked for."""
    good = copy.deepcopy(good)
    rows = good["data"] if "data" in good else good["result"].get("data", good["result"].get("response"))
    rows.pop()
    return Said(good)


def reversed_rows(body: Body, good: Any) -> Said:
    """All vectors or scores, in the other order, each with its index."""
    good = copy.deepcopy(good)
    rows = good["data"] if "data" in good else good["result"]["response"]
    rows.reverse()
    return Said(good)


def changed_row(change: Callable[[Any], Any]) -> Fault:
    """One vector or score changed."""

    def fault(body: Body, good: Any) -> Said:
        good = copy.deepcopy(good)
        rows = good["data"] if "data" in good else good["result"].get("data", good["result"].get("response"))
        rows[1] = change(rows[1])
        return Said(raw=json.dumps(good).encode())  # NaN, as some servers write it

    return fault


def with_vector(value: Any) -> Fault:
    """One vector with another first number."""
    return changed_row(
        lambda row: {**row, "embedding": [value, *row["embedding"][1:]]} if isinstance(row, dict) else [value, *row[1:]]
    )


NAN = float("nan")
SLOW = Said(status=200, content={}, silence=0.6)

PASSES: list[tuple[str, list[Any], list[Fault], Any]] = [
    ("nothing wrong", EVERYBODY, [], None),
    ("slow once", EVERYBODY, [SLOW], None),
    ("cut off mid-body", EVERYBODY, [lambda body, good: Said(good, cut=True)], None),
    ("429 with Retry-After", EVERYBODY, [Said({}, 429, {"Retry-After": "0"})], None),
    ("429 without", EVERYBODY, [Said({}, 429)], None),
    ("429, no capacity", CLOUDFLARE, [Said(failure(3040), 429)], None),
    ("408", CLOUDFLARE, [Said(failure(3007), 408), Said(failure(3008), 408)], None),
    ("200 that says no capacity", CLOUDFLARE, [Said(failure(3040))], None),
    ("500, then 503", EVERYBODY, [Said({}, 500), Said({}, 503)], None),
    ("529", HAIKU, [Said({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, 529)], None),
    ("an empty body once", EVERYBODY, [Said(raw=b"")], None),
    ("no JSON once", EVERYBODY, [Said(raw=b"<html>try later</html>")], None),
    ("reversed order", [embed_openai, rerank_base, rerank_m3], [reversed_rows], None),
]

FAILS: list[tuple[str, list[Any], list[Fault], Any]] = [
    ("500s", EVERYBODY, [Said({}, 500)] * 9, r"failed 3 times, at last: status 500"),
    ("empty bodies", [*CLOUDFLARE, embed_openai], [Said(raw=b"")] * 9, r"failed 3 times, .*the reply is empty"),
    ("no JSON at all", EVERYBODY, [Said(raw=b"<html>")] * 9, r"failed 3 times, .*no JSON"),
    ("slow for ever", [rerank_base, rerank_haiku], [SLOW] * 9, r"failed 3 times, .*[Tt]ime"),
    ("429, wait an hour", EVERYBODY, [Said({}, 429, {"Retry-After": "3600"})], r"told to wait 3600 s, a call has 2 s"),
    ("the day's allowance", CLOUDFLARE, [Said(failure(3036), 429)], r"the day's allowance is spent"),
    ("the same by its other code", CLOUDFLARE, [Said(failure(4006), 429)], r"the day's allowance is spent"),
    (
        "the same by its text",
        CLOUDFLARE,
        [Said(failure(1, "you have used up your daily free allocation of 10,000 neurons"), 429)],
        r"the day's allowance is spent",
    ),
    ("the account's quota", [embed_openai], [Said({"error": {"code": "insufficient_quota"}}, 429)], r"quota is spent"),
    ("200 with success: false", CLOUDFLARE, [Said(failure(5007))], r"the service reports a failure .*5007"),
    ("200 without a result", CLOUDFLARE, [Said({"success": True})], r"the reply holds no result"),
    ("200 and a list", [*CLOUDFLARE, *HAIKU], [Said([1])], r"failure|no message"),
    ("a wrong token", EVERYBODY, [Said({}, 401)], r"status 401"),
    ("forbidden", EVERYBODY, [Said({}, 403)], r"status 403"),
    ("no such model", EVERYBODY, [Said({}, 404)], r"status 404"),
    ("a method that is not allowed", CLOUDFLARE, [Said({}, 405)], r"status 405"),
    ("sent on", [*CLOUDFLARE, embed_openai], [Said({}, 302, {"Location": "http://127.0.0.1:9/"})], r"status 302"),
    ("n - 1 vectors", [embed_bge, embed_openai], [without_last], r"asked to embed 3 texts, given 2 vectors"),
    ("n - 1 scores", [rerank_base, rerank_m3], [without_last], r"2 scores for 3 laws"),
    ("NaN in a vector", [embed_bge, embed_openai], [with_vector(NAN)], r"not finite for the text 'when'"),
    ("infinity", [embed_bge, embed_openai], [with_vector(float("inf"))], r"not finite for the text 'when'"),
    ("text in a vector", [embed_bge, embed_openai], [with_vector("1")], r"no list of numbers for the text 'when'"),
    ("true in a vector", [embed_bge, embed_openai], [with_vector(True)], r"no list of numbers for the text 'when'"),
    ("NaN for a score", [rerank_base], [changed_row(lambda row: {**row, "score": NAN})], r"score of text 1 is nan"),
    ("null for a score", [rerank_base], [changed_row(lambda row: {**row, "score": None})], r"score of text 1 is None"),
    ("an id outside", [rerank_base, rerank_m3], [changed_row(lambda row: {**row, "id": 3})], r"scores the text 3 of 3"),
    ("an id below 0", [rerank_base], [changed_row(lambda row: {**row, "id": -1})], r"scores the text -1 of 3"),
    ("true for an id", [rerank_base], [changed_row(lambda row: {**row, "id": True})], r"scores the text True of 3"),
    ("an id twice", [rerank_base], [changed_row(lambda row: {**row, "id": 0})], r"the text 0 twice"),
    ("scores that are none", [rerank_base], [Said(envelope({"response": "good"}))], r"holds no list of scores"),
    ("an index twice", [embed_openai], [changed_row(lambda row: {**row, "index": 0})], r"indices are not those of 3"),
    ("no vectors", [embed_openai], [Said({"data": "none"})], r"holds no list of vectors"),
    ("another dimension", [embed_bge], [changed_row(lambda row: row[:1000])], r"expected 1024 dimensions"),
    ("two dimensions", [embed_openai], [changed_row(lambda row: {**row, "embedding": [1, 2]})], r"differ in their dim"),
    ("no pooling", [embed_bge], [Said(envelope({"data": [vector(t, 1024) for t in TEXTS]}))], r"does not say how"),
    ("no credit", HAIKU, [Said({"error": {"message": "Your credit balance is too low"}}, 400)], r"credit balance"),
    ("a bad request", HAIKU, [Said({"error": {"message": "minItems is not supported"}}, 400)], r"status 400"),
]

ANSWERS: list[tuple[str, list[Any], list[Fault], Any]] = [
    ("a refusal", HAIKU, [Said(message("", "refusal"))], "refused"),
    ("cut at the limit of tokens", HAIKU, [Said(message('{"ranked": [1', "max_tokens"))], "cut off"),
    ("prose", HAIKU, [Said(message("The second law."))], "unreadable"),
    ("JSON between marks", HAIKU, [Said(message('```json\n{"ranked": []}\n```'))], "unreadable"),
    ("JSON of another kind", HAIKU, [Said(message('{"answer": 1}'))], "unreadable"),
    ("no content", HAIKU, [Said({**message(""), "content": None})], "unreadable"),
    ("a law outside the pool", [rerank_haiku], [Said(message('{"ranked": [3]}'))], "named what was not given"),
    ("a law by its name", [rerank_haiku], [Said(message('{"ranked": ["1"]}'))], "named what was not given"),
    (
        "a family not given",
        [rephrase],
        [Said(message('{"searches": [], "family": "tax"}'))],
        "named what was not given",
    ),
    ("nothing named", [rerank_haiku], [Said(message('{"ranked": []}'))], {"ranked": []}),
    ("named twice, and six", [rerank_haiku], [Said(message('{"ranked": [2, 2, 0, 1]}'))], {"ranked": [2, 0, 1]}),
    (
        "markup in a search",
        [rephrase],
        [Said(message('{"searches": ["<script>alert(1)</script>\\n x"], "family": "permit"}'))],
        {"searches": ["<script>alert(1)</script> x"], "family": "permit"},
    ),
    (
        "five searches, one empty, one twice",
        [rephrase],
        [Said(message('{"searches": ["a", " ", "a", "b", "c", "d"], "family": "none"}'))],
        {"searches": ["a", "b", "c"], "family": None},
    ),
]


@cases(PASSES)
def test_what_passes_ends_in_the_right_result(ask: Any, faults: list[Fault], outcome: Any, server: Loopback) -> None:
    """A fault that passes costs an attempt, and the result is as if it had not been."""
    server.faults = list(faults)
    assert ask(server) == RIGHT[ask]
    assert len(server.asked) == 1 + sum(1 for fault in faults if fault is not reversed_rows)


@cases(FAILS)
def test_what_does_not_pass_is_one_clear_error(ask: Any, faults: list[Fault], outcome: str, server: Loopback) -> None:
    """It says what happened, is asked no oftener than it may help, and names neither token nor account."""
    server.faults = list(faults)
    with pytest.raises(CallError, match=outcome) as failed:
        ask(server)
    assert len(server.asked) == (3 if len(faults) == 9 else 1)
    assert TOKEN not in str(failed.value)
    assert ACCOUNT not in str(failed.value)


@cases(ANSWERS)
def test_answers_of_a_model(ask: Any, faults: list[Fault], outcome: object, server: Loopback) -> None:
    """An answer that cannot be used is an outcome of its own, by its cause, and not asked again."""
    server.faults = list(faults)
    assert ask(server) == outcome
    assert len(server.asked) == 1


@pytest.mark.parametrize("ask", [embed_bge, rerank_haiku])
def test_one_bound_on_a_whole_call(ask: Any, server: Loopback) -> None:
    """A body that drips for ever, each byte in time, ends with the seconds of the call; so do attempts and waits."""
    server.always = Said({"text": "x" * 500}, drip=0.02)
    bounds = replace(QUICK, seconds=0.5, attempts=99)
    begun = time.monotonic()
    with pytest.raises(CallError, match=r"not answered within 0\.5 s") as failed:
        ask(server, bounds=bounds)
    assert failed.value.cause == "timed out"
    assert time.monotonic() - begun < 5


def test_secrets_that_a_service_repeats_are_taken_out(server: Loopback) -> None:
    """A service that repeats the token and the account in its error does not bring them into a message."""
    server.always = Said({"errors": [{"message": f"no {TOKEN} for {ACCOUNT}"}]}, 403)
    for ask in EVERYBODY:
        with pytest.raises(CallError, match="no … for") as failed:
            ask(server)
        assert TOKEN not in str(failed.value)


def test_the_token_goes_where_it_belongs(server: Loopback) -> None:
    """Each provider gets its key in the header it wants, and no other header or body holds it."""
    for ask in EVERYBODY:
        ask(server)
    held = [name for headers in server.headers for name, value in headers.items() if TOKEN in value]
    assert len(held) == len(EVERYBODY)
    assert {name.lower() for name in held} <= {"authorization", "x-api-key"}
    assert TOKEN not in json.dumps([body for _, body in server.asked])


def test_101_texts_are_two_requests(server: Loopback) -> None:
    """No request holds more than 100 texts, and the vectors keep the order of the texts."""
    texts = [f"text {at}" for at in range(101)]
    assert embed_bge(server, texts) == [vector(text, 1024) for text in texts]
    assert embed_openai(server, texts) == [vector(text, 6) for text in texts]
    assert sorted(len(asked_texts(body)) for _, body in server.asked) == [1, 1, 100, 100]


@pytest.mark.parametrize("status", [400, 413])
@pytest.mark.parametrize(("ask", "size"), [(embed_bge, 1024), (embed_openai, 6)])
def test_a_batch_that_is_too_long_is_halved(ask: Any, size: int, status: int, server: Loopback) -> None:
    """A service that takes 3 texts at once embeds 20 all the same."""
    texts = [f"text {at}" for at in range(20)]

    def fault(body: Body, good: object) -> Said:
        too_many = len(asked_texts(body)) > 3
        return Said({}, status) if too_many else Said(good)

    server.always = fault
    assert ask(server, texts) == [vector(text, size) for text in texts]


@pytest.mark.parametrize("ask", [embed_bge, embed_openai])
def test_a_text_that_fails_the_others_is_named(ask: Any, server: Loopback) -> None:
    """One long text among 50 is found by halving, named, and the same request is never sent twice."""
    texts = [f"text {at}" for at in range(50)]
    texts[17] = "an endless text"

    def fault(body: Body, good: object) -> Said:
        return Said({}, 413) if texts[17] in asked_texts(body) else Said(good)

    server.always = fault
    with pytest.raises(CallError, match="the text 'an endless text' cannot be embedded: status 413"):
        ask(server, texts)
    sent = [json.dumps(body) for _, body in server.asked]
    assert len(sent) == len(set(sent)) < 20


def test_two_poolings_cannot_be_compared(server: Loopback) -> None:
    """Two batches of one request that were pooled differently are an error."""

    def fault(body: Body, good: Any) -> Said:
        return Said(envelope({**good["result"], "pooling": "mean" if len(body["text"]) == 1 else "cls"}))

    server.always = fault
    with pytest.raises(CallError, match="vectors pooled by cls and by mean cannot be compared"):
        embed_bge(server, [f"text {at}" for at in range(101)])


def test_calls_under_way_are_bounded(server: Loopback) -> None:
    """No more calls are under way than the bounds say, and all of them are made."""
    server.always = lambda body, good: Said(good, silence=0.02)
    stage = RERANKERS["bge-reranker-base"]
    calls = [stage.call(f"question {at}", LAWS) for at in range(20)]
    found = ask_all(stage, calls, environment=environment(server), bounds=replace(QUICK, at_once=3))
    assert len(found.replies) == 20
    assert 1 < server.most_at_once <= 3


def test_a_rate_is_kept(server: Loopback) -> None:
    """Attempts begin evenly spaced: 12 at 3,000 a minute take 11 gaps of 20 ms."""
    stage = RERANKERS["bge-reranker-base"]
    calls = [stage.call(f"question {at}", LAWS) for at in range(12)]
    begun = time.monotonic()
    ask_all(stage, calls, environment=environment(server), bounds=replace(QUICK, a_minute=3_000))
    assert time.monotonic() - begun >= 11 * 0.02


@pytest.mark.parametrize(
    ("fault", "most"), [(Said(failure(3036), 429), 2), (Said({}, 401), 2), (Said({}, 400), 12)], ids=str
)
def test_no_more_is_asked_where_nothing_passes(fault: Said, most: int, server: Loopback) -> None:
    """A spent allowance or a wrong token ends the asking; so do twelve failures in a row. What was got is kept.

    Two calls are out at once: one may be under way when the end is seen, and one failure may overtake a good reply.
    """
    stage = RERANKERS["bge-reranker-base"]
    calls = [stage.call(f"question {at}", LAWS) for at in range(40)]
    server.faults = [lambda body, good: Said(good)] * 5
    server.always = fault
    found = ask_all(stage, calls, environment=environment(server), bounds=replace(QUICK, at_once=2))
    assert len(found.replies) == 5
    assert found.stopped is not None
    assert 1 <= len(found.failed) <= most + 2
    assert len(server.asked) <= 5 + most + 2


@pytest.mark.parametrize("stage", [*RERANKERS.values(), *REPHRASERS.values()], ids=lambda each: each.name)
def test_without_credentials_a_stage_is_not_there(stage: LiveStage) -> None:
    """One line says what is missing from the environment."""
    with pytest.raises(ModelError, match=r"^[^\n]* needs? [A-Z_]+( and [A-Z_]+)? in the environment$"):
        ask_all(stage, [stage.call("q", ["t"])], environment={})


def test_an_address_that_is_none(server: Loopback) -> None:
    """A mistyped address is said at once, and not tried again and again."""
    with pytest.raises(CallError, match="is no address"):
        openai_compatible.load("m", Server("localhost:1", ""), QUICK)[0]("query", ["a"])


def test_nobody_there(server: Loopback) -> None:
    """A refused connection is tried as often as the bounds say."""
    with pytest.raises(CallError, match="failed 3 times, at last: ConnectError"):
        openai_compatible.load("m", Server("http://127.0.0.1:9", ""), QUICK)[0]("query", ["a"])


def test_the_request_of_each_stage(server: Loopback) -> None:
    """What is sent: texts never cut, all scores asked for, a schema without limits that are refused."""
    for ask in EVERYBODY:
        ask(server)
    bge, openai, base, m3, haiku, rephraser = (body for _, body in server.asked)
    paths = [path for path, _ in server.asked]
    assert paths[0] == f"/client/v4/accounts/{ACCOUNT}/ai/run/@cf/baai/bge-m3"
    assert paths[1] == "/v1/embeddings"
    assert paths[2].endswith("/ai/run/@cf/baai/bge-reranker-base")
    assert bge == {"text": TEXTS, "truncate_inputs": False}
    assert openai == {"model": "some-model", "input": TEXTS, "encoding_format": "float"}
    contexts = [{"text": law} for law in LAWS]
    assert base == {"query": "how far", "contexts": contexts, "top_k": 3}
    assert m3 == {"query": "how far", "contexts": contexts}
    for body in (haiku, rephraser):
        assert body["output_config"]["effort"] == "low"
        assert "temperature" not in body
        assert not {"minimum", "maximum", "minItems"} & set(json.dumps(body["output_config"]).split('"'))
    assert haiku["messages"][0]["content"].startswith("Question: how far\n\nLaws:\n\n[0] Park 15 feet")
    assert rephraser["output_config"]["format"]["schema"]["properties"]["family"]["enum"] == [
        "none",
        "renewal",
        "permit",
    ]


def test_replies_as_scores_and_searches(server: Loopback) -> None:
    """Haiku's names become 5, 4, … and minus infinity; a rephraser's reply its searches."""
    stage = RERANKERS["claude-haiku-4-5"]
    found = asking(stage, server)
    assert scores(stage.call("how far", LAWS), found) == [4.0, 5.0, -np.inf]
    assert found.usage == {"input": 900, "output": 12}
    assert searches(asking(REPHRASERS["claude-haiku-4-5"], server)).searches == ("distance from a fire hydrant",)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("7", 7),
        ("0.5", 0.5),
        ("-3", 0),
        ("soon", None),
        ("nan", None),
        ("Sun, 29 Nov 2026 12:00:30 GMT", 30),
        ("Sun, 29 Nov 2026 11:00:00 GMT", 0),
    ],
)
def test_retry_after(value: str | None, seconds: float | None) -> None:
    """Seconds or a date; what is neither is as if it were not there."""
    assert retry_after(value, datetime(2026, 11, 29, 12, tzinfo=UTC)) == seconds


def test_a_program_fault_is_not_taken_for_a_call_that_failed(server: Loopback) -> None:
    """What nobody foresaw comes out as it is, and does not hang."""

    def broken(call: object, reply: object) -> None:
        raise KeyError("a fault of the program")

    stage = RERANKERS["bge-reranker-base"]
    with pytest.raises(KeyError):
        ask_all(stage, [stage.call("q", LAWS)], broken, environment=environment(server), bounds=QUICK)
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()


def test_the_documents_table_is_this_one() -> None:
    """docs/live.md has a row for each fault, in this order."""
    text = (Path(__file__).parents[2] / "docs" / "live.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1].strip() for line in text.partition("## When a service")[2].splitlines() if "|" in line]
    heads = {"---", "a fault that passes", "a fault that stays", "an answer of a model"}
    assert [row for row in rows if row not in heads] == [name for name, *_ in (*PASSES, *FAILS, *ANSWERS)]
