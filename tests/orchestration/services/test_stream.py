"""A text judged while it is written: events, context, stops, and a reader who leaves early."""

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from fakes.judges import WaitingJudge

from spanjury import (
    JudgedSentence,
    StreamEnd,
    TextPiece,
    TextReport,
    acheck,
    astream,
    open_panel,
    stream,
)
from spanjury.judges.core import Aspect, ConfigError, Decision, Report, Segment
from spanjury.testing import MarkingJudge

SOURCE = "The bridge opened in 1932. It has three lanes. It cost 20 million dollars."
TEXT = "The bridge opened in 1935. It has three lanes. It cost 20 million dollars."
RULES = ("grounding", "form")


class Writer:
    """Writes a text in pieces, and notes how far it came and whether it was closed."""

    def __init__(self, *pieces: str, fails: Exception | None = None) -> None:
        self.pieces = pieces
        self.fails = fails
        self.written: list[str] = []
        self.is_closed = False

    async def tokens(self) -> AsyncIterator[str]:
        try:
            for piece in self.pieces:
                await checkpoint()
                self.written.append(piece)
                yield piece
            if self.fails is not None:
                raise self.fails
        finally:
            self.is_closed = True


def in_pieces(text: str, size: int = 4) -> tuple[str, ...]:
    return tuple(text[at : at + size] for at in range(0, len(text), size))


class SeenJudge:
    """Notes what it is shown, and finds nothing."""

    signature = "seen"

    def __init__(self) -> None:
        self.seen: list[tuple[str | None, str]] = []

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        del aspect
        await checkpoint()
        self.seen.append((segment.before, segment.output))
        return Report(score=5)


def without_seconds(report: TextReport) -> TextReport:
    results = (
        replace(
            result,
            report=replace(
                result.report, seats=tuple(replace(s, seconds=0.0) for s in result.report.seats)
            ),
        )
        for result in report.results
    )
    return replace(report, results=tuple(results))


async def test_each_piece_is_passed_on_and_each_sentence_judged_as_it_ends() -> None:
    writer = Writer(*in_pieces(TEXT))
    events = [event async for event in astream(writer.tokens(), source=SOURCE, judges=RULES)]
    pieces = [event for event in events if isinstance(event, TextPiece)]
    sentences = [event for event in events if isinstance(event, JudgedSentence)]
    assert tuple(piece.text for piece in pieces) == writer.pieces
    assert [TEXT[each.start : each.end] for each in sentences] == [each.text for each in sentences]
    decisions = [each.decision for each in sentences]
    assert decisions == [Decision.FAULTY, Decision.OK, Decision.OK]
    (span,) = sentences[0].spans
    assert TEXT[span.start : span.end] == span.text == "1935"
    assert (sentences[0].error_probability or 0.0) > 0.5 > (sentences[1].error_probability or 0.0)
    second = events.index(sentences[1])
    assert isinstance(events[second - 1], TextPiece)  # judged before more is read
    assert writer.is_closed


async def test_offsets_are_those_of_the_text_and_not_of_the_sentence() -> None:
    text = f"The bridge cost 20 million dollars. {TEXT[:26]}"
    events = [event async for event in astream(text, source=SOURCE, judges=RULES)]
    spans = [span for each in events if isinstance(each, JudgedSentence) for span in each.spans]
    assert [text[span.start : span.end] for span in spans] == ["1935"]


async def test_the_last_event_is_the_report_that_check_makes_of_the_whole_text() -> None:
    async with open_panel(judges=RULES) as panel:
        *_, end = [event async for event in astream(in_pieces(TEXT), source=SOURCE, panel=panel)]
        whole = await acheck(TEXT, source=SOURCE, panel=panel)
    assert isinstance(end, StreamEnd)
    assert end.stopped_by is None
    assert without_seconds(end.report) == without_seconds(whole)


async def test_a_text_may_answer_a_question() -> None:
    asked = {"source": SOURCE, "question": "When did the bridge open?", "judges": RULES}
    *_, end = [event async for event in astream(TEXT, **asked)]  # type: ignore[arg-type]  # parameters
    whole = await acheck(TEXT, **asked)  # type: ignore[arg-type]  # as above
    assert isinstance(end, StreamEnd)
    assert end.report.segment.task == "question-answering"
    assert without_seconds(end.report) == without_seconds(whole)


