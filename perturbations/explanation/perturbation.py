"""An explanation perturbation: a change of an error list, with its expected effect on the score.

The judged text stays the same; the judge continues from the changed list [1]. The random numbers
of one change come from `generator_for`, whose third argument combines the segment and the aspect.

References
----------
.. [1] Terentowicz, Lango, Dušek (2025), How (Un)faithful are Explainable LLM-based NLG
    Metrics?, section 3.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from functools import partial
from typing import Literal

from numpy.random import Generator

from spanjury.judges.core import ErrorSpan, PerturbationError, failing_as

Push = Literal["falls", "rises"]
Family = Literal["severity", "explanation", "both", "removal", "addition", "critical"]
Rule = Callable[..., Sequence[ErrorSpan]]

_NEED_NO_ERRORS = frozenset({"addition", "critical"})


class Unchanged(StrEnum):
    """Reason why an error list cannot be changed."""

    NO_ERRORS = "no errors"
    """The list is empty."""
    TOO_FEW_ERRORS = "too few errors"
    """The list contains fewer errors than are to be removed."""
    NO_SEVERITIES = "no severities"
    """None of its errors has a severity to start from."""
    NO_ROOM = "no room"
    """The list would not change: every severity is already at the end of the scale."""
    NO_TEXT = "no text"
    """The judged text has no room for another error."""


class NothingToChangeError(PerturbationError):
    """The error list contains nothing that the perturbation could change; `reason` says why."""

    def __init__(self, message: str, *, reason: Unchanged) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorList:
    """The errors that a judge reports, with the text that they are in.

    Raises `ValueError` if the text at the offsets of an error is not that of the error.

    `output` is the judged text, which may be empty; `spans` are in the order of the report.
    """

    output: str
    spans: tuple[ErrorSpan, ...]

    def __post_init__(self) -> None:
        for span in self.spans:
            if span.interval and self.output[span.start : span.end] != span.text:
                raise ValueError(f"{span.text!r} is not at {span.interval} in the text")


@dataclass(frozen=True, slots=True)
class ExplanationPerturbation:
    """A rule that changes error lists; a plugin of ``spanjury.explanation_perturbations``.

    Parameters
    ----------
    rule
        ``rule(errors, rng, **options)`` -> the errors of the changed list; the same for the
        same arguments. Its keyword parameters are the perturbation's options.
    push
        Expected change of the score of a judge that follows its explanation.
    family
        The part that it changes. Only an ``addition`` and a ``critical`` error are possible if
        there is no error yet.
    """

    rule: Rule
    _: KW_ONLY
    push: Push
    family: Family

    def changed(
        self, errors: ErrorList, rng: Generator, **options: object
    ) -> tuple[ErrorSpan, ...]:
        """Return the errors of the changed list, which differs from `errors`.

        Raises `NothingToChangeError` if there is no error although one is needed, or the list would
        not change. Raises `PerturbationError` if an option is wrong, the rule fails, or it returns
        something other than errors.
        """
        if self.family not in _NEED_NO_ERRORS:
            require_errors(errors)
        with failing_as(
            lambda error: PerturbationError(f"the rule failed: {error!r}"),
            passing=(PerturbationError,),
        ):
            spans = _checked(self.rule(errors, rng, **options))
            changed = ErrorList(output=errors.output, spans=spans)
        if changed == errors:
            raise NothingToChangeError("the list is unchanged", reason=Unchanged.NO_ROOM)
        return changed.spans


def explanation_perturbation(
    *, push: Push, family: Family
) -> Callable[[Rule], ExplanationPerturbation]:
    """Make a perturbation of ``rule(errors, rng, **options)``; see `ExplanationPerturbation`.

    Examples
    --------
    >>> from spanjury.perturbations.perturbation import generator_for
    >>> @explanation_perturbation(push="rises", family="removal")
    ... def forgive(errors, rng):
    ...     return ()
    >>> found = ErrorSpan(text="", explanation="No date is given.", severity=2)
    >>> forgive.changed(ErrorList(output="It ends.", spans=(found,)), generator_for(1, "f", "a"))
    ()
    """
    return partial(ExplanationPerturbation, push=push, family=family)


def require_errors(errors: ErrorList) -> None:
    """Raise `NothingToChangeError` if there is no error in the list."""
    if not errors.spans:
        raise NothingToChangeError("the list is empty", reason=Unchanged.NO_ERRORS)


def _checked(given: Iterable[object]) -> tuple[ErrorSpan, ...]:
    """Return the result of a rule, possibly a plugin's, if it is a list of errors."""
    spans: list[ErrorSpan] = []
    for span in given:
        if not isinstance(span, ErrorSpan):
            raise PerturbationError(f"the rule gave {span!r} where an ErrorSpan was expected")
        spans.append(span)
    return tuple(spans)
