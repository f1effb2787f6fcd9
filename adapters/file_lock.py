"""The operating system's lock on an open file: it goes with its holder, however that ends."""

import os
import sys

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_FAR = 1 << 30
"""The byte that is locked on Windows, where no process could read a locked one."""


def lock_file(descriptor: int, *, is_shared: bool = False) -> None:
    """Lock an open file until it is closed.

    Raises `BlockingIOError` or `PermissionError` if another process, or this one by another open
    file, holds the lock. Raises `OSError` if the file system has no locks (some network ones).

    Parameters
    ----------
    is_shared
        Whether others may share the lock. Windows has no such locks, and none is taken there: it
        refuses to rename a database that is open.
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
