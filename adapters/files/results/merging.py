"""The shards of one run: written side by side, collected, and merged into the whole results."""

import filecmp
import json
import os
import re
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count, groupby, islice, pairwise
from pathlib import Path
from typing import IO, NamedTuple

from spanjury.adapters.files.line_writer import PART, REFUSED, part_of, refusal
from spanjury.adapters.files.locations import Location, accessing, find_location
from spanjury.adapters.files.results.result_rows import (
    ResultLine,
    ResultName,
    RowOutcomes,
    read_lines,
    read_results,
)
from spanjury.adapters.files.results.results import ResultWriter
from spanjury.adapters.files.results.unanswered_rows import UnansweredRows
from spanjury.adapters.files.spool import open_scratch
from spanjury.adapters.files.strict_json import parse_json
from spanjury.judges.core import DataError, StoreError, unstamped

_BLOCK = 2**20
_MANIFEST = "run.json"
_DONE = "done"
_LEDGER = "ledger.json"
_RESULTS = "results.jsonl"
_FOLDER = re.compile(r"shard-([1-9][0-9]{0,8})-of-([1-9][0-9]{0,8})")
_FILE = re.compile(rf"(.+)\.{_FOLDER.pattern}(\.[^.]+|)")
_ROWS = re.compile(r"\.jsonl(\.part)?$")
_DIGEST = "data_digest"
"""Field of a shard's manifest with a digest of the whole data."""
_SETTINGS = (_DIGEST, "task", "aspects", "rubric", "columns", "limit", "order")
"""Fields that all shards of a run share, besides the name of its data and its panel."""
_NAMED = 10
"""Maximum number of missing shards that a message names."""
_TABLES = """
CREATE TABLE segments (
    id TEXT, system TEXT, task TEXT, part INTEGER NOT NULL, PRIMARY KEY (id, system, task)
) WITHOUT ROWID;
"""
_CLAIM = "INSERT OR IGNORE INTO segments VALUES (?, ?, ?, ?)"
_OWNER = "SELECT part FROM segments WHERE (id, system, task) = (?, ?, ?)"
_Rows = Iterable[ResultLine[ResultName]]
_storing = partial(accessing, failure=StoreError)


