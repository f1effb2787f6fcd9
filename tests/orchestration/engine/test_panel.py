import math
from asyncio import CancelledError  # noqa: TID251 - what a judge's own code may let out
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from anyio.lowlevel import checkpoint
from fakes.judges import ASPECT, FixedJudge, PanicError, located, mark, panel_of, segment
from fakes.logs import capture_logs

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    Consolidation,
    ErrorSpan,
    EventLog,
    Evidence,
    JudgeError,
    ModelRefusedError,
    ModelTimeoutError,
    Outcome,
    ParseError,
    PermanentModelError,
    Report,
    Segment,
    SpanRef,
    Usage,
    Verdict,
    not_about,
)
from spanjury.orchestration.engine.seats import checked_report

TEXT = segment()  # whose Article is "It opened in 1932."
DATE = Evidence(input="Article", start=13, end=17, text="1932")
VERB = Evidence(input="Article", start=3, end=9, text="opened")


def merged(span: ErrorSpan) -> Consolidation:
    source = SpanRef(seat="seat0", index=0)
    return Consolidation(
        spans=(replace(span, found_by=("seat0",)),), sources=((source,),), consolidator="fixed"
    )


def scoring(*scores: float) -> list[FixedJudge]:
    return [FixedJudge(says=Report(score=score)) for score in scores]


async def test_the_score_is_the_unrounded_mean_of_the_seats() -> None:
    report = await panel_of(*scoring(2, 3, 5)).assess(segment(), ASPECT)
    assert report.score == pytest.approx(10 / 3)
    assert report.outcome is Outcome.SCORED
    assert [seat.report.score for seat in report.seats] == [2, 3, 5]


@pytest.mark.parametrize(
    ("raised", "outcome"),
    [
        (JudgeError("no"), Outcome.BACKEND_FAILED),
        (ParseError("no score line", reply="gibberish"), Outcome.UNPARSEABLE),
        (ModelTimeoutError("slow"), Outcome.TIMED_OUT),
        (ModelRefusedError("policy"), Outcome.REFUSED),
        (PermanentModelError("401"), Outcome.BACKEND_FAILED),
        (KeyError("bug"), Outcome.BACKEND_FAILED),
    ],
)
async def test_an_error_costs_one_seat(raised: Exception, outcome: Outcome) -> None:
    with capture_logs() as logs:
        report = await panel_of(FixedJudge(says=raised), *scoring(4)).assess(segment(), ASPECT)
    assert report.score == 4
    assert report.seats[0].report.outcome is outcome
    assert report.seats[0].report.score is None
    assert str(raised) in report.seats[0].report.reason
    (log,) = logs
    assert (log["seat"], log["segment_id"], log["aspect"]) == ("seat0", "s", "consistency")


async def test_an_unreadable_reply_is_kept() -> None:
    judge = FixedJudge(says=ParseError("no score line", reply="gibberish"))
    report = await panel_of(judge).assess(segment(), ASPECT)
    assert report.seats[0].report.reply == "gibberish"


@pytest.mark.parametrize(
    "says",
    [
        None,
        Report(score=7),
        Report(score=math.nan),
        Report(score=3, spans=(located("xxxx", 0, explanation="", severity=1),)),
    ],
)
async def test_a_report_that_does_not_fit_is_no_score(says: object) -> None:
    report = await panel_of(FixedJudge(says=says)).assess(segment(), ASPECT)
    assert report.outcome is Outcome.BACKEND_FAILED
    assert report.score is None


async def test_a_panel_whose_seats_all_abstain_abstains_and_says_why() -> None:
    judge = FixedJudge(says=Report(outcome=Outcome.ABSTAINED, reason="not my aspect"))
    report = await panel_of(judge, judge).assess(segment(), ASPECT)
    assert report.outcome is Outcome.ABSTAINED
    assert report.reason == "seat0, seat1: not my aspect"


async def test_a_judge_of_other_aspects_does_not_explain_why_an_aspect_was_not_judged() -> None:
    other = FixedJudge(says=not_about(ASPECT, "the form of the text"))
    abstains = FixedJudge(says=Report(outcome=Outcome.ABSTAINED, reason="it is German"))
    report = await panel_of(other, abstains).assess(segment(), ASPECT)
    assert report.reason == "seat1: it is German"
    alone = await panel_of(other).assess(segment(), ASPECT)
    assert alone.reason == "seat0: consistency is not about the form of the text"


async def test_no_judge_is_asked_what_cannot_be_judged() -> None:
    task = replace(ASPECT.task, input_headers={"Article": ()})
    aspect = replace(ASPECT, task=task, needs=("Article",))
    report = await panel_of(*scoring(5)).assess(replace(segment(), inputs={}), aspect)
    assert report.outcome is Outcome.ABSTAINED
    reason = "consistency cannot be judged without an input Article"
    assert report.seats[0].report.reason == reason
    misnamed = replace(segment(), inputs={}, meta={"year": 2001, "article": "It opened in 1932."})
    report = await panel_of(*scoring(5)).assess(misnamed, aspect)
    assert report.seats[0].report.reason.endswith(
        "; 'article' is not among the inputs: name it by --column inputs.Article=article"
    )


