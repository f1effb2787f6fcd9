"""The review of an agent's messages by the offline panel, and what goes back to the agent."""

import json
from functools import partial
from types import SimpleNamespace

import pytest
from fakes.judges import FixedJudge, mark
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)

from spanjury.agents import areview, jury_node, review
from spanjury.judges.core import ConfigError, ErrorSpan, ModelTimeoutError, Report, ToolSpec
from spanjury.judges.llm.annotator import Annotator
from spanjury.testing import ScriptedModel

Message = dict[str, object]

TOOLS = [
    {
        "name": name,
        "input_schema": {
            "type": "object",
            "properties": {key: {"type": kind} for key, kind in properties.items()},
        },
    }
    for name, properties in {
        "book_table": {"date": "string", "guests": "integer"},
        "cancel_booking": {"booking": "string"},
    }.items()
]
ASKED: list[Message] = [
    {"role": "system", "content": "Today is Thursday 7 May 2026."},
    {"role": "user", "content": "Book a table for four tomorrow."},
]
WRONG = {"date": "2026-05-09", "guests": 4}
RIGHT = {"date": "2026-05-08", "guests": 4}


def calling(name: str, /, **arguments: object) -> Message:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"{name}-{arguments}", "type": "function", "function": function}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def done(call: Message, **result: object) -> list[Message]:
    return [call, {"role": "tool", "tool_call_id": id_of(call), "content": json.dumps(result)}]


def calls_of(message: Message) -> list[Message]:
    calls = message["tool_calls"]
    assert isinstance(calls, list)
    return calls


def id_of(message: Message) -> object:
    return calls_of(message)[0]["id"]


def together(*messages: Message) -> Message:
    """Return the calls of several messages as one message."""
    calls = [call for message in messages for call in calls_of(message)]
    return {**messages[0], "tool_calls": calls}


def saying(text: str) -> Message:
    return {"role": "assistant", "content": text}


def booking(number: str, **arguments: object) -> list[Message]:
    return done(calling("book_table", **arguments), booking=number, **arguments)


FIRST = [*ASKED, *booking("LT-4071", **WRONG), saying("Your table for four is booked.")]


async def test_a_right_run_passes() -> None:
    messages = [*ASKED, *booking("LT-4071", **RIGHT), saying("The booking is LT-4071.")]
    passed = await areview(messages, tools=TOOLS)
    assert (passed.passed, passed.messages, passed.feedback) == (True, (), "")


async def test_a_wrong_value_goes_back_with_its_turn_its_call_and_its_path() -> None:
    reviewed = await areview(FIRST, tools=TOOLS)
    assert not reviewed.passed
    (message,) = reviewed.messages
    assert message["role"] == "user"
    assert '1. "2026-05-09", turn 3, call 1, $.date (' in reviewed.feedback
    assert "The date has no origin" in reviewed.feedback
    (rejection,) = reviewed.rejections
    assert [str(position) for position in rejection.positions] == ["turn 3, call 1, $.date"]


@pytest.mark.parametrize(
    ("second", "passes"),
    [
        pytest.param(
            [
                *done(calling("cancel_booking", booking="LT-4071"), cancelled="LT-4071"),
                *booking("LT-4072", **RIGHT),
                saying("The booking is LT-4072, after LT-4071 was cancelled."),
            ],
            True,
            id="mends it",
        ),
        pytest.param([*booking("LT-4072", **WRONG), saying("It is booked.")], False, id="repeats"),
        pytest.param([saying("I have booked your table for 8 May.")], False, id="only says so"),
    ],
)
async def test_after_feedback_only_the_new_attempt_is_judged(
    second: list[Message], passes: bool
) -> None:
    reviewed = await areview(FIRST, tools=TOOLS)
    messages = [*FIRST, *reviewed.messages, *second]
    again = await areview(messages, tools=TOOLS, after=reviewed.rejections)
    assert again.passed is passes
    assert len(again.rejections) == 2 - passes


async def test_feedback_is_no_source() -> None:
    reviewed = await areview(FIRST, tools=TOOLS)
    messages = [*FIRST, *reviewed.messages, *booking("LT-4072", **WRONG)]
    again = await areview(messages, tools=TOOLS, after=reviewed.rejections)
    assert again.report.segment.inputs["User [6]"] == ""
    assert "2026-05-09" in again.feedback


