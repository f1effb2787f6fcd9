"""The exam itself: reports, changed lists, and the scores that follow."""

from collections.abc import Sequence

import pytest
from anyio import fail_after
from fakes.faithful_judge import Faithful, opener
from fakes.judges import ASPECT, FixedJudge, segment
from fakes.logs import capture_logs

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    ErrorSpan,
    Judge,
    Outcome,
    ParseError,
    PerturbationError,
    Report,
    Rescoring,
    RescoringMethod,
    Result,
    RunStoppedError,
    Segment,
    StoreError,
)
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.studies.faithfulness.exam import Condition, Exam, examine
from spanjury.orchestration.studies.faithfulness.findings import findings_of
from spanjury.orchestration.studies.faithfulness.outcomes import (
    CONTROL,
    REPEAT,
    Change,
    ListOutcome,
)
from spanjury.orchestration.studies.judging import ExamRun, Recorder
from spanjury.perturbations.explanation.paper import paper_perturbations
from spanjury.perturbations.explanation.perturbation import explanation_perturbation

CONDITIONS = tuple(
    Condition(name=one.name, perturbation=one.perturbation, options=one.options)
    for one in paper_perturbations()
)
WRONG_YEAR = segment("year")
FINE = segment("fine", "It opened in 1932.")


def exam(*segments: Segment, conditions: tuple[Condition, ...] = CONDITIONS) -> Exam:
    return Exam(dataset="bridges", segments=segments, aspects=(ASPECT,), conditions=conditions)


async def run_exam(
    asked: Exam,
    *judges: Judge,
    stop_token: StopToken | None = None,
    shown: list[Result] | None = None,
    expected: list[int] | None = None,
) -> list[Change]:
    show = shown if shown is not None else []
    expect = expected if expected is not None else []
    with fail_after(30):
        examined = await examine(
            asked,
            ExamRun(
                open_panel=opener(*judges),
                workers=2,
                stop_token=stop_token or StopToken(),
                record=Recorder(show.append),
                expect=expect.append,
            ),
        )
    return list(examined.changes)


def by_name(rows: list[Change], text: str) -> dict[str, Change]:
    return {row.condition: row for row in rows if row.text == text}


async def test_a_faithful_judge_moves_as_its_list_says_and_never_otherwise() -> None:
    rows = await run_exam(exam(WRONG_YEAR, FINE), Faithful())
    named = by_name(rows, "year")
    assert list(named) == [CONTROL, *(one.name for one in CONDITIONS), REPEAT]
    assert (named[CONTROL].before, named[CONTROL].after, named[REPEAT].after) == (2, 2, 2)
    assert (named["severity-1"].after, named["severity-1"].severity_change) == (3, -1)
    assert named["severity+2"].after == 1
    assert (named["errors-1"].after, named["errors-1"].errors_after) == (5, 0)
    assert named["critical-error"].after == 1
    assert named["explanation-1"].after == 2
    assert named["explanation-1"].severity_change == -1
    assert named["errors-2"].list_outcome is ListOutcome.CLIPPED  # there is one error only
    assert {row.method for row in named.values() if row.after is not None} == {
        RescoringMethod.COMPUTED
    }
    assert by_name(rows, "fine")["severity+1"].list_outcome is ListOutcome.ERROR_FREE
    assert by_name(rows, "fine")["critical-error"].after == 1
    findings = findings_of(rows, draws=50)
    assert all(not one.against(one.with_room_against) > 0 for one in findings.findings)
    assert all(named.broad == 0 for named in findings.consistencies)


async def test_every_report_and_every_score_is_shown_and_no_other_is_expected() -> None:
    shown: list[Result] = []
    expected: list[int] = []
    judges = (Faithful(), Faithful(name="second", fails=ParseError("no", reply=""), fails_on=0))
    rows = await run_exam(exam(WRONG_YEAR, FINE), *judges, shown=shown, expected=expected)
    assert expected[0] == 2 * (1 + 2 * (len(CONDITIONS) + 2))
    assert expected[-1] == len(shown) < expected[0]
    asked = [row for row in rows if row.list_outcome is ListOutcome.RESCORED]
    assert len(shown) == len(asked) + 2
    assert [seat.seat for seat in shown[0].report.seats] == ["faithful", "second"]
    failed = [one.report.outcome for one in shown if one.report.score is None]
    assert failed == [row.outcome for row in asked if row.after is None]


