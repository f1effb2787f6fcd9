"""The operating system's lock on an open file: it goes with its holder, however that ends."""

import os
import sys

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_FAR = 1 << 30
"""The byte that is locked on Windows, where no process could read a locked one."""


def lock_file(descriptor: int) -> None:
    """Lock an open file until it is closed.

    Raises `BlockingIOError` or `PermissionError` if another process, or this one by another open
    file, holds the lock. Raises `OSError` if the file system has no locks (some network ones).
    """
    if sys.platform == "win32":
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
