"""A hearing: who is heard on what, in which draw, and what is kept of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest
from fakes.judges import ASPECT, FixedJudge, mark, segment

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Judge,
    Outcome,
    Report,
    Result,
    Segment,
    TransientModelError,
)
from spanjury.orchestration.engine.aggregation import mean
from spanjury.orchestration.engine.panel import Panel, Seat
from spanjury.orchestration.engine.rule_consolidator import RuleConsolidator
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.studies.judging import Judgement, hear

pytestmark = pytest.mark.anyio

FLUENCY = replace(ASPECT, name="fluency")


@dataclass(slots=True)
class Opened:
    """Opens a panel with one judge, and notes for which draws."""

    judge: Judge
    draws: list[str] = field(default_factory=list)
    closed: int = 0

    @asynccontextmanager
    async def __call__(self, draw: str) -> AsyncIterator[Panel]:
        self.draws.append(draw)
        yield Panel(
            seats=(Seat(name="only", judge=self.judge),),
            aggregation=mean,
            aggregation_name="mean",
            consolidator=RuleConsolidator(),
        )
        self.closed += 1


@dataclass(frozen=True, slots=True)
class LengthJudge:
    """Scores a text by its length."""

    signature: str = "length"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        return Report(score=len(segment.output) + (aspect.name == "fluency"))


async def heard_of(
    panel: Opened, *segments: Segment, stop_token: StopToken | None = None
) -> tuple[dict[tuple[str, str], Judgement], list[Result]]:
    shown: list[Result] = []
    heard = await hear(
        panel,
        segments,
        (ASPECT, FLUENCY),
        draw="control-1",
        workers=2,
        stop_token=stop_token or StopToken(),
        show=shown.append,
    )
    return heard, shown


async def test_every_text_is_judged_on_every_aspect_and_shown_in_order() -> None:
    panel = Opened(LengthJudge())
    heard, shown = await heard_of(panel, segment("a", "So"), segment("b", "Yes"))
    assert {key: told.score for key, told in heard.items()} == {
        ("a", "consistency"): 2,
        ("a", "fluency"): 3,
        ("b", "consistency"): 3,
        ("b", "fluency"): 4,
    }
    assert [(one.segment.segment_id, one.aspect.name) for one in shown] == list(heard)


async def test_the_panel_is_opened_once_for_the_draw_and_closed() -> None:
    panel = Opened(LengthJudge())
    await heard_of(panel, segment("a"), segment("b"))
    assert (panel.draws, panel.closed) == (["control-1"], 1)


async def test_of_spans_those_are_kept_that_have_a_place() -> None:
    one = segment("a")
    lost = ErrorSpan(text="Not there.", explanation="It was made up.", severity=2)
    report = Report(score=2, spans=(mark(one.output, "1935"), lost))
    heard, _ = await heard_of(Opened(FixedJudge(says=report)), one)
    start = one.output.index("1935")
    assert heard["a", "fluency"] == Judgement(
        score=2, outcome=Outcome.SCORED, spans=((start, start + 4),)
    )


async def test_a_judge_that_fails_gives_no_score_and_ends_nothing() -> None:
    judge = FixedJudge(says=TransientModelError("gone"))
    heard, _ = await heard_of(Opened(judge), segment("a"), segment("b"))
    assert len(heard) == 4
    assert set(heard.values()) == {Judgement(score=None, outcome=Outcome.BACKEND_FAILED, spans=())}


async def test_once_the_brake_is_pulled_nobody_is_heard() -> None:
    stop_token = StopToken()
    stop_token.request("enough")
    heard, shown = await heard_of(Opened(LengthJudge()), segment("a"), stop_token=stop_token)
    assert (heard, shown) == ({}, [])
    assert stop_token.interrupted
