"""Texts that are too much alike: laws with one text, asks in the words of their law. Reads no vectors."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from evals.lint.checked import Checked
from evals.lint.doubts import Doubt, about, by_ask, doubt, expected_ids, listed
from evals.questions import Pair
from retrieval.corpus import Law
from retrieval.words import WordIndex, words

# So many words in a row are seldom shared by chance: an ask that copies its law measures the copying.
RUN_OF_WORDS = 6

# A word in more of a state's laws than this share tells few of them apart ("driver", "vehicle").
COMMON_SHARE = 0.1

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

Tokens = tuple[str, ...]


def same_texts(checked: Checked) -> Iterable[Doubt]:
    """Laws of one state whose rules are the same words, whatever their case and punctuation: each but the first.

    A law without a rule is compared by its card's question; one without either is like no other.
    """
    for state, laws in checked.corpus.items():
        places = checked.laws_at[state]
        first: dict[Tokens, Law] = {}
        for law in laws:
            text = _tokens(law.law) or _tokens(law.question)
            before = first.setdefault(text, law) if text else law
            if before is not law:
                what = f"{law.id}: the same text as {before.id} on line {places[before.id].line}; drop one of the two"
                yield doubt("same text", places[law.id], f"{what}, or wherever one is expected make them one group")


def shared_runs(corpus: Mapping[str, Sequence[Law]], pairs: Iterable[Pair]) -> Iterable[Doubt]:
    """Asks with six words in a row that stand so in an expected law, in its rule or in its card's question."""
    runs_of = {
        state: {law.id: frozenset([*_runs(law.law), *_runs(law.question)]) for law in laws}
        for state, laws in corpus.items()
    }
    for asked in by_ask(pairs):
        copied: dict[Tokens, None] = {}
        holders: dict[str, None] = {}
        for run in _runs(asked[0].text):
            holding = [each for pair in asked for each in expected_ids(pair) if run in runs_of[pair.state][each]]
            if holding:
                copied[run] = None
                holders.update(dict.fromkeys(holding))
        if copied:
            what = f'"{" ".join(next(iter(copied)))}" stands word for word in {listed(holders)}'
            yield about(asked[0], "shared run of words", f"{what}; ask it in a learner's own words")


def telling_words(corpus: Mapping[str, Sequence[Law]], pairs: Iterable[Pair]) -> Iterable[Doubt]:
    """Paraphrases that share a word with an expected law, as the word search spells the ask's words.

    Words in more than a tenth of the state's laws do not count, and page rows have no words.
    """
    vocabularies = {state: _Vocabulary(laws) for state, laws in corpus.items()}
    for asked in by_ask(pair for pair in pairs if pair.kind == "paraphrase"):
        told: dict[str, list[str]] = {}
        for pair in asked:
            for word in vocabularies[pair.state].telling(pair.text, expected_ids(pair)):
                told.setdefault(word, []).append(pair.state)
        if told:
            named = listed(f'"{word}" ({", ".join(states)})' for word, states in told.items())
            what = f"a paraphrase that shares {named} with its law; say it without, or call it another kind"
            yield about(asked[0], "telling word", what)


class _Vocabulary:
    """A state's words: those that an ask asks for, and those that a law holds."""

    def __init__(self, laws: Sequence[Law]) -> None:
        self._index = WordIndex(laws)
        ranked = [law for law in laws if not law.is_page_row]
        self._held = {law.id: frozenset(words(f"{law.law} {law.question} {law.concept}")) for law in ranked}
        counts = Counter(word for held in self._held.values() for word in held)
        # A word of one law alone tells that law, however few laws there are.
        common = max(1.0, COMMON_SHARE * len(ranked))
        self._common = {word for word, count in counts.items() if count > common}

    def telling(self, text: str, ids: Iterable[str]) -> list[str]:
        """The words a text asks for that one of these laws holds and not too many others, in the text's order."""
        held = frozenset[str]().union(*(self._held.get(each, ()) for each in ids))
        return [word for word in self._index.asked(text) if word in held and word not in self._common]


def _tokens(text: str) -> Tokens:
    """Words as a reader counts them, of any script, without case."""
    return tuple(_TOKEN.findall(text.casefold()))


def _runs(text: str) -> list[Tokens]:
    tokens = _tokens(text)
    return [tokens[start : start + RUN_OF_WORDS] for start in range(len(tokens) - RUN_OF_WORDS + 1)]
