"""What is sent: the shape of each request, how many texts it holds, where secrets go and where they do not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.errors import ModelError, NearEnoughError
from retrieval.live import REPHRASERS, RERANKERS, LiveStage, ask_all, scores, searches
from retrieval.models import Embedder, claude, openai_compatible, workers_ai
from retrieval.models.calls import CallError
from retrieval.models.openai_compatible import Server
from retrieval.recordings import quantise
from tests.live.loopback import Body, Loopback, Said, asked_texts, envelope, message, vector
from tests.live.providers import (
    ACCOUNT,
    EVERYBODY,
    LAWS,
    QUICK,
    TEXTS,
    TOKEN,
    bge,
    call_of,
    embedded,
    environment,
    openai,
    recorded,
)

Model = Callable[[Loopback], Embedder]


@pytest.fixture(autouse=True)
def _credentials(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(server).items():
        monkeypatch.setenv(name, value)


def integers(texts: list[str], dimensions: int) -> list[list[int]]:
    """The vectors of these texts, as they are recorded."""
    found: list[list[int]] = quantise([vector(text, dimensions) for text in texts], texts).tolist()
    return found


def test_the_request_of_each_stage(server: Loopback, tmp_path: Path) -> None:
    """What is sent: texts never cut, all scores asked for, a schema without limits that are refused."""
    for at, ask in enumerate(EVERYBODY):
        ask(server, tmp_path / str(at))
    asked_bge, asked_openai, base, m3, haiku, rephraser = (body for _, body in server.asked)
    paths = [path for path, _ in server.asked]
    assert paths[0] == f"/client/v4/accounts/{ACCOUNT}/ai/run/@cf/baai/bge-m3"
    assert paths[1] == "/v1/embeddings"
    assert paths[2].endswith("/ai/run/@cf/baai/bge-reranker-base")
    assert asked_bge == {"text": TEXTS, "truncate_inputs": False}
    assert asked_openai == {"model": "m", "input": TEXTS, "encoding_format": "float"}
    contexts = [{"text": law} for law in LAWS]
    assert base == {"query": "how far", "contexts": contexts, "top_k": 3}
    assert m3 == {"query": "how far", "contexts": contexts}
    for body in (haiku, rephraser):
        assert body["output_config"]["format"]["type"] == "json_schema"
        assert "temperature" not in body
        assert not {"minimum", "maximum", "minItems"} & set(json.dumps(body["output_config"]).split('"'))
    assert haiku["messages"][0]["content"].startswith("Question: how far\n\nLaws:\n\n[0] Park 15 feet")
    assert rephraser["output_config"]["format"]["schema"]["properties"]["family"]["enum"] == [
        "none",
        "renewal",
        "permit",
    ]


@pytest.mark.parametrize(("model", "effort"), [("claude-haiku-4-5", None), ("claude-haiku-5-5", "low")])
def test_effort_is_told_to_those_that_take_it(model: str, effort: str | None, server: Loopback, tmp_path: Path) -> None:
    """Haiku 4.5 refuses a request that names an effort."""
    for at, stages in enumerate((RERANKERS, REPHRASERS)):
        recorded(stages[model], tmp_path / str(at))
    assert [body["output_config"].get("effort") for _, body in server.asked] == [effort, effort]


@pytest.mark.parametrize(("model", "size"), [(bge, 1024), (openai, 6)])
def test_101_texts_are_two_requests(model: Model, size: int, server: Loopback, tmp_path: Path) -> None:
    """No request holds more than 100 texts, and the vectors keep the order of the texts."""
    texts = [f"text {at}" for at in range(101)]
    assert embedded(model(server), tmp_path, texts) == integers(texts, size)
    assert sorted(len(asked_texts(body)) for _, body in server.asked) == [1, 100]


@pytest.mark.parametrize("status", [400, 413])
@pytest.mark.parametrize(("model", "size"), [(bge, 1024), (openai, 6)])
def test_a_batch_that_is_too_long_is_halved(
    model: Model, size: int, status: int, server: Loopback, tmp_path: Path
) -> None:
    """A service that takes 3 texts at once embeds 10 all the same."""
    texts = [f"text {at}" for at in range(10)]
    server.always = lambda body, good: Said({}, status) if len(asked_texts(body)) > 3 else Said(good)
    assert embedded(model(server), tmp_path, texts) == integers(texts, size)


@pytest.mark.parametrize("model", [bge, openai])
def test_a_text_that_fails_the_others_is_named(model: Model, server: Loopback, tmp_path: Path) -> None:
    """One long text among 50 is found by halving, named, and the same request is never sent twice."""
    texts = [f"text {at}" for at in range(50)]
    texts[17] = "an endless text"
    server.always = lambda body, good: Said({}, 413) if texts[17] in asked_texts(body) else Said(good)
    with pytest.raises(CallError, match="the text 'an endless text' cannot be embedded: status 413"):
        embedded(model(server), tmp_path, texts)
    sent = [json.dumps(body) for _, body in server.asked]
    assert len(sent) == len(set(sent)) < 20


def test_two_poolings_cannot_be_compared(server: Loopback, tmp_path: Path) -> None:
    """Two batches of one request that were pooled differently are an error."""

    def fault(body: Body, good: Any) -> Said:
        return Said(envelope({**good["result"], "pooling": "mean" if len(body["text"]) == 1 else "cls"}))

    server.always = fault
    with pytest.raises(CallError, match="vectors pooled by cls and by mean cannot be compared"):
        embedded(bge(server), tmp_path, [f"text {at}" for at in range(101)])


def test_secrets_that_a_service_repeats_are_taken_out(server: Loopback, tmp_path: Path) -> None:
    """A service that repeats the token and the account in its error does not bring them into a message."""
    server.always = Said({"errors": [{"message": f"no {TOKEN} for {ACCOUNT}"}]}, 403)
    for ask in EVERYBODY:
        with pytest.raises(NearEnoughError, match="no … for") as failed:
            ask(server, tmp_path)
        assert TOKEN not in str(failed.value)


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        (RERANKERS["claude-haiku-4-5"], f"no JSON: {TOKEN}"),
        (REPHRASERS["claude-haiku-4-5"], json.dumps({"searches": [f"park {TOKEN}"], "family": "none"})),
    ],
    ids=["in a failure", "in a search"],
)
def test_a_reply_that_repeats_the_key_is_not_kept(
    stage: LiveStage, said: str, server: Loopback, tmp_path: Path
) -> None:
    """Neither as a reply nor as the message of an answer that cannot be used."""
    server.always = Said(message(said))
    with pytest.raises(NearEnoughError, match="the reply repeats the key") as failed:
        recorded(stage, tmp_path)
    assert TOKEN not in str(failed.value)
    assert not list(tmp_path.rglob("*.jsonl"))


def test_the_token_goes_where_it_belongs(server: Loopback, tmp_path: Path) -> None:
    """Each provider gets its key in the header it wants, and no other header or body holds it."""
    for at, ask in enumerate(EVERYBODY):
        ask(server, tmp_path / str(at))
    held = [name for headers in server.headers for name, value in headers.items() if TOKEN in value]
    assert len(held) == len(EVERYBODY)
    assert {name.lower() for name in held} <= {"authorization", "x-api-key"}
    assert TOKEN not in json.dumps([body for _, body in server.asked])


@pytest.mark.parametrize("stage", [*RERANKERS.values(), *REPHRASERS.values()], ids=lambda each: each.name)
def test_without_credentials_a_stage_is_not_there(stage: LiveStage) -> None:
    """One line says what is missing from the environment."""
    with pytest.raises(ModelError, match=r"^[^\n]* needs? [A-Z_]+( and [A-Z_]+)? in the environment$"):
        ask_all(stage, [stage.call("q", ["t"])], environment={})


@pytest.mark.parametrize("wrong", [f"{TOKEN} {TOKEN}", f"{TOKEN}\n{TOKEN}", f"“{TOKEN}”"])
@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("CLOUDFLARE_API_TOKEN", workers_ai.Account.of_environment),
        ("CLOUDFLARE_ACCOUNT_ID", workers_ai.Account.of_environment),
        ("OPENAI_API_KEY", Server.of_environment),
        ("ANTHROPIC_API_KEY", claude.Access.of_environment),
    ],
)
def test_a_key_that_is_none(wrong: str, name: str, read: Callable[[Any], object], server: Loopback) -> None:
    """Is told by its variable's name, and not shown; space around a good one, a file's line break, does not count."""
    good = environment(server)
    assert read({**good, name: f" {good[name]}\n"}) == read(good)
    with pytest.raises(ModelError, match=f"^{name} in the environment holds a character that no key does") as refused:
        read({**good, name: wrong})
    assert TOKEN not in str(refused.value)


def test_an_account_stays_in_its_place_of_the_address(
    server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slash or a question mark in it leads to no other address."""
    monkeypatch.setenv("CLOUDFLARE_ACCOUNT_ID", "a/../b?c")
    recorded(RERANKERS["bge-m3"], tmp_path)
    assert server.asked[0][0] == "/client/v4/accounts/a%2F..%2Fb%3Fc/ai/run/@cf/baai/bge-m3"


