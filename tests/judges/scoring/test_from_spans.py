from dataclasses import replace

import pytest
from fakes.judges import ASPECT, FixedJudge, mark, segment

from spanjury.judges.core import (
    ErrorSpan,
    JudgeError,
    Outcome,
    Report,
    Rescorable,
    RescoringMethod,
    Usage,
)
from spanjury.judges.scoring import FromSpans, SpanMap, SpanPenalty

TEXT = segment().output
WRONG = mark(TEXT, "1935", severity=4)
SPENT = Usage(prompt=7)


async def test_the_score_is_what_the_spans_make_whatever_the_judge_says() -> None:
    judged = Report(score=5, spans=(WRONG,), rationale="fine", reply="Excellent", usage=SPENT)
    report = await FromSpans(judge=FixedJudge(says=judged)).assess(segment(), ASPECT)
    assert report == replace(judged, score=1)


async def test_no_errors_and_the_best_label_are_the_best_score() -> None:
    judge = FromSpans(judge=FixedJudge(says=Report(score=4.6)))
    assert (await judge.assess(segment(), ASPECT)).score == 5


async def test_a_judge_that_only_scores_gives_nothing_to_compute_a_score_from() -> None:
    judged = Report(score=3, rationale="middling", reply="Fair", usage=SPENT)
    report = await FromSpans(judge=FixedJudge(says=judged)).assess(segment(), ASPECT)
    assert (report.outcome, report.score) == (Outcome.ABSTAINED, None)
    assert "scores 3, but names no error" in report.reason
    assert (report.reply, report.usage) == ("Fair", SPENT)


async def test_errors_of_which_no_quotation_is_in_the_text_make_no_score() -> None:
    lost = ErrorSpan(text="the moon is cheese", explanation="invented", severity=5)
    judged = Report(score=1, spans=(lost,) * 8, reply="Unacceptable", usage=SPENT)
    judge = FromSpans(judge=FixedJudge(says=judged))
    report = await judge.assess(segment(), ASPECT)
    assert (report.outcome, report.score) == (Outcome.ABSTAINED, None)
    assert "8 quote what the text does not contain" in report.reason
    assert (report.spans, report.reply, report.usage) == (judged.spans, "Unacceptable", SPENT)
    again = await judge.rescore(segment(), ASPECT, [lost])
    assert (again.report.outcome, again.method) == (Outcome.ABSTAINED, RescoringMethod.COMPUTED)
    mixed = await judge.rescore(segment(), ASPECT, [lost, WRONG])
    assert mixed.report.score == 1
    content = replace(ASPECT, kind="content")  # there such errors count
    assert (await judge.assess(segment(), content)).score == 1


async def test_an_unscored_report_gets_no_score() -> None:
    judged = Report(outcome=Outcome.UNPARSEABLE, reason="prose", spans=(WRONG,))
    assert await FromSpans(judge=FixedJudge(says=judged)).assess(segment(), ASPECT) == judged


async def test_errors_of_the_judge_are_raised() -> None:
    with pytest.raises(JudgeError, match="no"):
        await FromSpans(judge=FixedJudge(says=JudgeError("no"))).assess(segment(), ASPECT)


async def test_another_list_is_rescored_without_the_judge() -> None:
    judge = FromSpans(judge=FixedJudge(says=JudgeError("asked")))
    assert isinstance(judge, Rescorable)
    milder = replace(WRONG, severity=2)
    rescoring = await judge.rescore(segment(), ASPECT, [milder])
    assert rescoring.method is RescoringMethod.COMPUTED
    assert rescoring.report == Report(score=3, spans=(milder,))


def test_judge_and_map_are_in_the_signature() -> None:
    result = {
        FromSpans(
            judge=FixedJudge(says=None, name=name), span_map=SpanMap(penalty=penalty)
        ).signature
        for name in ("one", "other")
        for penalty in (SpanPenalty(), SpanPenalty(rest=0.5))
    }
    assert len(result) == 4
