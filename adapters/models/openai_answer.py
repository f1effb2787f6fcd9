"""What an OpenAI-compatible server answered over HTTP: a body to be read, or a failure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from spanjury.adapters.models.model_errors import error_by_status, names_policy, retry_after, told
from spanjury.judges.core import ModelError, TransientModelError

__all__ = ["HttpAnswer", "content_of", "is_success"]

_SUCCESS = range(200, 300)
_NO_CODE = 422  # what LiteLLM, too, takes a failure for that tells no code


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """One answer, its body whole if it succeeded; header names match in upper and lower case."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


def is_success(status: int) -> bool:
    """Tell whether an answer with `status` holds a reply."""
    return status in _SUCCESS


def content_of(answer: HttpAnswer, *, source: str, key: str) -> object:
    """Return the JSON value that a successful `answer` holds.

    Parameters
    ----------
    answer
        What came; nothing in it is trusted.
    source
        Name and address of the model, for messages.
    key
        The key that was shown to the server; it must not be in a message.

    Raises
    ------
    ModelError
        For a failure, also one that comes with status 200, as `error_by_status` sorts it;
        `TransientModelError` if a success is not JSON.
    """
    content = _parsed(answer.body)
    if not is_success(answer.status):
        raise _failure(answer, content, status=answer.status, source=source, key=key)
    if isinstance(content, _NotJson):
        said = told("the reply is not JSON", status=answer.status)
        raise TransientModelError(f"{source}: {said}")
    if isinstance(content, Mapping) and _is_failure(content.get("error")):
        status = _code(content["error"])
        raise _failure(answer, content, status=status, source=source, key=key)
    return content


class _NotJson:
    """In place of what cannot be read."""


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    # Not JSON, not UTF-8, a number of thousands of digits; or nested too deeply.
    except (ValueError, RecursionError):
        return _NotJson()


def _is_failure(error: object) -> bool:
    """Whether a success's ``error`` means it: some servers send an empty one with every reply."""
    if isinstance(error, Mapping):
        return bool(error.get("message")) or error.get("code") is not None
    return error is not None and error != ""


def _code(error: object) -> int | None:
    """Return the status that a failure names in its body, None if it names it by a word."""
    code = error.get("code") if isinstance(error, Mapping) else None
    if code is None:
        return _NO_CODE
    return code if isinstance(code, int) else None


def _failure(
    answer: HttpAnswer, content: object, *, status: int | None, source: str, key: str
) -> ModelError:
    said = _said(content) or answer.reason or "no reason given"
    return error_by_status(
        f"{source}: {told(said, status=answer.status, key=key)}",
        status=status,
        wait=retry_after(answer.headers),
        refused=names_policy(answer.body.decode(errors="replace")),
    )


def _said(content: object) -> str:
    """Return the server's own words: OpenAI's, TGI's and Ollama's, old vLLM's, FastAPI's."""
    if not isinstance(content, Mapping):
        return ""
    error = content.get("error")
    words = error.get("message") if isinstance(error, Mapping) else error
    words = words or content.get("message") or content.get("detail") or ""
    return words if isinstance(words, str) else json.dumps(words, ensure_ascii=False)
