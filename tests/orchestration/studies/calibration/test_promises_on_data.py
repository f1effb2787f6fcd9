"""The promise of a threshold on summaries that people judged, by four models' recorded scores."""

import gzip
import json
import math
from pathlib import Path
from statistics import fmean

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

pytestmark = pytest.mark.shared_data
SPLITS, MARKED = 1000, 120


@pytest.fixture(scope="module")
def qags(shared_data: Path) -> CalibrationTexts:
    """Read the summaries of QAGS with the mean of the scores that four models gave."""
    with gzip.open(shared_data / "judgements" / "qags_four_judges.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    texts = (
        TextOnAspect(
            source=row["id"],
            score=fmean(score for score in row["scores"].values() if score is not None),
            is_clean=row["human"] == 1,
            scored=frozenset({"four"}),
        )
        for row in rows
    )
    return CalibrationTexts(aspect=ASPECT, texts=tuple(texts), made_on="QAGS")


@pytest.mark.parametrize("rate", [0.1, 0.2])
def test_false_alarms_stay_at_the_rate_over_a_thousand_splits(
    qags: CalibrationTexts, rate: float
) -> None:
    assert (len(qags.texts), int(qags.clean.sum())) == (474, 229)
    rng = default_rng(1)
    shares = np.empty(SPLITS)
    for split in range(SPLITS):
        inside = np.zeros(len(qags.texts), dtype=np.bool_)
        inside[rng.permutation(inside.size)[:MARKED]] = True
        thresholds = fit_thresholds(qags.part(inside), Terms(rate=rate))
        assert thresholds is not None
        new = qags.part(~inside & qags.clean)
        shares[split] = alarms(new.suspicions(), thresholds)[0].mean()
    error = shares.std() / math.sqrt(SPLITS)
    assert shares.mean() - 2 * error <= rate
    assert shares.mean() > rate / 2  # a mean of four labels has ties, which raise fewer alarms
