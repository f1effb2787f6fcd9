"""Explanations that a model words anew, as if the errors were milder or graver.

What is asked is that of [1], section 3.2, in our words.

References
----------
.. [1] Terentowicz, Lango, Dušek (2025), How (Un)faithful are Explainable LLM-based NLG Metrics?
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from numpy.random import Generator

from spanjury.judges.core import ChatModel, ErrorSpan, signature
from spanjury.perturbations.explanation.explanations import (
    soften_both,
    soften_explanation,
    worsen_both,
    worsen_explanation,
)
from spanjury.perturbations.explanation.generated.asking import asked_note, prompts_digest
from spanjury.perturbations.explanation.generated.checks import check_rewording
from spanjury.perturbations.explanation.moves import Only, moves
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    ExplanationPerturbation,
    Family,
    Push,
    require_errors,
)
from spanjury.perturbations.explanation.wording import reworded

__all__ = ["GeneratedRewording", "generated_rewordings"]

_TEMPLATE = "reword.txt"


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
        """What the score of a judge that follows its explanation should do, if anything."""
        return self.twin.push

    @property
    def family(self) -> Family:
        """What it changes."""
        return self.twin.family

    @property
    def signature(self) -> str:
        """The aim, and a digest of everything that a model is told."""
        prompts = prompts_digest(_TEMPLATE)
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

        An error without an explanation gets one by rule.

        Parameters
        ----------
        errors, model
            What is changed, and by whom; asked once or twice for each error that moves.
        rng, by, only
            As the rule takes them.
        seed
            Passed to servers that take one.

        Raises
        ------
        NothingToChangeError
            If there is no error, none has a severity, or none has room to move.
        PerturbationError
            If an option is wrong, or the model fails at one of the explanations twice.
        ModelError
            If the model gives no reply.
        """
        require_errors(errors)
        spans = list(errors.spans)
        for index, level in moves(errors, rng, by=by, push=self.push, only=only).items():
            span = spans[index]
            if span.explanation.strip():
                told = await self._reworded(span, model, level=level, seed=seed)
            else:
                told = reworded("", rng, level=level)
            severity = level if self.family == "both" else span.severity
            spans[index] = replace(span, explanation=told, severity=severity)
        return tuple(spans)

    async def _reworded(
        self, span: ErrorSpan, model: ChatModel, *, level: int, seed: int | None
    ) -> str:
        direction = "milder" if self.push == "rises" else "harsher"
        about = {"old": str(span.severity), "new": str(level), "direction": direction}
        passage = {"Passage": span.text} if span.text else {}
        return await asked_note(
            _TEMPLATE,
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