class ShardFolder:
    """A folder with ``shards/KEY.jsonl`` for each chunk, the merged results and ``run.json``.

    A file is written completely or not at all; writing a shard again replaces it.

    Every machine that works on it must be able to access `url`, a path or a URL. Methods raise
    `StoreError` if something cannot be read or written.
    """

    def __init__(self, url: str) -> None:
        self._location = find_location(url)
        self.url = self._location.url
        self.results = self._location.below(_RESULTS).url
        """The file that `join` writes."""

    def create(self) -> None:
        """Create the folder."""
        shards = self._location.below("shards")
        with _storing(shards, "written"):
            shards.files.makedirs(shards.path, exist_ok=True)

    def read(self, key: str) -> bytes | None:
        """Return the rows of a shard, or None."""
        return _content(self._shard(key))

    def write(self, key: str, rows: bytes) -> None:
        """Write a shard."""
        _write(self._shard(key), rows)

    def manifest(self) -> Mapping[str, object] | None:
        """Return the manifest of the run, or None if there is no readable one."""
        try:
            read = parse_json((_content(self._location.below(_MANIFEST)) or b"").decode())
        except (StoreError, DataError, UnicodeDecodeError):
            return None
        return read if isinstance(read, dict) else None

    def keep_manifest(self, manifest: Mapping[str, object]) -> None:
        """Write the manifest; the previous one is kept as ``run-N.json``, N being the next free."""
        file = self._location.below(_MANIFEST)
        if former := _content(file):
            others = (self._location.below(f"run-{number}.json") for number in count(1))
            with _storing(file, "written"):
                free = next(other for other in others if not other.files.exists(other.path))
            _write(free, former)
        _write(file, f"{json.dumps(manifest, ensure_ascii=False, indent=1)}\n".encode())

    def ledger(self) -> bytes | None:
        """Return the ledger of the run, or None."""
        return _content(self._location.below(_LEDGER))

    def keep_ledger(self, written: bytes) -> None:
        """Write the ledger."""
        _write(self._location.below(_LEDGER), written)

    def mark(self, *, done: bool) -> None:
        """Record that the run has begun, or that it is complete."""
        mark = self._location.below(_DONE)
        if done:
            _write(mark, b"")
            return
        with _storing(mark, "written"):
            if mark.files.exists(mark.path):
                mark.files.rm_file(mark.path)

    def join(self, keys: Iterable[str]) -> None:
        """Write the rows of all `keys`, in this order, to `results`.

        Raises `StoreError` if a shard is missing, or existing results have scores for which these
        rows have no answer. Then the old results stay, and the rows go to
        ``results.jsonl.refused``.
        """
        order = tuple(keys)
        target = named = self._location.below(_RESULTS)
        if objection := self._objection(order, target):
            named = target._replace(path=f"{target.path}{REFUSED}")
        with _replacing(named) as results:
            for key in order:
                for block in self._blocks(key):
                    results.write(block)
        if objection:
            raise StoreError(refusal(target.url, objection, named.url))

    def _objection(self, keys: Iterable[str], target: Location) -> str:
        """Return a message about scores in `target` that the shards would lose; empty if none."""
        unanswered = UnansweredRows()
        with _storing(target, "read"):
            if not target.files.exists(target.path):
                return ""
            for key in keys:
                with self._opened(key) as shard:
                    for line in shard:
                        unanswered.note(line)
            with target.files.open(target.path, "rb") as old:
                return unanswered.objection_to(read_lines(old, RowOutcomes, name=target.url))

    def _blocks(self, key: str) -> Iterator[bytes]:
        with self._opened(key) as file:
            while block := file.read(_BLOCK):
                yield block

    @contextmanager
    def _opened(self, key: str) -> Iterator[IO[bytes]]:
        shard = self._shard(key)
        with _storing(shard, "read"), shard.files.open(shard.path, "rb") as file:
            yield file

    def _shard(self, key: str) -> Location:
        return self._location.below("shards", f"{key}.jsonl")


def _content(file: Location) -> bytes | None:
    """Return what is in a file, or None; raise `StoreError` if it cannot be read."""
    with _storing(file, "read"):
        try:
            return bytes(file.files.cat_file(file.path))
        except FileNotFoundError:
            return None


def _write(file: Location, content: bytes) -> None:
    with _replacing(file) as written:
        written.write(content)


@contextmanager
def _replacing(target: Location) -> Iterator[IO[bytes]]:
    """Open a file that replaces `target` once complete, and is discarded after an exception."""
    with _storing(target, "written"):
        if target.is_local:
            # A worker wrongly taken for dead may still write its shard while another repeats it.
            part = Path(f"{target.path}.{uuid.uuid4().hex}.part")
            try:
                with part.open("xb") as file:
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                part.replace(target.path)
            finally:
                part.unlink(missing_ok=True)
            return
        opened = target.files.open(target.path, "wb", autocommit=False)
        try:
            with opened:
                yield opened
        except BaseException:
            opened.discard()
            raise
        opened.commit()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardPart:
    """The results of shard `number`, counted from 1, of `of`.

    `whole` is the results file that the run without shards would have written.
    """

    number: int
    of: int
    path: Path
    whole: Path

    @property
    def names_its_data(self) -> bool:
        """True if its run folder says which data and settings it is of."""
        return bool(_job_of(self))


def find_parts(given: Sequence[Path]) -> tuple[ShardPart, ...]:
    """Return the shards at the `given` paths, sorted by number.

    Paths are results files (``*.shard-3-of-16.jsonl``), run folders of shards (``shard-3-of-16``),
    or folders that contain either.

    Raises `StoreError` if a shard is missing, duplicated or unfinished, belongs to a run with
    another number of shards or other settings, or a path names no shard; the message names the
    files.
    """
    parts = sorted(
        (part for path in given for part in _parts_at(path)), key=lambda part: part.number
    )
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


