"""Samples for people to mark: every text has a chance, and estimates by it are unbiased."""

from collections import Counter
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from spanjury.judges.core import DataError, Segment
from spanjury.orchestration.studies.sampling import (
    Purpose,
    TextFeatures,
    chance_of,
    draw_sample,
    mean_over_aspects,
    novelty,
    tiers,
    unequal_chances_note,
    which_count,
)
from spanjury.stats.sampling_design import weighted_mean

PURPOSES: tuple[Purpose, ...] = get_args(Purpose)


def features(texts: int = 300, *, seed: int = 1) -> TextFeatures:
    """Return texts of which most have the best score, and seats differ on the others."""
    rng = np.random.default_rng(seed)
    quality = np.where(rng.random(texts) < 0.7, 1.0, rng.random(texts))
    quality[:3] = np.nan
    return TextFeatures(
        quality=quality,
        spread=np.where(quality < 1, rng.random(texts), 0.05),
        novelty=rng.random(texts),
    )


def test_a_heap_of_best_scores_leaves_tiers_for_the_others() -> None:
    values = np.array([5.0] * 90 + [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5] + [np.nan] * 2)

    assert Counter(tiers(values, 5)) == {5: 90, 4: 2, 3: 2, 2: 2, 1: 2, 0: 2}


def test_values_without_heaps_make_tiers_of_one_size() -> None:
    values = np.random.default_rng(1).permutation(100).astype(float)

    assert Counter(tiers(values, 4)) == {1: 25, 2: 25, 3: 25, 4: 25}


@given(st.lists(st.sampled_from([1.0, 2.0, 2.5, 3.0, 5.0, np.nan]), min_size=1), st.integers(1, 6))
def test_tiers_follow_the_values(values: list[float], count: int) -> None:
    found = tiers(np.array(values), count)

    known = sorted((value, tier) for value, tier in zip(values, found, strict=True) if tier)
    assert [tier for _, tier in known] == sorted(tier for _, tier in known)
    assert len({(value, tier) for value, tier in known}) == len({value for value, _ in known})
    assert {tier for _, tier in known} == {*range(1, max(found) + 1)}
    assert [tier == 0 for tier in found] == np.isnan(values).tolist()


def test_a_text_is_novel_by_what_no_text_for_another_source_says() -> None:
    found = novelty(["The mill burnt", "the mill fell", "A cat sat", ""], ["1", "2", "3", "4"])

    assert found.tolist() == [0.5, 0.5, 1.0, 1.0]
    assert novelty(["The mill burnt", "the mill fell"], ["1", "1"]).tolist() == [1.0, 1.0]


def test_the_mean_over_aspects_skips_what_is_unknown() -> None:
    values = np.array([[1.0, np.nan, np.nan], [0.0, 0.5, np.nan]])

    assert np.array_equal(mean_over_aspects(values), [0.5, 0.5, np.nan], equal_nan=True)


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("size", [1, 2, 7, 50, 300])
def test_every_text_has_a_chance(purpose: Purpose, size: int) -> None:
    sample = draw_sample(features(), size=size, purpose=purpose, seed=1)

    assert len(set(sample.chosen.tolist())) == size
    assert ((sample.inclusion > 0) & (sample.inclusion <= 1)).all()
    assert sample.inclusion.sum() == pytest.approx(size)
    assert sum(one.drawn for one in sample.strata()) == size
    assert sum(one.texts for one in sample.strata()) == 300


@pytest.mark.parametrize("purpose", PURPOSES)
def test_estimates_by_the_chances_are_unbiased(purpose: Purpose) -> None:
    texts = features()
    truth = np.where(np.isnan(texts.quality), 0.2, texts.quality) ** 2 + texts.spread / 3
    means, plain = [], []
    for seed in range(150):
        sample = draw_sample(texts, size=40, purpose=purpose, seed=seed)
        drawn = sample.chosen
        means.append(weighted_mean(truth[drawn], sample.inclusion[drawn]).value)
        plain.append(truth[drawn].mean())

    assert ttest_1samp(means, truth.mean()).pvalue > 0.001
    if purpose != "audit":  # which is nearly a plain sample
        assert ttest_1samp(plain, truth.mean()).pvalue < 0.001


def test_each_purpose_draws_what_it_is_for() -> None:
    texts = features()
    drawn = {
        purpose: draw_sample(texts, size=60, purpose=purpose, seed=1).chosen for purpose in PURPOSES
    }

    below = {purpose: np.mean(texts.quality[one] < 1) for purpose, one in drawn.items()}
    assert below["calibration"] > 1.5 * np.mean(texts.quality < 1)
    spread = {purpose: texts.spread[one].mean() for purpose, one in drawn.items()}
    assert spread["disagreement"] > 2 * texts.spread.mean()
    assert texts.novelty[drawn["audit"]].mean() > texts.novelty.mean() + 0.05


def test_a_seed_draws_the_same_texts_again() -> None:
    first, again, other = (
        draw_sample(features(), size=30, purpose="audit", seed=seed).chosen.tolist()
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_texts_that_all_have_one_score_and_agree_are_one_stratum_or_two() -> None:
    alike = TextFeatures(quality=np.ones(20), spread=np.zeros(20), novelty=np.zeros(20))

    for purpose in PURPOSES:
        sample = draw_sample(alike, size=5, purpose=purpose, seed=1)
        assert np.unique(sample.inclusion).tolist() == [0.25]


@pytest.mark.parametrize("inclusion", [0, 1.5, "often", True, None])
def test_an_invalid_chance_is_refused(inclusion: object) -> None:
    segment = Segment(segment_id="a", output="b", meta={"sampling": {"inclusion": inclusion}})

    with pytest.raises(DataError, match="above 0 and at most 1"):
        chance_of(segment)


def test_a_text_of_no_sample_has_no_chance() -> None:
    assert chance_of(Segment(output="b")) is None
    assert chance_of(Segment(output="b", meta={"sampling": {"inclusion": 1}})) == 1.0


@pytest.mark.parametrize(
    ("chances", "count"),
    [
        ([None, None], [True, True]),  # no sample: all count
        ([0.5, None, 1.0], [True, False, True]),
        ([], []),
    ],
)
def test_marks_without_a_chance_count_only_where_none_has_one(
    chances: list[float | None], count: list[bool]
) -> None:
    assert which_count(chances) == count


def test_unequal_chances_are_reported_with_the_effective_number_of_texts() -> None:
    said = unequal_chances_note([0.5, 0.5, 0.25, 0.25, None])
    assert said.startswith("4 texts were drawn for people with different chances")
    assert "about 4 texts" in said  # (2 + 2 + 4 + 4)**2 / (4 + 4 + 16 + 16) = 3.6
    few = unequal_chances_note([0.1, 1.0, 1.0, 1.0])  # 13**2 / 103 = 1.64
    assert few.endswith("about 2 texts")


@pytest.mark.parametrize("chances", [[], [None, None], [0.2, 0.2, None]])
def test_equal_chances_are_not_mentioned(chances: list[float | None]) -> None:
    assert unequal_chances_note(chances) == ""
