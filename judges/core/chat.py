"""Requests to a model, its replies, and the likelihood of a forced reply."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from spanjury.judges.core.errors import PermanentModelError

Role = Literal["system", "user", "assistant", "tool", "document"]
"""Author of a message; a document is the subject of the conversation and not a turn of it."""

Form = Literal["bounded-schema", "schema", "grammar", "text"]
"""Form that constrains a reply: a JSON schema, a GBNF grammar, or instructions in the prompt alone.

A schema is bounded if it limits the length of strings and arrays. This ends the loops of small
models, but OpenAI and Anthropic refuse such limits."""


Reasoning = Literal["none", "low", "medium", "high"] | int
"""Effort of a model's reasoning before its reply, or the maximum number of reasoning tokens."""

_THOUGHT = {"none": 0, "low": 1024, "medium": 4096, "high": 16384}
_SLACK = 8  # characters that tokens of unreadable bytes may represent in a row
_CANNOT = (
    "the model cannot say how likely a given text is: {}. Models that run here do"
    " (local/…), and servers that follow grammars and give log-probabilities (llama.cpp, vLLM)"
)


def thought_tokens(reasoning: Reasoning | None) -> int:
    """Return the number of tokens to reserve for reasoning; 0 if `reasoning` is None.

    Raises `ValueError` if `reasoning` is neither a word of `Reasoning` nor a number of 1 or more.

    Examples
    --------
    >>> thought_tokens("low"), thought_tokens(3000), thought_tokens(None)
    (1024, 3000, 0)
    """
    if reasoning is None:
        return 0
    if isinstance(reasoning, int) and not isinstance(reasoning, bool) and reasoning > 0:
        return reasoning
    if isinstance(reasoning, str) and reasoning in _THOUGHT:
        return _THOUGHT[reasoning]
    raise ValueError(f"reasoning must be none, low, medium, high or a number, got {reasoning!r}")


def effort_of(reasoning: Reasoning) -> str:
    """Return the word for a number of reasoning tokens; a word is returned unchanged.

    Examples
    --------
    >>> effort_of(3000), effort_of("none")
    ('medium', 'none')
    """
    if isinstance(reasoning, str):
        return reasoning
    return next((word for word in ("low", "medium") if reasoning <= _THOUGHT[word]), "high")


