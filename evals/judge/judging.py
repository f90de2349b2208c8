"""Laws judged by a person: what there is to judge, what was judged, and how far two judges agree.

A judge reads laws for a need, not for each of its asks: labels belong to needs. What is judged is the pool of the first
laws that every method returned for any of its asks, with the laws that the set names already among them; without
those, a law that every method misses would stay unlabelled, and recall over the judged set would flatter every method.
Asks nobody and prints nothing.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evals.questions import Pair
from evals.run import Run
from retrieval.documents import read_json_lines, strict_json
from retrieval.errors import Fault, InputError
from retrieval.recordings import write_beside

ANSWERS, SIBLING, NO = GRADES = ("answers", "sibling", "no")
DEPTH = 8
SHOWN = 200  # characters of a bad line

JUDGEMENTS = "judgements.jsonl"
NEEDS = "needs.yaml"

Returned = Mapping[tuple[str, str], Sequence[str]]
"""What a method returned: ids, best first, by the question's id and the state."""


class Item(NamedTuple):
    """A law to judge for a need in a state."""

    need: str
    state: str
    law: str


@dataclass(frozen=True)
class Task:
    """A need in a state: its asks there, and the laws to judge, in the judge's order."""

    need: str
    state: str
    pairs: tuple[Pair, ...]
    laws: tuple[str, ...]

    def items(self) -> list[Item]:
        """Each law of the task, in its order."""
        return [Item(self.need, self.state, law) for law in self.laws]


@dataclass(frozen=True)
class Share:
    """How many of the laws that a method returned first, over all questions, have been judged."""

    method: str
    judged: int
    returned: int


@dataclass(frozen=True)
class Agreement:
    """Two judges over the items that both judged, in order.

    grades: each item with both grades. kappa: Cohen's, over the three grades; kappa_answers: over answers or not.
    Both lie in [-1, 1] and are None where no item is shared, or where all grades are one and chance explains them all.
    """

    grades: Mapping[Item, tuple[str, str]]
    kappa: float | None
    kappa_answers: float | None

    @property
    def disagreements(self) -> list[tuple[Item, str, str]]:
        """The items with two different grades."""
        return [(item, one, other) for item, (one, other) in self.grades.items() if one != other]


def returned_by(run: Run) -> dict[str, Returned]:
    """What the methods of a run returned first, by the method's name: words, near before any cutoff, fused."""
    model = run.settings.embedder
    fused = f"fused, {model}" if run.settings.rephrase == "off" else f"fused with searches, {model}"
    found: dict[str, dict[tuple[str, str], Sequence[str]]] = {"words": {}, f"near, {model}": {}, fused: {}}
    for pair, trace in ((each.pair, each.trace) for each in run.pairs):
        ids = [law.id for law in run.corpus[pair.state]]
        scoring = trace.scorings[0]
        ranked = ([ids[at] for at in scoring.words.laws[:DEPTH]], [ids[at] for at in scoring.near.laws[:DEPTH]])
        for method, laws in zip(found.values(), (*ranked, trace.fused[:DEPTH]), strict=True):
            method[pair.key] = laws
    return dict(found)


def tasks(pairs: Iterable[Pair], methods: Mapping[str, Returned], judge: str) -> list[Task]:
    """The needs of the pairs by state, in the pairs' order, so that two judges who stop early share what they judged.

    A task's laws stand in an order of their own for each judge, which tells neither a law's rank nor its method: by a
    hash of judge, need, state and law. A law that a later pool adds moves no other.
    """
    asked: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        asked.setdefault((pair.need, pair.state), []).append(pair)
    return [
        Task(
            need,
            state,
            tuple(group),
            tuple(sorted(_pool(group, methods), key=lambda law: _mixed(judge, need, state, law))),
        )
        for (need, state), group in asked.items()
    ]


def _pool(pairs: Sequence[Pair], methods: Mapping[str, Returned]) -> set[str]:
    pool = {law for pair in pairs for law in pair.relevant}
    for returned in methods.values():
        for pair in pairs:
            pool.update(returned.get(pair.key, ())[:DEPTH])
    return pool


def _mixed(*parts: str) -> bytes:
    return hashlib.sha256("\0".join(parts).encode()).digest()


def shares(pairs: Sequence[Pair], methods: Mapping[str, Returned], judged: Mapping[Item, str]) -> list[Share]:
    """For each method, how many of the laws that it returned first for these pairs have been judged."""
    found = []
    for method, returned in methods.items():
        items = [Item(pair.need, pair.state, law) for pair in pairs for law in returned.get(pair.key, ())[:DEPTH]]
        found.append(Share(method, sum(item in judged for item in items), len(items)))
    return found


def agreement(one: Mapping[Item, str], other: Mapping[Item, str]) -> Agreement:
    """How far two judges agree over what both judged. Source: Cohen, Educational and Psychological Measurement (1960).

    >>> items = [Item("n", "MD", law) for law in "abcd"]
    >>> one = dict(zip(items, ["answers", "answers", "no", "no"]))
    >>> other = dict(zip(items, ["answers", "no", "no", "no"]))
    >>> agreement(one, other).kappa
    0.5
    """
    both = {item: (grade, other[item]) for item, grade in one.items() if item in other}
    answers = [(first == ANSWERS, second == ANSWERS) for first, second in both.values()]
    return Agreement(both, _kappa(list(both.values())), _kappa(answers))


def _kappa(grades: Sequence[tuple[object, object]]) -> float | None:
    """Cohen's kappa: (observed - by chance) / (1 - by chance)."""
    n = len(grades)
    firsts, seconds = Counter(first for first, _ in grades), Counter(second for _, second in grades)
    agreed = sum(first == second for first, second in grades)
    # In whole numbers, scaled by n², so that a chance agreement of exactly 1 is seen as such.
    chance = sum(count * seconds[grade] for grade, count in firsts.items())
    return None if chance == n * n else (agreed * n - chance) / (n * n - chance)


def read_judgements(folder: Path) -> dict[Item, str]:
    """A judge's grades by item, in the file's order; {} where the folder has none yet.

    InputError with every line that is no judgement, and every law judged twice.
    """
    path = folder / JUDGEMENTS
    if not path.is_file():
        return {}
    rows, faults = read_json_lines(path)
    judged: dict[Item, str] = {}
    for line, row in rows:
        texts = [row.get(name) for name in (*Item._fields, "grade")]
        if not all(isinstance(text, str) for text in texts) or texts[-1] not in GRADES:
            shown = strict_json(row)
            shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."
            what = f"expected {', '.join(Item._fields)} and a grade, one of {', '.join(GRADES)}, found {shown}"
            faults.append(Fault(str(path), line, what))
            continue
        item = Item(*map(str, texts[:-1]))
        if item in judged:
            faults.append(Fault(str(path), line, f"{item.law} is judged twice for {item.need} in {item.state}"))
        judged[item] = str(texts[-1])
    if faults:
        raise InputError(faults)
    return judged


def write_judgements(folder: Path, judged: Mapping[Item, str]) -> None:
    """Every judgement so far, a JSON line each; the file is the old one or the new one, never a part."""
    lines = (strict_json({**item._asdict(), "grade": grade}) + "\n" for item, grade in judged.items())
    write_beside(folder / JUDGEMENTS, "".join(lines))


def finished(todo: Iterable[Task], judged: Mapping[Item, str]) -> Iterator[Task]:
    """The tasks of which every law has been judged."""
    return (task for task in todo if all(item in judged for item in task.items()))
