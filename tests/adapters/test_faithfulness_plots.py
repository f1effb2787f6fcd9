"""Pictures of an exam of faithfulness."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

from spanjury.adapters.plots import faithfulness
from spanjury.judges.core import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    title: str = "severity, score should $fall"
    scores: tuple[int, ...] = (1, 2)
    parts: tuple[str, ...] = ("unmoved", "both")
    shares: ArrayLike = ((0.25, 0.75), (0.0, 0.0))
    reports: ArrayLike = (4, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    name: str = "severity"
    x: tuple[int, ...] = (-1, 2)
    mean: tuple[float, ...] = (0.5, -0.5)
    spread: tuple[float, ...] = (0.1, 0.2)


@pytest.mark.parametrize("ending", [".png", ".svg"])
def test_bars_and_lines_are_drawn_the_same_each_time(tmp_path: Path, ending: str) -> None:
    paths = [tmp_path / f"{name}{ending}" for name in ("a", "b", "c", "d")]
    bars = {"j, d, a": [Bars(), Bars(parts=("1", "2"))], "k": [Bars()], "none": []}
    lines = {f"{number}, d_$1": [Line()] for number in range(4)}
    for path in paths[:2]:
        faithfulness.draw_stacks(path, panels=bars)
    for path in paths[2:]:
        faithfulness.draw_curves(path, panels={**lines, "none": []}, measure=("added", "change"))
    start = b"\x89PNG" if ending == ".png" else b"<?xml"
    assert all(path.read_bytes().startswith(start) for path in paths)
    if ending == ".png":
        assert paths[0].read_bytes() == paths[1].read_bytes()
        assert paths[2].read_bytes() == paths[3].read_bytes()


def test_nothing_at_all_can_be_drawn(tmp_path: Path) -> None:
    faithfulness.draw_stacks(tmp_path / "a.png", panels={})
    faithfulness.draw_curves(tmp_path / "b.png", panels={}, measure=("x", "y"))
    assert np.all([path.stat().st_size > 0 for path in tmp_path.iterdir()])


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="ends in"):
        faithfulness.draw_stacks(tmp_path / "a.jpg", panels={})
