"""Adjusted p-values: by hand, by scipy, and in order."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from spanjury.stats.combination.multiplicity import benjamini_hochberg, holm

P = st.lists(st.floats(1e-9, 1), min_size=1, max_size=12)


def test_holm_by_hand() -> None:
    # In order .01 * 4, .02 * 3, .03 * 2, .5 * 1, none below the one before it.
    adjusted = np.exp(holm(np.log([0.03, 0.01, 0.5, 0.02])))
    assert adjusted.tolist() == pytest.approx([0.06, 0.04, 0.5, 0.06])


@given(P)
def test_benjamini_and_hochberg_as_scipy_has_them(p: list[float]) -> None:
    adjusted = np.exp(benjamini_hochberg(np.log(p)))
    assert adjusted.tolist() == pytest.approx(false_discovery_control(p).tolist(), rel=1e-9)


@given(P)
def test_holm_lies_between_benjamini_hochberg_and_bonferroni(p: list[float]) -> None:
    log_p = np.log(p)
    stepped, shared = holm(log_p), benjamini_hochberg(log_p)
    assert (log_p <= shared + 1e-9).all()
    assert (shared <= stepped + 1e-9).all()
    assert (stepped <= np.minimum(log_p + math.log(len(p)), 0) + 1e-9).all()


def test_what_is_unknown_stays_so_and_does_not_count() -> None:
    log_p = [math.log(0.01), math.nan, math.log(0.04)]
    for adjust in (holm, benjamini_hochberg):
        adjusted = adjust(log_p)
        assert math.isnan(adjusted[1])
        assert adjusted[[0, 2]].tolist() == adjust([log_p[0], log_p[2]]).tolist()
        assert np.isnan(adjust([math.nan])).all()
        assert adjust([]).size == 0


def test_what_is_too_small_for_a_float_keeps_its_logarithm() -> None:
    assert holm([-5000.0, -1.0])[0] == pytest.approx(-5000 + math.log(2))
    assert benjamini_hochberg([-5000.0, -1.0])[0] == pytest.approx(-5000 + math.log(2))
