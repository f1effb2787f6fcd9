"""Trajectories in rows: messages with tool calls, as agents and their libraries write them.

A message has a role and content; content is a text or a list of parts. A part's meaning depends
only on its kind (`_CALLS`, `_RESULTS`, `_IMAGES`), and its fields have few different names. So one
reader serves OpenAI (chat and responses), Anthropic, pydantic-ai, LangChain, Inspect,
OpenTelemetry's messages and MCP transcripts. A model's reasoning is left out.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from spanjury.adapters.files.limits import USUAL
from spanjury.adapters.files.reading.foreign_values import role_of
from spanjury.adapters.files.strict_json import NestingError, excerpt, parse_json
from spanjury.judges.core import (
    ConfigError,
    DataError,
    Speaker,
    ToolCall,
    ToolSpec,
    Trajectory,
    Turn,
)
from spanjury.judges.core.lazy import lazily

with lazily():
    import pydantic_core

CONVERSATIONS = (
    *("messages", "conversation", "conversations", "turns", "trajectory", "user_input"),
    *("input", "inputs", "request"),
)
"""Columns that may contain a conversation or its beginning."""
_REPLIES = ("output", "outputs", "response", "completion")
"""Columns that may contain the rest of a conversation."""
_TOOLS = ("tools", "functions", "tool_definitions")

_CALLS = frozenset(
    {
        *("function", "function_call", "custom", "custom_tool_call", "mcp_call"),
        *("tool_call", "tool_use", "server_tool_use", "mcp_tool_use"),
        *("tool-call", "builtin-tool-call"),
    }
)
_RESULTS = frozenset(
    {
        *("function_call_output", "custom_tool_call_output", "tool_call_response"),
        *("tool_result", "mcp_tool_result", "web_search_tool_result"),
        *("tool-return", "builtin-tool-return"),
    }
)
_FINAL = "Final result processed."  # pydantic-ai's result of the call with the final output
_RETRY = "retry-prompt"  # in pydantic-ai 1, a tool failed or the output is invalid
_IMAGES = frozenset({"image", "image_url", "image-url", "input_image", "binary"})
_KEYED: Mapping[str, str] = {
    **dict.fromkeys(("functionCall", "function_call", "toolUse"), "function_call"),
    **dict.fromkeys(("functionResponse", "function_response", "toolResult"), "tool_result"),
}
"""Keys by which Gemini and Bedrock mark a part, in place of a kind."""
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
_PROMPTS: Mapping[str, Speaker] = {"system-prompt": "system", "user-prompt": "user"}
_SIDES: Mapping[str, Speaker] = {"request": "user", "response": "assistant"}
_KINDS = ("type", "part_kind", "kind")
_NAMES = ("name", "tool_name", "function", "tool")
_ARGUMENTS = ("arguments", "args", "input", "parameters")
_IDS = ("call_id", "tool_call_id", "tool_use_id", "toolUseId", "id")
_CONTENTS = ("content", "output", "result", "response", "value", "text", "resource")
_SCHEMAS = (
    *("parameters", "input_schema", "inputSchema", "parameters_json_schema", "schema"),
    *("params_json_schema", "tool_call_schema"),
)
_FAULTY = frozenset({"error", "failed", "incomplete", "denied", "interrupted", "retried"})
"""Values of `status`, or of pydantic-ai 2's `outcome`, in the result of a failed call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A trajectory in a row, and the columns from which it was read."""

    trajectory: Trajectory
    columns: tuple[str, ...]

    @property
    def has_tools(self) -> bool:
        """True if the agent called a tool, or had any."""
        turns = self.trajectory.turns
        return bool(self.trajectory.tools) or any(turn.calls for turn in turns)


