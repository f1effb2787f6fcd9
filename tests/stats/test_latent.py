"""Raters weighed without people: categories by hand and simulated, and grades."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import check_grad

from spanjury.stats.arrays import FloatArray
from spanjury.stats.raters.graded import _grades, _loss, _start, ordinal_scores
from spanjury.stats.raters.latent import dawid_skene


def _labels(truth: NDArray[np.int64], *, skills: tuple[float, ...], rng: Generator) -> FloatArray:
    """Return labels of raters that know the category with a chance, and else say any."""
    right = rng.random((truth.size, len(skills))) < np.array(skills)
    return np.where(right, truth[:, np.newaxis], rng.integers(0, 3, right.shape)).astype(np.float64)


def test_one_round_is_that_worked_out_by_hand() -> None:
    # shares of the labels, with half a vote for each: 5/6, 1/6 and 1/2 of category 0; from them
    # the first rater says 0 of a 0 in (5/6 + 1/2) / (3/2) = 8/9, and 0 of a 1 in 4/9
    fit = dawid_skene([[0, 0], [1, 1], [0, 1]], categories=2, smoothing=0, rounds=1)
    assert fit.confusion[0] == pytest.approx(np.array([[8, 1], [4, 5]]) / 9)
    assert fit.confusion[1] == pytest.approx(np.array([[5, 4], [1, 8]]) / 9)
    assert fit.posterior[:, 0] == pytest.approx([10 / 11, 1 / 11, 1 / 2])
    assert fit.prevalence == pytest.approx([1 / 2, 1 / 2])
    assert fit.log_posterior == pytest.approx([2 * math.log(22 / 81) + math.log(32 / 81)])
    assert not fit.converged


def test_good_raters_are_known_and_one_that_answers_at_random_gets_no_say() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 600)
    labels = _labels(truth, skills=(0.9, 0.7, 0.5, 0.0), rng=rng)
    labels[rng.random(labels.shape) < 0.1] = -1
    fit = dawid_skene(labels, categories=3)
    assert fit.converged
    right = np.trace(fit.confusion, axis1=1, axis2=2) / 3
    assert right == pytest.approx([0.93, 0.8, 0.67, 0.33], abs=0.07)
    assert np.ptp(fit.confusion[3], axis=0).max() < 0.12  # its rows are alike
    assert (fit.posterior.argmax(axis=1) == truth).mean() > 0.92
    assert np.abs(fit.posterior - dawid_skene(labels[:, :3], categories=3).posterior).mean() < 0.01


def test_two_good_raters_outvote_three_that_guess() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 500)
    labels = _labels(truth, skills=(0.9, 0.9, 0.05, 0.05, 0.05), rng=rng)
    fit = dawid_skene(labels, categories=3).posterior.argmax(axis=1)
    votes = (labels[:, :, np.newaxis] == np.arange(3)).sum(axis=1).argmax(axis=1)
    assert (fit == truth).mean() > (votes == truth).mean() + 0.08


@given(st.integers(0, 1000), st.integers(2, 4), st.integers(1, 5), st.sampled_from([0.0, 0.1, 1.0]))
def test_posteriors_never_fall(seed: int, categories: int, raters: int, smoothing: float) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, categories, (12, raters))
    labels[0, 0] = 0
    fit = dawid_skene(labels, categories=categories, smoothing=smoothing, rounds=30)
    assert (np.diff(fit.log_posterior) >= -1e-9).all()
    assert fit.posterior.sum(axis=1) == pytest.approx(1)
    assert fit.confusion.sum(axis=2) == pytest.approx(1)


def test_the_order_of_raters_items_and_categories_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    labels = _labels(rng.integers(0, 3, 60), skills=(0.8, 0.5, 0.3), rng=rng)
    fit = dawid_skene(labels, categories=3)
    turned = dawid_skene((2 - labels)[::-1, ::-1], categories=3)
    assert turned.posterior[::-1, ::-1] == pytest.approx(fit.posterior, abs=1e-6)
    assert turned.confusion[::-1, ::-1, ::-1] == pytest.approx(fit.confusion, abs=1e-6)


def test_an_item_without_labels_has_the_prevalence() -> None:
    labels = np.array([[0, 0], [0, 0], [1, 1], [math.nan, -1]])
    fit = dawid_skene(labels, categories=2)
    assert fit.posterior[3] == pytest.approx(fit.prevalence, abs=1e-3)
    assert fit.prevalence[0] > 0.5


@pytest.mark.parametrize(
    ("labels", "categories"),
    [([[0.5]], 2), ([[2]], 2), ([[-2]], 2), ([0], 2), ([[0]], 1), ([[-1]], 2), ([[math.inf]], 2)],
)
def test_invalid_labels_are_refused(labels: ArrayLike, categories: int) -> None:
    with pytest.raises(ValueError, match="expected"):
        dawid_skene(labels, categories=categories)


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="smoothing"):
        dawid_skene([[0]], categories=2, smoothing=-1)
    with pytest.raises(ValueError, match="levels"):
        ordinal_scores([[0]], levels=1)
    for scores in ([[math.nan]], [1.0]):
        with pytest.raises(ValueError, match="shape"):
            ordinal_scores(scores)


CUTS = [-2.0, -0.5, 0.7, 2.0]


def _graded(quality: FloatArray, *, steep: tuple[float, ...], rng: Generator) -> FloatArray:
    seen = quality[:, np.newaxis] * np.array(steep)
    return np.asarray(np.digitize(seen + rng.logistic(size=seen.shape), CUTS), dtype=np.float64)


def test_discriminations_are_recovered_and_the_guesser_gets_none() -> None:
    rng = np.random.default_rng(4)
    quality = rng.normal(size=800)
    grades = _graded(quality, steep=(3.0, 2.0, 1.0, 0.0), rng=rng)
    grades[rng.random(grades.shape) < 0.1] = math.nan
    fit = ordinal_scores(grades)
    assert fit.converged
    assert fit.discrimination == pytest.approx([3, 2, 1, 0], abs=0.5)
    best = np.corrcoef(fit.quality, quality)[0, 1]
    assert best > np.corrcoef(np.nanmean(grades, axis=1), quality)[0, 1] + 0.05
    held = np.abs(fit.quality - quality) < 1.96 * fit.error
    assert held.mean() == pytest.approx(0.95, abs=0.03)


def test_one_who_grades_upside_down_is_turned_round() -> None:
    rng = np.random.default_rng(5)
    quality = rng.normal(size=300)
    fit = ordinal_scores(_graded(quality, steep=(2.0, 2.0, 2.0, -2.0), rng=rng))
    assert (fit.discrimination[:3] > 1).all()
    assert fit.discrimination[3] < -1


def test_only_the_order_of_each_raters_scores_counts() -> None:
    rng = np.random.default_rng(6)
    grades = _graded(rng.normal(size=80), steep=(2.0, 1.0, 1.5), rng=rng)
    fit = ordinal_scores(grades)
    other = ordinal_scores(np.exp(grades)[::-1, ::-1] * np.array([1.0, 10.0, 0.1]))
    assert other.quality[::-1] == pytest.approx(fit.quality, abs=1e-3)
    assert other.discrimination[::-1] == pytest.approx(fit.discrimination, abs=1e-3)


def test_fine_scores_are_cut_into_groups() -> None:
    rng = np.random.default_rng(7)
    quality = rng.normal(size=200)
    scores = quality[:, np.newaxis] + rng.normal(size=(200, 3))
    fit = ordinal_scores(scores, levels=6)
    assert _grades(scores[:, 0], levels=6).sum(axis=0) == pytest.approx(200 / 6, abs=2)
    assert np.corrcoef(fit.quality, scores.mean(axis=1))[0, 1] > 0.9


def test_raters_that_always_agree_have_finite_discriminations() -> None:
    fit = ordinal_scores([[1, 1], [2, 2], [3, 3], [1, 1]])
    assert fit.converged
    assert np.isfinite(fit.discrimination).all()
    assert fit.discrimination[0] == pytest.approx(fit.discrimination[1], abs=1e-3)
    assert fit.quality[0] == pytest.approx(fit.quality[3])
    assert fit.quality[0] < fit.quality[1] < fit.quality[2]


def test_a_rater_with_one_grade_or_none_says_nothing() -> None:
    grades = [[1, 3, math.nan], [2, 3, math.nan], [3, 3, math.nan], [math.nan, 3, math.nan]]
    fit = ordinal_scores(grades)
    assert fit.discrimination[1:].tolist() == [0.0, 0.0]
    assert fit.quality[3] == pytest.approx(0, abs=1e-9)
    assert fit.error[3] == pytest.approx(1, abs=1e-3)
    assert ordinal_scores([[3], [3]]).quality == pytest.approx([0, 0])


def test_the_slope_of_the_log_posterior_is_that_of_its_differences() -> None:
    rng = np.random.default_rng(8)
    grades = _graded(rng.normal(size=40), steep=(2.0, 1.0, 0.0), rng=rng)
    grades[3, 1] = math.nan
    split = [_grades(column, levels=10) for column in grades.T]
    at = _start(split)[0] + rng.normal(scale=0.2, size=15)

    def loss(parameters: FloatArray) -> float:
        return _loss(parameters, split)[0]

    def slope(parameters: FloatArray) -> FloatArray:
        return _loss(parameters, split)[1]

    assert check_grad(loss, slope, at) < 1e-4 * float(np.linalg.norm(slope(at)))
