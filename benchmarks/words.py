"""Times the word search beside rank_bm25 and bm25s on one generated corpus, and checks that it is exact.

Every tool gets the same laws, questions and tokens and answers with its best 8. Tokenising the questions is
timed, building the indexes is not. It does not measure whether the laws found are the right ones.

Needs the `bench` extra. Run it as `python -m benchmarks.words`; status 1 where a sampled question's ranking is not
exact.
"""

from __future__ import annotations

import math
import string
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import bm25s
import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from retrieval.corpus import Law
from retrieval.words import K1, STOP_WORDS, B, WordIndex, words

SEED = 1994
LAWS = 6_000
LAW_WORDS = 40  # on average: 20 to 60
VOCABULARY = 20_000
QUESTIONS = 2_000
QUESTION_WORDS = 8  # and 4 stop words
LIMIT = 8
ROUNDS = 3
SAMPLE = 100

Ranking = list[int]
Tool = Callable[[Sequence[str]], list[Ranking]]


@dataclass(frozen=True)
class Row:
    """One tool's fastest round, and the share of the sampled questions that it ranked exactly."""

    tool: str
    seconds: float
    questions_a_second: float
    times_rank_bm25: float
    exact_order: float


def generate(seed: int) -> tuple[list[Law], list[str]]:
    """Laws and questions whose words follow Zipf's law; each question has one word that no law has."""
    rng = np.random.default_rng(seed)
    vocabulary = _made_up_words(rng, VOCABULARY)
    shares = 1 / np.arange(1, VOCABULARY + 1)
    shares /= shares.sum()

    def some(count: int) -> list[str]:
        return [vocabulary[place] for place in rng.choice(VOCABULARY, count, p=shares)]

    laws = []
    for number in range(LAWS):
        text = some(int(rng.integers(LAW_WORDS // 2, LAW_WORDS * 3 // 2 + 1)))
        laws.append(Law(f"L{number}", " ".join(text[:-10]), " ".join(text[-10:-2]), "-".join(text[-2:])))
    known = {word for law in laws for word in words(law_text(law))}
    questions = []
    for _ in range(QUESTIONS):
        content = [word for word in some(4 * QUESTION_WORDS) if word in known][: QUESTION_WORDS - 1]
        asked = [*content, _mistyped(rng, some(1)[0], known), *rng.choice(sorted(STOP_WORDS), 4)]
        questions.append(" ".join(rng.permutation(asked)))
    return laws, questions


def _made_up_words(rng: np.random.Generator, count: int) -> list[str]:
    """Distinct words of two to four syllables; none is a stop word or ends in s."""
    syllables = [consonant + vowel for consonant in "bcdfghklmnprtvw" for vowel in "aeiou"]
    found: dict[str, None] = {}
    while len(found) < count:
        word = "".join(rng.choice(syllables, rng.integers(2, 5)))
        if word not in STOP_WORDS:
            found[word] = None
    return list(found)


def _mistyped(rng: np.random.Generator, word: str, known: set[str]) -> str:
    """The word with one letter changed, so that no law has it."""
    while True:
        place = int(rng.integers(len(word)))
        typo = word[:place] + string.ascii_lowercase[rng.integers(26)] + word[place + 1 :]
        if words(typo) == [typo] and typo not in known:
            return typo


def law_text(law: Law) -> str:
    """What is indexed of a law."""
    return f"{law.law} {law.question} {law.concept}"


def our_tool(laws: Sequence[Law]) -> Tool:
    """The word search, question by question."""
    index = WordIndex(laws)
    return lambda questions: [index.rank(question, LIMIT)[0].tolist() for question in questions]


def bm25s_tool(laws: Sequence[Law]) -> Tool:
    """bm25s on numpy: one call for all questions, Lucene's idf, the numbers' types that were fastest."""
    index = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numpy", dtype="float32", int_dtype="int64")
    index.index([words(law_text(law)) for law in laws], show_progress=False)

    def answer(questions: Sequence[str]) -> list[Ranking]:
        # Our tokens as text: its own tokeniser gives the same ones and is slower.
        tokens = [words(question) for question in questions]
        found, scores = index.retrieve(tokens, k=LIMIT, show_progress=False, backend_selection="numpy")
        counts = (scores > 0).sum(axis=1).tolist()
        return [places[:count] for places, count in zip(found.tolist(), counts, strict=True)]

    return answer


def rank_bm25_tool(laws: Sequence[Law]) -> Tool:
    """BM25Okapi of rank_bm25: the scores of all laws, then the best of them."""
    index = BM25Okapi([words(law_text(law)) for law in laws], k1=K1, b=B)
    return lambda questions: [_best(index.get_scores(words(question))) for question in questions]


def _best(scores: NDArray[np.float64]) -> Ranking:
    top = np.argpartition(scores, -LIMIT)[-LIMIT:]
    top = top[np.lexsort((top, -scores[top]))]
    return [place for place in top.tolist() if scores[place] > 0]


def oracle(laws: Sequence[Law], questions: Sequence[str]) -> list[Ranking]:
    """The exact rankings, by the definition: every law and every known word is looked at, each time."""
    tokens = [words(law_text(law)) for law in laws]
    counts = [Counter(found) for found in tokens]
    held = Counter(word for counter in counts for word in counter)
    known = list(dict.fromkeys(word for found in tokens for word in found))
    average = sum(map(len, tokens)) / len(laws)
    rankings = []
    for question in questions:
        meant = [[word] if word in held else _like(word, known) for word in words(question)]
        scores = dict.fromkeys(range(len(laws)), 0.0)
        for word in dict.fromkeys(word for group in meant for word in group):
            idf = math.log(1 + (len(laws) - held[word] + 0.5) / (held[word] + 0.5))
            for place, counter in enumerate(counts):
                if tf := counter[word]:
                    length = len(tokens[place])
                    scores[place] += (idf * tf * (K1 + 1)) / (tf + K1 * (1 - B + (B * length) / average))
        order = sorted(scores, key=scores.__getitem__, reverse=True)  # stable: ties keep the corpus's order
        rankings.append([place for place in order[:LIMIT] if scores[place] > 0])
    return rankings


def _like(word: str, known: Sequence[str]) -> list[str]:
    """The known words that an unknown one of five letters or more stands for; none is shorter than four."""
    letters = ["", *string.ascii_lowercase, *string.digits]
    cuts = [(place, place + taken) for place in range(len(word) + 1) for taken in (0, 1)]
    edits = {word[:start] + letter + word[end:] for start, end in cuts for letter in letters}
    return [like for like in known if like in edits or like in word] if len(word) > 4 else []


def measure(laws: Sequence[Law], questions: Sequence[str]) -> list[Row]:
    """All tools, one after the other in each round, so that a slow spell of the machine meets them alike."""
    tools = {
        "rank_bm25": rank_bm25_tool(laws),
        "bm25s, numpy": bm25s_tool(laws),
        "this project": our_tool(laws),
    }
    sample = questions[:SAMPLE]
    exact = oracle(laws, sample)
    shares = {
        name: sum(map(list.__eq__, tool(sample), exact)) / len(sample)  # warms the tools up, too
        for name, tool in tools.items()
    }
    seconds = dict.fromkeys(tools, math.inf)
    for _ in range(ROUNDS):
        for name, tool in tools.items():
            start = time.perf_counter()
            tool(questions)
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return [
        Row(name, taken, len(questions) / taken, seconds["rank_bm25"] / taken, shares[name])
        for name, taken in seconds.items()
    ]


def table(rows: Sequence[Row]) -> str:
    """The rows as text, a line a tool."""
    head = f"{'tool':<14}{'seconds':>10}{'questions/s':>13}{'x rank_bm25':>13}{'exact order':>13}"
    lines = (
        f"{row.tool:<14}{row.seconds:>10.3f}{row.questions_a_second:>13,.0f}"
        f"{row.times_rank_bm25:>13.1f}{row.exact_order:>13.0%}"
        for row in rows
    )
    return "\n".join([head, *lines])


def main() -> int:
    rows = measure(*generate(SEED))
    print(f"{LAWS:,} laws, {QUESTIONS:,} questions with one unknown word each, min of {ROUNDS} rounds")
    print(table(rows))
    print(f"exact order: of {SAMPLE} questions; rank_bm25 and bm25s pass over unknown words, ours finds them")
    if rows[-1].exact_order < 1:
        print("the word search is not exact", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
