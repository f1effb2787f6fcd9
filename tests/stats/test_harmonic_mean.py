"""The harmonic mean p-value: the paper's, Wilson's, and the calibrated one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import landau

from spanjury.stats.combination.discernment import discernment_score
from spanjury.stats.combination.harmonic_mean import (
    harmonic_mean_calibrated,
    harmonic_mean_paper,
    harmonic_mean_wilson,
    landau_threshold,
)

LOG_P = st.floats(-40, 0)
MANY = st.lists(LOG_P, min_size=2, max_size=6)


@pytest.mark.parametrize(
    ("weights", "d"),
    # 1 / (1 / .3) = .3; 1 / (.1 / 1e-12 + .9 / .3) = 1e-11.
    [([0, 0, 1, 0], 0.40), ([0.1, 0, 0.9, 0], 8.45)],
)
def test_a_small_weight_on_an_intact_aspect_hardly_matters(weights: list[float], d: float) -> None:
    log_p = harmonic_mean_paper(np.log([1e-12, 1e-3, 0.3, 0.5]), weights=weights)
    assert round(float(discernment_score(log_p)), 2) == d


def test_the_printed_formula_lacks_the_number_of_p_values() -> None:
    log_p = np.log([0.02, 0.1, 0.5])
    printed = 1 / (1 / 0.02 + 1 / 0.1 + 1 / 0.5)
    assert float(harmonic_mean_paper(log_p)) == pytest.approx(math.log(printed))
    assert float(harmonic_mean_wilson(log_p)) == pytest.approx(math.log(3 * printed))


def test_with_weights_the_printed_formula_is_wilsons() -> None:
    log_p, weights = np.log([0.02, 0.1, 0.5]), [0.2, 0.3, 0.5]
    expected = 1 / (0.2 / 0.02 + 0.3 / 0.1 + 0.5 / 0.5)
    assert float(harmonic_mean_paper(log_p, weights=weights)) == pytest.approx(math.log(expected))
    assert harmonic_mean_paper(log_p, weights=weights) == harmonic_mean_wilson(
        log_p, weights=weights
    )


@pytest.mark.parametrize(
    ("count", "threshold"),
    # 10 to 1000: Wilson (2019), Table 1, at alpha = .05.
    [(2, 0.0424), (3, 0.0417), (4, 0.0412), (10, 0.0397), (100, 0.0364), (1000, 0.0336)],
)
def test_the_thresholds_are_wilsons(count: int, threshold: float) -> None:
    assert round(landau_threshold(count), 4) == threshold


@given(st.integers(1, 50), st.floats(1e-5, 0.3))
def test_at_its_threshold_a_harmonic_mean_is_just_significant(count: int, alpha: float) -> None:
    at = math.log(landau_threshold(count, alpha=alpha))
    assert float(harmonic_mean_calibrated([at] * count)) == pytest.approx(math.log(alpha), abs=1e-4)


@pytest.mark.parametrize(("count", "alpha"), [(0, 0.05), (2, 0), (2, 1), (2, math.nan)])
def test_a_threshold_of_nothing_is_refused(count: int, alpha: float) -> None:
    with pytest.raises(ValueError, match="expected a count"):
        landau_threshold(count, alpha=alpha)


def test_the_calibration_is_the_tail_of_landaus_distribution() -> None:
    # 4 / (100 + 10 + 2 + 1) = .0354; mean 1 / .0354 at location log 4 + .874367, scale pi / 2.
    expected = landau.sf(113 / 4, loc=math.log(4) + 0.874367, scale=math.pi / 2)
    log_p = harmonic_mean_calibrated(np.log([0.01, 0.1, 0.5, 1]))
    assert float(log_p) == pytest.approx(math.log(expected))


def test_a_single_p_value_stays_what_it_is() -> None:
    assert float(harmonic_mean_calibrated([-0.7])) == pytest.approx(-0.7)
    assert float(harmonic_mean_calibrated([-9, -0.7], weights=[0, 1])) == pytest.approx(-0.7)


def test_p_values_of_one_combine_to_one() -> None:
    assert float(harmonic_mean_calibrated([0.0, 0, 0])) == pytest.approx(0, abs=1e-15)


def test_there_is_no_step_where_the_calibration_ends() -> None:
    below, above = (math.log(1e-6) + step for step in (-1e-9, 1e-9))
    low, high = (float(harmonic_mean_calibrated([x, x, x])) for x in (below, above))
    assert 0 < high - low < 1e-4


def test_p_values_too_small_for_a_float_keep_their_logarithm() -> None:
    mean = float(harmonic_mean_calibrated([-9000.0, -0.5, -2], weights=[0.2, 0.4, 0.4]))
    assert mean == pytest.approx(-9000 - math.log(0.2))


@given(MANY)
def test_the_three_are_in_order_within_their_bounds(log_p: list[float]) -> None:
    paper, wilson, calibrated = (
        float(mean(log_p))
        for mean in (harmonic_mean_paper, harmonic_mean_wilson, harmonic_mean_calibrated)
    )
    assert paper <= min(log_p) + 1e-9
    assert min(log_p) - 1e-9 <= wilson <= max(log_p) + 1e-9
    assert wilson <= calibrated <= 1e-9


@given(MANY, st.integers(0, 5), st.floats(0, 5))
def test_a_larger_p_never_lowers_the_mean(log_p: list[float], index: int, more: float) -> None:
    raised = list(log_p)
    raised[index % len(log_p)] = min(0.0, raised[index % len(log_p)] + more)
    before, after = (float(harmonic_mean_calibrated(values)) for values in (log_p, raised))
    assert after >= before - 1e-9
