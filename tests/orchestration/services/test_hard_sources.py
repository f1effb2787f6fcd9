"""Sources that cannot be read: missing, or in another language in whole or in part.

The panel is the one that is opened when nothing is said: grounding, reader and form.
"""

from collections.abc import AsyncIterator, Mapping, Sequence

import pytest
from loopback.answers import chat, failure
from loopback.server import LoopbackServer

from spanjury.judges.core import Outcome, PanelReport, Segment
from spanjury.judges.core.passages import passages_apart
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.judging.panels import find_aspect, open_panel
from spanjury.orchestration.wiring.config import ModelConfig

ANSWER = "The harbour bridge was closed on Friday because of the storm, and it will open in May."
GERMAN = (
    "Die Brücke am Hafen wurde am Freitag wegen des Sturms geschlossen und ist nicht vor Mai "
    "wieder frei. Der Bürgermeister sagte, dass die Arbeiten mit den Firmen besprochen sind."
)
CHINESE = "由于暴风雨，港口大桥于星期五关闭，五月份才会重新开放。市长表示正在与公司商讨施工事宜。"
ENGLISH = "The harbour bridge was closed on Friday because of the storm. It will open again in May."

pytestmark = pytest.mark.asyncio_only


@pytest.fixture
async def panel() -> AsyncIterator[Panel]:
    async with open_panel() as opened:
        yield opened


async def judged(panel: Panel, inputs: Mapping[str, str | Sequence[str]]) -> PanelReport:
    segment = Segment(segment_id="1", output=ANSWER, inputs=passages_apart(inputs))
    report = await panel.assess(segment, find_aspect("qa", "faithfulness"))
    for span in report.spans:
        for place in span.evidence:
            assert segment.inputs[place.input][place.start : place.end] == place.text
    return report


@pytest.mark.parametrize(
    "inputs",
    [
        *({}, {"Context": ""}, {"Context": ["", ""]}, {"Question": "?"}),
        *({"Context": " \n\t"}, {"Context": ["", " "]}),
    ],
)
async def test_without_a_source_all_abstain_and_say_which_input_is_lacking(
    panel: Panel, inputs: Mapping[str, str | list[str]]
) -> None:
    report = await judged(panel, inputs)
    assert (report.outcome, report.score, report.decision) == (Outcome.ABSTAINED, None, None)
    assert [seat.report.reason for seat in report.seats] == [
        "faithfulness cannot be judged without an input Context"
    ] * 3


@pytest.mark.parametrize(
    ("source", "reasons"),
    [
        (
            GERMAN,
            (
                "the input is German and the output English",
                "the input is German, and this judge reads English",
            ),
        ),
        (
            CHINESE,
            (
                "the output is in Latin script and the input in Chinese or Japanese",
                "the input is in Chinese or Japanese script, and this judge reads English",
            ),
        ),
    ],
)
async def test_a_source_in_another_language_is_not_judged(
    panel: Panel, source: str, reasons: tuple[str, str]
) -> None:
    report = await judged(panel, {"Context": source})
    assert (report.outcome, report.score, report.decision) == (Outcome.ABSTAINED, None, None)
    assert tuple(seat.report.reason for seat in report.seats[:2]) == reasons


@pytest.mark.parametrize("other", [GERMAN, CHINESE])
async def test_one_passage_in_another_language_is_named(panel: Panel, other: str) -> None:
    report = await judged(panel, {"Question": "What happened?", "Context": [ENGLISH, other]})
    assert (report.outcome, report.score) == (Outcome.ABSTAINED, None)
    assert all("Context [2]" in seat.report.reason for seat in report.seats[:2])


async def test_passages_in_english_are_judged(panel: Panel) -> None:
    inputs = {"Question": "What happened?", "Context": ["Ships waited at sea.", ENGLISH]}
    report = await judged(panel, inputs)
    assert report.outcome is Outcome.SCORED


async def test_evidence_says_which_passage_contradicts_the_answer(panel: Panel) -> None:
    wrong = ENGLISH.replace("Friday", "Monday")
    report = await judged(panel, {"Question": "When?", "Context": ["Ships waited at sea.", wrong]})
    (day,) = [span for span in report.spans if span.text == "Friday"]
    assert {place.input for place in day.evidence} == {"Context [2]"}
    assert any("Monday" in place.text for place in day.evidence)


TOO_LONG = "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens."


async def test_a_source_longer_than_a_model_reads_costs_its_seat_and_the_reason_says_so() -> None:
    source = {"Context": [ENGLISH, "It rained. " * 3000]}
    with LoopbackServer(failure(400, TOO_LONG)) as server:
        model = ModelConfig(name="openai-compatible/short", base_url=server.base_url)
        async with open_panel(models=[model], judges=["annotator", "grounding"]) as opened:
            report = await judged(opened, source)
    async with open_panel(judges=["grounding"]) as opened:
        without = await judged(opened, source)
    annotator, grounding = (seat.report for seat in report.seats)
    assert (annotator.outcome, annotator.score) == (Outcome.BACKEND_FAILED, None)
    assert "maximum context length is 4096 tokens" in annotator.reason
    assert "the judge searcher reads long sources" in annotator.reason
    assert grounding.outcome is Outcome.SCORED
    assert report.score == without.score is not None


async def test_the_evidence_that_a_model_quotes_goes_through_the_panel() -> None:
    reply = (
        'Error 1:\nLocation: "on Friday"\nExplanation: It was on Monday.\n'
        'Evidence: "closed on Monday" (Context [2])\nSeverity: 4\n\nOverall score: Poor\n'
    )
    wrong = ENGLISH.replace("Friday", "Monday")
    with LoopbackServer(chat(reply)) as server:
        model = ModelConfig(name="openai-compatible/quoting", base_url=server.base_url)
        async with open_panel(models=[model], judges=["annotator:evidence=true"]) as opened:
            report = await judged(opened, {"Context": ["Ships waited at sea.", wrong]})
    (span,) = report.spans
    assert [(place.input, place.text) for place in span.evidence] == [
        ("Context [2]", "closed on Monday")
    ]
