"""Work that another process can be given, for it imports this module."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path


def dies_once(flag: Path) -> int:
    """Kill the process that does this for the first time; return the id of the other."""
    if not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def counted(count: int) -> Iterator[tuple[int, int]]:
    return ((number, os.getpid()) for number in range(count))


def waits_for(path: Path) -> None:
    """End once there is a file."""
    tick = threading.Event()
    while not path.exists():
        tick.wait(0.01)
