"""A lock on a run, held by one process and released whenever that process ends."""

import json
import os
import socket
from pathlib import Path
from typing import Self

from spanjury.adapters.file_lock import lock_file
from spanjury.judges.core import StoreError
from spanjury.judges.core.errors import reason_of
from spanjury.judges.core.lazy import lazily

with lazily():
    import tenacity

_HELD = (BlockingIOError, PermissionError)
_LONGEST_WAIT, _PAUSE = 0.25, 0.01  # seconds; `is_locked` holds a lock for microseconds


class RunLock:
    """Holds a lock file while the context lasts.

    The lock is the operating system's (``flock``; on Windows a locked byte of the file), so it is
    released when its holder ends, even by kill -9. The file remains. It names the last holder, and
    has no meaning while no process holds the lock. A forked child that executes no other program
    holds the lock, too.

    Raises `StoreError` on entry if another process, or another `RunLock` of this one, holds it,
    naming its process and host; or if the file system has no locks (some network ones).

    If it `is_shared`, others that share it, too, may hold it at the same time; the last is named.
    The `advice` to whoever finds the lock held is a clause after the name of the holder.
    """

    def __init__(self, path: Path, *, is_shared: bool = False, advice: str = "") -> None:
        self._path = path
        self._advice = f"; {advice}" if advice else ""
        self._is_shared = is_shared
        self._descriptor = -1

    def __enter__(self) -> Self:
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except (OSError, ValueError) as error:
            raise StoreError(f"{self._path}: cannot be opened: {reason_of(error)}") from error
        try:
            self._take(descriptor)
        except BaseException:  # e.g. Ctrl-C: do not leak the descriptor
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def _take(self, descriptor: int) -> None:
        try:
            _lock(descriptor, is_shared=self._is_shared)
        except _HELD as error:
            holder = _holder(descriptor)
            raise StoreError(f"{self._path}: in use by {holder}{self._advice}") from error
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be locked: {reason_of(error)}") from error
        own = json.dumps({"pid": os.getpid(), "host": socket.gethostname()})
        try:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{own}\n".encode())
        except OSError as error:
            raise StoreError(f"{self._path}: cannot be written: {reason_of(error)}") from error


def _lock(descriptor: int, *, is_shared: bool) -> None:
    """Lock an open file; retry briefly, since `is_locked` holds the lock for a moment."""
    try:
        lock_file(descriptor, is_shared=is_shared)
    except _HELD:
        waiting = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_HELD),
            stop=tenacity.stop_after_delay(_LONGEST_WAIT),
            wait=tenacity.wait_fixed(_PAUSE),
            reraise=True,
        )
        waiting(lock_file, descriptor, is_shared=is_shared)


def is_locked(path: Path) -> bool:
    """Return whether a process holds the lock in `path`; False if that is unknown.

    To find out, it takes the lock for a moment.
    """
    try:
        descriptor = os.open(path, os.O_RDWR)
    except (OSError, ValueError):
        return False
    try:
        lock_file(descriptor)
    except _HELD:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(descriptor)
    return False


def _holder(descriptor: int) -> str:
    """Read the lock's holder from the file, which may not be written yet."""
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        holder = json.loads(os.read(descriptor, 1024))
        return f"process {holder['pid']} on {holder['host']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
