"""Replies: a server's answer, and the chat completion in it, parsed as a `Reply`.

A missing or null field counts as empty, since servers omit fields that they do not have. A field
of a wrong type is an error, since a guess could change what a judge said.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from spanjury.adapters.models.model_errors import (
    SUCCESS,
    TOO_LONG,
    error_by_status,
    names_policy,
    retry_after,
    short_line,
)
from spanjury.adapters.models.openai_request import wellformed
from spanjury.judges.core import (
    ChatRequest,
    Finish,
    ModelError,
    PermanentModelError,
    Reply,
    TokenLogprob,
    ToolCall,
    TransientModelError,
    Usage,
)

_FINISHES = {
    "length": Finish.LENGTH,
    "content_filter": Finish.REFUSAL,
    "refusal": Finish.REFUSAL,
    "tool_calls": Finish.TOOL_CALLS,
    "function_call": Finish.TOOL_CALLS,
}
GAVE_UP = frozenset({"error", "abort", "insufficient_system_resource"})
"""Finish reasons of OpenRouter, vLLM, SGLang and DeepSeek for a reply that was given up."""
# The reasoning at the start of a text, if the server does not separate it.
_THOUGHTS = re.compile(r"\s*<(think|thinking)>(.*?)</\1>", re.DOTALL)
_BLANKS = str.maketrans("\u0120\u2581\u010a", "  \n")  # blanks in the spelling of tokenizers
_BEFORE, _BEHIND = 4, 40  # characters around a word for which log-probabilities are kept
_NOWHERE = (math.inf, math.inf)
_LEAST_LEFT, _CONTEXT_UNIT, _FEW = 1024, 512, 8  # tokens
_MOST_PER_TOKEN = 6  # characters; English prose has 4 to 5, other languages and code have fewer
_NO_CODE = 422  # LiteLLM, too, uses it for failures without a code


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """One HTTP answer, with its full body if it succeeded; `headers` ignore case."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


def content_of(answer: HttpAnswer, *, source: str, key: str) -> object:
    """Return the JSON value in a successful `answer`, unchecked.

    Messages name `source`, and never contain `key`, which the server has seen. Raises `ModelError`,
    classified as by `error_by_status`, for a failure, including one with status 200. Raises
    `TransientModelError` if a successful answer is not JSON.
    """
    if not is_success(answer.status):
        content = _parsed(answer.body)
        raise _failure(answer, content, status=answer.status, source=source, key=key)
    content = _completion(answer.body)
    if isinstance(content, _NotJson):
        problem = short_line("the reply is not JSON", status=answer.status)
        raise TransientModelError(f"{source}: {problem}")
    for part in _holders(content):
        if _is_failure(error := part.get("error")):
            raise _failure(answer, part, status=_code(error), source=source, key=key)
    return content


def is_success(status: int) -> bool:
    """Return whether an answer with `status` contains a reply."""
    return status in SUCCESS


class _NotJson:
    """Stands for a body that is not JSON."""


class _Choice(msgspec.Struct):
    """A choice whose log-probabilities, often most of the answer, are not decoded yet."""

    message: object = None
    finish_reason: object = None
    error: object = None
    logprobs: msgspec.Raw = msgspec.Raw(b"null")


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: object = None
    error: object = None


class _Token(msgspec.Struct):
    token: str
    logprob: float
    top_logprobs: msgspec.Raw = msgspec.Raw(b"null")


class _Tokens(msgspec.Struct):
    content: list[_Token] | None = None


_DECODER = msgspec.json.Decoder()
_COMPLETIONS = msgspec.json.Decoder(_Completion)
_TOKENS = msgspec.json.Decoder(_Tokens | None)
_RIVALS = msgspec.json.Decoder(list[_Token] | None)


def _completion(body: bytes) -> object:
    """Return a completion with undecoded log-probabilities; any other body as parsed."""
    try:
        read = _COMPLETIONS.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _parsed(body)
    choices = [msgspec.structs.asdict(choice) for choice in read.choices]
    return {"choices": choices, "usage": read.usage, "error": read.error}


def _parsed(body: bytes) -> object:
    with suppress(msgspec.MsgspecError, ValueError, RecursionError):
        return _DECODER.decode(body)
    try:
        return json.loads(body)  # some servers write NaN, or other encodings
    # Not JSON, not UTF-8, a number with thousands of digits, or nested too deeply.
    except (ValueError, RecursionError):
        return _NotJson()


def _holders(content: object) -> Iterator[Mapping[str, object]]:
    """Yield the objects that may hold an ``error``: the content, and its choices (OpenRouter)."""
    if isinstance(content, Mapping):
        yield content
        choices = content.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping):
                yield choice


def _is_failure(error: object) -> bool:
    """Return whether a reply's ``error`` is a failure; some servers always send an empty one."""
    if isinstance(error, Mapping):
        return bool(error.get("message")) or error.get("code") is not None
    return error is not None and error != ""


