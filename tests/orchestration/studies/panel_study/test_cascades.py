"""Cascades that are fitted to recorded reports ask and score as an open panel does."""

from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest
from numpy.random import default_rng

from spanjury.judges.core import Outcome, Report, Scale
from spanjury.orchestration.engine.cascade import (
    Cascade,
    Stage,
    expected_score,
    place_on,
    stop_after,
)
from spanjury.orchestration.engine.score_map import ScoreMap
from spanjury.orchestration.studies.panel_study.cascades import (
    FittedStage,
    StagedTexts,
    fit_cascade,
    fit_cascades,
    judge,
    judge_held_out,
)

SCALE = Scale()
SEATS = 4


def recorded(seed: int, *, texts: int = 200, noise: float = 0.2) -> StagedTexts:
    """Return a free seat and three dear ones, all of which see the same quality and err."""
    rng = default_rng(seed)
    quality = rng.uniform(size=texts)
    seen = quality + rng.normal(scale=noise, size=(SEATS, texts))
    fractions = np.clip(np.rint(seen * 4), 0, 4) / 4
    estimates = fractions.copy()
    estimates[0] = np.clip(seen[0], 0, 1)
    return StagedTexts(
        stages=((0,), (1,), (2, 3)),
        estimates=estimates,
        fractions=fractions,
        failed=np.zeros((SEATS, texts), dtype=bool),
        costs=np.array([0.0, 1.0, 2.0]),
    )


def panel(fitted: tuple[FittedStage, ...]) -> Cascade:
    stages = [
        Stage(
            seats=(name,),
            unsure=one.unsure,
            score_map=ScoreMap(knots=one.estimates, values=one.scores),
        )
        for name, one in zip("ab", fitted, strict=True)
    ]
    return Cascade(stages=(*stages, Stage(seats=("c", "d"))))


def by_the_engine(cascade: Cascade, texts: StagedTexts, text: int) -> tuple[float, int]:
    """Return the place of the score, and the last stage, as an open panel has them."""
    reports: list[Report] = []
    for number, seats in enumerate(texts.stages):
        reports += [
            said(texts.fractions[seat, text], texts.estimates[seat, text]) for seat in seats
        ]
        if stop_after(cascade, number, reports, scale=SCALE, aggregation=fmean) is None:
            continue
        missing = len(cascade.after(number))
        score = expected_score(
            cascade.stages[number], reports, missing, scale=SCALE, aggregation=fmean
        )
        assert score is not None
        return place_on(SCALE, score), number
    return fmean(place_on(SCALE, one.score) for one in reports if one.score is not None), len(
        texts.stages
    ) - 1


def said(fraction: float, estimate: float) -> Report:
    if np.isnan(fraction):
        return Report(outcome=Outcome.UNPARSEABLE, reason="no score line")
    return Report(score=1 + 4 * fraction, error_probability=1 - estimate)


@pytest.mark.parametrize("seed", range(100, 107))
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_fitted_cascade_judges_recorded_reports_as_the_engine_does(
    seed: int, share: float
) -> None:
    texts = recorded(seed, texts=40)
    fitted = fit_cascade(texts, share=share)
    ended, cascade = judge(texts, fitted), panel(fitted)
    for text in range(40):
        fraction, stage = by_the_engine(cascade, texts, text)
        assert ended.stages[text] == stage
        assert ended.fractions[text] == pytest.approx(fraction)


@pytest.mark.parametrize("seed", range(200, 205))
@pytest.mark.parametrize("share", [0.05, 0.31, 0.5, 0.77, 1.0])
def test_a_fit_takes_no_more_than_its_share(seed: int, share: float) -> None:
    texts = recorded(seed, texts=60)
    ended = judge(texts, fit_cascade(texts, share=share))
    assert ended.costs.mean() <= share * texts.costs.sum() + 1e-9


def test_the_whole_share_asks_wherever_a_score_would_change() -> None:
    texts = recorded(1)
    ended = judge(texts, fit_cascade(texts, share=1.0))
    assert np.abs(ended.fractions - texts.whole).mean() < 0.01


