"""What a set names that its lists lack, laws that say nothing, and groups that are too small to say much."""

from collections.abc import Iterable

from evals.lint.checked import CONCEPTS, Checked, Place
from evals.lint.doubts import Doubt, doubt, listed
from retrieval.corpus import KINDS, Law

# Where fewer needs make a mean, one of them lost moves it by more than a tenth.
SMALLEST_GROUP = 10


def unknown_concepts(checked: Checked) -> Iterable[Doubt]:
    """Concepts that the list beside the laws lacks, once a state, at the first law that names one."""
    if checked.concepts is None:
        return
    for state, laws in checked.corpus.items():
        users: dict[tuple[str, bool], list[str]] = {}
        for law in laws:
            if not checked.concepts.hold(law):
                users.setdefault((law.concept, law.is_page_row), []).append(law.id)
        for (concept, of_page_rows), ids in users.items():
            among = f"the families of {CONCEPTS}" if of_page_rows else f"the topics of {CONCEPTS}"
            what = f"{listed(ids)}: the concept {concept} is not among {among}; spell it as there, or add it"
            yield doubt("unknown concept", checked.laws_at[state][ids[0]], what)


def unknown_kinds(checked: Checked) -> Iterable[Doubt]:
    """Kinds of law that mean nothing here, once a state, at the first law of each."""
    for state, laws in checked.corpus.items():
        of_kind: dict[str, list[str]] = {}
        for law in laws:
            if law.kind not in KINDS:
                of_kind.setdefault(law.kind, []).append(law.id)
        for kind, ids in of_kind.items():
            what = f"{listed(ids)}: the kind {kind!r} is none of {', '.join(KINDS)}, and is taken for a rule"
            yield doubt("unknown kind", checked.laws_at[state][ids[0]], what)


def empty_laws(checked: Checked) -> Iterable[Doubt]:
    """Laws with a blank rule: whoever is answered with one reads nothing."""
    for state, laws in checked.corpus.items():
        for law in laws:
            if not law.law.strip():
                yield doubt("no text", checked.laws_at[state][law.id], f"{law.id}: {_found_by(law)}")


def _found_by(law: Law) -> str:
    if law.question.strip():
        return "an empty `law`, found by its question alone; write the rule, or drop it"
    return "an empty `law` and no question, so that nothing finds it; write the rule, or drop it"


def small_groups(checked: Checked, smallest: int = SMALLEST_GROUP) -> Iterable[Doubt]:
    """Kinds of ask, languages and states with fewer than `smallest` needs that expect a law there, 0 included."""
    needs: dict[tuple[str, str], set[str]] = {("state", state): set() for state in checked.corpus}
    for pair in checked.pairs:
        for group in (("kind", pair.kind), ("language", pair.lang), ("state", pair.state)):
            needs.setdefault(group, set()).update([pair.need] if pair.expects == "answerable" else [])
    for (name, value), members in sorted(needs.items()):
        if len(members) < smallest:
            expect = "1 need expects" if len(members) == 1 else f"{len(members)} needs expect"
            what = f"{name} {value}: {expect} a law, fewer than {smallest}; write more, or lean on none of its means"
            yield doubt("small group", Place(str(checked.questions), None), what)
