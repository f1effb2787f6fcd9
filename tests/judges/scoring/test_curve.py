import pytest

from spanjury.judges.scoring import Curve


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
