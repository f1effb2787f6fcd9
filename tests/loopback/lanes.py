"""Every way to an OpenAI-compatible server, so that a test can hold all of them to one contract."""

from dataclasses import dataclass
from typing import Any

import pytest
from loopback.answers import Answer
from loopback.server import LoopbackServer

from spanjury.judges.core import ChatRequest, Message, ModelError, ModelOpener, ModelOptions, Reply
from spanjury.orchestration.wiring.plugins import MODELS

KEY = "sk-loopback-0123456789abcdef"
KEYS = ("OPENAI_API_KEY", "HOSTED_VLLM_API_KEY", "OPENAI_COMPATIBLE_API_KEY")
QUESTION = Message(role="user", content="Judge this.")
REQUEST = ChatRequest(messages=(QUESTION,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A name of a model, and the plugin that opens it, which takes seconds to import."""

    name: str
    plugin: str = "litellm"

    @property
    def open(self) -> ModelOpener:
        """Import the plugin."""
        return MODELS.get(self.plugin)


LANES = (
    Lane(name="openai/loop"),
    Lane(name="hosted_vllm/loop"),
    Lane(name="openai-compatible/loop", plugin="openai-compatible"),
)
EACH_LANE = [
    pytest.param(
        lane,
        id=lane.name.partition("/")[0],
        marks=[pytest.mark.heavy] if lane.plugin == "litellm" else [],
    )
    for lane in LANES
]


async def ask(lane: Lane, server: LoopbackServer, request: ChatRequest = REQUEST) -> Reply:
    """Open the model, ask once, and close it."""
    async with lane.open(lane.name, options=ModelOptions(base_url=server.base_url)) as model:
        return await model.complete(request)


async def said_by_llama_cpp(
    request: ChatRequest, monkeypatch: pytest.MonkeyPatch
) -> list[Reply | ModelError]:
    """Return what becomes of `request` in each lane that llama.cpp understands in full."""
    replies: list[Reply | ModelError] = []
    embedded: Any  # a `LiteLLMModel`, whose import takes seconds
    async with MODELS.get("embedded")("embedded", options=ModelOptions()) as embedded:
        for variable in KEYS:
            monkeypatch.setenv(variable, embedded.backend.api_key or "")
        options = ModelOptions(base_url=embedded.backend.base_url)
        for lane in LANES:
            if lane.name.startswith("hosted_vllm/"):  # it would send vLLM's words alone
                continue
            async with lane.open(lane.name, options=options) as model:
                try:
                    replies.append(await model.complete(request))
                except ModelError as error:
                    replies.append(error)
    return replies


async def failing(lane: Lane, answer: Answer) -> ModelError:
    """Return the error that `answer` becomes, after one request and no more."""
    with LoopbackServer(answer) as server:
        with pytest.raises(ModelError) as caught:
            await ask(lane, server)
        assert len(server.requests) == 1
    assert caught.value.__cause__ is None
    return caught.value