async def test_calls_that_wait_are_judged_alone_and_answered_each() -> None:
    waiting = calling("book_table", **WRONG)
    messages = [*ASKED, waiting]
    reviewed = await areview(messages, tools=TOOLS)
    assert [result.aspect.name for result in reviewed.report.results] == ["calls"]
    (answer,) = reviewed.messages
    assert (answer["role"], answer["tool_call_id"]) == ("tool", id_of(waiting))
    again = [*messages, *reviewed.messages, calling("book_table", **RIGHT)]
    assert (await areview(again, tools=TOOLS, after=reviewed.rejections)).passed


async def test_calls_that_wait_do_not_answer_for_an_earlier_call() -> None:
    messages = [*ASKED, *booking("LT-4071", **WRONG), calling("book_table", **RIGHT)]
    assert (await areview(messages, tools=TOOLS)).passed
    messages = [*messages[:-1], *booking("LT-4072", **RIGHT), saying("The booking is LT-4072.")]
    assert "turn 3, call 1, $.date" in (await areview(messages, tools=TOOLS)).feedback


async def test_words_that_an_earlier_request_holds_too_are_an_error_of_the_last_answer() -> None:
    messages = [*ASKED, saying("Is 9 May fine?"), *ASKED[1:], saying("I booked 9 May.")]
    reply = 'Error 1:\nLocation: "9 May"\nExplanation: Wrong.\nSeverity: 4\n\nOverall score: Poor'
    judge = Annotator(model=ScriptedModel(reply))
    reviewed = await areview(messages, since=3, aspects="honesty", judges=[judge])
    assert '1. "9 May", turn 5 (honesty, severity 4 of 5)' in reviewed.feedback


@pytest.mark.parametrize("fail_on", ["score<=3", "error_probability>=0.4"])
async def test_errors_of_earlier_requests_alone_send_nothing_back(fail_on: str) -> None:
    messages = [*ASKED, saying("I booked 9 May."), *ASKED[1:], saying("It is done.")]
    unmarked = FixedJudge(says=Report(score=5))
    text = (await areview(messages, aspects="honesty", judges=[unmarked])).report.text
    wrong = mark(text, "9 May", severity=4)
    judge = FixedJudge(says=Report(score=1, spans=(wrong,), error_probability=0.9))
    ask = partial(areview, aspects="honesty", judges=[judge], fail_on=fail_on)
    assert "9 May" in (await ask(messages)).feedback
    reviewed = await ask(messages, since=3)
    assert (reviewed.passed, reviewed.messages, reviewed.rejections) == (True, (), ())
    report = reviewed.report["honesty"]
    assert (report.spans, report.decision) == ((), None)
    assert report.score is not None
    assert report.score > 1


@pytest.mark.parametrize("since", [-1, 4])
async def test_since_must_be_a_number_of_messages(since: int) -> None:
    with pytest.raises(ConfigError, match=f"since must be 0 to 3 .*, got {since}"):
        await areview([*ASKED, saying("Done.")], since=since)


async def test_the_calls_of_a_turn_that_lack_results_are_judged_and_answered() -> None:
    first, second = calling("book_table", **RIGHT), calling("book_table", **WRONG)
    messages = [*ASKED, together(first, second), done(first, booking="LT-4071")[1]]
    reviewed = await areview(messages, tools=TOOLS)
    (answer,) = reviewed.messages
    assert (answer["role"], answer["tool_call_id"]) == ("tool", id_of(second))
    assert '1. "2026-05-09", turn 3, call 2, $.date (' in reviewed.feedback
    later = [*messages, answer, *done(second, booking="LT-4072"), saying("The booking is LT-4072.")]
    assert not (await areview(later, tools=TOOLS, after=reviewed.rejections)).passed
    later = [*messages, answer, saying("The booking is LT-4071.")]
    assert (await areview(later, tools=TOOLS, after=reviewed.rejections)).passed


async def test_an_error_of_a_call_with_a_result_is_not_an_error_of_the_calls_that_wait() -> None:
    first, second = calling("book_table", **WRONG), calling("book_table", **RIGHT)
    messages = [*ASKED, together(first, second), done(first, booking="LT-4071")[1]]
    assert (await areview(messages, tools=TOOLS)).passed


