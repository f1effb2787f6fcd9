"""Modules that are imported when they are first used, so that ``--help`` answers at once."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

__all__ = ["lazily"]


class _LazyFinder(MetaPathFinder):
    """Finds modules where Python does, and has them executed when they are first used."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a module whose loader waits."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


@contextmanager
def lazily() -> Iterator[None]:
    """Execute the modules that the block imports only when one of their names is used.

    In the block stand whole modules, as ``from package import module``: a name that is taken
    out of a module uses it. Type checkers and the layer check read these imports as any other.
    """
    finder = _LazyFinder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
