"""Digests of code, which change with the rules of a judge but not with a release."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import decode_source, find_spec, resolve_name
from pathlib import Path

from spanjury.judges.core.signature import fingerprint
from spanjury.judges.core.version import VERSION

_CORE = "spanjury.judges.core"
"""Package of types, errors and ports. Every module imports it, and it computes no score."""

_IMPORTS = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\((?:[^)#]|#.*)*\)|.+)|import[ \t]+(.+))",
    re.MULTILINE,
)
_WORD = re.compile(r"\w+")
_DOTTED = re.compile(r"\w[\w.]*")
_NAMED = re.compile(r'"([a-z]\w*(?:\.\w+)+)"')


@cache
def code_digest(*modules: str) -> str:
    """Return 12 hexadecimal digits that change whenever the code of `modules` does.

    The digest covers their source, that of all modules of the same top-level package that they
    import, directly or not, and the data files of packages that they name in a string, as modules
    do to read templates. It leaves out `spanjury.judges.core`. Comments and docstrings count, since
    a docstring can be part of a prompt. The first call takes some milliseconds.

    Parameters
    ----------
    modules
        Names of imported modules; a judge passes its own ``__name__``.

    Examples
    --------
    A judge whose stored reports are recomputed only when its rules change::

        @property
        def signature(self) -> str:
            return signature("mine", rules=code_digest(__name__))
    """
    sources: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in sources and not f"{module}.".startswith(f"{_CORE}."):
            sources[module] = _source(module)
            waiting += _imported(module, sources[module])
    named = {name for source in sources.values() for name in _NAMED.findall(source)}
    roots = frozenset(module.partition(".")[0] for module in sources)
    data = (text for name in sorted(named) for text in _data(name, root=roots))
    return fingerprint(*(text for item in sorted(sources.items()) for text in item), *data)


def _source(module: str) -> str:
    """Return the source of `module`, or the version if it was installed without source."""
    spec = _spec(module)
    read = getattr(spec.loader, "get_source", None) if spec else None
    source: str | None = read(module) if read else None
    if read is None and spec is not None and spec.has_location:  # pytest's has no `get_source`
        source = decode_source(Path(spec.origin or "").read_bytes())
    return VERSION if source is None else source


def _imported(module: str, source: str) -> Iterator[str]:
    """Yield the modules of the same top-level package that `source` imports."""
    root = module.partition(".")[0]
    spec = _spec(module)
    for origin, names, modules in _IMPORTS.findall(source):
        package = resolve_name(origin, spec.parent) if spec and spec.parent else origin
        for name in [package] if origin else _DOTTED.findall(modules):
            if name.partition(".")[0] == root:
                yield name
                yield from _inner_modules(name, _WORD.findall(names))


def _inner_modules(package: str, names: Iterable[str]) -> Iterator[str]:
    """Yield those `names` that are modules in `package`."""
    folders = _folders(package)
    inner = (f"{package}.{name}" for name in names if folders)
    return (name for name in inner if PathFinder.find_spec(name, folders) is not None)


@cache
def _spec(module: str) -> ModuleSpec | None:
    """Find a module without importing the packages that it is in, except the outermost."""
    package = module.rpartition(".")[0]
    return PathFinder.find_spec(module, _folders(package)) if package else find_spec(module)


def _folders(package: str) -> list[str]:
    """Return the folders of a package; empty for another module, or for none."""
    spec = _spec(package)
    return [*(spec.submodule_search_locations or ())] if spec else []


def _data(package: str, *, root: frozenset[str]) -> Iterator[str]:
    """Yield names and texts of the data files of `package`, if it belongs to our distribution."""
    if package.partition(".")[0] not in root:
        return
    if _folders(package):
        yield from _texts(files(package))


def _texts(folder: Traversable) -> Iterator[str]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _texts(entry)
        elif entry.is_file() and not entry.name.endswith((".py", ".pyc")):
            yield entry.name
            yield entry.read_bytes().hex()
