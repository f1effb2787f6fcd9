"""An exam in pictures."""

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib.image import imread
from numpy.typing import ArrayLike

from spanjury.adapters.plots import discernment, faithfulness
from spanjury.judges.core import ConfigError

ASPECTS = ("coherence", "consistency", "fluency", "relevance")
LEVELS = ("character", "word", "sentence")


def drawn(folder: Path, *, count: int, ending: str = ".png") -> dict[str, Path]:
    """Draw made-up findings of `count` conditions."""
    rng = np.random.default_rng(count)
    conditions = [f"condition-with-a-name-{number}" for number in range(count)]
    paths = {name: folder / f"{name}-{count}{ending}" for name in ("scores", "effects", "spread")}
    scores = rng.gamma(1.5, 3, count)
    scores[-1] = np.nan
    discernment.draw_scores(
        paths["scores"],
        conditions=conditions,
        levels=[LEVELS[3 * number // count] for number in range(count)],
        discernment=scores,
        weighted=scores * rng.uniform(0.6, 1.2, count),
    )
    effects = rng.uniform(-0.3, 1, (count, 4))
    effects[0, 0] = np.nan
    discernment.draw_effects(
        paths["effects"],
        conditions=conditions,
        aspects=ASPECTS,
        effects=effects,
        targeted=rng.random((count, 4)) < 0.4,
    )
    clean = rng.integers(3, 6, (4, 100)).astype(float)
    fallen = rng.integers(0, 4, (count, 4, 100)) * rng.integers(0, 2, (count, 4, 1))
    discernment.draw_distributions(
        paths["spread"],
        conditions=conditions,
        aspects=ASPECTS,
        clean=clean,
        damaged=np.maximum(clean - fallen, 1),
        highest=5,
    )
    return paths


def words(svg: Path) -> str:
    """Return the texts of an SVG."""
    return " ".join(element.text or "" for element in ET.parse(svg).iter())


@pytest.mark.parametrize("count", [4, 12])
def test_a_picture_grows_with_the_conditions(tmp_path: Path, count: int) -> None:
    for path in drawn(tmp_path, count=count).values():
        height, width, _ = imread(path).shape
        assert height > count * 0.3 * 150
        assert 900 < width < 1800


def test_the_axes_say_what_they_show(tmp_path: Path) -> None:
    texts = {name: words(path) for name, path in drawn(tmp_path, count=3, ending=".svg").items()}
    for level in LEVELS:
        assert level in texts["scores"]
    for name, expected in {
        "scores": ["D (1: p = 0.05)", "D, weighted", "D = 1", "none"],
        "effects": ["P(drop) - P(rise)", "aspect (framed: the score should fall)", *ASPECTS],
        "spread": ["share of texts", "condition: above clean, below damaged", "score", *ASPECTS],
    }.items():
        for text in [*expected, "condition-with-a-name-2"]:
            assert text in texts[name]


def test_scores_before_and_after_come_with_their_means_or_say_why_not(tmp_path: Path) -> None:
    path = tmp_path / "spread.svg"
    discernment.draw_distributions(
        path,
        conditions=["a"],
        aspects=["fluency", "charm"],
        clean=[[5.0, 4.0, 4.0], [np.nan] * 3],
        damaged=[[[4.0, 2.0, np.nan], [np.nan] * 3]],
        highest=5,
    )
    texts = words(path)
    assert "4.50" in texts  # of the texts with both scores
    assert "3.00" in texts
    assert texts.count("no scores") == 1


def test_the_same_numbers_give_the_same_file(tmp_path: Path) -> None:
    first, second = tmp_path / "first.svg", tmp_path / "second.svg"
    for path in (first, second):
        discernment.draw_effects(
            path, conditions=["a"], aspects=["b"], effects=[[0.5]], targeted=[[True]]
        )
    assert first.read_bytes() == second.read_bytes()


def test_names_are_no_formulas(tmp_path: Path) -> None:
    path = tmp_path / "odd.svg"
    discernment.draw_effects(
        path, conditions=["$x^2$"], aspects=["a_$b$"], effects=[[0.5]], targeted=[[True]]
    )
    assert "$x^2$" in words(path)


def test_nothing_at_all_can_be_drawn(tmp_path: Path) -> None:
    path = tmp_path / "none.png"
    nothing = [np.nan]
    discernment.draw_scores(
        path, conditions=["a"], levels=["word"], discernment=nothing, weighted=nothing
    )
    assert path.stat().st_size > 1000


def test_a_picture_that_is_no_png_or_svg_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"ends in \.png or \.svg, got 'map\.pdf'"):
        discernment.draw_effects(
            tmp_path / "map.pdf", conditions=["a"], aspects=["b"], effects=[[0]], targeted=[[True]]
        )


def test_numbers_that_do_not_fit_the_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"expected numbers of shape \(2,\), got \(1,\)"):
        discernment.draw_scores(
            tmp_path / "a.png",
            conditions=["a", "b"],
            levels=["word", "word"],
            discernment=[1.0],
            weighted=[1.0],
        )


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
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[2].read_bytes() == paths[3].read_bytes()


def test_the_name_of_a_line_is_no_formula(tmp_path: Path) -> None:
    path = tmp_path / "odd.svg"
    faithfulness.draw_curves(
        path, panels={"a": [Line(name="$price^$")]}, measure=("added", "change")
    )
    assert "$price^$" in words(path)


def test_changes_without_scores_can_be_drawn(tmp_path: Path) -> None:
    faithfulness.draw_stacks(tmp_path / "a.png", panels={})
    faithfulness.draw_curves(tmp_path / "b.png", panels={}, measure=("x", "y"))
    assert np.all([path.stat().st_size > 0 for path in tmp_path.iterdir()])


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="ends in"):
        faithfulness.draw_stacks(tmp_path / "a.jpg", panels={})
