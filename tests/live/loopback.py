"""A server on loopback that speaks the providers' protocols, right by default and wrong as told."""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

Body = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """A reply: what it holds, and how it misbehaves on its way."""

    content: object = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    silence: float = 0.0  # seconds before anything is said
    cut: bool = False  # half of the body, then the end of the connection
    drip: float = 0.0  # seconds between the bytes of the body


Fault = Said | Callable[[Body, object], Said]


@dataclass
class Loopback:
    """What was asked, and what is still to go wrong: a fault a request, in order; `always` once they are used up."""

    address: str
    asked: list[tuple[str, Body]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    always: Fault | None = None
    reply: Callable[[str, Body], object] = lambda path, body: right(path, body)
    under_way: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def said(self, path: str, body: Body) -> Said:
        """What is said to a request."""
        with self.lock:
            self.asked.append((path, body))
            fault = self.faults.pop(0) if self.faults else self.always
        if isinstance(fault, Said):
            return fault
        good = self.reply(path, body)
        return Said(good) if fault is None else fault(body, good)

    def texts(self) -> list[str]:
        """Every text that was asked to be embedded, as often as it was."""
        return [text for _, body in self.asked for text in asked_texts(body)]


def asked_texts(body: Body) -> list[str]:
    """The texts that a request wants to have embedded."""
    return list(body.get("text") or body.get("input") or [])


def vector(text: str, dimensions: int) -> list[float]:
    """A vector that follows from the text."""
    seed = hashlib.sha256(text.encode()).digest()
    return [(seed[at % 32] * (at + 7) % 251) / 125 - 1 for at in range(dimensions)]


def right(path: str, body: Body) -> object:
    """What a provider says when nothing goes wrong; rerankers score a text by its length, the last law first."""
    if path.endswith("/v1/embeddings"):
        rows = [{"index": at, "embedding": vector(text, 6)} for at, text in enumerate(body["input"])]
        return {"object": "list", "data": rows, "model": body["model"]}
    if path.endswith("/v1/messages"):
        return message('{"ranked": [1, 0]}' if "ranked" in json.dumps(body["output_config"]) else SEARCHES)
    if "text" in body:
        vectors = [vector(text, 1024) for text in body["text"]]
        return envelope({"shape": [len(vectors), 1024], "data": vectors, "pooling": "cls"})
    scored = [{"id": at, "score": len(each["text"]) / 1000} for at, each in enumerate(body["contexts"])]
    return envelope({"response": scored[::-1]})


SEARCHES = '{"searches": ["distance from a fire hydrant"], "family": "none"}'


def envelope(result: object) -> Body:
    """A success of Workers AI."""
    return {"result": result, "success": True, "errors": [], "messages": []}


def failure(code: int, message: str = "AiError: something") -> Body:
    """A failure of Workers AI."""
    return {"errors": [{"message": message, "code": code}], "success": False}


def message(text: str, stop: str = "end_turn") -> Body:
    """A message of Anthropic's, with a thinking block before the text."""
    content = [{"type": "thinking", "thinking": "…", "signature": "s"}, {"type": "text", "text": text}]
    counted = {"input_tokens": 900, "output_tokens": 12}
    head = {"id": "m", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "stop_reason": stop}
    return {**head, "content": content, "usage": counted}


@contextmanager
def serving() -> Iterator[Callable[[], Loopback]]:
    """A server on a free port, in threads of its own, until the end of the block.

    Each call makes it answer as if it were a new one: by a new `Loopback`, which notes what comes from then on.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        told: ClassVar[Loopback]

        def do_POST(self) -> None:
            told = self.told
            with told.lock:
                told.under_way += 1
                told.most_at_once = max(told.most_at_once, told.under_way)
                told.headers.append(dict(self.headers))
            try:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self._say(told.said(self.path, body))
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
            finally:
                with told.lock:
                    told.under_way -= 1

        def _say(self, said: Said) -> None:
            time.sleep(said.silence)
            raw = json.dumps(said.content).encode() if said.raw is None else said.raw
            self.send_response(said.status)
            for name, value in {"Content-Type": "application/json", **said.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            if said.cut:
                self.wfile.write(raw[: len(raw) // 2])
                self.close_connection = True
            elif said.drip:
                for at in range(len(raw)):
                    self.wfile.write(raw[at : at + 1])
                    self.wfile.flush()
                    time.sleep(said.drip)
            else:
                self.wfile.write(raw)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True

    def anew() -> Loopback:
        Handler.told = Loopback(f"http://127.0.0.1:{server.server_port}")
        return Handler.told

    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield anew
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
