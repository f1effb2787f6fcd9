"""Panels by size and without a seat, and the four judges of QAGS, whose figures are known."""

import gzip
import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng

from spanjury.stats.arrays import FloatArray
from spanjury.stats.correlations.correlation import correlation
from spanjury.stats.correlations.grouping import level_correlation
from spanjury.stats.raters.agreement import cohen_kappa, krippendorff_alpha
from spanjury.stats.raters.ensembles import ensemble_curve, leave_one_out

JUDGES = ("gemma-2-27b", "nemotron-70b", "mistral-large-2", "qwen-2.5-72b")
CNN_DM = 235  # rows; the others are of XSum
UNREAD = 5.0  # what the two labels say that are missing: "**Excellent**", in bold letters


@pytest.fixture
def seats() -> FloatArray:
    rng = default_rng(1)
    return rng.integers(1, 6, size=(4, 6, 10)) + rng.normal(size=(6, 10))


@pytest.fixture
def human(seats: FloatArray) -> FloatArray:
    scores: FloatArray = seats.mean(axis=0) + default_rng(2).normal(size=(6, 10))
    return scores


def test_a_size_has_the_mean_of_all_its_panels(human: FloatArray, seats: FloatArray) -> None:
    curve = ensemble_curve(human, seats, level="by-input", rng=default_rng(1))
    for column, size in enumerate(curve.sizes):
        values = [
            level_correlation(human, seats[list(panel)].mean(axis=0), level="by-input").value
            for panel in combinations(range(4), size)
        ]
        assert curve.panels[column] == len(values)
        assert curve.mean[column] == pytest.approx(np.mean(values))
        assert curve.least[column] == pytest.approx(min(values))
        assert curve.greatest[column] == pytest.approx(max(values))
    assert (curve.sizes.tolist(), curve.undefined.tolist()) == ([1, 2, 3, 4], [0, 0, 0, 0])


def test_a_seat_gains_what_the_panel_loses_without_it(human: FloatArray, seats: FloatArray) -> None:
    ensembles = leave_one_out(human, seats, level="pooled")
    rest = level_correlation(human, seats[1:].mean(axis=0), level="pooled").value
    curve = ensemble_curve(human, seats, level="pooled", rng=default_rng(1))
    assert ensembles.without[0] == pytest.approx(rest)
    assert ensembles.whole == pytest.approx(curve.mean[3])
    assert np.mean(ensembles.without) == pytest.approx(curve.mean[2])
    np.testing.assert_allclose(ensembles.gain, ensembles.whole - ensembles.without)


def test_sizes_with_too_many_panels_are_sampled(human: FloatArray, seats: FloatArray) -> None:
    many = np.concatenate([seats, seats + default_rng(3).normal(size=seats.shape)])
    whole, sampled, again = (
        ensemble_curve(human, many, level="pooled", rng=default_rng(4), most=most)
        for most in (70, 40, 40)
    )
    assert whole.panels.tolist() == [8, 28, 56, 70, 56, 28, 8, 1]
    assert sampled.panels.tolist() == [8, 28, 40, 40, 40, 28, 8, 1]
    np.testing.assert_allclose(sampled.mean, whole.mean, atol=0.02)
    np.testing.assert_array_equal(sampled.mean, again.mean)


def test_a_panel_hears_the_seats_that_gave_a_score(human: FloatArray, seats: FloatArray) -> None:
    seats[0, :, :4] = math.nan
    curve = leave_one_out(human, seats, level="pooled")
    means = np.concatenate([seats[1:, :, :4].mean(axis=0), seats[:, :, 4:].mean(axis=0)], axis=1)
    assert curve.whole == pytest.approx(level_correlation(human, means, level="pooled").value)


