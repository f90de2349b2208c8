"""A retriever in Python, as a command: laws by the share of a question's words that they hold.

    near-enough ask --retriever "python examples/retriever.py retrieval/laws" --out run.jsonl
    near-enough eval --run run.jsonl

Its argument is the folder of laws. In one process with near-enough no command is needed: `evals.retrievers.ask` takes
any callable like `retrieve` below.
"""

import sys
from functools import cache
from pathlib import Path

from evals.retrievers import Found, serve
from retrieval import Law, load_laws, words

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "laws")


@cache
def laws_of(state: str) -> list[tuple[Law, set[str]]]:
    """The laws of a state, each with its words."""
    return [(law, set(words(f"{law.law} {law.question}"))) for law in load_laws(FOLDER / f"{state.lower()}.jsonl")]


def retrieve(state: str, question: str, limit: int) -> Found:
    """The laws that hold most of the question's words, best first, with the share of them."""
    asked = set(words(question))
    shares = {law.id: len(asked & held) / len(asked) for law, held in laws_of(state) if asked & held}
    best = sorted(shares, key=lambda law: -shares[law])[:limit]
    return Found(best, [shares[law] for law in best])


if __name__ == "__main__":
    serve(retrieve)
