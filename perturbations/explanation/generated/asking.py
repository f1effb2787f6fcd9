"""Notes: what a model is asked for, and what is read of its reply."""

import re
from collections.abc import Callable, Mapping
from functools import partial

from spanjury.judges.core import ChatModel, Decoding, PerturbationError, fingerprint
from spanjury.judges.text import fence, fill_template, read_template
from spanjury.perturbations.generated.asking import Question
from spanjury.perturbations.generated.reply import cleaned

__all__ = ["Check", "asked_note", "prompts_digest"]

Check = Callable[[str], str]
"""Says what is wrong with a note, as the model is told it, or returns an empty text."""

_PACKAGE = "spanjury.perturbations.explanation.generated"
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
        What a note must be like; an empty one is none.
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
    words = {**about, "material": fenced.text, "mark": fenced.mark}
    question = Question(
        package=_PACKAGE,
        told=fill_template(_PACKAGE, template, words),
        decoding=Decoding(seed=seed, max_tokens=_MOST_TOKENS),
        read=partial(_note, marks=fenced.marks),
        check=check,
    )
    written = await question.put_to(model)
    if written.problem:
        raise PerturbationError(f"the model, asked twice, wrote no note: {written.problem}")
    return written.text


def prompts_digest(template: str) -> str:
    """Return a digest of everything that a model is told where `template` is asked."""
    names = ("system.txt", "reask.txt", template)
    return fingerprint(*(read_template(_PACKAGE, name) for name in names))


def _note(reply: str, *, marks: tuple[str, ...]) -> str:
    """Return the note in one line: a judge's list, which it goes into, has one for it."""
    told = cleaned(reply, text="", marks=marks)
    return cleaned(_LABEL.sub("", " ".join(told.split()), count=1), text="")
