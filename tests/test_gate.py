"""The gate: what fails it and what does not, by hand; what it says; and the commands with their statuses."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray

from evals import cli
from evals.commands import options
from evals.gate import FAILED, NOT_COMPARABLE, PASSED, Verdict, judge
from evals.outcomes import Outcome, Side, outcomes, read_side, written
from evals.report.verdicts.again import to_see
from evals.report.verdicts.comparison import comparison_text
from evals.report.verdicts.verdict import verdict_text
from evals.run import Run
from retrieval import models, project, recordings
from retrieval.documents import strict_json
from tests import fakes, sides
from tests.sides import baseline, outcome, side


def verdict(before: Sequence[Outcome], after: Sequence[Outcome], **changes: str) -> Verdict:
    """The gate over outcomes made by hand."""
    now = side(*after)
    return judge(baseline(side(*before)), replace(now, fingerprints={**now.fingerprints, **changes}))


HYDRANT, CROSS, MOON = outcome("hydrant/p"), outcome("cross/p", "AL"), outcome("moon/p", expected=[], near_laws=2)
ALL = [HYDRANT, CROSS, MOON]


def test_what_holds_passes() -> None:
    """Nothing changed: no reason, nothing lost, nothing gained, and everything was judged."""
    found = verdict(ALL, ALL)
    assert (found.status, found.reasons, found.lost, found.gained, found.margins) == (PASSED, (), (), (), ())
    assert all(found.same.values())
    assert (found.comparison.groups, len(found.comparison.pairings)) == (2, 3)


@pytest.mark.parametrize(
    ("after", "reasons"),
    [
        (
            [outcome("hydrant/p", pool=[]), CROSS, MOON],
            ["1 expected law no longer reached by the pool", "1 expected law no longer reached by the answer"],
        ),
        ([outcome("hydrant/p", answer=[]), CROSS, MOON], ["1 expected law no longer reached by the answer"]),
        (
            [outcome("hydrant/p", pool=[]), outcome("cross/p", "AL", pool=[]), MOON],
            ["2 expected laws no longer reached by the pool", "2 expected laws no longer reached by the answer"],
        ),
        (
            [HYDRANT, MOON],
            ["no question of the state AL is asked any more", "1 pair no longer asked: cross/p (AL)"],
        ),
        ([HYDRANT, CROSS], ["1 pair no longer asked: moon/p (MD)"]),
        (
            [HYDRANT, CROSS, replace(MOON, near_laws=3)],
            ["the near search returns 3 laws for 1 pair that no law answers, and 2 before"],
        ),
        (
            [
                replace(HYDRANT, outcome="timed out"),
                replace(CROSS, outcome="threw"),
                replace(MOON, outcome="timed out"),
            ],
            ["the reranker fell back for 3 of 3 pairs (threw 1, timed out 2); none is allowed"],
        ),
        (
            [replace(HYDRANT, rephrase="refused"), replace(CROSS, rephrase="rephrased"), MOON],
            ["the rephraser's answer could not be used for 1 of 3 pairs (refused 1); none is allowed"],
        ),
        (
            [
                replace(HYDRANT, rephrase="cut off", outcome="threw"),
                replace(CROSS, rephrase="refused"),
                replace(MOON, rephrase="cut off"),
            ],
            [
                "the reranker fell back for 1 of 3 pairs (threw 1); none is allowed",
                "the rephraser's answer could not be used for 3 of 3 pairs (cut off 2, refused 1); none is allowed",
            ],
        ),
        ([replace(HYDRANT, rephrase="written"), replace(CROSS, rephrase="rephrased"), MOON], []),
        ([replace(HYDRANT, outcome="none named"), replace(CROSS, outcome="ranked"), MOON], []),
        ([HYDRANT, CROSS, replace(MOON, near_laws=0)], []),
        ([*ALL, outcome("new/p", pool=[])], []),
        ([*ALL, outcome("new/p", expected=[], near_laws=8)], []),
        ([replace(HYDRANT, groups=()), CROSS, MOON], []),
    ],
)
def test_what_fails_it(after: list[Outcome], reasons: list[str]) -> None:
    """Lost laws, vanished questions and states, a louder near search, fallbacks; new questions are not judged."""
    found = verdict(ALL, after)
    assert list(found.reasons) == reasons
    assert found.status == (FAILED if reasons else PASSED)


def test_a_mean_hides_no_collapsed_state() -> None:
    """One state halves while another gains more than that: the mean rises and the gate fails by name."""
    before = [outcome(f"{name}/p", "AL") for name in "abcd"] + [outcome(f"{name}/p", "MD", pool=[]) for name in "abcd"]
    after = [outcome(f"{name}/p", "AL", pool=["MD-1"] if name in "ab" else []) for name in "abcd"]
    after += [outcome(f"{name}/p", "MD") for name in "abcd"]
    found = verdict(before, after)
    means = [(each.before, each.after) for each in found.comparison.changes if each.by == "all"]
    assert means == [(0.5, 0.75), (0.5, 0.75)]
    assert [flip.after.key for flip in found.lost] == [("c/p", "AL"), ("d/p", "AL")]
    assert (found.status, len(found.gained)) == (FAILED, 4)


def test_one_state_may_not_grow_louder_behind_another() -> None:
    """The near search is judged state by state, the unrelated and the uncovered apart; only what grew is named."""
    before = [outcome("moon/p", state, expected=[], near_laws=4) for state in ("AL", "MD")]
    before += [outcome("sun/p", "MD", expected=[], near_laws=4), outcome("teens/p", expected=[], expects="uncovered")]
    after = [replace(each, near_laws=near) for each, near in zip(before, (1, 6, 3, 0), strict=True)]
    found = verdict(before, after)
    assert [(each.outcome.key, each.before) for each in found.louder] == [(("moon/p", "MD"), 4)]
    after = [replace(each, near_laws=near) for each, near in zip(before, (4, 0, 0, 1), strict=True)]
    assert [each.outcome.key for each in verdict(before, after).louder] == [("teens/p", "MD")]
    after = [replace(each, near_laws=near) for each, near in zip(before, (4, 6, 2, 0), strict=True)]
    assert verdict(before, after).status == PASSED


def test_a_kind_that_vanished() -> None:
    """Also where its questions are still asked, as another kind."""
    found = verdict([replace(HYDRANT, kind="typo"), CROSS], [HYDRANT, CROSS])
    assert list(found.reasons) == ["no question of the kind typo is asked any more"]


def test_edited_laws_and_questions_are_no_excuse() -> None:
    """Other fingerprints are told; what both sides hold is judged all the same."""
    found = verdict([HYDRANT, CROSS], [outcome("hydrant/p", pool=[]), CROSS, MOON], laws="m", questions="r")
    assert found.status == FAILED
    assert found.same == {"laws": False, "questions": False, "settings": True, "model": True}
    text = verdict_text(found)
    assert "changed since the baseline: laws, questions" in text
    assert "judged: 2 expected laws of 2 pairs of question and state that both sides hold" in text
    assert "new and not judged: 1 pair, and 0 expected laws of pairs that are not new" in text


def test_a_baseline_from_an_older_corpus() -> None:
    """Laws and labels replaced by others: what was expected is looked for, the new label is told and not judged."""
    before = [outcome("hydrant/p", expected=["MD-1"], pool=["MD-1"]), CROSS]
    found = verdict(before, [outcome("hydrant/p", expected=["MD-7"], pool=["MD-1"]), CROSS], laws="m")
    assert (found.status, found.comparison.added) == (PASSED, 1)
    assert "not expected any more, judged as before: 1\n  hydrant/p (MD): MD-1" in verdict_text(found)
    found = verdict(before, [outcome("hydrant/p", expected=["MD-7"], pool=["MD-7"]), CROSS], laws="m")
    assert found.status == FAILED
    assert "hydrant/p (MD): MD-1, not expected any more, by pool and answer" in verdict_text(found)


@pytest.mark.parametrize(
    ("after", "model", "said"),
    [
        (ALL, "other (2)", "another model was measured: other (2), and the baseline is of fake (1)"),
        ([outcome("new/p")], "fake (1)", "no question of the baseline is asked any more"),
    ],
)
def test_what_cannot_be_compared(after: list[Outcome], model: str, said: str) -> None:
    """Another model, or nothing in common, is no verdict at all: no law is called lost or gained."""
    found = verdict(ALL, after, model=model)
    assert found.status == NOT_COMPARABLE
    assert not found.passed
    assert found.reasons[0].startswith(said)
    assert verdict_text(found).splitlines()[0] == "gate: not comparable"


def test_a_loss_that_was_accepted_stays_visible() -> None:
    """It fails nothing, is named with its reason, and goes once the law arrives again, which counts as gained."""
    lost = outcome("hydrant/p", pool=[])
    accepted = baseline(side(lost, CROSS), before=baseline(side(HYDRANT, CROSS)), why="a smaller pool")
    found = judge(accepted, side(lost, CROSS))
    assert (found.status, len(found.still_lost)) == (PASSED, 2)
    assert verdict_text(found).startswith(
        "lost before and accepted: 1 expected law\n  hydrant/p (MD): MD-1, by pool and answer: a smaller pool\n"
    )
    won = judge(accepted, side(HYDRANT, CROSS))
    assert (won.status, won.still_lost, len(won.gained)) == (PASSED, (), 1)
    assert verdict_text(won).endswith('to hold what was gained from now on: near-enough baseline --why "..."')
    other = judge(accepted, side(lost, outcome("cross/p", "AL", pool=[])))
    assert [flip.after.key for flip in other.lost] == [("cross/p", "AL")]


def margins(was: Outcome, now: Outcome, cutoff_before: float = 0.3, cutoff: float = 0.3) -> list[str]:
    """What the gate says about the margins of one pair."""
    found = judge(baseline(side(was, cutoff=cutoff_before)), side(now, cutoff=cutoff))
    return [each.what for each in found.margins]


POOL = [f"x{at}" for at in range(23)]


@pytest.mark.parametrize(
    ("was", "now", "cutoffs", "said"),
    [
        (0.9, 0.304, (0.3, 0.3), ["cosine 0.3040, 0.0040 above the cutoff, 0.6000 before"]),
        (0.9, 0.3, (0.3, 0.3), ["cosine 0.3000, 0.0000 above the cutoff, 0.6000 before"]),
        (0.9, 0.305, (0.3, 0.3), []),  # not that close
        (0.9, 0.2999, (0.3, 0.3), []),  # found by words alone: no margin of the cutoff
        (0.304, 0.303, (0.3, 0.3), []),  # close before
        (0.2, 0.303, (0.3, 0.3), []),  # closer to being found, not to being lost
        (0.823, 0.823, (0.8, 0.82), ["cosine 0.8230, 0.0030 above the cutoff, 0.0230 before"]),  # the cutoff moved
        (0.803, 0.803, (0.8, 0.8), []),
        (0.30499999, 0.30499999, (0.3, 0.3), []),  # the same number, though a baseline keeps four digits
        (None, 0.3, (0.3, 0.3), []),
        (0.9, None, (0.3, 0.3), []),
    ],
)
def test_margins_of_the_cutoff(
    was: float | None, now: float | None, cutoffs: tuple[float, float], said: list[str]
) -> None:
    """A law within .005 above the cutoff that was farther above it, each by the cutoff of its own side."""
    assert margins(outcome(cosine=was), outcome(cosine=now), *cutoffs) == said


@pytest.mark.parametrize(
    ("before", "after", "sizes", "said"),
    [
        (3, 23, (24, 24), ["23 of 24 in the pool, 3 of 24 before"]),
        (22, 24, (24, 24), ["24 of 24 in the pool, 22 of 24 before"]),
        (3, 22, (24, 24), []),
        (23, 24, (24, 24), []),
        (12, 12, (24, 12), ["12 of 12 in the pool, 12 of 24 before"]),
        (23, 23, (32, 24), ["23 of 24 in the pool, 23 of 32 before"]),
        (3, 23, (24, 32), []),  # searches were fused: its own pool is larger
        (3, 4, (24, 3), []),  # a page row, beside the pool
    ],
)
def test_margins_of_the_pool(before: int, after: int, sizes: tuple[int, int], said: list[str]) -> None:
    """A law in the last two places of its own pool that had more places after it."""
    was, now = (
        outcome(pool=[*(f"x{at}" for at in range(place - 1)), "MD-1"], cosine=None, pool_laws=size)
        for place, size in zip((before, after), sizes, strict=True)
    )
    assert margins(was, now) == said


def test_a_law_that_just_came_in_has_no_shrinking_margin() -> None:
    """At the end of the pool where it was not in it before: that is gained."""
    assert margins(outcome(pool=["x"]), outcome(pool=[*POOL, "MD-1"])) == []


def test_the_text_of_a_failure() -> None:
    """For the person whose change just failed: what, how to see it, how to accept it; the verdict at the end."""
    after = [outcome("hydrant/p", pool=[], cosine=0.25, text="it's how far?"), CROSS, replace(MOON, near_laws=5)]
    text = verdict_text(verdict(ALL, after), ["--set", "near_enough=0.3"])
    assert text.splitlines() == [
        "lost: 1 expected law",
        "  hydrant/p (MD): MD-1, by pool and answer: 1 of 24 in the pool → not in the pool, cosine 0.9000 → 0.2500",
        '    near-enough search --set near_enough=0.3 MD "it\'s how far?"',
        "more laws near what no law answers: 1 pair",
        "  moon/p (MD): 2 before, 5 now: the text of moon/p",
        "judged: 2 expected laws of 3 pairs of question and state that both sides hold",
        "mean recall of the pool: 1.0000 → 0.5000 over 2 pairs of 2 needs; p = 1.00, not to be told from chance",
        "mean recall of the answer: 1.0000 → 0.5000 over 2 pairs of 2 needs; p = 1.00, not to be told from chance",
        "not judged: mean recall before the pool, each side over its own pairs: words 1.0000 → 0.5000,"
        " near 1.0000 → 0.5000, fused 1.0000 → 0.5000",
        "gate: failed",
        "  1 expected law no longer reached by the pool",
        "  1 expected law no longer reached by the answer",
        "  the near search returns 5 laws for 1 pair that no law answers, and 2 before",
        '  to accept what was lost, each law by name in the baseline: near-enough baseline --why "..."',
    ]


def test_every_lost_law_is_named() -> None:
    """A hundred losses are a hundred names, and what is gained is named as fully."""
    many = [outcome(f"q{at}/p") for at in range(100)]
    none = [outcome(f"q{at}/p", pool=[]) for at in range(100)]
    for before, after in ((many, none), (none, many)):
        text = verdict_text(verdict(before, after))
        assert all(f"  q{at}/p (MD): MD-1, by pool and answer" in text for at in range(100))


def test_the_searches_are_shown_and_not_judged() -> None:
    """A law that a search lost and the pool still holds fails nothing; the searches' means stand beside the verdict."""
    lost = replace(HYDRANT.groups[0], reached={**HYDRANT.groups[0].reached, "words": False, "near": False})
    found = verdict([HYDRANT, CROSS], [replace(HYDRANT, groups=(lost,)), CROSS])
    assert (found.status, found.lost) == (PASSED, ())
    assert found.searches == {"words": (1.0, 0.5), "near": (1.0, 0.5), "fused": (1.0, 1.0)}
    (said,) = (line for line in verdict_text(found).splitlines() if line.startswith("not judged"))
    assert said.endswith(": words 1.0000 → 0.5000, near 1.0000 → 0.5000")
    assert verdict([MOON], [MOON]).searches["near"] == (None, None)
    assert "words none → 1.0000" in verdict_text(verdict([MOON], [MOON, HYDRANT]))


