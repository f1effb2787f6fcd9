"""A model whose replies and errors hold no known secret.

A server, or a model whose prompt was tampered with, may give back the key that it was shown.
All models are opened behind this one, so that nothing behind it, be it memory, results, log
or screen, gets to see a secret.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from spanjury.judges.core import (
    MASK,
    ChatModel,
    ChatRequest,
    ModelError,
    PricedModel,
    Reply,
    TokenLogprob,
    TokenPrice,
    ToolCall,
    hide,
    secret_places,
)


@dataclass(frozen=True, slots=True)
class ScrubbedModel:
    """A model in whose replies, and in the messages of whose errors, secrets are masked.

    The request goes to it as it is.
    """

    model: ChatModel

    @property
    def signature(self) -> str:
        """The model's own: a mask changes no honest reply."""
        return self.model.signature

    @property
    def price(self) -> TokenPrice | None:
        """The model's own; None where it knows none."""
        return self.model.price if isinstance(self.model, PricedModel) else None

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply without secrets; raise what it raises, without them too."""
        try:
            return _scrubbed(await self.model.complete(request))
        except ModelError as error:
            # The same error, so that its type and whatever it carries stay.
            error.args = tuple(hide(part) if isinstance(part, str) else part for part in error.args)
            raise


def _scrubbed(reply: Reply) -> Reply:
    text, reasoning = hide(reply.text), hide(reply.reasoning)
    calls = tuple(map(_scrubbed_call, reply.tool_calls))
    logprobs = _scrubbed_tokens(reply.logprobs)
    scrubbed = replace(reply, text=text, reasoning=reasoning, tool_calls=calls, logprobs=logprobs)
    return reply if scrubbed == reply else scrubbed


def _scrubbed_call(call: ToolCall) -> ToolCall:
    return ToolCall(
        call_id=hide(call.call_id), name=hide(call.name), arguments=hide(call.arguments)
    )


def _scrubbed_tokens(tokens: Sequence[TokenLogprob]) -> tuple[TokenLogprob, ...]:
    """Mask each token that a secret runs through, and its rivals, which may spell it too."""
    places = secret_places("".join(token.token for token in tokens))
    if not places:
        return tuple(tokens)
    edges = pairwise([0, *accumulate(len(token.token) for token in tokens)])
    return tuple(
        TokenLogprob(token=MASK, logprob=token.logprob)
        if any(first < end and start < last for first, last in places)
        else token
        for token, (start, end) in zip(tokens, edges, strict=True)
    )
