"""What went wrong inside LiteLLM, said in our words and without anybody's secrets."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import openai

from spanjury.adapters.litellm_library import litellm
from spanjury.adapters.scrubbing import scrub
from spanjury.judges.core import (
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    PermanentModelError,
    TransientModelError,
)

__all__ = ["model_error", "retry_after"]

_LONGEST_MESSAGE = 400
_FIRST_SERVER_ERROR = 500
_OK = 200
_TIMEOUT = 408
_WORTH_ANOTHER_TRY = frozenset({_TIMEOUT, 409, 425, 429})
_POLICY = re.compile(r"content_policy_violation|content_filter|content management policy")


def model_error(error: Exception, *, source: str, key: str = "") -> ModelError:
    """Translate `error`, raised by LiteLLM while it called `source`.

    Parameters
    ----------
    error
        Anything: its own errors, `openai`'s, or what slipped out of its code.
    source
        Name and address of the model, for the message.
    key
        The key that was shown to the server; it must not be in the message.

    Returns
    -------
    ModelError
        By status: time-outs, 408 -> `ModelTimeoutError`; 409, 425, 429, 5xx, no
        connection, unreadable replies -> `TransientModelError` with what ``Retry-After``
        says; a policy's refusal -> `ModelRefusedError`; the rest -> `PermanentModelError`.
    """
    status = getattr(error, "status_code", None)
    message = f"{source}: {_told(error, status=status, key=key)}"
    if isinstance(error, TimeoutError | openai.APITimeoutError) or status == _TIMEOUT:
        return ModelTimeoutError(message, retry_after=retry_after(_headers(error)))
    if _is_transient(error, status=status):
        return TransientModelError(message, retry_after=retry_after(_headers(error)))
    if isinstance(error, litellm.exceptions.ContentPolicyViolationError) or _POLICY.search(
        str(error)
    ):
        return ModelRefusedError(message)
    return PermanentModelError(message)


def retry_after(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Read how many seconds a server asks us to wait, given as seconds or as an HTTP date.

    Examples
    --------
    >>> retry_after({"retry-after": "7"})
    7.0
    >>> retry_after({"retry-after": "soon"})
    """
    text = next((said for name, said in headers.items() if name.lower() == "retry-after"), "")
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())


def _is_transient(error: Exception, *, status: int | None) -> bool:
    """Whether trying again may help; a reply that LiteLLM stumbled over may be whole next time."""
    if not isinstance(error, openai.APIError) or status is None:
        return True
    # LiteLLM gives a body that it cannot read the status that it came with.
    return status == _OK or status in _WORTH_ANOTHER_TRY or status >= _FIRST_SERVER_ERROR


def _told(error: Exception, *, status: int | None, key: str) -> str:
    said = str(error).partition("Traceback (most recent call last)")[0]
    said = " ".join(scrub(said, known=[key]).split()) or type(error).__name__
    said = said if len(said) <= _LONGEST_MESSAGE else f"{said[:_LONGEST_MESSAGE]}…"
    return said if status is None else f"status {status}: {said}"


def _headers(error: Exception) -> Mapping[str, str]:
    """Return the reply's headers; LiteLLM's own errors carry them apart from the response."""
    response = getattr(error, "response", None)
    return getattr(error, "litellm_response_headers", None) or getattr(response, "headers", {})
