"""The values of a memory, as far as they can be read; the others are asked for again."""

from collections.abc import Callable
from typing import TypeVar

from spanjury.judges.core import EventLog, Memory, StoreError

__all__ = ["MemoryReading"]

log = EventLog()

T = TypeVar("T")


class MemoryReading:
    """Read values of a memory; forget those that cannot be read, with one warning.

    Such a value is no damage, which the memory itself finds: another spanjury wrote it, whose
    reports or replies have other fields.

    Parameters
    ----------
    memory
        Where the values are.
    whose
        Name of the judge or the model, for the warning.
    """

    def __init__(self, memory: Memory, *, whose: str) -> None:
        self._memory = memory
        self._whose = whose
        self._has_warned = False

    def get(self, key: str, read: Callable[[bytes], T]) -> T | None:
        """Return what `read` makes of the value under `key`; None if it raises `StoreError`."""
        value = self._memory.get(key)
        if value is None:
            return None
        try:
            return read(value)
        except StoreError as error:
            problem = str(error)
        self._warn(key, problem)
        return None

    def _warn(self, key: str, problem: str) -> None:
        if self._has_warned:
            return
        self._has_warned = True
        log.error(
            "memory.value_unreadable",
            key=key,
            whose=self._whose,
            problem=problem,
            remedy="it is asked for again, as is every other such value",
        )
