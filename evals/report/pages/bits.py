"""Whole numbers as a page's script unpacks them (`scripts/unpack.js`): base64 of as few bits a number as they take."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_BITS = 24

Array = NDArray[Any]
Packed = dict[str, int | str]


def pack(values: Sequence[int] | Array) -> Packed:
    """Whole numbers in base64, as many bits each as the largest takes, the lowest first.

    ValueError for one below 0 or of more than 24 bits.
    """
    array = np.asarray(values, dtype=np.int64)
    bits = max(1, int(array.max(initial=0)).bit_length())
    if bits > MOST_BITS or array.min(initial=0) < 0:
        raise ValueError(f"expected whole numbers from 0 to 2^{MOST_BITS} - 1, found {array.min()} to {array.max()}")
    spread = (array[:, None] >> np.arange(bits)) & 1
    octets = np.packbits(spread.astype(np.uint8), bitorder="little")
    return {"bits": bits, "count": len(array), "data": in_base64(octets.tobytes())}


def in_base64(octets: bytes) -> str:
    """Octets as text."""
    return base64.b64encode(octets).decode("ascii")
