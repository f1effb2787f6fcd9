"""Requests to a model to write a text, which is checked and requested at most once more."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    Decoding,
    Finish,
    Message,
    Reply,
    ReplySchema,
)
from spanjury.judges.core.strict_schema import strict_schema
from spanjury.judges.text import defused, field_mark, fill_template, object_in, read_template

_TRIES = 2
FORM_PACKAGE = "spanjury.perturbations.generated"
_FIELD = "text"
FORM_TEMPLATES = ("in-json.txt", "reask-in-json.txt")
"""Templates of `FORM_PACKAGE` that go with any prompt."""
_FENCE = re.compile(r"```[\w-]*\n(?P<text>.*?)\n?```", re.DOTALL)
_PREAMBLE = re.compile(
    r"(?:sure|certainly|okay|of course|here(?:'s| is| are)|the (?:changed|revised|modified)|changed"
    r"|revised|modified)\b[^\n]{0,80}?:\s+",
    re.IGNORECASE,
)
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"), ("‘", "’"), ("«", "»"))


class Generated(NamedTuple):
    """Text that a model finally wrote."""

    text: str
    problem: str
    """Reason why it cannot be used, as sent to the model; empty if it can be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """Request to a model to write a text.

    Parameters
    ----------
    package
        Package of the templates ``system.txt`` and ``reask.txt``, which go with the prompt.
    read
        Reply -> the text that it contains.
    check
        Text, never empty -> reason why it cannot be used, or an empty text.
    """

    package: str
    prompt: str
    decoding: Decoding
    read: Callable[[str], str]
    check: Callable[[str], str]

    async def sent_to(self, model: ChatModel) -> Generated:
        """Return the first reply that passes, or else the second one.

        A reply that does not pass is sent back once with the reason. Raises `ModelError` if the
        model gives no reply.
        """
        mark = field_mark([self.prompt])
        request, model = self._request(mark), defused(model)
        generated = Generated("", "")
        for _ in range(_TRIES):
            reply = await model.complete(request)
            generated = self._generated(reply, mark=mark)
            if not generated.problem:
                break
            request = self._again(request, reply, problem=generated.problem)
        return generated

    def _request(self, mark: str) -> ChatRequest:
        """Return a request for the text alone, or inside an object if the server takes a schema."""
        system = Message(role="system", content=read_template(self.package, "system.txt"))
        in_json = fill_template(FORM_PACKAGE, "in-json.txt", {"code": mark})
        plain, held = (
            ChatRequest(
                messages=(system, Message(role="user", content=prompt)), decoding=self.decoding
            )
            for prompt in (self.prompt, f"{self.prompt}\n\n{in_json}")
        )
        decoding = replace(self.decoding, schema=_schema(mark))
        return replace(plain, variants=(replace(held, decoding=decoding),))

    def _generated(self, reply: Reply, *, mark: str) -> Generated:
        fields = object_in(reply.text) or {}
        written = fields.get(f"{_FIELD}_{mark}")
        text = self.read(written if isinstance(written, str) else reply.text)
        if not isinstance(written, str) and any(name.startswith(f"{_FIELD}_") for name in fields):
            return Generated(text, "its name is not that of the form")
        if reply.finish is not Finish.STOP:
            return Generated(text, f"the reply is not complete ({reply.finish.value})")
        return Generated(text, self.check(text) if text else "the reply is empty")

    def _again(self, request: ChatRequest, reply: Reply, *, problem: str) -> ChatRequest:
        """Return the conversation extended by the reply and its problem."""
        asked = fill_template(self.package, "reask.txt", {"problem": problem})
        answer = Message(role="assistant", content=reply.text)

        def again(variant: ChatRequest, words: str) -> ChatRequest:
            messages = (*variant.messages, answer, Message(role="user", content=words))
            return replace(variant, messages=messages)

        in_json = f"{asked}\n{read_template(FORM_PACKAGE, 'reask-in-json.txt')}"
        variants = tuple(again(variant, in_json) for variant in request.variants)
        return replace(again(request, asked), variants=variants)


def _schema(mark: str) -> ReplySchema:
    """Return the schema of a text under a name that occurs in no text of the request."""
    form = {"type": "object", "properties": {f"{_FIELD}_{mark}": {"type": "string"}}}
    return ReplySchema(name=_FIELD, text=json.dumps(strict_schema(form, bounded=False)))


def cleaned(reply: str, *, text: str, marks: tuple[str, ...] = ()) -> str:
    r"""Return the text that `reply` gives as the changed form of `text`.

    Code fences, quotation marks around the whole reply, introductory words and lines that contain
    one of `marks` are removed, each only if `text` itself has nothing similar.

    Examples
    --------
    >>> cleaned('Here is the changed text:\n"Bo left."', text="Ann left.")
    'Bo left.'
    """
    lines = (line for line in reply.splitlines() if not any(mark in line for mark in marks))
    meant = "\n".join(lines).strip()
    fenced = _FENCE.search(meant)
    if fenced and "```" not in text:
        meant = fenced["text"].strip()
    if not _PREAMBLE.match(text):
        meant = _PREAMBLE.sub("", meant, count=1) if _PREAMBLE.match(meant) else meant
    return _unquoted(meant, text=text.strip())


def _unquoted(meant: str, *, text: str) -> str:
    for opening, closing in _QUOTES:
        quoted = meant.startswith(opening) and meant.endswith(closing) and len(meant) > 1
        if quoted and not (text.startswith(opening) and text.endswith(closing)):
            return meant[1:-1].strip()
    return meant