def conversation_in(row: Mapping[str, object]) -> Conversation | None:
    """Return the conversation in a row; None if the row has none in which a model speaks.

    It is a list of messages in one column, or a request and a reply in two columns.
    """
    request, request_column = _first_messages(row, CONVERSATIONS, role="user")
    reply, reply_column = _first_messages(row, _REPLIES, role="assistant")
    columns = [column for column in (request_column, reply_column) if column]
    holders = [row[column] for column in columns]
    if not any(isinstance(holder, list | Mapping) for holder in holders):
        return None
    messages = _joined(request, reply)
    prompt = next((name for name in ("instructions", "system") if row.get(name)), "")
    if prompt == "instructions" or isinstance(row.get(prompt), list):
        messages = [{"role": "system", "content": row[prompt]}, *messages]
        columns.append(prompt)
    tools, tools_column = _first_tools(row)
    if tools:
        columns.append(tools_column)
    for holder in holders:
        if isinstance(holder, Mapping) and not tools:
            tools, _ = _first_tools(holder)
    trajectory = trajectory_of(messages, tools)
    if trajectory is None:
        return None
    return Conversation(trajectory=trajectory, columns=tuple(columns))


def _first_tools(holder: Mapping[str, object]) -> tuple[tuple[ToolSpec, ...], str]:
    """Return the tools of the first column that has any, and the column's name."""
    for column in _TOOLS:
        if tools := tools_of(holder.get(column)):
            return tools, column
    return (), ""


def trajectory_of(messages: object, tools: object | Sequence[ToolSpec] = ()) -> Trajectory | None:
    """Return the trajectory in a list of messages, or None.

    Messages are those of any library that this module names, as parsed from JSON.
    """
    if not is_conversation(messages):
        return None
    assert isinstance(messages, list)
    turns: list[Turn] = []
    listed: tuple[ToolSpec, ...] = ()
    calls: set[str] = set()
    for message in messages:
        if "jsonrpc" in message:
            turns += _of_mcp(message, calls)
            listed = listed or tools_of(message.get("result"))
            continue
        is_part = _role(message) is None
        read = _read(message)
        if not read and _role(message) == "assistant":
            read = [Turn(role="assistant")]  # a reply without content is still a reply
        if is_part and read and turns and turns[-1].role == read[0].role == "assistant":
            read = _merged([turns.pop(), *read])
        repeated = turns if message.get("instructions") else []  # pydantic-ai repeats them
        turns += (turn for turn in read if turn.role != "system" or turn not in repeated)
    if not any(turn.role == "assistant" for turn in turns):
        return None
    return Trajectory(turns=_with_outputs(turns), tools=tools_of(tools) or listed)