def _code(error: object) -> int | None:
    """Return the status in a failure's body; None if its code is a word."""
    code = error.get("code") if isinstance(error, Mapping) else None
    if code is None:
        return _NO_CODE
    return code if isinstance(code, int) else None


def _failure(
    answer: HttpAnswer, content: object, *, status: int | None, source: str, key: str
) -> ModelError:
    problem = _reason_in(content) or answer.reason or "no reason given"
    return error_by_status(
        f"{source}: {short_line(problem, status=answer.status, key=key)}",
        status=status,
        wait=retry_after(answer.headers),
        refused=names_policy(answer.body.decode(errors="replace")),
    )


def _reason_in(content: object) -> str:
    """Return the server's message, in the forms of OpenAI, TGI, Ollama, old vLLM and FastAPI."""
    if not isinstance(content, Mapping):
        return ""
    error = content.get("error")
    words = error.get("message") if isinstance(error, Mapping) else error
    words = words or content.get("message") or content.get("detail") or ""
    return words if isinstance(words, str) else json.dumps(words, ensure_ascii=False)


def read_reply(body: object, request: ChatRequest, *, source: str) -> Reply:
    """Parse `body`, a chat completion as returned by ``json.loads``, as the reply to `request`.

    Some servers repeat the prefix that the reply was to begin with; it is removed. If the request
    names words, only the log-probabilities near them are kept.

    Raises `TransientModelError` if `body` is not a chat completion, has no choice with a message,
    or is a reply that the server gave up. Raises `PermanentModelError` if the prompt was cut.
    """
    try:
        reply = _reply(_object(body, "completion"), request)
    except (_ShapeError, OverflowError) as error:  # JSON numbers may be of any size
        raise TransientModelError(
            f"{source}: the server's reply is not a chat completion: {error}"
        ) from None
    if _is_cut(request, tokens=reply.usage.prompt):
        raise PermanentModelError(
            f"{source}: the server read only {reply.usage.prompt:,} tokens of the prompt, and cut"
            " the rest: give it a larger context, in Ollama by OLLAMA_CONTEXT_LENGTH"
            f" ({TOO_LONG})"
        )
    return reply


def _is_cut(request: ChatRequest, *, tokens: int) -> bool:
    """Return whether a prompt was cut to the server's context, which Ollama does without an error.

    The count is then that of the context, or of half of it and a few tokens, and too low for the
    text. A run of blanks counts once, since it may be one token.
    """
    if tokens < _LEAST_LEFT or tokens % _CONTEXT_UNIT >= _FEW:
        return False
    words = [word for message in request.messages for word in message.content.split()]
    return sum(map(len, words)) + len(words) > tokens * _MOST_PER_TOKEN


class _ShapeError(ValueError):
    """A field of the completion has a wrong type."""


def _reply(body: Mapping[str, object], request: ChatRequest) -> Reply:
    choices = _items(body.get("choices"), "choices")
    if not choices:
        raise _ShapeError("there is no choice in it")
    choice = _object(choices[0], "choice")
    if choice.get("message") is None:
        raise _ShapeError("there is no message in it")
    message = _object(choice["message"], "message")
    reasoning, text = _reasoning_and_text(message)
    refusal = _text(message.get("refusal"), "refusal")
    calls = _items(message.get("tool_calls"), "tool_calls")
    reason = _text(choice.get("finish_reason"), "finish_reason")
    if reason in GAVE_UP:
        raise _ShapeError(f"its finish_reason is {reason!r}")
    return Reply(
        text=(text or refusal).removeprefix(wellformed(request.prefix)),
        finish=_finish(reason, refused=bool(refusal), calls=bool(calls)),
        reasoning=reasoning,
        usage=_usage(_object(body.get("usage"), "usage")),
        logprobs=_logprobs(choice.get("logprobs"), near=request.logprobs_near),
        tool_calls=tuple(_tool_call(call, index=index) for index, call in enumerate(calls)),
    )


def _reasoning_and_text(message: Mapping[str, object]) -> tuple[str, str]:
    """Return the model's reasoning and its answer."""
    thought, text = _content(message.get("content"))
    given = thought or message.get("reasoning_content") or message.get("reasoning")
    if given:
        return _text(given, "reasoning"), text
    return thought_and_text(text)


def _content(content: object) -> tuple[str, str]:
    """Return reasoning and answer; content may be a list of parts, as Mistral's models write it."""
    if not isinstance(content, list):
        return "", _text(content, "content")
    parts = [_object(part, "part") for part in content]
    thoughts = ["".join(_content(part.get("thinking"))) for part in parts]
    return "".join(thoughts), "".join(_text(part.get("text"), "part") for part in parts)


