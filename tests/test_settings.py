"""Settings read, checked and changed by name."""

import subprocess
import sys
from pathlib import Path

import pytest

from retrieval import settings as settings_module
from retrieval.errors import InputError
from retrieval.live import REPHRASERS, RERANKERS
from retrieval.settings import Asking, Settings, changed, load_settings

GOOD = "embedder: e5-small\nnear_enough: {e5-small: 0.8, bge-m3: 0.5}\nrephrase: off\n"


def read(tmp_path: Path, text: str) -> Settings:
    """The settings of a file with this text."""
    path = tmp_path / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path)


def faults(tmp_path: Path, text: str) -> list[str]:
    """What is wrong with this text, without the folder."""
    with pytest.raises(InputError) as refused:
        read(tmp_path, text)
    return [str(fault).replace(f"{tmp_path}/", "") for fault in refused.value.faults]


def test_defaults_are_the_pipelines(tmp_path: Path) -> None:
    """What a file leaves out is what the pipeline was deployed with."""
    settings = read(tmp_path, GOOD)
    numbers = (settings.near_laws, settings.retrieved_laws, settings.candidate_laws, settings.searched_candidate_laws)
    assert (*numbers, settings.answer_laws, settings.rephrase, settings.rerank) == (8, 8, 24, 32, 3, "off", "off")
    assert settings.cutoff == 0.8
    assert (settings.pool_laws(0), settings.pool_laws(2)) == (24, 32)


def test_the_settings_in_force_load() -> None:
    """settings.yaml is good, and has a cutoff for both models that come inside packages."""
    settings = load_settings()
    assert {"e5-small", "use-multilingual"} <= set(settings.near_enough)


def test_every_fault_with_its_line(tmp_path: Path) -> None:
    """Unknown names, wrong types and ranges, each where it stands."""
    text = "embedder: e5-small\nnear_enough: {e5-small: 1.5}\nnear_law: 8\nnear_laws: -1\ncandidate_laws: many\n"
    text += "rerank: live\n"
    assert faults(tmp_path, text) == [
        "settings.yaml:2: `near_enough.e5-small`: expected 1 or less, found 1.5",
        "settings.yaml:3: unknown setting `near_law`; there are embedder, near_enough, near_laws, retrieved_laws,"
        " candidate_laws, searched_candidate_laws, answer_laws, rephrase, rerank",
        "settings.yaml:4: `near_laws`: expected 0 or more, found -1",
        'settings.yaml:5: `candidate_laws`: expected a whole number, found "many"',
        "settings.yaml:6: `rerank`: expected off, or recorded or live with the name of one of bge-reranker-base,"
        ' bge-m3, claude-haiku-4-5, claude-haiku-5-5, found "live"',
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "embedder: m\nnear_enough: {e5-small: 0.8}\n",
            "settings.yaml:2: no cutoff for the embedder m; known here: e5-small",
        ),
        (
            "embedder: a\nnear_enough: {a: 0.5}\nnear_laws: 010\n",
            "settings.yaml:3: `near_laws`: 010 is read as another number",
        ),
        (
            "embedder: a\nnear_enough: {a: 0.5}\nnear_laws: 1:30\n",
            "settings.yaml:3: `near_laws`: 1:30 is read as another number",
        ),
        ("- a\n", "settings.yaml:1: expected settings, one `name: value` a line"),
        ("", "settings.yaml:1: expected settings, one `name: value` a line"),
        ("near_enough: {a: 0.5}\n", "settings.yaml:1: the setting `embedder` is missing"),
        (
            "embedder: a\nnear_enough: {a: .nan}\n",
            "settings.yaml:2: `near_enough.a`: expected a finite number, found NaN",
        ),
        (
            "embedder: a\nnear_enough: {a: yes}\n",
            "settings.yaml:2: `near_enough.a`: expected a number, found true",
        ),
    ],
)
def test_other_faults(tmp_path: Path, text: str, fault: str) -> None:
    """A cutoff for the model in use, a mapping, finite numbers."""
    found = faults(tmp_path, text)
    assert fault in found


