"""Spans: their agreement, matching, detection and location, by hand and against oracles."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy.stats import spearmanr

from spanjury.stats.resampling import bootstrap
from spanjury.stats.spans.localisation import Localisation, localisation, new_spans, pooled
from spanjury.stats.spans.span_agreement import (
    Agreement,
    Overlap,
    character_overlap,
    exact_overlap,
    graded_overlap,
    macro_effect,
    micro_effect,
)
from spanjury.stats.spans.span_detection import count_correlation, detection, hallucination_rate
from spanjury.stats.spans.span_matching import matched_overlap, matching, overlap_ratios
from spanjury.stats.weighted import Weighted, on_sample

LENGTH = 30
Span = tuple[int, int]
SPAN = st.tuples(st.integers(0, LENGTH - 1), st.integers(1, 9)).map(
    lambda drawn: (drawn[0], min(LENGTH, drawn[0] + drawn[1]))
)
SPANS = st.lists(SPAN, max_size=5)
GRADED = st.lists(st.tuples(SPAN, st.integers(0, 1)), max_size=5)
COUNTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=30)
SHORT_SPAN = st.tuples(st.integers(0, 12), st.integers(1, 6)).map(
    lambda drawn: (drawn[0], sum(drawn))
)
SHORT_SPANS = st.lists(SHORT_SPAN, min_size=1, max_size=4)
THRESHOLD = st.sampled_from([0.1, 0.3, 0.5, 0.75, 1.0])
TEXT_LENGTH = 24

PAIR = st.tuples(st.integers(0, TEXT_LENGTH), st.integers(0, TEXT_LENGTH)).map(sorted).map(tuple)
PAIRS = st.lists(PAIR, max_size=4)


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


@given(SHORT_SPANS, SHORT_SPANS, THRESHOLD)
def test_no_pairing_is_better(predicted: list[Span], gold: list[Span], threshold: float) -> None:
    matched = matching(predicted, gold, threshold=threshold)
    count, total = best_pairing(predicted, gold, threshold)
    assert matched.ratios.sum() == pytest.approx(total)
    assert len(matched.pairs) == count
    assert len(np.unique(matched.pairs[:, 0])) == len(np.unique(matched.pairs[:, 1])) == count


@given(SHORT_SPANS, SHORT_SPANS, THRESHOLD)
def test_sides_swap_precision_and_recall_of_a_matching(
    predicted: list[Span], gold: list[Span], threshold: float
) -> None:
    forward = matched_overlap(predicted, gold, threshold=threshold)
    other = matched_overlap(gold, predicted, threshold=threshold)
    assert forward == (other.both, other.gold, other.predicted)


@given(SHORT_SPANS, THRESHOLD)
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


def overlap(left: Span, other: Span) -> int:
    return max(0, min(left[1], other[1]) - max(left[0], other[0]))


def test_hits_chance_and_characters_are_as_worked_by_hand() -> None:
    # Marked: 2-6 and 10-12. Windows of 3 in a text of 20: those that begin at 0-5 or 8-11
    # touch a mark, 10 of 18; windows of 4: those at 0-5 and 7-11, 11 of 17.
    result = localisation([(2, 6), (10, 12)], [(5, 8), (14, 18)], length=20)
    assert (result.places, result.hits, result.hit_rate) == (2, 1, 0.5)
    assert result.chance == pytest.approx((10 / 18 + 11 / 17) / 2)
    assert result.beyond_chance == pytest.approx((0.5 - result.chance) / (1 - result.chance))
    assert result.precision == pytest.approx(1 / 6)
    assert result.recall == pytest.approx(1 / 7)


@pytest.mark.parametrize(
    ("span", "tolerance", "hit"),
    [
        ((7, 9), 1, True),  # one character before the deletion at 10
        ((6, 8), 1, False),
        ((11, 12), 1, True),
        ((12, 13), 1, False),
        ((8, 10), 0, True),  # touching
        ((10, 11), 0, True),
        ((11, 12), 0, False),
        ((5, 15), 0, True),
    ],
)
def test_a_deletion_is_hit_by_what_is_near_enough(span: Span, tolerance: int, *, hit: bool) -> None:
    assert localisation([span], [(10, 10)], length=20, tolerance=tolerance).hits == hit


def test_a_deletion_at_the_end_has_neighbours_on_one_side() -> None:
    result = localisation([(18, 20)], [(20, 20)], length=20)
    assert (result.hits, result.damaged, result.both) == (1, 2, 2)


def test_a_text_of_which_nothing_is_left_cannot_be_hit() -> None:
    result = localisation([], [(0, 0)], length=0)
    assert (result.hit_rate, result.chance) == (0, 0)
    assert math.isnan(result.recall)


def test_a_text_marked_as_a_whole_hits_by_chance_what_it_hits() -> None:
    result = localisation([(0, 20)], [(3, 5), (9, 9)], length=20)
    assert result.hit_rate == result.chance == result.recall == 1
    assert math.isnan(result.beyond_chance)


def test_without_spans_there_is_nothing_to_be_precise_about() -> None:
    result = localisation([], [(3, 5)], length=20)
    assert (result.hit_rate, result.chance, result.beyond_chance, result.recall) == (0, 0, 0, 0)
    assert math.isnan(result.precision)


@given(PAIRS, PAIRS, st.integers(0, 3))
def test_hits_overlap_or_touch(spans: list[Span], damaged: list[Span], tolerance: int) -> None:
    result = localisation(spans, damaged, length=TEXT_LENGTH, tolerance=tolerance)
    marks = [(start, end) for start, end in spans if start < end]

    def hit(damage: Span) -> bool:
        if damage[0] < damage[1]:
            return any(overlap(damage, mark) for mark in marks)
        return any(s - tolerance <= damage[0] <= e + tolerance for s, e in marks)

    assert result.hits == sum(map(hit, damaged))


@given(PAIRS, st.integers(1, TEXT_LENGTH))
def test_chance_is_the_share_of_all_places_that_are_hit(spans: list[Span], width: int) -> None:
    windows = [(start, start + width) for start in range(TEXT_LENGTH - width + 1)]
    tried = [localisation(spans, [window], length=TEXT_LENGTH) for window in windows]
    assert tried[0].chance == pytest.approx(np.mean([each.hits for each in tried]))


@given(PAIRS, PAIRS)
def test_characters_are_counted_once(spans: list[Span], damage: list[Span]) -> None:
    solid = [(start, end) for start, end in damage if start < end]
    result = localisation(spans, solid, length=TEXT_LENGTH)
    marked = {at for start, end in spans for at in range(start, end)}
    damaged = {at for start, end in solid for at in range(start, end)}
    assert (result.marked, result.damaged) == (len(marked), len(damaged))
    assert result.both == len(marked & damaged)


@given(PAIRS, PAIRS, PAIR)
def test_one_more_span_loses_no_hit(spans: list[Span], damaged: list[Span], more: Span) -> None:
    before = localisation(spans, damaged, length=TEXT_LENGTH)
    after = localisation([*spans, more], damaged, length=TEXT_LENGTH)
    assert after.hits >= before.hits
    assert after.hits_by_chance >= before.hits_by_chance


def test_random_spans_hit_no_more_than_chance_says() -> None:
    rng = np.random.default_rng(1)
    texts = []
    for _ in range(2000):
        spans = [(start, start + 8) for start in rng.integers(0, 193, size=3)]
        start = rng.integers(0, 196)
        texts.append(localisation(spans, [(start, start + 5)], length=200))
    assert pooled(texts).beyond_chance == pytest.approx(0, abs=0.035)  # 3 standard errors


def test_places_of_several_texts_count_alike() -> None:
    left = Localisation(1, 1, 0.5, 10, 4, 2)
    other = Localisation(3, 0, 0.5, 0, 4, 0)
    both = pooled([left, other])
    assert both == (4, 1, 1, 10, 8, 2)
    assert both.hit_rate == both.chance == 0.25
    assert math.isnan(pooled([]).hit_rate)


def test_spans_on_the_clean_text_are_not_new() -> None:
    # (0, 10) and (1, 10) share 9 of 10 characters; (20, 30) and (26, 40) share 4 of 20.
    assert new_spans([(0, 10), (20, 30)], [(1, 10), (26, 40), (25, 25)]).tolist() == [[20, 30]]


def test_spans_may_be_called_the_same_only_if_identical() -> None:
    assert new_spans([(0, 10), (20, 30)], [(1, 10), (20, 30)], same=1).tolist() == [[0, 10]]


@given(PAIRS, PAIRS)
def test_new_spans_are_old_ones_taken_away(now: list[Span], before: list[Span]) -> None:
    spans = {(start, end) for start, end in new_spans(now, before).tolist()}
    assert spans <= set(now)
    for span in set(now) - spans:
        shared = [(overlap(span, old), old) for old in before]
        assert any(
            2 * part >= span[1] - span[0] + old[1] - old[0] - part > 0 for part, old in shared
        )


def test_without_spans_on_the_clean_text_all_are_new() -> None:
    assert new_spans([(0, 3)], []).tolist() == [[0, 3]]
    assert new_spans([], [(0, 3)]).tolist() == []


@pytest.mark.parametrize("pairs", [[(3, 2)], [(-1, 2)], [(0, 21)], [(0.5, 2)], [(1, 2, 3)], [1, 2]])
def test_an_interval_outside_the_text_is_refused(pairs: list[Span]) -> None:
    with pytest.raises(ValueError, match="expected"):
        localisation(pairs, [], length=20)
    with pytest.raises(ValueError, match="expected"):
        localisation([], pairs, length=20)


def test_a_negative_tolerance_and_a_share_of_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="expected a tolerance"):
        localisation([], [], length=5, tolerance=-1)
    with pytest.raises(ValueError, match="expected a share"):
        new_spans([], [], same=0)
