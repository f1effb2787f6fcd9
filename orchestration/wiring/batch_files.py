"""Connect batches with their files and their servers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from spanjury.adapters.models.batch_files import (
    AnswerFile,
    BatchModel,
    BatchStatus,
    RequestFile,
    WrittenModel,
    read_answers,
    write_answers,
)
from spanjury.adapters.models.gateway import Gateway
from spanjury.adapters.models.scrubbed_model import ScrubbedModel
from spanjury.judges.core import ConfigError, without_secrets
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.engine.deferral import Answers
from spanjury.orchestration.wiring.config import ModelConfig
from spanjury.orchestration.wiring.models import open_model

with lazily():
    from spanjury.adapters.models import litellm_batches

__all__ = [
    "AnswerFile",
    "BatchStatus",
    "RequestFile",
    "answers_in",
    "batch_model",
    "litellm_batches",
    "open_server",
    "read_answers",
    "write_answers",
]


def batch_model(gateway: Gateway, model: ModelConfig) -> BatchModel:
    """Return a model in the form that batch files need.

    Raise `ConfigError` if its requests cannot be written to files.
    """
    scrubbed = gateway.model
    opened = scrubbed.model if isinstance(scrubbed, ScrubbedModel) else scrubbed
    if not isinstance(opened, WrittenModel) or opened.batch_access is None:
        raise ConfigError(
            f"model {model.name!r} takes no batches in OpenAI's form: name a model of OpenAI,"
            " Azure, Mistral, vLLM or a LiteLLM proxy"
        )
    urls = ", ".join(without_secrets(url) for url in model.base_urls if url)
    source = f"{model.name} at {urls}" if urls else model.name
    return BatchModel(opened, source)


@asynccontextmanager
async def open_server(model: ModelConfig) -> "AsyncIterator[litellm_batches.LiteLLMBatches]":
    """Open the server for batches of `model`; raise the `ConfigError` of `batch_model`."""
    async with open_model(model) as gateway:
        access = batch_model(gateway, model).model.batch_access
        assert access is not None, "batch_model refuses models without one"
        async with litellm_batches.open_batches(access) as server:
            yield server


def answers_in(file: AnswerFile) -> dict[str, Answers]:
    """Return the answers in a file, by the keys of their requests."""
    return {
        key: Answers(reply=line.reply, failures=list(line.failures))
        for key, line in file.lines.items()
    }
