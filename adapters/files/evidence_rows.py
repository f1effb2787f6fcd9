"""Places of an error span, and of its evidence, as rows of JSON hold them."""

from spanjury.judges.core import ErrorSpan, Segment
from spanjury.judges.core.transcript import position_in, turn_of


def evidence_rows(span: ErrorSpan, segment: Segment | None = None) -> list[dict[str, object]]:
    """Return each place, its offsets half-open code points of the input that it names.

    An input that is a turn of the trajectory of `segment` also has its number.
    """
    is_trajectory = segment is not None and segment.trajectory is not None
    return [
        {
            "input": evidence.input,
            "start": evidence.start,
            "end": evidence.end,
            "text": evidence.text,
            **({"turn": turn} if is_trajectory and (turn := turn_of(evidence.input)) else {}),
        }
        for evidence in span.evidence
    ]


def position_row(span: ErrorSpan, segment: Segment) -> dict[str, object]:
    """Return the position of a span in a trajectory under the key ``at``; nothing for a text."""
    position = position_in(segment, span)
    if position is None:
        return {}
    return {
        "at": {
            "turn": position.turn,
            "call": position.call,
            "path": position.path,
            "start": position.start,
            "end": position.end,
        }
    }
