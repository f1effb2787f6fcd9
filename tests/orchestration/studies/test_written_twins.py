"""Written twins: shares that hands add up, and intervals over sources."""

import math

import numpy as np
import pytest

from spanjury.judges.core import Segment
from spanjury.orchestration.studies.discernment.score_arrays import ScoreArrays
from spanjury.orchestration.studies.discernment.written_twins import WrittenTwins, written_twins
from spanjury.perturbations.pairs import Condition
from spanjury.perturbations.text.mismatch import written_twin, wrong_ending

NAN = math.nan


def twins_of(
    clean: list[float], damaged: list[float], *, rule: object = written_twin
) -> WrittenTwins | None:
    """Compare scores on consistency of texts of which two share a source."""
    segments = [
        Segment(segment_id=str(n), output="x", inputs={"Article": f"source {n // 2}"})
        for n in range(len(clean))
    ]
    values = np.array([[clean, [5.0] * len(clean)]])
    wrong = np.array([[damaged, [1.0] * len(clean)]])
    scores = ScoreArrays(
        segments=tuple(one.segment_id for one in segments),
        aspects=("consistency", "fluency"),
        conditions=("negation",),
        clean=values[0],
        control=values[0],
        damaged=wrong,
        applied=np.ones((1, len(clean)), dtype=bool),
        repeats=1,
    )
    condition = Condition(name="negation", perturbation=rule, level="word")  # type: ignore[arg-type]
    return written_twins(scores, segments, [condition], seed=1, draws=200)


def test_twins_are_counted_on_what_they_harm_alone() -> None:
    # At most one of ten right texts may be flagged: below 5 lie one of these and six wrong ones.
    clean = [5.0] * 9 + [3.0]
    damaged = [4.0] * 6 + [5.0] * 3 + [4.0]
    found = twins_of(clean, damaged)
    assert found is not None
    assert (found.pairs, found.sources, found.kinds) == (10, 5, ("negation",))
    assert found.aspects == ("consistency",)
    assert found.false_alarms == 0.1
    assert found.caught.value == pytest.approx(0.7)
    assert found.in_order.value == pytest.approx((6 + 1.5 + 0) / 10)
    assert found.in_order.low < found.in_order.value < found.in_order.high


def test_a_constant_judge_catches_none_and_orders_by_chance() -> None:
    found = twins_of([4.0] * 6, [4.0] * 6)
    assert found is not None
    assert (found.caught.value, found.false_alarms, found.in_order.value) == (0, 0, 0.5)


def test_pairs_without_both_scores_and_other_damage_are_no_twins() -> None:
    found = twins_of([5.0, NAN, 5.0, 5.0], [4.0, 4.0, NAN, 4.0])
    assert found is not None
    assert found.pairs == 2
    assert twins_of([NAN], [4.0]) is None
    assert twins_of([5.0], [4.0], rule=wrong_ending) is None