def _with_outputs(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return turns in which an output tool's arguments became the text of the reply."""
    outputs = {turn.call_id for turn in turns if turn.role == "tool" and turn.text == _FINAL}
    kept = []
    for turn in turns:
        if turn.role == "tool" and turn.call_id in outputs:
            continue
        texts = [call.arguments for call in turn.calls if call.call_id in outputs]
        calls = tuple(call for call in turn.calls if call.call_id not in outputs)
        text = "\n".join(filter(None, (turn.text, *texts)))
        kept.append(replace(turn, text=text, calls=calls) if texts else turn)
    return tuple(kept)


def check_tools(tools: object) -> None:
    """Raise `ConfigError` if a tool has no specification, or the tools are not a list."""
    if isinstance(tools, list | tuple) and len(tools_of(tools)) < len(tools):
        nameless = next(tool for tool in tools if not tools_of([tool]))
        raise ConfigError(
            f"got the tool {nameless!r}, expected its name, description and parameters"
        )
    if tools and not tools_of(tools):
        raise ConfigError(f"got the tools {excerpt(tools)}, expected a list of specifications")


def as_trajectory(value: object, tools: object = ()) -> Trajectory:
    """Return the trajectory in a caller's value: messages, or an object that contains them.

    Messages may be objects of the libraries, such as OpenAI, LangChain and pydantic-ai.

    Raises `ConfigError` if there is no assistant turn, a tool has no specification, the tools are
    not a list, or the value is nested too deeply.
    """
    check_tools(tools)
    if isinstance(value, Trajectory):
        return replace(value, tools=tools_of(tools)) if tools else value
    try:
        if isinstance(value, Mapping):
            conversation = conversation_in({"tools": tools, **value} if tools else value)
            trajectory = conversation.trajectory if conversation else None
        else:
            messages = [*map(_dumped, value)] if isinstance(value, Sequence) else value
            trajectory = trajectory_of(messages, tools)
    except RecursionError as error:
        raise ConfigError("got messages that are nested too deeply to be read") from error
    if trajectory is None:
        raise ConfigError(
            "messages must each have a role, and at least one must be the assistant's;"
            f" got {excerpt(value)}"
        )
    return trajectory


def _dumped(message: object) -> object:
    if isinstance(message, Mapping):
        return message
    try:
        return pydantic_core.to_jsonable_python(message)
    except pydantic_core.PydanticSerializationError:
        return message


def trajectory_in_text(text: str, *, depth: int = USUAL.depth) -> Trajectory | None:
    """Return the trajectory in a JSON document or in one message per line; None if it has none.

    Raises `NestingError` if JSON is nested more than `depth` deep: it may contain a trajectory.
    """
    try:
        document = parse_json(text, depth=depth)
    except NestingError:
        raise
    except DataError:
        try:
            document = [parse_json(line, depth=depth) for line in text.splitlines() if line.strip()]
        except NestingError:
            raise
        except DataError:
            return None
    if isinstance(document, list) and len(document) == 1 and isinstance(document[0], dict):
        document = document[0] if conversation_in(document[0]) else document
    if not isinstance(document, list | dict):
        return None
    try:
        return as_trajectory(document)
    except ConfigError:
        return None


def is_conversation(value: object) -> bool:
    """Return whether `value` is a non-empty list of messages, calls and results."""
    if not isinstance(value, list) or not value:
        return False
    return all(
        isinstance(item, Mapping)
        and (_role(item) is not None or "jsonrpc" in item or _kind(item) in _ITEMS)
        for item in value
    )


_ITEMS = (_CALLS | _RESULTS | _THOUGHTS) - {"function", "custom"}
"""Kinds of parts that may appear by themselves in a list of messages."""


def tools_of(value: object) -> tuple[ToolSpec, ...]:
    """Return the tools specified in `value`, in the form of OpenAI, Anthropic, MCP or pydantic-ai.

    Tools may be objects of the libraries, such as OpenAI's SDK and LangChain.
    """
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if isinstance(value, Mapping):
        value = value.get("tools")
    if not isinstance(value, list | tuple):
        return ()
    return tuple(spec for spec in map(_tool, value) if spec is not None)


def _tool(value: object) -> ToolSpec | None:
    if isinstance(value, ToolSpec):
        return value
    if isinstance(value, str):
        return ToolSpec(name=value, description="")
    if not isinstance(value, Mapping):
        value = {key: getattr(value, key, None) for key in ("name", "description", *_SCHEMAS)}
    inner = value.get("function")
    holder = inner if isinstance(inner, Mapping) else value
    schema = _first(holder, _SCHEMAS)
    describe = getattr(schema, "model_json_schema", None)  # LangChain's may be a model
    schema = describe() if callable(describe) else schema
    name = holder.get("name")
    if not isinstance(name, str):
        return None
    return ToolSpec(
        name=name,
        description=str(holder.get("description") or ""),
        parameters=schema if isinstance(schema, Mapping) else {},
    )


def trajectory_row(trajectory: Trajectory) -> dict[str, object]:
    """Return `trajectory` as keys of a row, in OpenAI's format: its messages and tools.

    `trajectory_of` restores the same trajectory from them.
    """
    row: dict[str, object] = {"messages": [*map(_message, trajectory.turns)]}
    if trajectory.tools:
        row["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in trajectory.tools
        ]
    return row


def _message(turn: Turn) -> dict[str, object]:
    content: object = turn.text
    if turn.images:
        text = [{"type": "text", "text": turn.text}] if turn.text else []
        content = [
            *text,
            *({"type": "image_url", "image_url": {"url": url}} for url in turn.images),
        ]
    message: dict[str, object] = {"role": turn.role, "content": content}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in turn.calls
        ]
    if turn.role == "tool":
        named = {"tool_call_id": turn.call_id, "name": turn.name, "is_error": turn.failed}
        message |= {key: value for key, value in named.items() if value}
    return message


def _first_messages(
    row: Mapping[str, object], columns: Iterable[str], *, role: Speaker
) -> tuple[list[Mapping[str, object]], str]:
    """Return the messages of the first column that has any, and the column's name."""
    for column in columns:
        if messages := _messages_in(row.get(column), role=role):
            return messages, column
    return [], ""


