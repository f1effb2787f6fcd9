"""Notes: what a model is asked for, what is read of its reply, asked once more at most."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    Decoding,
    Finish,
    Message,
    PerturbationError,
    Reply,
    fingerprint,
)
from spanjury.judges.text import fence, fill_template, read_template
from spanjury.perturbations.written.reply import cleaned

__all__ = ["Check", "asked_note", "prompts_digest"]

Check = Callable[[str], str]
"""Says what is wrong with a note, as the model is told it, or returns an empty text."""

_PACKAGE = "spanjury.perturbations.explanation.written"
_TRIES = 2
_MOST_TOKENS = 512
_LABEL = re.compile(r"[*_#\s]*(?:\w+ )?(?:explanation|note)\b[*_\s]*:[*_\s]*", re.IGNORECASE)


async def asked_note(
    template: str,
    model: ChatModel,
    *,
    material: Mapping[str, str],
    about: Mapping[str, str],
    check: Check,
    seed: int | None,
) -> str:
    """Have `model` write a note.

    The likeliest reply is taken. One that does not pass `check` is sent back once with the
    reason.

    Parameters
    ----------
    template
        Name of what is asked.
    model
        Who is asked.
    material
        Header -> text that the model is shown, set apart from what it is told to do.
    about
        Word of the template -> what stands there.
    check
        What a note must be like.
    seed
        Passed to servers that take one.

    Returns
    -------
    str
        In one line, without what models put around a text.

    Raises
    ------
    PerturbationError
        If the second reply does not pass the check either.
    ModelError
        If the model gives no reply.
    """
    fenced = fence(material)
    told = fill_template(
        _PACKAGE, template, {**about, "material": fenced.text, "mark": fenced.mark}
    )
    request = _request(told, seed=seed)
    problem = ""
    for _ in range(_TRIES):
        reply = await model.complete(request)
        note = _note(reply.text, marks=fenced.marks)
        problem = _unfinished(reply) or check(note)
        if not problem:
            return note
        request = _again(request, reply.text, problem=problem)
    raise PerturbationError(f"the model, asked twice, wrote no note: {problem}")


def prompts_digest(template: str) -> str:
    """Return a digest of everything that a model is told where `template` is asked."""
    names = ("system.txt", "reask.txt", template)
    return fingerprint(*(read_template(_PACKAGE, name) for name in names))


def _request(told: str, *, seed: int | None) -> ChatRequest:
    messages = (
        Message(role="system", content=read_template(_PACKAGE, "system.txt")),
        Message(role="user", content=told),
    )
    return ChatRequest(messages=messages, decoding=Decoding(seed=seed, max_tokens=_MOST_TOKENS))


def _note(reply: str, *, marks: tuple[str, ...]) -> str:
    """Return the note in one line: a judge's list, which it goes into, has one for it."""
    told = cleaned(reply, text="", marks=marks)
    return cleaned(_LABEL.sub("", " ".join(told.split()), count=1), text="")


def _unfinished(reply: Reply) -> str:
    return "" if reply.finish is Finish.STOP else f"it is not complete ({reply.finish.value})"


def _again(request: ChatRequest, said: str, *, problem: str) -> ChatRequest:
    """Return the conversation in which the model is told what is wrong with what it said."""
    asked = fill_template(_PACKAGE, "reask.txt", {"problem": problem})
    answer = Message(role="assistant", content=said)
    messages = (*request.messages, answer, Message(role="user", content=asked))
    return replace(request, messages=messages)