def test_a_clean_pass_is_two_lines() -> None:
    """What was judged and the means, once; no mean that did not move is told twice, and no search that stayed."""
    assert verdict_text(verdict(ALL, ALL)).splitlines() == [
        "judged: 2 expected laws of 3 pairs of question and state that both sides hold;"
        " mean recall as before: pool 1.0000, answer 1.0000",
        "gate: passed",
    ]
    assert verdict_text(verdict([MOON], [MOON])).splitlines() == [
        "judged: 0 expected laws of 1 pair of question and state that both sides hold",
        "gate: passed",
    ]


@pytest.mark.parametrize(
    "failed", [{"outcome": "threw"}, {"rephrase": "refused"}, {"outcome": "threw", "rephrase": "refused"}]
)
def test_a_failing_model_cannot_be_accepted(failed: dict[str, str]) -> None:
    """No new baseline lets failures of a reranker or rephraser in, so none is suggested; a lost law beside them is."""
    hydrant = replace(HYDRANT, **failed)  # type: ignore[arg-type]
    found = verdict(ALL, [hydrant, CROSS, MOON])
    assert (found.status, found.acceptable) == (FAILED, False)
    assert "to accept" not in verdict_text(found)
    assert verdict(ALL, [hydrant, outcome("cross/p", "AL", pool=[]), MOON]).acceptable