def thought_and_text(text: str) -> tuple[str, str]:
    """Return the reasoning at the start of a reply, or "", and the rest of the reply."""
    thoughts = _THOUGHTS.match(text)
    return (thoughts[2], text[thoughts.end() :]) if thoughts else ("", text)


def _finish(reason: str, *, refused: bool, calls: bool) -> Finish:
    if refused:
        return Finish.REFUSAL
    if calls:  # some servers report "stop" although tools were called
        return Finish.TOOL_CALLS
    return _FINISHES.get(reason, Finish.STOP)


def _tool_call(call: object, *, index: int) -> ToolCall:
    fields = _object(call, "tool call")
    if fields.get("function") is None:
        raise _ShapeError("a tool call names no function")
    function = _object(fields["function"], "function")
    arguments = function.get("arguments")
    if isinstance(arguments, Mapping):  # text-generation-inference once wrote them so
        arguments = json.dumps(arguments)
    return ToolCall(
        # Results refer to calls by id, so a missing id is made up.
        call_id=_text(fields.get("id"), "id") or f"call_{index}",
        name=_text(function.get("name"), "name"),
        arguments=_text(arguments, "arguments"),
    )


def _usage(usage: Mapping[str, object]) -> Usage:
    prompt = _object(usage.get("prompt_tokens_details"), "prompt_tokens_details")
    completion = _object(usage.get("completion_tokens_details"), "completion_tokens_details")
    return Usage(
        calls=1,
        prompt=_count(usage.get("prompt_tokens")),
        cached=_count(prompt.get("cached_tokens")),
        completion=_count(usage.get("completion_tokens")),
        reasoning=_count(completion.get("reasoning_tokens")),
    )


def _logprobs(given: object, *, near: tuple[str, ...]) -> tuple[TokenLogprob, ...]:
    """Parse log-probabilities, with the fast decoder if they are raw and well-formed."""
    if isinstance(given, msgspec.Raw):
        with suppress(msgspec.MsgspecError):
            return _decoded_logprobs(given, near=near)
        given = _parsed(bytes(given))
    return _read_logprobs(_object(given, "logprobs"), near=near)


def _decoded_logprobs(raw: msgspec.Raw, *, near: tuple[str, ...]) -> tuple[TokenLogprob, ...]:
    """Decode log-probabilities; the rivals of tokens that are not kept stay undecoded."""
    given = (_TOKENS.decode(raw) or _Tokens()).content or []
    kept = _near([token.token for token in given], near) if near else range(len(given))
    return tuple(
        TokenLogprob(
            token=given[at].token,
            logprob=given[at].logprob,
            top={
                rival.token: rival.logprob for rival in _RIVALS.decode(given[at].top_logprobs) or ()
            },
        )
        for at in kept
    )


def _read_logprobs(
    logprobs: Mapping[str, object], *, near: tuple[str, ...]
) -> tuple[TokenLogprob, ...]:
    """Parse log-probabilities, checking the type of each field."""
    given = [_object(item, "token") for item in _items(logprobs.get("content"), "logprobs")]
    tokens = [_text(token.get("token"), "token") for token in given]
    kept = _near(tokens, near) if near else range(len(tokens))
    read = []
    for at in kept:
        alike = _items(given[at].get("top_logprobs"), "tokens")
        rivals = [_object(rival, "token") for rival in alike]
        read.append(
            TokenLogprob(
                token=tokens[at],
                logprob=_logprob(given[at]),
                top={_text(rival.get("token"), "token"): _logprob(rival) for rival in rivals},
            )
        )
    return tuple(read)


def _near(tokens: Sequence[str], words: tuple[str, ...]) -> Iterator[int]:
    """Yield the positions of those `tokens` that are near one of `words`, in order."""
    written = "".join(tokens).translate(_BLANKS)
    windows = (
        (match.start() - _BEFORE, match.end() + _BEHIND)
        for match in _any_of(words).finditer(written)
    )
    first, last = next(windows, _NOWHERE)
    reached = 0
    for at, token in enumerate(tokens):
        start, reached = reached, reached + len(token)
        while last <= start:
            first, last = next(windows, _NOWHERE)
        if first < reached:
            yield at


@lru_cache(maxsize=16)
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, words)), re.IGNORECASE)


def _logprob(token: Mapping[str, object]) -> float:
    value = token.get("logprob")
    if not isinstance(value, int | float) or math.isnan(value):
        raise _ShapeError("a token's logprob is not a number")
    return float(value)


def _object(value: object, name: str) -> Mapping[str, object]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _ShapeError(f"its {name} is not an object")
    return value


def _items(value: object, name: str) -> Sequence[object]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _ShapeError(f"its {name} is not a list")
    return value


def _text(value: object, name: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _ShapeError(f"its {name} is not a text")
    return wellformed(value)


def _count(value: object) -> int:
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _ShapeError("a count of tokens is not a whole number")
    return value
