"""Changes that mean nothing: not one byte of what a run writes may change."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

from evals.questions import QUESTIONS
from retrieval.corpus import LAWS
from retrieval.settings import SETTINGS
from tests.sabotage.world import STATES

ROOT = Path(__file__).parents[2]
TOPICS = ("parking.yaml", "unrelated.yaml")
ENVIRONMENT = {
    "PYTHONHASHSEED": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}


def report(folder: Path, cwd: Path = ROOT, environment: Mapping[str, str] | None = None) -> dict[str, bytes]:
    """Every file that a run over a folder's laws, questions and settings writes, by its path in the report."""
    given = {"--laws": "laws", "--questions": "questions", "--settings": "settings.yaml", "--out": "report"}
    options = [part for name, path in given.items() for part in (name, str(folder / path))]
    options += ["--states", ",".join(STATES)]
    done = subprocess.run(
        [sys.executable, "-m", "evals", "eval", *options],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **ENVIRONMENT, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    files = [path for path in (folder / "report").rglob("*") if path.is_file()]
    return {path.relative_to(folder / "report").as_posix(): path.read_bytes() for path in sorted(files)}


def laid_out(folder: Path) -> Path:
    """The laws, two topics' questions and the settings, as they are committed."""
    for part in ("laws", "questions"):
        (folder / part).mkdir(parents=True)
    for path in LAWS.glob("*.jsonl"):
        (folder / "laws" / path.name).write_bytes(path.read_bytes())
    for name in TOPICS:
        (folder / "questions" / name).write_bytes((QUESTIONS / name).read_bytes())
    (folder / "settings.yaml").write_bytes(SETTINGS.read_bytes())
    return folder


def differing(one: Mapping[str, bytes], other: Mapping[str, bytes]) -> list[str]:
    """The files that are not the same."""
    return [name for name in sorted(one.keys() | other.keys()) if one.get(name) != other.get(name)]


def backwards(value: object) -> object:
    """Mappings with their keys in the other order, lists as they are."""
    if isinstance(value, dict):
        return {name: backwards(each) for name, each in reversed(value.items())}
    return value


def rewritten(folder: Path) -> Path:
    """The same written in another way: comments, orders that say nothing, quotes and spaces.

    The order of needs, asks and states, of the settings, of a law's fields, and that in which files were made.
    """
    for part in ("questions", "laws"):
        (folder / part).mkdir(parents=True)
    for name in reversed(TOPICS):
        needs = yaml.safe_load((QUESTIONS / name).read_text("utf-8"))["needs"]
        text = yaml.safe_dump({"needs": [backwards(need) for need in reversed(needs)]}, sort_keys=False, width=60)
        (folder / "questions" / name).write_text(f"# A comment.\n{text}# And another.\n", encoding="utf-8")
    for path in sorted(LAWS.glob("*.jsonl"), reverse=True):
        lines = path.read_text("utf-8").splitlines()
        rows = [json.dumps(backwards(json.loads(line)), separators=(" , ", " : ")) for line in lines]
        (folder / "laws" / path.name).write_text("\n\n".join(rows), encoding="utf-8")
    settings = yaml.safe_load(SETTINGS.read_text("utf-8"))
    text = yaml.safe_dump(dict(reversed(settings.items())), sort_keys=False)
    (folder / "settings.yaml").write_text(f"# Other words about the numbers.\n{text}", encoding="utf-8")
    return folder


def test_another_writing_place_and_time(tmp_path: Path) -> None:
    """What is committed, and the same written otherwise and measured elsewhere, all at once.

    Another folder's name, hash seed, number of threads, locale, time zone and working directory.
    """
    reference = report(laid_out(tmp_path / "as-committed"))
    environment = {
        "PYTHONHASHSEED": "2",
        "OMP_NUM_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "2",
        "LC_ALL": "tr_TR.UTF-8",
        "TZ": "Asia/Kathmandu",
    }
    assert differing(reference, report(rewritten(tmp_path / "renamed"), tmp_path, environment)) == []
