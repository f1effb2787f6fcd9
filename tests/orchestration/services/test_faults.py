"""Faults of a server and what they do to an assessment, from the socket to the report."""

import pytest
from fakes.judges import ASPECT, segment
from loopback.answers import (
    ECHO_KEY,
    EMPTY_CHOICES,
    HALF_BODY,
    HTML,
    RESET,
    TRICKLE,
    Answer,
    chat,
    failure,
)
from loopback.server import LoopbackServer, unreachable_url

from spanjury import PanelReport, open_panel
from spanjury.judges.core import Outcome, Result
from spanjury.orchestration.engine.batch import evaluate
from spanjury.orchestration.wiring.config import ModelConfig

pytestmark = pytest.mark.asyncio_only

GOOD = chat('Error 1:\nLocation: "1935"\nExplanation: no\nSeverity: 4\n\nOverall score: Poor')
CUT = chat("Error 1:\nLocation: ", finish="length")


async def assess(*answers: Answer, seconds: float = 20.0) -> tuple[PanelReport, int]:
    """Return the report on a server that gives `answers`, and how often it was asked."""
    with LoopbackServer(*answers) as server:
        model = ModelConfig(
            name="hosted_vllm/m", base_url=server.base_url, timeout=seconds, attempts=2
        )
        async with open_panel(judges=["annotator"], models=[model]) as panel:
            report = await panel.assess(segment(), ASPECT)
        return report, len(server.requests)


@pytest.mark.parametrize(
    "fault",
    [failure(500), failure(429, retry_after="0"), HALF_BODY, HTML, RESET, EMPTY_CHOICES],
    ids=["500", "429", "half a body", "HTML", "reset", "no choice"],
)
async def test_errors_that_may_pass_are_retried(fault: Answer) -> None:
    report, asked = await assess(fault, GOOD)
    assert (report.score, asked) == (2, 2)


@pytest.mark.parametrize(
    ("answer", "outcome", "asked"),
    [
        (failure(500), Outcome.BACKEND_FAILED, 2),
        (failure(429, retry_after="3600"), Outcome.BACKEND_FAILED, 1),
        (ECHO_KEY, Outcome.BACKEND_FAILED, 1),
        (failure(404), Outcome.BACKEND_FAILED, 1),
        (HTML, Outcome.BACKEND_FAILED, 2),
        (chat("no", finish="content_filter"), Outcome.REFUSED, 1),
        (chat(None, message={"refusal": "I will not."}), Outcome.REFUSED, 1),
        (chat("I like it."), Outcome.UNPARSEABLE, 2),
        (chat(""), Outcome.UNPARSEABLE, 2),
        (CUT, Outcome.TRUNCATED, 2),
    ],
    ids=["500", "429", "401", "404", "HTML", "filter", "refusal", "prose", "empty", "cut"],
)
async def test_a_persistent_failure_is_an_outcome_and_no_score(
    answer: Answer, outcome: Outcome, asked: int
) -> None:
    report, times = await assess(answer)
    assert (report.outcome, report.score, times) == (outcome, None, asked)
    assert report.reason


async def test_an_endless_trickle_is_cut_off() -> None:
    report, asked = await assess(TRICKLE, seconds=0.5)
    assert (report.outcome, report.score, asked) == (Outcome.TIMED_OUT, None, 2)


async def test_one_bad_server_costs_one_seat() -> None:
    with LoopbackServer(GOOD) as good, LoopbackServer(failure(401)) as bad:
        models = [
            ModelConfig(name="hosted_vllm/good", base_url=good.base_url),
            ModelConfig(name="hosted_vllm/bad", base_url=bad.base_url),
        ]
        async with open_panel(models=models) as panel:
            report = await panel.assess(segment(), ASPECT)
    assert report.score == 2
    assert [seat.report.outcome for seat in report.seats] == [
        Outcome.SCORED,
        Outcome.BACKEND_FAILED,
    ]
    assert report.spans[0].found_by == ("annotator:hosted_vllm/good",)


async def test_calls_are_shared_among_the_servers_of_a_model_and_a_dead_one_costs_nothing() -> None:
    with LoopbackServer(GOOD) as one, LoopbackServer(GOOD) as other:
        urls = (one.base_url, unreachable_url(), other.base_url)
        model = ModelConfig(name="openai-compatible/m", base_url=urls, max_connections=2)
        written: list[Result] = []
        async with open_panel(models=[model]) as panel:
            pairs = [(segment(str(number)), ASPECT) for number in range(12)]
            await evaluate(panel, pairs, write=written.append)
        assert one.requests
        assert other.requests
    assert [result.report.score for result in written] == [2] * 12
