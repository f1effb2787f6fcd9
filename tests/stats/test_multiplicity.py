"""Adjusted p-values: by hand, by scipy, and in order."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.stats.combination.multiplicity import holm

P = st.lists(st.floats(1e-9, 1), min_size=1, max_size=12)


def test_holm_by_hand() -> None:
    # In order .01 * 4, .02 * 3, .03 * 2, .5 * 1, none below the one before it.
    adjusted = np.exp(holm(np.log([0.03, 0.01, 0.5, 0.02])))
    assert adjusted.tolist() == pytest.approx([0.06, 0.04, 0.5, 0.06])


@given(P)
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
