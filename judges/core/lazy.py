"""Lazy loading of slow libraries and of the modules that need them, and values made once.

A package whose modules need such a library makes them lazy by its ``__getattr__``::

    def __getattr__(name: str) -> ModuleType:
        return lazy_module(__name__, name, extra="plots")

``from package import module`` then loads nothing, and type checkers see the real module. Importing
a name from the module itself, ``from package.module import thing``, loads it.
"""

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Generic, TypeVar

from spanjury.judges.core.errors import ConfigError

T = TypeVar("T")


def library(name: str, *, extra: str = "", package: str = "") -> ModuleType:
    """Import a module that loads slowly or may not be installed.

    Raises `ConfigError` if the module, or one that it imports, is not installed; the message names
    the `extra` or the `package` to install.
    """
    try:
        return import_module(name)
    except ImportError as error:
        missing = error.name or name
        package = package or (f"spanjury[{extra}]" if extra else "spanjury")
        raise ConfigError(
            f"{missing} is not installed ({error}): pip install '{package}'"
        ) from error


def lazy_module(package: str, name: str, *, extra: str = "") -> ModuleType:
    """Return the module `name` of `package`, which is imported when one of its names is first used.

    Raises `AttributeError` if there is no such module. The errors of `library` are raised at the
    first use.
    """
    module = f"{package}.{name}"
    if name.startswith("_") or find_spec(module) is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return _LazyModule(module, extra=extra)


def require(module: ModuleType) -> None:
    """Import a lazy module now, before anything is paid for; raises the errors of `library`."""
    if isinstance(module, _LazyModule):
        module.load()


class _LazyModule(ModuleType):
    """Placeholder for a module until one of its names is used."""

    def __init__(self, name: str, *, extra: str) -> None:
        super().__init__(name)
        self._extra = extra

    def load(self) -> ModuleType:
        """Import the module."""
        return library(self.__name__, extra=self._extra)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # tools that inspect modules read these
            raise AttributeError(name)
        value: object = getattr(self.load(), name)
        return value


class Once(Generic[T]):
    """A value made by `make` at the first call of `get`, in whichever thread, and then kept.

    If `make` raises, the next call tries again.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[T] = []

    def get(self) -> T:
        """Return the value; blocks while another thread makes it."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]

    def peek(self) -> T | None:
        """Return the value, or None if it has not been made yet."""
        return self._made[0] if self._made else None


class _WaitingModule(ModuleType):
    """A module whose code runs when one of its names is first used, in whichever thread."""

    def __getattribute__(self, name: str) -> object:
        spec: ModuleSpec = ModuleType.__getattribute__(self, "__spec__")
        # Importing a module that is already loaded reads its `__spec__`, and listing the files of
        # all modules, as `inspect` does for torch, the others: none of it is a use.
        if name not in {"__spec__", "__file__", "__name__", "__class__"}:
            with spec.loader_state.lock:
                spec.loader_state.execute(self)
        value: object = ModuleType.__getattribute__(self, name)
        return value


class _Waiting(Loader):
    """Loader that defers execution by Python's own loader until the module is used."""

    def __init__(self, loader: Loader) -> None:
        self.lock = threading.RLock()  # reentrant: a module may use itself while it runs
        self._loader = loader
        self._begun = False

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module as Python would."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Defer the execution of the module."""
        spec = module.__spec__
        assert spec is not None
        spec.loader, spec.loader_state = self._loader, self
        module.__loader__ = self._loader
        module.__class__ = _WaitingModule

    def execute(self, module: ModuleType) -> None:
        """Execute the module unless this is done or in progress; the caller holds the lock."""
        if self._begun:
            return
        self._begun = True
        try:
            self._loader.exec_module(module)
        except BaseException:
            self._begun = False  # the next use tries again
            raise
        module.__class__ = ModuleType


class _LazyFinder(MetaPathFinder):
    """Finds modules as Python does, and defers their execution to the first use."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a module whose loader defers its execution."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Waiting(spec.loader)
        return spec


@contextmanager
def lazily() -> Iterator[None]:
    """Defer the execution of the modules imported in the block until one of their names is used.

    The block must import whole modules, as ``from package import module`` or ``import library``:
    importing a name from a module uses it. Type checkers and the layer check read these imports
    as any others.
    """
    finder = _LazyFinder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
