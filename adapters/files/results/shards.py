"""Results that many machines write side by side: a shard a chunk, in one folder."""

import json
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import IO

from spanjury.adapters.files.line_writer import REFUSED, refusal
from spanjury.adapters.files.places import Location, find_place, words_of
from spanjury.adapters.files.results.unanswered_rows import UnansweredRows
from spanjury.adapters.files.strict_json import parse_json
from spanjury.judges.core import DataError, StoreError

_BLOCK = 2**20
_MANIFEST = "run.json"
_DONE = "done"
_LEDGER = "ledger.json"


@dataclass(frozen=True, slots=True)
class ShardFolder:
    """A folder with ``shards/KEY.jsonl`` for each chunk, the joined results and ``run.json``.

    A file is there as it was written or not at all; a shard that is written again is replaced.

    Every machine that works on it must see it at `url`, a path or a URL.
    """

    url: str
    _location: Location = field(init=False, repr=False)

    def __post_init__(self) -> None:
        folder = find_place(self.url)
        object.__setattr__(self, "url", folder.url)  # the dataclass is frozen
        object.__setattr__(self, "_location", folder)

    @property
    def results(self) -> str:
        """The file that `join` writes."""
        return self._location.below("results.jsonl").url

    def create(self) -> None:
        """Make the folder; raise `StoreError` if it cannot be made."""
        shards = self._location.below("shards")
        with _storing(shards):
            shards.files.makedirs(shards.path, exist_ok=True)

    def read(self, key: str) -> bytes | None:
        """Return the rows of a shard, or None; raise `StoreError` if they cannot be read."""
        shard = self._shard(key)
        with _storing(shard, what="read"):
            try:
                return bytes(shard.files.cat_file(shard.path))
            except FileNotFoundError:
                return None

    def write(self, key: str, rows: bytes) -> None:
        """Write a shard; raise `StoreError` if it cannot be written."""
        with _replacing(self._shard(key)) as file:
            file.write(rows)

    def manifest(self) -> Mapping[str, object] | None:
        """Return the manifest of the run, or None if there is none that can be read."""
        file = self._location.below(_MANIFEST)
        try:
            with _storing(file, what="read"):
                read = parse_json(bytes(file.files.cat_file(file.path)).decode())
        except (StoreError, DataError):
            return None
        return read if isinstance(read, dict) else None

    def keep_manifest(self, manifest: Mapping[str, object]) -> None:
        """Write the manifest; the last one stays, under the first free number.

        Raises `StoreError` if it cannot be written.
        """
        file = self._location.below(_MANIFEST)
        with _storing(file):
            there = file.files.exists(file.path) and bytes(file.files.cat_file(file.path))
            others = (self._location.below(f"run-{number}.json") for number in count(1))
            free = next(other for other in others if not other.files.exists(other.path))
        for target, text in (
            (free, there),
            (file, f"{json.dumps(manifest, ensure_ascii=False, indent=1)}\n".encode()),
        ):
            if text:
                with _replacing(target) as written:
                    written.write(text)

    def ledger(self) -> bytes | None:
        """Return the ledger of the run, or None; raise `StoreError` if it cannot be read."""
        file = self._location.below(_LEDGER)
        with _storing(file, what="read"):
            return bytes(file.files.cat_file(file.path)) if file.files.exists(file.path) else None

    def keep_ledger(self, written: bytes) -> None:
        """Write the ledger; raise `StoreError` if it cannot be written."""
        with _replacing(self._location.below(_LEDGER)) as file:
            file.write(written)

    def mark(self, *, done: bool) -> None:
        """Note that the run is begun, or has come to its end.

        Raises `StoreError` if the folder cannot be written.
        """
        mark = self._location.below(_DONE)
        if done:
            with _replacing(mark):
                pass
            return
        with _storing(mark):
            if mark.files.exists(mark.path):
                mark.files.rm_file(mark.path)

    def join(self, keys: Iterable[str]) -> None:
        """Write the rows of all `keys`, in that order, to `results`.

        Raises `StoreError` if a shard is not there, or the results cannot be written; or those
        that are there have scores that these rows lack for want of an answer. Then they stay as
        they are, and the rows are in ``results.jsonl.refused``.
        """
        order = tuple(keys)
        target = self._location.below("results.jsonl")
        objection = self._objection(order, target)
        if not objection:
            self._join(order, target)
            return
        refused = target.at(f"{target.path}{REFUSED}")
        self._join(order, refused)
        raise StoreError(refusal(target.url, objection, refused.url))

    def _join(self, keys: Iterable[str], target: Location) -> None:
        with _replacing(target) as results:
            for key in keys:
                for block in self._blocks(key):
                    results.write(block)

    def _objection(self, keys: Iterable[str], target: Location) -> str:
        """Say which scores in `target` the shards would cost; empty for none."""
        unanswered = UnansweredRows()
        with _storing(target, what="read"):
            if not target.files.exists(target.path):
                return ""
            for key in keys:
                with self._opened(key) as shard:
                    for line in shard:
                        unanswered.note(line)
            with target.files.open(target.path, "rb") as old:
                return unanswered.objection_of(old, name=target.url)

    def _blocks(self, key: str) -> Iterator[bytes]:
        with self._opened(key) as file:
            while block := file.read(_BLOCK):
                yield block

    @contextmanager
    def _opened(self, key: str) -> Iterator[IO[bytes]]:
        shard = self._shard(key)
        with _storing(shard, what="read"), shard.files.open(shard.path, "rb") as file:
            yield file

    def _shard(self, key: str) -> Location:
        return self._location.below("shards", f"{key}.jsonl")


@contextmanager
def _replacing(target: Location) -> Iterator[IO[bytes]]:
    """Open a file that takes its place when it is whole, and leaves no trace otherwise."""
    with _storing(target):
        if target.is_local:
            # Two workers may write one shard, when one of them was taken for dead.
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


@contextmanager
def _storing(target: Location, *, what: str = "written") -> Iterator[None]:
    """Turn what a library or the operating system raises into a `StoreError` about `target`."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise StoreError(f"{target.url}: cannot be {what}: {words_of(error)}") from error
