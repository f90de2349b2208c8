"""The word search: tokens, tolerance, exact scores, the order of ties, and the indexes that are kept."""

import gc
import importlib
import math
import random
import string
import time
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.corpus import Law
from retrieval.words import STOP_WORDS, WordIndex, bm25, words
from tests.reference import REFERENCE, cases, needs_reference

MODULE = importlib.import_module("retrieval.words")  # `retrieval.words` by attribute may be the function

repeatable = settings(derandomize=True, deadline=None, database=None)


def law(text: str, question: str = "", concept: str = "", kind: str = "rule", name: str = "L") -> Law:
    """One law, of a text and little else."""
    return Law(id=name, law=text, question=question, concept=concept, kind=kind)


def laws_of(*texts: str) -> list[Law]:
    """A corpus of rules: L1, L2 and so on."""
    return [law(text, name=f"L{number}") for number, text in enumerate(texts, 1)]


def ids(laws: Iterable[Law]) -> list[str]:
    """The laws' ids, in their order."""
    return [found.id for found in laws]


# The definition, word for word and law for law: slow, and no index to get wrong.


def edits(word: str) -> set[str]:
    """Everything that one letter inserted, deleted or changed makes of a word."""
    letters = string.ascii_lowercase + string.digits
    deleted = {word[:i] + word[i + 1 :] for i in range(len(word))}
    changed = {word[:i] + letter + word[i + 1 :] for i in range(len(word)) for letter in letters}
    inserted = {word[:i] + letter + word[i:] for i in range(len(word) + 1) for letter in letters}
    return (deleted | changed | inserted) - {word}


def meant(word: str, vocabulary: Sequence[str]) -> tuple[str, ...]:
    """What a word stands for: every known word looked at."""
    if word in vocabulary:
        return (word,)
    long_enough = [known for known in vocabulary if len(known) >= 4 and len(word) >= 4]
    near = edits(word) if len(word) >= 5 else set()
    return tuple(known for known in long_enough if known in word or known in near)


def tokens(law: Law) -> list[str]:
    """What is indexed of a law."""
    opened = law.concept.replace("-", " ")
    return [] if law.kind == "process" else words(f"{law.law} {law.question} {opened}")


def definition(laws: Sequence[Law], question: str) -> list[float]:
    """The score of every law: every asked word and every law looked at."""
    texts = [tokens(law) for law in laws]
    ranked = [text for law, text in zip(laws, texts, strict=True) if law.kind != "process"]
    average = sum(len(text) for text in ranked) / max(1, len(ranked))
    held = Counter(word for text in ranked for word in dict.fromkeys(text))
    asked: list[str] = []
    for word in words(question):
        asked += [known for known in meant(word, list(held)) if known not in asked]
    scores = []
    for text in texts:
        score = 0.0
        for word in asked:
            n, tf = held[word], text.count(word)
            if tf > 0:
                idf = math.log(1 + (len(ranked) - n + 0.5) / (n + 0.5))
                score += (idf * tf * (1.2 + 1)) / (tf + 1.2 * (1 - 0.75 + (0.75 * len(text)) / average))
        scores.append(score)
    return scores


def best(scores: Sequence[float], limit: int | None) -> list[int]:
    """The places of the scores above 0, best first, equal ones by place."""
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    return [place for place in order if scores[place] > 0][:limit]


# Tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  ?! -- ", []),
        ("How far from a FIRE hydrant can I park", ["far", "fire", "hydrant", "park"]),
        ("stop stop Stop", ["stop", "stop", "stop"]),
        ("hydrants signs", ["hydrant", "sign"]),
        ("bus gas its", ["bus", "gas"]),  # three letters keep their s
        ("cars buss pass", ["car", "buss", "pass"]),  # four lose it, unless it is a second s
        ("addresss ss sss ssss", ["addresss", "ss", "sss", "ssss"]),
        ("buses bases", ["buse", "base"]),  # one s, no more
        ("whys ares dos", ["why", "are", "dos"]),  # no stop words before their s is cut
        ("don't O'Neil's", ["don", "t", "o", "neil", "s"]),
        ("§ 21-1003 (b)(2), 15ft 100s", ["21", "1003", "b", "2", "15ft", "100"]),
        ("right_turn on-ramp", ["right", "turn", "ramp"]),
        ("¿a qué distancia?", ["qu", "distancia"]),  # a letter with an accent parts words
        ("Überholen naïve café", ["berholen", "na", "ve", "caf"]),
        ("Straße", ["stra", "e"]),
        ("駐車 ПАРКОВКА ٣ ① ｐａｒｋ", []),  # full width letters and other digits are not a-z, 0-9
        ("\u212alaxon", ["klaxon"]),  # the Kelvin sign is a k in lower case
        ("\u0130t", ["t"]),  # a capital I with a dot becomes an i and a mark: i, t
        ("line\nbreak\ttab\u00a0space", ["line", "break", "tab", "space"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    """Text becomes runs of a-z and 0-9 in lower case, without stop words and without a plural's s."""
    assert words(text) == expected


def test_stop_words() -> None:
    """Every stop word says nothing in any case, and the words a question turns on are none."""
    assert len(STOP_WORDS) == 47
    assert words(" ".join(STOP_WORDS)) == words(" ".join(STOP_WORDS).upper()) == []
    asked = ["park", "far", "near", "under", "not", "no", "over", "before", "after", "must", "may"]
    assert words(" ".join(asked)) == asked


# Tolerance


@pytest.mark.parametrize(
    ("known", "word", "expected"),
    [
        ("fire hydrant", "fire", ["fire"]),
        ("fire fires hydrant", "hydrant", ["hydrant"]),
        ("fire firehydrant hydrant", "firehydrant", ["firehydrant"]),  # a known word is itself alone
        ("hydrant fire", "firehydrant", ["hydrant", "fire"]),  # the corpus's order, not the word's
        ("fire hydrant", "hydrantfire", ["fire", "hydrant"]),
        ("par park parked", "parkedcar", ["park", "parked"]),  # three letters are too few
        ("fire", "fir", []),  # an asked word never stands for a longer one it is part of
        ("car", "caar", []),
        ("cart", "caat", []),  # four letters: contained words only
        ("behind", "behing", ["behind"]),
        ("behind", "behnd", ["behind"]),
        ("behind", "behiind", ["behind"]),
        ("behind", "xbehind", ["behind"]),  # contained and one edit away: once
        ("behind", "ehind", ["behind"]),
        ("behind", "behindx", ["behind"]),
        ("behind", "behin", ["behind"]),
        ("behind", "bhiend", []),  # two edits
        ("behind", "behidn", []),  # letters changed places: two edits
        ("behind", "xbehin", []),
        ("sign", "siign", ["sign"]),  # five letters may mean four
        ("sign", "sigh", []),  # four may not
        ("car", "cars2", []),
        ("aaaaa aaaaaa aaaaaaa aaaaaaaa", "aaaaaab", ["aaaaa", "aaaaaa", "aaaaaaa"]),
        ("stop yield", "helicopter", []),
        ("", "anything", []),
    ],
)
def test_what_a_word_stands_for(known: str, word: str, expected: list[str]) -> None:
    """An unknown word stands for known ones of four letters that it holds, and from five on for near ones."""
    assert WordIndex(laws_of(known)).spelled_as(word) == tuple(expected)


def test_asked_words_count_once() -> None:
    """Repeats, plurals and several spellings of one word are one word, at the place of the first."""
    index = WordIndex(laws_of("park near fire hydrant"))
    assert index.asked("how near a firehydrant, hydrants, hydrnt parks near Fire?") == [
        "near",
        "fire",
        "hydrant",
        "park",
    ]


def test_page_rows_teach_no_words() -> None:
    """A word that only page rows use is unknown, and its neighbours in the laws are meant."""
    index = WordIndex([law("learner permits", kind="process"), law("permit")])
    assert index.spelled_as("permitted") == ("permit",)
    assert index.spelled_as("learner") == ()


@pytest.mark.parametrize("length", range(28, 38))
def test_long_words_are_tolerated_alike(length: int) -> None:
    """Where words become so long that they are compared one by one, no length is missed."""
    known = ("bcdfg" * 10)[:length]
    index = WordIndex(laws_of("stop", known))
    for mistyped in (known[:9] + known[10:], known[:9] + "x" + known[10:], known[:9] + "x" + known[9:]):
        assert index.spelled_as(mistyped) == (known,)


@pytest.mark.parametrize("seed", range(40))
def test_tolerance_equals_brute_force(seed: int) -> None:
    """The look-ups find what comparing with every known word finds, in crowded vocabularies."""
    rng = random.Random(seed)
    letters = "bc" if seed % 2 else "bcdf1"
    longest = 9 if seed % 4 else 36  # past the length from which words are compared one by one

    def some() -> str:
        return "".join(rng.choices(letters, k=rng.randint(max(1, longest - 9), longest)))

    vocabulary = list(dict.fromkeys(some() for _ in range(60)))
    index = WordIndex(laws_of(" ".join(vocabulary)))
    near = [rng.choice(sorted(edits(rng.choice(vocabulary)))) for _ in range(60)]
    joined = [rng.choice(vocabulary) + rng.choice(["", "x"]) + rng.choice(vocabulary) for _ in range(20)]
    asked = [*near, *joined, *(some() for _ in range(40))]
    found = {word: index.spelled_as(word) for word in asked}
    assert found == {word: meant(word, vocabulary) for word in asked}
    assert any(meaning not in ((), (word,)) for word, meaning in found.items())


def test_only_likely_words_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown word is compared with a handful of known words, not with the vocabulary."""
    rng = random.Random(1)
    vocabulary = {"".join(rng.choices(string.ascii_lowercase, k=rng.randint(4, 12))) for _ in range(20_000)}
    index = WordIndex(laws_of(" ".join(sorted(vocabulary)), "speed"))
    compared: list[str] = []
    apart = MODULE._one_edit_apart

    def counted(one: str, other: str) -> bool:
        compared.append(other)
        return bool(apart(one, other))

    monkeypatch.setattr(MODULE, "_one_edit_apart", counted)
    assert "speed" in index.spelled_as("speeed")
    assert 1 <= len(compared) < 20


def test_tables_for_unknown_words_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question of known words builds no table of spellings."""
    index = WordIndex(laws_of("fire hydrant"))
    monkeypatch.setattr(MODULE, "_deletions", lambda word: pytest.fail(f"{word} was taken apart"))
    assert index.asked("fire hydrants") == ["fire", "hydrant"]


def test_endless_words_do_not_hang() -> None:
    """A word of 100,000 letters, asked or in a law, is looked up in seconds and in little memory."""
    endless = "".join(random.Random(2).choices("bcdfghklmnprtvw", k=100_000))
    inside = [endless[start : start + 7] for start in range(0, 9_000, 9)]
    index = WordIndex(laws_of("hydrant", endless + "q", " ".join(inside)))
    start = time.perf_counter()
    assert index.spelled_as(endless + "w") == (endless + "q", *inside)
    assert index.spelled_as("a" * 50_000 + "hydrant" + "a" * 50_000) == ("hydrant",)
    assert index.spelled_as("hydrnt") == ("hydrant",)
    # Well under a second is usual; a table of that word's deletions would take 10 GB.
    assert time.perf_counter() - start < 20


# Scores and order


def test_a_score_worked_by_hand() -> None:
    """Three laws of 2, 1 and 3 words, average 2; "park" is in two of them, "hill" in one."""
    laws = [law("park park"), law("hill"), law("Park", "on the road?", "downhill")]
    scores = WordIndex(laws).scores("may I park on a hill")
    park, hill = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    # tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / 2))
    assert scores == pytest.approx([park * 4.4 / 3.2, hill * 2.2 / 1.75, park * 2.2 / 2.65], rel=1e-15)
    assert ids(bm25(laws_of("park park", "hill", "park road downhill"), "park on a hill")) == [
        "L2",
        "L1",
        "L3",
    ]


def test_all_three_texts_are_searched() -> None:
    """The rule, the card's question and the concept, its hyphens opened, are all found by their words."""
    laws = [law("alpha", name="A"), law("", "beta", name="B"), law("", "", "gamma-delta", name="C")]
    assert [ids(bm25(laws, word)) for word in ("alpha", "beta", "gamma", "delta")] == [
        ["A"],
        ["B"],
        ["C"],
        ["C"],
    ]


def test_a_word_in_every_law_still_counts() -> None:
    """A word that all laws hold has a small weight, never none and never a negative one."""
    assert ids(bm25(laws_of("park", "park far", "park"), "park")) == ["L1", "L3", "L2"]


def test_ties_keep_the_order_of_the_corpus() -> None:
    """Equal laws come in the order of the corpus, whatever their ids, over the edges of all blocks."""
    laws = [law("stop sign", name=f"Z{1000 - number}") for number in range(1000)]
    laws[700] = law("stop sign sign", name="first")
    assert ids(bm25(laws, "sign")) == ["first", *ids(laws[:7])]
    assert ids(bm25(laws, "sign", 1000)) == ["first", *ids(laws[:700]), *ids(laws[701:])]


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 8, 1000])
def test_limits(limit: int) -> None:
    """At most `limit` laws come back, all that share a word where it is larger than the corpus."""
    assert ids(bm25(laws_of("park", "stop", "park park", "yield"), "park", limit)) == ["L3", "L1"][:limit]