def _messages_in(value: object, *, role: Speaker) -> list[Mapping[str, object]]:
    """Return the messages in the value of a request or a reply; empty if there are none."""
    if isinstance(value, str):
        return [{"role": role, "content": value}] if value.strip() else []
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list):  # LangSmith nests one list per prompt
            value = value[0]
        return list(value) if is_conversation(value) else []
    if not isinstance(value, Mapping):
        return []
    if _role(value) is not None:
        return [value]
    for key in ("messages", "choices", "generations", "output", "input", "message", "body"):
        inner = value.get(key)
        if key in {"choices", "generations"}:
            while isinstance(inner, list) and inner:
                inner = inner[0]
        if isinstance(inner, list | Mapping) and (messages := _messages_in(inner, role=role)):
            return messages
    return []


def _joined(
    request: list[Mapping[str, object]], reply: list[Mapping[str, object]]
) -> list[Mapping[str, object]]:
    """Concatenate a request and its reply; the reply may repeat it, or already be in it."""
    before, after = (
        [turn for message in messages for turn in _read(message)] for messages in (request, reply)
    )
    if any(turn.role == "user" and turn in after for turn in before):
        return reply
    if before and before[-1].role == "assistant" and not before[-1].calls:
        return request
    return [*request, *reply]


def _read(message: Mapping[str, object]) -> list[Turn]:
    return _merged(_pieces(message) if _role(message) is None else _of_message(message))


def _role(message: Mapping[str, object]) -> Speaker | None:
    """Return the role of a message; None for a part that stands alone."""
    if "role" not in message and _kind(message) in _ITEMS:
        return None
    kind = message.get("kind")
    return role_of(message) or (_SIDES.get(kind) if isinstance(kind, str) else None)


def _kind(part: Mapping[str, object]) -> str:
    return next((kind for key in _KINDS if isinstance(kind := part.get(key), str)), "")


def _of_message(message: Mapping[str, object]) -> Iterator[Turn]:
    """Yield the parts of a message, each as a turn: texts, calls, results, images."""
    role = _role(message)
    inner = message.get("kwargs") or message.get("data")  # LangChain nests the message
    holder = inner if isinstance(inner, Mapping) else message
    if role == "tool":
        yield _result(holder)
        return
    assert role is not None
    if isinstance(instructions := holder.get("instructions"), str) and instructions:
        yield Turn(role="system", text=instructions)
    ids: set[str] = set()
    for content in (holder.get("content"), holder.get("parts"), holder.get("value")):
        for piece in _pieces(content, role):
            ids.update(call.call_id for call in piece.calls)
            yield piece
    if isinstance(refusal := holder.get("refusal"), str):
        yield Turn(role=role, text=refusal)
    for call in _calls(holder):
        if not call.call_id or call.call_id not in ids:  # LangChain lists some calls twice
            yield Turn(role="assistant", calls=(call,))


def _calls(message: Mapping[str, object]) -> Iterator[ToolCall]:
    extra = message.get("additional_kwargs")
    for holder in (message, extra if isinstance(extra, Mapping) else {}):
        calls = holder.get("tool_calls")
        listed = [*calls] if isinstance(calls, list) else []
        if isinstance(single := holder.get("function_call"), Mapping):  # OpenAI's older format
            listed.append(single)
        if holder is message and isinstance(broken := message.get("invalid_tool_calls"), list):
            listed += broken
        if listed:
            parsed = (_call(call) for call in listed if isinstance(call, Mapping))
            yield from (call for call in parsed if call.name)
            return


def _pieces(value: object, role: Speaker = "assistant") -> Iterator[Turn]:
    """Yield the parts of a content value, each as a turn."""
    if isinstance(value, str):
        yield Turn(role=role, text=value)
    elif isinstance(value, list):
        for part in value:
            yield from _pieces(part, role)
    elif isinstance(value, Mapping):
        keyed = next((key for key in _KEYED if isinstance(value.get(key), Mapping)), "")
        if keyed:
            inner = value[keyed]
            assert isinstance(inner, Mapping)
            value = {**inner, "type": _KEYED[keyed]}
        kind = _kind(value)
        if kind in _CALLS:
            yield Turn(role="assistant", calls=(_call(value),))
        elif kind in _RESULTS or (kind == _RETRY and value.get("tool_name")):
            yield _result(value)
        elif kind in _IMAGES:
            yield Turn(role=role, images=(_image(value),))
        elif kind not in _THOUGHTS:
            content = next((part for key in _CONTENTS if (part := value.get(key))), None)
            yield from _pieces(content, _PROMPTS.get(kind, role))


