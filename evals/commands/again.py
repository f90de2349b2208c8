"""The options of a run as the commands in its verdict take them, so that those measure the same again.

Files are named as they were given: the commands are for the same directory.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from evals.outcomes import Side

_NAMES = {
    "settings_file": "--settings",
    "laws": "--laws",
    "questions": "--questions",
    "foreign": "--run",
    "stage": "--stage",
    "embedder": "--embedder",
    "changes": "--set",
}


def repeated(inputs: Mapping[str, Any], *left_out: str) -> list[str]:
    """The options that a command was given, as it was given them, but for those left out."""
    given = {name: inputs.get(name) or () for name in _NAMES if name not in left_out}
    each = {name: value if isinstance(value, list | tuple) else [value] for name, value in given.items()}
    return [part for name, values in each.items() for value in values for part in (_NAMES[name], str(value))]


def of_search(inputs: Mapping[str, Any]) -> list[str] | None:
    """The options of `search` that show what was measured; None for another system's run, which it cannot show."""
    return None if inputs.get("foreign") else repeated(inputs, "questions")


def to_accept(inputs: Mapping[str, Any], out: "Path | None" = None) -> str:
    """The command that records what was measured as the baseline: a change has to be made in the settings first."""
    from evals.report.verdicts.again import command, one_line
    from retrieval.settings import SETTINGS

    options = repeated(inputs, "embedder", "changes") + ([] if out is None else ["--out", str(out)])
    settings = one_line(str(inputs.get("settings_file") or SETTINGS.name))
    first = f"  # when {settings} holds the change" if inputs.get("changes") or inputs.get("embedder") else ""
    return f'{command("baseline", *options)} --why "..."{first}'


def of_recorded(side: "Side") -> list[str] | None:
    """The options of `search` that show the questions of a run by its report, from the settings in force.

    None where no options do: other laws than the project's, another model or another system.
    """
    from evals.run import Run
    from retrieval.corpus import LAWS, load_corpus
    from retrieval.errors import NearEnoughError
    from retrieval.models import embedder
    from retrieval.settings import load_settings

    settings, then = load_settings(), side.settings
    try:
        model = embedder(str(then["embedder"]))
        corpus = load_corpus(LAWS, {each.state for each in side.outcomes.values()})
    except (NearEnoughError, KeyError):
        return None
    here = Run(settings, corpus, (), f"{model.name} ({model.version})").fingerprints
    if any(here[name] != side.fingerprints.get(name) for name in ("laws", "model")):
        return None
    now = settings.model_dump(exclude={"near_enough"})
    changes = [f"{name}={then[name]}" for name, value in now.items() if then.get(name, value) != value]
    if settings.near_enough.get(then["embedder"]) != side.cutoff:
        changes.append(f"near_enough={side.cutoff}")
    return [part for change in changes for part in ("--set", change)]