def test_no_limit_is_all() -> None:
    """Without a limit every law that shares a word is ranked, with its score."""
    index = WordIndex(laws_of(*["park"] * 600, "stop"))
    positions, scores = index.rank("park", None)
    assert positions.tolist() == list(range(600))
    assert scores.tolist() == index.scores("park")[:600].tolist()


def test_a_negative_limit_is_refused() -> None:
    """A negative limit is an error, with an empty corpus too."""
    for laws in ([], laws_of("park")):
        with pytest.raises(ValueError, match="limit is -1: expected 0 or more"):
            bm25(laws, "park", -1)


@pytest.mark.parametrize(
    "laws",
    [
        [],
        [law("park", kind="process"), law("park", kind="process")],
        laws_of("", "?"),
        laws_of("", "stop"),
    ],
    ids=["no law", "page rows only", "empty texts", "no shared word"],
)
def test_nothing_to_find(laws: list[Law]) -> None:
    """A corpus that shares no word answers nothing, with scores of 0.0 for each of its laws."""
    index = WordIndex(laws)
    assert bm25(laws, "park") == []
    assert index.scores("park").tolist() == [0.0] * len(laws)
    assert [part.tolist() for part in index.rank("park", None)] == [[], []]


@pytest.mark.parametrize("question", ["", "how can I do it", "駐車", "¿?"])
def test_a_question_without_words(question: str) -> None:
    """A question of stop words or of another script finds nothing."""
    assert bm25(laws_of("how can i do it", "駐車"), question) == []


