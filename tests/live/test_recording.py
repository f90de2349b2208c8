"""`record` writes what the models say, once; `eval` replays it without them; nothing is lost, half there or leaked."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from evals import cli
from evals.recording.asking import Recorder, shuffled
from retrieval import project
from retrieval.errors import InputError, MissingRecordingError
from retrieval.live import RERANKERS
from retrieval.models.calls import Bounds
from retrieval.replies import Replies, Reply
from tests.live import world as worlds
from tests.live.loopback import SEARCHES, Body, Said, asked_texts, envelope, failure, message
from tests.live.world import EMBEDDED, HAIKU, LAWS, RERANK, World

TEXTS = {law["id"]: f"{law['law']} {law['question']}" for law in LAWS}

Captured = pytest.CaptureFixture[str]


def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No credentials from here on."""
    for name in worlds.NAMES:
        monkeypatch.delenv(name, raising=False)


def said(output: Captured) -> str:
    """What was printed, without the breaks of lines."""
    captured = output.readouterr()
    return " ".join((captured.out + captured.err).split())


def test_vectors_are_recorded_once_and_replayed(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Each text is asked for once; the header tells model and pooling; the evaluation then needs no model."""
    assert world.record() == 0
    assert "bge-m3: 1 calls, about" in said(capsys)
    texts = world.server.texts()
    assert len(texts) == len(set(texts)) == sum(EMBEDDED.values())
    head = json.loads(world.recorded()["bge-m3/questions.jsonl"].splitlines()[0])
    assert (head["model"], head["dimensions"], head["pooling"]) == ("bge-m3", 1024, "cls")
    before = world.recorded()
    assert world.record() == 0
    offline(monkeypatch)
    assert len(world.measure().pairs) == 4
    assert len(world.server.texts()) == len(texts)
    assert world.recorded() == before


def test_a_model_of_any_address(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An OpenAI-compatible server tells its dimensions with its vectors; they belong to the recording."""
    assert world.run("record", "--embedder=openai/small") == 0
    head = json.loads(world.recorded()["openai/small/questions.jsonl"].splitlines()[0])
    assert (head["model"], head["dimensions"]) == ("openai/small", 6)
    offline(monkeypatch)
    assert len(world.measure("embedder=openai/small").pairs) == 4


@pytest.mark.parametrize("embedder", ["bge-m3", "openai/small"])
def test_vectors_that_cannot_be_compared_are_not_mixed(embedder: str, world: World, capsys: Captured) -> None:
    """Another pooling or dimension than was recorded is one error, and the recordings stay as they were."""
    assert world.run("record", f"--embedder={embedder}") == 0
    before = world.recorded()
    path = world.folder / "questions" / "parking.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("on the moon", "on mars"), encoding="utf-8")

    def other(body: Body, good: Any) -> Said:
        if "data" in good:
            return Said({"data": [{**row, "embedding": [1.0, 2.0]} for row in good["data"]]})
        return Said(envelope({**good["result"], "pooling": "mean"}))

    world.server.always = other
    capsys.readouterr()
    assert world.run("record", f"--embedder={embedder}") == 2
    assert "cannot be compared with those of" in said(capsys)
    assert world.recorded() == before
    world.server.always = None
    assert world.run("record", f"--embedder={embedder}") == 0


@pytest.mark.parametrize("embedder", ["bge-m3", "openai/small"])
def test_a_zero_vector_names_its_text(embedder: str, world: World, capsys: Captured) -> None:
    """A zero vector is near to nothing and no recording: the text is named, nothing is stored."""

    def zero(body: Body, good: Any) -> Said:
        if "data" in good:
            return Said({"data": [{**row, "embedding": [0.0] * 6} for row in good["data"]]})
        return Said(envelope({**good["result"], "data": [[0.0] * 1024 for _ in body["text"]]}))

    world.server.always = zero
    assert world.run("record", f"--embedder={embedder}") == 2
    assert "the model's vector is zero for the text 'Park 15 feet" in said(capsys)
    assert world.recorded() == {}


def test_a_mixed_store_is_refused(world: World, capsys: Captured) -> None:
    """Two files of two poolings in one folder are bad input, by file and line."""
    assert world.record() == 0
    path = world.recordings / "bge-m3" / "questions.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"cls"', '"mean"', 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"jsonl:1: vectors of 1024 dimensions, pooled by mean cannot be compared"):
        world.measure()


def test_a_missing_vector_names_itself_and_the_command(world: World, capsys: Captured) -> None:
    """Credentials or not, an evaluation asks no model over the network."""
    assert world.run("eval") == 2
    told = said(capsys)
    assert "4 passage texts have no recorded vector, the first: 'Park 15 feet from a hydrant." in told
    assert "`near-enough record --embedder bge-m3` records them" in told
    assert world.server.asked == []


def test_a_missing_reply_names_itself_and_the_command(world: World, capsys: Captured) -> None:
    """Strict replay: nothing falls back, nothing is asked; the command that is named records what is missing."""
    assert world.record() == 0
    capsys.readouterr()
    assert world.run("eval", "--set=candidate_laws=3", "--set=rephrase=written", f"--set={RERANK}") == 2
    told = said(capsys)
    assert "4 of 4 calls to rerank with bge-reranker-base are not recorded, the first: 'how far from a hydrant" in told
    assert world.asked("bge-reranker-base") == 0
    named = shlex.split(told.partition("where they were given: ")[2])
    assert named[:2] == ["near-enough", "record"]
    changes = named[3::2]
    assert changes == ["embedder=bge-m3", "near_enough=-1.0", "candidate_laws=3", "rephrase=written", RERANK]
    usual = project.PROJECT.settings.read_text(encoding="utf-8")
    (world.folder / "settings.yaml").write_text(usual, encoding="utf-8")
    assert world.run(*named[1:]) == 0
    run = world.measure(*changes)
    assert [each.trace.outcome for each in run.pairs] == ["ranked"] * 4
    assert run.settings.candidate_laws == 3


@pytest.mark.parametrize("change", [RERANK, "rerank=recorded bge-m3", HAIKU])
def test_a_reranker_is_recorded_and_replayed(
    change: str, world: World, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """The answers are the reranker's, offline too, and any change to the pool misses."""
    assert world.record(change) == 0
    assert "rerank with" in said(capsys)
    asked, before = len(world.server.asked), world.recorded()
    offline(monkeypatch)
    traces = [each.trace for each in world.measure(change).pairs]
    assert [trace.outcome for trace in traces] == ["ranked"] * 4
    for trace in traces:
        if change == HAIKU:  # which names the second and the first of each pool
            best = [trace.pool[1], trace.pool[0], *trace.pool[2:]]
        else:  # which like long laws
            best = sorted(trace.pool, key=lambda law: -len(TEXTS[law]))
        pages = [law for law in best[:3] if law == "AL-P"]
        assert list(trace.answer) == [law for law in best if law != "AL-P"][:3] + pages
    with pytest.raises(MissingRecordingError, match="4 of 4 calls to rerank"):
        world.measure(change, "candidate_laws=2")
    assert len(world.server.asked) == asked
    assert world.recorded() == before


def test_live_asks_and_writes_nothing(world: World) -> None:
    """`live` asks the models in an evaluation and in a search, and leaves recordings as they are."""
    assert world.record() == 0
    before, asked = world.recorded(), world.asked("bge-reranker-base")
    with pytest.raises(MissingRecordingError, match="1 query texts have no recorded vector"):
        world.measure("rerank=live bge-reranker-base", "rephrase=live")  # of what the rephraser says, none is recorded
    assert {each.trace.outcome for each in world.measure("rerank=live bge-reranker-base").pairs} == {"ranked"}
    assert world.asked("bge-reranker-base") == asked + 4
    with_rerank = ["--set=rerank=live bge-reranker-base", "--set=rephrase=live"]
    options = [option for option in world.options if not option.startswith("--questions")]
    with pytest.raises(SystemExit) as ended:
        cli.main(["search", "AL", "how far", *options, *with_rerank])
    assert ended.value.code == 0
    assert world.recorded() == before


def test_a_rephraser_is_recorded_and_its_searches_are_used(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Its searches are embedded with the rest, its family's page rows stand beside; offline it says the same."""
    world.server.faults = []

    def named(body: Body, good: object) -> Said:
        if "output_config" in body:
            return Said(message(SEARCHES.replace('"none"', '"permit"')))
        return Said(good)

    world.server.always = named
    assert world.record("rephrase=recorded", RERANK) == 0
    for path in (world.folder / "cache").iterdir():
        path.unlink()  # another machine has the recordings alone
    offline(monkeypatch)
    before = world.recorded()
    capsys.readouterr()
    assert world.run("recordings", "--prune", "--set=rephrase=recorded", f"--set={RERANK}") == 0
    assert capsys.readouterr().out.count(" 0 missing, 0 stale, 0 unused, 0 failed") == 3
    assert world.run("recordings", "--prune") == 0
    assert {name: sorted(held.splitlines()) for name, held in world.recorded().items()} == {
        name: sorted(held.splitlines()) for name, held in before.items()
    }
    for each in world.measure("rephrase=recorded", RERANK).pairs:
        assert [scoring.text for scoring in each.trace.scorings[1:]] == ["distance from a fire hydrant"]
        assert (each.family, each.trace.family, each.rephrase) == ("permit", ("AL-P",), "rephrased")


def test_a_spent_allowance_stops_and_the_next_run_goes_on(world: World, capsys: Captured) -> None:
    """What was got is kept, the message says how much, and nothing is paid for twice."""
    assert world.record() == 0
    world.server.faults = [Said(failure(3036), 429) if at == 2 else lambda body, good: Said(good) for at in range(3)]
    world.server.always = Said(failure(3036), 429)
    capsys.readouterr()
    assert world.record(RERANK) == 2
    told = said(capsys)
    assert "2 of 4 calls were answered and are recorded, 2 are left; stopped by:" in told
    assert "the day's allowance is spent" in told
    assert "The same command goes on from here" in told
    world.server.always = None
    before = world.asked("bge-reranker-base")
    assert world.record(RERANK) == 0
    assert world.asked("bge-reranker-base") == before + 2
    assert len(world.measure(RERANK).pairs) == 4


@pytest.mark.parametrize("embedder", ["bge-m3", "openai/small"])
def test_vectors_that_were_got_are_kept(embedder: str, world: World, capsys: Captured) -> None:
    """Of four requests under way one fails for good: the three others are not asked for again."""
    many_questions(world, 350)

    def spent(body: Body, good: object) -> Said:
        last = "may i park at hydrant 340" in asked_texts(body)
        return Said(failure(3036), 429, {"Retry-After": "9999"}, silence=0.5) if last else Said(good)

    world.server.always = spent
    assert world.run("record", f"--embedder={embedder}") == 2
    world.server.always = None
    assert world.run("record", f"--embedder={embedder}") == 0
    texts = world.server.texts()
    assert len(texts) == len(LAWS) + 350 + 50
    assert len(set(texts)) == len(LAWS) + 350


def test_a_refusal_is_counted_and_asked_again(world: World, capsys: Captured) -> None:
    """It is recorded as a failure, replayed as a fallback with its cause, and mended by the next recording."""
    world.server.always = lambda body, good: Said(
        message("", "refusal") if "moon" in json.dumps(body.get("messages", "")) else good
    )
    assert world.record(HAIKU) == 0
    assert "; 1 answers could not be used" in said(capsys)
    traces = {each.pair.question: each.trace for each in world.measure(HAIKU).pairs}
    moon = traces.pop("moon/speed")
    assert (moon.outcome, moon.answer) == ("refused", moon.fused)
    assert [trace.outcome for trace in traces.values()] == ["ranked", "ranked", "ranked"]
    world.server.always = None
    before = world.asked("messages")
    assert world.record(HAIKU) == 0
    assert world.asked("messages") == before + 1


def test_a_bad_reply_is_never_recorded(world: World, capsys: Captured) -> None:
    """A score that is none is an error of that call; the others are recorded, and the store holds no trace of it."""
    assert world.record() == 0

    def broken(body: Body, good: Any) -> Said:
        rows = good["result"]["response"]
        if "moon" in body.get("query", ""):
            return Said(
                raw=json.dumps(envelope({"response": [{**rows[0], "score": float("nan")}, *rows[1:]]})).encode()
            )
        return Said(good)

    world.server.always = broken
    assert world.record(RERANK) == 2
    told = said(capsys)
    assert "3 of 4 calls were answered and are recorded, 1 are left; the first that failed, 'park on the moon':" in told
    lines = world.recorded()["replies/rerank/cf-baai-bge-reranker-base.jsonl"].decode().splitlines()
    assert len(lines) == 3
    assert not any("moon" in line or "NaN" in line for line in lines)


def many_questions(world: World, count: int) -> None:
    """Questions enough for a kill to fall between them."""
    asks = "".join(f"      a{at}: may i park at hydrant {at}\n" for at in range(count))
    text = f"needs:\n  - id: many\n    expected: {{AL: [AL-1]}}\n    asks:\n{asks}"
    (world.folder / "questions" / "parking.yaml").write_text(text)


def killed(world: World, setting: str, what: str, answered: int) -> None:
    """A recording that is killed without warning when so many of its requests were answered and more are waiting."""
    end = threading.Event()

    def held(body: Body, good: object) -> Said:
        if world.asked(what) > answered:
            end.wait(60)
        return Said(good)

    world.server.always = held
    process = world.started(setting)
    while world.asked(what) <= answered:
        assert process.is_alive(), "it ended before"
        time.sleep(0.01)
    process.kill()
    process.join()
    end.set()
    world.server.always = None
    assert process.exitcode == -signal.SIGKILL


def test_killed_at_any_moment_and_run_again(world: World) -> None:
    """What had been recorded is not asked again, nothing is half there, and in the end everything is."""
    many_questions(world, 40)
    killed(world, RERANK, "bge-reranker-base", 6)
    killed(world, RERANK, "bge-reranker-base", 25)
    at_once = 8
    assert world.record(RERANK) == 0
    assert 40 <= world.asked("bge-reranker-base") <= 40 + 2 * at_once
    texts = world.server.texts()
    assert len(texts) == len(set(texts))
    assert [each.trace.outcome for each in world.measure(RERANK).pairs] == ["ranked"] * 40


def test_killed_while_it_embeds(world: World) -> None:
    """Vectors of the batches before are kept, in a file that is whole; those of the batch under way are asked again."""
    many_questions(world, 900)
    embedder = "embedder=openai/small"
    killed(world, embedder, "embeddings", 6)  # the laws, the first 400 questions, and one hundred of the next
    assert world.record(embedder) == 0
    texts = world.server.texts()
    assert len(set(texts)) == len(LAWS) + 900
    assert 0 < len(texts) - len(set(texts)) <= 400
    head, *lines = world.recorded()["openai/small/questions.jsonl"].splitlines()
    assert json.loads(head)["dimensions"] == 6
    assert len({json.loads(line)["text"] for line in lines}) == len(lines) == 900


def test_two_processes_record_at_once(world: World) -> None:
    """Both end well, everything is there once, and hardly anything was asked twice."""
    many_questions(world, 40)
    assert world.record() == 0
    world.server.always = lambda body, good: Said(good, silence=0.03)
    processes = [world.started(RERANK) for _ in range(2)]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    lines = world.recorded()["replies/rerank/cf-baai-bge-reranker-base.jsonl"].splitlines()
    assert len({json.loads(line)["key"] for line in lines}) == 40
    assert world.asked("bge-reranker-base") < 80
    assert [each.trace.outcome for each in world.measure(RERANK).pairs] == ["ranked"] * 40


def test_two_processes_do_not_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has an order of its own: wherever they stand, hardly a call of one meets the same of the other."""
    calls = [RERANKERS["bge-reranker-base"].call(f"question {at}", ["law"]) for at in range(60)]
    orders = []
    for process in (100, 101):
        monkeypatch.setattr(os, "getpid", lambda process=process: process)
        orders.append(shuffled(calls))
    one, other = orders
    assert sorted(map(id, one)) == sorted(map(id, other)) == sorted(map(id, calls))
    met = [sum(a is b for a, b in zip(one, [*other[at:], *other[:at]], strict=True)) for at in range(60)]
    assert max(met) < 10


def test_two_processes_embed_at_once(world: World) -> None:
    """Each asks for what it needs; the files that stay are one's or the other's, whole."""
    many_questions(world, 20)
    world.server.always = lambda body, good: Said(good, silence=0.03)
    processes = [world.started() for _ in range(2)]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert len(world.recorded()["bge-m3/questions.jsonl"].splitlines()) == 21
    assert len(world.measure().pairs) == 20


def test_a_dry_run_asks_nobody_and_writes_nothing(world: World, capsys: Captured) -> None:
    """It says how many calls, tokens and dollars each stage would take, and of what it had to guess."""
    assert world.run("record", "--dry-run", f"--set={HAIKU}", "--set=rephrase=recorded") == 0
    told = capsys.readouterr().out.splitlines()
    assert (
        told[-1] == "dollars are an estimate from the vendors' price lists of October 2026 (evals/recording/costs.py)"
    )
    assert told[0].startswith("vectors of bge-m3: 0 of 9 recorded; 1 calls, about")
    assert told[1].startswith("rephrase with claude-haiku-4-5: 0 of 4 recorded; 4 calls, about")
    assert told[1].endswith("about $0.0023")
    assert "(guessed: what comes before it is not recorded)" in told[2]
    assert (world.server.asked, world.recorded()) == ([], {})
    assert world.record(HAIKU, "rephrase=recorded") == 0
    capsys.readouterr()
    assert world.run("record", "--dry-run", f"--set={HAIKU}", "--set=rephrase=recorded") == 0
    assert all(line.endswith("nothing to ask") for line in capsys.readouterr().out.splitlines())


def test_what_a_recording_took(world: World, capsys: Captured) -> None:
    """Tokens as the provider counted them, and dollars at the listed price."""
    assert world.record(HAIKU) == 0
    told = capsys.readouterr().out
    assert "rerank with claude-haiku-4-5: 4 calls, 3,600 tokens in and 48 out, about $0.0038" in told
    assert "dollars are an estimate from the vendors' price lists of October 2026" in told
    assert world.record(HAIKU) == 0
    told = capsys.readouterr().out
    assert "rerank with claude-haiku-4-5: nothing was asked" in told
    assert "dollars" not in told


def test_tokens_alone_where_no_price_is_known(world: World, capsys: Captured) -> None:
    """A model of somebody's own server costs what nobody knows here."""
    assert world.run("record", "--dry-run", "--embedder=openai/small") == 0
    (told,) = capsys.readouterr().out.splitlines()
    assert re.fullmatch(
        r"vectors of openai/small: 0 of 9 recorded; 1 calls, about \d+ tokens in, at a price not known here", told
    )


def test_progress_is_told_of_every_call(world: World) -> None:
    """Of so many calls so many are done; what another process got meanwhile counts as done."""
    told: list[tuple[str, int, int]] = []

    def progress(what: str, done: int, total: int) -> None:
        told.append((what, done, total))
        if done == 1:  # another process records all the rest
            other = Replies(world.recordings / "replies")
            for call in calls:
                other.add(call, Reply({"scores": [0.5]}), "2026-11-29")

    stage = replace(RERANKERS["bge-reranker-base"], bounds=Bounds(at_once=1))
    calls = [stage.call(f"question {at}", ["law"]) for at in range(6)]
    recorder = Recorder(Replies(world.recordings / "replies"), "2026-11-29", progress)
    assert len(recorder(stage, calls)) == 6
    assert told == [("rerank with bge-reranker-base", done, 6) for done in range(1, 7)]
    assert world.asked("bge-reranker-base") == 1


def test_a_sample_is_asked_again(world: World, capsys: Captured) -> None:
    """Unchanged models say the same; one that moved is told how far; nothing is written."""
    assert world.record(RERANK) == 0
    before = world.recorded()
    capsys.readouterr()
    assert world.run("record", "--check", f"--set={RERANK}") == 0
    same = capsys.readouterr().out
    assert "vectors of bge-m3: 9 of 9 asked again say the same; lowest cosine with the recorded 1.000000" in same
    assert "rerank with bge-reranker-base: 4 of 4 asked again say the same" in same

    def moved(body: Body, good: Any) -> Said:
        if "response" in good["result"]:
            rows = [{**row, "score": -row["score"]} for row in good["result"]["response"]]
            return Said(envelope({"response": rows}))
        return Said(envelope({**good["result"], "data": [row[::-1] for row in good["result"]["data"]]}))

    world.server.always = moved
    assert world.run("record", "--check", f"--set={RERANK}") == 0
    other = capsys.readouterr().out
    assert "vectors of bge-m3: 0 of 9 asked again say the same; lowest cosine with the recorded" in other
    assert (
        "rerank with bge-reranker-base: 0 of 4 asked again say the same; all were answered; 4 with other laws" in other
    )
    assert world.recorded() == before
    world.server.always = Said(failure(3036), 429)
    assert world.run("record", "--check", f"--set={RERANK}") == 0
    none = said(capsys)
    assert "vectors of bge-m3: not checked: the day's allowance is spent" in none
    assert "0 of 4 asked again say the same; 4 got no answer that can be used (stopped by: the day's allowance" in none


def test_what_is_missing_stale_or_unused(world: World, capsys: Captured) -> None:
    """Listed by name; pruning drops what is stale or unused, and the rest replays as before."""
    assert world.record(RERANK) == 0
    path = world.folder / "questions" / "parking.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("on the moon", "on mars"), encoding="utf-8")
    laws = world.folder / "laws" / "al.jsonl"
    laws.write_text(laws.read_text().replace("Stop at a red light.", "Stop at every red light."))
    capsys.readouterr()
    assert world.run("recordings", f"--set={RERANK}") == 0
    told = capsys.readouterr().out
    assert "vectors of bge-m3: 9 needed, 2 missing, 0 stale, 2 unused, 0 failed" in told
    assert "missing: park on mars" in told
    assert "replies: not judged: 1 passage texts have no recorded vector" in told
    assert world.record() == 0
    capsys.readouterr()
    assert world.run("recordings", f"--set={RERANK}") == 0
    told = capsys.readouterr().out
    assert "rerank with bge-reranker-base: 4 needed, 4 missing, 3 stale, 1 unused, 0 failed" in told
    assert "unused: park on the moon" in told
    assert world.record(RERANK) == 0
    assert world.run("recordings", f"--set={RERANK}", "--prune") == 0
    assert "pruned: 0 vectors, 4 replies" in capsys.readouterr().out
    assert world.run("recordings", f"--set={RERANK}") == 0
    assert "rerank with bge-reranker-base: 4 needed, 0 missing, 0 stale, 0 unused, 0 failed" in capsys.readouterr().out
    assert len(world.measure(RERANK).pairs) == 4


def test_what_a_rephraser_would_say_is_not_guessed(world: World, capsys: Captured) -> None:
    """Where replies of it are missing, nobody knows what comes after: nothing of that is listed as stale, or pruned."""
    rephrased = ("--set=rephrase=recorded", f"--set={RERANK}")
    assert world.record("rephrase=recorded", RERANK) == 0
    (path,) = (world.recordings / "replies" / "rephrase").iterdir()
    one, *rest = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(rest), encoding="utf-8")
    before = world.recorded()
    capsys.readouterr()
    assert world.run("recordings", "--prune", *rephrased) == 0
    told = capsys.readouterr().out
    assert "rephrase with claude-haiku-4-5: 4 needed, 1 missing, 0 stale, 0 unused, 0 failed" in told
    assert "rerank with bge-reranker-base: not judged: 1 calls to the rephraser are missing" in told
    assert "pruned: 0 vectors, 0 replies" in told
    assert {name: sorted(held.splitlines()) for name, held in world.recorded().items()} == {
        name: sorted(held.splitlines()) for name, held in before.items()
    }
    path.write_text("".join([one, *rest]), encoding="utf-8")
    assert len(world.measure("rephrase=recorded", RERANK).pairs) == 4


def test_another_folder_is_judged_by_what_is_in_it(world: World, capsys: Captured) -> None:
    """An empty folder lacks everything, whatever stands in the project's; recording into it fills it from there on."""
    assert world.record() == 0
    empty = world.folder / "other"
    empty.mkdir()
    capsys.readouterr()
    assert world.run("recordings", f"--recordings={empty}") == 0
    assert "vectors of bge-m3: 9 needed, 9 missing, 0 stale, 0 unused, 0 failed" in capsys.readouterr().out
    assert world.run("record", f"--recordings={empty}") == 0
    capsys.readouterr()
    assert world.run("recordings", f"--recordings={empty}") == 0
    assert "vectors of bge-m3: 9 needed, 0 missing" in capsys.readouterr().out
    assert {
        path.relative_to(empty).as_posix(): path.read_bytes() for path in empty.rglob("*.jsonl")
    } == world.recorded()


def test_replies_that_nobody_asks_for_are_not_judged(world: World, capsys: Captured) -> None:
    """Other settings than those a reply was recorded for say so, and prune none of it."""
    assert world.record(RERANK) == 0
    assert world.run("recordings", "--prune") == 0
    assert "rerank with @cf/baai/bge-reranker-base: 4 replies, not judged" in capsys.readouterr().out
    assert len(world.measure(RERANK).pairs) == 4


def test_no_token_and_no_account_in_anything_written(world: World) -> None:
    """Every file of recordings, cache and report is scanned, after good replies, refusals and repeated secrets."""
    secrets = f"{worlds.TOKEN} {worlds.ACCOUNT}"

    def repeating(body: Body, good: Any) -> Said:
        held = message("no JSON") if "moon" in json.dumps(body.get("messages", "")) else {**good, "seen": secrets}
        return Said(held, headers={"X-Seen": secrets})

    assert world.record() == 0
    world.server.faults = [Said({"errors": [{"message": secrets}]}, 403)]
    world.server.always = repeating
    assert world.record(RERANK) == 2
    assert world.run("record", "--embedder=openai/small") == 0
    assert world.record(HAIKU, "rephrase=recorded") == 0
    assert world.record(RERANK) == 0
    assert world.run("eval", f"--out={world.folder / 'out'}", f"--set={HAIKU}", "--set=rephrase=recorded") == 0
    files = [path for path in world.folder.rglob("*") if path.is_file()]
    assert {"recordings", "cache", "out"} <= {path.relative_to(world.folder).parts[0] for path in files}
    for path in files:
        held = path.read_bytes()
        assert worlds.TOKEN.encode() not in held, path
        assert worlds.ACCOUNT.encode() not in held, path


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("near_laws=8", "Workers AI needs CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN in the environment"),
        (HAIKU, "Anthropic's models need ANTHROPIC_API_KEY in the environment"),
        ("rerank=live bge-m3", "Workers AI needs CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN in the environment"),
    ],
)
def test_without_credentials(
    change: str, line: str, world: World, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """The stage is not there, one line says so, and nothing was asked or written."""
    if change != "near_laws=8":
        assert world.record() == 0
    before = world.recorded()
    offline(monkeypatch)
    capsys.readouterr()
    assert world.run("eval" if "live" in change else "record", f"--set={change}") == 2
    told = capsys.readouterr().err
    assert line in told
    assert len(told.strip().splitlines()) == 1
    assert world.recorded() == before


def test_heavy_clients_are_loaded_where_they_are_used() -> None:
    """The default run imports neither httpx nor the SDK."""
    program = (
        "import sys; import evals.cli, evals.run, evals.recording.asking, evals.recording, evals.report.contents\n"
        "print([name for name in ('httpx', 'httpx2', 'anthropic') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