def test_an_address_that_is_none() -> None:
    """A mistyped address is said at once, and not tried again and again."""
    with pytest.raises(CallError, match="is no address"):
        openai_compatible.load("m", Server("localhost:1", ""), QUICK)[0]("query", ["a"])


def test_replies_as_scores_and_searches(server: Loopback, tmp_path: Path) -> None:
    """Haiku's names become 5, 4, … and minus infinity; a rephraser's reply its searches."""
    stage = RERANKERS["claude-haiku-4-5"]
    found = recorded(stage, tmp_path)
    assert scores(call_of(stage), found) == [4.0, 5.0, -np.inf]
    assert found.usage == {"input": 900, "output": 12}
    assert searches(recorded(REPHRASERS["claude-haiku-4-5"], tmp_path)).searches == ("distance from a fire hydrant",)


def test_tokens_that_are_no_numbers_are_not_counted(server: Loopback, tmp_path: Path) -> None:
    """A reply stands whatever is said of its tokens."""
    server.always = Said({**message('{"ranked": [0]}'), "usage": {"input_tokens": "many", "output_tokens": None}})
    found = recorded(RERANKERS["claude-haiku-4-5"], tmp_path)
    assert (found.content, found.usage) == ({"ranked": [0]}, {"input": 0, "output": 0})
