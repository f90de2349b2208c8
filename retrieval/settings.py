"""settings.yaml as one frozen value, and changes to it by name. Knows nothing of what the numbers do."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from retrieval.documents import Document, Where, parse_yaml, read_yaml
from retrieval.errors import LONGEST_SHOWN, Fault, InputError, named
from retrieval.project import PROJECT

SETTINGS = PROJECT.settings

Cosine = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=10_000)]

WORKERS_AI = ("bge-reranker-base", "bge-m3")
CLAUDE = ("claude-haiku-4-5", "claude-haiku-5-5")
RERANKERS = (*WORKERS_AI, *CLAUDE)
REPHRASERS = CLAUDE


class Asking(NamedTuple):
    """A model in a stage, by name; `live`: it is asked, and not replayed from recordings."""

    model: str
    live: bool


class Settings(BaseModel):
    """The numbers of the pipeline. `near_enough` holds a cutoff for each model; `cutoff` is that of the one in use.

    `rephrase` and `rerank` are `off`, or `recorded` or `live` with a model's name behind it; the searches that stand
    in the question set are `written`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    embedder: str
    near_enough: Mapping[str, Cosine]
    near_laws: Annotated[int, Field(ge=0, le=10_000)] = 8
    retrieved_laws: Count = 8
    candidate_laws: Count = 24
    searched_candidate_laws: Count = 32
    answer_laws: Count = 3
    rephrase: str = "off"
    rerank: str = "off"

    @field_validator("rephrase", "rerank", mode="before")
    @classmethod
    def _off(cls, value: object) -> object:
        return "off" if value is False else value  # YAML reads a bare `off` as false

    @field_validator("rephrase")
    @classmethod
    def _rephrase(cls, value: str) -> str:
        return value if value == "written" else _asked(value, "off, written", REPHRASERS, REPHRASERS[0])

    @field_validator("rerank")
    @classmethod
    def _rerank(cls, value: str) -> str:
        return _asked(value, "off", RERANKERS)

    @property
    def cutoff(self) -> float:
        """The near search's cutoff for the embedder in use."""
        return self.near_enough[self.embedder]

    @property
    def rephraser(self) -> Asking | None:
        """The model that rephrases, and whether it is asked; None where `rephrase` is off or written."""
        return _asking(self.rephrase)

    @property
    def reranker(self) -> Asking | None:
        """The model that reranks, and whether it is asked; None where `rerank` is off."""
        return _asking(self.rerank)

    def pool_laws(self, searches: int) -> int:
        """How many laws the pool holds when so many searches were fused."""
        return self.searched_candidate_laws if searches else self.candidate_laws

    def most_laws(self, searches: int) -> int:
        """How many laws of a ranking the stages look at, at most, when so many searches were fused."""
        return max(self.near_laws, self.retrieved_laws, self.pool_laws(searches))


def _asked(value: str, others: str, models: Sequence[str], default: str = "") -> str:
    """A value that names a model to ask, in one form: `recorded MODEL`; the default is put where none is named."""
    how, *named = value.split() or [""]
    named = named or [default]
    if value != "off" and (how not in ("recorded", "live") or len(named) != 1 or named[0] not in models):
        raise ValueError(f"expected {others}, or recorded or live with the name of one of {', '.join(models)}")
    return value if value == "off" else f"{how} {named[0]}"


def _asking(value: str) -> Asking | None:
    how, _, model = value.partition(" ")
    return Asking(model, how == "live") if model else None


def load_settings(path: Path | str = SETTINGS) -> Settings:
    """The settings of a file; InputError with every fault: unknown names, wrong types, a model without a cutoff."""
    document = read_yaml(Path(path))
    if not isinstance(document.data, dict):
        raise InputError([Fault(document.file, 1, "expected settings, one `name: value` a line")])
    changed_by_yaml = [
        Fault(document.file, document.line(where), f"`{'.'.join(map(str, where))}`: {raw} is read as another number")
        for where, (raw, read_as) in document.raw.items()
        if where and read_as == "a number" and not _plain(raw)
    ]
    if changed_by_yaml:
        raise InputError(changed_by_yaml)
    return _checked(document.data, document)


def _plain(number: str) -> bool:
    """Whether a number is written as it is read: YAML takes 010 for 8, 1:30 for 90 and 1_0 for 10."""
    return re.fullmatch(r"[-+]?(0|[1-9]\d*)(\.\d+)?|[-+]?\.(inf|nan)", number, re.IGNORECASE) is not None


def changed(settings: Settings, changes: Iterable[str]) -> Settings:
    """The settings with `name=value` changes; `near_enough=0.82` changes the cutoff of the embedder in use.

    Changes are applied in order. InputError with every fault: no `=`, an unknown name, a value that does not fit.
    """
    values: dict[str, Any] = settings.model_dump()
    values["near_enough"] = dict(values["near_enough"])
    faults = []
    cutoffs: list[object] = []
    for change in changes:
        name, equals, text = change.partition("=")
        name = name.strip()
        if not equals or name not in Settings.model_fields:
            names = ", ".join(Settings.model_fields)
            faults.append(Fault(f"--set {change[:LONGEST_SHOWN]}", None, f"expected NAME=VALUE, NAME one of {names}"))
            continue
        value = _value(text.strip())
        if name == "near_enough":
            cutoffs.append(value)
        else:
            values[name] = value
    for cutoff in cutoffs:
        values["near_enough"][values["embedder"]] = cutoff
    document = Document("--set")
    try:
        found = _checked(values, document)
    except InputError as error:
        raise InputError([*faults, *error.faults]) from None
    if faults:
        raise InputError(faults)
    return found


def _value(text: str) -> object:
    try:
        document, faults = parse_yaml("--set", text)
    except InputError:
        return text
    value = document.data
    if faults:
        return text
    return text if isinstance(value, int | float) and not isinstance(value, bool) and not _plain(text) else value


def _checked(values: Mapping[str, object], document: Document) -> Settings:
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise InputError(_faults(error, document)) from None
    if settings.embedder not in settings.near_enough:
        what = (
            f"no cutoff for the embedder {settings.embedder}; known here: {', '.join(settings.near_enough) or 'none'}"
        )
        raise InputError([Fault(document.file, document.line(("near_enough",)), what)])
    return settings


def _faults(error: ValidationError, document: Document) -> list[Fault]:
    """A validation's errors as faults in the file, each with the setting's name and what was found there."""
    faults = []
    for each in error.errors():
        where: Where = tuple(each["loc"])
        name = ".".join(map(str, where))
        if each["type"] == "extra_forbidden":
            what = f"unknown setting `{name}`; there are {', '.join(Settings.model_fields)}"
        elif each["type"] == "missing":
            what = f"the setting `{name}` is missing"
        else:
            what = named(name, dict(each))
        faults.append(Fault(document.file, document.line(where), what))
    return faults
