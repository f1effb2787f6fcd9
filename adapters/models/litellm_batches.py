"""Batches of a provider, sent and collected by LiteLLM. Needs asyncio.

Each call here is one request without retries: the caller, who stores the state of a batch, decides
what may be repeated. If it is unclear whether a request was received, `TransientModelError` is
raised, as always; `find` then tells whether the batch was created.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, get_args

from anyio import to_thread

from spanjury.adapters.models.batch_files import ENDPOINT, BatchAccess, BatchState, BatchStatus
from spanjury.adapters.models.litellm_library import Exchange, client_connections, litellm
from spanjury.adapters.models.litellm_model import translated
from spanjury.adapters.models.model_errors import short_line
from spanjury.judges.core import Decoding, StoreError

_STATES: dict[str, BatchState] = {state: state for state in get_args(BatchState)}
_LARGE = Decoding(max_tokens=2**22)
"""Limit for a file that comes back: a gigabyte."""
_NO_COST: dict[str, Any] = {"litellm_metadata": {"batch_ignore_default_logging": True}}
"""Keeps LiteLLM from downloading the output of a batch to compute its price."""
_PAGE, _MOST_PAGES = 100, 50
_SECONDS = 600.0


class LiteLLMBatches:
    """The batches at one server; each method raises `ModelError` if its request fails."""

    def __init__(self, access: BatchAccess) -> None:
        self._access = access
        self._model = {"model": access.model} if access.model else {}

    async def upload(self, path: Path) -> str:
        """Upload a file of requests, and return its id; raise `StoreError` if it is unreadable."""
        try:
            content = await to_thread.run_sync(path.read_bytes)
        except OSError as error:
            raise StoreError(f"{path}: cannot be read: {error.strerror}") from error
        file = (path.name, content, "application/jsonl")
        uploaded = await self._call(partial(litellm.acreate_file, file=file, purpose="batch"))
        return str(uploaded.id)

    async def create(self, file_id: str) -> BatchStatus:
        """Create a batch from an uploaded file."""
        create = partial(litellm.acreate_batch, completion_window="24h", endpoint=ENDPOINT)
        return _status(await self._call(partial(create, input_file_id=file_id), **self._model))

    async def find(self, file_id: str) -> BatchStatus | None:
        """Return the batch of an uploaded file; None if none was created."""
        after: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self._call(partial(litellm.alist_batches, after=after, limit=_PAGE))
            batches = list(page.data)
            for batch in batches:
                if batch.input_file_id == file_id:
                    return _status(batch)
            if not batches or not getattr(page, "has_more", False):
                return None
            after = batches[-1].id
        return None

    async def retrieve(self, batch_id: str) -> BatchStatus:
        """Return the state of a batch."""
        retrieve = partial(litellm.aretrieve_batch, batch_id=batch_id, **_NO_COST)
        return _status(await self._call(retrieve, **self._model))

    async def download(self, file_id: str) -> bytes:
        """Return the content of a file."""
        answer = await self._call(partial(litellm.afile_content, file_id=file_id))
        content: bytes = answer.content
        return content

    # LiteLLM's functions and their results are mostly untyped.
    async def _call(self, ask: Callable[..., Awaitable[Any]], **more: str) -> Any:  # noqa: ANN401
        access = self._access
        exchange = Exchange(
            decoding=_LARGE, source=access.source, key=access.api_key or "", is_last=True
        )
        given = {
            "custom_llm_provider": access.provider,
            "api_base": access.base_url,
            "api_key": access.api_key,
            "timeout": _SECONDS,
            "max_retries": 0,
        }
        with translated(exchange):
            return await ask(
                **more, **{name: part for name, part in given.items() if part is not None}
            )


@asynccontextmanager
async def open_batches(access: BatchAccess) -> AsyncIterator[LiteLLMBatches]:
    """Open the batches at a server; raise `ConfigError` if the event loop is not asyncio's."""
    async with client_connections():
        yield LiteLLMBatches(access)


def _status(batch: Any) -> BatchStatus:  # noqa: ANN401  LiteLLM's or `openai`'s
    counts = batch.request_counts
    files = (batch.output_file_id, batch.error_file_id)
    return BatchStatus(
        batch_id=str(batch.id),
        state=_STATES.get(str(batch.status), "under way"),
        files=tuple(file for file in files if file),
        done=(counts.completed + counts.failed) if counts else 0,
        total=counts.total if counts else 0,
        reason=_reason(batch.errors),
    )


def _reason(errors: Any) -> str:  # noqa: ANN401  a model of `openai`, a dict or None
    listed = getattr(errors, "data", None) or ()
    words = (getattr(error, "message", None) or "" for error in listed)
    return short_line("; ".join(filter(None, words)))
