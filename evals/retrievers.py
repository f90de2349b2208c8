"""A retriever that somebody else wrote, asked the questions of the set.

In Python it is a callable (`Retriever`). In any other language it is a command (`Command`): started once, it reads a
JSON line a question from its standard input,

    {"state": "MD", "question": "how far from a hydrant", "limit": 8}

and writes a JSON line a reply to its standard output, best law first, scores if it has any (higher is better):

    {"laws": ["MD-S01", "MD-S07"], "scores": [0.91, 0.72]}      or      {"error": "the index is being rebuilt"}

Everything else it has to say belongs on standard error. What it gave is measured by `eval --run`, not here.
"""

import json
import math
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from queue import Empty, Queue
from threading import Thread
from time import monotonic
from typing import IO, Protocol, Self

from evals.questions import Pair
from retrieval.corpus import Law
from retrieval.documents import parse_json, strict_json
from retrieval.errors import NearEnoughError

RANKED = "ranked"
IN_A_ROW = 3  # failures; then the retriever is broken, and asking on would only take time
LONGEST_LINE = 2**22
LAST_WORDS = 2000  # bytes of what it said on standard error that a message shows
LARGEST = 1e300  # of a score: JSON's 1e999 is read as infinity, and its whole numbers may have any length
WAITING_LINES = 16  # replies are asked for one at a time: more is a command that talks without end
CLOSING = 5.0  # seconds for the command to end by itself once its input has

Progress = Callable[[int, int], None]


class RetrieverError(NearEnoughError):
    """A question that a retriever did not answer; the run counts it by `cause`."""

    def __init__(self, cause: str, message: str) -> None:
        self.cause = cause
        super().__init__(message)


@dataclass(frozen=True)
class Found:
    """Ids of laws, best first, and a score for each where the retriever has scores; higher is better."""

    laws: Sequence[str]
    scores: Sequence[float] | None = None


class Retriever(Protocol):
    """What finds laws for a question."""

    def __call__(self, state: str, question: str, limit: int) -> Found:
        """At most `limit` laws of the state; none is an answer too. RetrieverError where it cannot tell."""
        ...


@dataclass(frozen=True)
class Answer:
    """A line of a run: what a retriever gave for a question of the set, by the question's id, and at which stage.

    outcome: `ranked`, or why there is no answer (`timed out`, `stopped`, `error`): then there are no laws.
    """

    state: str
    question: str
    laws: tuple[str, ...]
    scores: tuple[float, ...] | None
    stage: str
    outcome: str

    def line(self) -> str:
        """The answer as a JSON line."""
        return strict_json(asdict(self)) + "\n"


def ask(
    retriever: Retriever,
    pairs: Sequence[Pair],
    corpus: Mapping[str, Sequence[Law]],
    limit: int,
    stage: str = "answer",
    progress: Progress | None = None,
) -> Iterator[Answer]:
    """What the retriever gives for each pair, in the pairs' order; laws beyond `limit` are cut.

    A question that it does not answer becomes an answer without laws, with the cause as its outcome; the third in a
    row ends the asking with that error. NearEnoughError, naming the question, for a reply that is wrong in itself: an
    id that the state's laws lack, an id given twice, scores that are not one a law, not numbers, or that rise.
    """
    known = {state: {law.id for law in laws} for state, laws in corpus.items()}
    failures = 0
    for done, pair in enumerate(pairs, 1):
        try:
            found = retriever(pair.state, pair.text, limit)
        except RetrieverError as error:
            failures += 1
            if failures == IN_A_ROW:
                raise NearEnoughError(f"{failures} questions in a row without an answer; the last: {error}") from None
            yield Answer(pair.state, pair.question, (), None, stage, error.cause)
        else:
            failures = 0
            if wrong := _wrong(found, known[pair.state]):
                raise NearEnoughError(f"the retriever's reply to {pair.text!r} in {pair.state}: {wrong}")
            scores = None if found.scores is None else tuple(map(float, found.scores[:limit]))
            yield Answer(pair.state, pair.question, tuple(found.laws[:limit]), scores, stage, RANKED)
        if progress is not None:
            progress(done, len(pairs))


def _wrong(found: Found, known: set[str]) -> str | None:
    """What is wrong with a reply; None where nothing is."""
    unknown = [law for law in found.laws if law not in known]
    if unknown:
        return f"{', '.join(unknown[:3])} {'is' if len(unknown) == 1 else 'are'} no law of this state; give ids"
    if len(set(found.laws)) < len(found.laws):
        return f"a law is given twice: {', '.join(found.laws)}"
    if found.scores is None:
        return None
    if len(found.scores) != len(found.laws):
        return f"{len(found.scores)} scores for {len(found.laws)} laws"
    if not all(math.isfinite(score) for score in found.scores):
        return "a score is not a finite number"
    if any(after > before for before, after in zip(found.scores, found.scores[1:], strict=False)):
        return "scores rise; the best law comes first, and a higher score is better (give a distance as its negative)"
    return None


