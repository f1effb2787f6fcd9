"""Curves from penalties to scores, and how they are fitted to people's scores."""

from pathlib import Path

import pytest
from fakes.judges import ASPECT, mark

from spanjury.judges.core import ConfigError, ErrorSpan, StoreError
from spanjury.judges.scoring import Curve, SpanMap, SpanPenalty
from spanjury.judges.scoring.fitting import ScoredSpans, fit_curve, fit_weights
from spanjury.judges.scoring.span_map import read_map, write_map

TEXT = "It opened in 1935."
GRADED = {grade: (mark(TEXT, "1935", severity=grade),) for grade in range(1, 6)}


def test_a_curve_is_straight_between_knots_and_flat_behind_the_last() -> None:
    curve = Curve(penalties=(0.0, 2.0, 4.0), shares=(1.0, 0.5, 0.25))
    assert [curve.at(penalty) for penalty in (0, 1, 2, 3, 4, 9)] == [
        1,
        0.75,
        0.5,
        0.375,
        0.25,
        0.25,
    ]


def test_values_are_stretched_so_that_the_first_is_the_best() -> None:
    curve = Curve.through([0.0, 1.0, 3.0], [0.8, 0.6, 0.2], low=0.0)
    assert curve.shares == pytest.approx((1, 0.75, 0.25))


def test_a_curve_is_flat_below_the_least_loss_that_was_seen() -> None:
    curve = Curve.through([2.0, 3.0], [4.0, 3.0], low=1.0)
    assert (curve.at(0), curve.at(2)) == (1, 1)
    assert curve.at(3) == pytest.approx(2 / 3)


def test_texts_without_errors_alone_say_nothing_of_errors() -> None:
    assert Curve.through([0.0], [4.0], low=1.0).at(5.0) == 1


@pytest.mark.parametrize(
    ("penalties", "shares"),
    [
        ((0.0,), (1.0,)),
        ((0.0, 1.0), (1.0,)),
        ((0.5, 1.0), (1.0, 0.0)),
        ((0.0, 0.0), (1.0, 0.0)),
        ((0.0, float("inf")), (1.0, 0.0)),
        ((0.0, 1.0), (0.9, 0.0)),
        ((0.0, 1.0, 2.0), (1.0, 0.2, 0.3)),
        ((0.0, 1.0), (1.0, -0.1)),
        ((0.0, 1.0), (1.0, float("nan"))),
    ],
)
def test_a_curve_that_rises_or_leaves_the_scale_is_refused(
    penalties: tuple[float, ...], shares: tuple[float, ...]
) -> None:
    with pytest.raises(ValueError, match="penalties|shares"):
        Curve(penalties=penalties, shares=shares)


def test_a_best_value_that_is_the_worst_cannot_be_stretched() -> None:
    with pytest.raises(ValueError, match="above 1"):
        Curve.through([0.0, 1.0], [1.0, 1.0], low=1.0)
    with pytest.raises(ValueError, match="above 1"):
        Curve.through([], [], low=1.0)


def rows(scores: dict[int, float]) -> list[ScoredSpans]:
    """Return a text with one error of each severity, and its score; 0 for no error."""
    return [
        ScoredSpans(output=TEXT, spans=GRADED.get(grade, ()), score=score)
        for grade, score in scores.items()
    ]


def scored(span_map: SpanMap, spans: tuple[ErrorSpan, ...]) -> float:
    score = span_map.score(TEXT, spans, aspect=ASPECT)
    assert score is not None
    return score


def test_a_curve_follows_scores_that_fall_and_flattens_those_that_rise() -> None:
    fit = fit_curve(rows({0: 5, 1: 4, 2: 2, 3: 4}), aspect=ASPECT, low=1)
    assert [scored(fit, spans) for spans in ((), *GRADED.values())] == [5, 4, 3, 3, 3, 3]


def test_severities_cost_what_the_scores_say() -> None:
    fit = fit_weights(rows({0: 1.0, 1: 0.9, 2: 0.5, 3: 0.5, 4: 0.2, 5: 0.3}), aspect=ASPECT)
    assert fit.penalty.weights == pytest.approx((0.1, 0.5, 0.5, 0.75, 0.75))


def test_errors_that_cost_nothing_are_no_map() -> None:
    with pytest.raises(ValueError, match="weights must be"):
        fit_weights(rows({0: 1, 1: 2, 5: 3}), aspect=ASPECT)


def test_a_map_comes_back_from_its_file(tmp_path: Path) -> None:
    for fitted in (
        SpanMap(),
        fit_weights(rows({0: 5, 3: 2.2, 5: 1.1}), aspect=ASPECT, penalty=SpanPenalty(by="error")),
        fit_curve(rows({0: 5, 3: 2.2, 5: 1.1}), aspect=ASPECT, low=1),
    ):
        write_map(fitted, tmp_path / "map.json")
        assert read_map(tmp_path / "map.json") == fitted
        assert read_map(tmp_path / "map.json").signature == fitted.signature


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "Invalid JSON"),
        (100_000 * "[", "Invalid JSON"),
        (5_000 * "1", "Invalid JSON"),
        ('{"loss": {"rest": 2}}', "rest must be"),
        ('{"loss": {"wroth": 2}}', "wroth"),
        ('{"curve": {"losses": [0, 1], "shares": [1, 2]}}', "shares must decrease"),
    ],
)
def test_a_file_without_a_falling_map_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "map.json").write_text(text)
    with pytest.raises(ConfigError, match=problem):
        read_map(tmp_path / "map.json")


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="absent.json"):
        read_map(tmp_path / "absent.json")
    with pytest.raises(StoreError, match="absent"):
        write_map(SpanMap(), tmp_path / "absent" / "map.json")


def test_a_file_with_the_names_of_the_first_release_is_read(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_text(
        '{"loss": {"rest": 0.5, "worth": [0, 1, 2, 3, 4]},'
        ' "curve": {"losses": [0, 4], "shares": [1, 0.5]}}'
    )
    old = read_map(path)
    assert old == SpanMap(
        penalty=SpanPenalty(rest=0.5, weights=(0.0, 1.0, 2.0, 3.0, 4.0)),
        curve=Curve(penalties=(0.0, 4.0), shares=(1.0, 0.5)),
    )
    write_map(old, path)
    assert read_map(path) == old
    assert '"weights"' in path.read_text()
