"""Detection, counts and quotes: worked by hand, with scipy as the oracle of the correlation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from spanjury.stats.spans.span_detection import count_correlation, detection, hallucination_rate

COUNTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=30)


def test_texts_are_detected_as_by_hand() -> None:
    # Both 2, only found 1, only gold 1, neither 1.
    rates = detection([1, 3, 2, 0, 0], [2, 1, 0, 4, 0])
    assert rates == pytest.approx((2 / 3, 2 / 3, 2 / 3, 3 / 5))


def test_a_missing_text_is_left_out() -> None:
    assert detection([1, math.nan, 0], [1, 0, 0]) == detection([1, 0], [1, 0]) == (1, 1, 1, 1)


def test_no_errors_on_either_side_are_accurate_and_nothing_else() -> None:
    rates = detection([0, 0], [0, 0])
    assert rates.accuracy == 1
    assert all(math.isnan(figure) for figure in rates[:3])


@given(COUNTS)
def test_the_correlation_of_counts_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    predicted, gold = np.array(pairs).T
    if len({*predicted}) > 1 and len({*gold}) > 1:
        assert count_correlation(predicted, gold) == pytest.approx(
            spearmanr(predicted, gold).statistic
        )
    else:
        assert math.isnan(count_correlation(predicted, gold))


def test_two_texts_are_too_few_for_a_correlation() -> None:
    assert math.isnan(count_correlation([1, 2, math.nan], [1, 2, 3]))


def test_quotes_are_counted_over_all_texts() -> None:
    assert hallucination_rate([1, 0, 2], [4, 0, 4]) == 3 / 8
    assert math.isnan(hallucination_rate([0], [0]))


def test_invalid_input_is_refused() -> None:
    with pytest.raises(ValueError, match="two counts"):
        detection([1, 2], [1])
    with pytest.raises(ValueError, match="two counts"):
        count_correlation([-1, 2], [1, 2])
    with pytest.raises(ValueError, match="no more than all"):
        hallucination_rate([2], [1])
