"""The reference cases, where they are at hand: what each stage must give for inputs that nobody would invent."""

import json
from pathlib import Path
from typing import Any

import pytest

REFERENCE = Path(__file__).resolve().parents[2] / "shared" / "reference"

needs_reference = pytest.mark.skipif(
    not REFERENCE.is_dir(), reason="the reference cases (../shared/reference) are not on this machine"
)


def cases(name: str) -> Any:
    """The cases of one file, parsed."""
    return json.loads((REFERENCE / name).read_text(encoding="utf-8"))
