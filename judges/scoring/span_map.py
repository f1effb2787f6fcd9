"""A score that depends on the spans alone; its map is stored as JSON.

A non-increasing curve maps a penalty to the score. Every penalty is a sum over the severities k of
``steps[k] * exposure[k]``: no step is negative, and no part of the exposure decreases when an error
is added or becomes graver. This holds for each sum and product in floating-point arithmetic, so it
needs no tolerance.
"""

import json
import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

from spanjury.judges.core import (
    MAX_SEVERITY,
    MIN_SEVERITY,
    Aspect,
    ConfigError,
    ErrorSpan,
    Report,
    StoreError,
    fingerprint,
    first_problem,
    signature,
)
from spanjury.judges.core.former_names import with_todays_names
from spanjury.judges.core.lazy import Once, lazily
from spanjury.judges.text.sentences import sentence_intervals


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Piecewise linear curve, constant after the last knot.

    Raises `ValueError` if the knots are not as described.

    Parameters
    ----------
    penalties
        Penalties of the knots: ascending from 0, two or more.
    shares
        Share of the best score that remains at each knot, in ``[0, 1]``: 1 at the first knot, and
        never more than at the knot before.
    """

    penalties: tuple[float, ...]
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.penalties) != len(self.shares) or len(self.penalties) < 2:  # noqa: PLR2004
            raise ValueError(f"{len(self.penalties)} penalties with {len(self.shares)} shares")
        ascends = all(before < after for before, after in pairwise(self.penalties))
        if self.penalties[0] != 0 or not ascends or not math.isfinite(self.penalties[-1]):
            raise ValueError(f"penalties must ascend from 0, got {self.penalties!r}")
        decreasing = all(before >= after for before, after in pairwise(self.shares))
        if self.shares[0] != 1 or not decreasing or not self.shares[-1] >= 0:
            raise ValueError(
                f"shares must decrease from 1 and stay at 0 or above, got {self.shares!r}"
            )

    @classmethod
    def through(cls, penalties: Sequence[float], values: Sequence[float], *, low: float) -> "Curve":
        """Return the curve through the non-increasing `values`, rescaled to begin at 1.

        Raises `ValueError` if there is no such curve.

        Parameters
        ----------
        penalties
            Ascending, 0 or more. Below the first the curve is constant.
        values
            One for each penalty, none below `low`, the first above it.
        low
            The value that corresponds to a share of 0.
        """
        room = values[0] - low if values else 0.0
        if not room > 0:
            raise ValueError(f"the best value must be above {low!r}, got {values!r}")
        shares = [(value - low) / room for value in values]
        if penalties[0] > 0:
            penalties, shares = (0.0, *penalties), [1.0, *shares]
        if len(penalties) == 1:  # all texts were without errors
            penalties, shares = (penalties[0], 1.0), [1.0, 1.0]
        return cls(penalties=tuple(penalties), shares=tuple(shares))

    def at(self, penalty: float) -> float:
        """Return the share that remains at `penalty`, 0 or more."""
        after = bisect_right(self.penalties, penalty)
        if after == len(self.penalties):
            return self.shares[-1]
        start, end = self.penalties[after - 1 : after + 1]
        high, low = self.shares[after - 1 : after + 1]
        # Rounding may fall just below the lower knot, but never reverses two penalties.
        return max(low, high - (high - low) * ((penalty - start) / (end - start)))


_SEVERITIES = range(MIN_SEVERITY, MAX_SEVERITY + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanPenalty:
    """Penalty of a text for its errors.

    With ``by="error"`` it is the worst error plus `rest` times the sum of the others:
    ``rest=0`` counts the worst only, ``rest=1`` adds up all penalties, as TIGERScore does [1]_.
    With ``by="sentence"`` it is ``1 - rest`` times the worst sentence plus `rest` times the
    mean over all sentences, each of which is as bad as its worst error: two remarks on one
    sentence are not two errors, and a long text may have more errors than a short one.

    Raises `ValueError` if a parameter is out of its range.

    Parameters
    ----------
    by
        The unit of counting.
    rest
        Weight of all units except the worst, in ``[0, 1]``.
    unknown
        Severity, 0 to 5, assumed for an error without one; 0 ignores such errors.
    placeless
        Whether an error without a position in the text counts: an omission, or a quotation
        that the text does not contain. If it counts, it forms its own sentence. None counts it
        for all aspects except those of the kind ``"grounding"``, because what a text does not
        say cannot be unsupported.
    weights
        Penalty of an error of severity 1, 2, … 5; 0 or more, never descending, and more
        than 0 at the end. Usually 4 and 5 are equal, because the judges' distinction between
        them says nothing about people's opinion (docs/faithful-scoring.md).

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
        """All parameters, under the names of the first release, which older runs contain."""
        return signature(
            "loss",
            by=self.by,
            rest=self.rest,
            unknown=self.unknown,
            placeless=self.placeless,
            worth=",".join(map(repr, self.weights)),
        )

    def of(self, output: str, spans: Sequence[ErrorSpan], *, aspect: Aspect) -> float:
        """Return the penalty of `spans` in the text `output`: 0 without spans, never negative."""
        exposed = self.exposure(output, spans, aspect=aspect)
        steps = (high - low for low, high in zip((0.0, *self.weights), self.weights, strict=False))
        return sum(step * share for step, share in zip(steps, exposed, strict=True))

    def exposure(
        self, output: str, spans: Sequence[ErrorSpan], *, aspect: Aspect
    ) -> tuple[float, ...]:
        """Return for each severity how far the text is exposed to errors of at least that severity.

        The weights are fitted to these five numbers.
        """
        counts = self._counts_placeless(aspect)
        counted = [span for span in spans if counts or span.interval is not None]
        if self.by == "error":
            grades, units = [self._severity(span) for span in counted], len(counted)
        else:
            sentences = list(sentence_intervals(output))
            by_sentence = _by_sentence(counted, sentences)
            grades = [max(map(self._severity, errors), default=0) for errors in by_sentence]
            units = len(sentences)
        return tuple(self._exposed(grades, at_least=k, of=units) for k in _SEVERITIES)

    def misquotes(self, spans: Sequence[ErrorSpan], *, aspect: Aspect) -> int:
        """Count the errors that quote words not in the text, if no other error counts.

        If this is above 0, the text has no score: the judge names errors, but none has a position
        in the text. It is 0 if any error counts, if unlocated quotations count as well, and if
        there are only omissions, which do not count because the aspect ignores them.
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

    def _exposed(self, grades: Sequence[int], *, at_least: int, of: int) -> float:
        """Return the exposure of `of` units, some of which have a grade."""
        struck = sum(grade >= at_least for grade in grades)
        share = min(1.0, struck / max(1, of)) if self.by == "sentence" else struck
        return (1 - self.rest) * (struck > 0) + self.rest * share


def _by_sentence(
    spans: Sequence[ErrorSpan], sentences: Sequence[tuple[int, int]]
) -> list[list[ErrorSpan]]:
    """Return the spans that touch each sentence; last, those that touch none."""
    within: list[list[ErrorSpan]] = [[] for _ in (*sentences, None)]
    for span in spans:
        first, stop = span.interval or (0, 0)
        touched = [n for n, (start, end) in enumerate(sentences) if first < end and start < stop]
        for number in touched or [len(sentences)]:
            within[number].append(span)
    return within


_ALMOST = 0.5
"""Scores at most this far below the best score have its label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanMap:
    """The score of a text by its errors, on the scale of the aspect.

    For all parameters: a text without errors has the best score; more or graver errors never
    raise it; removing or softening one never lowers it. A list has no score if all of its errors
    quote words that the text does not contain and such errors do not count
    (`SpanPenalty.misquotes`): it says that something is wrong, but not where.

    Parameters
    ----------
    penalty
        Penalty of the errors.
    curve
        Share of the best score that remains; None for a straight line that reaches 0 at the
        penalty of the gravest error.
    """

    penalty: SpanPenalty = field(default_factory=SpanPenalty)
    curve: Curve | None = None

    @property
    def signature(self) -> str:
        """Penalty, curve, and the outcome of a list in which no error counts.

        The names are those of the first release, which older runs contain.
        """
        knots = self.curve and fingerprint(repr(self.curve.penalties), repr(self.curve.shares))
        return signature(
            "spans",
            loss=fingerprint(self.penalty.signature),
            curve=knots or "straight",
            lost_quotes="abstain",
        )

    def score(self, output: str, spans: Sequence[ErrorSpan], *, aspect: Aspect) -> float | None:
        """Return the score of `output` if `spans` are all of its errors.

        None if the spans allow no score: each quotes words that the output does not contain.
        """
        if self.penalty.misquotes(spans, aspect=aspect):
            return None
        penalty = self.penalty.of(output, spans, aspect=aspect)
        curve = self.curve or Curve(penalties=(0.0, self.penalty.top), shares=(1.0, 0.0))
        low, high = aspect.scale.low, aspect.scale.high
        return low + (high - low) * curve.at(penalty)


