"""Recorded replies: found by everything that was asked, whole after a kill, right when two processes write at once."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.appending import append_lines, read_appended
from retrieval.errors import InputError, RerankError
from retrieval.live import REPHRASERS, RERANKERS, scores, searches
from retrieval.rephrase import Rephrased
from retrieval.replies import Call, Replies, Reply, digest, fault, missing, unanswered
from tests.live.world import PROCESSES

CALL = Call("rerank", "@cf/baai/bge-reranker-base", {"top_k": "all"}, "how far", ("law one", "law two"))
REPLY = Reply({"scores": [0.25, -3.5]})
DAY = "2026-11-29"


def test_what_was_recorded_is_found_again(tmp_path: Path) -> None:
    """Raw scores, usage and all, by another process that reads the folder; the file is one readable line a call."""
    Replies(tmp_path).add(CALL, replace(REPLY, usage={"input": 7}), DAY)
    assert Replies(tmp_path).get(CALL) == Reply({"scores": [0.25, -3.5]}, {"input": 7})
    (path,) = tmp_path.rglob("*.jsonl")
    assert path.relative_to(tmp_path).as_posix() == "rerank/cf-baai-bge-reranker-base.jsonl"
    (row,) = map(json.loads, path.read_text().splitlines())
    assert row["asked"]["question"] == "how far"
    assert row["reply"] == {"scores": [0.25, -3.5]}
    assert row["recorded"] == DAY


@pytest.mark.parametrize(
    "other",
    [
        replace(CALL, stage="rephrase"),
        replace(CALL, model="@cf/baai/bge-m3"),
        replace(CALL, request={"top_k": None}),
        replace(CALL, question="how far?"),
        replace(CALL, texts=("law one", "law two.")),
        replace(CALL, texts=("law two", "law one")),
        replace(CALL, texts=("law one", "law two", "law three")),
        replace(CALL, texts=("law one law two",)),
    ],
)
def test_any_change_to_what_was_asked_misses(tmp_path: Path, other: Call) -> None:
    """Stage, model, request, question, and each text in its place belong to the key."""
    replies = Replies(tmp_path)
    replies.add(CALL, REPLY, DAY)
    assert replies.get(other) is None
    assert missing(replies, [CALL, other, other]) == [other]


@pytest.mark.parametrize("stages", [RERANKERS, REPHRASERS], ids=["rerank", "rephrase"])
def test_prompt_schema_and_limits_belong_to_the_key(stages: dict[str, object]) -> None:
    """What a stage sends to Haiku beside the texts is in the request, whose hash is in the key."""
    stage = {**RERANKERS, **REPHRASERS}["claude-haiku-4-5"] if stages is REPHRASERS else RERANKERS["claude-haiku-4-5"]
    call = stage.call("q", ["t"])
    assert {"model", "max_tokens", "system", "output_config", "messages"} <= set(stage.request)
    for name in stage.request:
        changed = replace(call, request={**stage.request, name: "changed"})
        assert changed.key != call.key


def test_a_failed_answer_is_replayed_as_one_and_asked_again(tmp_path: Path) -> None:
    """A refusal is no missing call, counts by its cause, gives way to a reply, and never replaces one."""
    replies = Replies(tmp_path)
    replies.add(CALL, Reply(failed="refused", message="the model refused to answer"), DAY)
    assert (missing(replies, [CALL]), unanswered(replies, [CALL])) == ([], [CALL])
    found = Replies(tmp_path).get(CALL)
    assert found is not None
    with pytest.raises(RerankError, match="refused to answer") as failed:
        scores(CALL, found)
    assert failed.value.cause == "refused"
    assert searches(found) == Rephrased()
    replies.add(CALL, REPLY, DAY)
    replies.add(CALL, Reply(failed="cut off", message=""), DAY)
    assert Replies(tmp_path).get(CALL) == REPLY


@pytest.mark.parametrize(
    "reply",
    [
        {"scores": [0.25]},
        {"scores": [0.25, float("nan")]},
        {"scores": [0.25, float("inf")]},
        {"scores": [0.25, None]},
        {"scores": [0.25, True]},
        {"scores": [0.25, 10**400]},
        {"ranked": [1, 1]},
        {"scores": "good"},
        {"ranked": [2]},
        {"ranked": [-1]},
        {"ranked": [True]},
        {"ranked": None},
        {},
    ],
)
def test_only_a_checked_reply_is_stored(tmp_path: Path, reply: dict[str, object]) -> None:
    """What is no reply to this call is refused, and the folder stays as it was."""
    with pytest.raises(ValueError, match="not a reply that can be recorded"):
        Replies(tmp_path).add(CALL, Reply(reply), DAY)
    assert not list(tmp_path.rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("reply", "good"),
    [
        ({"searches": ["a"], "family": None}, True),
        ({"searches": [], "family": "permit"}, True),
        ({"searches": [" "], "family": None}, False),
        ({"searches": "a", "family": None}, False),
        ({"searches": ["a"], "family": 3}, False),
        ({"scores": [1, 2]}, False),
    ],
)
def test_checked_rephrases(tmp_path: Path, reply: dict[str, object], good: bool) -> None:
    """Searches that are text, and a family or null."""
    call = REPHRASERS["claude-haiku-4-5"].call("q", ["permit"])
    row = {"key": call.key, "asked": call.asked, "reply": reply}
    assert (fault(row) == "") == good


def test_a_line_changed_by_hand_is_refused(tmp_path: Path) -> None:
    """A key that is not that of what was asked names its file and line."""
    replies = Replies(tmp_path)
    replies.add(CALL, REPLY, DAY)
    path = replies.path(CALL)
    path.write_text(path.read_text() + path.read_text().replace("how far", "how near"))
    with pytest.raises(InputError, match=r"bge-reranker-base\.jsonl:2: its key is not that of what was asked"):
        Replies(tmp_path)


@pytest.mark.parametrize("kept", range(0, 300, 23))
def test_a_torn_end_is_left_out_and_cut_off(tmp_path: Path, kept: int) -> None:
    """However much of the last line a killed writer left, the others are read, and the next writer repairs the file."""
    replies = Replies(tmp_path)
    calls = [replace(CALL, question=f"question {at}") for at in range(3)]
    for call in calls:
        replies.add(call, REPLY, DAY)
    path = replies.path(CALL)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]) + lines[2][:kept])
    torn = Replies(tmp_path)
    assert missing(torn, calls) == ([] if kept >= len(lines[2]) else [calls[2]])
    assert torn.torn == ([path] if 0 < kept < len(lines[2]) else [])
    torn.add(calls[2], REPLY, DAY)
    assert read_appended(path).faults == []
    assert missing(Replies(tmp_path), calls) == []


def _append_many(folder: str, name: str, count: int) -> None:
    replies = Replies(Path(folder))
    for at in range(count):
        replies.add(replace(CALL, question=f"{name} {at}"), REPLY, DAY)


def test_two_processes_record_at_once(tmp_path: Path) -> None:
    """Both write into one file; every line is whole and none is lost."""
    processes = [PROCESSES.Process(target=_append_many, args=(str(tmp_path), name, 60)) for name in ("one", "two")]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    calls = [replace(CALL, question=f"{name} {at}") for name in ("one", "two") for at in range(60)]
    assert missing(Replies(tmp_path), calls) == []
    assert len(next(tmp_path.rglob("*.jsonl")).read_text().splitlines()) == 120


def test_what_another_process_recorded_is_taken_in(tmp_path: Path) -> None:
    """A reader that is up already sees new lines, also after the file was replaced."""
    mine, other = Replies(tmp_path), Replies(tmp_path)
    calls = [replace(CALL, question=f"question {at}") for at in range(3)]
    other.add(calls[0], REPLY, DAY)
    mine.refresh(calls[0])
    assert mine.get(calls[0]) == REPLY
    other.rewrite(lambda row: True)
    other.add(calls[1], REPLY, DAY)
    mine.refresh(calls[1])
    assert mine.get(calls[1]) == REPLY
    mine.add(calls[2], REPLY, DAY)
    assert missing(Replies(tmp_path), calls) == []


def test_a_fault_that_comes_later_is_told_with_its_line(tmp_path: Path) -> None:
    """What a reader takes in on the way is numbered as it stands in the file; what is good beside a fault counts."""
    replies = Replies(tmp_path)
    calls = [replace(CALL, question=f"question {at}") for at in range(3)]
    for call in calls[:2]:
        replies.add(call, REPLY, DAY)
        replies.refresh(call)
    path = replies.path(CALL)
    append_lines(path, [{"key": "k"}])
    with path.open("ab") as file:
        file.write(b'\n{"a": \xff}\n')
    other = Replies(tmp_path / "other")
    other.add(calls[2], REPLY, DAY)
    path.write_bytes(path.read_bytes() + other.path(CALL).read_bytes())
    with pytest.raises(InputError) as refused:
        replies.refresh(CALL)
    assert [(fault.file, fault.line) for fault in refused.value.faults] == [(str(path), 3), (str(path), 5)]
    assert replies.get(calls[2]) == REPLY


def test_reading_from_any_mark_numbers_lines_as_they_stand(tmp_path: Path) -> None:
    """Read in two steps or in one: the same rows and faults with the same lines, and the same end."""
    path = tmp_path / "f.jsonl"
    lines = [b'{"a": 1}\n', b"\n", b"[1]\n", b'{"a": 2}\n', b'{"a"']
    path.write_bytes(b"".join(lines))
    whole = read_appended(path)
    assert [number for number, _ in whole.rows] == [1, 4]
    assert ([fault.line for fault in whole.faults], whole.torn, whole.end) == ([3], True, (23, 4))
    for count in range(5):
        path.write_bytes(b"".join(lines[:count]))
        first = read_appended(path)
        path.write_bytes(b"".join(lines))
        rest = read_appended(path, first.end)
        assert (first.rows + rest.rows, first.faults + rest.faults) == (whole.rows, whole.faults)
        assert (rest.torn, rest.end) == (True, whole.end)


def test_a_killed_writer_loses_at_most_the_line_it_was_at(tmp_path: Path) -> None:
    """Killed without warning while it writes, again and again: what it said was recorded is there."""
    program = (
        "import sys; from pathlib import Path; from dataclasses import replace\n"
        "from tests.test_replies import CALL, REPLY, DAY; from retrieval.replies import Replies\n"
        "replies = Replies(Path(sys.argv[1])); at = 0\n"
        "while True:\n"
        "    replies.add(replace(CALL, question=f'{sys.argv[2]} {at}'), REPLY, DAY); print(at, flush=True); at += 1\n"
    )
    for name in ("one", "two"):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path), name], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(5)]
        os.kill(process.pid, signal.SIGKILL)
        said += process.stdout.readlines()
        process.wait()
        process.stdout.close()
        calls = [replace(CALL, question=f"{name} {at.strip()}") for at in said]
        assert missing(Replies(tmp_path), calls) == []


def test_rewriting_keeps_one_line_a_call_in_one_order(tmp_path: Path) -> None:
    """Pruned files do not depend on the order of recording; lines given twice and failures that were mended go."""
    one, other = Replies(tmp_path / "a"), Replies(tmp_path / "b")
    calls = [replace(CALL, question=f"question {at}") for at in range(4)]
    for call in calls:
        one.add(call, REPLY, DAY)
    other.add(calls[3], Reply(failed="refused", message=""), DAY)
    for call in reversed(calls):
        other.add(call, REPLY, DAY)
    other.add(calls[0], REPLY, DAY)
    dropped = calls[1].key
    assert one.rewrite(lambda row: row["key"] != dropped) == 1
    assert other.rewrite(lambda row: row["key"] != dropped) == 3
    texts = [next((tmp_path / name).rglob("*.jsonl")).read_bytes() for name in "ab"]
    assert texts[0] == texts[1]
    assert missing(Replies(tmp_path / "b"), calls) == [calls[1]]


def test_appending_waits_for_the_disk_and_for_its_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each append is flushed to the disk before it returns."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    append_lines(tmp_path / "f.jsonl", [{"a": 1}], {"head": True})
    append_lines(tmp_path / "f.jsonl", [{"a": 2}], {"head": True})
    assert len(synced) == 2
    assert (tmp_path / "f.jsonl").read_text() == '{"head": true}\n{"a": 1}\n{"a": 2}\n'


def test_digests_do_not_depend_on_the_order_of_keys() -> None:
    """The same content is the same name in every process."""
    assert digest({"a": 1, "b": [2, "é"]}) == digest({"b": [2, "é"], "a": 1}) == "992f8d0a5d6192a6c1c9"


def test_reading_on_takes_in_only_what_is_new(tmp_path: Path) -> None:
    """After one's own appends nothing is read twice: a recording of n calls reads n lines, not n squared."""
    replies = Replies(tmp_path)
    for at in range(5):
        replies.add(replace(CALL, question=f"question {at}"), REPLY, DAY)
        replies.refresh(CALL)
        assert replies._start(replies.path(CALL)) == (replies.path(CALL).stat().st_size, at + 1)
