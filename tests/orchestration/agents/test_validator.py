"""The output validator, in real agents over real panels; only the models are scripted."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from fakes.judges import FixedJudge, mark
from fakes.repairing import panel_of
from pydantic import BaseModel
from pydantic_ai import Agent, RunContext, UnexpectedModelBehavior, capture_run_messages
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    RetryFeedbackPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from spanjury import TextReport
from spanjury.agents import jury_validator
from spanjury.judges.core import ConfigError, ErrorSpan, JudgeError, ModelTimeoutError, Report
from spanjury.orchestration.engine.panel import Panel
from spanjury.testing import MarkingJudge

pytestmark = pytest.mark.asyncio_only

SOURCE = "The bridge opened in 1932. It cost 20 million dollars."
WRONG = "The bridge opened in 1935."
RIGHT = "The bridge opened in 1932."


class Script:
    """A model that gives its outputs in turn."""

    def __init__(self, *outputs: str) -> None:
        self.outputs = list(outputs)

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        output = self.outputs.pop(0)
        if info.output_tools:
            call = ToolCallPart(info.output_tools[0].name, {"title": "A bridge", "body": output})
            return ModelResponse(parts=[call])
        return ModelResponse(parts=[TextPart(output)])


def said_back(messages: Sequence[ModelMessage]) -> list[str]:
    """Return what the model was sent after the user's prompt."""
    return [
        str(part.content)
        for message in messages
        for part in message.parts
        if isinstance(part, RetryFeedbackPart | ToolReturnPart)
    ]


async def test_a_faulty_output_goes_back_with_numbered_errors_and_evidence(panel: Panel) -> None:
    agent = Agent(FunctionModel(Script(WRONG, RIGHT)), retries=2)
    reports: list[TextReport] = []
    agent.output_validator(
        jury_validator(panel, "consistency", source=SOURCE, on_report=reports.append)
    )
    done = await agent.run("Summarise.")
    assert done.output == RIGHT
    (feedback,) = said_back(done.all_messages())
    assert '1. "1935" at 21-25 (consistency, contradicted date, severity 4 of 5)' in feedback
    assert "The source says '1932'." in feedback
    assert 'Article says: "The bridge opened in 1932."' in feedback
    assert [report.text for report in reports] == [WRONG, RIGHT]


async def test_an_output_may_answer_the_question_of_the_run(panel: Panel) -> None:
    def asked(context: RunContext[str]) -> str:
        return context.deps

    agent = Agent(FunctionModel(Script(RIGHT, RIGHT)), deps_type=str)
    reports: list[TextReport] = []
    for question in ("When did it open?", asked):
        agent.output_validator(
            jury_validator(panel, source=SOURCE, question=question, on_report=reports.append)
        )
    await agent.run("Answer.", deps="When did it open?")
    assert len(reports) == 2
    for report in reports:
        assert report.segment.inputs == {"Question": "When did it open?", "Context": SOURCE}
        assert report.segment.task == "question-answering"


async def test_words_that_two_judges_mark_are_sent_back_once_with_both_explanations() -> None:
    agent = Agent(FunctionModel(Script(WRONG, RIGHT)), retries=1)
    spans = (
        mark(WRONG, "1935", "It is late.", 4, category="contradicted date"),
        mark(WRONG, "1935", "It reads oddly.", 4, category="form"),
    )
    judges = [FixedJudge(says=Report(score=1, spans=(span,))) for span in spans]
    aspects = ["consistency", "fluency"]
    agent.output_validator(
        jury_validator(aspects=aspects, judges=judges, source=SOURCE, on_unscored="accept")
    )
    feedback, *_ = said_back((await agent.run("Summarise.")).all_messages())
    assert feedback.count('"1935"') == 1
    assert "(consistency, fluency, contradicted date, " in feedback
    assert "   It is late.\n   It reads oddly.\n" in feedback


async def test_a_sound_output_passes_at_once(panel: Panel) -> None:
    agent = Agent(FunctionModel(Script(RIGHT)))
    agent.output_validator(jury_validator(panel, "consistency", source=SOURCE))
    assert (await agent.run("Summarise.")).output == RIGHT


async def test_retries_that_are_used_up_end_the_run(panel: Panel) -> None:
    agent = Agent(FunctionModel(Script(WRONG, WRONG, WRONG)), retries=2)
    agent.output_validator(jury_validator(panel, "consistency", source=SOURCE))
    with pytest.raises(UnexpectedModelBehavior):
        await agent.run("Summarise.")


@dataclass
class Deps:
    article: str


class Summary(BaseModel):
    title: str
    body: str


