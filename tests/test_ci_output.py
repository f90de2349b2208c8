"""JUnit, annotations, Markdown and JSON: what a machine reads, whatever people write into questions and ids."""

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from evals import cli
from evals.gate import Verdict, judge
from evals.outcomes import Outcome
from evals.report.verdicts.ci import annotations, for_a_log, junit_xml, verdict_json
from evals.report.verdicts.comment import LARGEST, Section, folded, inert, verdict_markdown
from evals.report.verdicts.verdict import verdict_text
from tests.sides import baseline, outcome, side

ROOT = Path.cwd()
HYDRANT = outcome("hydrant/p", line=7)
CROSS = outcome("cross/p", "AL", line=12)
MOON = outcome("moon/p", expected=[], near_laws=2, line=20)


def verdict(after: list[Outcome], before: list[Outcome] | None = None) -> Verdict:
    """The gate's verdict on outcomes made by hand."""
    return judge(baseline(side(*(before or [HYDRANT, CROSS, MOON]))), side(*after))


PASSED = verdict([HYDRANT, CROSS, MOON])
FAILED = verdict([outcome("hydrant/p", pool=[], text="it's how far?"), replace(MOON, near_laws=5)])


def test_a_test_case_a_pair() -> None:
    """One case for each pair and one for the verdict; a lost law fails its pair, a vanished pair fails."""
    suite = ElementTree.fromstring(junit_xml(FAILED, ROOT))
    assert (suite.tag, suite.get("tests"), suite.get("failures")) == ("testsuite", "4", "3")
    cases = {(case.get("classname"), case.get("name")): case for case in suite}
    assert list(cases) == [("MD", "hydrant/p"), ("MD", "moon/p"), ("AL", "cross/p"), ("gate", "verdict")]
    hydrant = cases["MD", "hydrant/p"]
    assert (hydrant.get("file"), hydrant.get("line")) == ("questions/parking.yaml", "7")
    failures = {name: case.find("failure") for name, case in cases.items()}
    assert failures["MD", "moon/p"] is None
    said = {name: failure.get("message") for name, failure in failures.items() if failure is not None}
    assert said == {
        (
            "MD",
            "hydrant/p",
        ): "MD-1 no longer reached by pool and answer: 1 of 24 in the pool → not in the pool, cosine 0.9000\n"
        'near-enough search MD "it\'s how far?"',
        ("AL", "cross/p"): "the question is not asked in this state any more",
        ("gate", "verdict"): FAILED.reasons[0],
    }
    assert failures["gate", "verdict"].text == "\n".join(FAILED.reasons)  # type: ignore[union-attr]


def test_a_passed_gate_has_no_failure() -> None:
    """Nothing fails, nothing is annotated, and the comment says so."""
    assert 'tests="4" failures="0" errors="0" skipped="0"' in junit_xml(PASSED, ROOT)
    assert annotations(PASSED, ROOT) == ""
    assert verdict_markdown(PASSED).startswith("### Retrieval gate: passed\n")
    assert "<details" not in verdict_markdown(PASSED)


def test_annotations_by_hand() -> None:
    """An error for each reason, then one on the question's line, with all the states that lost a law there."""
    before = [HYDRANT, outcome("hydrant/p", "AL", line=7), outcome("other/p", file="questions/a,b.yaml", line=3)]
    after = [replace(each, groups=outcome(pool=[]).groups, stages=outcome(pool=[]).stages) for each in before]
    found = annotations(verdict(after, before), ROOT).splitlines()
    assert found[:2] == [
        "::error title=Retrieval gate::3 expected laws no longer reached by the pool",
        "::error title=Retrieval gate::3 expected laws no longer reached by the answer",
    ]
    moved = "MD-1 no longer reached by pool and answer: 1 of 24 in the pool → not in the pool, cosine 0.9000%0A"
    assert found[2] == (
        "::error file=questions/parking.yaml,line=7,title=Lost law::"
        f"hydrant/p in AL: {moved}near-enough search AL 'the text of hydrant/p'%0A"
        f"hydrant/p in MD: {moved}near-enough search MD 'the text of hydrant/p'"
    )
    assert found[3].startswith("::error file=questions/a%2Cb.yaml,line=3,title=Lost law::other/p in MD: ")
    assert len(found) == 4


