"""The verdict for machines that run pull requests: JUnit XML, GitHub annotations, JSON."""

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

from evals.compare import Change, Flip
from evals.gate import Verdict
from evals.outcomes import Key, Outcome
from retrieval.documents import strict_json

# What XML 1.0 cannot hold, whatever is escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(verdict: Verdict) -> str:
    """A test case a pair: failed where a law was lost, or where the pair vanished; one case for the other reasons."""
    lost = _by_pair(verdict.lost)
    cases = [after for _, after in verdict.comparison.common]
    failures = len(lost) + len(verdict.comparison.vanished) + (not verdict.passed)
    suite = Element(
        "testsuite", name="near-enough gate", tests=str(len(cases) + len(verdict.comparison.vanished) + 1),
        failures=str(failures), errors="0", skipped="0",
    )  # fmt: skip
    for outcome in cases:
        case = _case(suite, outcome)
        if outcome.key in lost:
            failure = SubElement(case, "failure", message=f"{len(lost[outcome.key])} expected laws lost")
            failure.text = _xml("\n".join(_lost(flip) for flip in lost[outcome.key]))
    for outcome in verdict.comparison.vanished:
        SubElement(_case(suite, outcome), "failure", message="the question is not asked any more")
    overall = SubElement(suite, "testcase", classname="gate", name="verdict")
    if not verdict.passed:
        failure = SubElement(overall, "failure", message=_xml("; ".join(verdict.reasons)))
        failure.text = _xml("\n".join(verdict.reasons))
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suite, encoding="unicode") + "\n"


def _case(suite: Element, outcome: Outcome) -> Element:
    return SubElement(suite, "testcase", classname=_xml(outcome.state), name=_xml(outcome.question))


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def _by_pair(flips: Iterable[Flip]) -> dict[Key, list[Flip]]:
    found: dict[Key, list[Flip]] = defaultdict(list)
    for flip in flips:
        found[flip.outcome.key].append(flip)
    return found


def _lost(flip: Flip) -> str:
    return f"{' or '.join(flip.after.laws)} no longer reached by the {flip.stage}: {flip.outcome.text}"


def annotations(verdict: Verdict, root: Path) -> str:
    """GitHub's workflow commands: an error on the YAML line of each question that lost a law, paths under `root`."""
    lines = [f"::error title=Retrieval gate::{_escaped(reason)}" for reason in verdict.reasons]
    for flips in _by_pair(verdict.lost).values():
        outcome = flips[0].outcome
        place = f"file={_property(_relative(outcome.file, root))},line={outcome.line},title=Lost law"
        said = f"{outcome.question} in {outcome.state}: " + "; ".join(_lost(flip) for flip in flips)
        lines.append(f"::error {place}::{_escaped(said)}")
    return "".join(f"{line}\n" for line in lines)


def _relative(file: str, root: Path) -> str:
    path = Path(file).resolve()
    return path.relative_to(root.resolve()).as_posix() if path.is_relative_to(root.resolve()) else path.as_posix()


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def verdict_json(verdict: Verdict) -> str:
    """The verdict as data: status, reasons, every lost and gained law, the accepted ones, the margins, the means."""
    comparison = verdict.comparison
    content = {
        "status": verdict.status,
        "reasons": verdict.reasons,
        "lost": [_flip(flip) for flip in verdict.lost],
        "gained": [_flip(flip) for flip in comparison.gained],
        "accepted": [each.model_dump(mode="json") for each in verdict.accepted],
        "vanished": [{"question": each.question, "state": each.state} for each in comparison.vanished],
        "margins": [
            {
                "question": each.outcome.question,
                "state": each.outcome.state,
                "expected": each.group.laws,
                "what": each.what,
            }
            for each in verdict.margins
        ],
        "pairs": len(comparison.common),
        "groups": comparison.groups,
        "new": len(comparison.new),
        "edited": len(comparison.edited),
        "same": dict(verdict.same),
        "means": [_change(change) for change in comparison.changes],
    }
    return strict_json(content, indent=1) + "\n"


def _flip(flip: Flip) -> dict[str, object]:
    return {
        "question": flip.outcome.question,
        "state": flip.outcome.state,
        "stage": flip.stage,
        "expected": flip.after.laws,
        "place before": flip.before.place,
        "place": flip.after.place,
        "cosine": flip.after.cosine,
        "text": flip.outcome.text,
    }


def _change(change: Change) -> dict[str, object]:
    return {
        "group": change.group,
        "stage": change.stage,
        "pairs": change.n,
        "needs": change.needs,
        "before": change.before,
        "after": change.after,
    }
