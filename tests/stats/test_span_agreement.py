"""Span agreement: worked by hand, the shared task of WMT as an oracle, and sets of characters."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from spanjury.stats.resampling import bootstrap
from spanjury.stats.spans.span_agreement import (
    Agreement,
    Overlap,
    character_overlap,
    exact_overlap,
    graded_overlap,
    macro_effect,
    micro_effect,
)
from spanjury.stats.weighted import Weighted, on_sample

LENGTH = 30
Span = tuple[int, int]
SPAN = st.tuples(st.integers(0, LENGTH - 1), st.integers(1, 9)).map(
    lambda drawn: (drawn[0], min(LENGTH, drawn[0] + drawn[1]))
)
SPANS = st.lists(SPAN, max_size=5)
GRADED = st.lists(st.tuples(SPAN, st.integers(0, 1)), max_size=5)


def characters(spans: list[Span]) -> set[int]:
    return {offset for start, end in spans for offset in range(start, end)}


def graded(
    predicted: list[tuple[Span, int]], gold: list[tuple[Span, int]], *, partial: float = 0.5
) -> Overlap:
    return graded_overlap(
        [span for span, _ in predicted],
        [span for span, _ in gold],
        predicted_grades=[grade for _, grade in predicted],
        gold_grades=[grade for _, grade in gold],
        partial=partial,
    )


def micro(overlaps: Sequence[Overlap]) -> Agreement:
    """Return the figures of the totals."""
    return on_texts(micro_effect, overlaps)


def macro(overlaps: Sequence[Overlap]) -> Agreement:
    """Return the means over texts of the figures."""
    return on_texts(macro_effect, overlaps)


def on_texts(effect: Callable[[ArrayLike], Weighted], overlaps: Sequence[Overlap]) -> Agreement:
    rows = np.array(overlaps, dtype=np.float64).reshape(-1, 3)
    return Agreement(*on_sample(effect(rows), items=len(rows)).tolist())


def test_characters_and_spans_are_counted_as_by_hand() -> None:
    # Found 0-6 and 10-12, gold 4-8, 6-9 and 10-12: 2 + 2 of 8 and 7 characters, 1 of 2 and 3 spans.
    predicted, gold = [(0, 6), (10, 12)], [(4, 8), (6, 9), (10, 12)]
    assert character_overlap(predicted, gold) == (4, 8, 7)
    assert exact_overlap(predicted, gold) == (1, 2, 3)
    assert micro([character_overlap(predicted, gold)]) == pytest.approx((4 / 8, 4 / 7, 8 / 15))


def test_micro_figures_are_of_the_totals_and_macro_figures_means() -> None:
    texts = [Overlap(2, 4, 2), Overlap(1, 10, 5), Overlap(0, 0, 0)]
    assert micro(texts) == pytest.approx((3 / 14, 3 / 7, 6 / 21))
    assert macro(texts) == pytest.approx(
        ((0.5 + 0.1 + 1) / 3, (1 + 0.2 + 1) / 3, (4 / 6 + 2 / 15 + 1) / 3)
    )


def test_a_text_without_any_span_is_agreed_on_and_counts_for_nothing_in_totals() -> None:
    nothing = character_overlap([], [])
    assert macro([nothing]) == (1, 1, 1)
    assert all(math.isnan(figure) for figure in micro([nothing]))
    predicted = character_overlap([(0, 2)], [(0, 4)])
    assert micro([predicted, nothing]) == micro([predicted])


@pytest.mark.parametrize("swapped", [False, True])
def test_one_empty_side_is_no_agreement_and_leaves_one_figure_undefined(*, swapped: bool) -> None:
    sides: list[list[Span]] = [[], [(0, 4)]]
    agreement = macro([character_overlap(*(sides[::-1] if swapped else sides))])
    undefined, zero = agreement.precision, agreement.recall
    if swapped:
        undefined, zero = zero, undefined
    assert math.isnan(undefined)
    assert (zero, agreement.f1) == (0, 0)


def test_no_texts_at_all_are_no_figures() -> None:
    assert all(math.isnan(figure) for figure in (*micro([]), *macro([])))


def test_another_severity_gets_half_a_point() -> None:
    # Found: minor 0-4, major 4-8. Gold: major 0-6. 0-4 count half, 4-6 in full, of 8 and of 6.
    counts = graded([((0, 4), 0), ((4, 8), 1)], [((0, 6), 1)])
    assert counts == (4, 8, 6)
    assert micro([counts]) == pytest.approx((4 / 8, 4 / 6, 8 / 14))
    assert graded([((0, 4), 0)], [((0, 6), 1)], partial=0).both == 0


def wmt25(predicted: list[tuple[Span, int]], gold: list[tuple[Span, int]]) -> Overlap:
    """Count character by character, as the task's description has it."""
    both, ours, theirs = 0.0, 0, 0
    for offset in range(LENGTH):
        counts = [
            [
                sum(start <= offset < end and g == grade for (start, end), g in side)
                for grade in (0, 1)
            ]
            for side in (predicted, gold)
        ]
        ours += sum(counts[0])
        theirs += sum(counts[1])
        both += sum(map(min, *counts))
        left = [
            sum(max(0, a - b) for a, b in zip(*pairing, strict=True))
            for pairing in (counts, counts[::-1])
        ]
        both += 0.5 * min(left)
    return Overlap(both, ours, theirs)


