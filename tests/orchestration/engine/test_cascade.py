"""A cascade asks on only where the reports so far do not suffice; its rules are pure functions."""

from collections.abc import Sequence
from itertools import product
from statistics import fmean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ConfigError, Outcome, Report, Scale, StopReason
from spanjury.orchestration.engine.aggregation import majority, mean_without_outliers
from spanjury.orchestration.engine.cascade import (
    MONOTONE,
    Cascade,
    Stage,
    Stop,
    expected_score,
    joint_estimate,
    score_bounds,
    stop_after,
)
from spanjury.orchestration.engine.score_map import ScoreMap

SCALE = Scale()
FIVE = st.integers(1, 5)
UNIT = st.floats(0, 1)


def cascade(*, cutoff: float | None = None, **first: object) -> Cascade:
    stage = Stage(seats=("a", "b"), **first)  # type: ignore[arg-type]  # a test names what it sets
    return Cascade(stages=(stage, Stage(seats=("c",)), Stage(seats=("d",))), cutoff=cutoff)


def said(*scores: float) -> list[Report]:
    return [Report(score=score) for score in scores]


def stop(asked: Cascade, reports: Sequence[Report], number: int = 0) -> Stop | None:
    return stop_after(asked, number, reports, scale=SCALE, aggregation=fmean)


def test_an_estimate_is_the_mean_of_chances_of_no_error_and_places_on_the_scale() -> None:
    reports = [Report(score=1, error_probability=0.2), Report(score=4)]
    assert joint_estimate(reports, SCALE) == pytest.approx((0.8 + 0.75) / 2)
    silent = Report(outcome=Outcome.ABSTAINED, reason="nothing to say")
    assert joint_estimate([*reports, silent], SCALE) == joint_estimate(reports, SCALE)
    assert joint_estimate([silent], SCALE) is None


@pytest.mark.parametrize(
    ("scores", "ends"), [((5, 5), True), ((5, 4), False), ((2, 1), True), ((1, 5), False)]
)
def test_a_stage_is_sure_outside_of_its_interval(scores: Sequence[int], *, ends: bool) -> None:
    stopped = stop(cascade(unsure=(0.2, 0.9)), said(*scores))
    assert (stopped is not None) == ends
    if stopped:
        assert stopped.why is StopReason.SURE
        assert "The estimate is" in stopped.reason


def test_both_ends_of_the_interval_are_unsure() -> None:
    assert stop(cascade(unsure=(0.0, 0.5)), said(3, 3)) is None
    assert stop(cascade(unsure=(0.5, 1.0)), said(3, 3)) is None


def test_scores_that_differ_by_the_disagreement_are_not_enough() -> None:
    asked = cascade(disagreement=1.0)
    assert stop(asked, said(4, 3)) is None
    agreed = stop(asked, said(4, 4))
    assert agreed is not None
    assert agreed.reason == "The scores differ by 0.00, less than 1."
    assert stop(asked, said(4)[:1]) is None, "one seat agrees with no one"


def test_disagreement_overrules_a_sure_estimate() -> None:
    asked = cascade(unsure=(0.2, 0.4), disagreement=2.0)
    assert stop(asked, said(5, 3)) is None
    assert stop(asked, said(5, 4)) is not None


@pytest.mark.parametrize("outcome", [Outcome.BACKEND_FAILED, Outcome.UNPARSEABLE, Outcome.REFUSED])
def test_a_failed_seat_is_made_up_for_by_the_others(outcome: Outcome) -> None:
    failed = Report(outcome=outcome, reason="no")
    assert stop(cascade(unsure=(0.2, 0.4)), [*said(5), failed]) is None


def test_a_seat_that_abstains_does_not_keep_the_others_from_being_sure() -> None:
    silent = Report(outcome=Outcome.ABSTAINED, reason="no input")
    assert stop(cascade(unsure=(0.2, 0.4)), [*said(5), silent]) is not None
    assert stop(cascade(unsure=(0.2, 0.4)), [silent, silent]) is None


def test_a_cutoff_ends_where_the_others_cannot_change_the_side() -> None:
    asked = cascade(cutoff=3.0)
    assert stop(asked, said(5, 5)) == Stop(
        why=StopReason.SETTLED,
        reason="The score is 3.00 or more whatever the others say, and the cutoff 3 decides.",
    )
    assert stop(asked, said(5, 4)) is None  # (5 + 4 + 1 + 1) / 4 = 2.75
    assert stop(asked, said(5, 4, 2), number=1) is not None  # 12 / 4 = 3
    assert stop(asked, said(1, 1, 4), number=1) is not None  # at most 11 / 4 = 2.75


