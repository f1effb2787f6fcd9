"""The comparison of two texts on one aspect."""

import pytest
from fakes.judges import ASPECT, segment

from spanjury.judges.core import (
    Decision,
    DecisionBasis,
    Ground,
    Outcome,
    PanelReport,
    Report,
    Result,
    SeatReport,
)
from spanjury.orchestration.services.serving.agent_tools import compared

FAILED = Report(outcome=Outcome.TIMED_OUT, reason="no reply within 120 s")


def result(*scores: float | None, decision: Decision | None = None) -> Result:
    seats = tuple(
        SeatReport(
            seat=f"judge {number}",
            signature="",
            report=FAILED if score is None else Report(score=score),
            seconds=0.0,
        )
        for number, score in enumerate(scores)
    )
    given = [score for score in scores if score is not None]
    basis = DecisionBasis(ground=Ground.SCORE, reason="so it is") if decision else None
    report = (
        PanelReport(score=sum(given) / len(given), seats=seats, decision=decision, basis=basis)
        if given
        else PanelReport(outcome=FAILED.outcome, reason=FAILED.reason, seats=seats)
    )
    return Result(segment=segment(), aspect=ASPECT, report=report)


@pytest.mark.parametrize(
    ("a", "b", "better", "difference"),
    [
        ((4.0,), (3.0,), "a", 1.0),
        ((3.0,), (4.0,), "b", -1.0),
        ((3.5,), (3.0,), "a", 0.5),
        ((3.4,), (3.0,), "no difference", 0.4),
        ((5.0, 4.0), (3.0, 3.0), "a", 1.5),
        ((5.0, 3.0), (3.0, 4.0), "no difference", 0.5),  # each judge prefers another
        ((5.0, 5.0, 3.0), (3.0, 3.0, 4.0), "a", 1.0),  # two of three
    ],
)
def test_the_text_that_the_judges_put_half_a_step_higher_is_better(
    a: tuple[float, ...], b: tuple[float, ...], better: str, difference: float
) -> None:
    comparison = compared(result(*a), result(*b))
    assert comparison.difference == pytest.approx(difference)
    assert comparison.better == better


def test_only_judges_that_scored_both_texts_are_compared() -> None:
    # Their means are 3.0 and 2.0; the one judge of both finds them equal.
    comparison = compared(result(2.0, 4.0), result(2.0, None))
    assert (comparison.better, comparison.difference) == ("no difference", 0.0)


def test_without_a_judge_of_both_texts_nothing_is_compared() -> None:
    comparison = compared(result(5.0, None), result(None, 1.0))
    assert comparison.better == "unscored"
    assert comparison.difference is None


def test_a_text_that_was_not_scored_is_not_worse() -> None:
    comparison = compared(result(4.0), result(None))
    assert comparison.better == "unscored"
    assert "no reply within 120 s" in comparison.reason


def test_a_better_decision_counts_where_the_scores_are_near() -> None:
    ok, unsure = (
        result(score, decision=decision)
        for score, decision in ((3.3, Decision.OK), (3.1, Decision.UNSURE))
    )
    comparison = compared(ok, unsure)
    assert comparison.better == "a"
    assert comparison.reason == "it is ok, the other unsure; 1 of 1 judges prefer it"
    assert compared(unsure, ok).better == "b"


def test_a_better_decision_against_the_score_decides_nothing() -> None:
    ok, unsure = (
        result(score, decision=decision)
        for score, decision in ((3.1, Decision.OK), (3.3, Decision.UNSURE))
    )
    assert compared(ok, unsure).better == "no difference"
