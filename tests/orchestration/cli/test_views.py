"""The views that a person reads: segments, and the closing table."""

from dataclasses import replace
from typing import Any

import pytest
from fakes.judges import ASPECT, mark, segment
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from spanjury.judges.core import (
    Decision,
    DecisionBasis,
    ErrorSpan,
    Evidence,
    Ground,
    Outcome,
    PanelReport,
    Report,
    Result,
    SeatReport,
    Unverified,
    Usage,
    not_about,
)
from spanjury.orchestration.cli.run_view import View, summary_view
from spanjury.orchestration.cli.segment_view import segment_view
from spanjury.orchestration.cli.shown import Shown
from spanjury.orchestration.engine.metering import Meter
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


def printed(view: RenderableType, *, width: int = 100) -> str:
    console = Console(width=width, force_terminal=False)
    with console.capture() as capture:
        console.print(view)
    return capture.get()


def shown(view: RenderableType) -> str:
    return " ".join(printed(view).split())


def basis(alarms: float | None = None) -> DecisionBasis:
    if alarms is None:
        return DecisionBasis(ground=Ground.SPANS, reason="An error is marked.")
    return DecisionBasis(
        ground=Ground.PROBABILITY,
        reason="The probability of an error is 0.90, and a text is faulty from 0.80 on.",
        threshold=0.8,
        false_alarms=alarms,
        measured_on="160 correct texts from made-up summaries",
    )


FAULTY: dict[str, Any] = {
    "decision": Decision.FAULTY,
    "basis": basis(0.05),
    "error_probability": 0.9,
}
UNSURE: dict[str, Any] = {"decision": Decision.UNSURE, "basis": basis(0.15)}
CANNOT_TELL: dict[str, Any] = {**UNSURE, "error_probability": 0.52}
OK: dict[str, Any] = {"decision": Decision.OK, "basis": basis()}
VOUCHED = DecisionBasis(
    ground=Ground.PROBABILITY,
    reason="The probability of an error is 0.10, below 0.30.",
    threshold=0.3,
    misses=0.08,
    spread=(0.03, 0.154),
    measured_on="90 wrong texts from made-up summaries",
)


def test_spans_are_numbered_through_all_aspects_of_a_text() -> None:
    year = replace(mark(TEXT, "1935", "It was 1932.", 4), category="date", found_by=("a", "b"))
    bridge = replace(mark(TEXT, "bridge", "Dull.", None), found_by=("c",))
    second = replace(result(3.5, GOOD, spans=(bridge,)), aspect=FLUENCY)
    view = shown(segment_view([result(2.25, GOOD, spans=(year,)), second]))
    assert "The [bridge](2) opened in [1935](1)." in view
    assert "consistency: 2.25 of 5, Poor (1) severity 4, date [a, b] It was 1932." in view
    assert "fluency: 3.50 of 5, Good (2) severity not given [c] Dull." in view


def test_unlocated_spans_say_so() -> None:
    made_up = ErrorSpan(text="a purple cow", explanation="no cow", severity=1, found_by=("a",))
    missing = replace(made_up, text="", explanation="The length is missing.")
    unmet = replace(missing, explanation="A criterion.", found_by=())
    view = shown(segment_view([result(3, GOOD, spans=(made_up, missing, unmet))]))
    assert "no place A criterion." in view
    assert "not in the text: 'a purple cow' [a] no cow" in view
    assert "no place [a] The length is missing." in view


def test_a_seat_that_failed_is_named_beside_the_score() -> None:
    view = shown(segment_view([result(4, GOOD, SLOW, IDLE, system="bart")]))
    assert "consistency: 4.00 of 5, Good; no error marked" in view
    assert "seat1: timed_out (no reply within 5 s)" in view
    assert "seat2" not in view
    assert "bart" in view


def test_a_decision_comes_first_and_evidence_stands_below_its_span() -> None:
    place = Evidence(input="Article", start=13, end=17, text="1932")
    year = replace(
        mark(TEXT, "1935", "It was 1932.", 4), found_by=("a",), evidence=(place,), probability=0.9
    )
    view = printed(segment_view([result(2.25, GOOD, spans=(year,), **FAULTY)]), width=80)
    assert view.splitlines()[2:5] == [
        "  consistency: faulty; 2.25 of 5, Poor".ljust(80),
        "    (1) severity 4, probability 0.90 [a] It was 1932.".ljust(80),
        "        Article: '1932'".ljust(80),
    ]


