"""Figures of precision in a file beside a judge."""

import importlib
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from spanjury.judges.core import ConfigError
from spanjury.judges.core.measured_precision import FILE, MeasuredPrecision, measured_precision
from spanjury.judges.rules.form import FormJudge
from spanjury.judges.rules.grounding import GroundingJudge

NUMBERS = """
[[shouting]]
category = "capitals"
precision = 0.85
spans = 120
data = "made-up texts"
"""


@pytest.fixture
def shouting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> object:
    """Return a judge whose package has the test's parameter for its figures."""
    package = tmp_path / "shouting_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "judge.py").write_text("def shouting():\n    return None\n")
    if request.param is not None:
        (package / FILE).write_text(request.param)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    for name in ("shouting_package", "shouting_package.judge"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    judge: object = importlib.import_module("shouting_package.judge").shouting
    return judge


@pytest.mark.parametrize("shouting", [NUMBERS], indirect=True)
def test_the_figures_of_a_judge_are_those_under_its_name(shouting: object) -> None:
    expected = MeasuredPrecision(
        category="capitals", precision=0.85, spans=120, data="made-up texts"
    )
    assert measured_precision("shouting", shouting) == (expected,)
    assert measured_precision("whispering", shouting) == ()


@pytest.mark.parametrize("shouting", [None], indirect=True)
def test_a_judge_without_a_file_has_no_figures(shouting: object) -> None:
    assert measured_precision("shouting", shouting) == ()


def test_the_figures_of_a_judge_outside_of_packages_are_beside_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "flat_judge.py").write_text("def shouting():\n    return None\n")
    (tmp_path / FILE).write_text(NUMBERS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "flat_judge", raising=False)
    importlib.invalidate_caches()
    judge = importlib.import_module("flat_judge").shouting
    assert len(measured_precision("shouting", judge)) == 1
    (tmp_path / FILE).write_text("[[shouting")
    with pytest.raises(ConfigError, match=r"precision.toml of flat_judge cannot be read"):
        measured_precision("shouting", judge)


def test_a_judge_of_no_file_has_no_figures() -> None:
    assert measured_precision("judge", type("Judge", (), {"__module__": "flat"})) == ()


@pytest.mark.parametrize(
    "shouting",
    [
        "[[shouting",
        NUMBERS.replace("0.85", "1.85"),
        NUMBERS.replace("120", "0"),
        NUMBERS.replace("data", "date"),
        "shouting = 3",
    ],
    indirect=True,
)
def test_a_file_that_cannot_be_read_is_named(shouting: object) -> None:
    with pytest.raises(ConfigError, match=r"precision.toml of shouting_package cannot be read"):
        measured_precision("shouting", shouting)


@pytest.mark.parametrize(("name", "judge"), [("grounding", GroundingJudge), ("form", FormJudge)])
def test_our_own_file_can_be_read(name: str, judge: object) -> None:
    assert files("spanjury.judges.rules").joinpath(FILE).is_file()
    assert all(figure.spans >= 1 for figure in measured_precision(name, judge))
