"""Laws and questions as a collection in BEIR's layout, and as TREC's judgements. Gives texts, writes no file.

What was imported comes out as it came in, but for the edits made here since. What a judgement cannot hold is left out:
that one law of several is enough, and which laws are accepted.
"""

from collections.abc import Iterable, Mapping, Sequence

from evals.exchange.beir import HEADER
from evals.exchange.names import from_word, topics
from evals.exchange.taken_in import IMPORTED
from evals.imported import Kept, by_key, grades
from evals.questions import Key, Pair
from retrieval.corpus import Law
from retrieval.documents import strict_json

SPLIT = "test"


def collections(corpus: Mapping[str, Sequence[Law]], pairs: Sequence[Pair], kept: Sequence[Kept]) -> dict[str, str]:
    """The text of each file of the collections: of a corpus alone as it is, of several in a folder a state."""
    found = {}
    for state, laws in corpus.items():
        folder = "" if len(corpus) == 1 else f"{state.lower()}/"
        of_state = [each for each in pairs if each.state == state]
        own = [each for each in kept if each.state == state]
        found[f"{folder}corpus.jsonl"] = _lines(_document(each) for each in laws)
        found[f"{folder}queries.jsonl"] = _lines(_queries(of_state, own))
        for split, judged in _splits(of_state, own, laws).items():
            found[f"{folder}qrels/{split}.tsv"] = _tsv(judged)
    return found


def _lines(rows: Iterable[Mapping[str, object]]) -> str:
    return "".join(strict_json(row) + "\n" for row in rows)


def _document(law: Law) -> dict[str, object]:
    came = law.extra.get(IMPORTED)
    if not isinstance(came, Mapping):
        rest = {"concept": law.concept, "kind": law.kind, "page": law.page, "cite": law.cite, **law.extra}
        return {"_id": law.id, "title": law.question, "text": law.law, "metadata": rest}
    title = str(came.get("title", ""))
    begins = law.law == title or law.law.startswith(f"{title} ")
    row: dict[str, object] = {"_id": from_word(law.id)}
    if "title" in came:
        row["title"] = title if begins else ""
    row["text"] = law.law[len(title) + 1 :] if title and begins else law.law
    return row | {name: value for name, value in came.items() if name != "title"}


def _queries(pairs: Sequence[Pair], kept: Sequence[Kept]) -> Iterable[Mapping[str, object]]:
    """What was imported in its order, with the text as it is asked now, then the questions that were added here."""
    asked = {each.key: each for each in pairs}
    for each in kept:
        pair = asked.get((each.question or "", each.state))
        if each.question is None:
            yield each.query
        elif pair is not None:
            rest = {name: value for name, value in each.query.items() if name != "_id"}
            yield {"_id": each.id, "text": pair.text, **rest}
    known = by_key(kept)
    yield from ({"_id": each.question, "text": each.text} for each in pairs if each.key not in known)


def _splits(pairs: Sequence[Pair], kept: Sequence[Kept], laws: Sequence[Law]) -> dict[str, dict[str, dict[str, int]]]:
    """By split, the grades of each query's documents, under the ids of the collection."""
    came = {law.id: from_word(law.id) for law in laws if isinstance(law.extra.get(IMPORTED), Mapping)}
    known = by_key(kept)
    order = {each.key: at for at, each in enumerate(pairs)}
    place = {each: at for at, each in enumerate(known)}
    found: dict[str, dict[str, dict[str, int]]] = {}
    for pair in sorted(pairs, key=lambda each: (place.get(each.key, len(place)), order[each.key])):
        own = known.get(pair.key)
        query = own.id if own else pair.question
        for split, judged in _judged(pair, own).items():
            found.setdefault(split, {})[query] = {came.get(law, law): grade for law, grade in judged.items()}
    return found or {SPLIT: {}}


def _judged(pair: Pair, own: Kept | None) -> dict[str, dict[str, int]]:
    """A pair's grades by split, as the question stands now; a law expected since stands in the first split."""
    now = grades(pair, own)
    if own is None or not own.judged:
        return {SPLIT: now} if now else {}
    given = own.grades

    def written(law: str, grade: int) -> int:
        return grade if (given[law] > 0) == (now[law] > 0) else now[law]

    found = {
        split: {law: written(law, grade) for law, grade in judged.items() if law in now}
        for split, judged in own.judged.items()
    }
    first = next(iter(found.values()))
    first.update({law: grade for law, grade in now.items() if not any(law in each for each in found.values())})
    return found


def _tsv(judged: Mapping[str, Mapping[str, int]]) -> str:
    lines = ["\t".join(HEADER)]
    lines += [f"{query}\t{law}\t{grade}" for query, grades in judged.items() for law, grade in grades.items()]
    return "\n".join(lines) + "\n"


def judgements(pairs: Sequence[Pair], kept: Mapping[Key, Kept]) -> dict[str, dict[str, int]]:
    """The grades of every pair that has some, by its topic, in the pairs' order: what `trec.qrels_text` writes."""
    topic = topics(pairs, kept)
    found = {topic[each.key]: grades(each, kept.get(each.key)) for each in pairs}
    return {each: judged for each, judged in found.items() if judged}


def left_out(pairs: Iterable[Pair]) -> str:
    """What judgements cannot hold of these questions, in a sentence; empty where nothing is lost."""
    pairs = list(pairs)
    groups = sum(len(group) > 1 for each in pairs for group in each.expected)
    accepted = sum(len(each.accepted) for each in pairs)
    if not groups and not accepted:
        return ""
    return (
        f"Judgements cannot hold that any one law of a group is enough ({groups} groups, each law is written as"
        f" relevant) nor that a law is accepted ({accepted} are left out)."
    )
