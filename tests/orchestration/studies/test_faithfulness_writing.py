"""Explanations that a model writes for an exam: what is written, what is skipped, what ends it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from anyio import Event, create_task_group, fail_after, wait_all_tasks_blocked
from fakes.faithful_judge import Faithful, opener
from fakes.judges import ASPECT, segment

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ChatRequest,
    ErrorSpan,
    ModelError,
    ModelTimeoutError,
    PermanentModelError,
    PerturbationError,
    Reply,
    Rescoring,
    RunStoppedError,
    Segment,
    TransientModelError,
)
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.studies.faithfulness.exam import Condition, Exam, examine
from spanjury.orchestration.studies.faithfulness.findings import (
    cautions,
    findings_json,
    findings_of,
)
from spanjury.orchestration.studies.faithfulness.outcomes import Change, ListOutcome
from spanjury.orchestration.studies.faithfulness.tables import faithfulness_report
from spanjury.orchestration.studies.generation import TextGenerator
from spanjury.orchestration.studies.judging import ExamRun, Recorder
from spanjury.perturbations.explanation.errors import add_errors, critical_error
from spanjury.perturbations.explanation.levels import (
    soften_both,
    soften_severity,
    worsen_explanation,
)
from spanjury.testing import ScriptedModel

FIRST, SECOND, THIRD = (segment(name) for name in "abc")
FINE = segment("fine", "It opened in 1932.")
NOTE = "This is wrong: 1935 cannot be the year."
WORDS = Condition(name="words", perturbation=worsen_explanation)
BOTH = Condition(name="both", perturbation=soften_both, options={"by": 2})
FALSE = Condition(name="false", perturbation=add_errors)
RULED = (
    Condition(name="severity", perturbation=soften_severity),
    Condition(name="critical", perturbation=critical_error),
)
UNFIT = "the model, asked twice, wrote no such explanation"


class Listening(Faithful):
    """Keeps the lists that it is asked about."""

    def __init__(self) -> None:
        super().__init__()
        self.lists: list[list[str]] = []

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        self.lists.append([span.explanation for span in spans])
        return await Faithful.rescore(self, segment, aspect, spans)


async def run_exam(
    model: ChatModel,
    *conditions: Condition,
    segments: Sequence[Segment] = (FIRST,),
    judge: Faithful | None = None,
    stop_token: StopToken | None = None,
) -> list[Change]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[ChatModel]:
        yield model

    exam = Exam(
        dataset="bridges",
        segments=tuple(segments),
        aspects=(ASPECT,),
        conditions=conditions,
        seed=5,
    )
    with fail_after(30):
        examined = await examine(
            exam,
            ExamRun(
                open_panel=opener(judge or Faithful()),
                workers=1,
                stop_token=stop_token or StopToken(),
                record=Recorder(lambda _: None),
            ),
            generator=TextGenerator(name="the writer", open=opened, workers=1),
        )
    return list(examined.changes)


def under(rows: Sequence[Change], condition: str) -> list[Change]:
    return [row for row in rows if row.condition == condition]


async def test_the_model_words_what_it_can_be_asked_for_and_rules_the_rest() -> None:
    model, judge = ScriptedModel(NOTE, "1935 is slightly off.", "It says so nowhere."), Listening()
    rows = await run_exam(model, *RULED, WORDS, BOTH, FALSE, judge=judge)
    # Control, severity and critical error; then what was written; then the control again.
    assert judge.lists[3:-1] == [
        [NOTE],
        ["1935 is slightly off."],
        ["wrong", "It says so nowhere."],
    ]
    assert [row.written_by for row in rows] == ["", "", "", *["the writer"] * 3, ""]
    assert {row.list_outcome for row in rows} == {ListOutcome.RESCORED}
    (both,) = under(rows, "both")
    assert (both.before, both.after, both.severity_change) == (2, 4, -2)
    assert {request.decoding.seed for request in model.requests} == {5}
    assert "about this quality" not in model.requests[0].messages[-1].content
    assert ASPECT.definition in model.requests[2].messages[-1].content


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        (("wrong", "I'm sorry, no."), UNFIT),
        ((ModelTimeoutError("after 120 s"),), "the model failed: timed_out"),
        ((TransientModelError("gone"),), "the model failed: backend_failed"),
    ],
)
async def test_failed_rewritings_are_skipped_with_the_reason(
    replies: tuple[str | Exception, ...], reason: str
) -> None:
    model, judge = ScriptedModel(*replies, NOTE, NOTE), Listening()
    rows = await run_exam(model, WORDS, segments=(FIRST, SECOND, THIRD), judge=judge)
    lost, *others = under(rows, "words")
    assert (lost.list_outcome, lost.reason, lost.after) == (ListOutcome.FAILED, reason, None)
    assert [row.list_outcome for row in others] == [ListOutcome.RESCORED] * 2
    assert sum(finding == [NOTE] for finding in judge.lists) == 2
    findings = findings_of(rows, draws=50)
    (finding,) = (one for one in findings.findings if one.condition == "words")
    assert finding.failed == {reason: 1}
    assert (finding.overall.reports, finding.with_errors.reports, finding.overall.lost) == (2, 2, 0)
    assert finding.net is not None
    assert finding.net.used == 2
    page = report_markdown(faithfulness_report(findings, data="bridges"))
    assert "Explanations written by `the writer`: words." in page
    assert f"| {reason} (1) |" in page
    assert "the writer did not write 1 of 3 lists" in " ".join(cautions(findings))
    plain = findings_json(findings)["findings"]
    assert isinstance(plain, list)
    assert [one["written_by"] for one in plain] == ["", "the writer", ""]
    assert plain[1]["failed"] == {reason: 1}


async def test_no_model_is_asked_about_a_list_that_cannot_be_changed() -> None:
    rows = await run_exam(ScriptedModel(), WORDS, segments=(FINE,))
    (finding,) = under(rows, "words")
    assert (finding.list_outcome, finding.written_by) == (ListOutcome.ERROR_FREE, "the writer")


async def test_an_option_that_does_not_fit_is_refused_before_the_model_is_asked() -> None:
    wrong = Condition(name="wrong", perturbation=worsen_explanation, options={"by": 9})
    with pytest.raises(PerturbationError, match="wrong cannot change 'a/consistency': by must be"):
        await run_exam(ScriptedModel(), wrong)


async def test_a_writer_that_cannot_be_asked_ends_the_exam_and_names_the_text() -> None:
    model = ScriptedModel(NOTE, PermanentModelError("wrong key"), repeat_last=True)
    with pytest.raises(PermanentModelError, match="words of 'b' cannot be written: wrong key"):
        await run_exam(model, WORDS, segments=(FIRST, SECOND, THIRD))
    assert len(model.requests) == 2


async def test_a_writer_that_answers_nothing_at_all_ends_the_exam() -> None:
    model = ScriptedModel(TransientModelError("gone"), repeat_last=True)
    with pytest.raises(ModelError, match="the writer wrote nothing: gone"):
        await run_exam(model, WORDS, segments=(FIRST, FINE))


async def test_a_requested_stop_lets_the_model_finish_and_asks_nothing_new() -> None:
    stop_token, judge, may = StopToken(), Listening(), Event()

    class Slow:
        signature = "slow"

        async def complete(self, request: ChatRequest) -> Reply:
            del request
            await may.wait()
            return Reply(text=NOTE)

    async def run() -> None:
        with pytest.raises(RunStoppedError, match="enough"):
            await run_exam(Slow(), WORDS, BOTH, judge=judge, stop_token=stop_token)

    async with create_task_group() as group:
        group.start_soon(run)
        await wait_all_tasks_blocked()
        stop_token.request("enough")
        may.set()
    assert judge.lists == [["wrong"], [NOTE]]
