from dataclasses import replace

from fakes.judges import ASPECT, mark, segment

from spanjury.judges.core import Outcome, PanelReport, Report, Result, SeatReport, Usage
from spanjury.orchestration.engine.summary import Summary

FLUENCY = replace(ASPECT, name="fluency")
TEXT = segment().output


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
