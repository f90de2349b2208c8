"""The verdict as Markdown: a comment that fits a pull request, and the summary of a step.

What others wrote (questions, ids, reasons) is inert: it ends no cell, holds no markup and calls nobody.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evals.compare import Flip
from evals.gate import FAILED, NOT_COMPARABLE, Verdict
from evals.outcomes import JUDGED
from evals.report.verdicts.again import TO_ACCEPT, to_see
from evals.report.verdicts.verdict import WORDS, accepted, certainty, judged, moved, moved_means, searches_lines

# GitHub takes 65,536 characters; some stay free for what a workflow writes around the comment.
LARGEST = 60_000
NAMED_SHARE = 0.6  # of what is left, for the laws lost, and of what they leave, for those gained
TEXT_LARGEST = 300
COMMAND_LARGEST = 4000

_MARKUP = re.compile(r"[@#&<>\"`*_\[\]|\\~]")


@dataclass(frozen=True)
class Section:
    """A folded table: its title, whether it is open, its columns and its rows, which are inert already."""

    title: str
    is_open: bool
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def verdict_markdown(verdict: Verdict, options: Sequence[str] | None = (), to_accept: str = TO_ACCEPT) -> str:
    """The verdict, its reasons, the means, the laws lost and gained, and the rest folded; 60,000 characters at most.

    Tables are cut at whole rows, with the number of the rows left out. options and to_accept: as in `verdict_text`.
    """
    text = "\n".join(_head(verdict, options, to_accept)) + "\n"
    if verdict.status == NOT_COMPARABLE:
        return text
    for share, section in _sections(verdict):
        text += folded(section, int(share * (LARGEST - len(text))))
    return text


def _head(verdict: Verdict, options: Sequence[str] | None, to_accept: str) -> Iterable[str]:
    yield f"### Retrieval gate: {WORDS[verdict.status]}"
    yield ""
    if verdict.reasons:
        yield from (f"* {_short(reason)}" for reason in verdict.reasons)
        yield ""
    if verdict.status != NOT_COMPARABLE:
        yield from _means(verdict)
        yield "; ".join(map(inert, [judged(verdict), *searches_lines(verdict)])) + "."
    if verdict.status == FAILED and verdict.lost and options is not None:
        yield from _block("To see one:", to_see(verdict.lost[0].after, options))
    if verdict.acceptable:
        yield from _block("To accept what was lost, each law by name in the baseline:", to_accept)
    elif verdict.passed and verdict.gained:
        yield from _block("To hold what was gained from now on:", to_accept)


def _block(title: str, command: str) -> Iterable[str]:
    """A command as it is, to be copied; nothing for one that leaves no room for the rest."""
    if len(command) <= COMMAND_LARGEST:
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", command)), default=0))
        yield from ("", title, "", f"{fence}sh", command, fence)


def _means(verdict: Verdict) -> Iterable[str]:
    changes = moved_means(verdict.comparison)
    if changes:
        yield "| stage | recall before | recall now | pairs | needs | lost | gained | how sure the change is |"
        yield "|---|---:|---:|---:|---:|---:|---:|---|"
    for change in changes:
        sure = certainty(verdict.comparison, change.stage)
        cells = (*(f"{each:,}" for each in (change.pairs, change.needs, change.lost, change.gained)), sure)
        yield f"| {change.stage} | {change.before:.4f} | {change.after:.4f} | {' | '.join(cells)} |"
    if changes:
        yield ""


def _sections(verdict: Verdict) -> Iterable[tuple[float, Section]]:
    """The tables, and how much of the space that is left each may take."""
    columns: tuple[str, ...] = ("question", "state", "expected", "by", "moved", "text")
    yield NAMED_SHARE, Section("Lost laws", True, columns, _flips(verdict.lost))
    yield NAMED_SHARE, Section("Gained laws", False, columns, _flips(verdict.gained))
    rows = [
        _row(change.by, change.group, change.stage, f"{change.before:.4f}", f"{change.after:.4f}", f"{change.pairs:,}")
        for change in verdict.comparison.changes
        if change.by != "all" and change.stage in JUDGED and (change.lost or change.gained)
    ]
    yield 0.5, Section("By kind, state and language", False, ("by", "", "stage", "before", "now", "pairs"), rows)
    rows = [_row(*each.outcome.key, each.before, each.outcome.near_laws, each.outcome.text) for each in verdict.louder]
    columns = ("question", "state", "before", "now", "text")
    yield 0.5, Section("More laws near what no law answers, pairs", False, columns, rows)
    rows = [_row(each.question, each.state) for each in verdict.comparison.vanished]
    yield 0.5, Section("Pairs not asked any more", False, ("question", "state"), rows)
    columns = ("question", "state", "expected", "")
    rows = [_row(*outcome.key, " or ".join(group.laws), "judged") for outcome, group in verdict.comparison.dropped]
    yield 0.5, Section("Laws not expected any more", False, columns, rows)
    rows = [_row(*each.outcome.key, " or ".join(each.group.laws), each.what) for each in verdict.margins]
    yield 0.5, Section("Shrinking margins: they still arrive", False, columns, rows)
    columns = ("question", "state", "expected", "by", "why")
    rows = [
        _row(each.question, each.state, " or ".join(each.expected), " and ".join(stages), each.why)
        for each, stages in accepted(verdict.still_lost).items()
    ]
    yield 1.0, Section("Lost before and accepted", False, columns, rows)


def _flips(flips: Iterable[Flip]) -> list[list[str]]:
    return [
        _row(*flip.after.key, " or ".join(flip.was.laws), " and ".join(flip.stages), moved(flip), flip.after.text)
        for flip in flips
    ]


def _row(*values: object) -> list[str]:
    return [_short(str(value)) for value in values]


def folded(section: Section, budget: int) -> str:
    """A section in at most `budget` characters: whole rows, and how many were left out; nothing for no rows."""
    if not section.rows:
        return ""
    tag = "<details open>" if section.is_open else "<details>"
    head = f"\n{tag}<summary>{section.title}: {len(section.rows)}</summary>\n\n"
    head += f"| {' | '.join(section.columns)} |\n|{'---|' * len(section.columns)}\n"
    foot = "\n</details>\n"
    left = budget - len(head) - len(foot) - len(_left_out(len(section.rows)))
    shown = 0
    lines = [f"| {' | '.join(row)} |\n" for row in section.rows]
    while shown < len(lines) and len(lines[shown]) <= left:
        left -= len(lines[shown])
        shown += 1
    if not shown:
        line = f"\n{section.title}: {len(section.rows)}\n"
        return line if len(line) <= budget else ""
    return head + "".join(lines[:shown]) + _left_out(len(lines) - shown) + foot


def _left_out(count: int) -> str:
    return f"\nand {count} more, in the job's log and report\n" if count else ""


def _short(text: str) -> str:
    return inert(text if len(text) <= TEXT_LARGEST else text[:TEXT_LARGEST] + "…")


def inert(text: str) -> str:
    """Text for a Markdown cell or paragraph that shows as it is: no markup, no mention of anybody, no new line."""
    return _MARKUP.sub(lambda found: _written(found[0]), " ".join(text.split()))


def _written(sign: str) -> str:
    # A comment after the sign: GitHub reads no mention and no number there. An entity would be one again.
    return f"{sign}<!-- -->" if sign in "@#" else f"&#{ord(sign)};"
