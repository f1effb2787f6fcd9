"""Penalty of a list of errors: one number, which more or graver errors never lower.

Every penalty is a sum over the severities k of ``steps[k] * exposure[k]``: no step is negative,
and no part of the exposure decreases when an error is added or becomes graver. This holds for
each sum and product as the computer rounds it, so that it needs no tolerance.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from spanjury.judges.core import (
    MAX_SEVERITY,
    MIN_SEVERITY,
    Aspect,
    ErrorSpan,
    signature,
)
from spanjury.judges.text.sentences import sentence_intervals

_SEVERITIES = range(MIN_SEVERITY, MAX_SEVERITY + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanPenalty:
    """Penalty of a text for its errors.

    With ``by="error"`` it is the worst error plus `rest` times the sum of the others:
    ``rest=0`` sees the worst only, ``rest=1`` adds all penalties up, as TIGERScore does [1]_.
    With ``by="sentence"`` it is ``1 - rest`` times the worst sentence plus `rest` times the
    mean over all sentences, each of which is as bad as its worst error: two remarks on one
    sentence are not two errors, and a long text may have more of them than a short one.

    Raises `ValueError` if a parameter is out of its range.

    Parameters
    ----------
    by
        The units that are counted.
    rest
        In ``[0, 1]``: the weight of all but the worst.
    unknown
        The severity, 0 to 5, of an error without one; 0 for none.
    placeless
        Whether an error without a place in the text counts: an omission, or a quotation
        that the text does not contain. Where it counts it is a sentence of its own. None
        for all aspects but those of the kind ``"grounding"``: what a text does not say
        cannot be unsupported.
    weights
        Penalty of an error of severity 1, 2, … 5; 0 or more, never descending, and more
        than 0 at the end. Usually 4 and 5 are alike: what judges call the one or the other
        says nothing of what people think (docs/faithful-scoring.md).

    References
    ----------
    .. [1] Jiang et al. (2023), TIGERScore, arXiv:2310.00752
    """

    by: Literal["sentence", "error"] = "sentence"
    rest: float = 0.2
    unknown: int = 3
    placeless: bool | None = None
    weights: tuple[float, ...] = (1.0, 2.0, 3.0, 4.0, 4.0)

    def __post_init__(self) -> None:
        if self.by not in {"sentence", "error"}:
            raise ValueError(f"by must be 'sentence' or 'error', got {self.by!r}")
        if not 0 <= self.rest <= 1:
            raise ValueError(f"rest must be from 0 to 1, got {self.rest!r}")
        if self.unknown not in range(MAX_SEVERITY + 1):
            raise ValueError(f"unknown must be a severity from 0 to 5, got {self.unknown!r}")
        rising = list(self.weights) == sorted(self.weights) and all(
            map(math.isfinite, self.weights)
        )
        if len(self.weights) != MAX_SEVERITY or not rising or self.weights[0] < 0 or not self.top:
            raise ValueError(f"weights must be five numbers from 0 up, got {self.weights!r}")

    @property
    def top(self) -> float:
        """Penalty of the gravest single error, if it covers the whole text."""
        return self.weights[-1]

    @property
    def signature(self) -> str:
        """Every parameter, under the names of the first release: older runs hold them."""
        return signature(
            "loss",
            by=self.by,
            rest=self.rest,
            unknown=self.unknown,
            placeless=self.placeless,
            worth=",".join(map(repr, self.weights)),
        )

    def of(self, output: str, spans: Sequence[ErrorSpan], *, aspect: Aspect) -> float:
        """Return the penalty of `spans` in the text `output`: 0 for none, and never less than 0."""
        exposed = self.exposure(output, spans, aspect=aspect)
        steps = (high - low for low, high in zip((0.0, *self.weights), self.weights, strict=False))
        return sum(step * share for step, share in zip(steps, exposed, strict=True))

    def exposure(
        self, output: str, spans: Sequence[ErrorSpan], *, aspect: Aspect
    ) -> tuple[float, ...]:
        """Return for each severity how far the text is exposed to errors at least so grave.

        The weights are fitted to these five numbers.
        """
        counts = self._counts_placeless(aspect)
        counted = [span for span in spans if counts or span.interval is not None]
        if self.by == "error":
            grades = [self._severity(span) for span in counted]
            return tuple(self._of_errors(grades, at_least=k) for k in _SEVERITIES)
        sentences = list(sentence_intervals(output))
        by_sentence = _by_sentence(counted, sentences)
        grades = [max(map(self._severity, errors), default=0) for errors in by_sentence]
        return tuple(self._of_sentences(grades, len(sentences), at_least=k) for k in _SEVERITIES)

    def misquotes(self, spans: Sequence[ErrorSpan], *, aspect: Aspect) -> int:
        """Count the errors that quote what the text does not contain, where nothing else counts.

        Above 0, nothing can be said of the text: the judge names errors, and none of them has
        a place in it. It is 0 if any error counts, if quotations without a place count as well,
        and of omissions alone, which do not count since the aspect passes over them.
        """
        if self._counts_placeless(aspect):
            return 0
        grave = [span for span in spans if self._severity(span)]
        if any(span.interval is not None for span in grave):
            return 0
        return sum(span.hallucinated for span in grave)

    def _counts_placeless(self, aspect: Aspect) -> bool:
        return aspect.kind != "grounding" if self.placeless is None else self.placeless

    def _severity(self, span: ErrorSpan) -> int:
        return self.unknown if span.severity is None else span.severity

    def _of_errors(self, grades: Sequence[int], *, at_least: int) -> float:
        struck = sum(grade >= at_least for grade in grades)
        return (1 - self.rest) * (struck > 0) + self.rest * struck

    def _of_sentences(self, grades: Sequence[int], sentences: int, *, at_least: int) -> float:
        struck = sum(grade >= at_least for grade in grades)
        return (1 - self.rest) * (struck > 0) + self.rest * min(1.0, struck / max(1, sentences))


def _by_sentence(
    spans: Sequence[ErrorSpan], sentences: Sequence[tuple[int, int]]
) -> list[list[ErrorSpan]]:
    """Return the spans that touch each place; last, those that touch none."""
    within: list[list[ErrorSpan]] = [[] for _ in (*sentences, None)]
    for span in spans:
        first, stop = span.interval or (0, 0)
        touched = [n for n, (start, end) in enumerate(sentences) if first < end and start < stop]
        for number in touched or [len(sentences)]:
            within[number].append(span)
    return within