async def test_judges_are_shown_the_sentences_before_within_a_bound() -> None:
    judge = SeenJudge()
    text = "The bridge opened. It is long. " + "It is dear to us all. " * 100
    async for _ in astream(text, judges=[judge], aspects="fluency"):
        pass
    *seen, whole = judge.seen
    assert seen[:2] == [("", "The bridge opened."), ("The bridge opened. ", "It is long.")]
    assert whole == (None, text)
    befores = [before for before, _ in seen if before is not None]
    assert max(map(len, befores)) <= 1_000
    assert all(before.startswith(("The", "It")) for before in befores[1:])


async def test_a_faulty_sentence_stops_the_text_and_closes_its_source() -> None:
    writer = Writer(*in_pieces(TEXT))
    events = astream(writer.tokens(), source=SOURCE, judges=RULES, stop_when="faulty")
    *_, sentence, end = [event async for event in events]
    assert isinstance(sentence, JudgedSentence)
    assert isinstance(end, StreamEnd)
    assert end.stopped_by == sentence
    assert (writer.is_closed, "".join(writer.written)) == (True, TEXT[:28])
    assert end.report.text == "The bridge opened in 1935."
    assert end.report.decision is Decision.FAULTY


async def test_unsure_stops_earlier_than_faulty() -> None:
    text = "Many people love the view. The bridge opened in 1935."
    for stop_when, last in (("unsure", "Many people love the view."), ("faulty", text)):
        events = astream(text, source=SOURCE, judges=RULES, stop_when=stop_when)  # type: ignore[arg-type]  # of a loop
        *_, end = [event async for event in events]
        assert isinstance(end, StreamEnd)
        assert end.report.text == last


async def test_a_sentence_may_be_a_refusal_that_the_whole_text_may_not_be() -> None:
    text = "I cannot help with that. The bridge opened in 1932."
    events = [event async for event in astream(text, source=SOURCE, judges=["grounding"])]
    (first, _) = (event for event in events if isinstance(event, JudgedSentence))
    assert [span.category for span in first.spans] != ["refusal"]
    assert first.decision is not Decision.FAULTY


async def test_code_is_passed_on_and_judged_with_the_whole_text_only() -> None:
    judge = SeenJudge()
    text = "Run this:\n```\nrm. x\n```\nIt works."
    events = [event async for event in astream(text, judges=[judge], aspects="fluency")]
    reports = {event.text: event.report for event in events if isinstance(event, JudgedSentence)}
    assert [text for text, report in reports.items() if report is None] == ["```\nrm. x\n```"]
    assert [output for _, output in judge.seen] == ["Run this:", "It works.", text]


async def test_an_empty_piece_says_that_the_text_pauses() -> None:
    pieces = ("It opened in 1932.", "", " It cost 3.", "5 dollars.")
    events = [event async for event in astream(pieces, judges=["form"], aspects="fluency")]
    assert [event.text for event in events if not isinstance(event, StreamEnd)] == [
        *("It opened in 1932.", "It opened in 1932."),
        *(" It cost 3.", "5 dollars.", "It cost 3.5 dollars."),
    ]


async def test_an_aspect_of_the_whole_text_waits_for_its_end() -> None:
    judge = SeenJudge()
    events = [
        event async for event in astream(TEXT, judges=[judge], aspects="relevance", source="x")
    ]
    assert judge.seen == [(None, TEXT)]
    sentences = [event for event in events if isinstance(event, JudgedSentence)]
    assert [each.decision for each in sentences] == [None, None, None]
    with pytest.raises(ConfigError, match="stop_when needs an aspect"):
        astream(TEXT, judges=[judge], aspects="relevance", stop_when="faulty")


async def test_an_empty_text_has_a_report_and_no_sentence() -> None:
    async for event in astream((), judges=["form"], aspects="fluency"):
        assert isinstance(event, StreamEnd)
        assert event.report.text == ""


async def test_what_the_source_raises_is_raised_and_the_source_is_closed() -> None:
    writer = Writer("It opened. It", fails=ConnectionError("lost"))
    events: list[object] = []

    async def follow() -> None:
        async for event in astream(writer.tokens(), judges=["form"], aspects="fluency"):
            events.append(event)  # noqa: PERF401  those before the error are looked at

    with pytest.raises(ConnectionError, match="lost"):
        await follow()
    assert [type(event).__name__ for event in events] == ["TextPiece", "JudgedSentence"]
    assert writer.is_closed


