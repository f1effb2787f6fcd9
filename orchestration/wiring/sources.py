"""Open paths as sources of segments."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from spanjury.adapters.files.limits import USUAL, DataLimits, parse_limits
from spanjury.adapters.files.reading import trajectories
from spanjury.adapters.files.reading.column_map import parse_columns
from spanjury.adapters.files.reading.shapes import AGENT, CONVERSATION_TASKS, NAMES
from spanjury.adapters.files.reading.sources import by_source, open_ids, segments_of, with_own_id
from spanjury.adapters.files.reading.texts import frame_rows, read_texts, row_lines
from spanjury.adapters.files.reading.trajectories import (
    as_trajectory,
    check_tools,
    is_conversation,
    trajectory_row,
)
from spanjury.judges.core import ConfigError, DataError, Segment, Trajectory
from spanjury.orchestration.wiring.checks import checked_rows
from spanjury.orchestration.wiring.plugins import SOURCES, parameters

__all__ = [
    "AGENT",
    "as_trajectory",
    "by_source",
    "check_tools",
    "columns_for",
    "data_limits",
    "numbered_rows",
    "open_rows",
    "open_source",
    "read_texts",
    "readable",
    "set_data_limits",
    "trajectory_in_text",
    "trajectory_row",
]

_FOLDER, _HUB = "folder", "hf"
_STDIN = ("-", "/dev/stdin")
_LOG = "eval"
_SAVED = ("dataset_info.json", "dataset_dict.json")
"""Files in a folder that Hugging Face's `save_to_disk` wrote."""
_limits: ContextVar[DataLimits] = ContextVar("data_limits", default=USUAL)


def set_data_limits(settings: Iterable[str]) -> None:
    """Apply limits, such as ``row=200MB``, to every file that is opened from now on.

    Raise `ConfigError` if a limit has another form or an unknown name.
    """
    _limits.set(parse_limits(settings))


def data_limits() -> DataLimits:
    """Return the limits that `set_data_limits` applied, or the default ones."""
    return _limits.get()


def trajectory_in_text(text: str) -> Trajectory | None:
    """Return the trajectory in a JSON document, or in one message per line; None if none.

    Raise `DataError` if the JSON is nested too deeply to be read.
    """
    return trajectories.trajectory_in_text(text, depth=_limits.get().depth)


def columns_for(task: str | None, columns: Sequence[str]) -> tuple[str, ...]:
    """Return `columns` as `task` needs them: agents' tasks read whole conversations.

    A shape that is already among the columns is kept.
    """
    is_named = any(setting in NAMES for setting in columns)
    shapes = (AGENT,) if task in CONVERSATION_TASKS and not is_named else ()
    return (*columns, *shapes)


def open_source(
    path: Path, *, columns: Sequence[str] = (), limits: Sequence[str] = ()
) -> Iterator[Segment | DataError]:
    """Read `path` with the source named after its last ending, or its last two endings.

    Raise `ConfigError` if `columns` or `limits` have another form, or the source cannot read other
    names, and `DataError` if the file cannot be read, or no source reads files with such an ending.

    Parameters
    ----------
    path
        A file; a folder of texts, which the source ``folder`` reads, or of data files; or
        ``NAME:…``, which the source of that name resolves itself, as ``hf:`` does.
    columns
        Names of columns that differ from the standard ones, as `parse_columns` reads them:
        ``output=summary``; or the shape of the rows: ``ragas``.
    limits
        Size limits, as `parse_limits` reads them: ``row=200MB``; by default, those given to
        `set_data_limits`.
    """
    name = _source_name(path)
    if name == _FOLDER and (files := _data_files(path)):
        return _of_files(files, columns=columns, limits=limits)
    if str(path) in _STDIN or path.is_fifo():
        raise DataError(
            f"{path}: is a stream, which cannot be read again when the run is resumed: write the"
            " rows to a file, such as rows.jsonl, and name that file"
        )
    if name not in SOURCES.names():
        if not path.exists():
            raise DataError(f"{path}: cannot be read: No such file or directory")
        endings = (name for name in SOURCES.names() if name not in {_FOLDER, _HUB})
        choices = ", ".join(f".{name}" for name in endings)
        raise DataError(
            f"{path}: no source reads files that end in {name!r}; choose from {choices}"
        )
    source = SOURCES.get(name)
    takes = parameters(source)
    reading = cast("Callable[..., Iterator[Segment | DataError]]", source)  # `takes` checks it
    if "limits" in takes:
        reading = partial(reading, limits=parse_limits(limits) if limits else _limits.get())
    if not columns:
        return checked_rows(reading, name, path=path)
    if "columns" not in takes:
        raise ConfigError(f"the source {name!r} takes no columns of other names")
    return checked_rows(partial(reading, columns=parse_columns(columns)), name, path=path)


