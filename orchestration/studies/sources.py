"""The source of a text: texts of one source are correlated, so studies keep them together."""

from spanjury.judges.core import Segment, fingerprint

_IDS = ("doc_id", "input_id")
"""Columns that name the document of a text, the first of them first."""


def source_of(segment: Segment) -> str:
    """Return the name of a text's source; a text of which nothing names it is its own source."""
    return known_source_of(segment) or fingerprint(segment.segment_id)


def known_source_of(segment: Segment) -> str | None:
    """Return the id of a text's document, or else a digest of its inputs; None without either."""
    for key in _IDS:
        if (document := segment.meta.get(key)) not in (None, ""):
            return str(document)
    inputs = [part for item in sorted(segment.inputs.items()) for part in item]
    return fingerprint(*inputs) if inputs else None
