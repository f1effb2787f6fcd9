"""The promise of a threshold on the scores of a cascade, over simulated texts."""

import math
from dataclasses import replace

import numpy as np
import pytest
from fakes.judges import ASPECT
from numpy.random import default_rng

from spanjury.orchestration.studies.calibration.findings import alarms
from spanjury.orchestration.studies.calibration.fitting import (
    CalibrationTexts,
    Terms,
    TextOnAspect,
    fit_thresholds,
)
from spanjury.orchestration.studies.panel_study.cascades import StagedTexts, fit_cascade, judge
from spanjury.stats.arrays import FloatArray

TEXTS, SPLITS, RATE = 360, 75, 0.1
FIT, MARKED = 120, 240
SEATS = ("free", "dear", "dearer")


def simulated(seed: int) -> tuple[StagedTexts, FloatArray]:
    """Return what a free seat and two better ones say, and the quality that they err about."""
    rng = default_rng(seed)
    quality = rng.uniform(size=TEXTS)
    seen = quality + rng.normal(scale=[[0.4], [0.15], [0.15]], size=(len(SEATS), TEXTS))
    fractions = np.clip(seen, 0.0, 1.0)
    stages = ((0,), (1,), (2,))
    failed = np.isnan(fractions)
    texts = StagedTexts(
        stages=stages, estimates=fractions, fractions=fractions, failed=failed, costs=np.arange(3.0)
    )
    return texts, quality


def scored(fractions: FloatArray, quality: FloatArray) -> CalibrationTexts:
    texts = (
        TextOnAspect(
            source=str(number),
            score=1.0 + 4.0 * float(place),
            is_clean=bool(quality[number] > 0.5),
            scored=frozenset(SEATS),
        )
        for number, place in enumerate(fractions)
    )
    return CalibrationTexts(aspect=ASPECT, texts=tuple(texts), made_on="simulated texts")


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_a_calibrated_cascade_raises_no_more_false_alarms_than_promised(share: float) -> None:
    marked, new = (np.zeros(TEXTS, dtype=np.bool_) for _ in range(2))
    marked[FIT:MARKED], new[MARKED:] = True, True
    shares = np.empty(SPLITS)
    for split in range(SPLITS):
        texts, quality = simulated(split)
        ended = judge(texts, fit_cascade(texts.of(np.arange(FIT)), share=share))
        assert len(np.unique(ended.stages)) > 1  # some texts were judged by fewer seats
        people = scored(ended.fractions, quality)
        thresholds = fit_thresholds(people.part(marked), Terms(rate=RATE))
        assert thresholds is not None
        shares[split] = alarms(people.part(new & people.clean).suspicions(), thresholds)[0].mean()
    error = shares.std() / math.sqrt(SPLITS)
    assert shares.mean() == pytest.approx(RATE, abs=3 * error + 1 / 60)  # a sixtieth: one text
    assert shares.mean() - 3 * error <= RATE


def test_no_threshold_is_for_a_score_of_fewer_seats_than_usual() -> None:
    texts, quality = simulated(1)
    people = scored(texts.whole, quality)
    fewer = tuple(
        replace(one, scored=frozenset(SEATS[:1]) if number < 9 else one.scored)
        for number, one in enumerate(people.texts)
    )
    values = replace(people, texts=fewer).suspicions().values
    assert np.flatnonzero(np.isnan(values)).tolist() == list(range(9))
