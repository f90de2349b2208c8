"""The stages that ask a model over a network: which there are, how a call of each looks, and many calls asked at once.

Nothing heavy is imported and nobody is asked before a stage is opened.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from retrieval import settings
from retrieval.errors import RerankError
from retrieval.models import claude, workers_ai
from retrieval.models.calls import Bounds, CallError
from retrieval.rephrase import Rephrased, rephrase_request, rephrased
from retrieval.replies import Call, Reply, Stage
from retrieval.rerank import haiku_request, haiku_scores, named_laws

Answer = Callable[[Call], Awaitable[Reply]]
Environment = Mapping[str, str] | None

FAILURES_IN_A_ROW = 12
SECRET = 12  # characters; a shorter key is a word that stands in replies


@dataclass(frozen=True)
class LiveStage:
    """A model in one of the stages. `version` is its provider's name for it; `request` all that is sent beside texts.

    opened: given an environment (None: the process's) and bounds, a context whose value answers calls. ModelError
    where the environment holds no credentials.
    """

    stage: Stage
    name: str
    version: str
    request: Mapping[str, Any] = field(hash=False)
    bounds: Bounds
    opened: Callable[[Environment, Bounds], AbstractAsyncContextManager[Answer]]

    def call(self, question: str, texts: Sequence[str]) -> Call:
        """The call for a question: texts are the pool's laws, or the keys of the state's families of page rows."""
        return Call(self.stage, self.version, self.request, question, tuple(texts))


@asynccontextmanager
async def _scoring(version: str, environment: Environment, bounds: Bounds) -> AsyncIterator[Answer]:
    account = workers_ai.Account.of_environment(environment)
    async with workers_ai.reranking(version, account, bounds) as ask:

        async def answer(call: Call) -> Reply:
            return Reply({"scores": await ask(call.question, call.texts)})

        yield answer


@asynccontextmanager
async def _haiku(
    request: Callable[[Call], Mapping[str, Any]],
    read: Callable[[Any, Call], dict[str, Any]],
    environment: Environment,
    bounds: Bounds,
) -> AsyncIterator[Answer]:
    access = claude.Access.of_environment(environment)
    async with claude.messages(access, bounds) as create:

        async def answer(call: Call) -> Reply:
            message = await create(request(call))
            try:
                reply = Reply(read(message, call), claude.usage(message))
            except RerankError as error:
                reply = Reply(usage=claude.usage(message), failed=error.cause, message=str(error))
            if len(access.key) >= SECRET and access.key in f"{reply.content} {reply.message}":
                raise CallError("unreadable", "the reply repeats the key that it was asked with, and is not kept")
            return reply

        yield answer


def _read_ranked(message: Any, call: Call) -> dict[str, Any]:
    return {"ranked": named_laws(message, len(call.texts))}


def _read_rephrased(message: Any, call: Call) -> dict[str, Any]:
    found = rephrased(message, call.texts)
    return {"searches": list(found.searches), "family": found.family}


def _claude_stage(stage: Stage, model: str) -> LiveStage:
    make, read = {
        "rerank": (haiku_request, _read_ranked),
        "rephrase": (rephrase_request, _read_rephrased),
    }[stage]

    def request(call: Call) -> dict[str, Any]:
        return make(call.model, call.question, call.texts)

    return LiveStage(
        stage, model, model, make(model, "QUESTION", ("TEXT",)), claude.BOUNDS, partial(_haiku, request, read)
    )


def _workers_ai_stage(name: str) -> LiveStage:
    version = workers_ai.VENDOR + name
    request = {"service": "workers-ai", "top_k": "all" if version != workers_ai.EMBEDDER else None}
    return LiveStage("rerank", name, version, request, workers_ai.RERANKING, partial(_scoring, version))


RERANKERS = {
    name: _workers_ai_stage(name) if name in settings.WORKERS_AI else _claude_stage("rerank", name)
    for name in settings.RERANKERS
}
REPHRASERS = {name: _claude_stage("rephrase", name) for name in settings.REPHRASERS}


def scores(call: Call, reply: Reply) -> list[float]:
    """The scores of a reranker's reply, one a text; RerankError with the cause where it cannot be used."""
    if reply.failed:
        raise RerankError(reply.failed, reply.message)
    if "ranked" in reply.content:
        return haiku_scores(reply.content["ranked"], len(call.texts))
    return [float(score) for score in reply.content["scores"]]


def searches(reply: Reply) -> Rephrased:
    """The searches and the family of a rephraser's reply; none of either where it cannot be used."""
    if reply.failed:
        return Rephrased()
    return Rephrased(tuple(reply.content["searches"]), reply.content["family"])


def _given_up(error: CallError, in_a_row: int) -> CallError | None:
    """Why no more is asked after so many failures, the last of which this is; None where more may be."""
    if in_a_row < FAILURES_IN_A_ROW:
        return None
    return CallError(error.cause, f"{in_a_row} calls failed in a row, at last: {error}", stop=True)


@dataclass
class Asked:
    """What came of asking: replies by key, what failed for want of an answer, and why no more was asked, if so."""

    replies: dict[str, Reply] = field(default_factory=dict)
    failed: dict[str, CallError] = field(default_factory=dict)
    stopped: CallError | None = None


def ask_all(
    stage: LiveStage,
    calls: Iterable[Call],
    answered: Callable[[Call, Reply], None] = lambda call, reply: None,
    known: Callable[[Call], Reply | None] = lambda call: None,
    environment: Environment = None,
    bounds: Bounds | None = None,
) -> Asked:
    """Ask every distinct call, so many at once as the bounds allow; `answered` is told each reply as it comes.

    known: looked at before each call, for what another process has got meanwhile. Where an error says that nothing
    will pass, or twelve calls in a row fail, no more are begun; those under way are waited for. ModelError where
    there are no credentials.
    """
    found = Asked()
    waiting = iter({call.key: call for call in calls}.values())
    limits = bounds or stage.bounds
    in_a_row = 0

    async def work(answer: Answer) -> None:
        nonlocal in_a_row
        for call in waiting:
            reply = known(call)
            if reply is None:
                try:
                    reply = await answer(call)
                except CallError as error:
                    found.failed[call.key] = error
                    in_a_row += 1
                    if found.stopped is None:
                        found.stopped = error if error.stop else _given_up(error, in_a_row)
                else:
                    in_a_row = 0
                    answered(call, reply)
            if reply is not None:
                found.replies[call.key] = reply
            if found.stopped is not None:
                return

    async def run() -> None:
        async with stage.opened(environment, limits) as answer, asyncio.TaskGroup() as group:
            for _ in range(limits.at_once):
                group.create_task(work(answer))

    try:
        asyncio.run(run())
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None
    return found
