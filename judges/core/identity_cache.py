"""A small cache, by identity, of values made from objects that recur, such as the aspects of a run.

Such objects need not be hashable, and comparing them would take as long as making the value.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

_MOST = 1000
"""Maximum number of cached objects, in case each segment brings its own."""

K = TypeVar("K")
V = TypeVar("V")


class IdentityCache(Generic[K, V]):
    """Cache of the values that `make` returned for the latest objects, which must not change.

    Examples
    --------
    >>> lengths = IdentityCache[list[int], int](len)
    >>> numbers = [1, 2, 3]
    >>> lengths.of(numbers), lengths.of(numbers)
    (3, 3)
    """

    def __init__(self, make: Callable[[K], V]) -> None:
        self._make = make
        self._made: dict[int, tuple[K, V]] = {}  # holds the objects, so that no id is reused

    def of(self, key: K) -> V:
        """Return the value of the object `key`, which is computed first if it is not cached."""
        entry = self._made.get(id(key))
        if entry is not None:
            return entry[1]
        if len(self._made) >= _MOST:
            self._made.clear()
        value = self._make(key)
        self._made[id(key)] = key, value
        return value
