"""A score that follows from the spans, and from nothing else; its map is kept as JSON."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    ErrorSpan,
    Report,
    StoreError,
    fingerprint,
    signature,
)
from spanjury.judges.core.former_names import with_todays_names
from spanjury.judges.core.lazy import Once, lazily
from spanjury.judges.scoring.curve import Curve
from spanjury.judges.scoring.penalty import SpanPenalty

_ALMOST = 0.5
"""Scores so near to the best one have its label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanMap:
    """The score of a text by its errors, on the scale of the aspect.

    Whatever the parameters: without errors the score is the best; more or graver errors
    never raise it; removing or softening one never lowers it. A list has no score if all of
    its errors quote what the text does not contain and such errors do not count
    (`SpanPenalty.misquotes`): it says that something is wrong, but not where.

    Parameters
    ----------
    penalty
        Penalty of the errors.
    curve
        Share of the best score that is left; None for a straight line to nothing at the
        penalty of the gravest error.
    """

    penalty: SpanPenalty = field(default_factory=SpanPenalty)
    curve: Curve | None = None

    @property
    def signature(self) -> str:
        """Penalty, curve, and the outcome of a list without any error that counts.

        Under the names of the first release: older runs hold them.
        """
        knots = self.curve and fingerprint(repr(self.curve.penalties), repr(self.curve.shares))
        return signature(
            "spans",
            loss=fingerprint(self.penalty.signature),
            curve=knots or "straight",
            lost_quotes="abstain",
        )

    def score(self, output: str, spans: Sequence[ErrorSpan], *, aspect: Aspect) -> float | None:
        """Return the score of `output` if `spans` are all that is wrong with it.

        None if they do not allow any: each quotes what the output does not contain.
        """
        if self.penalty.misquotes(spans, aspect=aspect):
            return None
        penalty = self.penalty.of(output, spans, aspect=aspect)
        curve = self.curve or Curve(penalties=(0.0, self.penalty.top), shares=(1.0, 0.0))
        low, high = aspect.scale.low, aspect.scale.high
        return low + (high - low) * curve.at(penalty)


def names_its_errors(report: Report, *, aspect: Aspect) -> bool:
    """Say whether a scored `report` explains its score by spans.

    One without spans does if its score has the best label: it says that there is no error. So does
    one whose score is a probability of an error: it marked all that it found.
    """
    if report.score is None:
        return False
    marks_all = bool(report.spans) or report.error_probability is not None
    return marks_all or report.score >= aspect.scale.high - _ALMOST


with lazily():
    import pydantic

_MAP = Once(lambda: pydantic.TypeAdapter(SpanMap))


def read_map(path: Path) -> SpanMap:
    """Return the map in the file `path`; whatever it says, it is one that never rises.

    Raises `ConfigError` if the file cannot be read or holds no such map.
    """
    try:
        return _MAP.get().validate_python(_todays(json.loads(path.read_bytes())), extra="forbid")
    except OSError as error:
        raise ConfigError(f"the map {path} cannot be read: {error}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the map {path} does not fit: Invalid JSON: {error}") from error
    except pydantic.ValidationError as error:
        problem = error.errors(include_url=False)[0]
        field = ".".join(map(str, problem["loc"]))
        raise ConfigError(f"the map {path} does not fit: {field} {problem['msg']}") from error


def _todays(values: object) -> object:
    """Return the table of a map with the names of today in it and in its parts."""
    table = with_todays_names(values, {"loss": "penalty"})
    parts = {"penalty": {"worth": "weights"}, "curve": {"losses": "penalties"}}
    if not isinstance(table, dict):
        return table
    inner = {name: with_todays_names(table[name], parts[name]) for name in parts & table.keys()}
    return {**table, **inner}


def write_map(span_map: SpanMap, path: Path) -> None:
    """Write `span_map` to the file `path`, in place of what was there.

    Raises `StoreError` if it cannot be written.
    """
    try:
        path.write_bytes(_MAP.get().dump_json(span_map, indent=2) + b"\n")
    except OSError as error:
        raise StoreError(f"the map cannot be written to {path}: {error}") from error