def test_files_outside_the_root(tmp_path: Path) -> None:
    """A question set elsewhere is named by its whole path."""
    lost = [outcome("hydrant/p", pool=[], file=str(tmp_path / "a.yaml"))]
    assert f"file={tmp_path}/a.yaml," in annotations(verdict(lost, [HYDRANT]), ROOT)


@pytest.mark.parametrize(
    "text", ["50%\n::error::injected", "a\r\nb", "::set-output name=x::y", "%0A", "a,b:c", "]]>", "<script>&\x00\ufffe"]
)
def test_texts_stay_inside(text: str) -> None:
    """No text ends an annotation's line, opens a command, or breaks the XML."""
    lost = verdict([outcome("hydrant/p", pool=[], text=text), CROSS, MOON])
    lines = annotations(lost, ROOT).splitlines()
    assert [line.startswith("::error ") for line in lines] == [True] * 3
    ElementTree.fromstring(junit_xml(lost, ROOT))
    assert json.loads(verdict_json(lost))["lost"][0]["text"] == text


@pytest.mark.parametrize("text", ["::error::x", "fine\n  ::add-mask::x", "a ##[error]b"])
def test_a_log_obeys_no_text(text: str) -> None:
    """GitHub is told to stop, by a word that the text cannot hold; a text that holds no command stays as it is."""
    first, *rest, last = for_a_log(text).split("\n")
    token = first.removeprefix("::stop-commands::")
    assert (last, "\n".join(rest), token in text) == (f"::{token}::", text, False)
    assert for_a_log("a: b\nstd::vector") == "a: b\nstd::vector"


def test_a_command_with_fences_stays_in_its_block() -> None:
    """The block's fence is longer than any in the question; a command too long for a comment is left out."""
    lost = verdict_markdown(verdict([outcome("hydrant/p", pool=[], text="a ``` b ```` c"), CROSS, MOON]))
    assert "\n`````sh\nnear-enough search MD 'a ``` b ```` c'\n`````\n" in lost
    assert "To see one" not in verdict_markdown(verdict([outcome("hydrant/p", pool=[], text="a" * 5000), CROSS, MOON]))


def test_a_passed_comment_is_short() -> None:
    """A heading and one sentence, as in the terminal."""
    assert verdict_markdown(PASSED).splitlines() == [
        "### Retrieval gate: passed",
        "",
        f"{verdict_text(PASSED).splitlines()[0]}.",
    ]


def test_counts_agree() -> None:
    """The text, the comment and the data count the same things, and call them the same."""
    lost = outcome("hydrant/p", pool=[])
    accepted = baseline(side(lost, CROSS, MOON), before=baseline(side(HYDRANT, CROSS, MOON)), why="a smaller pool")
    found = judge(accepted, side(lost, outcome("cross/p", "AL", pool=[]), replace(MOON, near_laws=4)))
    text, comment, content = verdict_text(found), verdict_markdown(found), json.loads(verdict_json(found))
    assert "lost: 1 expected law\n" in text
    assert "Lost laws: 1<" in comment
    assert len(content["lost"]) == 1
    assert "lost before and accepted: 1 expected law\n" in text
    assert "Lost before and accepted: 1<" in comment
    assert "| hydrant/p | MD | MD-1 | pool and answer | a smaller pool |" in comment
    assert content["accepted"] == [
        {
            "question": "hydrant/p",
            "state": "MD",
            "expected": ["MD-1"],
            "why": "a smaller pool",
            "stages": ["pool", "answer"],
        }
    ]
    assert "more laws near what no law answers: 1 pair\n" in text
    assert "More laws near what no law answers, pairs: 1<" in comment
    assert len(content["more laws near questions that no law answers"]) == 1