@pytest.mark.parametrize(
    "text", ["plain", "it's", "it's $5", 'she said "it\'s"', "a `b`", "back\\slash's", "hey!'s", "¿qué?", "a\u00a0b"]
)
def test_the_search_command_is_one_for_a_shell(text: str) -> None:
    """Whatever the question holds, the shell gives it back as it is."""
    assert shlex.split(to_see(outcome(text=text))) == ["near-enough", "search", "MD", text]
    assert "!" not in text or to_see(outcome(text=text)).endswith("'")


@pytest.mark.parametrize(
    "text", ["two\nlines", "it's\r\n::error::\ttab", "\x1b[31mred\x07 \\n", "next\u0085line\u2028"]
)
def test_a_command_stays_one_line(text: str) -> None:
    """New lines and control characters are written as escapes, which bash reads back."""
    command = to_see(outcome(text=text))
    assert command.isprintable()
    said = command.replace("near-enough search MD", "printf %s", 1)
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    assert subprocess.run(["bash", "-c", said], capture_output=True, env=environment).stdout.decode() == text


def test_a_question_that_looks_like_an_option() -> None:
    """It stands after the sign that ends the options."""
    assert to_see(outcome(text="-5 degrees"), ["--set", "a=1"]) == "near-enough search --set a=1 -- MD '-5 degrees'"


