"""Pictures of a comparison with people."""

import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest

from spanjury.adapters.plots import meta
from spanjury.adapters.plots.canvas import label, labels
from spanjury.adapters.plots.costs import place_labels
from spanjury.adapters.plots.meta_inputs import (
    Agreement,
    CorrelationMap,
    EnsembleCurve,
    ScorerCost,
    SystemScore,
)
from spanjury.judges.core import ConfigError

NAN = float("nan")
HOSTILE = "$x_1^ & <b>東\u202e\x00"

MAP = CorrelationMap(
    measure="Spearman's rho",
    rows=("BLEU", HOSTILE),
    columns=("coherence", "fluency"),
    values=[[0.123, -0.5], [NAN, 1]],
)
AGREEMENT = Agreement(
    scorer=HOSTILE,
    aspect="coherence",
    scores=[0, 1, 2, NAN],
    human=[1, 3, 5, 2],
    correlations=(("Pearson", 1.0), ("Kendall", NAN)),
)
COSTS = (
    ScorerCost(name="BLEU", kind="_metric", cost=0.1, correlation=0.2),
    ScorerCost(name=HOSTILE, kind="judge", cost=100, correlation=0.6),
    ScorerCost(name="free", kind="judge", cost=0, correlation=0.1),
    ScorerCost(name="NUBIA", kind="judge", cost=NAN, correlation=0.1),
)
CURVES = (
    EnsembleCurve(name=HOSTILE, sizes=(1, 2), mean=(0.5, 0.6), low=(0.4, 0.6), high=(0.6, 0.6)),
    EnsembleCurve(name="median", sizes=(1, 2), mean=(0.4, 0.5), low=(0.3, NAN), high=(0.6, NAN)),
)
SYSTEMS = (
    SystemScore(name=HOSTILE, score=2.5, low=2.25, high=2.75),
    SystemScore(name="best", score=4.25, low=4, high=4.5),
    SystemScore(name="broken", score=NAN, low=NAN, high=NAN),
)
PICTURES: dict[str, Callable[[Path], None]] = {
    "correlations": partial(meta.draw_correlations, correlations=MAP),
    "agreement": partial(meta.draw_agreement, agreement=AGREEMENT),
    "costs": partial(meta.draw_costs, scorers=COSTS, unit="CPU seconds", measure="rho"),
    "ensembles": partial(meta.draw_ensembles, curves=CURVES, measure="rho"),
    "ranking": partial(meta.draw_ranking, systems=SYSTEMS, measure="mean score"),
}
EMPTY: dict[str, Callable[[Path], None]] = {
    "agreement": partial(
        meta.draw_agreement, agreement=Agreement(scorer="a", aspect="b", scores=[], human=[])
    ),
    "costs": partial(meta.draw_costs, scorers=(), unit="dollars", measure="rho"),
    "ensembles": partial(meta.draw_ensembles, curves=(), measure="rho"),
    "ranking": partial(meta.draw_ranking, systems=(), measure="mean score"),
}


def words_of(path: Path) -> list[str]:
    """Return the texts of an SVG; a label of two lines is two."""
    root = ET.fromstring(path.read_bytes())  # it is ours
    texts = [element.text for element in root.iter() if element.tag.endswith(("}text", "}tspan"))]
    return [text.strip() for text in texts if text and text.strip()]


def size_of(path: Path) -> tuple[int, int]:
    start = path.read_bytes()[:24]
    assert start[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", start[16:24])
    return width, height


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("ending", [".png", ".svg"])
def test_a_picture_is_the_same_in_every_user_style(tmp_path: Path, name: str, ending: str) -> None:
    first, second = tmp_path / f"a{ending}", tmp_path / f"b{ending}"
    PICTURES[name](first)
    with mpl.rc_context({"font.size": 30, "axes.grid": True, "svg.fonttype": "path"}):
        PICTURES[name](second)
        assert mpl.rcParams["font.size"] == 30
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("name", "size"),
    [("correlations", (750, 498)), ("agreement", (900, 750)), ("ranking", (1050, 375))],
)
def test_a_picture_is_as_tall_as_its_rows(tmp_path: Path, name: str, size: tuple[int, int]) -> None:
    PICTURES[name](tmp_path / "a.png")
    assert size_of(tmp_path / "a.png") == size


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "correlations",
            ["0.12", "-0.50", "1.00", "BLEU", "fluency", "Hatched: undefined (1 of 4)"],
        ),
        ("agreement", ["people: coherence", "Pearson 1.00   Kendall undefined   n = 3"]),
        ("agreement", ["Line: least squares, slope 2", "1 of 4 skipped: without a number"]),
        ("costs", ["BLEU", "free", "_metric", "In the grey strip: at no cost"]),
        ("costs", ["Without a cost or a correlation: NUBIA", "CPU seconds per 1,000 texts"]),
        ("ensembles", ["median", "judges in the ensemble"]),
        ("ranking", ["best  1", "4.25", "2.5", "broken  3", "no score"]),
        ("ranking", ["1 of 3 without an interval"]),
    ],
)
def test_the_svg_contains_the_drawn_text(tmp_path: Path, name: str, expected: list[str]) -> None:
    PICTURES[name](tmp_path / "a.svg")
    words = words_of(tmp_path / "a.svg")
    assert [text for text in expected if text not in words] == []