def test_page_rows_are_not_ranked_or_counted() -> None:
    """Page rows change no score and keep their places in the corpus."""
    rules = laws_of("park far", "park", "stop sign ahead")
    page = law("park park park", "far", "far", kind="process")
    mixed = [page, rules[0], page, page, *rules[1:], page]
    without, among = WordIndex(rules), WordIndex(mixed)
    assert among.scores("park far")[[1, 4, 5]].tolist() == without.scores("park far").tolist()
    assert among.rank("park far", 8)[0].tolist() == [1, 4]


# Few words, so that most laws share some; twins, plurals, stop words, page rows and typing errors among them.
IN_LAWS = ["stop", "park", "parks", "far", "hill", "hills", "hillside", "the", "of", "sign"]
IN_QUESTIONS = [
    "stop",
    "park",
    "parkhill",
    "hilll",
    "sigs",
    "far",
    "farr",
    "stopsign",
    "the",
    "xyz",
    "hillsid",
]
TEXT = st.lists(st.sampled_from(IN_LAWS), max_size=6).map(" ".join)
KIND = st.sampled_from(["rule", "rule", "statute", "process"])
CONCEPT = TEXT.map(lambda text: text.replace(" ", "-"))
CORPUS = st.lists(st.builds(law, TEXT, TEXT, CONCEPT, KIND), max_size=12)
QUESTION = st.lists(st.sampled_from(IN_QUESTIONS), max_size=6).map(" ".join)


