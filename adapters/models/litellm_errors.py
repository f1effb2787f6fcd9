"""What went wrong inside LiteLLM, said in our words and without anybody's secrets."""

import re
from collections.abc import Mapping

import openai

from spanjury.adapters.models.litellm_library import litellm
from spanjury.adapters.models.model_errors import error_by_status, names_policy, retry_after, told
from spanjury.judges.core import ModelError, ModelTimeoutError, UnusableModelError

__all__ = ["model_error"]

# LiteLLM gives a key that is not there the status of a server that broke, and Gemini gives a
# wrong one the status of a bad request.
_NO_KEY = re.compile(
    r"missing credentials|missing [\w ]*api.?key|api_key client option|_api_key is not set"
    r"|api_key_invalid|api key not valid",
    re.IGNORECASE,
)


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
        A key that is missing or wrong is an `UnusableModelError`; a time-out is a
        `ModelTimeoutError`; the rest is sorted by status as `error_by_status` does. LiteLLM
        gives a body that it cannot read the status that it came with.
    """
    status = _status(error)
    said = str(error).partition("Traceback (most recent call last)")[0].strip()
    message = f"{source}: {told(said or type(error).__name__, status=status, key=key)}"
    if _NO_KEY.search(said):
        return UnusableModelError(message)
    wait = retry_after(_headers(error))
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return ModelTimeoutError(message, retry_after=wait)
    refused = isinstance(error, litellm.exceptions.ContentPolicyViolationError)
    return error_by_status(
        message, status=status, wait=wait, refused=refused or names_policy(str(error))
    )


def _status(error: Exception) -> int | None:
    """Return the status of the reply, or None where LiteLLM stumbled over something else."""
    status = getattr(error, "status_code", None)
    # A server's error code takes the status's place, and may be a word.
    return status if isinstance(error, openai.APIError) and isinstance(status, int) else None


def _headers(error: Exception) -> Mapping[str, str]:
    """Return the reply's headers; LiteLLM's own errors carry them apart from the response."""
    response = getattr(error, "response", None)
    return getattr(error, "litellm_response_headers", None) or getattr(response, "headers", {})
