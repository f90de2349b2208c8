"""The pictures as files: drawn without a display, and nothing of them stays when they are written."""

import gc

import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evals.report import plots
from evals.report.contents import Contents
from tests.browser import world


def test_two_hundred_pictures_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one process, without a display: no figure stays open, and memory holds no more than after the first ten."""
    monkeypatch.delenv("DISPLAY", raising=False)
    contents = Contents(world.run())

    def draw(_: Contents, axes: Axes) -> None:
        axes.plot([1, 3, 2])

    def drawn(count: int) -> int:
        for _ in range(count):
            assert "</svg>" in plots._drawn(draw, contents)
        gc.collect()
        return len(gc.get_objects())

    first = drawn(10)
    assert drawn(190) - first < 500
    assert plt.get_fignums() == []
    assert not any(isinstance(each, Figure) for each in gc.get_objects())
