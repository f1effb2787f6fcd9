"""A model that can be forced: what stands in its prompt is likely, and other words are not."""

import re

import anyio.lowlevel

from spanjury.judges.core import (
    ChatRequest,
    PermanentModelError,
    Reply,
    TokenLogprob,
    Usage,
    signature,
)

COPIED, STRANGE = -0.25, -6.0


class CopyingModel:
    """A `ChatModel` to which a word of its prompt has `COPIED`, and any other `STRANGE`.

    A prompt of more than `context` characters is refused.
    """

    def __init__(self, *, context: int = 1_000_000) -> None:
        self.context = context
        self.requests: list[ChatRequest] = []

    @property
    def signature(self) -> str:
        return signature("copying")

    async def complete(self, request: ChatRequest) -> Reply:
        self.requests.append(request)
        await anyio.lowlevel.checkpoint()
        prompt = request.messages[-1].content
        if len(prompt) > self.context:
            raise PermanentModelError(f"the prompt has {len(prompt)} characters")
        words = set(re.findall(r"\w+", prompt))
        tokens = re.findall(r"\s*(?:\w+|[^\w\s])", request.forced)
        return Reply(
            text=request.forced,
            usage=Usage(calls=1, prompt=len(prompt)),
            logprobs=tuple(
                TokenLogprob(token=token, logprob=COPIED if token.strip() in words else STRANGE)
                for token in tokens
            ),
        )
