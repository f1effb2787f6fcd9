"""What is made when it is first needed, and then kept."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Once"]

T = TypeVar("T")


class Once(Generic[T]):
    """Make a value at the first call of `get`, whichever thread comes first; keep it.

    Parameters
    ----------
    make
        Makes the value; if it raises, the next call tries again.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[T] = []

    def get(self) -> T:
        """Return the value; blocks while it is made."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]

    def peek(self) -> T | None:
        """Return the value, or None if nobody has asked for it yet."""
        return self._made[0] if self._made else None