async def test_the_same_exam_twice_says_the_same() -> None:
    assert await run_exam(exam(WRONG_YEAR, FINE), Faithful()) == await run_exam(
        exam(WRONG_YEAR, FINE), Faithful()
    )


async def test_every_seat_is_examined_by_itself() -> None:
    rows = await run_exam(exam(WRONG_YEAR), Faithful(), Faithful(name="second"))
    assert {row.judge for row in rows} == {"faithful", "second"}
    assert len(rows) == 2 * (len(CONDITIONS) + 2)


async def test_a_judge_that_cannot_rescore_is_named_before_any_is_asked() -> None:
    willing = Faithful()
    with pytest.raises(ConfigError, match="^mute: cannot say"):
        await run_exam(exam(WRONG_YEAR), willing, FixedJudge(says=Report(score=3), name="mute"))
    assert willing.asked == []


async def test_a_failure_is_an_outcome_and_counted() -> None:
    broken = Faithful(fails=ParseError("another error follows", reply="Error 2"), fails_on=0)
    rows = await run_exam(exam(WRONG_YEAR), broken)
    lost = by_name(rows, "year")["errors-1"]
    assert (lost.list_outcome, lost.after, lost.outcome) == (
        ListOutcome.RESCORED,
        None,
        Outcome.UNPARSEABLE,
    )
    assert lost.reason == "another error follows"
    named = {one.condition: one for one in findings_of(rows, draws=50).findings}
    assert named["errors-1"].overall.lost == 1


async def test_broken_code_of_a_judge_costs_one_score() -> None:
    with capture_logs() as logs:
        rows = await run_exam(exam(WRONG_YEAR), Faithful(fails=KeyError("x"), fails_on=0))
    assert by_name(rows, "year")["errors-1"].outcome is Outcome.BACKEND_FAILED
    assert [log["event"] for log in logs] == ["faithfulness.judge_broken"]


async def test_a_store_that_fails_ends_the_exam() -> None:
    with pytest.raises(StoreError):
        await run_exam(exam(WRONG_YEAR), Faithful(fails=StoreError("full"), fails_on=0))


async def test_a_report_without_a_score_is_not_asked_about() -> None:
    unscored = segment("none")

    class Silent(Faithful):
        async def assess(self, segment: Segment, aspect: Aspect) -> Report:
            del segment, aspect
            return Report(outcome=Outcome.REFUSED, reason="policy")

    judge = Silent()
    rows = await run_exam(exam(unscored), judge)
    assert {row.list_outcome for row in rows} == {ListOutcome.UNSCORED}
    assert {row.outcome for row in rows} == {Outcome.REFUSED}
    assert judge.asked == []


async def test_a_rule_that_fails_names_condition_and_text() -> None:
    @explanation_perturbation(push="falls", family="severity")
    def broken(*_: object) -> list[ErrorSpan]:
        raise KeyError("x")

    condition = Condition(name="broken", perturbation=broken)
    with pytest.raises(PerturbationError, match="broken cannot change 'year/consistency'"):
        await run_exam(exam(WRONG_YEAR, conditions=(condition,)), Faithful())


async def test_a_requested_stop_ends_the_exam() -> None:
    stop_token = StopToken()
    stop_token.request("enough")
    with pytest.raises(RunStoppedError, match="enough"):
        await run_exam(exam(WRONG_YEAR, FINE), Faithful(), stop_token=stop_token)


async def test_a_stop_that_is_requested_on_the_way_leaves_the_rest_undone() -> None:
    stop_token = StopToken()

    class Last(Faithful):
        async def rescore(
            self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
        ) -> Rescoring:
            stop_token.request("enough")
            return await Faithful.rescore(self, segment, aspect, spans)

    judge = Last()
    with pytest.raises(RunStoppedError, match="enough"):
        await run_exam(exam(WRONG_YEAR), judge, stop_token=stop_token)
    assert judge.asked == [1]


@pytest.mark.parametrize("doubled", [(WRONG_YEAR, WRONG_YEAR), ()])
def test_an_exam_needs_distinct_texts(doubled: tuple[Segment, ...]) -> None:
    with pytest.raises(ConfigError):
        exam(*doubled)
