"""How a `ChatRequest` is put to LiteLLM."""

from typing import Any

from spanjury.adapters.models.litellm_backend import Backend
from spanjury.adapters.models.openai_request import chat_fields
from spanjury.judges.core import ChatRequest, PermanentModelError

__all__ = ["arguments_for"]


def arguments_for(request: ChatRequest, *, backend: Backend) -> dict[str, Any]:
    """Return the arguments of ``litellm.acompletion`` that say what `request` says.

    Raises
    ------
    PermanentModelError
        If the backend cannot do what is asked: follow a grammar, continue from a prefix,
        call tools. Left out without a word is what changes no meaning, as a seed.
    """
    arguments = chat_fields(request)
    extra: dict[str, object] = {}
    if request.decoding.grammar:
        extra |= backend.grammar_fields(request.decoding.grammar)
    if request.prefix:
        marks, fields = backend.prefix_fields()
        arguments["messages"][-1] |= marks
        extra |= fields
    if request.tools:
        if not backend.takes_tools:
            raise PermanentModelError(f"{backend}: {backend.provider} takes no tools")
        # Any tool at all makes LiteLLM import its proxy, whose packages are not installed.
        arguments["_skip_mcp_handler"] = True
    if extra:
        arguments["extra_body"] = extra
    return arguments
