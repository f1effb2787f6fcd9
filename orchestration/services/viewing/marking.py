"""The port of people's marks: what a view needs from a store of marks."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from spanjury.judges.core import Segment


class RowKey(NamedTuple):
    """The identity of a row across runs: the same text, judged on the same aspect.

    `output` is the `version_of` the text, so that a mark never applies to another text.
    """

    id: str
    system: str
    task: str
    aspect: str
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """The state of one person's mark of a row; `spans` counts its spans."""

    is_done: bool
    spans: int
    score: float | None


class Marking(Protocol):
    """People's marks; all methods are thread-safe."""

    def annotators(self) -> list[str]:
        """Return the names of all annotators."""

    def marked(self, annotator: str) -> Mapping[RowKey, Marked]:
        """Return the rows that a person has marked."""


def row_key(segment: Segment, *, task: str, aspect: str) -> RowKey:
    """Return the key of a segment's row for an aspect of a task."""
    return RowKey(
        id=segment.segment_id,
        system=segment.system,
        task=task,
        aspect=aspect,
        output=version_of(segment.output),
    )


def version_of(output: str) -> str:
    """Return an identifier of an output's content; its algorithm must never change."""
    return hashlib.sha256(output.encode("utf-8", "surrogatepass")).hexdigest()
