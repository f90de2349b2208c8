"""Every loader with the smallest input that it reads, and the command that reads it too: for tests that break them."""

import base64
import json
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evals.baseline import new_summary
from evals.baseline_files import read_baseline, write_baseline
from evals.exchange.beir import read_collection
from evals.exchange.foreign import cosines, match, read_foreign
from evals.exchange.taken_in import laws_and_questions
from evals.exchange.trec import read_qrels, read_run
from evals.imported import by_key, read_kept
from evals.judge.judging import read_judgements
from evals.judge.labels import listed_pairs
from evals.lint.checked import load_concepts, read_checked
from evals.outcomes import read_side, written
from evals.questions import load_questions
from evals.retrievers import Command
from retrieval.corpus import Corpus, Law, load_corpus
from retrieval.models import Embed, Embedder
from retrieval.recordings import Vectors
from retrieval.replies import Call, Replies, digest
from retrieval.settings import changed, load_settings
from tests import fakes
from tests.sides import outcome, side


def lines(*rows: object) -> str:
    """JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


LAWS = {
    "AL": [Law("AL-1", "Park 15 feet from a hydrant."), Law("AL-2", "Stop at a red light.")],
    "MD": [
        Law("MD-1", "Keep 15 feet away from a hydrant.", "How near?", "hydrant", page=3, cite="§ 1"),
        Law("MD-2", "Yield in a crosswalk.", "", "crosswalk"),
        Law("MD-P1", "Bring your birth certificate.", "How do I apply?", "permits", "process"),
    ],
}
LAW_ROWS: list[dict[str, object]] = [
    {"id": "MD-1", "law": "Keep 15 feet away from a hydrant.", "question": "How near?", "concept": "hydrant"},
    {"id": "MD-2", "law": "Yield in a crosswalk.", "kind": "rule", "page": 3, "cite": "§ 1", "more": [1.5]},
    {"id": "MD-P1", "law": "Bring papers.", "question": "How?", "concept": "permits", "kind": "process", "page": None},
]
CONCEPTS = "parking: {hydrant: how near, crosswalk: who first}\nfamilies: {permits: the papers}\n"
QUESTIONS = """\
needs:
  - id: hydrant
    about: how near
    expected: {MD: [MD-1], AL: [[AL-1, AL-2]]}
    accepted: {MD: [MD-2]}
    tags: [seed]
    asks:
      plain: how far from a hydrant
      spanish: {ask: "¿a qué distancia?", kind: spanish, lang: es}
      phone: {ask: how farr, kind: typo, states: [AL]}
    searches: [distance from a hydrant]
    family: null
  - id: moon
    unrelated: lexical
    asks: {speed: the speed limit on the moon}
  - id: teens
    uncovered: [MD]
    asks: {plain: how many friends}