def test_the_json_by_hand() -> None:
    """All of it by name, with null where there is no number."""
    now = [
        outcome("hydrant/p", pool=[], cosine=None),
        outcome("cross/p", "AL", expected=["MD-2"], pool=["MD-1"], answer=[]),
        replace(MOON, near_laws=3),
        outcome("new/p"),
    ]
    content = json.loads(verdict_json(verdict(now)))
    assert (content["status"], content["verdict"], len(content["reasons"])) == (1, "failed", 3)
    assert content["lost"][0] == {
        "question": "cross/p",
        "state": "AL",
        "expected": ["MD-1"],
        "stages": ["answer"],
        "place before": 1,
        "place now": 1,
        "cosine before": 0.9,
        "cosine now": None,
        "text": "the text of cross/p",
        "to see": "near-enough search AL 'the text of cross/p'",
    }
    assert content["lost"][1]["place now"] is None
    assert content["new"] == [{"question": "new/p", "state": "MD"}]
    assert content["not expected any more"] == [{"question": "cross/p", "state": "AL", "expected": ["MD-1"]}]
    louder = {"question": "moon/p", "state": "MD", "before": 2, "now": 3}
    assert content["more laws near questions that no law answers"] == [louder]
    assert content["searches, not judged"]["near"] == {"before": 1.0, "now": 0.3333}
    assert content["judged"] == {"pairs": 3, "expected laws": 2}
    assert content["same as the baseline's"] == dict.fromkeys(["laws", "questions", "settings", "model"], True)


def test_the_comment_by_hand() -> None:
    """The verdict, its reasons, the means, how to see and accept a loss, and the losses in an open table."""
    lines = verdict_markdown(verdict([outcome("hydrant/p", pool=[]), CROSS, MOON])).splitlines()
    assert lines[:10] == [
        "### Retrieval gate: failed",
        "",
        "* 1 expected law no longer reached by the pool",
        "* 1 expected law no longer reached by the answer",
        "",
        "| stage | recall before | recall now | pairs | needs | lost | gained | how sure the change is |",
        "|---|---:|---:|---:|---:|---:|---:|---|",
        "| pool | 1.0000 | 0.5000 | 2 | 2 | 1 | 0 | p = 1.00, not to be told from chance |",
        "| answer | 1.0000 | 0.5000 | 2 | 2 | 1 | 0 | p = 1.00, not to be told from chance |",
        "",
    ]
    text = "\n".join(lines)
    assert "To see one:\n\n```sh\nnear-enough search MD 'the text of hydrant/p'\n```\n" in text
    assert 'each law by name in the baseline:\n\n```sh\nnear-enough baseline --why "..."\n```\n' in text
    assert (
        "<details open><summary>Lost laws: 1</summary>\n\n"
        "| question | state | expected | by | moved | text |\n|---|---|---|---|---|---|\n"
        "| hydrant/p | MD | MD-1 | pool and answer | 1 of 24 in the pool → not in the pool, cosine 0.9000"
        " | the text of hydrant/p |\n\n</details>"
    ) in text


def test_what_is_gained_is_told() -> None:
    """In a table of its own, with how to hold it."""
    text = verdict_markdown(verdict([HYDRANT, CROSS], [outcome("hydrant/p", pool=[]), CROSS]))
    assert "<details><summary>Gained laws: 1</summary>" in text
    assert 'To hold what was gained from now on:\n\n```sh\nnear-enough baseline --why "..."\n```\n' in text


def test_not_comparable_says_only_that() -> None:
    """No table of laws lost against another model."""
    other = judge(baseline(side(HYDRANT)), side(outcome("hydrant/p", pool=[]), model="other (2)"))
    assert verdict_markdown(other) == (
        "### Retrieval gate: not comparable\n\n* another model was measured: other (2), and the baseline is of"
        " fake (1); record a baseline of the new one\n\n"
    )


