"""Bands of a scale: a score says the same as the errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ErrorSpan, Scale
from spanjury.judges.rules.form import banded, cost, load


def spans(*severities: int | None) -> list[ErrorSpan]:
    return [ErrorSpan(text="", explanation="", severity=severity) for severity in severities]


def test_errors_cost_by_severity_and_an_ungraded_one_as_a_medium_one() -> None:
    assert cost(spans(1, 2, 3, 4, 5, None)) == pytest.approx(0.1 + 0.25 + 0.5 + 1 + 2 + 0.5)


def test_length_lightens_errors_from_the_fourth_sentence_on_by_its_root() -> None:
    errors = spans(4, 4)
    assert [load(errors, sentences=count) for count in (0, 1, 3, 12)] == [2, 2, 2, 1]


@given(st.floats(0, 1), st.floats(0.0001, 100), st.integers(2, 9))
def test_the_best_eighth_is_for_flawless_texts(quality: float, weight: float, labels: int) -> None:
    scale = Scale(labels=tuple(map(str, range(labels))))
    edge = scale.high - (scale.high - scale.low) / 8
    assert scale.low <= banded(quality, load=weight, scale=scale) < edge
    assert edge <= banded(quality, load=0, scale=scale) <= scale.high
