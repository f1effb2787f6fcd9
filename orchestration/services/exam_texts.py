"""The texts of an exam: a file, or what a caller has in memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from spanjury.judges.core import ConfigError, DataError, Segment
from spanjury.orchestration.services.panels import read_segments


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Texts:
    """Texts in memory, which stand where the file of an exam does.

    Raises `DataError` if there are none, or two have one id.
    """

    segments: tuple[Segment, ...]

    def __post_init__(self) -> None:
        if not self.segments:
            raise DataError("there are no texts")
        seen: set[str] = set()
        for segment in self.segments:
            if segment.segment_id in seen:
                raise DataError(f"two texts have the id {segment.segment_id!r}")
            seen.add(segment.segment_id)

    @property
    def name(self) -> str:
        """The name that reports and records have for them."""
        return f"{len(self.segments)} texts from Python"

    def __str__(self) -> str:
        return self.name


def read_texts(data: Path | Texts, *, columns: Sequence[str] = ()) -> Iterator[Segment]:
    """Read texts from a file, as `read_segments` does, or take those in memory.

    Raise `ConfigError` if `columns` are given for texts in memory.
    """
    if isinstance(data, Path):
        return read_segments(data, columns=columns)
    if columns:
        raise ConfigError("columns are of a file or of rows; segments have their own fields")
    return iter(data.segments)
