"""Operating-system locks on open files, released whenever the process that holds them ends."""

import os
import sys

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_FAR = 1 << 30
"""Offset of the byte locked on Windows: far into a file, as other processes cannot read it."""


def lock_file(descriptor: int, *, is_shared: bool = False) -> None:
    """Lock an open file until it is closed.

    Raises `BlockingIOError` or `PermissionError` if another process, or this one by another open
    file, holds the lock. Raises `OSError` if the file system has no locks (some network ones).

    Parameters
    ----------
    is_shared
        Whether others may share the lock. Windows has no shared locks, and none is taken there:
        it refuses to rename an open database anyway.
    """
    if sys.platform == "win32":
        if is_shared:
            return
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
    else:
        kind = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
