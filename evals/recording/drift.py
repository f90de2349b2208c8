"""Whether the models still say what was recorded: a sample asked again and compared. Records nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evals.recording.asking import why
from evals.run import Ask
from retrieval.live import Asked, LiveStage, ask_all, scores
from retrieval.models import Embedded, Kind
from retrieval.models.calls import Bounds
from retrieval.recordings import Vectors, quantise
from retrieval.replies import Call, Reply

SAMPLE = 20
FIRST = 3


@dataclass(frozen=True)
class Drift:
    """One stage's sample: how many were asked again, how many said the same, and how far the rest is off."""

    what: str
    asked: int
    same: int
    said: str

    def __str__(self) -> str:
        """A line for a person."""
        return f"{self.what}: {self.same} of {self.asked} asked again say the same; {self.said}"


def sample(keys: Sequence[str], size: int = SAMPLE) -> list[str]:
    """At most `size` of the keys, evenly spaced in their order: the same ones every time."""
    if len(keys) <= size:
        return list(keys)
    return [keys[at * len(keys) // size] for at in range(size)]


def of_vectors(vectors: Vectors, texts: Sequence[tuple[Kind, str]]) -> Drift:
    """A sample of recorded texts embedded again: the same integers, and the lowest cosine with what was recorded.

    ModelError where the model cannot be asked here.
    """
    recorded = [(kind, text) for kind, text in dict.fromkeys(texts) if not vectors.unrecorded(kind, [text])]
    chosen = set(sample([f"{kind} {text}" for kind, text in recorded]))
    embed, _ = vectors.model.load()
    same, cosines = 0, []
    for kind in ("query", "passage"):
        part = [text for each, text in recorded if each == kind and f"{each} {text}" in chosen]
        if not part:
            continue
        given = embed(kind, part)
        new = quantise(given.vectors if isinstance(given, Embedded) else given, part).astype(float)
        old = vectors.embed(kind, part).astype(float)
        if new.shape != old.shape:
            return Drift(f"vectors of {vectors.model.name}", len(chosen), 0, f"now of {new.shape[1]} dimensions")
        norms = np.linalg.norm(new, axis=1) * np.linalg.norm(old, axis=1)
        cosines += ((new * old).sum(axis=1) / norms).tolist()
        same += int((new == old).all(axis=1).sum())
    lowest = f"lowest cosine with the recorded {min(cosines):.6f}" if cosines else "nothing is recorded"
    return Drift(f"vectors of {vectors.model.name}", len(cosines), same, lowest)


@dataclass
class Checker:
    """Answers from the recordings and asks a sample of the calls again; called as `Ask` is."""

    replay: Ask
    found: list[Drift]
    bounds: Bounds | None = None

    def __call__(self, stage: LiveStage, calls: Sequence[Call]) -> Mapping[str, Reply]:
        """The recorded replies; what the sample said is in `found`."""
        recorded = self.replay(stage, calls)
        by_key = {call.key: call for call in calls if not recorded[call.key].failed}
        chosen = [by_key[key] for key in sample(sorted(by_key))]
        asked = ask_all(stage, chosen, bounds=self.bounds)
        self.found.append(_compared(stage, chosen, recorded, asked))
        return recorded


def _compared(stage: LiveStage, calls: Sequence[Call], before: Mapping[str, Reply], asked: Asked) -> Drift:
    after = asked.replies
    answered = [call for call in calls if call.key in after and not after[call.key].failed]
    same = sum(after[call.key].content == before[call.key].content for call in answered)
    lost = len(calls) - len(answered)
    said = f"{lost} got no answer that can be used" if lost else "all were answered"
    said += f" ({why(asked, calls)})" if asked.failed else ""
    if stage.stage == "rerank":
        moved = sum(_first(call, before[call.key]) != _first(call, after[call.key]) for call in answered)
        said += f"; {moved} with other laws among the first {FIRST}"
        off = [
            _apart(call, before[call.key], after[call.key]) for call in answered if "scores" in after[call.key].content
        ]
        said += f"; scores at most {max(off):.6g} apart" if off else ""
    return Drift(f"{stage.stage} with {stage.name}", len(calls), same, said)


def _first(call: Call, reply: Reply) -> list[int]:
    given = scores(call, reply)
    return sorted(range(len(given)), key=lambda at: -given[at])[:FIRST]


def _apart(call: Call, one: Reply, other: Reply) -> float:
    return max((abs(a - b) for a, b in zip(scores(call, one), scores(call, other), strict=True)), default=0.0)