@pytest.mark.parametrize("length", [10, 1000])
@pytest.mark.parametrize("count", [50, 400])
def test_the_comment_always_fits(count: int, length: int) -> None:
    """Hundreds of losses, gains and vanished pairs with texts of any length: whole rows, and the rest counted."""
    text = "a|b " * length
    half = [outcome(f"lost{at}/p", text=text) for at in range(count)] + [
        outcome(f"won{at}/p", pool=[], text=text) for at in range(count)
    ]
    other = [replace(each, stages=outcome(pool=[]).stages, groups=outcome(pool=[]).groups) for each in half[:count]]
    other += [outcome(f"won{at}/p", text=text) for at in range(count)]
    gone = [outcome(f"gone{at}/p", "TX", text=text) for at in range(count)]
    written = verdict_markdown(verdict(other, half + gone))
    assert len(written) <= LARGEST
    assert written.count("<details") == written.count("</details>") == 4
    for title in ("Lost laws", "Gained laws"):
        assert f"{title}: {count}</summary>" in written
    if count == 400:
        assert re.search("and [0-9]+ more, in the job's log and report", written)
    assert all(line.count("|") in (0, 3, 7, 9) for line in written.splitlines() if line.startswith("|"))


@settings(max_examples=60)
@given(st.integers(-50, 3000), st.lists(st.text("ab| ", max_size=40), max_size=30))
def test_a_section_keeps_its_budget(budget: int, texts: list[str]) -> None:
    """Never longer than it may be; where everything fits, everything is there."""
    section = Section("Lost laws", True, ("text",), [[inert(text)] for text in texts])
    written = folded(section, budget)
    assert len(written) <= max(budget, 0)
    if budget == 3000:
        assert written.count("\n| ") == len(texts) + bool(texts)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain text, with 3.5 signs!", "plain text, with 3.5 signs!"),
        ("a|b", "a&#124;b"),
        ("<img src=x onerror=y>", "&#60;img src=x onerror=y&#62;"),
        ("*a* _b_ `c` ~d~ [e](f)", "&#42;a&#42; &#95;b&#95; &#96;c&#96; &#126;d&#126; &#91;e&#93;(f)"),
        ("&lt; \\|", "&#38;lt; &#92;&#124;"),
        ("one\ntwo\r\n  three", "one two three"),
        ("@team see #12", "@<!-- -->team see #<!-- -->12"),
    ],
)
def test_inert_text(text: str, written: str) -> None:
    """What others wrote shows as it is: no cell ends, no markup, nobody is called."""
    assert inert(text) == written


def commands(text: str) -> list[list[str]]:
    """The near-enough commands in a workflow or a page, continued lines joined."""
    joined = re.sub(r"\n\s+(?=--)", " ", text)
    return [shlex.split(found)[1:] for found in re.findall(r"near-enough (?:gate|compare) [^\n`]*", joined)]


@pytest.mark.parametrize("path", [".github/workflows/retrieval.yml", "docs/ci.md"])
def test_the_commands_in_workflows_and_docs_exist(path: str) -> None:
    """Every option they use is one of the command, and the gate is called without make, for its status."""
    text = (Path(__file__).parents[1] / path).read_text("utf-8")
    found = commands(text)
    assert any(name == "gate" for name, *_ in found)
    for name, *arguments in found:
        known = {option for parameter in cli.group.commands[name].params for option in parameter.opts}
        assert {each for each in arguments if each.startswith("-")} <= known
    assert "run: make gate" not in text


def test_the_workflow_is_one() -> None:
    """It parses, runs the tests and the gate, and writes the summary and keeps the report whatever the verdict."""
    content = yaml.safe_load((Path(__file__).parents[1] / ".github/workflows/retrieval.yml").read_text("utf-8"))
    steps = [step for job in content["jobs"].values() for step in job["steps"]]
    assert any(step.get("run") == "make test" for step in steps)
    always = [step for step in steps if step.get("if") == "always()"]
    assert any("GITHUB_STEP_SUMMARY" in step.get("run", "") for step in always)
    assert any(step.get("uses", "").startswith("actions/upload-artifact@") for step in always)
