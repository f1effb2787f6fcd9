"""Requests to a model, its replies, and the likelihood of a text that was forced on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from spanjury.judges.core.errors import PermanentModelError

Role = Literal["system", "user", "assistant", "tool", "document"]
"""Writer of a message; a document is what the conversation is about, and no turn of it."""

Form = Literal["bounded-schema", "schema", "grammar", "text"]
"""Means by which a reply is held to its form: a JSON schema, a GBNF grammar, or words alone.

A schema is bounded if it limits the length of texts and lists, which ends the loops of small models
and which OpenAI and Anthropic refuse.
"""


Reasoning = Literal["none", "low", "medium", "high"] | int
"""Effort of a model's thought before it replies, or the most tokens of it."""

_THOUGHT = {"none": 0, "low": 1024, "medium": 4096, "high": 16384}
_SLACK = 8  # characters that tokens of unreadable bytes may stand for in a row
_CANNOT = (
    "the model cannot say how likely a given text is: {}. Models that run here do"
    " (local/…), and servers that follow grammars and give log-probabilities (llama.cpp, vLLM)"
)


def thought_tokens(reasoning: Reasoning | None) -> int:
    """Return for how many tokens of thought there is to be room; 0 where nothing is said of it.

    Raises `ValueError` if it is neither a word of `Reasoning` nor a number of 1 or more.

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
    """Return the word for a number of tokens of thought; a word as it is.

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
    """A model's wish to call a tool; `arguments` is the JSON text that it wrote."""

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

    An assistant's message may carry `tool_calls`; a tool's message answers the call
    named by `call_id`. Documents reach the chat template apart from the turns. The first `shared`
    characters of a prompt are those of every prompt about the same source: a server may be asked
    to keep them. A message that is the judge's `own` holds no text of others: tags in it reach the
    model as they are.
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
        Kind of reply, in letters, digits, ``-`` and ``_``; the same for every text.
    text
        The schema, written as JSON: objects that require all of their fields and allow no other.
    bounded
        Whether it limits lengths.
    """

    name: str
    text: str
    bounded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """Settings by which a reply is drawn from a model.

    Parameters
    ----------
    temperature
        0 for the likeliest reply.
    seed
        Passed to servers that take one; None leaves it to them.
    max_tokens
        Upper limit of the reply, in tokens.
    grammar
        A GBNF grammar that the reply must follow; only servers that take grammars
        (llama.cpp, vLLM) honour it, so an adapter refuses it where it knows better.
    schema
        A JSON Schema that the reply must follow; None for none.
    logprobs
        How many of the likeliest tokens to report at each place; 0 for none.
    reasoning
        How much the model is to think first; `max_tokens` include the thought. None says nothing
        of it to the server.
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
        if self.temperature < 0 or self.max_tokens < 1 or self.logprobs < 0:
            raise ValueError(f"not a decoding: {self!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A conversation to be continued by a model.

    Parameters
    ----------
    messages
        The conversation so far, oldest first.
    prefix
        How the assistant's reply must begin; the reply's text does not repeat it.
    decoding
        How the reply is drawn.
    tools
        Tools that the model may call.
    forced
        The whole reply, where it is given and only its likelihood is wanted: the model draws
        nothing, and `Reply.logprobs` are those of this text, whatever the decoding says. A
        model that cannot do so raises `PermanentModelError`, or writes what it likes:
        `forced_logprobs` tells.
    variants
        The same question in other forms, best first. Whoever knows which forms the server takes
        sends one of them in place of this request; to anyone else they are nothing.
    logprobs_near
        Words of the reply, in lower case, near which log-probabilities matter: those of tokens
        elsewhere may be dropped. Empty if all matter.
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
        """The form to which the server is asked to hold the reply."""
        if (schema := self.decoding.schema) is not None:
            return "bounded-schema" if schema.bounded else "schema"
        return "grammar" if self.decoding.grammar else "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLogprob:
    """The log-probability of one written token, and of its likeliest rivals."""

    token: str
    logprob: float
    top: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens and calls spent; sums with ``+``.

    `cached` is a part of `prompt`, `reasoning` a part of `completion`.
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
        Why it ends.
    reasoning
        What the server hands over as reasoning, apart from the reply.
    usage
        Tokens spent on this call.
    logprobs
        One entry a token, where asked for and given; only the tokens near certain words where the
        request names such words.
    tool_calls
        Tools that the model wants called.
    """

    text: str
    finish: Finish = Finish.STOP
    reasoning: str = ""
    usage: Usage = Usage()
    logprobs: tuple[TokenLogprob, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateTokens:
    """Tokens by which a model's chat template separates messages, and who named them.

    Parameters
    ----------
    tokens
        Each as it is spelt.
    source
        One line: the tokenizer or file that named them.
    """

    tokens: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrice:
    """The price of a model, in dollars a token.

    Parameters
    ----------
    prompt, completion
        For what it reads and what it writes, reasoning included.
    cached
        For the part of the prompt that the server had read before; None for the price of
        the rest.
    """

    prompt: float
    completion: float
    cached: float | None = None

    def cost(self, usage: Usage) -> float:
        """Return what `usage` costs, in dollars.

        Examples
        --------
        >>> price = TokenPrice(prompt=1e-6, completion=4e-6, cached=5e-7)
        >>> round(price.cost(Usage(prompt=1000, cached=400, completion=100)), 9)
        0.0012
        """
        cached = self.prompt if self.cached is None else self.cached
        read = self.prompt * (usage.prompt - usage.cached) + cached * usage.cached
        return read + self.completion * usage.completion

    def in_batch(self) -> "TokenPrice":
        """Return the price of the same tokens in a batch, which providers answer for half of it.

        Examples
        --------
        >>> TokenPrice(prompt=2e-6, completion=8e-6).in_batch()
        TokenPrice(prompt=1e-06, completion=4e-06, cached=None)
        """
        cached = None if self.cached is None else self.cached / 2
        return TokenPrice(prompt=self.prompt / 2, completion=self.completion / 2, cached=cached)


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyToken:
    """A stretch of a text that a model reads as one token, and its log-probability there."""

    start: int
    end: int
    logprob: float


def forced_logprobs(reply: Reply, text: str) -> tuple[LikelyToken, ...]:
    """Return the tokens of `text`, which was forced on a model, in order and without gaps.

    Tokens that hold a part of a character are one with the next that ends a character.

    Raises `PermanentModelError` if the reply has no log-probabilities, or is another text.

    Examples
    --------
    >>> tokens = (TokenLogprob(token="a", logprob=-1.0), TokenLogprob(token=" b", logprob=-2.0))
    >>> [token.end for token in forced_logprobs(Reply(text="a b", logprobs=tokens), "a b")]
    [1, 3]
    """
    if not reply.logprobs:
        raise PermanentModelError(_CANNOT.format("its reply has no log-probabilities"))
    tokens = _laid_over(reply.logprobs, text)
    if not tokens or text[tokens[-1].end :].strip():
        raise PermanentModelError(_CANNOT.format("it wrote another text"))
    return tokens


def _laid_over(written: Sequence[TokenLogprob], text: str) -> tuple[LikelyToken, ...]:
    """Find each token in `text`, behind the one before."""
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
