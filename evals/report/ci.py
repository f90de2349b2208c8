"""The verdict for machines that run pull requests: JUnit XML, GitHub annotations, JSON."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from evals.compare import Change, Flip
from evals.gate import Verdict
from evals.outcomes import Key, Outcome
from evals.report.verdict import WORDS, moved, to_see
from retrieval.documents import strict_json

# What XML 1.0 cannot hold, whatever is escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(verdict: Verdict, root: Path) -> str:
    """A test case a pair, failed where it lost a law or is not asked any more; and one case for the verdict itself.

    Files are named as seen from `root`. The case of the verdict fails whenever the gate does not pass.
    """
    lost = _by_pair(verdict.lost)
    suite = Element("testsuite", name="near-enough gate")
    for pairing in verdict.comparison.pairings:
        case = _case(suite, pairing.after, root)
        if flips := lost.get(pairing.after.key):
            _fail(case, [_said(flip) for flip in flips])
    for outcome in verdict.comparison.vanished:
        _fail(_case(suite, outcome, root), ["the question is not asked any more"])
    overall = SubElement(suite, "testcase", classname="gate", name="verdict", time="0")
    if not verdict.passed:
        _fail(overall, verdict.reasons)
    counts = {"tests": len(suite), "failures": len(suite.findall("testcase/failure"))}
    for name, count in {**counts, "errors": 0, "skipped": 0}.items():
        suite.set(name, str(count))
    indent(suite, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suite, encoding="unicode") + "\n"


def _case(suite: Element, outcome: Outcome, root: Path) -> Element:
    case = SubElement(suite, "testcase", classname=_xml(outcome.state), name=_xml(outcome.question), time="0")
    if outcome.file:
        case.set("file", _xml(_relative(outcome.file, root)))
        case.set("line", str(outcome.line))
    return case


def _fail(case: Element, said: Sequence[str]) -> None:
    SubElement(case, "failure", message=_xml(said[0])).text = _xml("\n".join(said))


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def _by_pair(flips: Iterable[Flip]) -> Mapping[Key, list[Flip]]:
    found: dict[Key, list[Flip]] = {}
    for flip in flips:
        found.setdefault(flip.after.key, []).append(flip)
    return found


def _said(flip: Flip) -> str:
    by = " and ".join(flip.stages)
    return f"{' or '.join(flip.was.laws)} no longer reached by {by}: {moved(flip)}\n{to_see(flip.after)}"


def annotations(verdict: Verdict, root: Path) -> str:
    """GitHub's workflow commands: an error for each reason, then one on the line of each question that lost a law.

    A line is annotated once, with all its states: GitHub shows ten errors of a step. Files are named as seen from
    `root`.
    """
    lines = [f"::error title=Retrieval gate::{_escaped(reason)}" for reason in verdict.reasons]
    places: dict[tuple[str, int], list[Flip]] = {}
    for flip in verdict.lost:
        places.setdefault((flip.after.file, flip.after.line), []).append(flip)
    for (file, line), flips in places.items():
        said = "\n".join(f"{flip.after.question} in {flip.after.state}: {_said(flip)}" for flip in flips)
        where = f"file={_property(_relative(file, root))},line={line},title=Lost law"
        lines.append(f"::error {where}::{_escaped(said)}")
    return "".join(f"{line}\n" for line in lines)


def _relative(file: str, root: Path) -> str:
    path, above = Path(file).resolve(), root.resolve()
    return (path.relative_to(above) if path.is_relative_to(above) else path).as_posix()


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def verdict_json(verdict: Verdict) -> str:
    """The verdict as data: status, reasons, every lost and gained law, the accepted ones, the margins, the means."""
    comparison = verdict.comparison
    content = {
        "status": verdict.status,
        "verdict": WORDS[verdict.status],
        "reasons": verdict.reasons,
        "lost": [_flip(flip) for flip in verdict.lost],
        "gained": [_flip(flip) for flip in verdict.gained],
        "accepted": [each.model_dump(mode="json") for each in verdict.still_lost],
        "vanished": [_pair(each) for each in comparison.vanished],
        "new": [_pair(each) for each in comparison.new],
        "not expected any more": [{**_pair(outcome), "expected": group.laws} for outcome, group in comparison.dropped],
        "more laws near questions that no law answers": [
            {**_pair(each.outcome), "before": each.before, "now": each.outcome.near_laws} for each in verdict.louder
        ],
        "shrinking margins": [
            {**_pair(each.outcome), "expected": each.group.laws, "what": each.what} for each in verdict.margins
        ],
        "fallbacks": verdict.fallbacks,
        "judged": {"pairs": len(comparison.pairings), "expected laws": comparison.groups},
        "searches, not judged": {
            stage: {"before": before, "now": now} for stage, (before, now) in verdict.searches.items()
        },
        "same as the baseline's": dict(verdict.same),
        "means": [_change(change) for change in comparison.changes],
    }
    return strict_json(content, indent=1) + "\n"


def _pair(outcome: Outcome) -> dict[str, object]:
    return {"question": outcome.question, "state": outcome.state}


def _flip(flip: Flip) -> dict[str, object]:
    return {
        **_pair(flip.after),
        "expected": flip.was.laws,
        "stages": flip.stages,
        "place before": flip.was.place,
        "place now": flip.now.place,
        "cosine before": flip.was.cosine,
        "cosine now": flip.now.cosine,
        "text": flip.after.text,
    }


def _change(change: Change) -> dict[str, object]:
    return {
        "by": change.by,
        "group": change.group,
        "stage": change.stage,
        "pairs": change.pairs,
        "needs": change.needs,
        "before": change.before,
        "now": change.after,
        "lost": change.lost,
        "gained": change.gained,
    }
