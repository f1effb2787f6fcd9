"""Matching: a hand-worked case, and every way of pairing as an oracle."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.stats.spans.span_matching import matched_overlap, matching, overlap_ratios

Span = tuple[int, int]
SPAN = st.tuples(st.integers(0, 12), st.integers(1, 6)).map(lambda drawn: (drawn[0], sum(drawn)))
SPANS = st.lists(SPAN, min_size=1, max_size=4)
THRESHOLD = st.sampled_from([0.1, 0.3, 0.5, 0.75, 1.0])


def best_pairing(predicted: list[Span], gold: list[Span], threshold: float) -> tuple[int, float]:
    """Try every way: most pairs first, and then the largest sum of ratios."""
    if len(predicted) > len(gold):
        predicted, gold = gold, predicted
    ratios = overlap_ratios(predicted, gold)
    tried = []
    for columns in permutations(range(len(gold)), len(predicted)):
        kept = [
            float(ratios[row, column])
            for row, column in enumerate(columns)
            if ratios[row, column] >= threshold
        ]
        tried.append((len(kept), sum(kept)))
    return max(tried)


def test_pairs_are_as_worked_by_hand() -> None:
    # 0-10 overlaps 2-10 by .8 and 0-12 by 10/12; 20-24 overlaps 22-26 by 2/6, too little.
    predicted = matching([(0, 10), (20, 24)], [(2, 10), (0, 12), (22, 26)])
    assert predicted.ratios == pytest.approx([10 / 12])
    assert predicted.pairs.tolist() == [[0, 1]]
    assert matched_overlap([(0, 10), (20, 24)], [(2, 10), (0, 12), (22, 26)]) == (1, 2, 3)


def test_two_pairs_are_better_than_one_that_overlaps_more() -> None:
    # 0-10 with 0-10 (1) leaves 4-10 without a partner; 0-10 with 0-7 and 4-10 with 0-10 pairs both.
    predicted = matching([(0, 10), (4, 10)], [(0, 10), (0, 7)])
    assert predicted.pairs.tolist() == [[0, 1], [1, 0]]
    assert predicted.ratios == pytest.approx([0.7, 0.6])


@given(SPANS, SPANS, THRESHOLD)
def test_no_pairing_is_better(predicted: list[Span], gold: list[Span], threshold: float) -> None:
    matched = matching(predicted, gold, threshold=threshold)
    count, total = best_pairing(predicted, gold, threshold)
    assert matched.ratios.sum() == pytest.approx(total)
    assert len(matched.pairs) == count
    assert len(np.unique(matched.pairs[:, 0])) == len(np.unique(matched.pairs[:, 1])) == count


@given(SPANS, SPANS, THRESHOLD)
def test_sides_swap_precision_and_recall(
    predicted: list[Span], gold: list[Span], threshold: float
) -> None:
    forward = matched_overlap(predicted, gold, threshold=threshold)
    other = matched_overlap(gold, predicted, threshold=threshold)
    assert forward == (other.both, other.gold, other.predicted)


@given(SPANS, THRESHOLD)
def test_spans_are_paired_with_themselves(spans: list[Span], threshold: float) -> None:
    both, predicted, gold = matched_overlap(spans, spans, threshold=threshold)
    assert both == predicted == gold > 0


def test_nothing_is_paired_with_nothing() -> None:
    assert matching([], []).pairs.shape == (0, 2)
    assert matched_overlap([], [(0, 3)]) == (0, 0, 1)


@pytest.mark.parametrize("threshold", [0, -0.5, 1.1])
def test_a_threshold_is_a_share(threshold: float) -> None:
    with pytest.raises(ValueError, match=r"\(0, 1\]"):
        matching([(0, 1)], [(0, 1)], threshold=threshold)
