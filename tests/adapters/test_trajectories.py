"""Messages of agents as their libraries write them, read as trajectories and written again."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from spanjury.adapters.files.reading.rows import segment_row
from spanjury.adapters.files.reading.sources import by_source
from spanjury.adapters.files.reading.trajectories import (
    as_trajectory,
    trajectory_in_text,
    trajectory_of,
    trajectory_row,
)
from spanjury.judges.core import ConfigError, DataError, Segment, ToolCall, Trajectory, Turn
from spanjury.judges.core.transcript import position_in
from spanjury.orchestration.wiring.sources import columns_for, open_rows, open_source

Message = Mapping[str, object]

ASK, CITY, FAULT, ANSWER = "Rain in Bergen?", {"city": "Bergen"}, "no such city", "I cannot tell."
CALL = ToolCall(call_id="c1", name="weather", arguments=json.dumps(CITY))
TURNS = (
    Turn(role="user", text=ASK),
    Turn(role="assistant", text="I look.", calls=(CALL,)),
    Turn(role="tool", text=FAULT, call_id="c1", name="weather", failed=True),
    Turn(role="assistant", text=ANSWER),
)


def pydantic_ai(failed: Message) -> list[Message]:
    """Return the messages of a version that has a failed call as a part of this kind."""
    tool = {"tool_name": "weather", "tool_call_id": "c1"}
    answered = [
        {"part_kind": "thinking", "content": "Hm."},
        {"part_kind": "text", "content": "I look."},
        {"part_kind": "tool-call", **tool, "args": CITY},
    ]
    return [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": ASK}]},
        {"kind": "response", "parts": answered},
        {"kind": "request", "parts": [{**failed, **tool, "content": FAULT}]},
        {"kind": "response", "parts": [{"part_kind": "text", "content": ANSWER}]},
    ]


DIALECTS: Mapping[str, list[Message]] = {
    "chat": [
        {"role": "user", "content": ASK},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "weather", "arguments": json.dumps(CITY)},
                }
            ],
        },
        {
            "role": "tool",
            "tool_call_id": "c1",
            "name": "weather",
            "content": FAULT,
            "is_error": True,
        },
        {"role": "assistant", "content": ANSWER},
    ],
    "responses": [
        {"role": "user", "content": [{"type": "input_text", "text": ASK}]},
        {"type": "reasoning", "id": "r1", "summary": []},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "I look."}],
        },
        {
            "type": "function_call",
            "id": "fc9",
            "call_id": "c1",
            "name": "weather",
            "arguments": json.dumps(CITY),
        },
        {
            "type": "function_call_output",
            "call_id": "c1",
            "name": "weather",
            "output": FAULT,
            "status": "incomplete",
        },
        {"role": "assistant", "content": ANSWER},
    ],
    "anthropic": [
        {"role": "user", "content": ASK},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm."},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "weather", "input": CITY},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "name": "weather",
                    "is_error": True,
                    "content": [{"type": "text", "text": FAULT}],
                }
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
    ],
    "pydantic-ai": pydantic_ai({"part_kind": "retry-prompt"}),
    "pydantic-ai 2": pydantic_ai({"part_kind": "tool-return", "outcome": "failed"}),
    "langchain": [
        {"type": "human", "data": {"content": ASK}},
        {
            "type": "ai",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "weather", "input": CITY},
            ],
            "tool_calls": [{"name": "weather", "args": CITY, "id": "c1", "type": "tool_call"}],
        },
        {
            "type": "tool",
            "content": FAULT,
            "tool_call_id": "c1",
            "name": "weather",
            "status": "error",
        },
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "AIMessage"],
            "kwargs": {"content": ANSWER},
        },
    ],
    "inspect": [
        {"role": "user", "content": ASK},
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "reasoning": "Hm."},
                {"type": "text", "text": "I look."},
            ],
            "tool_calls": [
                {"id": "c1", "function": "weather", "arguments": CITY, "type": "function"}
            ],
        },
        {
            "role": "tool",
            "content": "",
            "tool_call_id": "c1",
            "function": "weather",
            "error": {"type": "unknown", "message": FAULT},
        },
        {"role": "assistant", "content": ANSWER},
    ],
}
CHAT = DIALECTS["chat"]


@pytest.mark.parametrize("name", DIALECTS)
def test_every_library_writes_the_same_trajectory(name: str) -> None:
    trajectory = trajectory_of(DIALECTS[name])
    assert trajectory is not None
    assert trajectory.turns == TURNS


def rpc(number: int, **fields: object) -> Message:
    return {"jsonrpc": "2.0", "id": number, **fields}


def test_calls_of_mcp_are_turns_with_the_tools_of_the_server() -> None:
    listed = {"tools": [{"name": "weather", "inputSchema": {"type": "object"}}]}
    returned = {"content": [{"type": "text", "text": FAULT}], "isError": True}
    trajectory = trajectory_of(
        [
            rpc(0, method="initialize", params={}),
            rpc(0, result={"serverInfo": {}}),
            rpc(1, method="tools/list"),
            rpc(1, result=listed),
            rpc(2, method="tools/call", params={"name": "weather", "arguments": CITY}),
            rpc(2, result=returned),
        ]
    )
    assert trajectory is not None
    assert [tool.name for tool in trajectory.tools] == ["weather"]
    call, result = trajectory.turns
    assert call.calls == (ToolCall(call_id="2", name="weather", arguments=json.dumps(CITY)),)
    assert (result.text, result.failed, result.call_id) == (FAULT, True, "2")


def test_parts_of_gemini_and_bedrock_are_read_by_their_keys() -> None:
    called = {"functionCall": {"name": "weather", "args": CITY}}
    returned = {"functionResponse": {"name": "weather", "response": {"mm": 2}}}
    parts = (("user", {"text": ASK}), ("model", called), ("user", returned))
    _, gemini, result = as_trajectory(
        [{"role": role, "parts": [part]} for role, part in parts]
    ).turns
    used = {"toolUse": {"toolUseId": "t", "name": "weather", "input": CITY}}
    (bedrock,) = as_trajectory([{"role": "assistant", "content": [used]}]).turns
    assert gemini.calls[0].arguments == bedrock.calls[0].arguments == json.dumps(CITY)
    assert (result.role, result.text) == ("tool", '{"mm": 2}')


def test_images_are_kept_by_reference_alone() -> None:
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
    ]
    messages = [{"role": "user", "content": parts}, {"role": "assistant", "content": "?"}]
    asked, _ = as_trajectory(messages).turns
    assert asked.text == "What is this?"
    assert asked.images == ("https://example.org/a.png", "image/png of 4 characters")


def test_a_written_trajectory_reads_the_same_again(tmp_path: Path) -> None:
    system = Turn(role="system", text="Be brief.")
    odd = ToolCall(call_id="", name="note", arguments='not {"json')
    turns = (system, system, *TURNS, Turn(role="user", text="", images=("a.png",)))
    trajectory = Trajectory(turns=(*turns, Turn(role="assistant", calls=(odd,))))
    assert as_trajectory(trajectory_row(trajectory)) == trajectory
    row = {"id": "a", **trajectory_row(trajectory), "errors": [{"turn": 8, "call": 1, "path": "$"}]}
    (segment,) = read(row)
    assert read(segment_row(segment)) == [segment]
    assert list(by_source(iter([segment]))) == [segment]
    changed = replace(segment, output="another text")
    assert segment_row(changed)["output"] == "another text"


def read(row: object, *columns: str) -> list[Segment]:
    segments = list(open_rows([row], columns=columns))
    assert all(isinstance(segment, Segment) for segment in segments), segments
    return [segment for segment in segments if isinstance(segment, Segment)]


def fault(row: object) -> str:
    (problem,) = open_rows([row])
    assert isinstance(problem, DataError)
    return str(problem)


def test_errors_by_turn_call_and_path_become_gold_spans() -> None:
    errors = [
        {"turn": 2, "call": 1, "path": "$.city", "text": "Berg", "kind": "wrong-argument"},
        {"turn": 2, "call": 1, "text": "weather", "severity": "major"},
        {"turn": 4, "text": "cannot"},
        {"kind": "unanswered", "explanation": "The wind is missing."},
    ]
    (segment,) = read({"messages": CHAT, "errors": errors, "label": "wrong"})
    positions = [position_in(segment, span) for span in segment.gold]
    named = [str(position) if position else "" for position in positions]
    assert named == ["turn 2, call 1, $.city", "turn 2, call 1", "turn 4", ""]
    assert [span.text for span in segment.gold] == ["Berg", "weather", "cannot", ""]
    assert (segment.gold[0].category, segment.gold[1].severity) == ("wrong-argument", 4)
    assert segment.meta["label"] == "wrong"
    (clean,) = read({"messages": CHAT, "errors": []})
    assert clean.meta["spans"] == []


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ({"turn": 1, "text": "Rain"}, "the agent's turns are 2, 4, counted from 1"),
        ({"turn": 2, "call": 1, "path": "$.town"}, "turn 2, call 1, $.town does not exist"),
        ({"turn": 2, "call": 1, "path": "$.city", "text": "Oslo"}, 'does not contain "Oslo"'),
        ({"turn": "2"}, "expected the numbers turn and call"),
    ],
)
def test_an_error_that_is_nowhere_is_a_fault_of_the_row(error: Message, words: str) -> None:
    assert words in fault({"messages": CHAT, "errors": [error]})


@pytest.mark.parametrize(
    "row",
    [
        {"input": ASK, "output": DIALECTS["responses"][2:]},
        {"input": DIALECTS["anthropic"][:1], "output": DIALECTS["anthropic"][1:]},
        {"inputs": {"messages": CHAT[:1]}, "outputs": {"messages": CHAT}},
        {"messages": CHAT[:3], "response": {"choices": [{"message": CHAT[3]}]}},
        {"messages": CHAT, "output": ANSWER},
        {"traceId": "t", "input": {"messages": CHAT[:3]}, "output": CHAT[3]},
        DIALECTS["langchain"],
    ],
)
def test_a_request_and_its_reply_are_one_trajectory(row: object) -> None:
    (segment,) = read(row)
    assert segment.trajectory is not None
    assert segment.trajectory.turns == TURNS
    assert segment.task == "agent"


def test_tools_are_read_in_the_form_of_every_library() -> None:
    schema = {"type": "object"}
    specified = [
        {"type": "function", "function": {"name": "a", "description": "A.", "parameters": schema}},
        {"name": "a", "description": "A.", "input_schema": schema},
        {"name": "a", "description": "A.", "inputSchema": schema},
        {"name": "a", "description": "A.", "parameters_json_schema": schema},
    ]
    trajectory = as_trajectory(CHAT, specified)
    assert len(set(map(repr, trajectory.tools))) == 1
    assert trajectory.tools[0].parameters == schema


def test_a_conversation_without_tools_is_judged_as_a_whole_if_that_is_asked() -> None:
    chat = [CHAT[0], {"role": "assistant", "content": "Yes."}]
    (plain,) = read({"messages": chat})
    assert (plain.output, plain.task, plain.trajectory) == ("Yes.", "question-answering", None)
    for row, columns in (
        ({"messages": chat}, columns_for("agent-conversation", ())),
        ({"messages": chat, "task": "tool-use"}, ()),
        ({"messages": chat, "tools": [{"name": "weather"}]}, ()),
    ):
        (whole,) = read(row, *columns)
        assert whole.output == "Turn 2:\nYes."
    assert columns_for("agent", ["messages"]) == ("messages",)
    (last,) = read({"messages": CHAT}, "messages")
    assert last.output == ANSWER
    (text,) = read({"output": "It rained.", "inputs": {"Article": "It rained."}}, "agent")
    assert text.trajectory is None


def test_a_document_of_messages_is_one_trajectory(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    tools = [{"name": "weather"}] * len(CHAT)  # as long as the messages
    for document in (CHAT, {"messages": CHAT, "tools": tools}):
        path.write_text(json.dumps(document))
        (segment,) = open_source(path)
        assert isinstance(segment, Segment)
        assert segment.trajectory is not None
        assert segment.trajectory.turns == TURNS


def test_a_text_is_a_trajectory_only_if_an_assistant_speaks_in_it() -> None:
    lines = "\n".join(map(json.dumps, CHAT))
    assert trajectory_in_text(lines) == trajectory_in_text(json.dumps(CHAT))
    assert trajectory_in_text(lines) is not None
    for text in ("A text.", "[1, 2]", '{"a": 1}', json.dumps(CHAT[:1]), "[" * 99):
        assert trajectory_in_text(text) is None
    nested = json.loads("[" * 99 + "]" * 99)
    deep = json.dumps([*CHAT, {"role": "user", "content": "x", "name": nested}])
    for text in (deep, "\n".join(map(json.dumps, json.loads(deep)))):
        with pytest.raises(DataError, match="nested too deeply to be read"):
            trajectory_in_text(text)
    assert trajectory_in_text(deep, depth=200) is not None
    with pytest.raises(ConfigError, match="must each have a role, and at least one"):
        as_trajectory(CHAT[:1])


def test_the_arguments_of_an_output_tool_are_the_reply() -> None:
    call = {"part_kind": "tool-call", "tool_name": "final_result", "tool_call_id": "c1"}
    returned = {"part_kind": "tool-return", "tool_name": "final_result", "tool_call_id": "c1"}
    trajectory = trajectory_of(
        [
            {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Where?"}]},
            {"kind": "response", "parts": [{**call, "args": {"city": "Lyon"}}]},
            {"kind": "request", "parts": [{**returned, "content": "Final result processed."}]},
        ]
    )
    assert trajectory is not None
    turns = [(turn.role, turn.text, turn.calls) for turn in trajectory.turns]
    assert turns == [("user", "Where?", ()), ("assistant", '{"city": "Lyon"}', ())]


def test_a_reply_without_content_is_a_reply() -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": None}]
    assert [turn.role for turn in as_trajectory(messages).turns] == ["user", "assistant"]
