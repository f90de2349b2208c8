"""Ids that others chose, as ids that are allowed here, and the names by which a foreign file may call a pair.

A law's id is one word, and so is every id in TREC's files: white space is written as `%20`, and what looks like that
already as `%2520`, so that every id can be had back. A need's id is for people to read; what it was made of is kept
beside it (`evals.imported`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from evals.imported import Kept
from evals.questions import Key, Pair

_UNSAFE = re.compile(r"%(?=[0-9A-Fa-f]{2})|\s")
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def as_word(text: str) -> str:
    """An id as one word; `from_word` gives it back. Ids without white space and without `%20` and the like stay.

    >>> as_word("§ 1"), as_word("100%"), as_word("a%20b")
    ('§%201', '100%', 'a%2520b')
    """
    return _UNSAFE.sub(lambda found: quote(found[0]), text)


def from_word(word: str) -> str:
    """The id that `as_word` made a word of.

    >>> from_word("§%201"), from_word("100%"), from_word("a%2520b")
    ('§ 1', '100%', 'a%20b')
    """
    return unquote(word)


class NeedNames:
    """Ids for needs from ids of queries, each given once: `q4.0`, and for a second such id `q4.0-2`."""

    def __init__(self) -> None:
        self._given: set[str] = set()
        self._last: dict[str, int] = {}

    def give(self, query: str, collection: str) -> str:
        """The id for a query of a collection, without the collection's name and a slash where the query begins so."""
        start, slash, rest = query.partition("/")
        short = rest if slash and start.lower() == collection.lower() else query
        wished = [_need_id(short), _need_id(query)]
        found = next((each for each in wished if each not in self._given), None)
        while found is None or found in self._given:
            self._last[wished[0]] = self._last.get(wished[0], 1) + 1
            found = f"{wished[0]}-{self._last[wished[0]]}"
        self._given.add(found)
        return found


def _need_id(query: str) -> str:
    return _NO_NAME.sub("-", query).strip("._-") or "query"


def topics(pairs: Iterable[Pair], kept: Mapping[Key, Kept]) -> dict[Key, str]:
    """The name of each pair in TREC's files: the imported query's id where there is one, else `need/ask`.

    The state and a slash stand before it where the corpus has several, unless an imported id tells the state already.
    """
    pairs = list(pairs)
    keys = [each.key for each in pairs]
    count = Counter(kept[each].id for each in keys if each in kept)
    one_state = len({each.state for each in pairs}) == 1
    found = {}
    for each in keys:
        question, state = each
        plain = kept[each].id if each in kept else question
        alone = one_state or count[plain] == 1
        found[each] = as_word(plain if alone else f"{state}/{plain}")
    return found


@dataclass(frozen=True)
class Names:
    """Every name by which a file may call a pair: `need/ask`, its topic, the imported query's id, or its text."""

    of_state: Mapping[tuple[str, str], Key]
    alone: Mapping[str, Sequence[Key]]
    topics: Mapping[Key, str]

    @classmethod
    def of(cls, pairs: Sequence[Pair], kept: Mapping[Key, Kept]) -> "Names":
        """The names of these pairs."""
        topic = topics(pairs, kept)
        of_state: dict[tuple[str, str], Key] = {}
        alone: dict[str, list[Key]] = {}
        for pair in pairs:
            each = pair.key
            imported = [kept[each].id, as_word(kept[each].id)] if each in kept else []
            ids = [topic[each], *imported, pair.question]
            for name in (*ids, pair.text):
                of_state.setdefault((pair.state, name), each)
            for name in dict.fromkeys([*ids, f"{pair.state}/{pair.question}"]):
                alone.setdefault(name, []).append(each)
        return cls(of_state, alone, topic)

    def find(self, state: str | None, name: str) -> Key | None:
        """The pair of a name, in a state or, without one, where only one pair has the name; None where none does."""
        if state is not None:
            return self.of_state.get((state.upper(), name))
        keys = self.alone.get(name, ())
        if len(keys) == 1:
            return keys[0]
        states = {each for each, _ in self.of_state}
        return self.of_state.get((next(iter(states)), name)) if len(states) == 1 else None
