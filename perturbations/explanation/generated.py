"""Error lists changed by a model, which rewords explanations or explains false errors.

The places and severities are those of the rules. The requests are those of [1], section 3.2,
in our words. Checks ensure that a note has the requested form, but none can tell whether it sounds
as severe as it should.

References
----------
.. [1] Terentowicz, Lango, Dušek (2025), How (Un)faithful are Explainable LLM-based NLG Metrics?
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from numpy.random import Generator

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    Decoding,
    ErrorSpan,
    PerturbationError,
    fingerprint,
    signature,
)
from spanjury.judges.text import fence, fill_template, folded_words, read_template
from spanjury.perturbations.explanation.errors import add_errors
from spanjury.perturbations.explanation.levels import (
    Only,
    moves,
    reworded,
    soften_both,
    soften_explanation,
    worsen_both,
    worsen_explanation,
)
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    ExplanationPerturbation,
    require_errors,
)
from spanjury.perturbations.generated import FORM_TEMPLATES, GenerationRequest, cleaned
from spanjury.perturbations.generated import PACKAGE as FORM_PACKAGE

_REWORD, _INVENT = "reword.txt", "invent.txt"
_Check = Callable[[str], str]
"""Note -> reason why it cannot be used, as sent to the model, or an empty text."""
_PACKAGE = "spanjury.perturbations.explanation"
_MOST_TOKENS = 512
_LABEL = re.compile(r"[*_#\s]*(?:\w+ )?(?:explanation|note)\b[*_\s]*:[*_\s]*", re.IGNORECASE)
_REFUSAL = re.compile(
    r"(?:i['’]?m (?:very |so )?(?:sorry|afraid|unable)|sorry\b|my apologies|i apologi[sz]e"
    r"|(?:unfortunately, )?i (?:can(?:['’]t|not| not)|won['’]t|will not|am unable to)"
    r" (?:assist|comply|continue|do|fulfil|generate|help|make|provide|re-?write|write)"
    r"|as an ai\b)",
    re.IGNORECASE,
)

# In the reply that a judge continues, these would begin another part.
_FORM = re.compile(
    r"\b(?:error \d+|location|severity|overall score|explanation of the score)\s*:"
    r"|\b(?:severity|level)(?: level)?(?: of)? [1-5]\b",
    re.IGNORECASE,
)
_LONGEST = 1200  # characters of a note
_LONGER = 3  # times as long as before, and so much more:
_SPARE = 200
_BLANKLESS = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")  # one counts as a word
_FUNCTION_WORD = 3  # letters; longer words indicate the topic of a note


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedRewording:
    """A rewording of explanations by a model; shareable, cancellable at every await.

    `twin` is the rule with the same aim, of the family ``explanation`` or ``both``.
    """

    twin: ExplanationPerturbation

    @property
    def signature(self) -> str:
        """The aim, and a digest of all prompts."""
        family, push, prompts = self.twin.family, self.twin.push, _prompts_digest(_REWORD)
        return signature("reword", family=family, push=push, prompts=prompts)

    async def changed(
        self,
        errors: ErrorList,
        model: ChatModel,
        *,
        rng: Generator,
        by: int = 1,
        only: Only = "all",
        seed: int | None = None,
    ) -> tuple[ErrorSpan, ...]:
        """Return the errors of the changed list.

        An error without an explanation gets one by rule. Raises `NothingToChangeError` if there is
        no error, none has a severity, or none can move. Raises `PerturbationError` if an option is
        wrong, or the model fails twice at one of the explanations. Raises `ModelError` if the model
        gives no reply. The model is asked once or twice for each error that moves.
        """
        require_errors(errors)
        spans = list(errors.spans)
        for index, level in moves(errors, rng, by=by, push=self.twin.push, only=only).items():
            span = spans[index]
            if span.explanation.strip():
                note = await self._reworded(span, model, level=level, seed=seed)
            else:
                note = reworded("", rng, level=level)
            severity = level if self.twin.family == "both" else span.severity
            spans[index] = replace(span, explanation=note, severity=severity)
        return tuple(spans)

    async def _reworded(
        self, span: ErrorSpan, model: ChatModel, *, level: int, seed: int | None
    ) -> str:
        direction = "milder" if self.twin.push == "rises" else "harsher"
        slots = {"old": str(span.severity), "new": str(level), "direction": direction}
        passage = {"Passage": span.text} if span.text else {}
        return await _asked_note(
            _REWORD,
            model,
            material={**passage, "Note": span.explanation},
            about=slots,
            check=partial(_check_rewording, before=span.explanation, quote=span.text),
            seed=seed,
        )


_REWORDABLE = (soften_both, soften_explanation, worsen_both, worsen_explanation)


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedAddition:
    """False errors explained by a model; shareable, cancellable at every await."""

    aspect: Aspect

    @property
    def signature(self) -> str:
        """The aspect, and a digest of all prompts."""
        prompts = _prompts_digest(_INVENT)
        return signature("add-errors", aspect=self.aspect.name, prompts=prompts)

    async def changed(
        self,
        errors: ErrorList,
        model: ChatModel,
        *,
        rng: Generator,
        k: int = 1,
        seed: int | None = None,
    ) -> tuple[ErrorSpan, ...]:
        """Return the errors of `errors`, followed by `k` false ones.

        Raises `NothingToChangeError` if there is no word in the text. Raises `PerturbationError` if
        `k` is less than 1, or the model fails twice at one of the explanations. Raises `ModelError`
        if the model gives no reply. The model is asked once or twice for each false error.
        """
        spans = list(add_errors.changed(errors, rng, k=k))
        for index in range(len(errors.spans), len(spans)):
            span = spans[index]
            note = await self._explained(span, model, output=errors.output, seed=seed)
            spans[index] = replace(span, explanation=note)
        return tuple(spans)

    async def _explained(
        self, span: ErrorSpan, model: ChatModel, *, output: str, seed: int | None
    ) -> str:
        quality = f"{self.aspect.name}: {self.aspect.definition}"
        return await _asked_note(
            _INVENT,
            model,
            material={"Text": output, "Passage": span.text},
            about={"quality": quality, "level": str(span.severity)},
            check=_check_note,
            seed=seed,
        )


def generated_twin(
    rule: ExplanationPerturbation, *, aspect: Aspect
) -> GeneratedAddition | GeneratedRewording | None:
    """Return the generated change that can replace `rule`, with the same options.

    None if there is only the rule.
    """
    if rule == add_errors:
        return GeneratedAddition(aspect=aspect)
    return GeneratedRewording(twin=rule) if rule in _REWORDABLE else None


async def _asked_note(
    template: str,
    model: ChatModel,
    *,
    material: Mapping[str, str],
    about: Mapping[str, str],
    check: _Check,
    seed: int | None,
) -> str:
    """Return a one-line note by `model`, which is asked again with the reason if `check` fails.

    `material` maps headers to texts, which are separated from the instructions; `about` fills
    these. Raises `PerturbationError` if the second note fails, too, and the model's `ModelError`.
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


def _prompts_digest(template: str) -> str:
    """Return a digest of all prompts that belong to `template`."""
    names = ("system.txt", "reask.txt", template)
    forms = (read_template(FORM_PACKAGE, name) for name in FORM_TEMPLATES)
    return fingerprint(*(read_template(_PACKAGE, name) for name in names), *forms)


def _note(reply: str, *, marks: tuple[str, ...]) -> str:
    """Return the note in one line, since a judge's list has one line for it."""
    note = cleaned(reply, text="", marks=marks)
    return cleaned(_LABEL.sub("", " ".join(note.split()), count=1), text="")


def _check_note(note: str) -> str:
    """Check that there is only a note."""
    if _REFUSAL.match(note):
        return "that is a refusal"
    if form := _FORM.search(note):
        return f"{form.group()!r} does not belong into a note"
    return "that is too long" if len(note) > _LONGEST else ""


def _check_rewording(note: str, *, before: str, quote: str) -> str:
    """Check that `note` is a rewording of the note `before` on the passage `quote`."""
    if problem := _check_note(note):
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
    """Return the words of `text` that indicate its topic."""
    words = {word for word in folded_words(text) if len(word) > _FUNCTION_WORD}
    return words | set(_BLANKLESS.findall(text))
