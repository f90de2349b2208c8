"""The faults, how each is planted, and what must catch it. `docs/sabotage.md` shows this table."""

import __future__

import inspect
import json
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval import fuse, rerank, vectors, words
from retrieval.models import Kind
from retrieval.pipeline import Pipeline
from retrieval.recordings import RECORDINGS
from retrieval.settings import changed
from retrieval.words import WordIndex
from tests import test_fuse, test_pipeline, test_recordings, test_rerank, test_vectors, test_words
from tests.sabotage.world import MODEL, World, copied, recorded

GATE = "the gate"
REFUSED = "refused when read"
