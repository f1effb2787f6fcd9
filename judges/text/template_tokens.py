"""Chat-template tokens in texts: split in a request, rejoined in a reply.

A server's tokenizer reads ``<|im_end|>`` as the end of a message, even inside a judged text. A
space after the first character turns it into ordinary letters. A text may already contain the form
with a space, so every form with spaces gets one more, and a reply loses one: a split token is
restored exactly in any case.

A fixed list of tokens always lags behind new models, so a model's own tokenizer can add to it.

A `DefusedModel` does this below every prompt, so that no judged text can address a model in such
tokens, and quotes in a reply match the judged text. Requests and replies without them pass byte for
byte.
"""

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from spanjury.judges.core import ChatModel, ChatRequest, Message, Reply

_NAMES = (
    "bos|eos|pad|unk|cls|sep|mask|s|eod|eot|eop|sop|EOD|EOT|BOS_TOKEN|EOS_TOKEN"
    "|(?:start|end|begin|beginning)_of_(?:turn|image|audio|text|sentence|document|role|utterance)"
    "|image_soft_token|tool_calls?|tool_responses?|tools?_outputs?|extra_id_\\d+"
    "|(?:unused|reserved)_?\\d+|reserved_token_\\d+|SPECIAL_\\d+|fim[_▁][a-z]+"
    "|TOOL_?CALL|AVAILABLE_TOOLS|TOOL_RESPONSE|role|im_(?:start|end)"
    "|(?:(?:seed|minimax):|longcat_)(?!think>)[a-z_]+"
)
_BRACKETED = (
    "INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|CALL_ID|ARGS"
    "|IMG|IMG_BREAK|IMG_END|PREFIX|MIDDLE|SUFFIX|THINK|MODEL_SETTINGS|gMASK|sMASK"
)
_BARS = "[|｜]"  # DeepSeek's bars are full-width; folding makes them plain
# The rest of each token after its first character.
_RESTS = (
    rf"{_BARS}[^\s<>|｜＜＞]{{1,64}}{_BARS}?[>＞]"  # <|im_end|>, <|turn>
    rf"|[^\s<>|｜＜＞]{{1,64}}{_BARS}[>＞]"  # <turn|>
    rf"|/?(?:{_NAMES})[>＞]"
    r"|</?SYS>>"
)
_EXAONE = r"\[ *(?=\|[^\s\[\]|]{1,64}\|\])"  # [|assistant|]
_MINIMAX = r"\] *(?=~!?b[\[\]])|\[ *(?=e~\[)"  # ]~b]system, [e~[
_TOKEN = re.compile(rf"[<＜] *(?=(?:{_RESTS}))|\[ *(?=/?(?:{_BRACKETED})\])|{_EXAONE}|{_MINIMAX}")
_TOKENS_BEGIN = "<＜[]"
_SHORTEST = 3
_TAGS_BEGIN = "<＜"
_REASONING = re.compile(
    r"([<＜])( *)(?=/?(?:think|thinking|thought|reasoning|seed:think|longcat_think)[>＞])",
    re.IGNORECASE,
)


def split_tokens(text: str, *, own: tuple[str, ...] = (), reasoning: bool = True) -> str:
    """Return `text` with every chat-template token split by a space.

    Parameters
    ----------
    own
        The model's own tokens besides those that are always split, as returned by `unlisted`.
    reasoning
        Whether to split tags around a model's reasoning, too. These are not rejoined, because
        in a reply they would end its reasoning.

    Examples
    --------
    >>> split_tokens("So it ends.<|im_end|> [INST] < |x|>")
    'So it ends.< |im_end|> [ INST] <  |x|>'
    """
    apart = text
    pattern, begins = _token(own)
    if _holds(pattern, text, begins=begins):
        apart = pattern.sub(lambda token: f"{token[0]} ", text)
    if not reasoning or not _holds(_REASONING, apart, begins=_TAGS_BEGIN):
        return apart
    return _REASONING.sub(lambda tag: f"{tag[0]} ", apart)


def join_tokens(text: str, *, own: tuple[str, ...] = ()) -> str:
    """Undo `split_tokens`, except for reasoning tags."""
    pattern, _ = _token(own)
    return pattern.sub(lambda token: token[0][:-1] if len(token[0]) > 1 else token[0], text)


def unlisted(tokens: Iterable[str]) -> tuple[str, ...]:
    """Return the tokenizer's `tokens` that `split_tokens` does not know, sorted.

    This leaves out tokens that are always split, reasoning tags, and possible ordinary words or
    signs: a token has at least three characters, contains a letter or digit, and begins with a
    sign.

    Examples
    --------
    >>> unlisted(["<|im_end|>", "<think>", "<file_sep>", "user", "  ", "[:]"])
    ('<file_sep>',)
    """
    return tuple(sorted({token for token in tokens if _is_unlisted(token)}))


