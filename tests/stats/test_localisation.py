"""Localisation: hand-worked places, and plain interval arithmetic as an oracle."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.stats.spans.localisation import Localisation, localisation, new_spans, pooled

LENGTH = 24
Pair = tuple[int, int]
PAIR = st.tuples(st.integers(0, LENGTH), st.integers(0, LENGTH)).map(sorted).map(tuple)
PAIRS = st.lists(PAIR, max_size=4)


def overlap(left: Pair, other: Pair) -> int:
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
def test_a_deletion_is_hit_by_what_is_near_enough(span: Pair, tolerance: int, *, hit: bool) -> None:
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
def test_hits_overlap_or_touch(spans: list[Pair], damaged: list[Pair], tolerance: int) -> None:
    result = localisation(spans, damaged, length=LENGTH, tolerance=tolerance)
    marks = [(start, end) for start, end in spans if start < end]

    def hit(damage: Pair) -> bool:
        if damage[0] < damage[1]:
            return any(overlap(damage, mark) for mark in marks)
        return any(s - tolerance <= damage[0] <= e + tolerance for s, e in marks)

    assert result.hits == sum(map(hit, damaged))


@given(PAIRS, st.integers(1, LENGTH))
def test_chance_is_the_share_of_all_places_that_are_hit(spans: list[Pair], width: int) -> None:
    windows = [(start, start + width) for start in range(LENGTH - width + 1)]
    tried = [localisation(spans, [window], length=LENGTH) for window in windows]
    assert tried[0].chance == pytest.approx(np.mean([each.hits for each in tried]))


@given(PAIRS, PAIRS)
def test_characters_are_counted_once(spans: list[Pair], damage: list[Pair]) -> None:
    solid = [(start, end) for start, end in damage if start < end]
    result = localisation(spans, solid, length=LENGTH)
    marked = {at for start, end in spans for at in range(start, end)}
    damaged = {at for start, end in solid for at in range(start, end)}
    assert (result.marked, result.damaged) == (len(marked), len(damaged))
    assert result.both == len(marked & damaged)


@given(PAIRS, PAIRS, PAIR)
def test_one_more_span_loses_no_hit(spans: list[Pair], damaged: list[Pair], more: Pair) -> None:
    before = localisation(spans, damaged, length=LENGTH)
    after = localisation([*spans, more], damaged, length=LENGTH)
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
def test_new_spans_are_old_ones_taken_away(now: list[Pair], before: list[Pair]) -> None:
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
def test_an_interval_outside_the_text_is_refused(pairs: list[Pair]) -> None:
    with pytest.raises(ValueError, match="expected"):
        localisation(pairs, [], length=20)
    with pytest.raises(ValueError, match="expected"):
        localisation([], pairs, length=20)


def test_a_negative_tolerance_and_a_share_of_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="expected a tolerance"):
        localisation([], [], length=5, tolerance=-1)
    with pytest.raises(ValueError, match="expected a share"):
        new_spans([], [], same=0)
