"""Whatever a file holds, a loader gives an answer or says what is wrong with which file; nothing else, and no hang."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import InputError, NearEnoughError
from tests.loaders import LOADERS, Loader, replying, write

EXAMPLES = 60  # of each of the four sorts, for each loader
LONGEST = 1_500  # characters of a fault with its place
JARGON = re.compile(r"[Ii]nput should|instance of|validation error|NoneType|set_int_max_str_digits|\bdict\b|\[type=")

WORDS = sorted(set(re.findall(r"[A-Za-z][A-Za-z_./ -]*", "".join(loader.good for loader in LOADERS.values()))))
ODD = [
    "",
    " ",
    "\x00",
    "\ud800",
    "\u2028",
    "a\nb",
    "\x1b[2J",
    "é",
    "NO",
    "0123",
    "1e999",
    "a/b",
    "<<",
    "=",
    "x" * 20_001,
]
HUGE = "a number of 5,000 digits"
NUMBERS = [0, -1, 1, 2, 7.5, -0.0, 10**400, 2**63, 1e308, float("nan"), float("inf"), HUGE]

scalars = st.sampled_from([None, True, False, *NUMBERS]) | st.sampled_from(ODD) | st.sampled_from(WORDS)
keys = st.sampled_from(WORDS) | st.sampled_from(ODD)
trees = st.recursive(
    scalars, lambda part: st.lists(part, max_size=4) | st.dictionaries(keys, part, max_size=4), max_leaves=12
)


def as_json(tree: object) -> str:
    """A tree as Python writes it, NaN and half characters and all; YAML reads it too."""
    return json.dumps(tree).replace(f'"{HUGE}"', "9" * 5_000)


def _token(text: str, chance: random.Random, others: list[str], pattern: str) -> str:
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    at = chance.choice(found)
    return text[: at.start()] + chance.choice(others) + text[at.end() :]


VALUE = r'"[^"\n]*"|[-+]?\b\d[\d.]*|[A-Za-z][A-Za-z0-9-]*'
OTHERS = [
    "null",
    "true",
    "7",
    "-1",
    "1.5",
    '"x"',
    '""',
    "[]",
    "{}",
    "[[1]]",
    '{"a": 1}',
    "~",
    "",
    "NO",
    "0123",
    "a|b",
    "%",
]
DEEP = ["[" * depth + "]" * depth for depth in (30, 50, 5_000)] + ['{"a":' * 5_000, "[" * 200_000]
LARGE = ["9" * 400, "9" * 5_000, "1e999", "-1e999", "0x" + "f" * 5_000, "99999999999999999999", "1" * 50 + ".5"]
NO_NUMBERS = ["NaN", "Infinity", "-Infinity", ".nan", ".inf", "nan", "inf"]
HALVES = ["\\ud800", "\\udc00x", '"\\ud83d"']
RARE = [
    "\x00",
    "\x1b",
    "\x85",
    "\u2028",
    "\ufeff",
    "\x0c",
    "\t",
    "\x7f",
    "#",
    " # ",
    "&a ",
    "*a",
    "!x ",
    "'",
    '"',
    "\r",
]


def _spliced(text: str, chance: random.Random, others: list[str]) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(others) + text[at:]


def _lines(text: str, chance: random.Random, of: Callable[[str], str]) -> str:
    rows = text.splitlines(keepends=True)
    if not rows:
        return text
    at = chance.randrange(len(rows))
    return "".join([*rows[:at], of(rows[at]), *rows[at + 1 :]])


EDITS: dict[str, Callable[[str, random.Random], str]] = {
    "a value of another type": lambda text, chance: _token(text, chance, OTHERS, VALUE),
    "a huge number": lambda text, chance: _token(text, chance, LARGE, r"[-+]?\b\d[\d.]*"),
    "no number": lambda text, chance: _token(text, chance, NO_NUMBERS, r"[-+]?\b\d[\d.]*"),
    "half a character": lambda text, chance: _spliced(text, chance, HALVES),
    "deep nesting": lambda text, chance: _token(text, chance, DEEP, VALUE),
    "a rare character": lambda text, chance: _spliced(text, chance, RARE),
    "a character dropped": lambda text, chance: _token(text, chance, [""], r"[\s\S]"),
    "a line doubled": lambda text, chance: _lines(text, chance, lambda row: row * 2),
    "a line dropped": lambda text, chance: _lines(text, chance, lambda _: ""),
    "cut off": lambda text, chance: text[: chance.randrange(len(text) + 1)],
    "a byte order mark": lambda text, _: "\ufeff" + text,
    "CRLF": lambda text, _: text.replace("\n", "\r\n"),
    "a very long text": lambda text, chance: _token(text, chance, ["x" * 20_001], r"[A-Za-z]+"),
    "nothing": lambda *_: "",
}


def edited(loader: Loader, names: list[str], seed: int) -> bytes:
    """The good file with these edits, each at a place that the seed decides."""
    chance = random.Random(seed)
    text = loader.good
    for name in names:
        text = EDITS[name](text, chance)
    return text.encode("utf-8", "surrogatepass")


def bytes_dropped(loader: Loader, at: int, instead: bytes) -> bytes:
    """The good file with one byte replaced, in the midst of a character or not."""
    content = loader.good.encode()
    at %= len(content)
    return content[:at] + instead + content[at + 1 :]


contents: dict[str, Callable[[Loader], st.SearchStrategy[bytes]]] = {
    "bytes": lambda loader: (
        st.binary(max_size=120)
        | st.builds(bytes_dropped, st.just(loader), st.integers(0, 10_000), st.binary(max_size=1))
    ),
    "text": lambda _: st.text(max_size=120).map(lambda text: text.encode("utf-8", "surrogatepass")),
    "trees": lambda _: st.lists(trees, min_size=1, max_size=3).map(lambda rows: "\n".join(map(as_json, rows)).encode()),
    "edits": lambda loader: st.builds(
        edited,
        st.just(loader),
        st.lists(st.sampled_from(list(EDITS)), min_size=1, max_size=2),
        st.integers(0, 1_000_000),
    ),
}


def check(loader: Loader, folder: Path, content: bytes) -> None:
    """Read the loader's file with this content: an answer, or faults that a person can do something with."""
    (folder / loader.file).write_bytes(content)
    try:
        loader.read(folder)
    except InputError as error:
        assert error.faults
        for fault in error.faults:
            said = str(fault)
            assert fault.file.startswith((str(folder), "--set")), said
            assert said.isprintable() and len(said) <= LONGEST, said
            assert not JARGON.search(said), said
            if fault.file == str(folder / loader.file) and fault.line is not None:
                assert 1 <= fault.line <= content.count(b"\n") + content.count(b"\r") + 3, said
    except NearEnoughError as error:
        assert loader.name == "reply", "only a retriever's reply is in no file"
        assert str(error)


