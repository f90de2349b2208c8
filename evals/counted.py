"""Numbers of things in words."""

from collections import Counter
from collections.abc import Iterable


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "pair"), counted(10080, "pair")
    ('1 pair', '10,080 pairs')
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def by_cause(causes: Iterable[str]) -> str:
    """How often each cause is given, in alphabetical order.

    >>> by_cause(["timed out", "threw", "timed out"])
    'threw 1, timed out 2'
    """
    return ", ".join(f"{cause} {count}" for cause, count in sorted(Counter(causes).items()))
