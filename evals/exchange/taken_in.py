"""Collections in BEIR's layout, as laws and questions: the text of every file to write. Reads no file, writes none.

A collection becomes a state, by its folder's name; one alone is a corpus that is not of states. A document's title and
text, joined by a space, become its `law`; everything else of its row is kept under `imported`. A query becomes a need
with one ask; a query of the same text in another collection is the same need, asked there too.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from evals.exchange.beir import Collection, Row
from evals.exchange.names import NeedNames, as_word
from evals.imported import KEPT, Grades, Kept, written
from retrieval.documents import strict_json, too_long
from retrieval.errors import Fault, InputError

ASK = "plain"
IMPORTED = "imported"


@dataclass
class _Need:
    """A need in the making: by state, the laws that are relevant."""

    id: str
    text: str
    relevant: dict[str, list[str]] = field(default_factory=dict)


def laws_and_questions(collections: Sequence[Collection]) -> dict[str, str]:
    """The text of `laws/*.jsonl`, a file a collection, `questions/*.yaml`, a file a split, and `imported.jsonl`.

    A query judged in several splits stands in the first one's file, and its grades are the highest of all. InputError
    where two collections have one name, a collection asks one text twice, or a text is too long to be a law or asked.
    """
    faults = [*_named_twice(collections)]
    for each in collections:
        faults += [*_asked_twice(each), *_too_long(each)]
    if faults:
        raise InputError(faults)
    names = NeedNames()
    needs: dict[tuple[str, str], _Need] = {}
    kept: list[Kept] = []
    for collection in collections:
        kept += (_taken(query, collection, needs, names) for query in collection.queries)
    splits: dict[str, list[_Need]] = {}
    for (split, _), need in needs.items():
        splits.setdefault(split, []).append(need)
    alone = len(collections) == 1
    return {
        **{f"laws/{each.name.lower()}.jsonl": _laws(each.documents) for each in collections},
        **{f"questions/{split}.yaml": _yaml(of_split, alone) for split, of_split in sorted(splits.items())},
        f"questions/{KEPT}": written(kept),
    }


def state(collection: Collection) -> str:
    """The state that a collection becomes."""
    return collection.name.lower().upper()


def _named_twice(collections: Sequence[Collection]) -> Iterable[Fault]:
    first: dict[str, Collection] = {}
    for each in collections:
        before = first.setdefault(state(each), each)
        if before is not each:
            yield Fault(str(each.folder), None, f"named like {before.folder}: rename one, the name becomes the state")


def _too_long(collection: Collection) -> Iterable[Fault]:
    judged = {query for grades in collection.judged.values() for query in grades}
    for document in collection.documents:
        if said := too_long(_text(document)):
            what = f"{document['_id']}: {said}; split it into several documents"
            yield Fault(str(collection.folder / "corpus.jsonl"), None, what)
    for query in collection.queries:
        own = str(query["_id"])
        if own in judged and (said := too_long(str(query["text"]))):
            yield Fault(collection.queries_file, collection.lines[own], f"{own}: {said}")


def _asked_twice(collection: Collection) -> Iterable[Fault]:
    judged = {query for grades in collection.judged.values() for query in grades}
    first: dict[str, str] = {}
    for query in collection.queries:
        own, text = str(query["_id"]), " ".join(unicodedata.normalize("NFC", str(query["text"])).lower().split())
        if own in judged and first.setdefault(text, own) != own:
            line = collection.lines[first[text]]
            what = (
                f"{own}: the same text as {first[text]} on line {line}; judge one of the two, and leave the other out"
            )
            yield Fault(collection.queries_file, collection.lines[own], what)


def _laws(documents: Iterable[Row]) -> str:
    return "".join(strict_json(_law(each)) + "\n" for each in documents)


def _law(document: Row) -> dict[str, object]:
    rest = {name: value for name, value in document.items() if name not in ("_id", "text")}
    return {"id": as_word(str(document["_id"])), "law": _text(document), "question": "", IMPORTED: rest}


def _text(document: Row) -> str:
    """Title and text, joined by a space where both are there."""
    return " ".join(filter(None, (str(document.get("title", "")), str(document["text"]))))


def _taken(query: Row, collection: Collection, needs: dict[tuple[str, str], _Need], names: NeedNames) -> Kept:
    """What is kept of a query; its need is made, or its state added to the need that asks the same."""
    own, text = str(query["_id"]), str(query["text"])
    judged: dict[str, Grades] = {
        split: {as_word(document): grade for document, grade in queries[own].items()}
        for split, queries in collection.judged.items()
        if own in queries
    }
    where = state(collection)
    if not judged:
        return Kept(state=where, question=None, query=dict(query), judged={})
    at = next(iter(judged)), text
    if at not in needs:
        needs[at] = _Need(names.give(own, collection.name), text)
    row = {name: value for name, value in query.items() if name != "text"}
    found = Kept(state=where, question=f"{needs[at].id}/{ASK}", query=row, judged=judged)
    needs[at].relevant[where] = [law for law, grade in found.grades.items() if grade > 0]
    return found


def _yaml(needs: Iterable[_Need], alone: bool) -> str:
    lines = ["needs:"]
    for need in needs:
        expected = {where: laws for where, laws in need.relevant.items() if laws}
        uncovered = [where for where, laws in need.relevant.items() if not laws]
        lines.append(f"  - id: {quoted(need.id)}")
        if alone:
            lines += [f"    expected: {_flow(laws)}" for laws in expected.values()]
        elif expected:
            lines += ["    expected:", *(f"      {quoted(where)}: {_flow(laws)}" for where, laws in expected.items())]
        if uncovered:
            lines.append(f"    uncovered: {_flow(uncovered)}")
        lines.append(f"    asks: {{{ASK}: {quoted(need.text)}}}")
    return "\n".join(lines) + "\n"


def _flow(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(quoted, texts))}]"


def quoted(text: str) -> str:
    """Text as YAML reads it back, whatever it looks like and whatever it holds: in quotes, all that is rare escaped.

    >>> print(quoted("NO"), quoted("see § 12 # note"))
    "NO" "see § 12 # note"
    """
    return re.sub(r"[^ ]", _printable, json.dumps(text, ensure_ascii=False))


def _printable(found: "re.Match[str]") -> str:
    character = found[0]
    if character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def summary(collections: Sequence[Collection]) -> Iterable[str]:
    """What was imported, a line a collection, and what a person should know of it."""
    for each in collections:
        judged: dict[str, list[str]] = {}
        for split, queries in each.judged.items():
            for query in queries:
                judged.setdefault(query, []).append(split)
        empty = [str(row["_id"]) for row in each.documents if not f"{row.get('title', '')}{row['text']}".strip()]
        yield (
            f"{state(each)}: {len(each.documents)} documents, {len(judged)} of {len(each.queries)} queries judged,"
            f" in {', '.join(each.judged)}"
        )
        if empty:
            yield f"  without any text, so that nothing finds them: {', '.join(empty)}"
        several = [splits for splits in judged.values() if len(splits) > 1]
        if several:
            named = ", ".join(dict.fromkeys(split for splits in several for split in splits))
            yield f"  {len(several)} queries are judged in several of them ({named}): the highest grade counts"
