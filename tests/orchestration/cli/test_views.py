"""The views that a person reads: segments, and the closing table."""

from dataclasses import replace

from fakes.judges import ASPECT, mark, segment
from rich.console import Console, RenderableType

from spanjury.judges.core import (
    ErrorSpan,
    Outcome,
    PanelReport,
    Report,
    Result,
    SeatReport,
    Usage,
)
from spanjury.orchestration.cli.segment_view import segment_view
from spanjury.orchestration.cli.summary_view import summary_view
from spanjury.orchestration.engine.summary import Summary

FLUENCY = replace(ASPECT, name="fluency")
TEXT = segment().output
GOOD = Report(score=4)
SLOW = Report(outcome=Outcome.TIMED_OUT, reason="no reply\nwithin 5 s")
IDLE = Report(outcome=Outcome.ABSTAINED, reason="not my aspect")


def result(score: float | None, *seats: Report, system: str = "", **fields: object) -> Result:
    report = PanelReport(
        outcome=Outcome.SCORED if score else Outcome.TIMED_OUT,
        score=score,
        reason="" if score else "slow: no reply",
        seats=tuple(
            SeatReport(seat=f"seat{i}", signature="s", report=seat, seconds=1)
            for i, seat in enumerate(seats)
        ),
        **fields,  # type: ignore[arg-type]  # the fields of each test
    )
    return Result(segment=replace(segment(), system=system), aspect=ASPECT, report=report)


def shown(view: RenderableType) -> str:
    console = Console(width=100, force_terminal=False)
    with console.capture() as capture:
        console.print(view)
    return " ".join(capture.get().split())


def test_spans_are_numbered_through_all_aspects_of_a_text() -> None:
    year = replace(mark(TEXT, "1935", "It was 1932.", 4), category="date", found_by=("a", "b"))
    bridge = replace(mark(TEXT, "bridge", "Dull.", None), found_by=("c",))
    second = replace(result(3.5, GOOD, spans=(bridge,)), aspect=FLUENCY)
    view = shown(segment_view([result(2.25, GOOD, spans=(year,)), second]))
    assert "The [bridge](2) opened in [1935](1)." in view
    assert "consistency: 2.25 of 5, Poor (1) severity 4, date [a, b] It was 1932." in view
    assert "fluency: 3.50 of 5, Good (2) severity not given [c] Dull." in view


def test_what_has_no_place_says_so() -> None:
    made_up = ErrorSpan(text="a purple cow", explanation="no cow", severity=1, found_by=("a",))
    missing = replace(made_up, text="", explanation="The length is missing.")
    view = shown(segment_view([result(3, GOOD, spans=(made_up, missing))]))
    assert "not in the text: 'a purple cow' [a] no cow" in view
    assert "no place [a] The length is missing." in view


def test_a_seat_that_failed_is_named_beside_the_score() -> None:
    view = shown(segment_view([result(4, GOOD, SLOW, IDLE, system="bart")]))
    assert "consistency: 4.00 of 5, Good; no error found" in view
    assert "seat1: timed_out (no reply within 5 s)" in view
    assert "seat2" not in view
    assert "bart" in view


def test_no_score_is_an_outcome_with_its_reason() -> None:
    view = shown(segment_view([result(None, SLOW)]))
    assert "consistency: timed_out (slow: no reply)" in view


def test_an_empty_text_is_shown_as_empty() -> None:
    empty = replace(result(1, GOOD), segment=segment(output=""))
    assert "(empty)" in shown(segment_view([empty]))


def summed(*results: Result) -> str:
    summary = Summary()
    for one in results:
        summary.add(one)
    return shown(summary_view(summary))


def test_the_table_shows_means_with_their_coverage_and_the_failures() -> None:
    view = summed(result(4, GOOD, IDLE), result(None, SLOW, IDLE), result(3, GOOD, SLOW))
    assert "consistency │ 3.50 │ 67% (2/3) │ 0.00 │ 6.00" in view
    assert "system" not in view
    assert "1 of 3 without a score: 1 timed_out 1 x slow: no reply" in view
    assert "seat seat0: 1 timed_out of 3" in view
    assert "seat seat1: 1 timed_out of 3" in view


def test_the_table_has_a_row_for_each_system_where_there_are_several() -> None:
    one, other = result(4, GOOD, system="a"), result(2, GOOD, system="b")
    assert "consistency │ a │ 4.00" in summed(one)
    view = summed(one, other)
    assert "consistency │ all │ 3.00 │ 100% (2/2)" in view
    assert "│ a │ 4.00 │" in view
    assert "│ b │ 2.00 │" in view


def test_the_table_has_a_row_for_each_task_where_there_are_several() -> None:
    task = replace(ASPECT.task, name="story")
    view = summed(result(4, GOOD), replace(result(2, GOOD), aspect=replace(ASPECT, task=task)))
    assert "summarization: consistency" in view
    assert "story: consistency" in view


def test_the_table_shows_what_the_judges_took_if_they_asked_a_model() -> None:
    spent = Usage(calls=600, prompt=10_000, cached=4_000, completion=500, reasoning=20)
    view = summed(*[result(4, replace(GOOD, usage=spent), GOOD)] * 2)
    assert "what was remembered: what it cost then" in view
    assert "seat0 │ 1,200 │ 20,000 │ 8,000 │ 1,000 │ 40" in view
    assert "seat1 │" not in view
    assert "What the judges took" not in summed(result(4, GOOD))
