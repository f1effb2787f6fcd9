"""A file of texts that were drawn from a run: which they are, and what chance each had."""

from collections.abc import Mapping
from pathlib import Path

from spanjury.judges.core import DataError
from spanjury.orchestration.services.panels import read_segments
from spanjury.orchestration.studies.sampling.chances import chance_of

TextName = tuple[str, str]
"""Id and system of a text."""


def read_chances(path: Path) -> Mapping[TextName, float]:
    """Return id and system of each text of a sample -> the chance with which it was drawn.

    Raise `DataError` if the file cannot be read, or a row keeps no chance.
    """
    chances: dict[TextName, float] = {}
    for segment in read_segments(path):
        chance = chance_of(segment)
        if chance is None:
            raise DataError(
                f"{path}: {segment.segment_id} has no meta.sampling: expected a file that"
                " 'spanjury sample' wrote"
            )
        chances[segment.segment_id, segment.system] = chance
    if not chances:
        raise DataError(f"{path}: there is no text in it")
    return chances


def read_names(path: Path) -> frozenset[TextName]:
    """Return id and system of each text of a file; raise `DataError` if it cannot be read."""
    return frozenset((one.segment_id, one.system) for one in read_segments(path))
