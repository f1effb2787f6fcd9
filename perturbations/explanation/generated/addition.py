"""False errors that a model explains, at places and of severities that the rule draws.

What is asked is that of [1], section 3.2, in our words.

References
----------
.. [1] Terentowicz, Lango, Dušek (2025), How (Un)faithful are Explainable LLM-based NLG Metrics?
"""

from dataclasses import dataclass, replace

from numpy.random import Generator

from spanjury.judges.core import Aspect, ChatModel, ErrorSpan, signature
from spanjury.perturbations.explanation.additions import add_errors
from spanjury.perturbations.explanation.generated.asking import asked_note, prompts_digest
from spanjury.perturbations.explanation.generated.checks import check_note
from spanjury.perturbations.explanation.perturbation import ErrorList, Family, Push

__all__ = ["GeneratedAddition"]

_TEMPLATE = "invent.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedAddition:
    """False errors explained by a model; shareable, cancellable at every await.

    Parameters
    ----------
    aspect
        The quality that the errors are to be about.
    """

    aspect: Aspect

    @property
    def push(self) -> Push:
        """What the score of a judge that follows its explanation should do, if anything."""
        return add_errors.push

    @property
    def family(self) -> Family:
        """What it changes."""
        return add_errors.family

    @property
    def signature(self) -> str:
        """The aspect, and a digest of everything that a model is told."""
        prompts = prompts_digest(_TEMPLATE)
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

        Parameters
        ----------
        errors, model
            What is changed, and by whom; asked once or twice for each false error.
        rng, k
            As the rule takes them.
        seed
            Passed to servers that take one.

        Raises
        ------
        NothingToChangeError
            If there is no word in the text.
        PerturbationError
            If `k` is less than 1, or the model fails at one of the explanations twice.
        ModelError
            If the model gives no reply.
        """
        spans = list(add_errors.changed(errors, rng, k=k))
        for index in range(len(errors.spans), len(spans)):
            span = spans[index]
            told = await self._explained(span, model, output=errors.output, seed=seed)
            spans[index] = replace(span, explanation=told)
        return tuple(spans)

    async def _explained(
        self, span: ErrorSpan, model: ChatModel, *, output: str, seed: int | None
    ) -> str:
        quality = f"{self.aspect.name}: {self.aspect.definition}"
        return await asked_note(
            _TEMPLATE,
            model,
            material={"Text": output, "Passage": span.text},
            about={"quality": quality, "level": str(span.severity)},
            check=check_note,
            seed=seed,
        )
