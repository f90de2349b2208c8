"""The verdict for machines that run pull requests: JUnit XML, GitHub annotations, JSON."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from evals.baseline import DIGITS
from evals.compare import Change, Flip
from evals.gate import Verdict
from evals.outcomes import Outcome
from evals.questions import Key
from evals.report.verdicts.again import to_see
from evals.report.verdicts.verdict import WORDS, accepted, moved
from retrieval.documents import strict_json

# What XML 1.0 cannot hold, whatever is escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(verdict: Verdict, root: Path, options: Sequence[str] | None = ()) -> str:
    """A test case a pair, failed where it lost a law or is not asked any more; and one case for the verdict itself.

    Files are named as seen from `root`. The case of the verdict fails whenever the gate does not pass. options: those
    of the commands that show a question, as `to_see` takes them.
    """
    lost = _by_pair(verdict.lost)
    suite = Element("testsuite", name="near-enough gate")
    for pairing in verdict.comparison.pairings:
        case = _case(suite, pairing.after, root)
        if flips := lost.get(pairing.after.key):
            _fail(case, [_said(flip, options) for flip in flips])
    for outcome in verdict.comparison.vanished:
        _fail(_case(suite, outcome, root), ["the question is not asked in this state any more"])
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


def _said(flip: Flip, options: Sequence[str] | None) -> str:
    by = " and ".join(flip.stages)
    return f"{' or '.join(flip.was.laws)} no longer reached by {by}: {moved(flip)}\n{to_see(flip.after, options)}"


def annotations(verdict: Verdict, root: Path, options: Sequence[str] | None = ()) -> str:
    """GitHub's workflow commands: an error for each reason, then one on the line of each question that lost a law.

    A line is annotated once, with all its states: GitHub shows ten errors of a step. root and options: as in
    `junit_xml`.
    """
    lines = [f"::error title=Retrieval gate::{_escaped(reason)}" for reason in verdict.reasons]
    places: dict[tuple[str, int], list[Flip]] = {}
    for flip in verdict.lost:
        places.setdefault((flip.after.file, flip.after.line), []).append(flip)
    for (file, line), flips in places.items():
        said = "\n".join(f"{flip.after.question} in {flip.after.state}: {_said(flip, options)}" for flip in flips)
        where = f"file={_property(_relative(file, root))},line={line},title=Lost law"
        lines.append(f"::error {where}::{_escaped(said)}")
    return "".join(f"{line}\n" for line in lines)


def _relative(file: str, root: Path) -> str:
    path, above = Path(file).resolve(), root.resolve()
    return (path.relative_to(above) if path.is_relative_to(above) else path).as_posix()


def for_a_log(text: str) -> str:
    """Text for the log of a GitHub job, which obeys a line like `::error::` whoever wrote it: no line here is one."""
    if not re.search(r"^\s*::|##\[", text, re.MULTILINE):
        return text
    # No text holds the hash of itself, so that none can end what keeps it from being obeyed.
    token = hashlib.sha256(text.encode(errors="replace")).hexdigest()
    return f"::stop-commands::{token}\n{text}\n::{token}::"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def verdict_json(verdict: Verdict, options: Sequence[str] | None = ()) -> str:
    """The verdict as data: status, reasons, every lost and gained law, the accepted ones, the margins, the means.

    Counts are those of the text: a list holds what the text counts. options: as in `junit_xml`.
    """
    comparison = verdict.comparison
    content = {
        "status": verdict.status,
        "verdict": WORDS[verdict.status],
        "reasons": verdict.reasons,
        "lost": [_flip(flip, options) for flip in verdict.lost],
        "gained": [_flip(flip, options) for flip in verdict.gained],
        "accepted": [
            {**each.model_dump(mode="json", exclude={"stage"}), "stages": stages}
            for each, stages in accepted(verdict.still_lost).items()
        ],
        "vanished": [_pair(each) for each in comparison.vanished],
        "new": [_pair(each) for each in comparison.new],
        "new expected laws of pairs that are not new": comparison.added,
        "not expected any more": [{**_pair(outcome), "expected": group.laws} for outcome, group in comparison.dropped],
        "more laws near questions that no law answers": [
            {**_pair(each.outcome), "before": each.before, "now": each.outcome.near_laws} for each in verdict.louder
        ],
        "shrinking margins": [
            {**_pair(each.outcome), "expected": each.group.laws, "what": each.what} for each in verdict.margins
        ],
        "fallbacks": verdict.fallbacks,
        "rephraser's answers that could not be used": verdict.unrephrased,
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


def _flip(flip: Flip, options: Sequence[str] | None) -> dict[str, object]:
    return {
        **_pair(flip.after),
        "expected": flip.was.laws,
        "stages": flip.stages,
        "place before": flip.was.place,
        "place now": flip.now.place,
        "cosine before": _rounded(flip.was.cosine),
        "cosine now": _rounded(flip.now.cosine),
        "text": flip.after.text,
        "to see": None if options is None else to_see(flip.after, options),
    }


def _rounded(cosine: float | None) -> float | None:
    """To the digits that a baseline keeps, or the same cosine would seem to move."""
    return None if cosine is None else round(cosine, DIGITS)


def _change(change: Change) -> dict[str, object]:
    return {{"after": "now"}.get(name, name): value for name, value in vars(change).items()}
