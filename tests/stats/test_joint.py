"""One sign an item for all its aspects: dependence, weights, and what is missing."""

import math
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from spanjury.stats.significance.joint import joint_sign_flip
from spanjury.stats.significance.paired import PairedTest
from spanjury.stats.significance.sign_flip import sign_flip

Over = Literal["sum", "max"]
BOTH = pytest.mark.parametrize("over", ["sum", "max"])


def joint(
    differences: object,
    *,
    over: Over = "sum",
    weights: list[float] | None = None,
    draws: int = 4999,
) -> PairedTest:
    rng = np.random.default_rng(9)
    return joint_sign_flip(
        differences,  # type: ignore[arg-type]  # as it comes
        rng=rng,
        over=over,
        weights=weights,
        draws=draws,
    )


def falls(size: float, *, seed: int) -> NDArray[np.float64]:
    return np.rint(np.random.default_rng(seed).normal(size, 1.2, size=40))


@BOTH
def test_one_aspect_alone_is_the_exact_test_but_for_the_draws(over: Over) -> None:
    differences = falls(0.35, seed=3)
    exact = sign_flip(differences).p
    answer = joint([differences], over=over, draws=40_000)
    assert answer.p == pytest.approx(exact, abs=4 * math.sqrt(exact / 40_000))


@BOTH
def test_an_aspect_that_repeats_another_adds_nothing(over: Over) -> None:
    differences = falls(0.35, seed=3)
    assert (
        joint([differences, differences, differences], over=over).log_p
        == joint([differences], over=over).log_p
    )


def test_the_statistic_is_the_sum_or_the_largest_of_the_standardised_aspects() -> None:
    differences = [[1, 2, 3], [1, 1, -1]]  # z = 6 / sqrt(14) and 2 / sqrt(3 * 4)
    z = [6 / math.sqrt(14), 2 / math.sqrt(12)]
    assert joint(differences).statistic == pytest.approx(sum(z) / 2)
    assert joint(differences, weights=[0.25, 0.75]).statistic == pytest.approx(
        0.25 * z[0] + 0.75 * z[1]
    )
    assert joint(differences, over="max").statistic == pytest.approx(max(z))


@BOTH
def test_an_aspect_without_weight_or_pairs_or_differences_is_no_matter(over: Over) -> None:
    differences = falls(0.3, seed=5)
    alone = joint([differences], over=over)
    assert joint([differences, -5 * differences - 3], over=over, weights=[1, 0]) == alone
    if over == "sum":
        assert joint([differences, *[np.full(40, np.nan), np.zeros(40)]]).log_p == alone.log_p


def test_a_small_weight_counts_little_in_the_sum_and_fully_in_the_largest() -> None:
    differences = [np.ones(40), falls(0, seed=1)]
    assert joint(differences, over="max", weights=[0.05, 0.95]).p == pytest.approx(1 / 5000)
    assert joint(differences, over="sum", weights=[0.05, 0.95]).p > 0.05


@BOTH
def test_items_are_counted_once_whatever_their_aspects(over: Over) -> None:
    gap = math.nan
    answer = joint([[1, 0, gap, gap], [gap, 0, 2, gap]], over=over)
    assert (answer.used, answer.zeros, answer.missing) == (2, 1, 1)


@BOTH
def test_p_is_1_if_nothing_moved_and_unknown_without_pairs(over: Over) -> None:
    still = joint([[0, 0], [0, math.nan]], over=over)
    assert (still.p, still.used) == (1, 0)
    assert math.isnan(joint([[math.nan], [math.nan]], over=over).log_p)


@pytest.mark.heavy
@BOTH
def test_its_size_is_held_when_aspects_depend_on_each_other(over: Over) -> None:
    rng = np.random.default_rng(12)
    shared = rng.normal(size=(1000, 1, 15))
    cells = np.rint(shared + rng.normal(0, 0.5, size=(1000, 3, 15)))
    log_p = np.array(
        [joint_sign_flip(differences, rng=rng, over=over, draws=199).log_p for differences in cells]
    )
    assert np.mean(log_p <= math.log(0.05)) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1000)


@pytest.mark.parametrize("differences", [[1, 2], [[]], [], [[math.inf]], [[[1]]]])
def test_invalid_drops_are_refused(differences: object) -> None:
    with pytest.raises(ValueError, match=r"shape \(aspects, items\)"):
        joint(differences)


def test_another_statistic_or_number_of_weights_is_refused() -> None:
    with pytest.raises(ValueError, match="sum or max, got 'mean'"):
        joint([[1]], over="mean")  # type: ignore[arg-type]  # the point is that it is wrong
    with pytest.raises(ValueError, match="expected 1 weights"):
        joint([[1]], weights=[0.5, 0.5])