"""
SETTINGS = "embedder: fake\nnear_enough: {fake: 0.3, other: 0.5}\nnear_laws: 8\nrephrase: off\nrerank: off\n"
QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 -1\n"
RUN = "q1 Q0 d1 1 3.5 tag\nq1 Q0 d2 2 -1e-3 tag\nq2 Q0 d1 1 inf tag\n"
FOREIGN = lines(
    {"state": "MD", "question": "hydrant/plain", "laws": ["MD-1", "MD-2"], "scores": [0.9, 0.2], "stage": "near"},
    {"state": "AL", "question": "hydrant/plain", "laws": [], "scores": [], "stage": "near", "outcome": None},
    {"state": "MD", "question": "moon/speed", "laws": ["MD-2"], "scores": [0.1], "stage": "near"},
)
KEPT = lines(
    {"state": "MD", "question": "hydrant/plain", "query": {"_id": "q 1"}, "judged": {"test": {"MD-1": 2, "MD-2": 0}}},
    {"state": "MD", "question": None, "query": {"_id": "q 2", "text": "t"}, "judged": {}},
)
BEIR = {
    "docs/corpus.jsonl": lines({"_id": "d1", "title": "T", "text": "Stop."}, {"_id": "d 2", "text": "", "more": 1}),
    "docs/queries.jsonl": lines({"_id": "q1", "text": "when to stop"}, {"_id": "q2", "text": "when to go"}),
    "docs/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td 2\t0\nq2\td 2\t-1\n",
}
JUDGED = lines(
    {"need": "hydrant", "state": "MD", "law": "MD-1", "grade": "answers"},
    {"need": "hydrant", "state": "MD", "law": "MD-2", "grade": "no"},
)
LIST = "how far from a hydrant\n\nhow fast near a school\n"
REPORT = {
    "a/run.json": json.dumps(
        {
            "settings": {"embedder": "fake", "near_enough": {"fake": 0.3}},
            "fingerprints": {"laws": "l", "questions": "q", "settings": "s", "model": "fake (1)"},
            "verdict": "said",
        }
    ),
    "a/per_question.jsonl": lines(written(outcome()), written(outcome("moon/speed", expected=[], near_laws=2))),
}
REPLY = '{"laws": ["MD-1", "MD-2"], "scores": [0.9, 0.2]}'

RERANK = Call("rerank", "bge", {"top_k": None}, "how far", ("law one", "law two"))
RANKED = Call("rerank", "haiku", {"max_tokens": 9}, "how far", ("law one", "law two"))
REPHRASE = Call("rephrase", "haiku", {}, "how far", ())


def recorded(call: Call, **said: object) -> dict[str, object]:
    """A recorded line of a call."""
    return {"key": call.key, "asked": call.asked, **said, "usage": {"input": 7}, "recorded": "2026-11-29"}


def asked(change: Mapping[str, object]) -> dict[str, object]:
    """A recorded line whose call was asked something else, under the key that belongs to it."""
    question = {**RERANK.asked, **change}
    return {**recorded(RERANK, reply={"scores": [0.5, 0.1]}), "asked": question, "key": digest(question)}


REPLIES = lines(
    recorded(RERANK, reply={"scores": [0.5, -3]}),
    recorded(RANKED, reply={"ranked": [1]}),
    recorded(replace(RANKED, question="how near"), failed="refusal", message="said no"),
)
REPHRASED = lines(recorded(REPHRASE, reply={"searches": ["distance"], "family": None}))

HEADER = {"model": "fake", "version": "1", "dimensions": fakes.DIMENSIONS, "recorded": "2026-11-29"}


def vector(text: str, dimensions: int = fakes.DIMENSIONS, **change: object) -> dict[str, object]:
    """A recorded vector of a text."""
    packed = base64.b64encode(np.arange(dimensions, dtype="<i2").tobytes()).decode()
    return {"kind": "passage", "text": text, "engine": "e", "vector": packed, **change}


VECTORS = lines(HEADER, vector("one"), vector("two", kind="query"))


def _load() -> tuple[Embed, str]:
    return lambda kind, texts: fakes.embed(kind, texts).astype(np.float32), "e"


FAKE = Embedder("fake", "1", fakes.DIMENSIONS, 64, _load)


def _baseline() -> dict[str, str]:
    measured = side(
        outcome("hydrant/plain", expected=["MD-1", ("MD-2", "MD-3")], pool=["MD-9", "MD-1"], answer=[]),
        outcome("moon/speed", expected=[], near_laws=3),
    )
    with TemporaryDirectory() as folder:
        write_baseline(Path(folder) / "baseline", measured, new_summary(measured, None, "why", "2026-11-29"))
        return {f"baseline/{path.name}": path.read_text() for path in (Path(folder) / "baseline").iterdir()}


BASELINE = _baseline()
WORLD = {
    "laws/md.jsonl": lines(*LAW_ROWS),
    "laws/al.jsonl": lines({"id": "AL-1", "law": "Park 15 feet away."}, {"id": "AL-2", "law": "Stop."}),
    "laws/concepts.yaml": CONCEPTS,
    "questions/parking.yaml": QUESTIONS,
    "settings.yaml": SETTINGS,
}
OPTIONS = ("--laws", "laws", "--questions", "questions", "--settings", "settings.yaml")


@dataclass(frozen=True)
class Loader:
    """A loader, a layout that it reads well, and the file of it that is to be broken.

    read: what it makes of a folder with that layout. command: the arguments with which a person gives it the file.
    """

    name: str
    file: str
    files: Mapping[str, str]
    read: Callable[[Path], object]
    command: Sequence[str]

    @property
    def good(self) -> str:
        """What the file holds before it is broken."""
        return self.files[self.file]


def need(body: str) -> str:
    """A file of one need, `n`, on its second line."""
    return f"needs:\n  - {{id: n, {body}}}\n"


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Files below a folder, byte for byte."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def _questions(folder: Path) -> object:
    return load_questions(folder / "questions", Corpus(LAWS, LAWS))


def _lint(folder: Path) -> object:
    return read_checked(folder / "settings.yaml", folder / "laws", folder / "questions")


def _matched(folder: Path, of_near: bool = False) -> object:
    pairs, path = load_questions(folder / "questions", Corpus(LAWS, LAWS)), folder / "run"
    found = read_foreign(path)
    return match(cosines(found, path) if of_near else found, pairs, LAWS, by_key(read_kept(folder)), path)


def _set(folder: Path) -> object:
    text = (folder / "set").read_bytes().decode("utf-8", "surrogateescape")
    return changed(load_settings(folder / "settings.yaml"), [text])


def _replied(folder: Path) -> object:
    with replying(folder / "reply") as retriever:
        return retriever("MD", "how far", 8)


@contextmanager
def replying(path: Path) -> Iterator[Command]:
    """A retriever that answers every question with what the file holds by then, on one line."""
    program = f"import sys\nfor line in sys.stdin:\n  said = open({str(path)!r}, 'rb').read().replace(b'\\n', b' ')\n"
    program += "  sys.stdout.buffer.write(said + b'\\n')\n  sys.stdout.buffer.flush()"
    with Command(f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}", 30) as retriever:
        yield retriever


def _beir(folder: Path) -> object:
    return laws_and_questions([read_collection(folder / "docs")])


EVAL = ("eval", *OPTIONS, "--out", "out")
REPORTS = {**REPORT, **{name.replace("a/", "b/"): text for name, text in REPORT.items()}}
RERANKED = "rerank=recorded bge-reranker-base"
ANSWER = (
    f"{shlex.quote(sys.executable)} -c \"import sys; [print(open('reply').read(), flush=True) for _ in sys.stdin]\""
)

LOADERS = {
    each.name: each
    for each in (
        Loader("laws", "laws/md.jsonl", WORLD, lambda folder: load_corpus(folder / "laws"), EVAL),
        Loader(
            "concepts",
            "laws/concepts.yaml",
            WORLD,
            lambda folder: load_concepts(folder / "laws" / "concepts.yaml"),
            ("lint", *OPTIONS),
        ),
        Loader("questions", "questions/parking.yaml", WORLD, _questions, EVAL),
        Loader("lint", "questions/parking.yaml", WORLD, _lint, ("lint", *OPTIONS)),
        Loader("settings", "settings.yaml", WORLD, lambda folder: load_settings(folder / "settings.yaml"), EVAL),
        Loader("set", "set", {**WORLD, "set": "near_laws=3"}, _set, ()),
        Loader(
            "qrels",
            "qrels",
            {"qrels": QRELS, "run": RUN},
            lambda folder: read_qrels(folder / "qrels"),
            ("eval", "--run", "run", "--qrels", "qrels", "--out", "out"),
        ),
        Loader(
            "trec run",
            "run",
            {"qrels": QRELS, "run": RUN},
            lambda folder: read_run(folder / "run"),
            ("eval", "--run", "run", "--qrels", "qrels", "--out", "out"),
        ),
        Loader("run", "run", {**WORLD, "run": FOREIGN}, _matched, (*EVAL, "--run", "run")),
        Loader(
            "scores",
            "run",
            {**WORLD, "run": FOREIGN},
            lambda folder: _matched(folder, of_near=True),
            (*EVAL, "--scores", "run"),
        ),
        Loader(
            "kept",
            "questions/imported.jsonl",
            {**WORLD, "questions/imported.jsonl": KEPT},
            lambda folder: read_kept(folder / "questions"),
            ("export", "beir", *OPTIONS[:4], "--out", "out"),
        ),
        *(Loader(Path(name).name, name, BEIR, _beir, ("import", "beir", "docs", "--out", "out")) for name in BEIR),
        *(
            Loader(
                Path(name).name,
                name,
                {**WORLD, **BASELINE},
                lambda folder: read_baseline(folder / "baseline"),
                ("gate", *OPTIONS, "--baseline", "baseline", "--json", "out.json"),
            )
            for name in sorted(BASELINE)
        ),
        *(
            Loader(Path(name).name, name, REPORTS, lambda folder: read_side(folder / "a"), ("compare", "a", "b"))
            for name in REPORT
        ),
        Loader(
            "vectors",
            "recordings/fake/texts.jsonl",
            {**WORLD, "recordings/fake/texts.jsonl": VECTORS},
            lambda folder: Vectors(FAKE, folder / "recordings" / "fake", None),
            EVAL,
        ),
        Loader(
            "replies",
            "recordings/replies/rerank/bge.jsonl",
            {**WORLD, "recordings/replies/rerank/bge.jsonl": REPLIES},
            lambda folder: Replies(folder / "recordings" / "replies"),
            (*EVAL, "--set", RERANKED),
        ),
        Loader(
            "rephrased",
            "recordings/replies/rephrase/haiku.jsonl",
            {**WORLD, "recordings/replies/rephrase/haiku.jsonl": REPHRASED},
            lambda folder: Replies(folder / "recordings" / "replies"),
            (*EVAL, "--set", RERANKED),
        ),
        Loader(
            "judgements",
            "alice/judgements.jsonl",
            {"alice/judgements.jsonl": JUDGED, "bob/judgements.jsonl": JUDGED},
            lambda folder: read_judgements(folder / "alice"),
            ("judge", "alice", "bob"),
        ),
        Loader(
            "list",
            "log.txt",
            {**WORLD, "log.txt": LIST},
            lambda folder: listed_pairs(folder / "log.txt", ["MD"]),
            ("judge", "alice", "--list", "log.txt", "--states", "MD", *OPTIONS),
        ),
        Loader(
            "reply",
            "reply",
            {**WORLD, "reply": REPLY},
            _replied,
            ("ask", "--retriever", ANSWER, *OPTIONS[:4], "--out", "out.jsonl"),
        ),
    )
}
