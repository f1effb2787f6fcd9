"""Damage that a model writes: asked for in our words, checked, and asked for twice at most.

The kinds are those that [1] had written by a model; rules with the same aim stand in for
them where there is none.

References
----------
.. [1] Wang et al. (2025), DHP Benchmark: Are LLMs Good NLG Evaluators?, section 3.1, table 2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from spanjury.judges.core import (
    ChatModel,
    ConfigError,
    Decoding,
    PerturbationError,
    fingerprint,
    signature,
)
from spanjury.judges.text import fence, fill_template, read_template
from spanjury.perturbations.edits import Damage, edits_between
from spanjury.perturbations.generated.checks import CHECKS
from spanjury.perturbations.generated.request import GenerationRequest, cleaned
from spanjury.perturbations.perturbation import (
    Case,
    Effect,
    Level,
    NothingToDamageError,
    Perturbation,
)
from spanjury.perturbations.text.discourse import rewrite_and_insert
from spanjury.perturbations.text.mixtures import fictional_details, grammar_errors

_FEWEST_TOKENS = 256
_PACKAGE = "spanjury.perturbations.generated"
_TWINS: Mapping[str, Perturbation] = MappingProxyType(
    {
        "fictional-entities": fictional_details,
        "grammatical-errors": grammar_errors,
        "rewrite-and-insert": rewrite_and_insert,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedPerturbation:
    """A damage that a model is asked to do; shareable, cancellable at every await.

    Parameters
    ----------
    kind
        Name of its template and of its check.
    twin
        The rule that has the same aim; its level and its effects hold here, too.
    """

    kind: str
    twin: Perturbation

    @property
    def level(self) -> Level:
        """Level at which it damages."""
        return self.twin.level

    def effect_on(self, aspect: str) -> Effect | None:
        """Return what the score on `aspect` should do; None where anything may happen."""
        return self.twin.effect_on(aspect)

    @property
    def signature(self) -> str:
        """The kind, and a digest of all prompts."""
        names = ("system.txt", "ask.txt", "reask.txt", f"{self.kind}.txt")
        prompts = fingerprint(*(read_template(_PACKAGE, name) for name in names))
        return signature(self.kind, prompts=prompts)

    async def damage(
        self, case: Case, model: ChatModel, *, k: int = 1, seed: int | None = None
    ) -> Damage:
        """Have the text of `case` damaged by `model` in about `k` places.

        The likeliest reply is taken. One that does not pass the check is sent back once with the
        reason. Raises `NothingToDamageError` if the text is empty, or both replies leave it as it
        was. Raises `PerturbationError` if the second reply does not pass the check either, or `k`
        is less than 1. Raises `ModelError` if the model gives no reply.
        """
        if k < 1:
            raise PerturbationError(f"k must be 1 or more, got {k!r}")
        if not case.text.strip():
            raise NothingToDamageError("the text is empty")
        generated = await self._request(case.text, k=k, seed=seed).sent_to(model)
        if not generated.problem:
            return _damage(case.text, generated.text)
        if generated.text.split() == case.text.split():
            raise NothingToDamageError("the model left the text as it was, twice")
        raise PerturbationError(f"the model, asked twice, did no {self.kind}: {generated.problem}")

    def _request(self, text: str, *, k: int, seed: int | None) -> GenerationRequest:
        fenced = fence({"Text": text})
        change = fill_template(_PACKAGE, f"{self.kind}.txt", {"count": str(k)})
        about = {"material": fenced.text, "mark": fenced.mark, "change": change}
        return GenerationRequest(
            package=_PACKAGE,
            prompt=fill_template(_PACKAGE, "ask.txt", about),
            decoding=_decoding(text, seed=seed),
            read=partial(cleaned, text=text, marks=fenced.marks),
            check=lambda reply: CHECKS[self.kind](text.strip(), reply, k),
        )


def _decoding(text: str, *, seed: int | None) -> Decoding:
    """Let the reply be several times as long as the text, whose tokens are of 3 to 5 characters."""
    return Decoding(seed=seed, max_tokens=max(_FEWEST_TOKENS, len(text)))


def _damage(clean: str, generated: str) -> Damage:
    """Return what `generated` does to `clean`, whose blanks at both ends stay."""
    begin = len(clean) - len(clean.lstrip())
    end = len(clean.rstrip())
    return Damage.of(clean, edits_between(clean, clean[:begin] + generated + clean[end:]))


def generated_perturbation(kind: str) -> GeneratedPerturbation:
    """Return the damage called `kind`.

    Raises `ConfigError` if there is none; the message lists the choices.
    """
    if kind not in _TWINS:
        raise ConfigError(f"no model is asked for {kind!r}; choose from {', '.join(_TWINS)}")
    return GeneratedPerturbation(kind=kind, twin=_TWINS[kind])