@pytest.mark.parametrize("name", PICTURES)
def test_a_hostile_name_stays_a_name(tmp_path: Path, name: str) -> None:
    PICTURES[name](tmp_path / "a.svg")
    text = "".join(words_of(tmp_path / "a.svg"))
    assert "$x_1^&<b>\\u6771\\u202e\\x00" in "".join(text.split())  # it may be folded


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_drawing_says_so(tmp_path: Path, name: str) -> None:
    EMPTY[name](tmp_path / "a.svg")
    assert "nothing to draw" in words_of(tmp_path / "a.svg")


def test_scores_that_do_not_vary_have_no_line(tmp_path: Path) -> None:
    flat = Agreement(scorer="a", aspect="b", scores=[1, 1], human=[1, 2])
    meta.draw_agreement(tmp_path / "a.svg", agreement=flat)
    assert "No line: the scores do not vary" in words_of(tmp_path / "a.svg")


def test_a_lone_curve_has_its_name_above_it(tmp_path: Path) -> None:
    meta.draw_ensembles(tmp_path / "a.svg", curves=CURVES[1:], measure="rho")
    assert words_of(tmp_path / "a.svg").count("median") == 1


def test_costs_that_are_near_each_other_have_numbers_on_their_axis(tmp_path: Path) -> None:
    near = [
        ScorerCost(name=name, kind="judge", cost=cost, correlation=0.5)
        for name, cost in (("a", 2.5), ("b", 5.2))
    ]
    meta.draw_costs(tmp_path / "a.svg", scorers=near, unit="seconds", measure="rho")
    assert {"3", "4", "5"} <= set(words_of(tmp_path / "a.svg"))


def test_a_crowd_of_points_is_one_image(tmp_path: Path) -> None:
    scores = np.arange(4000.0)
    crowd = Agreement(scorer="a", aspect="b", scores=scores, human=scores)
    meta.draw_agreement(tmp_path / "a.svg", agreement=crowd)
    assert (tmp_path / "a.svg").read_text().count("<use ") < 100


def test_clustering_brings_together_what_correlates(tmp_path: Path) -> None:
    names = ("a1", "b1", "a2", "b2")
    values = np.array([[1, 0, 0.9, NAN], [0, 1, 0, 0.9], [0.9, 0, 1, 0], [NAN, 0.9, 0, 1]])
    several = {
        "square": CorrelationMap(
            measure="r", rows=names, columns=names, values=values, clustered=True
        ),
        "aspects": CorrelationMap(
            measure="r",
            rows=names,
            columns=("x",),
            values=[[0.0], [1.0], [0.1], [0.9]],
            clustered=True,
        ),
    }
    for kind, drawn in several.items():
        meta.draw_correlations(tmp_path / "a.svg", correlations=drawn)
        words = [word for word in words_of(tmp_path / "a.svg") if word in names]
        kinds = [row[0] for row in words[-4:]]  # columns come before
        assert kinds in (["a", "a", "b", "b"], ["b", "b", "a", "a"]), (kind, words)


def test_fifty_scorers_have_a_row_each(tmp_path: Path) -> None:
    names = tuple(f"scorer {number}" for number in range(50))
    drawn = CorrelationMap(measure="r", rows=names, columns=("x",), values=np.zeros((50, 1)))
    meta.draw_correlations(tmp_path / "a.svg", correlations=drawn)
    assert set(names) <= set(words_of(tmp_path / "a.svg"))


@pytest.mark.parametrize("name", PICTURES)
def test_another_ending_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"ends in \.png or \.svg, got 'a\.jpg'"):
        PICTURES[name](tmp_path / "a.jpg")


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (partial(CorrelationMap, measure="r", rows=(), columns=(), values=[]), "shape"),
        (partial(CorrelationMap, measure="r", rows=("a",), columns=("b",), values=[[2]]), "beyond"),
        (partial(Agreement, scorer="a", aspect="b", scores=[1], human=[]), "as many"),
        (partial(ScorerCost, name="a", kind="b", cost=-1, correlation=0), "costs -1"),
        (partial(EnsembleCurve, name="a", sizes=(2, 1), mean=(1, 1), low=(1, 1), high=(1, 1)),
         "ascending"),
        (partial(EnsembleCurve, name="a", sizes=(1,), mean=(1, 1), low=(1,), high=(1,)), "same"),
        (partial(SystemScore, name="a", score=3, low=1, high=2), "not in"),
    ],
)  # fmt: skip
def test_numbers_that_do_not_fit_are_refused(build: Callable[[], object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        build()


def test_long_names_are_folded_and_stay_apart() -> None:
    long = "BERTScore (roberta-large, layer 17, rescaled with its baseline)"
    assert label(long) == "BERTScore (roberta-larg…\naled with its baseline)"
    assert label("mean of five judges, far seats out") == "mean of five judges,\nfar seats out"
    assert label("x" * 30) == f"{'x' * 15}\n{'x' * 15}"
    assert label(" ") == "(no name)"
    assert labels(["a", "b", "a"]) == ["a (1)", "b", "a (2)"]


def test_names_avoid_points_lines_and_each_other() -> None:
    points = [(50.0, 50.0), (52.0, 50.0), (50.0, 52.0)]
    line = ((50.0, 50.0), (100.0, 50.0))
    spots = place_labels(points, ["aaa"] * 3, size=7, frame=(0, 0, 200, 200), lines=[line])
    boxes = [
        (x + right, y + up, x + right + 12, y + up + 8)
        for (x, y), (right, up, _) in zip(points, spots, strict=True)
    ]
    for number, box in enumerate(boxes):
        others = [(x, y, x, y) for x, y in points] + boxes[:number] + [(*line[0], *line[1])]
        for other in others:
            apart = box[2] <= other[0] or other[2] <= box[0]
            assert apart or box[3] <= other[1] or other[3] <= box[1]