@pytest.mark.parametrize(
    ("options", "aspects"),
    [
        ({"task": "summarization"}, ["calls"]),
        ({"task": "agent-conversation"}, ["calls"]),
        ({"aspects": "groundedness"}, ["calls"]),
        ({"aspects": ["groundedness", "honesty"]}, ["calls"]),
        ({"aspects": ["groundedness", "calls", "constraints"]}, ["calls", "constraints"]),
        ({"fail_on": "aspect=calls and severity>=3"}, ["calls"]),
    ],
)
async def test_calls_that_wait_are_judged_as_calls_whatever_answers_are_judged_on(
    options: dict[str, str], aspects: list[str]
) -> None:
    messages = [*ASKED, calling("book_table", **WRONG)]
    reviewed = await areview(messages, tools=TOOLS, **options)  # type: ignore[arg-type]  # options
    assert [result.aspect.name for result in reviewed.report.results] == aspects
    assert "2026-05-09" in reviewed.feedback


async def test_a_condition_on_an_aspect_that_nothing_is_judged_on_is_refused() -> None:
    expected = "nothing is judged on 'consistency'; choose from groundedness, calls, honesty"
    with pytest.raises(ConfigError, match=expected):
        await areview(FIRST, fail_on="aspect=consistency and severity>=3")


async def test_messages_of_pydantic_ai_need_no_conversion() -> None:
    messages: list[ModelMessage] = [
        ModelRequest(
            parts=[
                SystemPromptPart("Today is Thursday 7 May 2026."),
                UserPromptPart("Book a table for four tomorrow."),
            ]
        ),
        ModelResponse(parts=[ToolCallPart("book_table", WRONG), TextPart("One moment.")]),
    ]
    assert "2026-05-09" in (await areview(messages, tools=TOOLS)).feedback


async def test_what_no_judge_could_read_has_not_passed() -> None:
    failing = FixedJudge(says=ModelTimeoutError("the server is silent"))
    reviewed = await areview(FIRST, aspects="honesty", judges=[failing])
    assert (reviewed.passed, reviewed.messages) == (False, ())
    assert "the server is silent" in reviewed.unread["honesty"]


async def test_an_error_without_a_position_still_goes_back() -> None:
    omission = ErrorSpan(text="", explanation="The price is missing.", severity=5)
    lost = FixedJudge(says=Report(score=1, spans=(omission,)))
    reviewed = await areview(FIRST, aspects="honesty", judges=[lost])
    assert "The price is missing." in reviewed.feedback
    messages = [*FIRST, *reviewed.messages, saying("The price is 20 dollars.")]
    again = await areview(messages, after=reviewed.rejections, aspects="honesty", judges=[lost])
    assert "Your table for four is booked." not in again.report.text


async def test_messages_that_were_cut_since_the_last_review_are_refused() -> None:
    reviewed = await areview(FIRST, tools=TOOLS)
    with pytest.raises(ConfigError, match="expected the 6 of the last review"):
        await areview(FIRST[2:], tools=TOOLS, after=reviewed.rejections)


def test_a_tool_may_be_an_object_that_specifies_it() -> None:
    schema = {"type": "object", "properties": {"date": {"type": "string"}}}
    tool = SimpleNamespace(name="book_table", description="Book.", params_json_schema=schema)
    trajectory = review(FIRST, tools=[tool]).report.segment.trajectory
    assert trajectory is not None
    assert trajectory.tools == (
        ToolSpec(name="book_table", description="Book.", parameters=schema),
    )
    with pytest.raises(ConfigError, match="expected its name, description and parameters"):
        review(FIRST, tools=[lambda date: date])
    with pytest.raises(ConfigError, match="tools must be a list, got a dict"):
        review(FIRST, tools=TOOLS[0])  # type: ignore[arg-type]


def test_a_program_that_is_not_asynchronous_reviews_too() -> None:
    assert not review(FIRST, tools=TOOLS).passed


def test_a_node_refuses_tools_without_a_specification_when_it_is_made() -> None:
    with pytest.raises(ConfigError, match="expected its name, description and parameters"):
        jury_node(tools=[json.dumps])