def names_its_errors(report: Report, *, aspect: Aspect) -> bool:
    """Return whether a scored `report` explains its score by spans.

    A report without spans does so if its score has the best label, which means no errors. A
    report whose score is a probability of an error also does, because it marked all that it found.
    """
    if report.score is None:
        return False
    marks_all = bool(report.spans) or report.error_probability is not None
    return marks_all or report.score >= aspect.scale.high - _ALMOST


with lazily():
    import pydantic

_MAP = Once(lambda: pydantic.TypeAdapter(SpanMap))


def read_map(path: Path) -> SpanMap:
    """Return the map in the file `path`, which is checked to be non-increasing.

    Raises `ConfigError` if the file cannot be read or contains no such map.
    """
    try:
        return _MAP.get().validate_python(_todays(json.loads(path.read_bytes())), extra="forbid")
    except OSError as error:
        raise ConfigError(f"the map {path} cannot be read: {error}") from error
    except pydantic.ValidationError as error:
        raise ConfigError(f"the map {path} does not fit: {first_problem(error)}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the map {path} does not fit: Invalid JSON: {error}") from error


def _todays(values: object) -> object:
    """Return the table of a map with today's names in it and in its parts."""
    table = with_todays_names(values, {"loss": "penalty"})
    parts = {"penalty": {"worth": "weights"}, "curve": {"losses": "penalties"}}
    if not isinstance(table, dict):
        return table
    inner = {name: with_todays_names(table[name], parts[name]) for name in parts & table.keys()}
    return {**table, **inner}


def write_map(span_map: SpanMap, path: Path) -> None:
    """Write `span_map` to the file `path`, replacing its contents.

    Raises `StoreError` if it cannot be written.
    """
    try:
        path.write_bytes(_MAP.get().dump_json(span_map, indent=2) + b"\n")
    except OSError as error:
        raise StoreError(f"the map cannot be written to {path}: {error}") from error