@pytest.mark.parametrize("piece", [b"bytes", None, 3])
async def test_a_piece_that_is_no_text_is_an_error(piece: object) -> None:
    pieces: Iterable[str] = ["It opened. ", piece]  # type: ignore[list-item]  # the point
    events = astream(pieces, judges=["form"], aspects="fluency")
    assert [type(await anext(events)).__name__ for _ in range(2)] == ["TextPiece", "JudgedSentence"]
    with pytest.raises(ConfigError, match="a piece of the text is a str"):
        await anext(events)


async def test_no_more_is_read_than_is_taken_and_leaving_closes_the_source() -> None:
    writer = Writer(*in_pieces(TEXT))
    async with aclosing(astream(writer.tokens(), judges=RULES, source=SOURCE)) as events:
        async for _ in events:
            break
        assert (writer.written, writer.is_closed) == ([TEXT[:4]], False)
    assert writer.is_closed


async def test_a_cancelled_stream_drops_the_judge_and_closes_its_source() -> None:
    judge, writer = WaitingJudge.holding(["s-0"]), Writer("It opened. It")

    async def follow() -> None:
        events = astream(writer.tokens(), judges=[judge], aspects="fluency", segment_id="s")
        async with aclosing(events):
            async for _ in events:
                pass

    async with anyio.create_task_group() as group:
        group.start_soon(follow)
        await anyio.wait_all_tasks_blocked()
        assert (judge.began, writer.is_closed) == (["s-0"], False)
        group.cancel_scope.cancel()
    assert writer.is_closed


class PlainWriter:
    """Writes a text from code that is not asynchronous."""

    def __init__(self) -> None:
        self.is_closed = False

    def tokens(self) -> Iterator[str]:
        try:
            yield from in_pieces(TEXT)
        finally:
            self.is_closed = True


def test_code_that_is_not_asynchronous_gets_the_same_events() -> None:
    writer = PlainWriter()
    *_, sentence, end = stream(writer.tokens(), source=SOURCE, judges=RULES, stop_when="faulty")
    assert isinstance(end, StreamEnd)
    assert (end.stopped_by, end.report.decision) == (sentence, Decision.FAULTY)
    assert writer.is_closed


def test_leaving_a_plain_loop_closes_the_source() -> None:
    writer = PlainWriter()
    events = stream(writer.tokens(), source=SOURCE, judges=RULES)
    assert next(events) == TextPiece(text=TEXT[:4], start=0)
    assert not writer.is_closed
    events.close()
    assert writer.is_closed


def test_an_error_of_a_plain_source_is_raised_as_it_is() -> None:
    def tokens() -> Iterator[str]:
        yield "It opened. "
        raise ConnectionError("lost")

    with pytest.raises(ConnectionError, match="lost"):
        list(stream(tokens(), judges=["form"], aspects="fluency"))
    with pytest.raises(TypeError, match=r"stream\(\) has no parameter 'sorce'"):
        stream(TEXT, sorce=SOURCE)  # type: ignore[call-arg]  # the point


async def test_a_wrong_name_is_an_error_before_anything_is_read() -> None:
    writer = Writer(*in_pieces(TEXT))
    with pytest.raises(ConfigError, match="stop_when must be 'faulty', 'unsure' or None"):
        astream(writer.tokens(), stop_when="bad")  # type: ignore[arg-type]  # the point
    with pytest.raises(ConfigError, match="fluensy"):
        astream(writer.tokens(), aspects="fluensy")
    assert writer.written == []


async def test_a_sentence_is_json() -> None:
    judge = MarkingJudge(quotes={"1935": 4})
    text = "It is long. It opened in 1935."
    events = [event async for event in astream(text, judges=[judge], aspects="fluency")]
    row: Any = [event for event in events if isinstance(event, JudgedSentence)][1].to_dict()
    assert (row["start"], row["end"], row["decision"]) == (12, 30, "faulty")
    (result,) = row["results"]
    (span,) = result["spans"]
    assert text[span["start"] : span["end"]] == "1935"
