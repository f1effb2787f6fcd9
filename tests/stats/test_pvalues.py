"""P-values: how they are combined and adjusted, and which numbers are refused as p-values."""

import math

import numpy as np
import pytest
from fakes.refusals import refused
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy.stats import landau

from spanjury.stats.combination.combining import Combination
from spanjury.stats.combination.discernment import discernment_score
from spanjury.stats.combination.harmonic_mean import (
    harmonic_mean_calibrated,
    harmonic_mean_paper,
    harmonic_mean_wilson,
    landau_threshold,
)
from spanjury.stats.combination.multiplicity import holm

WAYS = [harmonic_mean_calibrated, harmonic_mean_paper, harmonic_mean_wilson]
EVERY = pytest.mark.parametrize("combine", WAYS)
P = st.lists(st.floats(1e-12, 1), min_size=1, max_size=6)
LOG_P = st.floats(-40, 0)
MANY = st.lists(LOG_P, min_size=2, max_size=6)
NOT_LOGARITHMS = ([0.05], [-math.inf], [math.inf, -1])
NOT_WEIGHTS: tuple[ArrayLike, ...] = (
    *([1.0], [0.5, 0.6], [1.5, -0.5], [0, 0], [[0.5, 0.5]], [math.nan, 1], [math.inf, 1], []),
)
ADJUSTABLE = st.lists(st.floats(1e-9, 1), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("combine", "size"),
    [
        (harmonic_mean_paper, 0.296),
        (harmonic_mean_wilson, 0.059),
        (harmonic_mean_calibrated, 0.048),
    ],
)
def test_the_size_under_the_null_is_the_known_one(combine: Combination, size: float) -> None:
    # Four independent p-values, 200,000 times: the standard error of .05 is .0005.
    log_p = np.log(1 - np.random.default_rng(20).random((200_000, 4)))
    rejected = np.mean(combine(log_p) <= math.log(0.05))
    assert rejected == pytest.approx(size, abs=0.0005 + 3 * math.sqrt(size * (1 - size) / 200_000))


@EVERY
def test_each_row_is_combined_by_itself(combine: Combination) -> None:
    rows = np.random.default_rng(1).uniform(-50, 0, size=(2, 5, 3))
    weights = [0.5, 0.2, 0.3]
    whole = combine(rows, weights=weights)
    assert whole.shape == (2, 5)
    assert float(whole[1, 3]) == pytest.approx(float(combine(rows[1, 3], weights=weights)))


@EVERY
def test_values_without_weight_do_not_matter_even_if_unknown(combine: Combination) -> None:
    with_unheard = combine([-1.0, math.nan, -3], weights=[0.5, 0, 0.5])
    assert float(with_unheard) == float(combine([-1.0, -3], weights=[0.5, 0.5]))
    assert math.isnan(float(combine([-1.0, math.nan, -3])))


@EVERY
@given(st.permutations([-1.0, -2.5, -0.1, -40]))
def test_the_order_of_aspects_is_no_matter(combine: Combination, log_p: list[float]) -> None:
    assert float(combine(log_p)) == pytest.approx(float(combine([-1.0, -2.5, -0.1, -40])))


@EVERY
def test_p_values_too_small_for_a_float_keep_their_logarithm(combine: Combination) -> None:
    log_p = float(combine([-2000.0, -3000, -2500]))
    assert -8000 < log_p < -1990


@pytest.mark.parametrize("combine", WAYS)
@given(log_p=st.floats(-700, 0))
def test_one_p_value_alone_stays_what_it_is(combine: Combination, log_p: float) -> None:
    assert float(combine([log_p])) == pytest.approx(log_p, rel=1e-9, abs=1e-9)


@given(P)
def test_no_harmonic_mean_that_is_a_p_value_is_below_the_least_of_them(p: list[float]) -> None:
    log_p = np.log(p)
    least = log_p.min() - 1e-9
    for combine in (harmonic_mean_wilson, harmonic_mean_calibrated):
        assert float(combine(log_p)) >= least


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


def test_a_harmonic_mean_too_small_for_a_float_keeps_its_logarithm() -> None:
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


@EVERY
def test_invalid_logarithms_of_p_values_are_refused(combine: Combination) -> None:
    for log_p in NOT_LOGARITHMS:
        with refused(log_p, match="expected logarithms of p-values"):
            combine(log_p)


@EVERY
def test_combining_no_pvalues_raises(combine: Combination) -> None:
    cases: tuple[ArrayLike, ...] = ([], -1.0, [[], []])
    for log_p in cases:
        with refused(log_p, match=r"shape \(..., m\), m >= 1"):
            combine(log_p)


def test_invalid_logarithms_of_p_values_are_not_adjusted() -> None:
    for log_p in NOT_LOGARITHMS:
        with refused(log_p, match="expected logarithms of p-values"):
            holm(log_p)
    with pytest.raises(ValueError, match=r"of shape \(n,\)"):
        holm([[-1.0]])


@EVERY
def test_invalid_weights_are_refused(combine: Combination) -> None:
    for weights in NOT_WEIGHTS:
        with refused(weights, match=r"expected 2 weights >= 0 that sum to 1"):
            combine([-1.0, -2.0], weights=weights)


def test_weights_may_be_rounded() -> None:
    thirds = [1 / 3, 1 / 3, 0.3333333334]
    assert math.isfinite(float(harmonic_mean_wilson([-1, -2, -3], weights=thirds)))


def test_holm_by_hand() -> None:
    # In order .01 * 4, .02 * 3, .03 * 2, .5 * 1, none below the one before it.
    adjusted = np.exp(holm(np.log([0.03, 0.01, 0.5, 0.02])))
    assert adjusted.tolist() == pytest.approx([0.06, 0.04, 0.5, 0.06])


@given(ADJUSTABLE)
def test_holm_lies_between_the_p_values_and_bonferronis(p: list[float]) -> None:
    log_p = np.log(p)
    stepped = holm(log_p)
    assert (log_p <= stepped + 1e-9).all()
    assert (stepped <= np.minimum(log_p + math.log(len(p)), 0) + 1e-9).all()


def test_unknown_values_stay_unknown_and_do_not_count() -> None:
    log_p = [math.log(0.01), math.nan, math.log(0.04)]
    adjusted = holm(log_p)
    assert math.isnan(adjusted[1])
    assert adjusted[[0, 2]].tolist() == holm([log_p[0], log_p[2]]).tolist()
    assert np.isnan(holm([math.nan])).all()
    assert holm([]).size == 0


def test_a_p_value_too_small_for_a_float_keeps_its_logarithm() -> None:
    assert holm([-5000.0, -1.0])[0] == pytest.approx(-5000 + math.log(2))