def _merged(pieces: Iterable[Turn]) -> list[Turn]:
    """Merge consecutive parts of one speaker into a turn; each result is its own turn."""
    turns: list[Turn] = []
    for piece in pieces:
        last = turns[-1] if turns else None
        if last is None or piece.role != last.role or piece.role == "tool":
            turns.append(piece)
            continue
        # A model's text is split where a citation begins; other parts are separate texts.
        gap = "" if piece.role == "assistant" and not last.calls else "\n"
        turns[-1] = replace(
            last,
            text=gap.join(filter(None, (last.text, piece.text))),
            calls=last.calls + piece.calls,
            images=last.images + piece.images,
        )
    return turns


def _call(value: Mapping[str, object]) -> ToolCall:
    inner = (value.get(key) for key in ("function", "custom"))
    holder = next((part for part in inner if part and isinstance(part, Mapping)), value)
    arguments = _first(holder, _ARGUMENTS)
    return ToolCall(
        call_id=_text(_first(value, _IDS)),
        name=_text(_first(holder, _NAMES)),
        arguments=_json(arguments if arguments is not None else {}),
    )


def _result(value: Mapping[str, object]) -> Turn:
    error = value.get("error")
    contents = (value.get(key) for key in _CONTENTS)
    content = next((part for part in contents if part not in (None, "", [])), error)
    if content is error and isinstance(error, Mapping):
        content = error.get("message") or error
    pieces: list[Turn] = []
    if isinstance(content, list) and all(isinstance(part, Mapping | str) for part in content):
        pieces = [*_pieces(content, "user")]
    return Turn(
        role="tool",
        text="\n".join(piece.text for piece in pieces if piece.text) if pieces else _json(content),
        call_id=_text(_first(value, _IDS)),
        name=_text(_first(value, _NAMES)),
        failed=bool(error)
        or True in (value.get("is_error"), value.get("isError"))
        or not _FAULTY.isdisjoint((value.get("status"), value.get("outcome")))
        or value.get("success") is False
        or _kind(value) == _RETRY,
        images=tuple(image for piece in pieces for image in piece.images),
    )


def _of_mcp(message: Mapping[str, object], calls: set[str]) -> Iterator[Turn]:
    """Yield the call or the result in a message of MCP; `calls` collects the ids of calls."""
    call_id, result, params = message.get("id"), message.get("result"), message.get("params")
    if message.get("method") == "tools/call" and isinstance(params, Mapping):
        calls.add(_text(call_id))
        yield Turn(role="assistant", calls=(_call({**params, "call_id": call_id}),))
    elif "method" not in message and _text(call_id) in calls:
        answer = dict(result) if isinstance(result, Mapping) else {"error": message.get("error")}
        if not answer.get("content"):
            answer["content"] = answer.get("structuredContent")
        yield _result({**answer, "call_id": call_id})


def _image(part: Mapping[str, object]) -> str:
    """Return an image's URL or name; for inline data, its type and length."""
    source = next(
        (value for key in ("image_url", "source", "image", "url") if (value := part.get(key))),
        part,
    )
    holder = source if isinstance(source, Mapping) else {"url": source}
    url = _text(_first(holder, ("url", "file_id", "name", "identifier")))
    if url and not url.startswith("data:"):
        return url
    data = url or _text(holder.get("data"))
    kind = _text(_first(holder, ("media_type", "mimeType"))) or url[5:].partition(";")[0]
    return f"{kind or 'image'} of {len(data)} characters"


def _first(holder: Mapping[str, object], keys: Iterable[str]) -> object:
    return next((value for key in keys if (value := holder.get(key)) is not None), None)


def _text(value: object) -> str:
    return "" if value is None or isinstance(value, Mapping | list) else str(value)


def _json(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