@pytest.mark.parametrize("sort", contents)
@pytest.mark.parametrize("name", [name for name in LOADERS if name != "reply"])
def test_an_answer_or_listed_faults(tmp_path_factory: pytest.TempPathFactory, name: str, sort: str) -> None:
    """Random bytes, text and trees, and good files with one or two things wrong, of every loader."""
    loader, folder = LOADERS[name], tmp_path_factory.mktemp("loader")
    write(folder, loader.files)
    loader.read(folder)

    @settings(max_examples=EXAMPLES, derandomize=True, database=None)
    @given(contents[sort](loader))
    def broken(content: bytes) -> None:
        check(loader, folder, content)

    broken()


@pytest.mark.parametrize("sort", contents)
def test_a_retrievers_reply(tmp_path: Path, sort: str) -> None:
    """The same of what a command says, which goes on answering after a reply that was refused."""
    loader = LOADERS["reply"]
    with replying(tmp_path / loader.file) as retriever:

        @settings(max_examples=EXAMPLES, derandomize=True, database=None)
        @given(contents[sort](loader))
        def broken(content: bytes) -> None:
            (tmp_path / loader.file).write_bytes(content)
            try:
                retriever("MD", "how far", 8)
            except NearEnoughError as error:
                assert not JARGON.search(str(error)), error

        broken()
