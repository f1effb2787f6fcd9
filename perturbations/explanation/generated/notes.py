"""Notes on errors that a model writes, and checks that they are what was asked for.

Whether a note sounds as grave as it should, no check can tell.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial

from spanjury.judges.core import ChatModel, Decoding, PerturbationError, fingerprint
from spanjury.judges.text import fence, fill_template, folded_words, read_template
from spanjury.perturbations.generated.request import GenerationRequest, cleaned

Check = Callable[[str], str]
"""Note -> reason why it cannot be used, as the model is given it, or an empty text."""
_PACKAGE = "spanjury.perturbations.explanation.generated"
_MOST_TOKENS = 512
_LABEL = re.compile(r"[*_#\s]*(?:\w+ )?(?:explanation|note)\b[*_\s]*:[*_\s]*", re.IGNORECASE)
_REFUSAL = re.compile(
    r"(?:i['’]?m (?:very |so )?(?:sorry|afraid|unable)|sorry\b|my apologies|i apologi[sz]e"
    r"|(?:unfortunately, )?i (?:can(?:['’]t|not| not)|won['’]t|will not|am unable to)"
    r" (?:assist|comply|continue|do|fulfil|generate|help|make|provide|re-?write|write)"
    r"|as an ai\b)",
    re.IGNORECASE,
)
# In the reply that a judge goes on from these would begin another part of it.
_FORM = re.compile(
    r"\b(?:error \d+|location|severity|overall score|explanation of the score)\s*:"
    r"|\b(?:severity|level)(?: level)?(?: of)? [1-5]\b",
    re.IGNORECASE,
)
_LONGEST = 1200  # characters of a note
_LONGER = 3  # times as long as before, and so much more:
_SPARE = 200
_BLANKLESS = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")  # one is as good as a word
_FUNCTION_WORD = 3  # letters; longer words say what a note is about


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

    The likeliest reply is taken. One that does not pass `check` is sent back once with the reason.
    Raises `PerturbationError` if the second reply does not pass the check either. Raises
    `ModelError` if the model gives no reply.

    Parameters
    ----------
    material
        Header -> text that the model is shown, set apart from its instructions.
    about
        Word of the template -> what stands there.

    Returns
    -------
    str
        In one line, without what models put around a text.
    """
    fenced = fence(material)
    words = {**about, "material": fenced.text, "mark": fenced.mark}
    request = GenerationRequest(
        package=_PACKAGE,
        prompt=fill_template(_PACKAGE, template, words),
        decoding=Decoding(seed=seed, max_tokens=_MOST_TOKENS),
        read=partial(_note, marks=fenced.marks),
        check=check,
    )
    generated = await request.sent_to(model)
    if generated.problem:
        raise PerturbationError(f"the model, asked twice, wrote no note: {generated.problem}")
    return generated.text


def prompts_digest(template: str) -> str:
    """Return a digest of all prompts that go with `template`."""
    names = ("system.txt", "reask.txt", template)
    return fingerprint(*(read_template(_PACKAGE, name) for name in names))


def _note(reply: str, *, marks: tuple[str, ...]) -> str:
    """Return the note in one line: a judge's list, which it goes into, has one for it."""
    note = cleaned(reply, text="", marks=marks)
    return cleaned(_LABEL.sub("", " ".join(note.split()), count=1), text="")


def check_note(note: str) -> str:
    """Check that there is nothing but a note."""
    if _REFUSAL.match(note):
        return "that is a refusal"
    if form := _FORM.search(note):
        return f"{form.group()!r} does not belong into a note"
    return "that is too long" if len(note) > _LONGEST else ""


def check_rewording(note: str, *, before: str, quote: str) -> str:
    """Check that `note` is the note `before` on the passage `quote` in other words."""
    if problem := check_note(note):
        return problem
    if folded_words(note) == folded_words(before):
        return "the note is the same as before"
    if len(note) > _LONGER * len(before) + _SPARE:
        return "that is much longer than the note was"
    topic = _topic(f"{before} {quote}")
    if topic and not topic & _topic(note):
        return "that has nothing to do with the passage"
    return ""


def _topic(text: str) -> set[str]:
    """Return the words of `text` that say what it is about."""
    words = {word for word in folded_words(text) if len(word) > _FUNCTION_WORD}
    return words | set(_BLANKLESS.findall(text))