async def test_without_a_score_the_gravest_outcome_is_reported() -> None:
    abstains = FixedJudge(says=Report(outcome=Outcome.ABSTAINED, reason="no"))
    slow = FixedJudge(says=ModelTimeoutError("slow"))
    report = await panel_of(abstains, slow).assess(TEXT, ASPECT)
    assert report.outcome is Outcome.TIMED_OUT


async def test_spans_name_the_seats_that_found_them() -> None:
    span = mark(TEXT.output, "1935", "The year is wrong.")
    judge = FixedJudge(says=Report(score=2, spans=(span,)))
    (span,) = (await panel_of(judge, judge).assess(TEXT, ASPECT)).spans
    assert span.found_by == ("seat0", "seat1")


async def test_an_outlier_keeps_its_score_and_loses_its_spans() -> None:
    text = segment()
    dissent = Report(score=1, spans=(mark(text.output, "1935"),))
    report = await panel_of(*scoring(4, 4, 4, 4), FixedJudge(says=dissent)).assess(text, ASPECT)
    assert report.score == pytest.approx(17 / 5)
    assert (report.spans, report.set_aside) == ((), ("seat4",))
    assert report.seats[4].report.spans


async def test_spans_of_a_seat_without_a_score_stay_with_the_seat() -> None:
    text = segment()
    broken_off = Report(outcome=Outcome.TRUNCATED, reason="cut", spans=(mark(text.output, "1935"),))
    report = await panel_of(FixedJudge(says=broken_off), *scoring(4)).assess(text, ASPECT)
    assert report.spans == ()
    assert report.seats[0].report.spans


async def test_tokens_of_all_seats_are_summed() -> None:
    judge = FixedJudge(says=Report(score=3, usage=Usage(calls=1, prompt=10, completion=5)))
    report = await panel_of(judge, judge).assess(TEXT, ASPECT)
    assert report.usage == Usage(calls=2, prompt=20, completion=10)


async def test_an_aggregation_that_breaks_costs_this_report_only() -> None:
    def nonsense(_: Sequence[float]) -> float:
        return math.nan

    with capture_logs() as logs:
        report = await panel_of(*scoring(3), aggregation=nonsense).assess(segment(), ASPECT)
    assert report.outcome is Outcome.BACKEND_FAILED
    assert (report.seats[0].report.score, logs[0]["event"]) == (3, "panel.conclusion_failed")


@pytest.mark.parametrize(
    ("gives", "score", "reason"),
    [
        (100.0, None, "aggregation 'mean' returned 100.0, which is not within 1 to 5"),
        (0.0, None, "returned 0.0, which is not within 1 to 5"),
        (math.inf, None, "returned inf"),
        (5.000000000000001, 5.0, ""),
        (PanicError("rust"), None, "no report was made of theirs: PanicError('rust')"),
    ],
)
async def test_an_aggregated_score_is_on_the_scale_of_the_aspect(
    gives: float | BaseException, score: float | None, reason: str
) -> None:
    def aggregation(_: Sequence[float]) -> float:
        if isinstance(gives, BaseException):
            raise gives
        return gives

    report = await panel_of(*scoring(3), aggregation=aggregation).assess(segment(), ASPECT)
    assert report.score == score
    assert reason in report.reason


@dataclass(frozen=True)
class FixedConsolidator:
    gives: object
    signature: str = "fixed"

    async def consolidate(self, verdict: Verdict) -> object:
        return self.gives


@pytest.mark.parametrize(
    ("gives", "reason"),
    [
        ((), "the consolidator returned (), not a Consolidation"),
        (merged(mark("Another text", "text")), "(8, 12) of the output is not 'text'"),
        (
            merged(replace(mark(TEXT.output, "1935"), explanation=None)),  # type: ignore[arg-type]  # another's code
            "the consolidator gave None as explanation of its ErrorSpan, not str",
        ),
    ],
)
async def test_a_wrong_consolidator_costs_this_report_only(gives: object, reason: str) -> None:
    panel = panel_of(*scoring(3), consolidator=FixedConsolidator(gives))
    report = await panel.assess(TEXT, ASPECT)
    assert report.outcome is Outcome.BACKEND_FAILED
    assert reason in report.reason


async def test_log_context_does_not_outlive_an_assessment() -> None:
    with capture_logs() as logs:
        await panel_of(*scoring(3)).assess(segment(), ASPECT)
        EventLog().info("thing.done")
    assert logs == [{"event": "thing.done", "log_level": "info"}]


