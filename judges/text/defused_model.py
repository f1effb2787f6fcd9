"""A model to which no judged text can speak in the tokens of its chat template.

It stands below every prompt: what a request says in such tokens is taken apart, and what the
reply quotes of it is put together again, so that quotes are in the text that was judged.
Requests and replies without such tokens pass byte for byte.
"""

from dataclasses import dataclass, replace

from spanjury.judges.core import ChatModel, ChatRequest, Message, Reply, ToolCall
from spanjury.judges.text.template_tokens import join_tokens, split_tokens

__all__ = ["DefusedModel", "defused"]


def defused(model: ChatModel) -> ChatModel:
    """Return `model` behind a `DefusedModel`, or as it is if it stands behind one."""
    return model if isinstance(model, DefusedModel) else DefusedModel(model=model)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefusedModel:
    """A `ChatModel` that is asked without tokens of chat templates.

    Parameters
    ----------
    model
        The model that is asked.
    """

    model: ChatModel

    @property
    def signature(self) -> str:
        """The signature of the model: ordinary texts reach it as they are."""
        return self.model.signature

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply; raise `ModelError` as the model raises it."""
        asked = replace(
            request,
            messages=tuple(map(_asked, request.messages)),
            prefix=split_tokens(request.prefix),
        )
        reply = await self.model.complete(asked)
        return reply if asked == request else _answered(reply)


def _asked(message: Message) -> Message:
    # What a model said may begin with its own reasoning, which chat templates cut off.
    said = message.role == "assistant"
    content = split_tokens(message.content, reasoning=not said)
    calls = tuple(_renewed(call, split_tokens(call.arguments)) for call in message.tool_calls)
    return replace(message, content=content, tool_calls=calls)


def _answered(reply: Reply) -> Reply:
    text, reasoning = join_tokens(reply.text), join_tokens(reply.reasoning)
    calls = tuple(_renewed(call, join_tokens(call.arguments)) for call in reply.tool_calls)
    return replace(reply, text=text, reasoning=reasoning, tool_calls=calls)


def _renewed(call: ToolCall, arguments: str) -> ToolCall:
    return replace(call, arguments=arguments)
