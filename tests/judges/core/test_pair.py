"""Pairs and what a judge says of them refuse to be built wrong, and change sides together."""

from dataclasses import replace

import pytest
from fakes.judges import mark, segment
from fakes.pairs import TIE, A, B, pair, preferring
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import (
    Comparison,
    Outcome,
    PairReport,
    Preference,
    TextPair,
    Usage,
)

FAILED = PairReport(outcome=Outcome.TIMED_OUT, reason="no reply")


def compared(*orders: PairReport) -> Comparison:
    return Comparison(pair=pair(), signature="s", orders=orders)


@pytest.mark.parametrize("changed", [{"inputs": {"Article": "It rains."}}, {"task": "story"}])
def test_a_pair_has_the_same_inputs_and_task(changed: dict[str, object]) -> None:
    other = replace(segment("b"), **changed)  # type: ignore[arg-type]  # set by each case
    with pytest.raises(ValueError, match="the same inputs and task"):
        TextPair(a=segment("a"), b=other)


@pytest.mark.parametrize(
    "wrong",
    [
        {"preference": None},
        {"preference": "A"},
        {"outcome": Outcome.REFUSED, "preference": A, "reason": "no"},
        {"outcome": Outcome.REFUSED},
        {"preference": A, "probability": 1.1},
    ],
)
def test_a_report_has_a_preference_or_a_reason(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"outcome|probability|must be a Preference"):
        PairReport(**wrong)  # type: ignore[arg-type]  # set by each case


@given(st.sampled_from(Preference), st.none() | st.floats(0, 1))
def test_a_report_that_is_swapped_twice_is_the_same(
    preference: Preference, probability: float | None
) -> None:
    span = mark("It opened in 1932.", "1932")
    report = replace(preferring(preference, probability), spans_a=(span,), explanation="why")
    assert report.swapped.spans_b == (span,)
    again = report.swapped.swapped
    assert replace(again, probability=None) == replace(report, probability=None)
    assert again.probability == (None if probability is None else pytest.approx(probability))


@pytest.mark.parametrize(
    ("first", "second", "preference", "consistent"),
    [(A, A, A, True), (TIE, TIE, TIE, True), (A, B, TIE, False), (B, TIE, TIE, False)],
)
def test_a_preference_that_turns_with_the_order_is_a_tie(
    first: Preference, second: Preference, preference: Preference, *, consistent: bool
) -> None:
    comparison = compared(preferring(first), preferring(second))
    assert (comparison.preference, comparison.consistent) == (preference, consistent)


def test_one_order_says_nothing_of_consistency() -> None:
    comparison = compared(preferring(B, 0.25))
    assert (comparison.preference, comparison.consistent) == (B, None)
    assert comparison.probability == 0.25


@pytest.mark.parametrize("orders", [(FAILED, preferring(A)), (preferring(A), FAILED)])
def test_an_order_that_failed_leaves_no_preference(orders: tuple[PairReport, ...]) -> None:
    comparison = compared(*orders)
    assert (comparison.preference, comparison.consistent) == (None, None)
    assert (comparison.outcome, comparison.reason) == (Outcome.TIMED_OUT, "no reply")
    assert comparison.probability is None


def test_probabilities_are_averaged_and_spans_and_tokens_collected() -> None:
    span = mark("It opened in 1932.", "1932")
    again = replace(span, explanation="in other words")
    other = mark("It opened in 1932.", "opened")
    spent = Usage(calls=1, prompt=5)
    comparison = compared(
        replace(preferring(A, 0.9), spans_a=(span,), explanation="x", usage=spent),
        replace(preferring(A, 0.6), spans_a=(again, other), explanation="x", usage=spent),
    )
    assert comparison.probability == pytest.approx(0.75)
    assert comparison.spans_a == (span, other)
    assert comparison.spans_b == ()
    assert comparison.explanation == "x"
    assert comparison.usage == Usage(calls=2, prompt=10)


def test_a_probability_that_one_order_lacks_is_unknown() -> None:
    assert compared(preferring(A, 0.9), preferring(A)).probability is None
