"""Positions of an error span and its evidence, in the form of result rows."""

from dataclasses import asdict

from spanjury.judges.core import ErrorSpan, Segment
from spanjury.judges.core.transcript import position_in, turn_of


def evidence_rows(span: ErrorSpan, segment: Segment | None = None) -> list[dict[str, object]]:
    """Return a row for each piece of evidence, with half-open code point offsets into its input.

    If `segment` has a trajectory, an input that is one of its turns also gets its number.
    """
    is_trajectory = segment is not None and segment.trajectory is not None
    return [
        asdict(evidence)
        | ({"turn": turn} if is_trajectory and (turn := turn_of(evidence.input)) else {})
        for evidence in span.evidence
    ]


def position_row(span: ErrorSpan, segment: Segment) -> dict[str, object]:
    """Return a span's position in a trajectory under the key ``at``; empty for a text."""
    position = position_in(segment, span)
    return {} if position is None else {"at": asdict(position)}
