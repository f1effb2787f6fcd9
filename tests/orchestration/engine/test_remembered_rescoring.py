from collections.abc import Sequence
from dataclasses import dataclass, replace

import anyio
import pytest
from fakes.judges import ASPECT, FixedJudge, mark, segment
from fakes.memory import DictMemory

from spanjury.judges.core import (
    UNANSWERED,
    Aspect,
    ErrorSpan,
    JudgeError,
    Outcome,
    PanelReport,
    Report,
    Rescorable,
    Rescoring,
    RescoringMethod,
    Segment,
    StoreError,
    Usage,
)
from spanjury.judges.llm.annotator import Annotator
from spanjury.orchestration.engine.memory import (
    FAILED,
    RememberedModel,
    RememberedRescorable,
    remembered,
)
from spanjury.orchestration.engine.memory_codec import read_rescoring, written
from spanjury.testing import ScriptedModel

SEGMENT = segment()
SPAN = mark(SEGMENT.output, "1935", "Wrong. \ud83d", 4)
OMISSION = ErrorSpan(text="", explanation="No end.", severity=None)
RESCORING = Rescoring(
    report=Report(score=2, spans=(SPAN, OMISSION), reply=" Poor", usage=Usage(calls=1)),
    method=RescoringMethod.RESTATED,
    expected=2.25,
)


@dataclass(slots=True)
class CountedRescorable:
    """Says one thing after the other of whatever list; counts how often it was asked."""

    says: list[Rescoring | Exception]
    signature: str = "counted"
    asked: int = 0

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        return Report(score=3)

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        self.asked += 1
        await anyio.lowlevel.checkpoint()
        said = self.says[min(self.asked, len(self.says)) - 1]
        if isinstance(said, Exception):
            raise said
        return said


def before(
    judge: Rescorable,
    memory: DictMemory,
    *,
    place: str = "",
    again: frozenset[Outcome] = UNANSWERED,
) -> RememberedRescorable:
    kept = remembered(judge, memory, place=place, again=again)
    assert isinstance(kept, RememberedRescorable)
    return kept


def test_a_judge_behind_a_memory_can_rescore_exactly_if_it_can_without() -> None:
    memory = DictMemory()
    assert isinstance(remembered(CountedRescorable([RESCORING]), memory), Rescorable)
    assert not isinstance(remembered(FixedJudge(says=Report(score=3)), memory), Rescorable)


async def test_a_list_is_scored_once() -> None:
    judge, memory = CountedRescorable([RESCORING]), DictMemory()
    for _ in range(2):
        assert await before(judge, memory).rescore(SEGMENT, ASPECT, [SPAN, OMISSION]) == RESCORING
    assert judge.asked == 1


async def test_any_other_list_order_segment_aspect_and_place_is_scored_again() -> None:
    judge, memory = CountedRescorable([RESCORING]), DictMemory()
    kept = before(judge, memory)
    lists = [[SPAN, OMISSION], [OMISSION, SPAN], [SPAN], [replace(SPAN, severity=5)], []]
    for spans in lists:
        await kept.rescore(SEGMENT, ASPECT, spans)
    await kept.rescore(segment(output="Else."), ASPECT, [])
    await kept.rescore(SEGMENT, replace(ASPECT, definition="Else."), [])
    await before(judge, memory, place="2").rescore(SEGMENT, ASPECT, [])
    assert judge.asked == len(lists) + 3


async def test_a_rescoring_is_kept_apart_from_the_report() -> None:
    judge, memory = CountedRescorable([RESCORING]), DictMemory()
    kept = before(judge, memory)
    assert (await kept.assess(SEGMENT, ASPECT)).score == 3
    assert (await kept.rescore(SEGMENT, ASPECT, [])).report.score == 2


async def test_an_outcome_that_is_to_be_tried_again_is_and_another_is_kept() -> None:
    failed = replace(
        RESCORING, report=Report(outcome=Outcome.UNPARSEABLE, reason="no score"), expected=None
    )
    judge, memory = CountedRescorable([failed, RESCORING]), DictMemory()
    for _ in range(2):
        assert await before(judge, memory).rescore(SEGMENT, ASPECT, []) == failed
    assert await before(judge, memory, again=FAILED).rescore(SEGMENT, ASPECT, []) == RESCORING
    assert judge.asked == 2


async def test_an_error_is_raised_and_not_kept() -> None:
    judge, memory = CountedRescorable([JudgeError("cannot"), RESCORING]), DictMemory()
    with pytest.raises(JudgeError, match="cannot"):
        await before(judge, memory).rescore(SEGMENT, ASPECT, [])
    assert await before(judge, memory).rescore(SEGMENT, ASPECT, []) == RESCORING


async def test_rescorings_by_a_panel_are_not_kept() -> None:
    judge = CountedRescorable([replace(RESCORING, report=PanelReport(score=2))])
    memory = DictMemory()
    await before(judge, memory).rescore(SEGMENT, ASPECT, [])
    assert not memory.values


async def test_alike_lists_under_way_at_once_are_scored_once() -> None:
    judge = CountedRescorable([RESCORING])
    kept = before(judge, DictMemory())
    async with anyio.create_task_group() as scoring:
        for _ in range(4):
            scoring.start_soon(kept.rescore, SEGMENT, ASPECT, (SPAN,))
    assert judge.asked == 1


async def test_a_model_is_asked_once_for_each_list_whatever_the_judge_forgets() -> None:
    model, memory = ScriptedModel(" Poor", " Good"), DictMemory()
    for _ in range(2):
        judge = Annotator(model=RememberedModel(model, memory))
        scores = [
            (await before(judge, DictMemory()).rescore(SEGMENT, ASPECT, spans)).report.score
            for spans in ((SPAN,), ())
        ]
        assert scores == [2, 4]
    assert len(model.requests) == 2


def test_a_rescoring_is_read_as_it_was_written() -> None:
    assert read_rescoring(written(RESCORING)) == RESCORING
    with pytest.raises(StoreError, match="not a rescoring"):
        read_rescoring(written(RESCORING.report))