async def test_seats_judge_side_by_side() -> None:
    order: list[str] = []

    class Noting:
        signature = "noting"

        async def assess(self, segment: Segment, aspect: Aspect) -> Report:
            order.append("begins")
            await checkpoint()
            order.append("ends")
            return Report(score=3)

    await panel_of(Noting(), Noting()).assess(segment(), ASPECT)
    assert order == ["begins", "begins", "ends", "ends"]


async def test_a_panel_sits_on_a_panel() -> None:
    inner = panel_of(*scoring(2, 4))
    report = await panel_of(inner, *scoring(5)).assess(segment(), ASPECT)
    assert report.score == 4


def test_a_panel_needs_a_seat_and_distinct_names() -> None:
    with pytest.raises(ConfigError, match="at least one judge"):
        panel_of()
    with pytest.raises(ConfigError, match="distinct names, got a, a"):
        panel_of(*scoring(3, 3), names=["a", "a"])


def test_the_signature_changes_with_a_seat_and_with_nothing_else() -> None:
    one, other = panel_of(*scoring(3)), panel_of(FixedJudge(says=Report(score=3), name="other"))
    assert one.signature == panel_of(*scoring(4)).signature
    assert one.signature != other.signature


def report(*evidence: Evidence) -> Report:
    return Report(score=2, spans=(replace(mark(TEXT.output, "1935"), evidence=evidence),))


@pytest.mark.parametrize(
    "false",
    [
        Evidence(input="Article", start=12, end=16, text="1932"),
        Evidence(input="Article", start=13, end=17, text="1935"),
        Evidence(input="Article", start=113, end=117, text="1932"),
        Evidence(input="Context", start=13, end=17, text="1932"),
        Evidence(input="Article [1]", start=13, end=17, text="1932"),
    ],
)
def test_evidence_that_no_input_holds_is_not_passed_on(false: Evidence) -> None:
    assert checked_report(report(DATE), TEXT, ASPECT).spans[0].evidence == (DATE,)
    assert checked_report(report(false), TEXT, ASPECT).spans == ()
    assert checked_report(report(DATE, false), TEXT, ASPECT).spans == ()


def test_invalid_evidence_costs_the_report() -> None:
    with pytest.raises(JudgeError, match="not Evidence"):
        checked_report(report("the article"), TEXT, ASPECT)  # type: ignore[arg-type]  # another's code


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (replace(report(), usage=None), "None as usage of its Report"),  # type: ignore[arg-type]  # another's code
        (replace(report(), reply=b"no"), "b'no' as reply of its Report"),  # type: ignore[arg-type]  # as above
        (Report(score=np.float32(4)), "np.float32(4.0) as score of its Report"),  # type: ignore[arg-type]  # as above
        (Report(score=True), "True as score of its Report"),
        (
            Report(score=2, spans=(replace(mark(TEXT.output, "1935"), explanation=None),)),  # type: ignore[arg-type]  # as above
            "None as explanation of its ErrorSpan",
        ),
        (
            Report(score=2, spans=(replace(mark(TEXT.output, "1935"), severity=2.5),)),  # type: ignore[arg-type]  # as above
            "2.5 as severity of its ErrorSpan",
        ),
        (
            Report(outcome=Outcome.ABSTAINED, reason="x", is_other_kind="no"),  # type: ignore[arg-type]  # as above
            "'no' as is_other_kind of its Report, not bool",
        ),
        (Report(score=2, spans=iter(())), "as spans of its Report, not tuple"),  # type: ignore[arg-type]  # as above
        (Report(score=2, unverified=({},)), "{} as an item of unverified of its Report"),  # type: ignore[arg-type]  # as above
        (Report(score=2, usage=Usage(calls="1")), "'1' as calls of its Usage, not int"),  # type: ignore[arg-type]  # as above
        (SystemExit(7), "the judge's own code failed: SystemExit(7)"),
        (PanicError("rust"), "the judge's own code failed: PanicError('rust')"),
        (BaseExceptionGroup("two", [PanicError()]), "failed: BaseExceptionGroup('two'"),
        (CancelledError(), "failed: RuntimeError('it awaited a task that was cancelled')"),
    ],
)
async def test_what_no_file_could_hold_costs_one_seat_and_no_other(
    wrong: object, reason: str
) -> None:
    done = await panel_of(FixedJudge(says=wrong), *scoring(4)).assess(TEXT, ASPECT)
    assert (done.score, done.seats[0].report.outcome) == (4, Outcome.BACKEND_FAILED)
    assert reason in done.seats[0].report.reason


async def test_spans_that_are_merged_keep_the_evidence_of_all_and_each_place_once() -> None:
    judges = FixedJudge(says=report(DATE)), FixedJudge(says=report(VERB, DATE))
    (span,) = (await panel_of(*judges).assess(TEXT, ASPECT)).spans
    assert (span.found_by, span.evidence) == (("seat0", "seat1"), (DATE, VERB))
