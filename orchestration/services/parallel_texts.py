"""References and sources that lie beside the texts, in files of the same length."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from spanjury.judges.core import DataError, Segment
from spanjury.orchestration.services.python import read_segments

__all__ = ["with_texts"]

_SOURCE = "Source"


def with_texts(
    segments: Sequence[Segment], *, references: Sequence[Path], source: Path | None
) -> tuple[Segment, ...]:
    """Give segments references and a source from other files.

    Parameters
    ----------
    segments
        Whose those are.
    references
        Files with one reference for each segment, in their order; or folders, in which the
        file for a segment has the name of the segment's own.
    source
        Likewise, one for each.

    Raises
    ------
    DataError
        If a file cannot be read, has another length, or a folder lacks a text.
    """
    told = tuple(segments)
    for path in references:
        texts = _texts(path, told)
        told = tuple(
            replace(one, references=(*one.references, text))
            for one, text in zip(told, texts, strict=True)
        )
    if source is not None:
        texts = _texts(source, told)
        told = tuple(
            replace(one, inputs={**one.inputs, _SOURCE: text})
            for one, text in zip(told, texts, strict=True)
        )
    return told


def _texts(path: Path, segments: Sequence[Segment]) -> list[str]:
    found = list(read_segments(path))
    if path.is_dir():
        return _by_name(path, found, segments)
    if len(found) != len(segments):
        raise DataError(f"{len(segments)} texts, and {path} has {len(found)}")
    return [one.output for one in found]


def _by_name(path: Path, found: Sequence[Segment], segments: Sequence[Segment]) -> list[str]:
    """Find the text for each segment by the name of its file, in whatever folder that is."""
    texts = {PurePosixPath(one.segment_id).name: one.output for one in found}
    names = [PurePosixPath(one.segment_id).name for one in segments]
    missing = [name for name in names if name not in texts]
    if missing:
        raise DataError(f"{path} has no text for {missing[0]!r} and {len(missing) - 1} more")
    return [texts[name] for name in names]
