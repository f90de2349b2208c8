"""A judge's answers as needs in YAML, which `--questions` reads, and a plain list of questions as pairs to judge."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from evals.judge.judging import ANSWERS, NEEDS, Item, Task, finished, write_judgements
from evals.questions import Pair
from retrieval.documents import read_text, too_long
from retrieval.errors import Fault, InputError
from retrieval.recordings import write_beside

NAMED_WORDS = 6

HEAD = "# Judged law by law; `near-enough judge` writes this file anew."


def listed_pairs(path: Path, states: Sequence[str]) -> list[Pair]:
    """The questions of a list, one a line, in each state: a need each. Blank lines and repeats are left out.

    A need's id follows from the question alone, so that a list may grow or change its order between two sittings.
    InputError where there is no question, and with every line that is too long to be one.
    """
    first: dict[str, tuple[int, str]] = {}
    faults: list[Fault] = []
    for line, text in enumerate(read_text(path).split("\n"), 1):
        if long := too_long(text):
            faults.append(Fault(str(path), line, long))
            continue
        words = " ".join(unicodedata.normalize("NFC", text).split())
        if words:
            first.setdefault(words.lower(), (line, words))
    if not first and not faults:
        faults.append(Fault(str(path), None, "no question here; expected one a line"))
    if faults:
        raise InputError(faults)
    return [_listed(path, line, text, state) for line, text in first.values() for state in states]


def _listed(path: Path, line: int, text: str, state: str) -> Pair:
    return Pair(
        need=_name(text),
        ask="plain",
        state=state,
        text=text,
        kind="plain",
        lang="en",
        topic=path.stem,
        tags=(),
        expects="uncovered",
        unrelated=None,
        expected=(),
        accepted=(),
        searches=(),
        family=None,
        file=str(path),
        line=line,
    )


def _name(text: str) -> str:
    """A question's first words and a hash of all of it: a need's id that no other question has."""
    plain = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
    digest = hashlib.sha256(text.lower().encode()).hexdigest()[:6]
    return "-".join([*re.findall("[a-z0-9]+", plain)[:NAMED_WORDS], digest])


def refuse_others(folder: Path) -> None:
    """InputError where the folder's needs were written by somebody else: they would be lost."""
    path = folder / NEEDS
    if path.is_file() and not read_text(path).startswith(HEAD):
        what = "was not written by `near-enough judge`, which would replace it: move it away, or judge elsewhere"
        raise InputError([Fault(str(path), 1, what)])


def keep(folder: Path, todo: Sequence[Task], judged: Mapping[Item, str]) -> None:
    """Write a judge's folder: every judgement, and the needs that are judged to the end, where there are any."""
    write_judgements(folder, judged)
    if ended := list(finished(todo, judged)):
        write_beside(folder / NEEDS, needs_yaml(ended, judged))
    else:
        (folder / NEEDS).unlink(missing_ok=True)


def needs_yaml(tasks: Iterable[Task], judged: Mapping[Item, str]) -> str:
    """The needs of finished tasks, as the set reads them.

    Where the set has groups, those keep what the judge found to answer, and other laws that answer are accepted; where
    it has none, or none is left, all that answer are one group. Split a group by hand where a question takes two laws.
    A state in which no law answers is uncovered; a need that was unrelated and is answered nowhere stays so.
    """
    by_need: dict[str, list[Task]] = {}
    for task in tasks:
        by_need.setdefault(task.need, []).append(task)
    needs = [_need(group, judged) for group in by_need.values()]
    body = yaml.dump({"needs": needs}, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False, width=2**20)
    return f"{HEAD}\n{body}"


def _need(tasks: Sequence[Task], judged: Mapping[Item, str]) -> dict[str, object]:
    first = tasks[0].pairs[0]
    labels = {task.state: _labels(task, judged) for task in tasks}
    expected = {state: groups for state, (groups, _) in labels.items() if groups}
    unrelated = None if expected else first.unrelated
    need = {
        "id": first.need,
        "tags": list(first.tags),
        "expected": expected,
        "accepted": {state: accepted for state, (_, accepted) in labels.items() if accepted},
        "uncovered": [] if unrelated else [state for state in labels if state not in expected],
        "unrelated": unrelated,
        "asks": _asks(tasks),
        "searches": list(first.searches),
        "family": first.family,
    }
    return {name: value for name, value in need.items() if value}


def _labels(task: Task, judged: Mapping[Item, str]) -> tuple[list[list[str]], list[str]]:
    """The expected groups and the accepted laws of a task, each in order."""
    answering = sorted(item.law for item in task.items() if judged[item] == ANSWERS)
    groups = [kept for group in task.pairs[0].expected if (kept := [law for law in group if law in answering])]
    if not groups:
        return ([answering] if answering else []), []
    grouped = {law for group in groups for law in group}
    return groups, [law for law in answering if law not in grouped]


def _asks(tasks: Sequence[Task]) -> dict[str, dict[str, object]]:
    asks: dict[str, dict[str, object]] = {}
    states: dict[str, list[str]] = {}
    for pair in (pair for task in tasks for pair in task.pairs):
        asks[pair.ask] = {"ask": pair.text, "kind": pair.kind, "lang": pair.lang}
        states.setdefault(pair.ask, []).append(pair.state)
    for name, ask in asks.items():
        if len(states[name]) < len(tasks):
            ask["states"] = states[name]
    return asks
