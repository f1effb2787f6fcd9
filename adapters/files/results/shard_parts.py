"""The results of the shards of one run: where they are, and whether all are there."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

from spanjury.adapters.files.line_writer import PART
from spanjury.judges.core import StoreError

__all__ = ["ShardPart", "find_parts"]

_RESULTS = "results.jsonl"
_FOLDER = re.compile(r"shard-([1-9][0-9]{0,8})-of-([1-9][0-9]{0,8})")
_FILE = re.compile(rf"(.+)\.{_FOLDER.pattern}(\.[^.]+|)")
_ROWS = re.compile(r"\.jsonl(\.part)?$")
_NAMED = 10
"""How many missing shards are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardPart:
    """The results of shard `number` of `of`.

    Parameters
    ----------
    number, of
        Which shard it is, counted from 1, and of how many.
    path
        Its results.
    whole
        Where the run without shards would have put its results.
    """

    number: int
    of: int
    path: Path
    whole: Path


def find_parts(given: Sequence[Path]) -> tuple[ShardPart, ...]:
    """Return the parts that are `given`, in their order.

    Parameters
    ----------
    given
        Results files (``*.shard-3-of-16.jsonl``), run folders of shards
        (``shard-3-of-16``), or folders that hold either.

    Raises
    ------
    StoreError
        If a part is missing, there twice, not finished, or of another number of shards,
        or a path tells of no shard; the message names the files.
    """
    parts = sorted((part for path in given for part in _found(path)), key=lambda part: part.number)
    for part in parts:
        _check(part, parts[0])
    for part, following in pairwise(parts):
        if part.number == following.number:
            raise StoreError(
                f"{part.path} and {following.path} are both shard {part.number} of {part.of}:"
                " leave one of them out"
            )
    if len(parts) < parts[0].of:
        raise StoreError(f"{parts[0].path} is one of {parts[0].of} shards; {_missing(parts)}")
    return tuple(parts)


def _found(path: Path) -> Iterator[ShardPart]:
    """Yield the part that `path` is, or those that it holds."""
    if part := _part(path):
        yield part
        return
    inner = map(_part, _within(path))
    parts = {part.path: part for part in inner if part}  # a file and its part file are one
    if not parts:
        raise StoreError(
            f"{path} is no shard's results: expected a file as results.shard-3-of-16.jsonl, a"
            " run folder as shard-3-of-16, or a folder that holds them"
        )
    yield from parts.values()


def _within(path: Path) -> list[Path]:
    """Return what may be a shard's in the folder `path`: folders, and files of rows."""
    try:
        inner = list(path.iterdir()) if path.is_dir() else []
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from error
    return [found for found in inner if found.is_dir() or _ROWS.search(found.name)]


def _part(path: Path) -> ShardPart | None:
    """Return the part that a file, or a folder, by its name is."""
    path = path / _RESULTS if path.is_dir() else path.with_name(path.name.removesuffix(PART))
    if named := _FILE.fullmatch(path.name):
        whole = path.with_name(f"{named[1]}{named[4]}")
        return ShardPart(number=int(named[2]), of=int(named[3]), path=path, whole=whole)
    if named := _FOLDER.fullmatch(path.parent.name):
        whole = path.parent.parent / path.name
        return ShardPart(number=int(named[1]), of=int(named[2]), path=path, whole=whole)
    return None


def _check(part: ShardPart, first: ShardPart) -> None:
    """Refuse a part that is none of the run's, or none yet."""
    if part.of != first.of:
        raise StoreError(
            f"{first.path} is one of {first.of} shards, but {part.path} one of {part.of}: name"
            " the shards of one run"
        )
    if part.number > part.of:
        raise StoreError(f"{part.path}: there is no shard {part.number} of {part.of}")
    unfinished = part.path.with_name(f"{part.path.name}{PART}")
    if unfinished.exists():
        run = part.path.parent
        raise StoreError(
            f"{unfinished} is not finished: go on with it by: spanjury resume {run}"
            if _FOLDER.fullmatch(run.name)
            else f"{unfinished} is not finished: resume its run, or judge the shard again"
        )
    if not part.path.is_file():
        raise StoreError(f"{part.path}: there is no such file; shard {part.number} is missing")


def _missing(parts: Sequence[ShardPart]) -> str:
    there = {part.number for part in parts}
    absent = (number for number in range(1, parts[0].of + 1) if number not in there)
    numbers = ", ".join(str(number) for number in islice(absent, _NAMED))
    return f"{parts[0].of - len(there)} of them are missing, first of all {numbers}"