class Command:
    """A retriever in any language, as a process that answers line by line. Close it, or use it as a context manager.

    command: as in a shell, but started without one. timeout: seconds for each reply, the first with the start-up. A
    process that fell silent or ended is started anew for the next question. NearEnoughError where it cannot be started,
    where a reply has another form, and where it says more than it was asked.
    """

    def __init__(self, command: str, timeout: float) -> None:
        self.command = command
        self.timeout = timeout
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._said_before = 0  # bytes in it of processes that ended
        self._process: subprocess.Popen[bytes] | None = None
        self._replies: Queue[bytes] = Queue(WAITING_LINES)
        self._pump = Thread()

    def __call__(self, state: str, question: str, limit: int) -> Found:
        """The reply to one question."""
        process = self._process or self._start()
        if not self._replies.empty():
            self._refuse_more(self._replies.get())
        try:
            _write(process, json.dumps({"state": state, "question": question, "limit": limit}))
            reply = self._replies.get(timeout=self.timeout)
        except Empty:
            self._end()
            raise RetrieverError(
                "timed out",
                f"no reply to {question!r} within {self.timeout:g} s: {self.command}"
                f" (is each line flushed?){self._last_words()}",
            ) from None
        except OSError:
            reply = b""
        if not reply:
            status = self._end()
            raise RetrieverError(
                "stopped", f"ended with status {status} at {question!r}: {self.command}{self._last_words()}"
            )
        return self._read(reply)

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            arguments = shlex.split(self.command)
            self._said_before = self._errors.seek(0, os.SEEK_END)
            # A process group of its own, so that what the command starts ends with it.
            self._process = subprocess.Popen(  # noqa: S603 - the user's own command, started without a shell
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,
            )
        except (OSError, ValueError, IndexError) as error:
            what = getattr(error, "strerror", None) or error
            raise NearEnoughError(f"cannot start the retriever {self.command!r}: {what}") from None
        self._replies = Queue(WAITING_LINES)
        self._pump = Thread(target=_pump, args=(self._process.stdout, self._replies), daemon=True)
        self._pump.start()
        return self._process

    def _read(self, reply: bytes) -> Found:
        try:
            content = parse_json(reply.decode())
        except ValueError:
            content = None
        if not isinstance(content, dict):
            hint = "print nothing else to standard output; messages belong on standard error"
            raise NearEnoughError(f"expected a JSON object on one line, found {_shown(reply)}: {self.command} ({hint})")
        if isinstance(content.get("error"), str):
            raise RetrieverError("error", f"{content['error']}: {self.command}")
        laws, scores = content.get("laws"), content.get("scores")
        if not isinstance(laws, list) or not all(isinstance(law, str) for law in laws):
            raise NearEnoughError(f'expected "laws", a list of ids, found {_shown(reply)}: {self.command}')
        if scores is not None and not (isinstance(scores, list) and all(map(_is_number, scores))):
            raise NearEnoughError(f'expected "scores", a list of numbers, found {_shown(reply)}: {self.command}')
        return Found(laws, scores)

    def _refuse_more(self, line: bytes) -> None:
        """A line that no question asked for would shift every reply by one: none could be trusted."""
        if line:
            raise NearEnoughError(f"more than a line a question, found {_shown(line)}: {self.command}")

    def _last_words(self) -> str:
        self._errors.seek(max(self._said_before, self._errors.seek(0, os.SEEK_END) - LAST_WORDS))
        words = self._errors.read().decode(errors="replace").strip()
        return f"; it said: {words}" if words else ""

    def _end(self) -> int:
        """End the process and whatever it started; its status, negative where a signal ended it."""
        process, self._process = self._process, None
        if process is None:
            return 0
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.2)  # one that has just closed its output still has a status to give
        status = process.poll()
        process.kill()
        if hasattr(os, "killpg"):  # elsewhere there are no groups, and what it started is left to it
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        deadline = monotonic() + CLOSING
        while self._pump.is_alive() and monotonic() < deadline:
            with suppress(Empty):
                self._replies.get(timeout=0.02)
        # A stream that is still being read, by the grace of something that outlived its group, cannot be closed.
        for stream in (process.stdin, None if self._pump.is_alive() else process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        return process.returncode if status is None else status

    def close(self, check: bool = True) -> None:
        """Let the process end, and end it where it does not; with `check`, refuse what it said beyond its replies."""
        process = self._process
        if process is not None and process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
            with suppress(Empty):
                if (line := self._replies.get(timeout=CLOSING)) and check:
                    self._end()
                    self._errors.close()
                    self._refuse_more(line)
            self._end()
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(check=kind is None)


def _shown(line: bytes) -> str:
    return repr(line[:200].decode(errors="replace").strip())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def _write(process: subprocess.Popen[bytes], line: str) -> None:
    if process.stdin is not None:
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()


def _pump(stream: IO[bytes], replies: "Queue[bytes]") -> None:
    """Every line of a stream into a queue, and an empty one at its end. A line without end is cut, and is no JSON."""
    with suppress(ValueError, OSError):
        for line in iter(lambda: stream.readline(LONGEST_LINE), b""):
            replies.put(line)
    replies.put(b"")


def serve(retriever: Retriever, lines: Iterable[str] | None = None, out: IO[str] | None = None) -> None:
    """Make a command of a retriever in Python: answer every line of the input, each reply flushed.

    lines, out: standard input and output, where nothing else is given.
    """
    out = out or sys.stdout
    for line in lines or sys.stdin:
        request = json.loads(line)
        try:
            found = retriever(request["state"], request["question"], request["limit"])
        except RetrieverError as error:
            reply: dict[str, object] = {"error": str(error)}
        else:
            reply = {"laws": list(found.laws), "scores": None if found.scores is None else list(found.scores)}
        out.write(json.dumps(reply) + "\n")
        out.flush()
