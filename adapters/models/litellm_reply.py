"""How LiteLLM's response is read as a `Reply`."""

from typing import Any

from spanjury.adapters.models.litellm_library import litellm
from spanjury.adapters.models.openai_reply import read_reply
from spanjury.judges.core import Reply

__all__ = ["read_response"]


def read_response(response: litellm.ModelResponse, *, prefix: str, source: str) -> Reply:
    """Read `response` as `openai_reply.read_reply` reads what other servers send.

    Raises
    ------
    TransientModelError
        If the response holds no choice.
    """
    body: dict[str, Any] = response.model_dump(warnings=False)
    for choice in body["choices"]:
        message = choice["message"]
        # LiteLLM puts away there what it has no field for.
        own = message.get("provider_specific_fields") or {}
        message.setdefault("refusal", own.get("refusal"))
    return read_reply(body, prefix=prefix, source=source)
