"""`record` writes what the models say, once; `eval` replays it without them; nothing is lost, half there or leaked."""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from evals import cli
from retrieval.errors import InputError, MissingRecordingError
from tests.live import world as worlds
from tests.live.loopback import SEARCHES, Body, Said, envelope, failure, message
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
    assert world.run("eval", f"--out={world.folder / 'out'}") == 0
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
    """Strict replay: nothing falls back, nothing is asked."""
    assert world.record() == 0
    capsys.readouterr()
    assert world.run("gate", f"--set={RERANK}") == 2
    assert world.run("eval", f"--set={RERANK}") == 2
    told = said(capsys)
    assert "4 of 4 calls to rerank with bge-reranker-base are not recorded, the first: 'how far from a hydrant" in told
    assert 'near-enough record --set "rerank=recorded bge-reranker-base"' in told
    assert world.asked("bge-reranker-base") == 0


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
    assert len(world.measure(RERANK).pairs) in (4, 40)


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
    assert "3 of 4 calls were answered and are recorded, 1 are left; the first that failed: the reply's score" in said(
        capsys
    )
    lines = world.recorded()["replies/rerank/cf-baai-bge-reranker-base.jsonl"].decode().splitlines()
    assert len(lines) == 3
    assert not any("moon" in line or "NaN" in line for line in lines)


def started(world: World, *options: str) -> "subprocess.Popen[str]":
    """`near-enough record` in a process of its own, on this project."""
    program = (
        "import sys; from dataclasses import replace; from pathlib import Path\n"
        "from retrieval import project, recordings; from evals.cli import main\n"
        "folder = Path(sys.argv[1])\n"
        "project.PROJECT = replace(project.PROJECT, root=folder)\n"
        "recordings.RECORDINGS, recordings.CACHE = folder / 'recordings', folder / 'cache'\n"
        "main(['record', *sys.argv[2:]])\n"
    )
    arguments = [sys.executable, "-c", program, str(world.folder), *world.options, *options]
    return subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def waited(process: "subprocess.Popen[str]") -> int:
    """The exit status of a process."""
    process.communicate()
    return process.returncode


def many_questions(world: World, count: int) -> None:
    """Questions enough for a kill to fall between them."""
    asks = "".join(f"      a{at}: may i park at hydrant {at}\n" for at in range(count))
    text = f"needs:\n  - id: many\n    expected: {{AL: [AL-1]}}\n    asks:\n{asks}"
    (world.folder / "questions" / "parking.yaml").write_text(text)


def test_killed_at_any_moment_and_run_again(world: World) -> None:
    """What had been recorded is not asked again, nothing is half there, and in the end everything is."""
    many_questions(world, 40)
    world.server.always = lambda body, good: Said(good, silence=0.05)
    for wanted in (6, 25):  # killed twice: after so many calls
        process = started(world, f"--set={RERANK}")
        while world.asked("bge-reranker-base") < wanted and process.poll() is None:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        waited(process)
    at_once = 8
    assert world.record(RERANK) == 0
    assert 40 <= world.asked("bge-reranker-base") <= 40 + 2 * at_once
    texts = world.server.texts()
    assert len(texts) == len(set(texts))
    assert len(world.measure(RERANK).pairs) in (4, 40)


def test_two_processes_record_at_once(world: World) -> None:
    """Both end well, everything is there once, and hardly anything was asked twice."""
    many_questions(world, 40)
    assert world.record() == 0
    world.server.always = lambda body, good: Said(good, silence=0.05)
    assert [waited(process) for process in [started(world, f"--set={RERANK}") for _ in range(2)]] == [0, 0]
    lines = world.recorded()["replies/rerank/cf-baai-bge-reranker-base.jsonl"].splitlines()
    assert len({json.loads(line)["key"] for line in lines}) == 40
    assert world.asked("bge-reranker-base") < 80
    assert len(world.measure(RERANK).pairs) in (4, 40)


def test_a_dry_run_asks_nobody_and_writes_nothing(world: World, capsys: Captured) -> None:
    """It says how many calls, tokens and dollars each stage would take, and of what it had to guess."""
    assert world.run("record", "--dry-run", f"--set={HAIKU}", "--set=rephrase=recorded") == 0
    told = capsys.readouterr().out.splitlines()
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
    assert world.record(HAIKU) == 0
    assert "rerank with claude-haiku-4-5: all was recorded" in capsys.readouterr().out


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
    assert len(world.measure(RERANK).pairs) in (4, 40)


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
    assert len(world.measure(RERANK).pairs) in (4, 40)


def test_no_token_and_no_account_in_anything_written(world: World) -> None:
    """Every file of recordings, cache and report is scanned, after good replies, refusals and repeated secrets."""

    def repeating(body: Body, good: object) -> Said:
        if "moon" in json.dumps(body.get("messages", "")):
            return Said(message(f"not JSON, {len(worlds.TOKEN)}"))
        return Said(good, headers={"X-Seen": f"{worlds.TOKEN} {worlds.ACCOUNT}"})

    world.server.always = repeating
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
