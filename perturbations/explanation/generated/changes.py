"""Error lists that a model changes: it rewords explanations, or explains false errors.

The places and severities are those of the rules. The requests are those of [1], section 3.2,
in our words.

References
----------
.. [1] Terentowicz, Lango, Dušek (2025), How (Un)faithful are Explainable LLM-based NLG Metrics?
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from numpy.random import Generator

from spanjury.judges.core import Aspect, ChatModel, ErrorSpan, signature
from spanjury.perturbations.explanation.errors import add_errors
from spanjury.perturbations.explanation.generated.notes import (
    asked_note,
    check_note,
    check_rewording,
    prompts_digest,
)
from spanjury.perturbations.explanation.levels import (
    Only,
    moves,
    soften_both,
    soften_explanation,
    worsen_both,
    worsen_explanation,
)
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    ExplanationPerturbation,
    Family,
    Push,
    require_errors,
)
from spanjury.perturbations.explanation.wording import reworded

_REWORD, _INVENT = "reword.txt", "invent.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedRewording:
    """A rewording of explanations by a model; shareable, cancellable at every await.

    Parameters
    ----------
    twin
        The rule with the same aim, of the family ``explanation`` or ``both``.
    """

    twin: ExplanationPerturbation

    @property
    def push(self) -> Push:
        """Direction in which the score of a judge that follows its explanation should go."""
        return self.twin.push

    @property
    def family(self) -> Family:
        """Part of the error list that it changes."""
        return self.twin.family

    @property
    def signature(self) -> str:
        """The aim, and a digest of all prompts."""
        prompts = prompts_digest(_REWORD)
        return signature("reword", family=self.family, push=self.push, prompts=prompts)

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
        no error, none has a severity, or none has room to move. Raises `PerturbationError` if an
        option is wrong, or the model fails at one of the explanations twice. Raises `ModelError` if
        the model gives no reply. The model is asked once or twice for each error that moves.
        """
        require_errors(errors)
        spans = list(errors.spans)
        for index, level in moves(errors, rng, by=by, push=self.push, only=only).items():
            span = spans[index]
            if span.explanation.strip():
                note = await self._reworded(span, model, level=level, seed=seed)
            else:
                note = reworded("", rng, level=level)
            severity = level if self.family == "both" else span.severity
            spans[index] = replace(span, explanation=note, severity=severity)
        return tuple(spans)

    async def _reworded(
        self, span: ErrorSpan, model: ChatModel, *, level: int, seed: int | None
    ) -> str:
        direction = "milder" if self.push == "rises" else "harsher"
        about = {"old": str(span.severity), "new": str(level), "direction": direction}
        passage = {"Passage": span.text} if span.text else {}
        return await asked_note(
            _REWORD,
            model,
            material={**passage, "Note": span.explanation},
            about=about,
            check=partial(check_rewording, before=span.explanation, quote=span.text),
            seed=seed,
        )


def generated_rewordings() -> Mapping[str, GeneratedRewording]:
    """Return what a model can be asked for, by the name of the rule with the same aim."""
    twins = {
        "soften-both": soften_both,
        "soften-explanation": soften_explanation,
        "worsen-both": worsen_both,
        "worsen-explanation": worsen_explanation,
    }
    return MappingProxyType({name: GeneratedRewording(twin=rule) for name, rule in twins.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedAddition:
    """False errors explained by a model; shareable, cancellable at every await."""

    aspect: Aspect

    @property
    def push(self) -> Push:
        """Direction in which the score of a judge that follows its explanation should go."""
        return add_errors.push

    @property
    def family(self) -> Family:
        """Part of the error list that it changes."""
        return add_errors.family

    @property
    def signature(self) -> str:
        """The aspect, and a digest of all prompts."""
        prompts = prompts_digest(_INVENT)
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
        """Return the errors of `errors` and `k` false ones after them.

        Raises `NothingToChangeError` if there is no word in the text. Raises `PerturbationError` if
        `k` is less than 1, or the model fails at one of the explanations twice. Raises `ModelError`
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
        return await asked_note(
            _INVENT,
            model,
            material={"Text": output, "Passage": span.text},
            about={"quality": quality, "level": str(span.severity)},
            check=check_note,
            seed=seed,
        )


def generated_twin(
    rule: ExplanationPerturbation, *, aspect: Aspect
) -> GeneratedAddition | GeneratedRewording | None:
    """Return what a model can be asked for in the place of `rule`, with the same options.

    None where there is the rule only.
    """
    if rule == add_errors:
        return GeneratedAddition(aspect=aspect)
    return next((each for each in generated_rewordings().values() if each.twin == rule), None)
