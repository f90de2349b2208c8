"""Times the word search beside rank_bm25 and bm25s on one generated corpus, and checks that it is exact.

Every tool gets the same laws, questions and tokens, answers with its best 8 and has its tokenising of the
questions counted; building the indexes is not. It says nothing about which laws ought to be found.

Needs the `bench` extra. Run it as `python benchmarks/words.py [--json FILE]`.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import bm25s
import numpy as np
from rank_bm25 import BM25Okapi

from retrieval.corpus import Law
from retrieval.words import STOP_WORDS, K1, B, WordIndex, words

SEED = 20260714
LAWS = 6_000
LAW_WORDS = 40
VOCABULARY = 20_000
QUESTIONS = 2_000
QUESTION_WORDS = 8
LIMIT = 8
ROUNDS = 3
SAMPLE = 100

Ranking = list[int]
Tool = Callable[[Sequence[str]], list[Ranking]]


@dataclass(frozen=True)
class Row:
    """One tool's measurement: its fastest round, and how many of the sample's questions it ranked exactly."""

    tool: str
    seconds: float
    questions_a_second: float
    times_rank_bm25: float
    exact_order: float


def made_up_words(rng: np.random.Generator, count: int) -> list[str]:
    """`count` distinct words of two to four syllables; none is a stop word or ends in s."""
    syllables = [consonant + vowel for consonant in "bcdfghklmnprtvw" for vowel in "aeiou"]
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(rng.choice(syllables, rng.integers(2, 5)))] = None
    return list(found)


def mistype(rng: np.random.Generator, word: str, known: set[str]) -> str:
    """A word that is not known: one letter of `word` changed."""
    while True:
        place = int(rng.integers(len(word)))
        typo = f"{word[:place]}{'abcdefghijklmnopqrstuvwxyz'[rng.integers(26)]}{word[place + 1 :]}"
        if typo not in known and not typo.endswith("s"):
            return typo


def generate(seed: int) -> tuple[list[Law], list[str]]:
    """Laws and questions whose words follow Zipf's law; each question has one word that the laws lack."""
    rng = np.random.default_rng(seed)
    vocabulary = made_up_words(rng, VOCABULARY)
    shares = 1 / np.arange(1, VOCABULARY + 1)
    shares /= shares.sum()

    def some(count: int) -> list[str]:
        return [vocabulary[place] for place in rng.choice(VOCABULARY, count, p=shares)]

    laws = []
    for number in range(LAWS):
        text = some(int(rng.integers(LAW_WORDS // 2, LAW_WORDS * 3 // 2 + 1)))
        laws.append(Law(f"L{number}", " ".join(text[:-10]), " ".join(text[-10:-2]), "-".join(text[-2:])))
    known = set(vocabulary)
    stop_words = sorted(STOP_WORDS)
    questions = []
    for _ in range(QUESTIONS):
        unknown = mistype(rng, some(1)[0], known)
        asked = [*some(QUESTION_WORDS - 1), unknown, *rng.choice(stop_words, 4)]
        questions.append(" ".join(rng.permutation(asked)))
    return laws, questions


def law_text(law: Law) -> str:
    """What is indexed of a law."""
    return f"{law.law} {law.question} {law.concept}"


def best(scores: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Ranking:
    """The positions of the best scores above 0, by the quickest way that numpy has by itself."""
    top = np.argpartition(scores, -LIMIT)[-LIMIT:]
    top = top[np.lexsort((top, -scores[top]))]
    return [place for place in top.tolist() if scores[place] > 0]


def rank_bm25_tool(laws: Sequence[Law]) -> Tool:
    """rank_bm25's BM25Okapi: all scores, then the best."""
    index = BM25Okapi([words(law_text(law)) for law in laws], k1=K1, b=B)
    return lambda questions: [best(index.get_scores(words(question))) for question in questions]


def bm25s_tool(laws: Sequence[Law]) -> Tool:
    """bm25s's numpy backend: one call for all questions, its own idf as ours (`lucene`), float32."""
    index = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numpy")
    index.index([words(law_text(law)) for law in laws], show_progress=False)

    def answer(questions: Sequence[str]) -> list[Ranking]:
        tokens = [words(question) for question in questions]
        found, scores = index.retrieve(
            tokens, k=LIMIT, show_progress=False, n_threads=0, backend_selection="numpy"
        )
        counts = (scores > 0).sum(axis=1)
        return [places[:count] for places, count in zip(found.tolist(), counts.tolist(), strict=True)]

    return answer


def our_tool(laws: Sequence[Law]) -> Tool:
    """The word search, question by question."""
    index = WordIndex(laws)
    return lambda questions: [index.rank(question, LIMIT)[0].tolist() for question in questions]