@repeatable
@given(laws=CORPUS, question=QUESTION, limit=st.integers(0, 14))
def test_any_corpus_equals_the_definition(laws: list[Law], question: str, limit: int) -> None:
    """Scores and rankings are those of the definition, to the last bit."""
    index, scores = WordIndex(laws), definition(laws, question)
    assert index.scores(question).tolist() == scores
    positions, found = index.rank(question, limit)
    assert positions.tolist() == best(scores, limit)
    assert found.tolist() == [scores[place] for place in best(scores, limit)]
    assert ids(bm25(laws, question, limit)) == [laws[place].id for place in best(scores, limit)]


@repeatable
@given(laws=CORPUS, question=QUESTION)
def test_found_means_sharing_a_word(laws: list[Law], question: str) -> None:
    """Every law found shares an asked word, and every law that is not found shares none."""
    index = WordIndex(laws)
    asked = set(index.asked(question))
    sharing = [place for place, law in enumerate(laws) if asked & set(tokens(law))]
    assert sorted(index.rank(question, None)[0].tolist()) == sharing


@pytest.fixture(scope="module")
def big() -> tuple[list[Law], list[str]]:
    """1,500 laws, enough for several blocks and for words kept dense, and questions with typing errors."""
    rng = random.Random(3)
    vocabulary = ["".join(rng.choices("abcdefgh", k=rng.randint(3, 9))) for _ in range(600)]
    weights = [1 / rank for rank in range(1, 601)]

    def some(most: int) -> str:
        return " ".join(rng.choices(vocabulary, weights, k=rng.randint(0, most)))

    kinds = ["rule"] * 9 + ["process"]
    laws = [law(some(20), some(8), some(2), rng.choice(kinds), f"L{number}") for number in range(1500)]
    return laws, [f"{some(6)} {rng.choice(sorted(edits(rng.choice(vocabulary))))}" for _ in range(12)]


def test_a_big_corpus_equals_the_definition(big: tuple[list[Law], list[str]]) -> None:
    """Blocks and dense rows change no bit and no place, at any limit."""
    laws, questions = big
    index = WordIndex(laws)
    assert len(index._dense) > 3
    for question in questions:
        scores = definition(laws, question)
        assert index.scores(question).tolist() == scores
        for limit in (1, 8, 24, 255, 256, 257, None):
            assert index.rank(question, limit)[0].tolist() == best(scores, limit)


