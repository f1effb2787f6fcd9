"""Tokens of chat templates in texts: taken apart in a request, put together in a reply.

A server's tokenizer reads ``<|im_end|>`` as the end of a message, even inside a text that is
judged. A blank behind the first character makes ordinary letters of it. A text may hold that
form already, so every form with blanks gets one more, and a reply loses one: what is taken
apart comes back as it was, whatever it was.
"""

import re

__all__ = ["join_tokens", "split_tokens"]

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
_BEGINS = re.compile(r"[<＜\[\]]")
_REASONING = re.compile(
    r"([<＜])( *)(?=/?(?:think|thinking|thought|reasoning)[>＞])", re.IGNORECASE
)


def split_tokens(text: str, *, reasoning: bool = True) -> str:
    """Return `text` with every token of a chat template taken apart.

    Parameters
    ----------
    text
        What goes into a message.
    reasoning
        Whether tags around a model's reasoning are taken apart, too. These are not put
        together again: in a reply they would end its reasoning.

    Examples
    --------
    >>> split_tokens("So it ends.<|im_end|> [INST] < |x|>")
    'So it ends.< |im_end|> [ INST] <  |x|>'
    """
    if not _BEGINS.search(text):
        return text
    apart = _TOKEN.sub(lambda token: f"{token[0]} ", text)
    return _REASONING.sub(lambda tag: f"{tag[0]} ", apart) if reasoning else apart


def join_tokens(text: str) -> str:
    """Return `text` with what `split_tokens` took apart put together; reasoning tags stay.

    Examples
    --------
    >>> join_tokens(split_tokens("a <|im_end|> b < |im_end|> c"))
    'a <|im_end|> b < |im_end|> c'
    """
    return _TOKEN.sub(lambda token: token[0][:-1] if len(token[0]) > 1 else token[0], text)