def test_long_evidence_and_many_places_stay_on_a_line() -> None:
    places = [
        Evidence(input="Article", start=n, end=n + 200, text=f"{'x' * 197} to") for n in range(4)
    ]
    span = replace(mark(TEXT, "1935"), evidence=tuple(places))
    view = printed(segment_view([result(2, GOOD, spans=(span,))]), width=300)
    (line,) = (line.rstrip() for line in view.splitlines() if "Article:" in line)
    assert line.count("Article:") == 2
    assert line.endswith("xxx to'; and 2 more")
    assert len(line) < 180


@pytest.mark.parametrize(
    ("score", "fields", "line"),
    [
        (5, OK, "consistency: ok; 5.00 of 5, Excellent; no error found"),
        (4.5, OK, "consistency: ok; 4.50 of 5, Excellent; no error found"),
        (3.41, OK, "consistency: ok; 3.41 of 5, Fair; no error marked"),
        (3.41, UNSURE, "consistency: unsure; 3.41 of 5, Fair; no place could be marked"),
        (3.41, FAULTY, "consistency: faulty; 3.41 of 5, Fair; no place could be marked"),
        (5, FAULTY, "consistency: faulty; 5.00 of 5; no place could be marked"),
        (2.92, CANNOT_TELL, "consistency: unsure; cannot tell: P(error) 0.52; 2.92 of 5"),
        (4.6, {**OK, "error_probability": 0.4}, "consistency: ok; 4.60 of 5; no error marked"),
    ],
)
def test_without_a_marked_place_the_line_does_not_contradict_itself(
    score: float, fields: dict[str, Any], line: str
) -> None:
    view = printed(segment_view([result(score, GOOD, **fields)]), width=80)
    assert f"  {line}".ljust(80) in view.splitlines()


def test_an_unsure_text_names_the_sentences_that_are_not_verified() -> None:
    sentences = tuple(
        Unverified(
            start=start,
            end=end,
            text=TEXT[start:end],
            probability=0.52,
            reason="2 of its 3 content words do not occur in the source.",
            words=words,
        )
        for start, end, words in ((0, 10, ("old", "bridge")), (11, 17, ()))
    )
    unsure = result(2.92, GOOD, unverified=sentences, **CANNOT_TELL)
    view = shown(segment_view([unsure]))
    reason = "P(error) 0.52. 2 of its 3 content words do not occur in the source"
    assert f"not verified: {TEXT[:10]!r} {reason}: old, bridge" in view
    assert f"not verified: {TEXT[11:17]!r} {reason}" in view
    many = result(2.92, GOOD, unverified=sentences * 3, **CANNOT_TELL)
    assert "not verified: 2 more sentences" in shown(segment_view([many]))
    fine = result(4.5, GOOD, unverified=sentences, **OK)
    assert "not verified" not in shown(segment_view([fine]))


FOREIGN = Report(outcome=Outcome.ABSTAINED, reason="the output is French")
OTHER_KIND = not_about(ASPECT, "the form")


def test_an_unsure_text_names_the_judges_that_could_not_judge_it_and_what_is_left() -> None:
    unsure = result(2.92, GOOD, FOREIGN, OTHER_KIND, rationale="Few known\nwords.", **CANNOT_TELL)
    lines = printed(segment_view([unsure])).splitlines()
    assert [line.strip() for line in lines[-3:]] == [
        "not judged by seat1: the output is French",
        "rests on: Few known words.",
        "",
    ]
    fine = shown(segment_view([result(4.5, GOOD, FOREIGN, rationale="All known.", **OK)]))
    assert "not judged" not in fine
    assert "rests on" not in fine


@given(st.floats(1, 5), st.sampled_from([{}, OK, UNSURE, FAULTY]), st.booleans())
def test_no_error_is_reported_only_if_all_agree(
    score: float, fields: dict[str, Any], marked: bool
) -> None:
    spans = (replace(mark(TEXT, "1935"), found_by=("a",)),) * marked
    view = shown(segment_view([result(score, GOOD, spans=spans, **fields)]))
    all_agrees = not marked and "Excellent" in view and fields in ({}, OK)
    assert ("no error found" in view) == all_agrees