class Finish(StrEnum):
    """Reason why a model stopped writing."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"
    TOOL_CALLS = "tool_calls"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool call that a model requests; `arguments` is the JSON text that it wrote."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool that a model may call; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation.

    An assistant's message may carry `tool_calls`; a tool's message answers the call with the id
    `call_id`. The chat template receives documents separately from the turns. The first `shared`
    characters of a prompt are common to all prompts about the same source, so a server may cache
    them. A message with `own` contains only the judge's text: chat-template tokens in it reach the
    model unescaped.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    shared: int = field(default=0, compare=False, metadata={"in_keys": False})
    own: bool = field(default=False, compare=False, metadata={"in_keys": False})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplySchema:
    """A JSON Schema that a reply must follow.

    Parameters
    ----------
    name
        Kind of reply, in letters, digits, ``-`` and ``_``; the same for every judged text.
    text
        The schema as JSON. Its objects require all of their fields and allow no others.
    bounded
        Whether the schema limits lengths.
    """

    name: str
    text: str
    bounded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """Decoding parameters of a reply.

    Parameters
    ----------
    temperature
        Sampling temperature; 0 for the most likely reply.
    seed
        Passed to servers that accept one; None leaves the choice to the server.
    max_tokens
        Maximum length of the reply, in tokens.
    grammar
        A GBNF grammar that the reply must follow. Only servers that support grammars
        (llama.cpp, vLLM) honour it; an adapter raises an error if it knows that its server does
        not.
    schema
        A JSON Schema that the reply must follow, or None.
    logprobs
        Number of most likely tokens to report at each position; 0 reports none.
    reasoning
        Effort of reasoning before the reply; `max_tokens` includes the reasoning. If None, the
        request does not mention it.
    """

    temperature: float = 0.0
    seed: int | None = None
    max_tokens: int = 1024
    grammar: str = ""
    logprobs: int = 0
    schema: ReplySchema | None = None
    reasoning: Reasoning | None = None

    def __post_init__(self) -> None:
        thought_tokens(self.reasoning)
        if not 0 <= self.temperature < math.inf:
            raise ValueError(f"temperature must be 0 or more, got {self.temperature!r}")
        if self.max_tokens < 1 or self.logprobs < 0:
            raise ValueError(
                "max_tokens must be positive and logprobs 0 or more, got"
                f" {self.max_tokens!r} and {self.logprobs!r}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A conversation that a model is to continue.

    Parameters
    ----------
    messages
        The conversation so far, oldest first.
    prefix
        The beginning of the assistant's reply; the reply's text does not repeat it.
    decoding
        Decoding parameters.
    tools
        Tools that the model may call.
    forced
        The whole reply, if only its likelihood is wanted. The model then generates nothing, and
        `Reply.logprobs` are those of this text, regardless of `decoding`. A model that cannot do
        this raises `PermanentModelError` or writes another text, which `forced_logprobs` detects.
    variants
        The same question in other forms, best first. A wrapper that knows which forms the server
        accepts sends one of them instead of this request; every other model ignores them.
    logprobs_near
        Words of the reply, in lower case, near which log-probabilities matter; those of other
        tokens may be dropped. Empty if all matter.
    """

    messages: tuple[Message, ...]
    prefix: str = ""
    decoding: Decoding = Decoding()
    tools: tuple[ToolSpec, ...] = ()
    forced: str = ""
    variants: tuple["ChatRequest", ...] = field(default=(), metadata={"in_keys": False})
    logprobs_near: tuple[str, ...] = field(default=(), metadata={"in_keys": False})

    @property
    def form(self) -> Form:
        """Form in which the server is asked to constrain the reply."""
        if (schema := self.decoding.schema) is not None:
            return "bounded-schema" if schema.bounded else "schema"
        return "grammar" if self.decoding.grammar else "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLogprob:
    """The log-probability of one generated token, and those of the likeliest alternatives."""

    token: str
    logprob: float
    top: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens and calls spent; ``+`` adds two of them.

    `prompt` includes `cached`, and `completion` includes `reasoning`.
    """

    calls: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    reasoning: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            calls=self.calls + other.calls,
            prompt=self.prompt + other.prompt,
            cached=self.cached + other.cached,
            completion=self.completion + other.completion,
            reasoning=self.reasoning + other.reasoning,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Reply of a model.

    Parameters
    ----------
    text
        The reply without its reasoning and without the request's prefix.
    finish
        Why the reply ends.
    reasoning
        Reasoning that the server returns separately from the reply.
    usage
        Tokens spent on this call.
    logprobs
        One entry for each token, if requested and available; only the tokens near certain words
        if the request names such words.
    tool_calls
        Tool calls that the model requests.
    """

    text: str
    finish: Finish = Finish.STOP
    reasoning: str = ""
    usage: Usage = Usage()
    logprobs: tuple[TokenLogprob, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateTokens:
    """Tokens by which a model's chat template separates messages, and the source that lists them.

    Parameters
    ----------
    tokens
        The tokens as they are spelt.
    source
        One line: the tokenizer or file that lists them.
    """

    tokens: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrice:
    """The price of a model, in dollars per token.

    Raises `ValueError` if a price is negative or not finite.

    Parameters
    ----------
    prompt, completion
        Price of input tokens and of output tokens, reasoning included.
    cached
        Price of the part of the prompt that the server had cached; None if it costs the same as
        the rest.
    """

    prompt: float
    completion: float
    cached: float | None = None

    def __post_init__(self) -> None:
        if not all(
            0 <= price < math.inf for price in (self.prompt, self.completion, self.cached or 0)
        ):
            raise ValueError(f"expected prices of 0 or more dollars per token, got {self!r}")

    def cost(self, usage: Usage) -> float:
        """Return the cost of `usage`, in dollars."""
        cached = self.prompt if self.cached is None else self.cached
        read = self.prompt * (usage.prompt - usage.cached) + cached * usage.cached
        return read + self.completion * usage.completion

    def in_batch(self) -> "TokenPrice":
        """Return the price of the same tokens in a batch, for which providers charge half.

        Examples
        --------
        >>> TokenPrice(prompt=2e-6, completion=8e-6).in_batch()
        TokenPrice(prompt=1e-06, completion=4e-06, cached=None)
        """
        cached = None if self.cached is None else self.cached / 2
        return TokenPrice(prompt=self.prompt / 2, completion=self.completion / 2, cached=cached)


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyToken:
    """A part of a text that a model reads as one token, and the token's log-probability."""

    start: int
    end: int
    logprob: float


def forced_logprobs(reply: Reply, text: str) -> tuple[LikelyToken, ...]:
    """Return the tokens of `text`, the forced reply, in order and without gaps.

    A token that contains only part of a character is merged with the next token that completes it.
    Raises `PermanentModelError` if the reply has no log-probabilities or is another text.
    """
    if not reply.logprobs:
        raise PermanentModelError(_CANNOT.format("its reply has no log-probabilities"))
    tokens = _laid_over(reply.logprobs, text)
    if not tokens or text[tokens[-1].end :].strip():
        raise PermanentModelError(_CANNOT.format("it wrote another text"))
    return tokens


def _laid_over(written: Sequence[TokenLogprob], text: str) -> tuple[LikelyToken, ...]:
    """Align the tokens with `text`: find each one after the end of the one before."""
    tokens: list[LikelyToken] = []
    start, unplaced = 0, 0.0
    for token in written:
        unplaced += token.logprob
        size = len(token.token)
        begin = text.find(token.token, start, start + size + _SLACK) if size else -1
        if begin >= 0:
            tokens.append(LikelyToken(start=start, end=begin + size, logprob=unplaced))
            start, unplaced = begin + size, 0.0
    return tuple(tokens)