@given(st.lists(FIVE, min_size=1, max_size=4), st.lists(FIVE, max_size=3), st.integers(0, 3))
def test_no_answer_leaves_the_bounds(given: list[int], others: list[int], silent: int) -> None:
    """Also where some of the missing seats give no score at all."""
    for aggregation in (fmean, median, min):
        low, high = score_bounds(
            given, len(others) + silent, scale=SCALE, aggregation=lambda s, a=aggregation: a(s)
        )
        assert low - 1e-9 <= aggregation([*given, *others]) <= high + 1e-9


def test_only_aggregations_with_bounds_are_called_monotone() -> None:
    """A score that rises must never lower the panel's: true of these three, and not of others."""
    assert {"mean", "median", "minimum"} == MONOTONE
    assert majority([1, 4, 5]) < majority([1, 4, 4])
    low, high = score_bounds([1, 1, 1, 1], 1, scale=SCALE, aggregation=mean_without_outliers)
    assert not low <= mean_without_outliers([1, 1, 1, 1, 2]) <= high


@given(st.lists(FIVE, min_size=2, max_size=2), st.floats(1, 5))
def test_a_settled_side_is_the_side_of_the_whole_panel(given: list[int], cutoff: float) -> None:
    stopped = stop(cascade(cutoff=cutoff), said(*given))
    sides = {fmean([*given, c, d]) >= cutoff for c, d in product(range(1, 6), repeat=2)}
    assert (stopped is not None) == (len(sides) == 1)


MAPS = st.integers(1, 6).flatmap(
    lambda size: st.builds(
        lambda knots, scores: ScoreMap(knots=tuple(sorted(knots)), values=tuple(sorted(scores))),
        st.sets(UNIT, min_size=size, max_size=size),
        st.lists(UNIT, min_size=size, max_size=size),
    )
)


@given(MAPS, UNIT, UNIT)
def test_a_score_map_never_falls_and_stays_on_the_scale(
    score_map: ScoreMap, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    assert 0.0 <= score_map.at(low) <= score_map.at(high) <= 1.0


@given(MAPS)
def test_a_score_map_passes_through_its_knots(score_map: ScoreMap) -> None:
    for estimate, score in zip(score_map.knots, score_map.values, strict=True):
        assert score_map.at(estimate) == pytest.approx(score)


@given(MAPS, st.lists(FIVE, min_size=2, max_size=2))
def test_an_expected_score_is_possible_for_the_panel(score_map: ScoreMap, given: list[int]) -> None:
    stage = Stage(seats=("a", "b"), score_map=score_map)
    score = expected_score(stage, said(*given), 2, scale=SCALE, aggregation=fmean)
    assert score is not None
    assert fmean([*given, 1, 1]) <= score <= fmean([*given, 5, 5])


def test_an_expected_score_is_on_the_aspects_own_scale() -> None:
    stage = Stage(seats=("a",), score_map=ScoreMap(knots=(0.0, 1.0), values=(0.5, 1.0)))
    scale = Scale(labels=("no", "partly", "yes"))
    # Half of the way from 1 to 3 is 2, and the mean of one 1 and three 2 is 1.75.
    assert expected_score(stage, said(1), 3, scale=scale, aggregation=fmean) == 1.75
    assert expected_score(stage, said(1), 3, scale=scale, aggregation=min) == 1.0
    assert expected_score(Stage(seats=("a",)), said(1), 3, scale=scale, aggregation=fmean) is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cascade(stages=(Stage(seats=("a",)),)), "two stages or more"),
        (lambda: Cascade(stages=(Stage(seats=("a",)), Stage(seats=("a",)))), "names a twice"),
        (lambda: Stage(seats=()), "needs a seat"),
        (lambda: Stage(seats=("a",), unsure=(0.8, 0.2)), "two numbers from 0 to 1"),
        (lambda: Stage(seats=("a",), unsure=(0.2, 1.5)), "two numbers from 0 to 1"),
        (lambda: Stage(seats=("a",), disagreement=0.0), "over 0 points"),
        (lambda: Stage(seats=("a",), score_map=ScoreMap(knots=(2.0,), values=(0.5,))), "0 to 1"),
        (lambda: Stage(seats=("a",), score_map=ScoreMap(knots=(0.5,), values=(3.0,))), "0 to 1"),
        (lambda: cascade().require_seats(["a", "b", "c"]), "asks d, which is not a seat"),
        (lambda: cascade().require_seats(["a", "b", "c", "d", "e"]), "no stage for e"),
    ],
)
def test_an_invalid_cascade_is_refused_in_one_sentence(make: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()  # type: ignore[operator]  # each is a function of nothing


@pytest.mark.parametrize(
    "other", [cascade(unsure=(0.2, 0.8)), cascade(disagreement=1.0), cascade(cutoff=3.0)]
)
def test_every_number_is_in_the_signature(other: Cascade) -> None:
    assert other.signature != cascade().signature
