"""A small project in a folder, with credentials that lead to a server on loopback."""

import json
import multiprocessing
import os
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from evals import cli
from evals.commands import options
from evals.run import Run
from retrieval import project, recordings
from tests.live.loopback import Loopback

TOKEN, ACCOUNT = "token-that-nobody-may-see", "account-that-nobody-may-see"
NAMES = (
    *("CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_TOKEN", "CLOUDFLARE_BASE_URL"),
    *("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
)

LAWS = [
    {"id": "AL-1", "law": "Park 15 feet from a hydrant.", "question": "How close to a hydrant may I park?"},
    {"id": "AL-2", "law": "Stop at a red light.", "question": "What do I do at a red light?"},
    {
        "id": "AL-3",
        "law": "Park away from a crosswalk, 20 feet at least.",
        "question": "How near a crosswalk may I park?",
    },
    {"id": "AL-P", "law": "Bring a birth certificate.", "question": "How?", "concept": "permit", "kind": "process"},
]
QUESTIONS = """\
needs:
  - id: hydrant
    expected: {AL: [AL-1]}
    asks:
      plain: how far from a hydrant may i park
      spanish: {ask: ¿a qué distancia de un hidrante?, kind: spanish, lang: es}
    searches: [parking distance from a hydrant]
  - id: red
    expected: {AL: [AL-2]}
    asks: {plain: must i stop at a red light}
  - id: moon
    unrelated: lexical
    asks: {speed: park on the moon}
"""
SETTINGS = "embedder: bge-m3\nnear_enough: {bge-m3: -1, openai/small: -1}\n"  # every law is near enough
EMBEDDED = {"law": 4, "question": 5}
RERANK = "rerank=recorded bge-reranker-base"
HAIKU = "rerank=recorded claude-haiku-4-5"


# Processes that begin with what a recording imports, which is imported once: they are forked off a process that did.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["pytest", "tests.live.world", "evals.recording.lines", "retrieval.models.http"])


class World:
    """The folder of a project, and the command line in it."""

    def __init__(self, folder: Path, server: Loopback) -> None:
        self.folder = folder
        self.server = server
        self.recordings = folder / "recordings"
        self.options = [f"--{name}={folder / name}" for name in ("laws", "questions")]
        self.options.append(f"--settings={folder / 'settings.yaml'}")

    def run(self, command: str, *options: str) -> int:
        """The exit status of a command on this project."""
        with pytest.raises(SystemExit) as ended:
            cli.main([command, *self.options, *options])
        return int(ended.value.code or 0)

    def record(self, *changes: str) -> int:
        """The exit status of `record` with these settings."""
        return self.run("record", *(f"--set={change}" for change in changes))

    def started(self, *options: str) -> BaseProcess:
        """`record` in a process of its own."""
        arguments = [*self.options, *(f"--set={change}" for change in options)]
        process = PROCESSES.Process(target=_record, args=(self.folder, dict(os.environ), arguments))
        process.start()
        return process

    def measure(self, *changes: str) -> Run:
        """The run that `eval` reports on, without its report."""
        folder = self.folder
        laws, questions = folder / "laws", folder / "questions"
        given = options.read_inputs(folder / "settings.yaml", changes, laws=laws, questions=questions)
        return given.measure()[0]

    def recorded(self) -> dict[str, bytes]:
        """Every recorded file and what it holds."""
        files = self.recordings.rglob("*.jsonl")
        return {path.relative_to(self.recordings).as_posix(): path.read_bytes() for path in files}

    def asked(self, what: str) -> int:
        """How many requests went to a model so far."""
        return sum(what in path for path, _ in self.server.asked)


def _record(folder: Path, variables: Mapping[str, str], arguments: list[str]) -> None:
    os.environ.update(variables)
    project.PROJECT = replace(project.PROJECT, root=folder)
    recordings.RECORDINGS, recordings.CACHE = folder / "recordings", folder / "cache"
    with Path(os.devnull).open("w", encoding="utf-8") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
        cli.main(["record", *arguments])


def environment(server: Loopback) -> dict[str, str]:
    """Credentials for all providers, all at the server's address."""
    values = (ACCOUNT, TOKEN, server.address, TOKEN, f"{server.address}/v1", TOKEN, server.address)
    return dict(zip(NAMES, values, strict=True))


def made(folder: Path, server: Loopback, monkeypatch: pytest.MonkeyPatch) -> World:
    """The project, with recordings and cache of its own."""
    (folder / "laws").mkdir()
    (folder / "questions").mkdir()
    (folder / "laws" / "al.jsonl").write_text("".join(json.dumps(law) + "\n" for law in LAWS))
    (folder / "questions" / "parking.yaml").write_text(QUESTIONS, encoding="utf-8")
    (folder / "settings.yaml").write_text(SETTINGS)
    monkeypatch.setattr(recordings, "RECORDINGS", folder / "recordings")
    monkeypatch.setattr(recordings, "CACHE", folder / "cache")
    monkeypatch.setattr(project, "PROJECT", replace(project.PROJECT, root=folder))
    for name, value in environment(server).items():
        monkeypatch.setenv(name, value)
    return World(folder, server)