@given(GRADED, GRADED)
def test_graded_agreement_is_that_of_the_shared_task(
    predicted: list[tuple[Span, int]], gold: list[tuple[Span, int]]
) -> None:
    assert graded(predicted, gold) == wmt25(predicted, gold)


@given(SPANS, SPANS)
def test_a_sweep_counts_what_sets_of_characters_do(predicted: list[Span], gold: list[Span]) -> None:
    ours, theirs = characters(predicted), characters(gold)
    assert character_overlap(predicted, gold) == (len(ours & theirs), len(ours), len(theirs))


@given(SPANS, SPANS)
def test_sides_swap_precision_and_recall(predicted: list[Span], gold: list[Span]) -> None:
    for overlap in (character_overlap, exact_overlap):
        forward, other = micro([overlap(predicted, gold)]), micro([overlap(gold, predicted)])
        assert (forward.precision, forward.recall, forward.f1) == pytest.approx(
            (other.recall, other.precision, other.f1), nan_ok=True
        )


@given(SPANS.filter(bool))
def test_the_same_spans_agree_fully_and_disjoint_ones_not_at_all(spans: list[Span]) -> None:
    beyond = [(start + LENGTH, end + LENGTH) for start, end in spans]
    for overlap in (character_overlap, exact_overlap):
        assert micro([overlap(spans, spans)]) == (1, 1, 1)
        assert micro([overlap(spans, beyond)]) == (0, 0, 0)


@given(SPANS, SPANS)
def test_cutting_a_span_in_two_moves_no_character(predicted: list[Span], gold: list[Span]) -> None:
    cut = [
        part
        for start, end in predicted
        for part in pairwise(sorted({start, (start + end) // 2, end}))
    ]
    assert character_overlap(cut, gold) == character_overlap(predicted, gold)


def test_an_effect_in_the_sample_as_it_is_are_the_figures() -> None:
    texts = [Overlap(2, 4, 2), Overlap(1, 10, 5), Overlap(3, 3, 9)]
    drawn = bootstrap(micro_effect(texts), items=3, rng=np.random.default_rng(1), draws=20)
    assert drawn.estimate == pytest.approx([*micro(texts)])
    assert drawn.draws.shape == (20, 3)


@pytest.mark.parametrize(
    "spans", [[(3, 3)], [(-1, 2)], [(5, 2)], [(0.5, 2.0)], [1, 2], [(1, 2, 3)]]
)
def test_an_invalid_span_is_refused(spans: list[Span]) -> None:
    with pytest.raises(ValueError, match="expected"):
        character_overlap(spans, [])


@pytest.mark.parametrize(
    ("grades", "partial"), [([0, 1], 0.5), ([-1], 0.5), ([0.5], 0.5), ([0], 1.5)]
)
def test_an_invalid_grade_or_credit_is_refused(grades: list[int], partial: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        graded_overlap([(0, 2)], [], predicted_grades=grades, gold_grades=[], partial=partial)


def test_sums_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="three sums"):
        micro_effect([[1, 2]])