def test_an_error_without_a_place_is_still_an_error() -> None:
    missing = ErrorSpan(text="", explanation="No end.", severity=3, found_by=("a",))
    view = shown(segment_view([result(4, GOOD, spans=(missing,), **UNSURE)]))
    assert "consistency: unsure; 4.00 of 5, Good; no place could be marked" in view
    assert "no error" not in view


def test_no_score_is_an_outcome_with_its_reason() -> None:
    assert "consistency: timed_out (slow: no reply)" in shown(segment_view([result(None, SLOW)]))


def test_an_empty_text_is_shown_as_empty() -> None:
    empty = replace(result(1, GOOD), segment=segment(output=""))
    assert "(empty)" in shown(segment_view([empty]))


def summed(*results: Result) -> str:
    summary = Summary()
    for one in results:
        summary.add(one)
    unsure = sum(one.report.decision is Decision.UNSURE for one in results)
    return shown(summary_view(summary, unsure=unsure))


def test_the_table_shows_means_with_their_coverage_and_the_failures() -> None:
    view = summed(result(4, GOOD, IDLE), result(None, SLOW, IDLE), result(3, GOOD, SLOW))
    assert "consistency │ - │ - │ 3.50 │ 67% (2/3) │ 0.00 │" in view
    assert "system" not in view
    assert "shares of all texts" not in view
    assert "1 of 3 assessments have no score: 1 timed_out 1 x slow: no reply" in view
    assert "seat seat0: 1 timed_out of 3" in view
    assert "seat seat1: 1 timed_out of 3" in view


def test_the_end_of_a_run_counts_the_texts_that_the_agent_did_not_consolidate() -> None:
    by_rules = result(4, GOOD, consolidator="rules (agent: unparseable)")
    view = summed(by_rules, by_rules, result(4, GOOD, consolidator="agent"))
    assert "2 of 3 results: spans merged by rules (agent: unparseable)" in view
    assert "merged" not in summed(result(4, GOOD, consolidator="rules"))


def test_the_table_has_a_row_for_each_system_where_there_are_several() -> None:
    one, other = result(4, GOOD, system="a"), result(2, GOOD, system="b")
    assert "consistency │ a │ - │ - │ 4.00" in summed(one)
    view = summed(one, other)
    assert "consistency │ all │ - │ - │ 3.00 │ 100% (2/2)" in view
    assert "│ a │ - │ - │ 4.00 │" in view
    assert "│ b │ - │ - │ 2.00 │" in view


def test_the_table_shows_the_shares_of_the_decisions_and_their_false_alarms() -> None:
    view = summed(
        result(2, GOOD, **FAULTY),
        result(4, GOOD, **UNSURE),
        result(3, GOOD, **{**UNSURE, "basis": basis()}),
        result(5, GOOD, **OK),
        result(None, SLOW),
    )
    assert "consistency │ 20% / 40% │ 40% │ 3.50 │ 80% (4/5)" in view
    assert "Decisions: shares of all texts, scored or not" in view
    basis_of = "Basis: 160 correct texts from made-up summaries."
    called = "of correct texts are called"
    rates = f"5% {called} faulty, 15% {called} unsure or faulty."
    assert f"{rates} {basis_of}" in view
    reason = "because it was not measured for these judges or this language."
    unknown = "The false-alarm rate is unknown on consistency"
    assert f"{unknown} (1 of 3 faulty or unsure results), {reason}" in view
    assert f"The miss rate is unknown on consistency, {reason}" in view
    assert "2 texts are unsure: add --model NAME or another judge to decide." in view
    alone = summed(result(3, GOOD, **{**UNSURE, "basis": basis()}))
    assert f"{unknown}, {reason}" in alone
    assert "False" not in summed(result(5, GOOD, **OK))