async def test_the_source_is_the_run_s_and_the_text_a_structured_output(panel: Panel) -> None:
    agent = Agent(
        FunctionModel(Script(WRONG, RIGHT)), output_type=Summary, deps_type=Deps, retries=1
    )

    async def article(context: RunContext[Deps]) -> str:
        return context.deps.article

    def body(summary: Summary) -> str:
        return summary.body

    agent.output_validator(jury_validator(panel, "consistency", source=article, text=body))
    done = await agent.run("Summarise.", deps=Deps(SOURCE))
    assert done.output == Summary(title="A bridge", body=RIGHT)
    assert '"1935" at 21-25' in said_back(done.all_messages())[0]


async def test_judges_of_ones_own_need_no_open_panel() -> None:
    agent = Agent(FunctionModel(Script(WRONG, RIGHT)), retries=1)
    judges = [MarkingJudge(quotes={"1935": 4})]
    agent.output_validator(jury_validator(aspects="fluency", judges=judges))
    assert (await agent.run("Summarise.")).output == RIGHT


async def test_only_the_named_conditions_send_an_output_back(panel: Panel) -> None:
    agent = Agent(FunctionModel(Script(WRONG)))
    agent.output_validator(
        jury_validator(panel, "consistency", source=SOURCE, fail_on="severity>=5")
    )
    assert (await agent.run("Summarise.")).output == WRONG


async def test_an_output_that_no_judge_has_read_does_not_pass_for_checked() -> None:
    away = panel_of(FixedJudge(says=ModelTimeoutError("the judge is away")))
    agent = Agent(FunctionModel(Script(WRONG)), retries=3)
    agent.output_validator(jury_validator(away, "consistency", source=SOURCE))
    with pytest.raises(JudgeError, match="the judge is away"):
        await agent.run("Summarise.")


async def test_other_policies_for_unscored_outputs_are_asked_for_by_name() -> None:
    away = panel_of(FixedJudge(says=ModelTimeoutError("the judge is away")))
    accepting = Agent(FunctionModel(Script(WRONG)))
    accepting.output_validator(
        jury_validator(away, "consistency", source=SOURCE, on_unscored="accept")
    )
    assert (await accepting.run("Summarise.")).output == WRONG
    script = Script(WRONG, WRONG)
    retrying = Agent(FunctionModel(script), retries=1)
    retrying.output_validator(
        jury_validator(away, "consistency", source=SOURCE, on_unscored="retry")
    )
    with pytest.raises(UnexpectedModelBehavior):
        await retrying.run("Summarise.")
    assert script.outputs == []


INVENTED = ErrorSpan(text="1999", explanation="It opened in 1932.", severity=5)
"""An error whose quote is in none of the outputs."""


async def test_a_quote_that_the_output_does_not_contain_sends_nothing_back() -> None:
    inventing = panel_of(FixedJudge(says=Report(score=4, spans=(INVENTED,))))
    script = Script(RIGHT)
    agent = Agent(FunctionModel(script), retries=3)
    agent.output_validator(jury_validator(inventing, "consistency", source=SOURCE))
    assert (await agent.run("Summarise.")).output == RIGHT


async def test_feedback_leaves_out_quotes_that_do_not_count() -> None:
    spans = (INVENTED, mark(WRONG, "1935", severity=4))
    judging = panel_of(FixedJudge(says=Report(score=2, spans=spans)))
    for fail_on, has_invented in (
        ("severity>=4", False),
        (("severity>=4", "severity>=4 and located=unlocated"), True),
    ):
        agent = Agent(FunctionModel(Script(WRONG, WRONG)), retries=1)
        agent.output_validator(
            jury_validator(judging, "consistency", source=SOURCE, fail_on=fail_on)
        )
        with capture_run_messages() as messages, pytest.raises(UnexpectedModelBehavior):
            await agent.run("Summarise.")
        (feedback, *_) = said_back(messages)
        assert '"1935" at 21-25' in feedback
        assert ('"1999"' in feedback) is has_invented


async def test_a_report_that_fails_without_an_error_says_why() -> None:
    low = panel_of(FixedJudge(says=Report(score=1)))
    agent = Agent(FunctionModel(Script(WRONG, RIGHT)), retries=1)
    agent.output_validator(jury_validator(low, "consistency", source=SOURCE, fail_on="score<2"))
    with capture_run_messages() as messages, pytest.raises(UnexpectedModelBehavior):
        await agent.run("Summarise.")
    (feedback, *_) = said_back(messages)
    assert "consistency: unsure: The score is in the lower half" in feedback


