"""The files of a batch: rows are written as they arrive, and results are read as they are."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
from starlette.types import Receive

from spanjury.judges.core import StoreError
from spanjury.orchestration.servers.http.bodies import CLOSE, discard, stream_body
from spanjury.orchestration.servers.http.problems import ProblemError
from spanjury.orchestration.servers.http.settings import ServiceLimits
from spanjury.orchestration.services.serving.batches.records import BatchFolder

_GZIP = b"\x1f\x8b"
_PIECE = 2**16


async def receive_rows(receive: Receive, path: Path, limits: ServiceLimits) -> int:
    """Write the rows of a request to a file, and return how many lines there are.

    Raises `ProblemError` if they are too many, too long, too slow or packed, and `StoreError` if
    the file cannot be written.
    """
    bounds = _Bounds(limits)
    pieces = stream_body(receive, most=limits.batch_body, seconds=limits.batch_body_seconds)
    try:
        async with await anyio.open_file(path, "wb") as file:
            async for piece in pieces:
                bounds.check(piece)
                await file.write(piece)
    except OSError as error:
        await discard(receive)
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
    return bounds.rows


class _Bounds:
    """Counts the rows of a body, and the bytes of the row that is arriving."""

    def __init__(self, limits: ServiceLimits) -> None:
        self._limits = limits
        self._rows = 0
        self._row = 0
        self._begun = b""

    @property
    def rows(self) -> int:
        """The number of lines so far."""
        return self._rows + bool(self._row)

    def check(self, piece: bytes) -> None:
        if len(self._begun) < len(_GZIP):
            self._begun += piece[: len(_GZIP)]
            if self._begun.startswith(_GZIP):
                raise ProblemError(
                    "media-type-not-supported", "send rows as text, not packed", headers=CLOSE
                )
        *whole, rest = piece.split(b"\n")
        longest = max(map(len, [*whole[1:], rest]), default=0)
        first = self._row + len(whole[0] if whole else rest)
        self._row = len(rest) if whole else first
        self._rows += len(whole)
        if max(longest, first) > self._limits.row:
            detail = f"a row may have at most {self._limits.row} bytes"
            raise ProblemError("body-too-large", detail, headers=CLOSE)
        if self.rows > self._limits.rows:
            detail = f"a batch may have at most {self._limits.rows} rows"
            raise ProblemError("too-many-rows", detail, headers=CLOSE)


async def read_results(folder: BatchFolder) -> AsyncIterator[bytes]:
    """Yield the results that are on disk now, in whole lines."""
    path = folder.results
    if path is None:
        return
    try:
        file = await anyio.open_file(path, "rb")
    except FileNotFoundError:  # it was given its name, or removed, meanwhile
        path = folder.results
        if path is None:
            return
        file = await anyio.open_file(path, "rb")
    async with file:
        left = os.fstat(file.wrapped.fileno()).st_size
        rest = b""
        while left > 0 and (piece := await file.read(min(left, _PIECE))):
            left -= len(piece)
            whole, newline, rest = (rest + piece).rpartition(b"\n")
            if newline:
                yield whole + newline