def test_where_no_command_shows_what_was_measured() -> None:
    """Another system's run: the question's text stands in the command's place, on one line."""
    found = verdict([HYDRANT, CROSS], [outcome("hydrant/p", pool=[], text="two\nlines"), CROSS])
    assert verdict_text(found, None).splitlines()[2] == "    asked: two lines"


def test_the_search_command_repeats_the_searches() -> None:
    """A pair whose searches were fused, and whose family's page rows stood beside the laws, is shown with them."""
    asked = outcome(searches=("a b",), family="permits")
    assert to_see(asked) == "near-enough search --search 'a b' --family permits MD 'the text of hydrant/plain'"
    found = verdict([HYDRANT, CROSS], [outcome("hydrant/p", pool=[], searches=("a b",)), CROSS])
    assert "near-enough search --search 'a b' MD 'the text of hydrant/p'" in verdict_text(found)


# The commands, over a small world on the disk.

Command = Callable[..., tuple[int, str]]

NEEDS = """\
needs:
  - id: hydrant
    expected: {AL: [AL-1], MD: [MD-1]}
    asks:
      plain: how close to a hydrant may i park
      spanish: {ask: "¿un hidrante?", kind: spanish, lang: es}
  - id: cross
    expected: {MD: [[MD-2, MD-3]]}
    asks: {plain: who goes first in a crosswalk}
"""
MOON_NEED = "needs:\n  - id: moon\n    unrelated: lexical\n    asks: {speed: the speed limit on the moon}\n"


