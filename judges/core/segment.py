"""A segment: one system's output for one input, with all that a judge may know of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from spanjury.judges.core.span import ErrorSpan

_NOTHING: Mapping[str, str] = MappingProxyType({})
_UNRATED: Mapping[str, Mapping[str, float]] = MappingProxyType({})
_NO_META: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One output to be judged.

    Parameters
    ----------
    segment_id
        Unique within a data set.
    output
        The text that is judged; may be empty, which is judged too.
    inputs
        Header -> text of what the system was given, as ``{"Article": "…"}``.
    task
        Name of the task; empty where the run decides.
    references
        Texts that people would have accepted.
    system
        Who wrote the output.
    human
        Aspect -> rater -> score; a score without a named rater has the rater ``""``.
    gold
        Error spans marked by people.
    meta
        Whatever else the row holds; judges never see it.
    """

    segment_id: str
    output: str
    inputs: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    task: str = ""
    references: tuple[str, ...] = ()
    system: str = ""
    human: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: _UNRATED)
    gold: tuple[ErrorSpan, ...] = ()
    meta: Mapping[str, object] = field(default_factory=lambda: _NO_META)

    def human_score(self, aspect: str) -> float | None:
        """Return the mean of the raters' scores on `aspect`, or None if it has no rating."""
        scores = self.human.get(aspect, {}).values()
        return sum(scores) / len(scores) if scores else None