def test_dense_rows_are_capped(big: tuple[list[Law], list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """The dense rows stay within their memory, the commonest words first, and change no score."""
    laws, questions = big
    usual = WordIndex(laws)
    commonest = list(usual._dense)
    for rows in (0, 2, 10_000):
        monkeypatch.setattr(MODULE, "_DENSE_BYTES", rows * usual._dense[commonest[0]].nbytes)
        index = WordIndex(laws)
        assert list(index._dense) == commonest[:rows]
        assert [index.scores(q).tolist() for q in questions] == [usual.scores(q).tolist() for q in questions]


def test_the_order_of_questions_changes_nothing(big: tuple[list[Law], list[str]]) -> None:
    """A question's ranking does not depend on what was asked before, nor on how often."""
    laws, questions = big
    alone = {question: ids(bm25(laws, question)) for question in questions}
    shuffled = random.Random(4).sample(questions * 3, k=3 * len(questions))
    index = WordIndex(laws)
    for question in shuffled:
        assert [laws[place].id for place in index.rank(question, 8)[0]] == alone[question]


def test_logarithms_are_not_vectorised(monkeypatch: pytest.MonkeyPatch) -> None:
    """No logarithm of numpy's is taken: its last digits differ between processors."""
    for name in ("log", "log1p", "log2", "log10"):
        monkeypatch.setattr(np, name, lambda *_: pytest.fail("a vectorised logarithm"))
    assert ids(bm25(laws_of("park", "stop"), "park")) == ["L1"]


# The indexes that are kept


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the corpora indexed since the test began, with no index kept from before."""
    sizes: list[int] = []

    class Counted(WordIndex):
        def __init__(self, laws: Sequence[Law]) -> None:
            sizes.append(len(laws))
            super().__init__(laws)

    monkeypatch.setattr(MODULE, "WordIndex", Counted)
    monkeypatch.setattr(MODULE, "_kept", OrderedDict())
    return sizes


def test_an_index_is_built_once(built: list[int]) -> None:
    """Asking the same lists again and by turns builds no second index."""
    one, other = laws_of("park", "stop"), laws_of("park", "stop", "yield")
    for _ in range(5):
        assert ids(bm25(one, "stop")) == ids(bm25(other, "stop")) == ["L2"]
    assert built == [2, 3]


def test_a_changed_list_is_indexed_anew(built: list[int]) -> None:
    """A law exchanged, added, removed or moved is seen at the next question, at an equal length too."""
    laws = laws_of("park", "stop")
    assert ids(bm25(laws, "park")) == ["L1"]
    laws[0] = law("yield", name="new")
    assert ids(bm25(laws, "park")) == []
    assert ids(bm25(laws, "yield")) == ["new"]
    laws.append(law("park", name="last"))
    assert ids(bm25(laws, "park")) == ["last"]
    laws.reverse()
    assert ids(bm25(laws, "yield stop park")) == ["last", "L2", "new"]
    del laws[0]
    assert ids(bm25(laws, "park")) == []
    assert built == [2, 2, 3, 3, 2]


def test_another_corpus_never_answers(built: list[int]) -> None:
    """Lists of equal length that come and go, at addresses used before, each answer for themselves."""
    for number in range(300):
        laws = [law(f"word{number}", name=f"L{number}")]
        assert ids(bm25(laws, f"word{number} word{number - 1}")) == [f"L{number}"]
        gc.collect(0)
    assert len(built) == 300


def test_tuples_are_corpora_too(built: list[int]) -> None:
    """Any sequence of laws is searched, and its index kept."""
    laws = tuple(laws_of("park", "stop"))
    assert ids(bm25(laws, "stop")) == ids(bm25(laws, "stop")) == ["L2"]
    assert built == [2]


def test_kept_indexes_are_bounded(built: list[int]) -> None:
    """Sixty-four indexes are kept, those of the corpora asked last."""
    corpora = [laws_of(f"word{number}") for number in range(200)]
    for corpus in corpora:
        bm25(corpus, "word")
        bm25(corpora[0], "word")
    assert len(MODULE._kept) == 64
    assert len(built) == 200  # the first corpus stayed
    bm25(corpora[199], "word")
    assert len(built) == 200
    bm25(corpora[1], "word")
    assert len(built) == 201


def test_threads_share_an_index(built: list[int], big: tuple[list[Law], list[str]]) -> None:
    """Many threads at once build one index and get the same laws."""
    laws, questions = big
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda question: ids(bm25(laws, question)), questions * 8))
    assert found == found[: len(questions)] * 8
    assert built == [1500]


def test_a_corpus_that_cannot_be_indexed_leaves_nothing(built: list[int]) -> None:
    """After an error while a list was indexed, no half an index is kept for it."""
    laws: list[Any] = [law("park", name="L1"), None]
    for _ in range(2):
        with pytest.raises(AttributeError):
            bm25(laws, "park")
    laws.pop()
    assert ids(bm25(laws, "park")) == ["L1"]


# The reference cases


def reference_cases() -> list[Any]:
    """A case a corpus; one that is skipped, with the reason, where there are none here."""
    found = cases("words.json") if REFERENCE.is_dir() else []
    return [pytest.param(case, id=case["state"]) for case in found] or [pytest.param(None, marks=needs_reference)]


@pytest.mark.parametrize("case", reference_cases())
def test_the_reference_cases(case: dict[str, Any]) -> None:
    """Tokens, laws and their order are those of the reference, at a limit of 8 and of 24."""
    laws = [Law(**row) for row in case["laws"]]
    assert case["results"]
    for asked in case["results"]:
        question = asked["question"]
        assert words(question) == asked["words"]
        assert ids(bm25(laws, question)) == asked["ids8"], question
        assert ids(bm25(laws, question, 24)) == asked["ids24"], question
