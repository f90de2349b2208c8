"""The question in the law's words: what a model is asked for, and what of its reply is used. Asks nobody itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from retrieval.errors import RerankError
from retrieval.rerank import output_config, reply_content

SEARCHES = 3
NO_FAMILY = "none"

_INSTRUCTIONS = f"""\
A learner driver asks a question. Statutes and driver manuals say the same in other words, and are searched by words.
Write up to {SEARCHES} short searches in English that say what is asked in the words a statute would use.
Stay with what is asked: name the vehicle, the age group, the place and the offence only where the question does.
Write no search for a question that is not about driving, vehicles or licenses.
You are also given the names of procedures that the state's own pages describe. Where the question asks how to go about
one of them, name it as the family; in every other case the family is "{NO_FAMILY}"."""


@dataclass(frozen=True)
class Rephrased:
    """At most three searches, and the key of the family of page rows that was named, if any."""

    searches: tuple[str, ...] = ()
    family: str | None = None


def rephrase_request(model: str, question: str, families: Sequence[str]) -> dict[str, Any]:
    """What is sent to the messages API for a question and the keys of the state's families of page rows."""
    schema = {
        "type": "object",
        "properties": {
            "searches": {"type": "array", "items": {"type": "string"}},
            "family": {"type": "string", "enum": [NO_FAMILY, *families]},
        },
        "required": ["searches", "family"],
        "additionalProperties": False,
    }
    listed = "\n".join(families) or NO_FAMILY
    return {
        "model": model,
        "max_tokens": 1024,
        "system": _INSTRUCTIONS,
        "output_config": output_config(model, schema),
        "messages": [{"role": "user", "content": f"Question: {question}\n\nProcedures:\n{listed}"}],
    }


def rephrased(response: Any, families: Sequence[str]) -> Rephrased:
    """What a reply says: searches on one line each, without repeats and empty ones, the first three.

    RerankError, with its cause, for a reply that was cut off or refused, holds no such JSON, or names a family that
    was not given.
    """
    reply, text = reply_content(response)
    searches = reply.get("searches") if isinstance(reply, dict) else None
    if not isinstance(reply, dict) or not isinstance(searches, list) or not all(isinstance(s, str) for s in searches):
        raise RerankError("unreadable", f"the reply holds no list of searches: {text}")
    family = reply.get("family", NO_FAMILY)
    if family not in (NO_FAMILY, *families):
        raise RerankError("named what was not given", f"the reply names a family that was not given: {text}")
    lines = (" ".join(search.split()) for search in searches)
    kept = tuple(dict.fromkeys(line for line in lines if line))[:SEARCHES]
    return Rephrased(kept, None if family == NO_FAMILY else family)