def load() -> tuple[models.Embed, str]:
    """The fake model, loaded."""

    def embed(kind: models.Kind, texts: Sequence[str]) -> NDArray[np.float32]:
        return fakes.embed(kind, texts).astype(np.float32)

    return embed, "engine"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with laws, questions, settings and room for a baseline."""
    for state, laws in fakes.CORPUS.items():
        rows = [{name: value for name, value in asdict(law).items() if name != "extra"} for law in laws]
        (tmp_path / "laws").mkdir(exist_ok=True)
        (tmp_path / "laws" / f"{state.lower()}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "questions").mkdir()
    (tmp_path / "questions" / "parking.yaml").write_text(NEEDS, encoding="utf-8")
    (tmp_path / "questions" / "unrelated.yaml").write_text(MOON_NEED, encoding="utf-8")
    (tmp_path / "settings.yaml").write_text("embedder: fake\nnear_enough: {fake: 0.3, other: 0.3}\n", encoding="utf-8")
    for name in ("fake", "other"):
        made = replace(models.EMBEDDERS["e5-small"], name=name, version="1", dimensions=fakes.DIMENSIONS, load=load)
        monkeypatch.setitem(models.EMBEDDERS, name, made)
    monkeypatch.setattr(recordings, "RECORDINGS", tmp_path / "recordings")
    monkeypatch.setattr(recordings, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(project, "PROJECT", replace(project.PROJECT, root=tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def command(world: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command line over that world: its status, and what it printed."""

    def run(name: str, *arguments: str, project: bool = False) -> tuple[int, str]:
        own = [] if project else ["--laws", "laws", "--questions", "questions"]
        with pytest.raises(SystemExit) as left:
            cli.main([name, "--settings", "settings.yaml", *own, *arguments])
        printed = capsys.readouterr()
        return int(str(left.value.code)), printed.out + printed.err.lstrip()

    return run


def test_a_baseline_is_recorded_and_passes(world: Path, command: Command) -> None:
    """The gate passes what was just recorded, and writes nothing by itself."""
    status, said = command("baseline", "--why", "  the\nfirst ")
    assert (status, said.splitlines()[0]) == (
        0,
        f"baseline recorded in {options.baseline_folder()}: 7 pairs; the first",
    )
    files = {path: path.read_bytes() for path in (world / "reports").rglob("*.*")}
    status, said = command("gate")
    assert (status, said.splitlines()[-1]) == (0, "gate: passed")
    assert {path: path.read_bytes() for path in (world / "reports").rglob("*.*")} == files


@pytest.mark.parametrize(
    ("arguments", "status", "last"),
    [
        (
            ["--set", "candidate_laws=1"],
            1,
            "to accept what was lost, each law by name in the baseline: near-enough baseline --settings settings.yaml"
            ' --laws laws --questions questions --why "..."  # when settings.yaml holds the change',
        ),
        (["--set", "answer_laws=1"], 0, "gate: passed"),
        (["--set", "embedder=other"], 3, "record a baseline of the new one"),
        (["--set", "near_laws=many"], 2, 'found "many"'),
        (["--baseline", "nowhere"], 2, 'nowhere: no baseline here; record one: near-enough baseline --why "..."'),
        (["--nonsense"], 2, "No such option"),
    ],
)
def test_the_statuses_of_the_gate(command: Command, arguments: list[str], status: int, last: str) -> None:
    """0 passed, 1 failed, 2 bad input, 3 not comparable."""
    command("baseline", "--why", "the first")
    found, said = command("gate", *arguments)
    assert found == status, said
    assert last in said


def test_no_baseline_is_a_failure(command: Command) -> None:
    """Nothing to compare with is status 2, not 0."""
    status, said = command("gate")
    assert status == 2
    assert (
        said
        == f'near-enough: {options.baseline_folder()}: no baseline here; record one: near-enough baseline --why "..."\n'
    )


def test_a_nan_in_the_baseline_is_a_failure(command: Command) -> None:
    """A number that compares with nothing would pass for ever: status 2."""
    command("baseline", "--why", "the first")
    path = options.baseline_folder() / "baseline.json"
    path.write_text(path.read_text().replace('"cutoff": 0.3', '"cutoff": NaN'))
    status, said = command("gate")
    assert (status, "NaN is not JSON" in said) == (2, True)


