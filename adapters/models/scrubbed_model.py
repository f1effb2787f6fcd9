"""A wrapper that removes known secrets from a model's replies and errors.

A server, or a model whose prompt was tampered with, may repeat the key that it was sent. All models
are wrapped by this one, so that no later stage, be it memory, results, log or screen, ever
gets a secret.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

from spanjury.judges.core import (
    MASK,
    BoundedModel,
    ChatModel,
    ChatRequest,
    EvaluationError,
    Form,
    FormedModel,
    ModelError,
    PermanentModelError,
    PricedModel,
    Reply,
    SecretFinder,
    TemplateTokens,
    TokenizedModel,
    TokenLogprob,
    TokenPrice,
    ToolCall,
    Usage,
    failing_as,
    hide,
    reason_of,
)


@dataclass(frozen=True, slots=True)
class ScrubbedModel:
    """Masks secrets in a model's replies and in the messages of its errors.

    Requests are passed on unchanged.
    """

    model: ChatModel
    _secrets: SecretFinder = field(
        default_factory=SecretFinder, init=False, repr=False, compare=False
    )

    @property
    def signature(self) -> str:
        """The model's own, because masking does not change honest replies."""
        return self.model.signature

    @property
    def price(self) -> TokenPrice | None:
        """The model's own; None if it has none."""
        return self.model.price if isinstance(self.model, PricedModel) else None

    @property
    def forms(self) -> frozenset[Form]:
        """The model's own; empty if it has none."""
        return self.model.forms if isinstance(self.model, FormedModel) else frozenset()

    @property
    def longest_call(self) -> float:
        """The model's own; infinite if it has no time limit."""
        return self.model.longest_call if isinstance(self.model, BoundedModel) else math.inf

    async def template_tokens(self) -> TemplateTokens | None:
        """Return the special tokens of the model's tokenizer; None if they are not available."""
        model = self.model
        return await model.template_tokens() if isinstance(model, TokenizedModel) else None

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply, or raise its error, with secrets masked.

        A model may be third-party code: any other exception, and anything but a `Reply`, is a
        `PermanentModelError`.
        """
        try:
            with failing_as(_own_code_failed, passing=(EvaluationError, TimeoutError)):
                reply = await self.model.complete(request)
                return scrubbed_reply(_checked(reply), self._secrets)
        except ModelError as error:
            hide_in(error)
            raise


def hide_in(error: ModelError) -> None:
    """Mask secrets in the message of `error`, in place, to keep its type and attributes."""
    error.args = tuple(hide(part) if isinstance(part, str) else part for part in error.args)


def _own_code_failed(error: BaseException) -> PermanentModelError:
    return PermanentModelError(f"the model's own code failed: {reason_of(error, kind=True)}")


def _checked(reply: object) -> Reply:
    if isinstance(reply, Reply) and isinstance(reply.usage, Usage):
        return reply
    raise PermanentModelError(f"the model returned {hide(repr(reply))}, not a Reply with its Usage")


def scrubbed_reply(reply: Reply, secrets: SecretFinder) -> Reply:
    """Return `reply` with all secrets masked; the same object if there are none."""
    text, reasoning = secrets.hide(reply.text), secrets.hide(reply.reasoning)
    calls = tuple(_scrubbed_call(call, secrets) for call in reply.tool_calls)
    logprobs = _scrubbed_tokens(reply.logprobs, secrets)
    if (text, reasoning, calls, logprobs) == (
        reply.text,
        reply.reasoning,
        reply.tool_calls,
        reply.logprobs,
    ):
        return reply
    return replace(reply, text=text, reasoning=reasoning, tool_calls=calls, logprobs=logprobs)


def _scrubbed_call(call: ToolCall, secrets: SecretFinder) -> ToolCall:
    return ToolCall(
        call_id=secrets.hide(call.call_id),
        name=secrets.hide(call.name),
        arguments=secrets.hide(call.arguments),
    )


def _scrubbed_tokens(
    tokens: Sequence[TokenLogprob], secrets: SecretFinder
) -> tuple[TokenLogprob, ...]:
    """Mask each token that is part of a secret; drop its rivals, which may spell it, too."""
    intervals = secrets.intervals("".join(token.token for token in tokens))
    if not intervals:
        return tuple(tokens)
    edges = pairwise([0, *accumulate(len(token.token) for token in tokens)])
    return tuple(
        TokenLogprob(token=MASK, logprob=token.logprob)
        if any(first < end and start < last for first, last in intervals)
        else token
        for token, (start, end) in zip(tokens, edges, strict=True)
    )
