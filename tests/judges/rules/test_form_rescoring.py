from dataclasses import replace

import pytest
from fakes.judges import ASPECT, TASK, segment
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import Aspect, ErrorSpan, Outcome, Rescorable, RescoringMethod
from spanjury.judges.rules.form import FormJudge
from spanjury.judges.rules.grounding import GroundingJudge

FLUENCY = Aspect(name="fluency", task=TASK, definition="Reads well.", kind="form")
GROUNDING = Aspect(name="consistency", task=TASK, definition="Is supported.", kind="grounding")
BAD = segment(output="the the bridge  was a open in 1935 ( and it was was opened ..")


def graver(span: ErrorSpan) -> ErrorSpan:
    return replace(span, severity=min(5, (span.severity or 0) + 1))


def test_both_offline_judges_can_rescore() -> None:
    assert isinstance(FormJudge(), Rescorable)
    assert isinstance(GroundingJudge(), Rescorable)


@pytest.mark.parametrize("max_spans", [0, 1, 8])
async def test_an_unchanged_list_keeps_its_score_with_few_spans_reported(max_spans: int) -> None:
    judge = FormJudge(max_spans=max_spans)
    report = await judge.assess(BAD, FLUENCY)
    rescoring = await judge.rescore(BAD, FLUENCY, report.spans)
    assert rescoring.report.score == report.score
    assert (rescoring.report.spans, rescoring.method) == (report.spans, RescoringMethod.COMPUTED)


async def test_the_score_follows_the_list() -> None:
    judge = FormJudge()
    report = await judge.assess(BAD, FLUENCY)
    assert len(report.spans) > 1
    scores = [
        (await judge.rescore(BAD, FLUENCY, spans)).report.score or 0
        for spans in ([graver(span) for span in report.spans], report.spans, report.spans[1:], ())
    ]
    assert (scores, scores[-1], len(set(scores))) == (sorted(scores), FLUENCY.scale.high, 4)


async def test_another_aspect_is_abstained_from() -> None:
    rescoring = await FormJudge().rescore(BAD, ASPECT, ())
    assert rescoring.report.outcome is Outcome.ABSTAINED


@given(st.text(max_size=60))
def test_whatever_the_text_an_unchanged_list_keeps_its_score(text: str) -> None:
    judge = FormJudge(max_spans=2)
    report = judge._check(text, aspect=FLUENCY)
    assert judge._check(text, aspect=FLUENCY, spans=report.spans).score == report.score


CAR = segment(output="Acme sold 7 cars in Rome. Jane Roe was pleased in June.")


@pytest.mark.parametrize("max_spans", [0, 1, 8])
async def test_grounding_keeps_its_score_for_an_unchanged_list(max_spans: int) -> None:
    judge = GroundingJudge(max_spans=max_spans)
    report = await judge.assess(CAR, GROUNDING)
    rescoring = await judge.rescore(CAR, GROUNDING, report.spans)
    assert rescoring.report == report
    assert rescoring.method is RescoringMethod.COMPUTED


async def test_the_score_of_grounding_follows_the_list() -> None:
    judge = GroundingJudge()
    report = await judge.assess(CAR, GROUNDING)
    assert len(report.spans) > 1
    scores = [
        (await judge.rescore(CAR, GROUNDING, spans)).report.score or 0
        for spans in ([graver(span) for span in report.spans], report.spans, report.spans[1:], ())
    ]
    assert (scores, len(set(scores))) == (sorted(scores), 4)
