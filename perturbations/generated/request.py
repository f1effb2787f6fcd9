"""Asking: a model writes a text, which is checked, and is asked once more at most."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from spanjury.judges.core import ChatModel, ChatRequest, Decoding, Finish, Message, Reply
from spanjury.judges.text import defused, fill_template, read_template

__all__ = ["Question", "Written", "cleaned"]

_TRIES = 2


class Written(NamedTuple):
    """What a model wrote in the end."""

    text: str
    problem: str
    """What is wrong with it, as the model is told it; empty if it can be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a model is asked to write.

    Parameters
    ----------
    package
        Whose templates ``system.txt`` and ``reask.txt`` are told it besides.
    told
        What it is to write, and of what.
    decoding
        How it answers.
    read
        Reply -> the text that is meant by it.
    check
        Text, never empty -> what is wrong with it, or an empty text.
    """

    package: str
    told: str
    decoding: Decoding
    read: Callable[[str], str]
    check: Callable[[str], str]

    async def put_to(self, model: ChatModel) -> Written:
        """Return the first reply that passes, or else the second one.

        A reply that does not pass is sent back once with the reason.

        Raises
        ------
        ModelError
            If the model gives no reply.
        """
        request, model = self._request(), defused(model)
        written = Written("", "")
        for _ in range(_TRIES):
            reply = await model.complete(request)
            written = self._written(reply)
            if not written.problem:
                break
            request = self._again(request, reply, problem=written.problem)
        return written

    def _request(self) -> ChatRequest:
        messages = (
            Message(role="system", content=read_template(self.package, "system.txt")),
            Message(role="user", content=self.told),
        )
        return ChatRequest(messages=messages, decoding=self.decoding)

    def _written(self, reply: Reply) -> Written:
        text = self.read(reply.text)
        if reply.finish is not Finish.STOP:
            return Written(text, f"the reply is not complete ({reply.finish.value})")
        return Written(text, self.check(text) if text else "the reply is empty")

    def _again(self, request: ChatRequest, reply: Reply, *, problem: str) -> ChatRequest:
        """Return the conversation in which the model is told what is wrong with its reply."""
        asked = fill_template(self.package, "reask.txt", {"problem": problem})
        answer = Message(role="assistant", content=reply.text)
        messages = (*request.messages, answer, Message(role="user", content=asked))
        return replace(request, messages=messages)


_FENCE = re.compile(r"```[\w-]*\n(?P<text>.*?)\n?```", re.DOTALL)
_PREAMBLE = re.compile(
    r"(?:sure|certainly|okay|of course|here(?:'s| is| are)|the (?:changed|revised|modified)|changed"
    r"|revised|modified)\b[^\n]{0,80}?:\s+",
    re.IGNORECASE,
)
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"), ("‘", "’"), ("«", "»"))


def cleaned(reply: str, *, text: str, marks: tuple[str, ...] = ()) -> str:
    r"""Return the text that `reply` gives as the changed form of `text`.

    Code fences, quotation marks around all of it, words that announce it and lines that hold
    one of `marks` are taken off, each only where `text` itself has nothing of the kind.

    Examples
    --------
    >>> cleaned('Here is the changed text:\n"Bo left."', text="Ann left.")
    'Bo left.'
    """
    lines = (line for line in reply.splitlines() if not any(mark in line for mark in marks))
    told = "\n".join(lines).strip()
    fenced = _FENCE.search(told)
    if fenced and "```" not in text:
        told = fenced["text"].strip()
    if not _PREAMBLE.match(text):
        told = _PREAMBLE.sub("", told, count=1) if _PREAMBLE.match(told) else told
    return _unquoted(told, text=text.strip())


def _unquoted(told: str, *, text: str) -> str:
    for opening, closing in _QUOTES:
        quoted = told.startswith(opening) and told.endswith(closing) and len(told) > 1
        if quoted and not (text.startswith(opening) and text.endswith(closing)):
            return told[1:-1].strip()
    return told