async def test_a_stream_is_judged_when_it_is_whole(panel: Panel) -> None:
    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        for word in ("The bridge", " opened in", " 1932."):
            yield word

    agent = Agent(FunctionModel(stream_function=stream))
    reports: list[TextReport] = []
    agent.output_validator(
        jury_validator(panel, "consistency", source=SOURCE, on_report=reports.append)
    )
    async with agent.run_stream("Summarise.") as streamed:
        seen = [text async for text in streamed.stream_output(debounce_by=None)]
    assert len(seen) > 1
    assert {report.text for report in reports} == {RIGHT}


def test_settings_that_cannot_be_are_refused_when_the_validator_is_made() -> None:
    with pytest.raises(ConfigError, match="no field 'gravity'"):
        jury_validator(fail_on="gravity>=4")
    with pytest.raises(ConfigError, match="on_unscored must be 'raise', 'retry' or 'accept', got"):
        jury_validator(on_unscored="ignore")  # type: ignore[arg-type]  # the mistake


@pytest.mark.parametrize("terms", [{"aspects": "consistency"}, {"task": "agent"}])
async def test_a_condition_on_an_aspect_that_no_output_is_judged_on_is_refused_at_once(
    panel: Panel, terms: dict[str, str]
) -> None:
    fail_on = "aspect=relevance and severity>=4"
    with pytest.raises(ConfigError, match="nothing is judged on 'relevance'"):
        jury_validator(panel, source=SOURCE, fail_on=fail_on, **terms)  # type: ignore[arg-type]  # keywords


async def test_an_unknown_aspect_is_refused_when_the_validator_is_made(panel: Panel) -> None:
    with pytest.raises(ConfigError, match="'consistncy'; did you mean 'consistency'"):
        jury_validator(panel, "consistncy", source=SOURCE)


async def test_a_condition_is_refused_in_the_run_if_the_source_decides_on_the_task(
    panel: Panel,
) -> None:
    agent = Agent(FunctionModel(Script(WRONG)))
    fail_on = "aspect=simplicity and severity>=4"
    agent.output_validator(jury_validator(panel, source=SOURCE, fail_on=fail_on))
    with pytest.raises(ConfigError, match="nothing is judged on 'simplicity'"):
        await agent.run("Summarise.")


def test_a_score_is_accepted_if_it_divides_the_scale_of_one_of_the_possible_tasks(
    tmp_path: Path,
) -> None:
    aspect = 'kind = "form"\ndefinition = "It is good."\ninputs = ["Text"]\n'
    scales = {"short": '["Bad", "Good"]', "usual": '["Bad", "Poor", "Fair", "Good", "Great"]'}
    (tmp_path / "tasks.toml").write_text(
        "".join(
            f'[tasks.{task}]\ndescription = "Write."\ninput_headers.Text = []\n'
            f"[tasks.{task}.aspects.grade]\nscale = {labels}\n{aspect}"
            for task, labels in scales.items()
        )
    )
    make = partial(
        jury_validator,
        aspects="grade",
        aspects_files=[tmp_path / "tasks.toml"],
        fail_on="aspect=grade and score<=2",
    )
    make()
    with pytest.raises(ConfigError, match="always holds; scores: grade from 1 to 2"):
        make(task="short")


async def test_arguments_of_another_type_are_refused_by_name(panel: Panel) -> None:
    wrong: Mapping[str, object] = {"aspects": 3, "text": "body", "on_report": 3, "source": 3}
    for name, value in wrong.items():
        with pytest.raises(ConfigError, match=f"^{name} must be .*, got {value!r}$"):
            jury_validator(panel, **{name: value})  # type: ignore[arg-type]  # the mistake


async def test_an_output_that_is_no_text_names_the_remedy(panel: Panel) -> None:
    agent = Agent(FunctionModel(Script(RIGHT)), output_type=Summary)
    agent.output_validator(jury_validator(panel, "consistency", source=SOURCE))
    with pytest.raises(ConfigError, match="type Summary is no text"):
        await agent.run("Summarise.")


async def test_judges_may_abstain_on_aspects_that_were_not_named(panel: Panel) -> None:
    agent = Agent(FunctionModel(Script(RIGHT)))
    agent.output_validator(jury_validator(panel, source=SOURCE))
    assert (await agent.run("Summarise.")).output == RIGHT
    asking = Agent(FunctionModel(Script(RIGHT)))
    asking.output_validator(jury_validator(panel, ("consistency", "fluency"), source=SOURCE))
    with pytest.raises(JudgeError, match="fluency: abstained"):
        await asking.run("Summarise.")
    sourceless = Agent(FunctionModel(Script(RIGHT)))
    sourceless.output_validator(jury_validator(panel))
    with pytest.raises(JudgeError, match="consistency: abstained"):
        await sourceless.run("Summarise.")