def test_a_question_removed_and_a_state_removed(world: Path, command: Command) -> None:
    """Both fail, and are named."""
    command("baseline", "--why", "the first")
    (world / "questions" / "unrelated.yaml").write_text(MOON_NEED.replace("moon", "sun"))
    status, said = command("gate")
    assert (status, "2 pairs no longer asked: moon/speed (AL), moon/speed (MD)" in said) == (1, True)
    (world / "laws" / "al.jsonl").unlink()
    status, said = command("gate")
    assert (status, "hydrant: no laws of AL; there are MD" in said) == (2, True)
    (world / "questions" / "parking.yaml").write_text(NEEDS.replace("AL: [AL-1], ", ""), encoding="utf-8")
    status, said = command("gate")
    assert (status, "no question of the state AL is asked any more" in said) == (1, True)


def test_losses_are_accepted_by_recording_them(world: Path, command: Command) -> None:
    """A change that fails, recorded with its reason, passes; its losses are named in the file and by the gate."""
    command("baseline", "--why", "the first")
    lower = ["--set", "candidate_laws=1"]
    assert command("gate", *lower)[0] == 1
    status, said = command("baseline", "--why", "a pool of one", *lower)
    assert (status, "lost, and accepted: 1 expected law\n  hydrant/spanish (MD): MD-1, by pool" in said) == (0, True)
    losses = json.loads((options.baseline_folder() / "baseline.json").read_text())["accepted_losses"]
    assert losses == [
        {"question": "hydrant/spanish", "state": "MD", "expected": ["MD-1"], "stage": "pool", "why": "a pool of one"}
    ]
    status, said = command("gate", *lower)
    assert (status, "hydrant/spanish (MD): MD-1, by pool: a pool of one" in said) == (0, True)
    assert len((world / "reports" / "history.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize("arguments", [[], ["--why", "  "]])
def test_a_baseline_needs_a_reason(command: Command, arguments: list[str]) -> None:
    """Without one nothing is recorded."""
    assert command("baseline", *arguments)[0] == 2
    assert not options.baseline_folder().exists()


def test_the_gate_writes_what_is_asked_for(world: Path, command: Command) -> None:
    """JUnit, Markdown, JSON and annotations from one run, whatever the verdict."""
    command("baseline", "--why", "the first")
    outputs = ["--junit", "out/j.xml", "--markdown", "out/c.md", "--json", "out/v.json", "--github"]
    status, said = command("gate", "--set", "candidate_laws=1", *outputs)
    assert status == 1
    assert "::error file=questions/parking.yaml,line=6,title=Lost law::hydrant/spanish in MD: MD-1" in said
    assert json.loads((world / "out" / "v.json").read_text())["status"] == 1
    assert 'failures="2"' in (world / "out" / "j.xml").read_text()
    assert (world / "out" / "c.md").read_text().startswith("### Retrieval gate: failed\n")


def searches_in(text: str) -> set[str]:
    """The commands of a text that show a question."""
    return set(re.findall("near-enough search [^\n<]*", text))


def test_every_output_prints_the_command_that_reproduces(
    world: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the settings, laws and changes of the run, the same everywhere; it shows the pool that was measured."""
    command("baseline", "--why", "the first")
    (world / "my laws").mkdir()
    for path in (world / "laws").iterdir():
        (world / "my laws" / path.name).write_bytes(path.read_bytes())
    change = ["--laws", "my laws", "--set", "candidate_laws=1", "--set", "near_laws=7"]
    outputs = {"--junit": "j.xml", "--markdown": "c.md", "--json": "v.json"}
    status, said = command("gate", *change, "--github", *(part for each in outputs.items() for part in each))
    assert status == 1
    junit = ElementTree.parse(world / "j.xml").findall("testcase/failure")
    texts = [said.replace("%0A", "\n"), "\n".join(str(each.text) for each in junit), (world / "c.md").read_text()]
    texts += [each["to see"] for each in json.loads((world / "v.json").read_text())["lost"]]
    texts.append(command("compare", *change)[1])
    expected = (
        "near-enough search --settings settings.yaml --laws 'my laws' --set candidate_laws=1 --set near_laws=7"
        " MD '¿un hidrante?'"
    )
    assert [searches_in(text) for text in texts] == [{expected}] * 5
    with pytest.raises(SystemExit) as left:
        cli.main([*shlex.split(expected)[1:], "--format", "json"])
    pool = json.loads(capsys.readouterr().out)["pool"]
    assert (left.value.code, len(pool), "MD-1" in str(pool)) == (0, 1, False)


def test_the_command_that_accepts_records_what_was_measured(world: Path, command: Command) -> None:
    """With the run's files and the gate's baseline, once the settings hold the change that was tried."""
    own = ["--baseline", "my baseline"]
    command("baseline", "--why", "the first", "--out", "my baseline")
    settings = (world / "settings.yaml").read_text()
    status, said = command("gate", *own, "--set", "candidate_laws=1")
    accepting = re.findall("near-enough baseline .*", said)
    assert accepting == [
        "near-enough baseline --settings settings.yaml --laws laws --questions questions --out 'my baseline'"
        ' --why "..."  # when settings.yaml holds the change'
    ]
    (world / "settings.yaml").write_text(f"{settings}candidate_laws: 1\n", encoding="utf-8")
    status, said = command("gate", *own)
    assert (status, accepting[0].partition("  #")[0] in said, "holds the change" in said) == (1, True, False)
    with pytest.raises(SystemExit) as left:
        cli.main(shlex.split(accepting[0], comments=True)[1:])
    assert (left.value.code, command("gate", *own)[0]) == (0, 0)


def test_a_baseline_elsewhere_writes_nothing_beside_it(world: Path, command: Command) -> None:
    """Only the project's own baseline has a history, also where it is named by its path."""
    command("baseline", "--why", "the first", "--out", "other/bl")
    assert sorted(path.name for path in (world / "other").rglob("*.*")) == [
        "baseline.json",
        "margins.csv",
        "outcomes.csv",
    ]
    assert not (world / "reports").exists()
    command("baseline", "--why", "the first")
    command("baseline", "--why", "the second", "--out", "reports/baseline")
    assert len((world / "reports" / "history.csv").read_text().splitlines()) == 3
    (world / "reports" / "history.csv").write_text("when,why\n")
    before = (world / "reports" / "baseline" / "baseline.json").read_bytes()
    assert command("baseline", "--why", "the third")[0] == 2
    assert (world / "reports" / "baseline" / "baseline.json").read_bytes() == before


def test_another_system_against_its_own_baseline(world: Path, command: Command) -> None:
    """A file of rankings is recorded as a baseline and judged by it; no command claims to show it."""
    given = ["--laws", "laws", "--questions", "questions", "--settings", "settings.yaml"]
    for name, pool in (("run.jsonl", "9"), ("less/run.jsonl", "1")):
        with pytest.raises(SystemExit):
            cli.main(["export", "run", *given, "--set", f"candidate_laws={pool}", "--stage", "pool", "--out", name])
    status, said = command("baseline", "--why", "the first", "--run", "run.jsonl")
    assert (status, "pool: 7 of 7 pairs are in the file" in said) == (0, True)
    assert command("gate", "--run", "run.jsonl")[0] == 0
    status, said = command("gate", "--run", "less/run.jsonl", "--json", "v.json", "--markdown", "c.md")
    assert (status, "\n    asked: ¿un hidrante?\n" in said, "pool: 7 of 7 pairs are" in said) == (1, True, True)
    assert "near-enough search" not in said + (world / "c.md").read_text()
    assert json.loads((world / "v.json").read_text())["lost"][0]["to see"] is None
    assert (
        "near-enough baseline --settings settings.yaml --laws laws --questions questions --run less/run.jsonl" in said
    )
    assert command("gate", "--stage", "pool")[0] == 2


def test_annotations_are_on_the_files_of_the_repository(
    world: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named from its root, wherever in it the gate runs."""
    (world / ".git").mkdir()
    (world / "sub").mkdir()
    monkeypatch.chdir(world / "sub")
    for name in ("laws", "questions", "settings.yaml"):
        (world / "sub" / name).symlink_to(world / name)
    command("baseline", "--why", "the first")
    said = command("gate", "--set", "candidate_laws=1", "--github", "--junit", "j.xml")[1]
    assert "::error file=questions/parking.yaml,line=6," in said
    assert 'file="questions/parking.yaml"' in (world / "sub" / "j.xml").read_text()


def test_questions_that_hold_markup_and_commands(world: Path, command: Command) -> None:
    """Every line of the log is the gate's own, or GitHub was told not to obey it."""
    text = "a|b `c` <img>\n::error::\n##[error] who goes first in a crosswalk"
    needs = {"needs": [{"id": "odd", "expected": {"MD": ["MD-3"]}, "asks": {"plain": text}}]}
    (world / "questions" / "parking.yaml").write_text(json.dumps(needs), encoding="utf-8")
    command("baseline", "--why", "the first")
    status, said = command("gate", "--set", "candidate_laws=1", "--github", "--markdown", "c.md")
    assert status == 1
    lines = said.splitlines()
    stop = next(at for at, line in enumerate(lines) if line.startswith("::stop-commands::"))
    assert all(line.startswith("::error ") for line in lines[:stop])
    assert lines[-1] == f"::{lines[stop].removeprefix('::stop-commands::')}::"
    assert not any(line.lstrip().startswith("::") for line in lines[stop + 1 : -1])
    written = (world / "c.md").read_text()
    assert "| a&#124;b &#96;c&#96; &#60;img&#62; ::error:: #<!-- -->#<!-- -->&#91;error&#93; who goes first" in written


def test_the_gate_in_another_order(world: Path, command: Command) -> None:
    """Questions and laws in other files and another order are the same to it."""
    command("baseline", "--why", "the first")
    first, second = NEEDS.split("  - id: cross")
    (world / "questions" / "parking.yaml").write_text(f"# new\nneeds:\n  - id: cross{second}", encoding="utf-8")
    (world / "questions" / "a.yaml").write_text(first, encoding="utf-8")
    status, said = command("gate")
    assert status == 0
    assert "new and not judged" not in said


def test_compare_says_what_the_gate_would(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the project's own laws and questions the verdict stands at the end; over others there is none."""
    monkeypatch.setattr("retrieval.corpus.LAWS", Path("laws"))
    monkeypatch.setattr("evals.questions.QUESTIONS", Path("questions"))
    change = ["--set", "candidate_laws=1"]
    status, said = command("compare", *change, project=True)
    assert (status, said.splitlines()[-1]) == (
        0,
        'gate: no verdict, no baseline is recorded: near-enough baseline --why "..."',
    )
    command("baseline", "--why", "the first")
    status, said = command("compare", *change, project=True)
    assert status == 0
    assert said.splitlines()[0] == "lost: 1 expected law"
    assert "gate: failed\n  1 expected law no longer reached by the pool" in said
    for states, verdict_line in (("AL", "gate: passed"), ("MD", "gate: failed")):
        assert verdict_line in command("compare", *change, "--states", states, project=True)[1]
    status, said = command("compare", *change)
    assert said.splitlines()[-1] == "gate: no verdict, the baseline is of the project's own laws and questions"
    status, said = command("compare", "--embedder", "other", project=True)
    assert (status, "gate: not comparable" in said, "model: fake (1) → other (1)" in said) == (0, True, True)


def write_report(folder: Path, run: Run) -> None:
    """What a comparison reads of a run's report."""
    folder.mkdir()
    rows = [strict_json(written(each)) + "\n" for each in outcomes(run).values()]
    summary = {"settings": run.settings.model_dump(), "fingerprints": dict(run.fingerprints), "verdict": "A sentence."}
    (folder / "per_question.jsonl").write_text("".join(rows), encoding="utf-8")
    (folder / "run.json").write_text(strict_json(summary), encoding="utf-8")


def test_compare_of_two_runs(world: Path, command: Command) -> None:
    """Two reports by their folders: laws lost and gained as from the runs themselves, and the bands they told."""
    before, after = sides.run(), sides.run(candidate_laws=1)
    write_report(world / "before", before)
    write_report(world / "after", after)
    with pytest.raises(SystemExit) as left:
        cli.main(["compare", "before", "after"])
    assert left.value.code == 0


def test_a_comparison_of_reports_says_how_to_see(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the settings of the second run where laws and model are those here; the question alone where they are not."""
    monkeypatch.setattr("retrieval.corpus.LAWS", Path("laws"))
    runs = {
        "before": sides.run(),
        "after": sides.run(candidate_laws=1),
        "other": sides.run(candidate_laws=1, model="m"),
    }
    for name, run in runs.items():
        write_report(tmp_path / name, run)

    def said(*arguments: str) -> str:
        with pytest.raises(SystemExit):
            cli.main(["compare", *arguments])
        return capsys.readouterr().out

    (shown,) = searches_in(said("before", "after"))
    assert set(shlex.split(shown)[3:-2:2]) >= {"embedder=fake", "near_enough=0.3", "candidate_laws=1"}
    with pytest.raises(SystemExit) as left:
        cli.main([*shlex.split(shown)[1:], "--format", "json"])
    assert (left.value.code, len(json.loads(capsys.readouterr().out)["pool"])) == (0, 1)
    assert searches_in(said("before", "other")) == set()
    (tmp_path / "laws" / "md.jsonl").write_text("")
    assert "\n    asked: ¿un hidrante?\n" in said("before", "after")


def test_a_comparison_of_reports_is_that_of_their_runs(tmp_path: Path) -> None:
    """Nothing is lost on the way through the files."""
    runs = [sides.run(), sides.run(candidate_laws=1, near_laws=2)]
    folders = [tmp_path / "before", tmp_path / "after"]
    for folder, run in zip(folders, runs, strict=True):
        write_report(folder, run)
    (before, after), (one, other) = (Side.of(run, "A sentence.") for run in runs), map(read_side, folders)
    assert comparison_text(one, other, None, "none") == comparison_text(before, after, None, "none")


@pytest.mark.parametrize("arguments", [[], ["one"], ["one", "two", "--set", "near_laws=1"]])
def test_compare_needs_two_sides(command: Command, arguments: list[str]) -> None:
    """A change or two folders, nothing between and not both."""
    status, said = command("compare", *arguments)
    assert (status, "give a change (--set or --embedder), or the folders of two runs" in said) == (2, True)


def test_the_gate_judges_the_run() -> None:
    """A run of the pipeline against itself passes, and against one with a smaller pool it fails by name."""
    whole, small = Side.of(sides.run()), Side.of(sides.run(candidate_laws=1))
    assert judge(baseline(whole), whole).passed
    assert [flip.after.key for flip in judge(baseline(whole), small).lost] == [("hydrant/spanish", "MD")]