def _is_unlisted(token: str) -> bool:
    if token[:1].isalnum() or token[:1].isspace() or len(token) < _SHORTEST:
        return False
    is_known = _TOKEN.match(token) or _REASONING.match(token)
    return not is_known and any(map(str.isalnum, token))


@lru_cache(maxsize=32)
def _token(own: tuple[str, ...]) -> tuple[re.Pattern[str], str]:
    """Return the pattern of all tokens, and their first characters."""
    if not own:
        return _TOKEN, _TOKENS_BEGIN
    rests = defaultdict(list)
    for token in own:
        rests[token[0]].append(re.escape(token[1:]))
    parts = (f"{re.escape(first)} *(?={'|'.join(rest)})" for first, rest in rests.items())
    pattern = re.compile("|".join([_TOKEN.pattern, *parts]))
    return pattern, "".join(sorted({*_TOKENS_BEGIN, *rests}))


def _holds(pattern: re.Pattern[str], text: str, *, begins: str) -> bool:
    """Return whether `pattern` matches anywhere; `str.find` makes this faster than a search."""
    for begin in begins:
        start = text.find(begin)
        while start >= 0:
            if pattern.match(text, start):
                return True
            start = text.find(begin, start + 1)
    return False


Tokens = Callable[[], Awaitable[tuple[str, ...]]]
"""Function that returns the `unlisted` tokens of a model; called before every request."""


def defused(model: ChatModel, *, tokens: Tokens | None = None) -> ChatModel:
    """Return `model` wrapped in a `DefusedModel`, unless it already is one."""
    if isinstance(model, DefusedModel):
        return model
    return DefusedModel(model=model, tokens=tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefusedModel:
    """A `ChatModel` that splits chat-template tokens in its requests.

    Parameters
    ----------
    model
        The model to wrap.
    tokens
        The model's own tokens; None to split only those that are always split.
    """

    model: ChatModel
    tokens: Tokens | None = None

    @property
    def signature(self) -> str:
        """The signature of the model, because ordinary texts reach it unchanged."""
        return self.model.signature

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply; raises the model's `ModelError`."""
        own = () if self.tokens is None else await self.tokens()
        escaped = _request(request, own, done={})
        if escaped is request:
            return await self.model.complete(request)
        return _answered(await self.model.complete(escaped), own)


def _request(
    request: ChatRequest, own: tuple[str, ...], *, done: dict[int, tuple[Message, ...]]
) -> ChatRequest:
    """Return `request` and its variants without tokens; the same object if there are none.

    Conversations that variants share are processed once: `done` holds them by identity.
    """
    identity = id(request.messages)
    if (messages := done.get(identity)) is None:
        messages = done[identity] = tuple(_asked(message, own) for message in request.messages)
    prefix = split_tokens(request.prefix, own=own)
    variants = tuple(_request(variant, own, done=done) for variant in request.variants)
    if (messages, prefix, variants) == (request.messages, request.prefix, request.variants):
        return request
    return replace(request, messages=messages, prefix=prefix, variants=variants)


def _asked(message: Message, own: tuple[str, ...]) -> Message:
    if message.own:
        return message
    # A model's own reply may begin with its reasoning, which chat templates cut off.
    is_reply = message.role == "assistant"
    split = _split_instructions if message.role == "system" else split_tokens
    content = split(message.content, own=own, reasoning=not is_reply)
    calls = tuple(
        replace(call, arguments=split_tokens(call.arguments, own=own))
        for call in message.tool_calls
    )
    if content is message.content and calls == message.tool_calls:
        return message
    shared = split(message.content[: message.shared], own=own, reasoning=not is_reply)
    return replace(
        message,
        content=content,
        tool_calls=calls,
        shared=len(shared) if content.startswith(shared) else 0,
    )


@lru_cache(maxsize=32)
def _split_instructions(text: str, *, own: tuple[str, ...], reasoning: bool) -> str:
    """Cache `split_tokens` for instructions, which are the same in every request."""
    return split_tokens(text, own=own, reasoning=reasoning)


def _answered(reply: Reply, own: tuple[str, ...]) -> Reply:
    calls = tuple(
        replace(call, arguments=join_tokens(call.arguments, own=own)) for call in reply.tool_calls
    )
    return replace(
        reply,
        text=join_tokens(reply.text, own=own),
        reasoning=join_tokens(reply.reasoning, own=own),
        tool_calls=calls,
    )
