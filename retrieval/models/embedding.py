"""Embedding over a network: batches side by side, vectors checked, and a text that cannot be embedded named."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import numpy as np

from retrieval.models.calls import Bounds, CallError, PartError, TooLongError, together

LARGEST = sys.float_info.max  # JSON's whole numbers can be larger

Vector = list[float]
AskBatch = Callable[[Sequence[str]], Awaitable[list[Vector]]]


async def embed_all(ask: AskBatch, texts: Sequence[str], size: int, bounds: Bounds) -> np.ndarray[Any, Any]:
    """The vectors (n, d) of n texts, asked for `size` at a time, so many batches at once as the bounds allow.

    A batch that is refused as too long is halved until it passes or one text is left, which is named. Where a batch
    failed and others were embedded: PartError, with those.
    """
    room = asyncio.Semaphore(bounds.at_once)

    async def batch(part: Sequence[str]) -> list[Vector]:
        try:
            async with room:
                return await ask(part)
        except TooLongError as error:
            if len(part) == 1:
                raise CallError("threw", f"the text {part[0][:80]!r} cannot be embedded: {error}") from None
        middle = len(part) // 2
        return [*await batch(part[:middle]), *await batch(part[middle:])]

    done: dict[int, list[Vector]] = {}

    async def part(at: int) -> None:
        done[at] = await batch(texts[at : at + size])

    try:
        await together(map(part, range(0, len(texts), size)))
    except CallError as error:
        if not done:
            raise
        kept = [text for at in sorted(done) for text in texts[at : at + size]]
        raise PartError(error, kept, _together(done)) from None
    return _together(done)


def _together(parts: Mapping[int, list[Vector]]) -> np.ndarray[Any, Any]:
    found = [vector for at in sorted(parts) for vector in parts[at]]
    if len({len(vector) for vector in found}) > 1:
        raise CallError("threw", "the vectors of one request differ in their dimensions")
    return np.asarray(found, dtype=np.float64)


def checked(vectors: object, texts: Sequence[str]) -> list[Vector]:
    """A reply's vectors: one a text, each of finite numbers. CallError with what is wrong and with the text."""
    if not isinstance(vectors, list) or len(vectors) != len(texts):
        found = len(vectors) if isinstance(vectors, list) else "no list of"
        raise CallError("wrong number of vectors", f"asked to embed {len(texts)} texts, given {found} vectors")
    for vector, text in zip(vectors, texts, strict=True):
        if not isinstance(vector, list) or not vector or not all(type(each) in (int, float) for each in vector):
            raise CallError("threw", f"the vector is no list of numbers for the text {text[:80]!r}")
        if not all(abs(each) <= LARGEST for each in vector):
            raise CallError("not a number", f"the vector is not finite for the text {text[:80]!r}")
    return vectors
