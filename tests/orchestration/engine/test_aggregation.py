from dataclasses import replace

import pytest
from fakes.judges import ASPECT, mark, segment
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import Outcome, PanelReport, Report, Result, SeatReport, Usage
from spanjury.orchestration.engine import aggregation
from spanjury.orchestration.engine.summary import Summary
from spanjury.orchestration.wiring.plugins import AGGREGATIONS

SCORES = st.lists(st.integers(1, 5), min_size=1, max_size=9)
EVERY = [AGGREGATIONS.get(name) for name in AGGREGATIONS.names()]
FLUENCY = replace(ASPECT, name="fluency")
TEXT = segment().output


def test_the_mean_is_not_rounded() -> None:
    assert aggregation.mean([3, 4, 4]) == pytest.approx(11 / 3)


def test_the_median_of_an_even_number_lies_between_the_middle_two() -> None:
    assert aggregation.median([1, 2, 5, 5]) == 3.5


def test_the_minimum_is_the_strictest_seat() -> None:
    assert aggregation.minimum([4, 2, 5]) == 2


@pytest.mark.parametrize(
    ("scores", "expected"), [([2, 2, 5], 2), ([2, 5], 3.5), ([1, 1, 4, 4, 5], 2.5)]
)
def test_a_tied_majority_is_the_mean_of_those_that_tie(scores: list[int], expected: float) -> None:
    assert aggregation.majority(scores) == expected


def test_among_five_seats_only_a_lone_dissenter_by_two_is_far_from_all() -> None:
    assert aggregation.far_from_all([4, 4, 4, 4, 2]) == (False, False, False, False, True)
    assert aggregation.far_from_all([4, 4, 4, 4, 3]) == (False,) * 5  # by 1: less than 1 from mean
    assert aggregation.far_from_all([4, 4, 4, 3, 1]) == (False,) * 5  # four do not agree


def test_fewer_than_five_seats_are_never_far_from_all() -> None:
    assert aggregation.far_from_all([5, 5, 5, 1]) == (False,) * 4


def test_a_seat_is_far_from_others_by_their_own_spread() -> None:
    assert aggregation.far_from_others([5, 4, 4, 1]) == (False, False, False, True)
    assert aggregation.far_from_others([1, 5]) == (False, False)


def test_means_leave_out_what_the_two_rules_call_far() -> None:
    assert aggregation.mean_without_outliers([4, 4, 4, 4, 2]) == 4
    assert aggregation.mean_without_outliers([5, 4, 4, 1]) == 3.5
    assert aggregation.mean_without_far_seats([5, 4, 4, 1]) == pytest.approx(13 / 3)


@given(SCORES)
def test_every_aggregation_stays_within_the_seats_scores(scores: list[int]) -> None:
    for aggregate in EVERY:
        assert min(scores) <= aggregate(scores) <= max(scores)


@given(SCORES, st.data())
def test_no_aggregation_minds_the_order_of_seats(scores: list[int], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(scores))
    for aggregate in EVERY:
        assert aggregate(shuffled) == pytest.approx(aggregate(scores))


@given(SCORES)
def test_the_rules_never_rule_out_everybody(scores: list[int]) -> None:
    assert not all(aggregation.far_from_all(scores))
    assert not all(aggregation.far_from_others(scores))


def result(score: float | None, *, system: str = "a", spans: int = 0) -> Result:
    report = Report(score=score) if score else Report(outcome=Outcome.TIMED_OUT, reason="slow")
    seat = SeatReport(seat="only", signature="s", report=report, seconds=0.5)
    return Result(
        segment=replace(segment(), system=system),
        aspect=ASPECT,
        report=PanelReport(
            outcome=report.outcome,
            score=score,
            reason=report.reason,
            spans=(mark(TEXT, "1935"),) * spans,
            seats=(seat,),
        ),
    )


def test_means_are_over_what_is_scored_and_coverage_over_everything() -> None:
    summary = Summary()
    for one in (result(2, spans=2), result(5), result(None), result(None)):
        summary.add(one)
    row = summary.rows["summarization", "consistency", "a"]
    assert (row.mean, row.coverage, row.spans_per_text) == (3.5, 0.5, 1.0)
    assert summary.outcomes == {Outcome.SCORED: 2, Outcome.TIMED_OUT: 2}
    assert (summary.seats, summary.reasons) == ({"only": summary.outcomes}, {"slow": 2})


def test_without_a_score_there_is_no_mean() -> None:
    summary = Summary()
    summary.add(result(None))
    row = summary.rows["summarization", "consistency", "a"]
    assert (row.mean, row.coverage, row.spans_per_text) == (None, 0.0, None)
    assert Summary().whole.coverage == 0


def test_an_aspect_is_all_its_systems_together() -> None:
    summary = Summary()
    summary.add(result(2, system="a", spans=1))
    summary.add(result(4, system="b"))
    summary.add(replace(result(5), aspect=FLUENCY))
    together = summary.by_aspect()
    assert list(together) == [("summarization", "consistency"), ("summarization", "fluency")]
    consistency = together["summarization", "consistency"]
    assert (consistency.mean, consistency.total, consistency.spans) == (3.0, 2, 1)


def test_the_usage_of_a_judge_is_summed_over_its_reports() -> None:
    spent = Usage(calls=1, prompt=10, cached=4, completion=5, reasoning=2)
    one = result(3)
    [seat] = one.report.seats
    seats = (replace(seat, report=replace(seat.report, usage=spent)), replace(seat, seat="idle"))
    summary = Summary()
    for _ in range(3):
        summary.add(replace(one, report=replace(one.report, seats=seats)))
    assert (summary.usage["only"], summary.usage["idle"]) == (spent + spent + spent, Usage())
