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
CONTENT = replace(ASPECT, kind="content")
PENALISED = "The bridge opened. It is red. Nobody walks. Trains run."
PLAIN = (1.0, 2.0, 3.0, 4.0, 5.0)
OMISSION = ErrorSpan(text="", explanation="left out", severity=4)
HALLUCINATED = ErrorSpan(text="never said", explanation="invented", severity=5)


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


def test_the_worst_error_and_a_fraction_of_the_others() -> None:
    spans = [
        mark(PENALISED, "red", severity=4),
        mark(PENALISED, "is", severity=3),
        mark(PENALISED, "run", severity=1),
    ]
    penalty = SpanPenalty(by="error", rest=0.2, weights=PLAIN)
    assert penalty.of(PENALISED, spans, aspect=ASPECT) == pytest.approx(4 + 0.2 * (3 + 1))


def test_all_penalties_add_up_if_the_rest_counts_fully() -> None:
    spans = [mark(PENALISED, "red", severity=4), mark(PENALISED, "run", severity=1)]
    penalty = SpanPenalty(by="error", rest=1.0, weights=(0.5, 1.0, 2.0, 3.5, 5.0))
    assert penalty.of(PENALISED, spans, aspect=ASPECT) == pytest.approx(3.5 + 0.5)


def test_a_sentence_is_as_bad_as_its_worst_error() -> None:
    spans = [
        mark(PENALISED, "red", severity=4),
        mark(PENALISED, "is", severity=3),
        mark(PENALISED, "run", severity=1),
    ]
    penalty = SpanPenalty(rest=0.2, weights=PLAIN)
    assert penalty.of(PENALISED, spans, aspect=ASPECT) == pytest.approx(0.8 * 4 + 0.2 * (4 + 1) / 4)


def test_an_error_over_two_sentences_counts_in_both() -> None:
    penalty = SpanPenalty(rest=1.0, weights=PLAIN)
    across = mark(PENALISED, "red. Nobody", severity=2)
    assert penalty.of(PENALISED, [across], aspect=ASPECT) == pytest.approx(2 * 2 / 4)


def test_an_error_between_sentences_is_not_lost() -> None:
    assert SpanPenalty().of("One.  Two.", [mark("One.  Two.", "  ")], aspect=ASPECT) > 0


@pytest.mark.parametrize(
    ("placeless", "of_grounding", "of_content"),
    [(None, 0.0, 4.0), (True, 4.0, 4.0), (False, 0.0, 0.0)],
)
def test_an_omission_is_unsupported_by_nothing(
    placeless: bool | None, of_grounding: float, of_content: float
) -> None:
    penalty = SpanPenalty(by="error", placeless=placeless)
    assert penalty.of(PENALISED, [OMISSION], aspect=ASPECT) == of_grounding
    assert penalty.of(PENALISED, [OMISSION], aspect=CONTENT) == of_content


def test_errors_without_a_score_are_quotations_that_the_text_lacks_beside_none_that_counts() -> (
    None
):
    placed = mark(PENALISED, "red", severity=1)
    lists = {
        (): 0,
        (HALLUCINATED,) * 8: 8,
        (HALLUCINATED, OMISSION): 1,
        (OMISSION,): 0,
        (HALLUCINATED, placed): 0,
    }
    for spans, lost in lists.items():
        assert SpanPenalty().misquotes(spans, aspect=ASPECT) == lost
        assert SpanPenalty().misquotes(spans, aspect=CONTENT) == 0
        assert SpanPenalty(placeless=False).misquotes(spans, aspect=CONTENT) == lost
        assert (SpanMap().score(PENALISED, spans, aspect=ASPECT) is None) == (lost > 0)
    unknown = replace(HALLUCINATED, severity=None)
    assert SpanPenalty().misquotes([unknown], aspect=ASPECT) == 1
    assert SpanPenalty(unknown=0).misquotes([unknown], aspect=ASPECT) == 0
    unmarked = replace(placed, severity=None)
    assert SpanPenalty(unknown=0).misquotes([unmarked, HALLUCINATED], aspect=ASPECT) == 1


def test_an_ungraded_error_has_the_middle_severity_by_default() -> None:
    unknown, middle = (mark(PENALISED, "red", severity=grade) for grade in (None, 3))
    usual = SpanPenalty()
    assert usual.of(PENALISED, [unknown], aspect=ASPECT) == usual.of(
        PENALISED, [middle], aspect=ASPECT
    )
    assert SpanPenalty(unknown=0).of(PENALISED, [unknown], aspect=ASPECT) == 0


def test_an_empty_text_can_lack_something() -> None:
    assert SpanPenalty(weights=PLAIN).of("", [OMISSION], aspect=CONTENT) == pytest.approx(4)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"by": "word"}, "by must be"),
        ({"rest": 1.1}, "rest must be"),
        ({"rest": float("nan")}, "rest must be"),
        ({"unknown": 6}, "unknown must be"),
        ({"weights": (1.0, 2.0)}, "weights must be"),
        ({"weights": (2.0, 1.0, 3.0, 4.0, 5.0)}, "weights must be"),
        ({"weights": (-1.0, 1.0, 3.0, 4.0, 5.0)}, "weights must be"),
        ({"weights": (0.0, 0.0, 0.0, 0.0, 0.0)}, "weights must be"),
        ({"weights": (0.0, 0.0, 0.0, 0.0, float("inf"))}, "weights must be"),
    ],
)
def test_parameters_that_could_break_the_promise_are_refused(
    change: dict[str, object], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        SpanPenalty(**change)  # type: ignore[arg-type]  # wrong on purpose


def test_every_parameter_is_in_the_signature() -> None:
    result = {
        penalty.signature
        for penalty in (
            SpanPenalty(),
            SpanPenalty(by="error"),
            SpanPenalty(rest=0.3),
            SpanPenalty(unknown=2),
            SpanPenalty(placeless=True),
            SpanPenalty(weights=PLAIN),
        )
    }
    assert len(result) == 6
