"""Gold spans: what people marked, and who read what."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spanjury.judges.core import ErrorSpan, Segment

Marking = tuple[str, str, str, tuple[ErrorSpan, ...] | None]
"""Judge, id of the segment, its output, and the spans that it marked; None without a verdict."""

_READERS = ("annotators", "annotator")
"""Keys of a segment's meta that say who read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldSpan:
    """One error that a person marked.

    Parameters
    ----------
    start, end
        Half-open offsets in code points of the output; both None for an omission.
    category
        Sort of error; empty where it is not known.
    severity
        1 to 5; None where it is not known.
    annotator
        Name of who marked it; empty where it is not known.
    """

    start: int | None
    end: int | None
    category: str = ""
    severity: int | None = None
    annotator: str = ""


class Gold(NamedTuple):
    """Gold spans of texts; a text that is here without any was found to have no error."""

    spans: Mapping[str, tuple[GoldSpan, ...]]
    """Id of the segment -> all annotators' spans."""
    readers: Mapping[str, tuple[str, ...]]
    """Id of the segment -> who read it, with or without marking anything."""


def gold_of(segments: Iterable[Segment]) -> Gold:
    """Take the gold spans out of segments.

    A text's meta names its readers, under ``annotators`` (a list) or ``annotator``, and so does
    who marked something in it, as `readers_of` has it. Where the meta names one reader, spans
    without a name are that reader's.
    """
    spans: dict[str, tuple[GoldSpan, ...]] = {}
    readers: dict[str, tuple[str, ...]] = {}
    for segment in segments:
        named = tuple(_named(segment))
        only = named[0] if len(named) == 1 else ""
        marked = tuple(_gold(span, unsigned=only) for span in segment.gold)
        spans[segment.segment_id] = marked
        readers[segment.segment_id] = readers_of(marked, named)
    return Gold(spans, readers)


def readers_of(spans: Sequence[GoldSpan], named: Iterable[str] = ()) -> tuple[str, ...]:
    """Return who read a text: those `named`, and those who marked something in it.

    There is one reader at least; it has no name where none was given.
    Annotators who read a text and marked nothing look the same as those who did not read
    it: say who read it wherever several did.
    """
    return tuple(dict.fromkeys([*named, *(span.annotator for span in spans)])) or ("",)


def _gold(span: ErrorSpan, *, unsigned: str) -> GoldSpan:
    return GoldSpan(
        start=span.start,
        end=span.end,
        category=span.category,
        severity=span.severity,
        annotator=span.found_by[0] if span.found_by else unsigned,
    )


def _named(segment: Segment) -> Iterator[str]:
    names = next((segment.meta[key] for key in _READERS if key in segment.meta), ())
    for name in [names] if isinstance(names, str) else names if isinstance(names, list) else []:
        yield str(name)