def test_more_calls_bring_the_score_nearer_to_the_panels_on_other_texts() -> None:
    texts, folds = recorded(2, texts=400), np.arange(400) % 5
    apart = [
        float(np.abs(ended.fractions - texts.whole).mean())
        for ended in judge_held_out(texts, folds, shares=[0.1, 0.4, 0.7, 1.0])
    ]
    assert apart == sorted(apart, reverse=True)
    assert apart[0] > 2 * apart[2]


def test_scores_of_few_seats_and_of_all_are_on_one_footing() -> None:
    """A map leaves no mean difference between what is expected and what all seats say."""
    texts = recorded(3, texts=2000, noise=0.3)
    shifted = texts.fractions.copy()
    shifted[0] = np.clip(shifted[0] - 0.5, 0, 1)  # the free seat is far too strict
    strict = replace(texts, fractions=shifted)
    (ended,) = judge_held_out(strict, np.arange(2000) % 5, shares=[0.5])
    early = ended.stages == 0
    assert early.mean() > 0.05
    assert abs(float((ended.fractions - strict.whole)[early].mean())) < 0.02
    assert abs(float((shifted[0] - strict.whole)[early].mean())) > 0.1


def test_the_texts_of_a_fold_do_not_fit_their_own_cascade() -> None:
    texts, folds = recorded(4), np.arange(200) % 5
    (before,) = judge_held_out(texts, folds, shares=[0.5])
    fractions = texts.fractions.copy()
    fractions[2:, folds == 0] = (
        1 - fractions[2:, folds == 0]
    )  # only what is not asked in fold 0 changes
    (after,) = judge_held_out(replace(texts, fractions=fractions), folds, shares=[0.5])
    early = (folds == 0) & (before.stages < 2)
    assert early.any()
    assert np.array_equal(before.fractions[early], after.fractions[early])
    assert np.array_equal(before.stages[folds == 0], after.stages[folds == 0])


def test_each_share_is_fitted_as_if_it_were_alone() -> None:
    texts = recorded(6)
    shares = [0.8, 0.01, 0.3]
    together = fit_cascades(texts, shares=shares)
    assert together == [fit_cascade(texts, share=share) for share in shares]
    assert len({*together}) == 3


def test_a_seat_that_failed_is_made_up_for_by_the_others_as_in_the_engine() -> None:
    texts = recorded(7, texts=60)
    fitted, failed = fit_cascade(texts, share=0.4), texts.failed.copy()
    assert (judge(texts, fitted).stages[:30] < 2).any()
    estimates, fractions = texts.estimates.copy(), texts.fractions.copy()
    estimates[0, :30] = fractions[0, :30] = np.nan
    failed[0, :30] = True
    lacking = replace(texts, estimates=estimates, fractions=fractions, failed=failed)
    ended, cascade = judge(lacking, fitted), panel(fitted)
    assert (ended.stages[:30] == 2).all()
    for text in range(60):
        fraction, stage = by_the_engine(cascade, lacking, text)
        assert ended.stages[text] == stage
        assert ended.fractions[text] == pytest.approx(fraction)


def test_a_stage_that_never_gave_a_score_asks_on() -> None:
    texts = recorded(8, texts=40)
    estimates, fractions = texts.estimates.copy(), texts.fractions.copy()
    estimates[0] = fractions[0] = np.nan
    silent = replace(texts, estimates=estimates, fractions=fractions)
    ended = judge(silent, fit_cascade(silent, share=0.5))
    assert (ended.stages >= 1).all()
    assert np.isfinite(ended.fractions).all()


def test_a_text_without_an_estimate_goes_on() -> None:
    texts = recorded(5)
    estimates, fractions = texts.estimates.copy(), texts.fractions.copy()
    estimates[0, :7] = fractions[0, :7] = np.nan
    lacking = replace(texts, estimates=estimates, fractions=fractions)
    ended = judge(lacking, fit_cascade(lacking, share=0.4))
    assert (ended.stages[:7] >= 1).all()
    assert np.isfinite(ended.fractions).all()


def test_seats_that_all_say_the_same_need_not_all_be_asked() -> None:
    same = np.full((SEATS, 30), 0.75)
    texts = replace(recorded(1, texts=30), estimates=same, fractions=same)
    ended = judge(texts, fit_cascade(texts, share=0.9))
    assert (ended.costs == 0).all()
    assert (ended.fractions == 0.75).all()