@pytest.mark.parametrize("as_json", [False, True])
def test_a_text_is_unsure_once_and_only_if_no_aspect_is_faulty(
    as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    def viewed(shown: list[Result]) -> str:
        view = View(
            total=9, as_json=as_json, shown=Shown(kind="none"), progress=False, meter=Meter()
        )
        with view:
            for one in shown:
                view.show(one)
        view.close()
        return "".join(capsys.readouterr())

    first, second, third = (replace(segment(), segment_id=name) for name in "abc")
    by_text = [
        (first, (UNSURE, UNSURE, OK)),
        (second, (UNSURE, FAULTY, UNSURE)),
        (third, (OK, UNSURE)),
    ]
    results = [
        replace(result(3, GOOD, **fields), segment=text)
        for text, decisions in by_text
        for fields in decisions
    ]
    assert "2 texts are unsure: add --model NAME" in viewed(results)
    assert "unsure: add" not in viewed(results[3:6])


def test_another_judge_is_advised_only_for_texts_that_measured_thresholds_leave_open(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def viewed(alarms: float | None) -> str:
        view = View(total=1, as_json=False, shown=Shown(kind="none"), progress=False, meter=Meter())
        with view:
            view.show(result(3, GOOD, decision=Decision.UNSURE, basis=basis(alarms)))
        view.close()
        return "".join(capsys.readouterr())

    assert "1 text is unsure: add --model NAME" in viewed(0.15)
    assert "unsure: add" not in viewed(None)


def test_a_text_that_is_not_shown_is_faulty_by_its_rubric_and_not_by_a_criterion(
    capsys: pytest.CaptureFixture[str],
) -> None:
    criterion = replace(ASPECT, name="criterion: It is short", rubric="shop")
    view = View(total=4, as_json=False, shown=Shown(count=0), progress=False, meter=Meter())
    with view:
        for name, of_rubric in (("a", OK), ("b", FAULTY)):
            text = replace(segment(), segment_id=name)
            missed = replace(result(1, GOOD, **FAULTY), segment=text, aspect=criterion)
            for judged in (missed, replace(result(3, GOOD, **of_rubric), segment=text)):
                view.show(judged)
    view.close()
    assert "2 more texts, 1 of them faulty" in capsys.readouterr().out


def test_the_table_says_how_many_wrong_texts_are_called_ok_with_the_spread() -> None:
    spread = replace(basis(0.06), spread=(0.01, 0.12))
    view = summed(
        result(4.6, GOOD, **{**OK, "basis": VOUCHED}),
        result(1.4, GOOD, **{**FAULTY, "basis": spread}),
    )
    assert (
        "8% of wrong texts are called ok (3-15%, depending on the kind of text)."
        " Basis: 90 wrong texts from made-up summaries." in view
    )
    assert "6% of correct texts are called faulty (1-12%, depending on the kind of text)." in view
    assert "unknown" not in view
    assert "are unsure:" not in view


def test_the_table_fits_80_columns_and_cuts_no_figure() -> None:
    summary = Summary()
    for system in ("system-a", "a system with quite a long name"):
        summary.add(result(4, GOOD, system=system, **FAULTY))
    lines = printed(summary_view(summary, unsure=0), width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert any("100% / 0% │    100% │  4.00 │ 100% (1/1)" in line for line in lines)


def test_a_narrow_terminal_has_the_means_as_text_with_their_names_whole() -> None:
    summary = Summary()
    for system in ("system-a", "system-b"):
        summary.add(result(4, system=system))
    text = printed(summary_view(summary, unsure=0), width=60)
    assert all(len(line) <= 60 for line in text.splitlines())
    assert "summarization, consistency, system-b: " in text
    assert "mean score 4.00; coverage 100% (1/1)" in " ".join(text.split())


def test_a_run_that_ended_before_its_first_result_has_no_table() -> None:
    assert "Mean scores" not in printed(summary_view(Summary(), unsure=0))


def test_the_table_has_a_row_for_each_task_where_there_are_several() -> None:
    task = replace(ASPECT.task, name="story")
    view = summed(result(4, GOOD), replace(result(2, GOOD), aspect=replace(ASPECT, task=task)))
    assert "summarization: consistency" in view
    assert "story: consistency" in view


def test_the_table_shows_what_the_judges_took_if_they_asked_a_model() -> None:
    spent = Usage(calls=600, prompt=10_000, cached=4_000, completion=500, reasoning=20)
    view = summed(*[result(4, replace(GOOD, usage=spent), GOOD)] * 2)
    assert "a cached reply counts with its original cost" in view
    assert "seat0 │ 1,200 │ 20,000 │ 8,000 │ 1,000 │ 40" in view
    assert "seat1 │" not in view
    assert "no tokens" not in view


def test_replies_without_counts_of_tokens_are_named_below_the_table() -> None:
    silent = replace(GOOD, usage=Usage(calls=1))
    view = summed(*[result(4, silent, GOOD)] * 2)
    assert "seat0 │ 2 │ 0 │ 0 │ 0 │ 0" in view
    assert "seat0: the server counted no tokens for 2 reports: the table shows 0" in view
    assert "Tokens used by the judges" not in summed(result(4, GOOD))