def readable(
    rows: Iterable[Segment | DataError], bad: list[DataError] | None = None
) -> Iterator[Segment]:
    """Yield the segments among `rows`; add unreadable rows to `bad`, or raise them without it."""
    for row in rows:
        if isinstance(row, Segment):
            yield row
        elif bad is None:
            raise row
        else:
            bad.append(row)


def numbered_rows(
    path: Path, *, columns: Sequence[str] = ()
) -> Iterator[tuple[Segment | DataError, int]]:
    """Yield the rows of `path`, as `open_source` does, each with the number of its first line.

    Yields nothing if its source does not read lines. Raise the errors of `open_source`.
    """
    lines = row_lines(path, _source_name(path))
    return zip(open_source(path, columns=columns), lines, strict=False)


def open_rows(data: object, *, columns: Sequence[str] = ()) -> Iterator[Segment | DataError]:
    """Read rows in memory: objects, or a data frame of pandas or polars.

    `data` contains mappings like the rows of a file, segments, lists of messages, or the messages
    of one conversation, or is a data frame; `columns` are as in `open_source`. Raise `ConfigError`
    if the columns have another form, or `data` are not rows, and `DataError`, at once, if there is
    no row.
    """
    rows = frame_rows([data] if is_conversation(data) else data)
    if rows is None:
        raise ConfigError(f"data must be rows, a data frame or a path, got {type(data).__name__}")
    return segments_of(Path("rows"), enumerate(rows, start=1), columns=parse_columns(columns))


def _data_files(folder: Path) -> list[Path]:
    """Return the data files in a folder, sorted by name; empty if it contains texts."""
    if next(folder.rglob("*.txt"), None) is not None:
        return []
    names = {*SOURCES.names()} - {_FOLDER}
    return sorted(
        file
        for file in folder.iterdir()
        if file.is_file() and not file.name.startswith(".") and _source_name(file) in names
    )


def _of_files(
    files: Sequence[Path], *, columns: Sequence[str], limits: Sequence[str]
) -> Iterator[Segment | DataError]:
    """Yield the rows of all files; a row without a system gets one named after its file.

    Logs of one task have the same samples, so a row of a log may have the id of another log's row.
    """
    with open_ids() as ids:
        for number, file in enumerate(files, start=1):
            stem = file.name.partition(".")[0]
            log = stem if _source_name(file) == _LOG else ""
            for row in open_source(file, columns=columns, limits=limits):
                if isinstance(row, DataError):
                    yield row
                    continue
                named = row if row.system else replace(row, system=stem)
                try:
                    yield with_own_id(named, ids.claim, line=number, unit="file", log=log)
                except DataError as error:
                    yield DataError(f"{file}: {error}")


def _source_name(path: Path) -> str:
    scheme, colon, _ = str(path).partition(":")
    if colon and scheme in SOURCES.names() and not path.exists():
        return scheme
    if path.is_dir():
        return _HUB if any((path / name).is_file() for name in _SAVED) else _FOLDER
    endings = [suffix.lstrip(".").lower() for suffix in path.suffixes if suffix != ".gz"]
    two = ".".join(endings[-2:])
    return two if two in SOURCES.names() else "".join(endings[-1:])