def merge_parts(parts: Sequence[ShardPart], target: Path) -> int:
    """Merge the rows of `parts` in the order of the input; return the number of rows.

    Segments were distributed round-robin, so they are collected in the same way: the first of each
    part, then the second of each. Rows are copied unchanged. `parts` are all the shards of one
    run, in order, as `find_parts` returns them. `target` is written at the end, as a whole.

    Raises `DataError`, naming file and line, if a part cannot be read. Raises `StoreError` if the
    parts are not from one run: panels or aspects differ, a segment occurs twice, or the row counts
    do not fit the distribution. It also raises if `target` is one of the parts, cannot be written,
    or has scores for which these rows have no answer.

    The ids of all segments are kept in a temporary file, about 100 bytes per segment.
    """
    if os.path.realpath(target) in {os.path.realpath(part.path) for part in parts}:
        raise StoreError(f"{target} is one of the shards: name another file for the whole")
    with ResultWriter(target, keep_part=False) as lines, open_scratch(_TABLES) as scratch:
        check = _Check(parts, scratch)
        for segment in _in_turn(parts):
            check.segment(segment)
            aspects = []
            for line, row in segment.rows:
                check.panel(row, segment.part)
                aspects.append(row.aspect)
                lines.append_line(line)
            check.aspects(segment, aspects)
    return lines.lines


def _parts_at(path: Path) -> Iterator[ShardPart]:
    """Yield the shard that `path` is, or the shards in the folder."""
    if part := _part(path):
        yield part
        return
    try:
        inner = list(path.iterdir()) if path.is_dir() else []
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from error
    children = (_part(child) for child in inner if child.is_dir() or _ROWS.search(child.name))
    parts = {part.path: part for part in children if part}  # a file and its part file are one
    if not parts:
        raise StoreError(
            f"{path} is not a shard's results: expected a file as results.shard-3-of-16.jsonl, a"
            " run folder as shard-3-of-16, or a folder that holds them"
        )
    yield from parts.values()


def _part(path: Path) -> ShardPart | None:
    """Return the shard that a file or a folder is, judged by its name; None if it is not one."""
    path = path / _RESULTS if path.is_dir() else path.with_name(path.name.removesuffix(PART))
    if named := _FILE.fullmatch(path.name):
        whole = path.with_name(f"{named[1]}{named[4]}")
        return ShardPart(number=int(named[2]), of=int(named[3]), path=path, whole=whole)
    if named := _FOLDER.fullmatch(path.parent.name):
        whole = path.parent.parent / path.name
        return ShardPart(number=int(named[1]), of=int(named[2]), path=path, whole=whole)
    return None


def _check(part: ShardPart, first: ShardPart) -> None:
    """Raise `StoreError` if a part is missing, unfinished, or from a run with other shards."""
    if part.of != first.of:
        raise StoreError(
            f"{first.path} is one of {first.of} shards, but {part.path} one of {part.of}: name"
            " the shards of one run"
        )
    if part.number > part.of:
        raise StoreError(f"{part.path}: there is no shard {part.number} of {part.of}")
    unfinished = part_of(part.path)
    if unfinished.exists():
        run = part.path.parent
        raise StoreError(
            f"{unfinished} is not finished; continue it with: spanjury resume {run}"
            if _FOLDER.fullmatch(run.name)
            else f"{unfinished} is not finished: resume its run, or judge the shard again"
        )
    if not part.path.is_file():
        raise StoreError(f"{part.path}: there is no such file; shard {part.number} is missing")
    _check_settings(part, first)


def _check_settings(part: ShardPart, first: ShardPart) -> None:
    """Raise `StoreError` if the manifests of two shards are of different runs.

    Results in a file of their own have no manifest. The folders of the data are not compared: they
    differ between machines.
    """
    job, other = _job_of(part), _job_of(first)
    if not job or not other:
        return
    data, others = Path(str(job.get("data"))), Path(str(other.get("data")))
    if data.name != others.name or _have_other_bytes(data, others):
        name = "data"
    else:
        both = (name for name in _SETTINGS if name in job and name in other)
        name = next((name for name in both if job[name] != other[name]), "")
    if name:
        differ = f"{name} is {job.get(name)!r} and {other.get(name)!r}"
        raise StoreError(
            f"{part.path.parent / _MANIFEST} and {first.path.parent / _MANIFEST} are not of one"
            f" run: {f'{data.name} had other bytes' if name == _DIGEST else differ}"
        )


