"""An exam run: who is judged on what, in which draw, and what is kept of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import product

import pytest
from fakes.judges import ASPECT, FixedJudge, mark, segment

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Judge,
    Outcome,
    Report,
    Result,
    RunStoppedError,
    Segment,
    TransientModelError,
)
from spanjury.orchestration.engine.aggregation import mean
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.rule_consolidator import RuleConsolidator
from spanjury.orchestration.engine.seats import Seat
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.studies.judging import ExamRun, Judgement, Recorder, panel_judgement

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


async def judged(
    panel: Opened, *segments: Segment, stop_token: StopToken | None = None
) -> tuple[dict[tuple[str, str], Judgement], list[Result]]:
    shown: list[Result] = []
    run = ExamRun(
        open_panel=panel,
        workers=2,
        stop_token=stop_token or StopToken(),
        record=Recorder(shown.append),
    )
    judgements = await run.judge(
        product(segments, (ASPECT, FLUENCY)), draw="control-1", judgements_in=panel_judgement
    )
    return judgements, shown


async def test_every_text_is_judged_on_every_aspect_and_shown_in_order() -> None:
    panel = Opened(LengthJudge())
    judgements, shown = await judged(panel, segment("a", "So"), segment("b", "Yes"))
    assert {key: judgement.score for key, judgement in judgements.items()} == {
        ("a", "consistency"): 2,
        ("a", "fluency"): 3,
        ("b", "consistency"): 3,
        ("b", "fluency"): 4,
    }
    assert [(one.segment.segment_id, one.aspect.name) for one in shown] == list(judgements)


async def test_the_panel_is_opened_once_for_the_draw_and_closed() -> None:
    panel = Opened(LengthJudge())
    await judged(panel, segment("a"), segment("b"))
    assert (panel.draws, panel.closed) == (["control-1"], 1)


async def test_only_located_spans_are_kept() -> None:
    one = segment("a")
    lost = ErrorSpan(text="Not there.", explanation="It was made up.", severity=2)
    report = Report(score=2, spans=(mark(one.output, "1935"), lost))
    judgements, _ = await judged(Opened(FixedJudge(says=report)), one)
    start = one.output.index("1935")
    assert judgements["a", "fluency"] == Judgement(
        score=2, outcome=Outcome.SCORED, spans=((start, start + 4),)
    )


async def test_a_judge_that_fails_gives_no_score_and_ends_nothing() -> None:
    judge = FixedJudge(says=TransientModelError("gone"))
    judgements, _ = await judged(Opened(judge), segment("a"), segment("b"))
    assert len(judgements) == 4
    assert set(judgements.values()) == {
        Judgement(score=None, outcome=Outcome.BACKEND_FAILED, spans=())
    }


async def test_once_a_stop_is_requested_no_text_is_judged() -> None:
    stop_token, judge = StopToken(), FixedJudge(says=AssertionError("it is asked"))
    stop_token.request("enough")
    with pytest.raises(RunStoppedError, match="enough"):
        await judged(Opened(judge), segment("a"), stop_token=stop_token)
    assert stop_token.interrupted
