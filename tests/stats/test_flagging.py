"""Flagging: cut-offs and caught shares worked out by hand, and areas by another formula."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom, mannwhitneyu

from spanjury.stats.flagging import auroc_of_drops, cutoff, flagged, most_by_chance
from spanjury.stats.weighted import Weighted, on_sample

NAN = math.nan
SCORES = st.lists(st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0]), min_size=1, max_size=30)


def value(effect: Weighted, *, texts: int) -> float:
    return float(on_sample(effect, items=texts))


@pytest.mark.parametrize(
    ("spared", "rate", "expected"),
    [
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.1, 2),  # one of ten lies below 2
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.05, 1),  # one of ten would be too many
        ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.3, 4),
        ([3, 3, 5, 5, 5, 5, 5, 5, 5, 5], 0.1, 3),  # below 5 lie two: too many
        ([4, 4, 4, 4], 0.25, 4),  # alike: none is flagged
        ([NAN, 2, 1], 0.4, 1),
        ([NAN], 0.1, NAN),
        ([], 0.1, NAN),
    ],
)
def test_cut_offs_never_exceed_the_rate(spared: list[float], rate: float, expected: float) -> None:
    assert cutoff(spared, rate=rate) == pytest.approx(expected, nan_ok=True)


@given(spared=SCORES, rate=st.floats(0.01, 0.99))
def test_the_next_cut_off_would_flag_too_many(spared: list[float], rate: float) -> None:
    scores, at = np.array(spared), cutoff(spared, rate=rate)
    assert np.mean(scores < at) <= rate + 1e-9
    assert np.mean(scores <= at) > rate - 1e-9


def test_the_caught_share_is_of_damaged_texts_below_the_cut_off() -> None:
    clean = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    damaged: list[list[float]] = [
        [0, 1, 1, 2, 2, 3, 3, 4, 4, 5],
        [1, 1, 1, 1, 1, NAN, NAN, NAN, 9, 9],
    ]
    at_ten = on_sample(flagged([clean], damaged, rate=0.1), items=10)
    assert at_ten == pytest.approx([3 / 10, 5 / 7])
    assert on_sample(flagged([clean], damaged, rate=0.05), items=10) == pytest.approx([1 / 10, 0])


def test_a_text_without_a_score_counts_in_the_share_if_it_is_asked_for() -> None:
    clean, scores = [[4.0] * 4], [1.0, 5.0, math.nan, math.nan]
    of_scored, of_three = (
        float(on_sample(flagged(clean, scores, rate=0.1, among=among), items=4))
        for among in (None, [True, True, True, False])
    )
    assert (of_scored, of_three) == (1 / 2, 1 / 3)
    of_second = flagged(clean, scores, rate=0.1, among=[False, True, False, False])
    assert float(on_sample(of_second, items=4)) == 0
    with pytest.raises(ValueError, match="`among` of the shape"):
        flagged(clean, scores, rate=0.1, among=[True])


def test_harmless_variants_lower_the_cut_off() -> None:
    clean, harmless = [5.0] * 10, [4.0] * 10
    assert value(flagged([clean], [4.5] * 10, rate=0.1), texts=10) == 1
    assert value(flagged([clean, harmless], [4.5] * 10, rate=0.1), texts=10) == 0
    assert value(flagged([clean, harmless], [3.5] * 10, rate=0.1), texts=10) == 1


def test_scores_that_are_all_alike_catch_nothing_and_tell_nothing() -> None:
    alike = [3.0] * 20
    assert value(flagged([alike], alike, rate=0.1), texts=20) == 0
    assert value(auroc_of_drops([alike], alike), texts=20) == 0.5


def test_texts_are_drawn_with_all_their_variants() -> None:
    clean, other, damaged = [5, 1], [5, 5], [2, 0]
    counts = np.array([[2.0, 0.0], [0.0, 2.0]])
    # The first text twice: 5 5 5 5, so that 2 is flagged. The second: 1 1 5 5, and below 1 is 0.
    assert flagged([clean, other], damaged, rate=0.25)(counts).tolist() == [1, 1]
    assert flagged([clean, other], [4, 1], rate=0.25)(counts).tolist() == [1, 0]
    assert auroc_of_drops([clean, other], [4, 1])(counts).tolist() == [1, 0.75]


@pytest.mark.parametrize("effect", [auroc_of_drops, lambda *scores: flagged(*scores, rate=0.1)])
def test_without_scores_nothing_is_defined(effect: object) -> None:
    assert callable(effect)
    assert math.isnan(value(effect([[NAN, NAN]], [1.0, 2.0]), texts=2))
    assert math.isnan(value(effect([[1.0, 2.0]], [NAN, NAN]), texts=2))
    assert on_sample(effect([[1.0, 2.0]], np.empty((0, 2))), items=2).shape == (0,)


@given(spared=SCORES, damaged=SCORES)
def test_the_area_is_that_of_the_rank_sum(spared: list[float], damaged: list[float]) -> None:
    texts = max(len(spared), len(damaged))
    padded = [row + [NAN] * (texts - len(row)) for row in (spared, damaged)]
    area = value(auroc_of_drops([padded[0]], padded[1]), texts=texts)
    u = mannwhitneyu(spared, damaged).statistic
    assert area == pytest.approx(u / (len(spared) * len(damaged)))


@pytest.mark.parametrize("texts", [1, 8, 35, 100, 1000])
@pytest.mark.parametrize(("clean", "rate", "below"), [(20, 0.05, 2), (100, 0.1, 11), (45, 0.1, 5)])
def test_the_most_by_chance_is_a_quantile(texts: int, clean: int, rate: float, below: int) -> None:
    most = betabinom.ppf(0.975, texts, below, clean + 1 - below)
    assert most_by_chance(texts, clean=clean, rate=rate) == most
    assert most_by_chance(0, clean=clean, rate=rate) == 0


def test_more_than_the_most_by_chance_is_rare_where_nothing_is_worse() -> None:
    rng = np.random.default_rng(1)
    most = most_by_chance(50, clean=50, rate=0.1)
    more = 0
    for clean, others in rng.normal(size=(2000, 2, 50)):
        more += int(np.sum(others < cutoff(clean, rate=0.1)) > most)
    assert more / 2000 < 0.03


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1])
def test_an_invalid_rate_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="expected a rate"):
        cutoff([1.0], rate=rate)
    with pytest.raises(ValueError, match="expected a rate"):
        flagged([[1.0]], [1.0], rate=rate)
    with pytest.raises(ValueError, match="expected a rate"):
        most_by_chance(3, clean=20, rate=rate)


def test_an_array_without_an_axis_of_variants_is_refused() -> None:
    with pytest.raises(ValueError, match="two axes"):
        flagged([1.0, 2.0], [1.0, 2.0], rate=0.1)
    with pytest.raises(ValueError, match="expected texts"):
        most_by_chance(-1, clean=20, rate=0.1)
