"""Any model that LiteLLM can name, as a `ChatModel`. Needs asyncio.

One call is one request: retries, limits of time and of concurrency are the gateway's.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from spanjury.adapters.models.litellm_backend import Backend, find_backend
from spanjury.adapters.models.litellm_clients import client_connections
from spanjury.adapters.models.litellm_errors import model_error
from spanjury.adapters.models.litellm_guard import Exchange, guarded
from spanjury.adapters.models.litellm_library import litellm
from spanjury.adapters.models.litellm_reply import read_response
from spanjury.adapters.models.litellm_request import arguments_for
from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    ModelError,
    ModelOptions,
    Reply,
    TokenPrice,
    signature,
)

__all__ = ["LiteLLMModel", "open_litellm"]


@asynccontextmanager
async def open_litellm(name: str, *, options: ModelOptions) -> AsyncIterator[ChatModel]:
    """Open the model that LiteLLM calls `name`; a plugin of the group ``spanjury.models``.

    Raises
    ------
    ConfigError
        If LiteLLM knows no provider for the name, or the event loop is not asyncio's.

    Examples
    --------
    ::

        async with open_litellm("ollama/qwen3:8b", options=ModelOptions()) as model:
            reply = await model.complete(request)
    """
    backend = find_backend(name, base_url=options.base_url)
    async with client_connections():
        # Without the address: a model is the same wherever it is served, and a run may be
        # resumed when its server has moved.
        yield LiteLLMModel(
            backend=backend,
            timeout=options.timeout,
            signature=signature(backend.name),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteLLMModel:
    """A model behind LiteLLM.

    Parameters
    ----------
    backend
        Which model, and where.
    timeout
        Seconds that the server may stay silent.
    signature
        Everything that can change a reply.
    """

    backend: Backend
    timeout: float
    signature: str

    @property
    def price(self) -> TokenPrice | None:
        """What LiteLLM's list of models says that tokens cost."""
        return self.backend.price

    async def complete(self, request: ChatRequest) -> Reply:
        """Ask once.

        Raises
        ------
        ModelError
            As `litellm_errors.model_error` sorts them; also if the backend cannot do
            what the request asks.
        """
        backend = self.backend
        arguments = arguments_for(request, backend=backend)
        exchange = Exchange(
            decoding=request.decoding, source=str(backend), key=backend.api_key or ""
        )
        try:
            with guarded(exchange):
                response = await litellm.acompletion(
                    model=backend.name,
                    base_url=backend.base_url,
                    api_key=backend.api_key,
                    timeout=self.timeout,
                    num_retries=0,
                    max_retries=0,
                    caching=False,
                    drop_params=True,
                    **arguments,
                )
            return read_response(response, prefix=request.prefix, source=str(backend))
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001 - LiteLLM lets through whatever went wrong
            # Not chained: the foreign message may hold a key, and a traceback prints it.
            raise exchange.refusal or model_error(
                error, source=str(backend), key=backend.api_key or ""
            ) from None