def _have_other_bytes(first: Path, second: Path) -> bool:
    """Return whether both files can be read here and differ."""
    try:
        if first.samefile(second):  # as usual, and large data take long to read
            return False
        are_files = first.is_file() and second.is_file()
        return are_files and not filecmp.cmp(first, second, shallow=False)
    except OSError:
        return False


def _job_of(part: ShardPart) -> Mapping[str, object]:
    """Return the job in the manifest of a run folder, with the digest of its data.

    It is empty if there is none.
    """
    if not _FOLDER.fullmatch(part.path.parent.name):
        return {}
    try:
        manifest = parse_json((part.path.parent / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, DataError):
        return {}
    if not isinstance(manifest, dict) or not isinstance(job := manifest.get("job"), dict):
        return {}
    digest = manifest.get(_DIGEST)
    return {**job, _DIGEST: digest} if digest else job


def _missing(parts: Sequence[ShardPart]) -> str:
    there = {part.number for part in parts}
    absent = (number for number in range(1, parts[0].of + 1) if number not in there)
    numbers = ", ".join(str(number) for number in islice(absent, _NAMED))
    more = ", …" if next(absent, None) else ""
    return f"{parts[0].of - len(there)} of them are missing: {numbers}{more}"


class _Segment(NamedTuple):
    """One segment in a part, with a row for each aspect."""

    part: ShardPart
    name: tuple[str, str, str]
    rows: _Rows


def _in_turn(parts: Sequence[ShardPart]) -> Iterator[_Segment]:
    """Yield one segment of each part in turn; raise `StoreError` if a part ends too early."""
    all_segments = [_segments(part) for part in parts]
    while True:
        for part, segments in zip(parts, all_segments, strict=True):
            segment = next(segments, None)
            if segment is None:
                _check_ended(part, all_segments)
                return
            yield segment


def _segments(part: ShardPart) -> Iterator[_Segment]:
    rows = read_results(part.path, ResultName)
    for name, group in groupby(rows, key=lambda line: line.row.segment):
        yield _Segment(part, name, group)


def _check_ended(ended: ShardPart, all_segments: Iterable[Iterator[_Segment]]) -> None:
    for segments in all_segments:
        if more := next(segments, None):
            raise StoreError(
                f"{ended.path} has no more segments, but {more.part.path} has"
                f" {more.name[0]!r} still: they are not shards of one run over the same data"
            )


class _Check:
    """Checks that every segment occurs in only one part, and that all parts are from one run."""

    def __init__(self, parts: Sequence[ShardPart], scratch: sqlite3.Connection) -> None:
        self._parts = parts
        self._scratch = scratch
        self._panels: dict[tuple[str, str], tuple[str, ShardPart]] = {}
        self._aspects: dict[str, tuple[Sequence[str], ShardPart]] = {}

    def segment(self, segment: _Segment) -> None:
        """Raise `StoreError` if the segment has occurred before."""
        number = segment.part.number
        if self._scratch.execute(_CLAIM, (*segment.name, number)).rowcount:
            return
        (owner,) = self._scratch.execute(_OWNER, segment.name).fetchone()
        raise StoreError(
            f"segment {segment.name[0]!r} is in {self._parts[owner - 1].path} and again in"
            f" {segment.part.path}: they are not shards of one run"
        )

    def panel(self, row: ResultName, part: ShardPart) -> None:
        """Raise `StoreError` if another panel judged the same aspect in another part."""
        first, where = self._panels.setdefault((row.task, row.aspect), (row.signature, part))
        if unstamped(row.signature) != unstamped(first):
            raise StoreError(
                f"{part.path} and {where.path} were judged by different panels on {row.aspect!r}:"
                f" {row.signature} and {first}"
            )

    def aspects(self, segment: _Segment, aspects: Sequence[str]) -> None:
        """Raise `StoreError` if another segment of the same task has other aspects."""
        task = segment.name[-1]
        first, where = self._aspects.setdefault(task, (aspects, segment.part))
        if aspects != first:
            raise StoreError(
                f"{segment.part.path} and {where.path} have different aspects of the task"
                f" {task!r}: {', '.join(aspects)} and {', '.join(first)}"
            )
