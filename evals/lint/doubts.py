"""A doubt: one thing in a set that deserves a second look, at its place, with what to do. Finds none itself."""

from collections.abc import Iterable
from dataclasses import dataclass

from evals.lint.checked import Place
from evals.questions import Pair
from retrieval.errors import Fault

# In the order in which they are counted; the last two need the cosines of a run.
KINDS = (
    "no text",
    "same text",
    "shared run of words",
    "telling word",
    "page row",
    "unknown concept",
    "unknown kind",
    "small group",
    "missed",
    "not judged",
)

SHOWN = 4


@dataclass(frozen=True)
class Doubt:
    """One thing to look at: its kind (of KINDS), and its place with what was found and what to do."""

    kind: str
    fault: Fault


def doubt(kind: str, place: Place, what: str) -> Doubt:
    """A doubt at a place."""
    return Doubt(kind, Fault(place.file, place.line, what))


def about(pair: Pair, kind: str, what: str) -> Doubt:
    """A doubt at an ask, whatever the state."""
    return doubt(kind, Place(pair.file, pair.line), f"{pair.question}: {what}")


def by_ask(pairs: Iterable[Pair]) -> list[list[Pair]]:
    """The pairs of each question together, in order: one ask in several states makes one doubt."""
    found: dict[str, list[Pair]] = {}
    for pair in pairs:
        found.setdefault(pair.question, []).append(pair)
    return list(found.values())


def one_ask_each(pairs: Iterable[Pair]) -> list[Pair]:
    """The first pair of each need in each state: what is expected there is the same for all its asks."""
    found: dict[tuple[str, str], Pair] = {}
    for pair in pairs:
        found.setdefault((pair.need, pair.state), pair)
    return list(found.values())


def expected_ids(pair: Pair) -> list[str]:
    """Every law of the expected groups once, in order."""
    return list(dict.fromkeys(each for group in pair.expected for each in group))


def listed(names: Iterable[str]) -> str:
    """The first few names in a row; of more it says how many."""
    names = list(names)
    shown = ", ".join(names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"
