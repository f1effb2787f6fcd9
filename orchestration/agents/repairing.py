"""The repair of a text from an agent's program: any model of pydantic-ai may write.

Such a model gets text only, and its errors are translated into ours.
"""

from collections.abc import Sequence
from pathlib import Path

import httpx
from pydantic_ai import AgentRunError, UserError, exceptions
from pydantic_ai.direct import model_request
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from spanjury.judges.core import (
    Aspect,
    ChatRequest,
    Finish,
    Message,
    ModelError,
    ModelRefusedError,
    PermanentModelError,
    Reply,
    TransientModelError,
    UnusableModelError,
    Usage,
    check_arguments,
    signature,
)
from spanjury.judges.core import ModelTimeoutError as OurTimeoutError
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.judging import repair as service
from spanjury.orchestration.services.judging.check import Source
from spanjury.orchestration.services.judging.panels import Judges, Models
from spanjury.orchestration.services.judging.repair import Repair, WriterModel
from spanjury.orchestration.services.judging.synchronous import synchronous
from spanjury.orchestration.wiring.config import PanelConfig

_FINISHES = {"length": Finish.LENGTH, "content_filter": Finish.REFUSAL}
_UNUSABLE = (exceptions.ModelAuthenticationError, exceptions.ModelNotFoundError)
_TIMEOUTS = (
    exceptions.ModelTimeoutError,
    exceptions.ModelRequestTimeout,
    TimeoutError,
    httpx.TimeoutException,
)
_NEVER = frozenset({401, 402, 403, 404})
"""HTTP statuses of a wrong key or name or an unpaid account, with which every request fails."""
_FAILING = 500
"""HTTP statuses from this one on may be transient, as are those of a busy server."""
_BUSY = frozenset({408, 425, 429})


async def arepair(  # noqa: PLR0913  all but text and model have defaults
    text: str,
    *,
    model: WriterModel | Model,
    source: Source | None = None,
    task: str | None = None,
    aspects: str | Aspect | Sequence[str | Aspect] = (),
    panel: Panel | PanelConfig | Path | str | None = None,
    judges: Judges = (),
    models: Models = (),
    rounds: int = 3,
    limits: Limits = Limits(),
    aspects_files: Sequence[Path] = (),
) -> Repair:
    """Have a model correct a text inside its error spans, and keep the best version.

    It needs asyncio. `model` may be a model of pydantic-ai, as ``agent.model``; a text is a name
    of ours, as ``"ollama/gemma2:27b"``. `services.repair.arepair` explains the rest.
    """
    check_arguments(arepair, locals())
    return await service.arepair(
        text,
        model=OutsideModel(model) if isinstance(model, Model) else model,
        source=source,
        task=task,
        aspects=aspects,
        panel=panel,
        judges=judges,
        models=models,
        rounds=rounds,
        limits=limits,
        aspects_files=aspects_files,
    )


repair = synchronous(
    arepair,
    name="repair",
    doc="""Repair a text, from code that is not asynchronous; `arepair` explains the parameters.""",
)


class OutsideModel:
    """A pydantic-ai model that answers text prompts."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def signature(self) -> str:
        """Provider and name of the model in pydantic-ai."""
        return signature("pydantic-ai", model=f"{self._model.system}:{self._model.model_name}")

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply; raise `ModelError` if there is none."""
        try:
            # Only the token limit: many hosts' models refuse or preset a temperature.
            settings = ModelSettings(max_tokens=request.decoding.max_tokens)
            response = await model_request(
                self._model, _history(request.messages), model_settings=settings
            )
        except UserError as error:
            raise UnusableModelError(str(error)) from error
        except (AgentRunError, OSError, httpx.TransportError) as error:
            raise _translated(error, self._model.model_name) from error
        return _reply(response)


def _translated(error: AgentRunError | OSError | httpx.TransportError, name: str) -> ModelError:
    """Return our error, without the server's message, which may repeat a key."""
    kind = type(error).__name__
    status = error.status_code if isinstance(error, exceptions.ModelHTTPError) else None
    message = f"{name} gave no reply: {kind}" + (f" {status}" if status else "")
    if isinstance(error, _UNUSABLE) or status in _NEVER:
        return UnusableModelError(message)
    if isinstance(error, exceptions.ContentFilterError):
        return ModelRefusedError(message)
    if isinstance(error, _TIMEOUTS):
        return OurTimeoutError(message)
    if status is not None and status < _FAILING and status not in _BUSY:
        return PermanentModelError(message)
    return TransientModelError(message)


def _history(messages: Sequence[Message]) -> list[ModelMessage]:
    history: list[ModelMessage] = []
    for message in messages:
        if message.role == "assistant":
            history.append(ModelResponse(parts=[TextPart(message.content)]))
        else:
            kind = SystemPromptPart if message.role == "system" else UserPromptPart
            history.append(ModelRequest(parts=[kind(message.content)]))
    return history


def _reply(response: ModelResponse) -> Reply:
    usage = response.usage
    return Reply(
        text=response.text or "",
        finish=_FINISHES.get(response.finish_reason or "", Finish.STOP),
        usage=Usage(
            calls=1,
            prompt=usage.input_tokens or 0,
            cached=usage.cache_read_tokens or 0,
            completion=usage.output_tokens or 0,
        ),
    )
