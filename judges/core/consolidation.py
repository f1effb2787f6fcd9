"""Result of a consolidator: merged spans, each with the spans from which it was made."""

from dataclasses import dataclass

from spanjury.judges.core.span import ErrorSpan


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class SpanRef:
    """Reference to the `index`-th span of the report of `seat`."""

    seat: str
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """Merged spans with their provenance.

    Parameters
    ----------
    spans
        The merged spans; the `found_by` of each names the seats that found it.
    sources
        For each merged span, the seats' spans from which it was made; never empty.
    left_out
        Seats' spans that are part of no merged span.
    consolidator
        Name of the consolidator that did the work, and the reason if it was not the requested one.

    Raises
    ------
    ValueError
        If spans and sources differ in number, a span has no source or names other seats than its
        sources do, or a seat's span is accounted for twice.
    """

    spans: tuple[ErrorSpan, ...]
    sources: tuple[tuple[SpanRef, ...], ...]
    left_out: tuple[SpanRef, ...] = ()
    consolidator: str

    def __post_init__(self) -> None:
        if len(self.spans) != len(self.sources):
            raise ValueError(f"{len(self.spans)} spans with {len(self.sources)} lists of sources")
        for span, refs in zip(self.spans, self.sources, strict=True):
            if set(span.found_by) != {ref.seat for ref in refs} or not refs:
                raise ValueError(f"found_by {span.found_by!r} does not name the seats of {refs!r}")
        listed = [*(ref for refs in self.sources for ref in refs), *self.left_out]
        if len(listed) != len(set(listed)):
            raise ValueError(f"a span is accounted for twice: {sorted(listed)!r}")
