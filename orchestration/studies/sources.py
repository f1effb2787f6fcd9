"""The name of a text, and its source: texts of one source are correlated and kept together."""

from collections.abc import Iterable
from itertools import chain

from spanjury.judges.core import DataError, Segment, fingerprint

TextName = tuple[str, str]
"""Id and system of a text; the id is without the system that reading adds to an id in use."""

_IDS = ("doc_id", "input_id")
"""Columns that name the document of a text, the first of them first."""


def text_name(segment: Segment) -> TextName:
    """Return the name of a text."""
    return name_of(segment.segment_id, segment.system)


def name_of(segment_id: str, system: str) -> TextName:
    """Return the name of the text with this id and system.

    Of the rows of several systems with one id, the first keeps it and the others become
    ``ID/SYSTEM``, so ids depend on the order of a file. Names do not.

    Examples
    --------
    >>> name_of("t1/gpt", "gpt") == name_of("t1", "gpt")
    True
    """
    return segment_id.removesuffix(f"/{system}") if system else segment_id, system


def by_name(segments: Iterable[Segment]) -> dict[TextName, Segment]:
    """Return texts by name."""
    return {text_name(segment): segment for segment in segments}


class TextIds:
    """The ids under which results are collected: those of some texts, in whatever order they came.

    Other texts have the id ``ID/SYSTEM``, or just their id without a system.
    """

    def __init__(self, texts: Iterable[Segment] = ()) -> None:
        self._ids = {text_name(text): text.segment_id for text in texts}

    def of(self, segment_id: str, system: str) -> str:
        """Return the id of the text with this id and system in some file."""
        name = name_of(segment_id, system)
        own = self._ids.get(name) or self._ids.get((segment_id, ""))
        return own or "/".join(filter(None, name))


def judged_twice(run: str, *, text: str, aspect: str) -> DataError:
    """Return the error of a run with two results for a text on an aspect."""
    return DataError(f"{run} has two results for {text!r} on {aspect}: remove one of them")


def source_of(segment: Segment) -> str:
    """Return the name of a text's source; a text of which nothing names it is its own source."""
    return known_source_of(segment) or fingerprint(segment.segment_id)


def known_source_of(segment: Segment) -> str | None:
    """Return the id of a text's document, or else a digest of its inputs; None without either."""
    for key in _IDS:
        if (document := segment.meta.get(key)) not in (None, ""):
            return str(document)
    return fingerprint(*chain(*sorted(segment.inputs.items()))) if segment.inputs else None
