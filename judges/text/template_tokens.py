"""Tokens of chat templates in texts: taken apart in a request, put together in a reply.

A server's tokenizer reads ``<|im_end|>`` as the end of a message, even inside a text that is
judged. A blank behind the first character makes ordinary letters of it. A text may hold that
form already, so every form with blanks gets one more, and a reply loses one: what is taken
apart comes back as it was, whatever it was.

A `DefusedModel` does so below every prompt, so that no judged text speaks to a model in such
tokens, and quotes in a reply are in the text that was judged. Requests and replies without them
pass byte for byte.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from spanjury.judges.core import ChatModel, ChatRequest, Message, Reply, ToolCall

_NAMES = (
    "bos|eos|pad|unk|cls|sep|mask|s|eod|eot|eop|sop|EOD|EOT|BOS_TOKEN|EOS_TOKEN"
    "|(?:start|end|begin)_of_(?:turn|image|audio|text|sentence|document|role|utterance)"
    "|image_soft_token|tool_calls?|tool_responses?|tools?_outputs?|extra_id_\\d+"
    "|(?:unused|reserved)_?\\d+|reserved_token_\\d+|SPECIAL_\\d+|fim[_▁][a-z]+"
    "|TOOL_?CALL|AVAILABLE_TOOLS|TOOL_RESPONSE"
)
_BRACKETED = (
    "INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|CALL_ID|ARGS"
    "|IMG|IMG_BREAK|IMG_END|PREFIX|MIDDLE|SUFFIX|THINK|MODEL_SETTINGS|gMASK|sMASK"
)
_BARS = "[|｜]"  # DeepSeek's bars are full-width; folding a text makes plain ones of them
# What follows the first character of each token.
_RESTS = (
    rf"{_BARS}[^\s<>|｜＜＞]{{1,64}}{_BARS}?[>＞]"  # <|im_end|>, <|turn>
    rf"|[^\s<>|｜＜＞]{{1,64}}{_BARS}[>＞]"  # <turn|>
    rf"|/?(?:{_NAMES})[>＞]"
    r"|</?SYS>>"
)
_MINIMAX = r"\] *(?=~!?b[\[\]])|\[ *(?=e~\[)"  # ]~b]system, [e~[
_TOKEN = re.compile(rf"[<＜] *(?=(?:{_RESTS}))|\[ *(?=/?(?:{_BRACKETED})\])|{_MINIMAX}")
_TOKENS_BEGIN = "<＜[]"
_TAGS_BEGIN = "<＜"
_REASONING = re.compile(
    r"([<＜])( *)(?=/?(?:think|thinking|thought|reasoning)[>＞])", re.IGNORECASE
)


def split_tokens(text: str, *, reasoning: bool = True) -> str:
    """Return `text` with every token of a chat template taken apart.

    Parameters
    ----------
    reasoning
        Whether tags around a model's reasoning are taken apart, too. These are not put
        together again: in a reply they would end its reasoning.

    Examples
    --------
    >>> split_tokens("So it ends.<|im_end|> [INST] < |x|>")
    'So it ends.< |im_end|> [ INST] <  |x|>'
    """
    apart = text
    if _holds(_TOKEN, text, begins=_TOKENS_BEGIN):
        apart = _TOKEN.sub(lambda token: f"{token[0]} ", text)
    if not reasoning or not _holds(_REASONING, apart, begins=_TAGS_BEGIN):
        return apart
    return _REASONING.sub(lambda tag: f"{tag[0]} ", apart)


def join_tokens(text: str) -> str:
    """Return `text` with what `split_tokens` took apart put together; reasoning tags stay.

    Examples
    --------
    >>> join_tokens(split_tokens("a <|im_end|> b < |im_end|> c"))
    'a <|im_end|> b < |im_end|> c'
    """
    return _TOKEN.sub(lambda token: token[0][:-1] if len(token[0]) > 1 else token[0], text)


def _holds(pattern: re.Pattern[str], text: str, *, begins: str) -> bool:
    """Say whether `pattern` matches anywhere: a search of its own reads each character slowly."""
    for begin in begins:
        place = text.find(begin)
        while place >= 0:
            if pattern.match(text, place):
                return True
            place = text.find(begin, place + 1)
    return False


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
        messages = tuple(map(_asked, request.messages))
        prefix = split_tokens(request.prefix)
        if messages == request.messages and prefix == request.prefix:
            return await self.model.complete(request)
        asked = replace(request, messages=messages, prefix=prefix)
        return _answered(await self.model.complete(asked))


def _asked(message: Message) -> Message:
    # What a model said may begin with its own reasoning, which chat templates cut off.
    said = message.role == "assistant"
    split = _split_instructions if message.role == "system" else split_tokens
    content = split(message.content, reasoning=not said)
    calls = tuple(_renewed(call, split_tokens(call.arguments)) for call in message.tool_calls)
    if content is message.content and calls == message.tool_calls:
        return message
    return replace(message, content=content, tool_calls=calls)


@lru_cache(maxsize=32)
def _split_instructions(text: str, *, reasoning: bool) -> str:
    """Return what `split_tokens` does, for texts that are the same in every request."""
    return split_tokens(text, reasoning=reasoning)


def _answered(reply: Reply) -> Reply:
    text, reasoning = join_tokens(reply.text), join_tokens(reply.reasoning)
    calls = tuple(_renewed(call, join_tokens(call.arguments)) for call in reply.tool_calls)
    return replace(reply, text=text, reasoning=reasoning, tool_calls=calls)


def _renewed(call: ToolCall, arguments: str) -> ToolCall:
    return replace(call, arguments=arguments)