def test_changes_by_name(tmp_path: Path) -> None:
    """`near_enough` changes the cutoff of the model in use, whichever order the changes come in; the rest stays."""
    settings = read(tmp_path, GOOD)
    assert changed(settings, ["near_enough=0.82", "near_laws=0"]).model_dump() == {
        **settings.model_dump(),
        "near_enough": {"e5-small": 0.82, "bge-m3": 0.5},
        "near_laws": 0,
    }
    assert changed(settings, ["near_enough=0.6", "embedder=bge-m3"]).near_enough == {"e5-small": 0.8, "bge-m3": 0.6}
    assert changed(settings, ["rephrase=off"]).rephrase == "off"
    assert settings.cutoff == 0.8


@pytest.mark.parametrize(
    ("change", "rephraser", "reranker"),
    [
        ("rerank=recorded bge-reranker-base", None, Asking("bge-reranker-base", False)),
        ("rerank=live  bge-m3", None, Asking("bge-m3", True)),
        ("rephrase=written", None, None),
        ("rephrase=recorded", Asking("claude-haiku-4-5", False), None),
        ("rephrase=live claude-haiku-5-5", Asking("claude-haiku-5-5", True), None),
        ("rerank=off", None, None),
    ],
)
def test_models_to_ask(tmp_path: Path, change: str, rephraser: Asking | None, reranker: Asking | None) -> None:
    """A stage is off, replayed or live, with its model's name; the rephraser has a default."""
    settings = changed(read(tmp_path, GOOD), [change])
    assert (settings.rephraser, settings.reranker) == (rephraser, reranker)
    assert changed(settings, [f"rephrase={settings.rephrase}", f"rerank={settings.rerank}"]) == settings


def test_the_models_that_can_be_named_are_those_that_there_are() -> None:
    """Each name that settings take is a stage's, at the provider under the provider's name."""
    assert (tuple(RERANKERS), tuple(REPHRASERS)) == (settings_module.RERANKERS, settings_module.REPHRASERS)
    assert {name: stage.version for name, stage in {**RERANKERS, **REPHRASERS}.items()} == {
        "bge-reranker-base": "@cf/baai/bge-reranker-base",
        "bge-m3": "@cf/baai/bge-m3",
        "claude-haiku-4-5": "claude-haiku-4-5",
        "claude-haiku-5-5": "claude-haiku-5-5",
    }


def test_names_are_known_without_the_stages() -> None:
    """Loading settings loads neither the stages nor a client."""
    program = (
        "import sys; import retrieval.settings\n"
        "print({'retrieval.live', 'retrieval.models.claude', 'httpx', 'anthropic'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (["near_enuogh=0.8"], ["--set near_enuogh=0.8: expected NAME=VALUE"]),
        (["near_laws"], ["--set near_laws: expected NAME=VALUE"]),
        (["near_enough=high", "near_laws=x"], ["`near_enough.e5-small`", "`near_laws`"]),
        (["embedder=m"], ["no cutoff for the embedder m"]),
        (["near_laws=010"], ["`near_laws`"]),
        (["near_enough="], ["`near_enough.e5-small`"]),
        (
            ["rerank=recorded"],
            ["`rerank`: expected off, or recorded or live with the name of one of bge-reranker-base"],
        ),
        (["rerank=written"], ["`rerank`: expected off"]),
        (["rerank=recorded gpt", "rephrase="], ["`rerank`: expected off", "`rephrase`"]),
        (["rephrase=recorded bge-m3"], ["`rephrase`: expected off, written, or recorded or live with the name"]),
        (["rephrase=live a b"], ["`rephrase`: expected off, written, or recorded or live with the name"]),
    ],
)
def test_bad_changes(tmp_path: Path, changes: list[str], expected: list[str]) -> None:
    """Each bad change is told."""
    with pytest.raises(InputError) as refused:
        changed(read(tmp_path, GOOD), changes)
    for part in expected:
        assert part in str(refused.value)
