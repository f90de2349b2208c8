"""What calls take: how many, about how many tokens, and about how many dollars. Asks nobody.

Prices are dollars a million tokens: those of Cloudflare's page "Workers AI pricing" and of Anthropic's pages of its
models, as of October 2026. Nothing here has seen a bill.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from retrieval.live import LiveStage
from retrieval.replies import Call, Reply

LISTED = "dollars are an estimate from the vendors' price lists of October 2026 (evals/recording/costs.py)"

CHARACTERS_A_TOKEN = 4  # of English; Spanish takes some more

# Input, output; up to 100,000 tokens a call.
PRICES = {
    "@cf/baai/bge-m3": (0.012, 0.0),
    "@cf/baai/bge-reranker-base": (0.003, 0.0),
    "claude-haiku-4-5": (1.0, 5.0),
    "claude-haiku-5-5": (0.1, 0.5),
}
SAME_TEXT = {"claude-haiku-5-5": 1.3}  # its tokens for what is one token elsewhere
WRITTEN = {"rerank": 20, "rephrase": 60}  # tokens of a usual reply


@dataclass(frozen=True)
class Cost:
    """Calls, tokens in and out, and dollars; None where no price is known. counted: the provider told the tokens."""

    calls: int
    tokens_in: int
    tokens_out: int
    dollars: float | None
    counted: bool = False

    def __str__(self) -> str:
        about = "" if self.counted else "about "
        tokens = f"{about}{self.tokens_in:,} tokens in" + (f" and {self.tokens_out:,} out" if self.tokens_out else "")
        money = "at a price not known here" if self.dollars is None else f"${self.dollars:,.4f}"
        return f"{self.calls:,} calls, {tokens}, {'about ' if self.dollars is not None else ''}{money}"


def tokens(characters: int, version: str) -> int:
    """About how many tokens a text of so many characters is to a model."""
    return math.ceil(characters / CHARACTERS_A_TOKEN * SAME_TEXT.get(version, 1.0))


def priced(version: str, calls: int, tokens_in: int, tokens_out: int, counted: bool = False) -> Cost:
    """The cost of calls to a model by their tokens."""
    price = PRICES.get(version)
    dollars = None if price is None else (tokens_in * price[0] + tokens_out * price[1]) / 1e6
    return Cost(calls, tokens_in, tokens_out, dollars, counted)


def expected(stage: LiveStage, calls: Iterable[Call]) -> Cost:
    """What these calls would take, each once."""
    distinct = {call.key: call for call in calls}.values()
    sent = [sum(map(len, (call.question, *call.texts))) for call in distinct]
    return guessed(stage, sent)


def guessed(stage: LiveStage, characters: Iterable[int]) -> Cost:
    """What calls would take that send so many characters each, beside the prompt."""
    prompt = len(str(dict(stage.request))) if "system" in stage.request else 0
    sent = list(characters)
    count = sum(tokens(each + prompt, stage.version) for each in sent)
    written = WRITTEN[stage.stage] * len(sent) if prompt else 0
    return priced(stage.version, len(sent), count, written)


def taken(stage: LiveStage, asked: Iterable[tuple[Call, Reply]]) -> Cost:
    """What calls took: the tokens that the provider counted, or about how many where it does not say."""
    asked = list(asked)
    usages: list[Mapping[str, int]] = [reply.usage for _, reply in asked if reply.usage]
    if len(usages) < len(asked) or not asked:
        return expected(stage, [call for call, _ in asked])
    counts = [sum(usage.get(name, 0) for usage in usages) for name in ("input", "output")]
    return priced(stage.version, len(asked), counts[0], counts[1], counted=True)


def embedding(version: str, texts: Iterable[str], a_request: int) -> Cost:
    """What embedding these texts over a network would take."""
    texts = list(texts)
    count = sum(tokens(len(text), version) for text in texts)
    return priced(version, math.ceil(len(texts) / a_request), count, 0)
