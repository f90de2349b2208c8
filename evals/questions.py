"""The question set, read from YAML and checked against the corpus. Retrieves nothing, measures nothing.

A *need* is what a learner wants to know, an *ask* one way to put it, a *pair* an ask in a state: the unit that is
retrieved. The need is the unit that is counted when it comes to how sure a figure is.
"""

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from retrieval.corpus import Corpus, Law
from retrieval.documents import LONGEST_TEXT, Document, Where, files_in, none_in, scan_yaml
from retrieval.errors import Fault, InputError, as_found, named
from retrieval.project import PROJECT

QUESTIONS = PROJECT.questions

KINDS = ("plain", "paraphrase", "typo", "spanish", "situation", "sibling")

Kind = Literal["plain", "paraphrase", "typo", "spanish", "situation", "sibling"]
UnrelatedClass = Literal["lexical", "app", "off-topic", "adjacent"]
Expects = Literal["answerable", "unrelated", "uncovered"]
Key = tuple[str, str]

Text = Annotated[str, Field(pattern=r"\S", max_length=LONGEST_TEXT)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


def _as_ask(value: object) -> object:
    return {"ask": value} if not isinstance(value, dict) else value


def _as_group(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _as_states(value: object) -> object:
    return {"": value} if isinstance(value, list) else value


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Ask(_Model):
    ask: Text
    kind: Kind = "plain"
    lang: Name = "en"
    states: Annotated[list[Text], Field(min_length=1)] | None = None


_Group = Annotated[list[Text], BeforeValidator(_as_group), Field(min_length=1)]
_ByState = Annotated[dict[str, list[_Group]], BeforeValidator(_as_states)]
_IdsByState = Annotated[dict[str, list[Text]], BeforeValidator(_as_states)]


class _Need(_Model):
    id: Name
    about: str = ""
    tags: list[Text] = []
    expected: _ByState = {}
    accepted: _IdsByState = {}
    asks: dict[Name, Annotated[_Ask, BeforeValidator(_as_ask)]] = Field(min_length=1)
    searches: list[Text] = []
    family: Text | None = None
    unrelated: UnrelatedClass | None = None
    uncovered: list[Text] = []


class _File(_Model):
    needs: list[Any]


@dataclass(frozen=True)
class Pair:
    """An ask in a state, with what it must reach there.

    expected: groups of ids; a group is reached by any one of its laws. accepted: ids that answer too. `expects` is
    `answerable` where there are groups, else why there are none. `line` is the ask's in `file`.
    """

    need: str
    ask: str
    state: str
    text: str
    kind: str
    lang: str
    topic: str
    tags: tuple[str, ...]
    expects: Expects
    unrelated: str | None
    expected: tuple[tuple[str, ...], ...]
    accepted: tuple[str, ...]
    searches: tuple[str, ...]
    family: str | None
    file: str
    line: int

    @property
    def question(self) -> str:
        """The question's id, the same in every state: `hydrant-distance/spanish`."""
        return f"{self.need}/{self.ask}"

    @property
    def key(self) -> Key:
        """Question and state: no two pairs of a set share both."""
        return self.question, self.state

    @property
    def relevant(self) -> frozenset[str]:
        """Every law that is not wrong to return: expected or accepted."""
        return frozenset(self.accepted).union(*self.expected)


def load_questions(folder: Path | str, corpus: Mapping[str, Sequence[Law]]) -> list[Pair]:
    """The pairs of every `*.yaml` or `*.yml` under a folder, for the states of the corpus, by topic, file and line.

    The order does not depend on the file system. Needs for states that were not loaded are checked as far as they can
    be and give no pairs; where the corpus is one that `load_corpus` gave, a state without a file of laws is a fault,
    since its questions would be asked nowhere. InputError with every fault in every file: what YAML or the form does
    not allow, an id that the state's laws lack, one need or one text asked twice, a need both expected and uncovered
    in a state.
    """
    folder = Path(folder)
    files = question_files(folder)
    if not files:
        raise InputError([Fault(str(folder), None, none_in(folder, "*.yaml file of questions"))])
    faults: list[Fault] = []
    needs: list[_Located] = []
    for path in files:
        try:
            read, wrong = _read(path)
        except InputError as error:
            faults += error.faults
        else:
            needs += read
            faults += wrong
    ids = {state: {law.id for law in laws} for state, laws in corpus.items()}
    faults += _needs_twice(needs)
    families = {state: {law.concept for law in laws if law.is_page_row} for state, laws in corpus.items()}
    for need in needs:
        if isinstance(corpus, Corpus):
            faults += need.unknown_states(corpus.states)
        faults += need.faults(ids)
        faults += need.family_faults(families)
    pairs = [pair for need in needs for pair in need.pairs(list(corpus))]
    faults += _asked_twice(pairs)
    if faults:
        raise InputError(faults)
    if not pairs and corpus:
        raise InputError([Fault(str(folder), None, f"0 of {len(needs)} needs are asked in {', '.join(corpus)}")])
    return pairs


def question_files(folder: Path) -> list[Path]:
    """The files of questions under a folder, in order of their paths."""
    return files_in(folder, ".yaml", ".yml")


@dataclass(frozen=True)
class _Located:
    """A need with the place it was read from."""

    need: _Need
    topic: str
    document: Document
    where: Where

    def line(self, *path: str | int) -> int:
        return self.document.line((*self.where, *path)) or 1

    def fault(self, what: str, *path: str | int) -> Fault:
        return Fault(self.document.file, self.line(*path), f"{self.need.id}: {what}")

    def states(self) -> list[str]:
        """The states this need names, each once, in order."""
        return list(dict.fromkeys([*self.need.expected, *self.need.uncovered]))

    def unknown_states(self, known: Sequence[str]) -> Iterable[Fault]:
        """States that no file of laws has: their questions would be asked nowhere, and nobody would see."""
        need = self.need
        named: list[tuple[str, Where]] = [(state, ("expected", state)) for state in need.expected if state]
        named += [(state, ("uncovered", at)) for at, state in enumerate(need.uncovered)]
        # Elsewhere accepted laws and an ask's states must be of states that the need names; an unrelated one has none.
        for name, ask in need.asks.items() if need.unrelated else ():
            named += [(state, ("asks", name, "states", at)) for at, state in enumerate(ask.states or ())]
        for state, where in named if known else ():
            if state not in known:
                yield self.fault(f"no laws of {state}; there are {', '.join(known)}", *where)

    def faults(self, ids: Mapping[str, set[str]]) -> Iterable[Fault]:
        need = self.need
        if need.unrelated and (need.expected or need.uncovered or need.accepted):
            yield self.fault("an unrelated need expects no law anywhere: drop expected, accepted and uncovered")
        if not need.unrelated and not self.states():
            yield self.fault("no state is named: give expected laws, or uncovered states, or `unrelated`")
        for state in need.uncovered:
            if need.expected.get(state) or need.expected.get(""):
                yield self.fault(f"{state} is both expected and uncovered", "uncovered")
        for state, groups in need.expected.items():
            if not groups:
                yield self.fault(f"{state} expects nothing: name a law, or list it as uncovered", "expected", state)
        for state in set(need.accepted) - set(need.expected):
            yield self.fault(f"{state} has accepted laws and expects none", "accepted", state)
        for state, laws in need.expected.items():
            yield from self._unknown("expected", state, laws, ids)
        for state, each in need.accepted.items():
            yield from self._unknown("accepted", state, [[law] for law in each], ids)
        # A plain list of expected laws is of the only state there is.
        named = {*self.states(), *(ids if "" in need.expected else ())}
        for name, ask in need.asks.items():
            for state in ask.states or ():
                if state not in named and not need.unrelated:
                    yield self.fault(f"asked in {state}, which the need does not name", "asks", name, "states")

    def family_faults(self, families: Mapping[str, set[str]]) -> Iterable[Fault]:
        """A family that no state of the need has, where all its states are loaded: a typing error would do nothing."""
        states, family = self.states() or list(families), self.need.family
        if not family or not families:
            return
        known = [families[state or next(iter(families))] for state in states if state in families or not state]
        if known and len(known) == len(states) and not any(family in each for each in known):
            yield self.fault(
                f"no page row of {', '.join(filter(None, states)) or 'this corpus'} is of {family}", "family"
            )

    def _unknown(
        self, field: str, state: str, groups: Sequence[Sequence[str]], ids: Mapping[str, set[str]]
    ) -> Iterable[Fault]:
        known = _laws_of(state, ids)
        if known is None:
            return  # a state that is not in this corpus: nothing to check against
        for at, group in enumerate(groups):
            for each in group:
                if each not in known:
                    owner = next((other for other, laws in sorted(ids.items()) if each in laws), None)
                    hint = f"it is a law of {owner}" if owner else "no law has it"
                    yield self.fault(f"{field} {each} is no law of {state or 'this corpus'}: {hint}", field, state, at)

    def pairs(self, states: Sequence[str]) -> Iterable[Pair]:
        need = self.need
        for state in states:
            expected = need.expected.get(state) or (need.expected.get("") if len(states) == 1 else None)
            accepted = need.accepted.get(state) or (need.accepted.get("") if len(states) == 1 else None)
            if need.unrelated:
                expects: Expects = "unrelated"
            elif expected:
                expects = "answerable"
            elif state in need.uncovered:
                expects = "uncovered"
            else:
                continue
            for name, ask in need.asks.items():
                if ask.states is not None and state not in ask.states:
                    continue
                yield Pair(
                    need=need.id,
                    ask=name,
                    state=state,
                    text=ask.ask,
                    kind=ask.kind,
                    lang=ask.lang,
                    topic=self.topic,
                    tags=tuple(need.tags),
                    expects=expects,
                    unrelated=need.unrelated,
                    expected=_distinct(expected or ()),
                    accepted=tuple(dict.fromkeys(accepted or ())),
                    searches=tuple(need.searches),
                    family=need.family,
                    file=self.document.file,
                    line=self.line("asks", name),
                )


def _distinct(groups: Iterable[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """The groups, each law and each group once, whatever the order of its laws."""
    once: dict[frozenset[str], tuple[str, ...]] = {}
    for group in groups:
        once.setdefault(frozenset(group), tuple(dict.fromkeys(group)))
    return tuple(once.values())


def _laws_of(state: str, ids: Mapping[str, set[str]]) -> set[str] | None:
    if state == "":
        return next(iter(ids.values())) if len(ids) == 1 else set() if ids else None
    return ids.get(state)


def _read(path: Path) -> tuple[list[_Located], list[Fault]]:
    """The needs of a file that can be read, and the faults of the others: one bad need hides no other's faults."""
    document, faults = scan_yaml(path)
    try:
        rows = _File.model_validate(document.data).needs
    except ValidationError as error:
        return [], faults or [_fault(each, document) for each in error.errors()]
    located: list[_Located] = []
    wrong: list[Fault] = []
    for at, row in enumerate(rows):
        if _holds_one_of(document, at, faults):
            continue  # what is missing in it may be what could not be read
        try:
            need = _Need.model_validate(row)
        except ValidationError as error:
            wrong += [_fault(each, document, ("needs", at)) for each in error.errors()]
        else:
            located.append(_Located(need, path.stem, document, ("needs", at)))
    cut = [
        each.fault("is the part after # meant? A bare # starts a comment: quote the text", *where[2:])
        for each in located
        for where in document.commented
        if where[:2] == each.where and where[2:3] in (("asks",), ("searches",)) and where[4:] in ((), ("ask",))
    ]
    return located, [*faults, *wrong, *cut]


def _holds_one_of(document: Document, at: int, faults: Iterable[Fault]) -> bool:
    """Whether a fault stands on the lines of the need at this position."""
    first = document.line(("needs", at)) or 1
    following = document.lines.get(("needs", at + 1))
    return any(first <= (fault.line or 0) < max(following or math.inf, first + 1) for fault in faults)


def _fault(error: Any, document: Document, within: Where = ()) -> Fault:
    """A validation error as a fault: what stands there, what was expected, "quote it" where YAML changed it."""
    where: Where = (*within, *error["loc"])
    while where and where not in document.lines:
        where = where[:-1]
    raw, read_as = document.raw.get(where, ("", "text"))
    if error["type"] == "missing":
        where = (*within, *error["loc"])
    name = ".".join(str(part) for part in where if not isinstance(part, int))
    if error["type"] == "string_type" and read_as != "text":
        found = as_found(raw).strip('"') if raw else "an empty value"
        what = f"`{name}`: {found} is read as {read_as}, not as text: quote it"
    else:
        what = named(name, error)
    return Fault(document.file, document.line(where) or 1, what)


def _needs_twice(needs: Iterable[_Located]) -> Iterable[Fault]:
    first: dict[str, _Located] = {}
    for each in needs:
        if each.need.id in first:
            before = first[each.need.id]
            yield each.fault(f"the id is given twice, first at {before.document.file}:{before.line()}", "id")
        first.setdefault(each.need.id, each)


def _asked_twice(pairs: Iterable[Pair]) -> Iterable[Fault]:
    first: dict[tuple[str, str], Pair] = {}
    told: set[str] = set()
    for pair in pairs:
        # Accents may be written as one character or as two.
        key = (pair.state, " ".join(unicodedata.normalize("NFC", pair.text).lower().split()))
        before = first.setdefault(key, pair)
        if before is not pair and pair.question not in told:
            told.add(pair.question)
            what = f"{pair.question}: asked before, in {before.question} at {before.file}:{before.line}"
            yield Fault(pair.file, pair.line, what)
