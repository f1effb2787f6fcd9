"""Types that type checkers may rely on: mypy checks these as it checks every test."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import assert_type

import pytest
from loopback.answers import chat
from loopback.server import LoopbackServer

import spanjury
from spanjury import agents, exams
from spanjury.orchestration.report import Table
from spanjury.orchestration.studies.robustness.exam import ExamResult
from spanjury.testing import MarkingJudge


async def test_a_panel_is_a_judge_whose_reports_have_seats() -> None:
    aspect = spanjury.find_aspect("summarization", "fluency")
    assert_type(aspect, spanjury.Aspect)
    async with spanjury.open_panel(judges=["form"]) as panel:
        assert_type(panel, spanjury.OpenedPanel)
        judge: spanjury.Judge = panel
        report = await panel.assess(spanjury.Segment(segment_id="a", output="It is."), aspect)
    assert report.signature.startswith(f"{judge.signature}|spanjury:")
    assert_type(report, spanjury.PanelReport)
    assert_type(report.score, float | None)
    assert_type(report.spans, tuple[spanjury.ErrorSpan, ...])
    assert_type(report.outcome, spanjury.Outcome)
    assert_type(report.decision, spanjury.Decision | None)
    assert_type(report.basis, spanjury.DecisionBasis | None)
    for span in report.spans:
        assert_type(span.evidence, tuple[spanjury.Evidence, ...])


def test_a_server_of_ones_own_and_seats_with_options_are_named_from_python() -> None:
    price = spanjury.TokenPrice(prompt=0.2e-6, completion=0.6e-6)
    with LoopbackServer(chat("Severity: 2\n\nOverall score: Excellent")) as server:
        model = spanjury.ModelConfig(
            name="openai-compatible/mine", base_url=server.base_url, price=price
        )
        seat = spanjury.SeatConfig(judge="annotator", options={"max_tokens": 99}, model=model.name)
        panel = spanjury.PanelConfig(seats=(seat,), models=(model,))
        report = spanjury.check("It opened.", source="It opened.", aspects="fluency", panel=panel)
        assert server.requests[-1].body["max_tokens"] == 99
    assert report.scores == {"fluency": 5.0}


def test_segments_are_read_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"output": "x"}')
    segments = spanjury.read_segments(tmp_path / "a.jsonl")
    assert_type(segments, Iterator[spanjury.Segment])
    assert [segment.output for segment in segments] == ["x"]


def test_a_metric_scores_texts_in_one_line() -> None:
    scores = spanjury.score_metric(
        "f1", ["a cat sat", "a dog"], ["a cat sat", ["one dog", "a cat"]]
    )
    assert_type(scores.corpus, float)
    assert_type(scores.segments, tuple[float, ...] | None)
    assert scores.segments is not None
    assert scores.segments[0] == 1.0
    for references in ("a cat sat", ["a dog", "a cat sat"], [["a dog", "a cat sat"]]):
        assert spanjury.score_metric("f1", "a cat sat", references).corpus == 1.0


def test_a_text_is_judged_in_one_call_and_many_in_one_more() -> None:
    report = spanjury.check("It is.", judges=["form"], aspects="fluency")
    assert_type(report, spanjury.TextReport)
    assert_type(report.decision, spanjury.Decision | None)
    assert_type(report["fluency"], spanjury.PanelReport)
    reports = spanjury.evaluate([{"output": "It is."}], judges=["form"], aspects=["fluency"])
    assert_type(reports, spanjury.TextReports)
    assert_type(reports[0], spanjury.TextReport)
    assert_type(reports[:1], spanjury.TextReports)


async def test_the_same_is_awaited_and_iterated() -> None:
    report = await spanjury.acheck("It is.", judges=["form"], aspects="fluency")
    assert_type(report, spanjury.TextReport)
    async for text_report in spanjury.aevaluate([{"output": "It is."}], judges=["form"]):
        assert_type(text_report, spanjury.TextReport)
    panel = await spanjury.open_panel(judges=["form"])
    assert_type(panel, spanjury.OpenedPanel)
    await panel.aclose()


async def test_events_of_a_stream_have_a_type_to_annotate_with() -> None:
    def shown(event: spanjury.StreamEvent) -> str:
        return event.report.text if isinstance(event, spanjury.StreamEnd) else event.text

    events = [event async for event in spanjury.astream("It is.", judges=["form"])]
    assert {shown(event) for event in events} == {"It is."}


async def test_an_agent_whose_messages_have_a_type_of_their_own_is_supervised() -> None:
    async def run(messages: list[dict[str, str]]) -> list[dict[str, str]]:
        return [*messages, {"role": "assistant", "content": "It opened in 1932."}]

    judge = MarkingJudge()
    done = await agents.asupervise(run, "When did it open?", judges=judge, aspects="honesty")
    assert_type(done.result, list[dict[str, str]])
    assert done.result[-1]["content"] == "It opened in 1932."


def test_the_report_of_an_exam_knows_its_result() -> None:
    report = exams.robustness(exams.DEMO, judges="form", attacks="authority-claim", limit=1)
    assert_type(report, exams.StudyReport[ExamResult])
    assert_type(report.result, ExamResult)
    assert_type(report.tables, Mapping[str, Table])
    assert_type(report.to_dict(), dict[str, object])
    assert_type(report.measures["robustness.attack_success"].value, float | None)
    assert set(report.result.findings.judges)


@pytest.mark.asyncio_only
async def test_an_exam_that_is_awaited_has_the_same_type() -> None:
    work = exams.arobustness(exams.DEMO, judges=["form"], attacks=["authority-claim"], limit=1)
    assert_type(await work, exams.StudyReport[ExamResult])
