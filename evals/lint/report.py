"""Every doubt about a set without faults, each once and in one order, and the text that tells them. Prints nothing."""

from collections import Counter
from collections.abc import Iterable

from evals.counted import counted
from evals.lint.checked import Checked
from evals.lint.coverage import SMALLEST_GROUP, empty_laws, small_groups, unknown_concepts, unknown_kinds
from evals.lint.doubts import KINDS, Doubt
from evals.lint.labels import VERY_NEAR, missed, not_judged, page_rows
from evals.lint.wording import same_texts, shared_runs, telling_words
from evals.run import Run
from retrieval.pipeline import EmbedTexts


def find_doubts(
    checked: Checked,
    run: Run | None = None,
    embed: EmbedTexts | None = None,
    smallest_group: int = SMALLEST_GROUP,
) -> list[Doubt]:
    """The doubts by file, line, kind and text.

    The kinds `missed` and `not judged` are looked for where a run and the `embed` of its model are given.
    """
    found = [
        *empty_laws(checked),
        *same_texts(checked),
        *shared_runs(checked.corpus, checked.pairs),
        *telling_words(checked.corpus, checked.pairs),
        *page_rows(checked),
        *unknown_concepts(checked),
        *unknown_kinds(checked),
        *small_groups(checked, smallest_group),
    ]
    if run is not None:
        found += missed(run)
        very_near = VERY_NEAR.get(run.settings.embedder)
        if embed is not None and very_near is not None:
            found += not_judged(checked, embed, very_near)
    return sorted(set(found), key=_order)


def _order(doubt: Doubt) -> tuple[str, int, int, str]:
    return doubt.fault.file, doubt.fault.line or 0, KINDS.index(doubt.kind), doubt.fault.what


def report(checked: Checked, doubts: Iterable[Doubt], left_out: str | None = None) -> str:
    """The doubts, one a line with the kind at its end, and a last line that counts them by kind.

    `left_out` says why the kinds that need vectors were not looked for.
    """
    doubts = list(doubts)
    lines = [f"{doubt.fault} [{doubt.kind}]" for doubt in doubts]
    if left_out is not None:
        lines.append(f"Not looked for: missed, not judged. {left_out}")
    held = [
        counted(sum(map(len, checked.corpus.values())), "law"),
        counted(len({pair.need for pair in checked.pairs}), "need"),
    ]
    counts = Counter(doubt.kind for doubt in doubts)
    by_kind = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])
    warnings = f"{counted(len(doubts), 'warning')}: {by_kind}" if doubts else "no warnings"
    return "\n".join([*lines, f"{' and '.join(held)}, no errors, {warnings}."])
