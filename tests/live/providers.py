"""Each provider asked as `record` asks it, at a server on loopback: its replies go through the store, or nowhere."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from evals.recording.asking import Recorder
from retrieval.live import REPHRASERS, RERANKERS, LiveStage
from retrieval.models import Embedder, embedder, openai_compatible, workers_ai
from retrieval.models.calls import Bounds
from retrieval.models.openai_compatible import Server
from retrieval.models.workers_ai import Account
from retrieval.recordings import Vectors, quantise
from retrieval.replies import Call, Replies, Reply
from tests.live.loopback import Loopback, vector

TOKEN, ACCOUNT = "token-that-nobody-may-see", "account-that-nobody-may-see"
QUICK = Bounds(seconds=4.0, read=0.5, attempts=3, first_wait=0.01, a_minute=60_000)
LAWS = ("Park 15 feet from a hydrant, or further.", "Stop at red.", "Yield to a bus that signals.")
TEXTS = ["how far", "when", "where"]
DAY = "2026-11-29"

Ask = Callable[[Loopback, Path], object]


def environment(server: Loopback) -> dict[str, str]:
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


def bge(server: Loopback, bounds: Bounds = QUICK) -> Embedder:
    """bge-m3 at the server."""
    account = Account.of_environment(environment(server))
    return replace(embedder("bge-m3"), load=partial(workers_ai.load, account, bounds))


def openai(server: Loopback, bounds: Bounds = QUICK) -> Embedder:
    """A model of an OpenAI-compatible server."""
    asked = Server.of_environment(environment(server))
    return replace(embedder("openai/m"), load=partial(openai_compatible.load, "m", asked, bounds))


def embedded(model: Embedder, folder: Path, texts: Sequence[str] = TEXTS) -> object:
    """Vectors beside what the folder holds, kept in its cache."""
    return Vectors(model, folder / "recorded", folder / "cache.jsonl", ask=True).embed("query", texts).tolist()


def embed_bge(server: Loopback, folder: Path) -> object:
    """Vectors of bge-m3."""
    return embedded(bge(server), folder)


def embed_openai(server: Loopback, folder: Path) -> object:
    """Vectors of a model of an OpenAI-compatible server."""
    return embedded(openai(server), folder)


def embed_bge_beside_mean(server: Loopback, folder: Path) -> object:
    """Vectors of bge-m3, where such are recorded that were pooled by the mean."""
    before = Vectors(bge(server), None, None)
    before.pooling = "mean"
    before.write(folder / "recorded" / "questions.jsonl", [])
    return embedded(bge(server), folder)


def embed_openai_beside_seven(server: Loopback, folder: Path) -> object:
    """Vectors of an OpenAI-compatible server, where such of seven dimensions are recorded."""
    before = Vectors(openai(server), None, None)
    before.dimensions = 7
    before.write(folder / "recorded" / "questions.jsonl", [])
    return embedded(openai(server), folder)


def call_of(stage: LiveStage) -> Call:
    """One call of a stage."""
    return stage.call("how far", LAWS if stage.stage == "rerank" else ("renewal", "permit"))


def recorded(stage: LiveStage, folder: Path, bounds: Bounds = QUICK) -> Reply:
    """The reply to one call of a stage, as it stands in the folder; an error where there is none.

    Credentials are those of the process's environment.
    """
    call = call_of(stage)
    Recorder(Replies(folder), DAY, bounds=bounds)(stage, [call])
    found = Replies(folder).get(call)
    assert found is not None
    return found


def rerank_base(server: Loopback, folder: Path) -> object:
    """Scores of bge-reranker-base."""
    return recorded(RERANKERS["bge-reranker-base"], folder).content


def rerank_m3(server: Loopback, folder: Path) -> object:
    """Scores of bge-m3."""
    return recorded(RERANKERS["bge-m3"], folder).content


def rerank_haiku(server: Loopback, folder: Path) -> object:
    """The laws that Haiku names, or the cause for which its answer cannot be used."""
    reply = recorded(RERANKERS["claude-haiku-4-5"], folder)
    return reply.failed or reply.content


def rephrase(server: Loopback, folder: Path) -> object:
    """The searches of the rephraser, or the cause for which its answer cannot be used."""
    reply = recorded(REPHRASERS["claude-haiku-4-5"], folder)
    return reply.failed or reply.content


RIGHT: Mapping[Ask, object] = {
    embed_bge: quantise([vector(text, 1024) for text in TEXTS], TEXTS).tolist(),
    embed_openai: quantise([vector(text, 6) for text in TEXTS], TEXTS).tolist(),
    rerank_base: {"scores": [len(law) / 1000 for law in LAWS]},
    rerank_m3: {"scores": [len(law) / 1000 for law in LAWS]},
    rerank_haiku: {"ranked": [1, 0]},
    rephrase: {"searches": ["distance from a fire hydrant"], "family": None},
}
EVERYBODY = list(RIGHT)
CLOUDFLARE: list[Ask] = [embed_bge, rerank_base, rerank_m3]
HAIKU: list[Ask] = [rerank_haiku, rephrase]

NAMES: Sequence[tuple[str, Sequence[Ask]]] = [
    ("all", EVERYBODY),
    ("Workers AI", CLOUDFLARE),
    ("Workers AI's rerankers", [rerank_base, rerank_m3]),
    ("Anthropic", HAIKU),
    ("bge-m3", [embed_bge]),
    ("bge-m3", [embed_bge_beside_mean]),
    ("OpenAI-compatible", [embed_openai]),
    ("OpenAI-compatible", [embed_openai_beside_seven]),
    ("bge-reranker-base", [rerank_base]),
    ("bge-m3 as a reranker", [rerank_m3]),
    ("Haiku as a reranker", [rerank_haiku]),
    ("the rephraser", [rephrase]),
]


def named(providers: Sequence[Ask]) -> str:
    """Providers in words: the largest groups that they hold whole."""
    left, said = list(providers), []
    for name, group in NAMES:
        if group and all(each in left for each in group):
            said.append(name)
            left = [each for each in left if each not in group]
    return ", ".join(said)
