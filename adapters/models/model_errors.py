"""Classification of a server's failure: transient, a time-out, a refusal, or permanent."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType

from spanjury.judges.core import (
    ChatRequest,
    FormRefusedError,
    LogprobsRefusedError,
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    OverloadedModelError,
    PermanentModelError,
    RateLimitedModelError,
    TransientModelError,
    UnusableModelError,
    scrub,
    without_memory_addresses,
)

_LONGEST_MESSAGE = 400
SUCCESS = range(200, 300)
_TIMEOUT = 408
_WORTH_ANOTHER_TRY = frozenset({409, 425})
_TOO_MANY = 429
_OVERLOADED = (503, 529)
_NOT_NOW: Mapping[int | None, type[TransientModelError]] = MappingProxyType(
    {
        _TOO_MANY: RateLimitedModelError,
        _TIMEOUT: ModelTimeoutError,
        **dict.fromkeys(_OVERLOADED, OverloadedModelError),
    }
)
_FIRST_SERVER_ERROR = 500
# A wrong key, account, model or address; 3xx redirects to another address.
_UNUSABLE = frozenset({*range(300, 400), 401, 402, 403, 404, 405, 407, 410})
_BAD_REQUEST = (400, 422)
_NOT_FOUND = 404
_CONTENT_TOO_LARGE = 413
# From messages of OpenAI, vLLM, llama.cpp, TGI, Anthropic, Gemini and Mistral.
_TOO_LONG = re.compile(
    r"context[_ ]length[_ ]exceeded|exceeds? the (?:available )?context|context ?window ?exceeded"
    r"|maximum (?:context|model|input) length|(?:prompt|input) is too long|too many tokens"
    r"|exceeds the maximum number of tokens|max_new_tokens`? must be <=",
    re.IGNORECASE,
)
TOO_LONG = (
    "the texts and the room for a reply, max_tokens, are longer than this model reads;"
    " the judge searcher reads long sources"
)
"""Advice that is added to a model's error about too long a prompt."""
# From messages of OpenAI, OpenRouter, vLLM, llama.cpp, Anthropic and Gemini.
_FORM = re.compile(
    r"response[_ ]?format|json[_ ]?schema|structured[_ ]output|output_(?:format|config)"
    r"|requested parameters|\bgrammar\b",
    re.IGNORECASE,
)
_LOGPROBS = re.compile(r"log_?-?prob", re.IGNORECASE)
_POLICY = re.compile(r"content_policy_violation|content_filter|content management policy")


def error_by_status(
    message: str, *, status: int | None, wait: float | None = None, refused: bool = False
) -> ModelError:
    """Return the error for a reply with `status`; None means that there was no connection.

    The message must not contain secrets. `wait` is the number of seconds that the server asked
    for; `refused` says whether the reply mentions a content policy.

    408 -> `ModelTimeoutError`; 429 -> `RateLimitedModelError`; 503, 529 -> `OverloadedModelError`;
    None, 409, 425, other 5xx, and 2xx with an unreadable body -> `TransientModelError`; a refusal
    by policy -> `ModelRefusedError`; 3xx, 401 to 405, 407, 410 -> `UnusableModelError`; all others
    -> `PermanentModelError`, whose message has advice if the prompt is too long.
    """
    error = _error(message, status=status, wait=wait, refused=refused)
    error.status = status
    return error


def _error(message: str, *, status: int | None, wait: float | None, refused: bool) -> ModelError:
    if status in _NOT_NOW:
        return _NOT_NOW[status](message, retry_after=wait)
    if (
        status is None
        or status in SUCCESS
        or status in _WORTH_ANOTHER_TRY
        or status >= _FIRST_SERVER_ERROR
    ):
        return TransientModelError(message, retry_after=wait)
    if refused:
        return ModelRefusedError(message)
    if status in _UNUSABLE:
        return UnusableModelError(message)
    is_too_long = status == _CONTENT_TOO_LARGE or _TOO_LONG.search(message)
    return PermanentModelError(f"{message} ({TOO_LONG})" if is_too_long else message)


def refused_form(error: ModelError, request: ChatRequest) -> ModelError:
    """Return `error`, or the `FormRefusedError` that it probably is if `request` has a form.

    A bad request is taken for a refusal of the form, unless its message is about the length. Not
    found is taken for one only if the message mentions the form. If log-probabilities were
    requested, it is a `LogprobsRefusedError` if the message mentions them, or if there is no form
    that could have been refused.
    """
    message = str(error)
    bad = type(error) is PermanentModelError and error.status in _BAD_REQUEST
    unknown = error.status == _NOT_FOUND and _FORM.search(message)
    if not (bad or unknown) or TOO_LONG in message:
        return error
    by_words = request.form == "text"
    is_named = _LOGPROBS.search(message) is not None
    if request.decoding.logprobs and (is_named or (by_words and not _FORM.search(message))):
        without = LogprobsRefusedError(message)
        without.status, without.names_them = error.status, is_named
        return without
    if by_words:
        return error
    refusal = FormRefusedError(message)
    refusal.status = error.status
    return refusal


def names_policy(reply: str) -> bool:
    """Return whether a failed `reply` says that a policy forbids an answer."""
    return _POLICY.search(reply) is not None


def short_line(message: str, *, status: int | None = None, key: str = "") -> str:
    """Return `message` as one short line with all secrets masked, `key` among them.

    Addresses of Python objects are removed.
    """
    message = without_memory_addresses(" ".join(scrub(message, secrets=[key]).split()))
    message = message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]}…"
    return message if status is None else f"status {status}: {message}"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds in a Retry-After header, given as a number or as an HTTP date.

    Examples
    --------
    >>> retry_after({"retry-after": "7"})
    7.0
    >>> retry_after({"retry-after": "soon"})
    """
    text = next((header for name, header in headers.items() if name.lower() == "retry-after"), "")
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def asked_wait(error: ModelError) -> float:
    """Return the seconds that a server asks to wait; 0 if it does not."""
    return (error.retry_after or 0.0) if isinstance(error, TransientModelError) else 0.0
