"""What others made, where it is at hand, in `shared/` beside the clone: the reference cases, and collections.

The reference cases say what each stage must give for inputs that nobody would invent. A test of what is not there is
skipped.
"""

import json
from pathlib import Path
from typing import Any

import pytest

BESIDE = Path(__file__).resolve().parents[2] / "shared"
REFERENCE, COLLECTIONS = BESIDE / "reference", BESIDE / "collections"

needs_reference = pytest.mark.skipif(not REFERENCE.is_dir(), reason=f"no reference cases in {REFERENCE}")
needs_collections = pytest.mark.skipif(not COLLECTIONS.is_dir(), reason=f"no collections of others in {COLLECTIONS}")


def cases(name: str) -> Any:
    """The cases of one file, parsed."""
    return json.loads((REFERENCE / name).read_text(encoding="utf-8"))