def test_panels_without_a_correlation_are_counted(human: FloatArray, seats: FloatArray) -> None:
    seats[0], seats[1] = 3, math.nan
    curve = ensemble_curve(human, seats, level="pooled", rng=default_rng(1))
    assert curve.undefined.tolist() == [2, 1, 0, 0]  # alone, and together
    alone = [level_correlation(human, seats[seat], level="pooled").value for seat in (2, 3)]
    assert curve.mean[0] == pytest.approx(np.mean(alone))


def test_a_size_without_any_correlation_is_undefined(human: FloatArray) -> None:
    curve = ensemble_curve(human, np.ones((1, 6, 10)), level="pooled", rng=default_rng(1))
    assert np.isnan([curve.mean, curve.least, curve.greatest]).all()
    single = leave_one_out(human, human[np.newaxis], level="pooled")
    assert single.whole == pytest.approx(1)
    assert np.isnan([single.without, single.gain]).all()


def test_an_invalid_panel_is_refused(human: FloatArray, seats: FloatArray) -> None:
    with pytest.raises(ValueError, match="expected one table and one a seat"):
        leave_one_out(human, seats[0], level="pooled")
    with pytest.raises(ValueError, match="expected one table and one a seat"):
        leave_one_out(human, seats[:0], level="pooled")
    with pytest.raises(ValueError, match="expected one table and one a seat"):
        leave_one_out(seats, seats, level="pooled")
    with pytest.raises(ValueError, match="expected at least 1 panel"):
        ensemble_curve(human, seats, level="pooled", rng=default_rng(1), most=0)


class Judged:
    """People's scores of 474 summaries, shape ``(474,)``, and four judges', ``(4, 474)``.

    The figures below are known of labels of which none is missing. Two of Nemotron's are in
    the collected data, but not in its replies, which end in "**Excellent**".
    """

    def __init__(self, path: Path) -> None:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        labels = [[row["scores"].get(judge) for row in rows] for judge in JUDGES]
        read = np.array(labels, dtype=np.float64)
        self.unread = int(np.isnan(read).sum())
        self.seats = np.where(np.isnan(read), UNREAD, read)
        self.human = np.array([row["human"] for row in rows])


@pytest.fixture(scope="module")
def judged(shared_data: Path) -> Judged:
    return Judged(shared_data / "judgements" / "qags_four_judges.jsonl.gz")


@pytest.mark.shared_data
def test_two_labels_of_the_four_judges_are_missing(judged: Judged) -> None:
    assert judged.unread == 2


@pytest.mark.shared_data
def test_the_four_judges_correlate_as_known_over_all_rows(judged: Judged) -> None:
    gemma, nemotron, mistral, qwen = judged.seats
    assert correlation(gemma, nemotron).value == pytest.approx(0.738, abs=5e-4)
    assert correlation(mistral, qwen).value == pytest.approx(0.847, abs=5e-4)


@pytest.mark.shared_data
def test_the_four_judges_agree_as_known_over_all_rows(judged: Judged) -> None:
    _, nemotron, _, qwen = judged.seats
    # The published kappa is .518; of all conventions the unweighted one comes nearest, .5173.
    assert cohen_kappa(nemotron, qwen).value == pytest.approx(0.518, abs=8e-4)
    for level, value in (("ordinal", 0.735), ("interval", 0.697), ("nominal", 0.417)):
        curve = krippendorff_alpha(judged.seats.T, level=level)  # type: ignore[arg-type]
        assert curve.value == pytest.approx(value, abs=5e-4)


@pytest.mark.shared_data
def test_larger_panels_of_the_four_agree_more_with_people_as_known(judged: Judged) -> None:
    # Spearman in each half of the data, the mean of both: no halves, .566 for one judge.
    halves = [slice(CNN_DM), slice(CNN_DM, None)]
    curves = [
        ensemble_curve(
            judged.human[np.newaxis, half],
            judged.seats[:, np.newaxis, half],
            level="pooled",
            rng=default_rng(1),
        ).mean
        for half in halves
    ]
    mean = np.mean(curves, axis=0)
    np.testing.assert_allclose(mean, [0.622, 0.659, 0.670, 0.676], atol=5e-4)
