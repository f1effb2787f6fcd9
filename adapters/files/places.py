"""Places of files: a path, or any URL that fsspec knows."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from spanjury.judges.core import ConfigError, DataError
from spanjury.judges.core.lazy import library

_LOCAL = "file"
_WILD = frozenset("*?[")


class Location(NamedTuple):
    """A path within a file system of fsspec's."""

    files: Any
    path: str

    @property
    def is_local(self) -> bool:
        """True if it is in this machine's own tree of files."""
        protocol = self.files.protocol
        return _LOCAL in ((protocol,) if isinstance(protocol, str) else protocol)

    @property
    def url(self) -> str:
        """The URL that finds it from any working directory; a plain path if it is local."""
        return self.path if self.is_local else str(self.files.unstrip_protocol(self.path))

    def at(self, path: str) -> "Location":
        """Return the place of another path in the same file system."""
        return Location(self.files, path)

    def below(self, *names: str) -> "Location":
        """Return the place `names` below this one."""
        return self.at("/".join([self.path.rstrip("/"), *names]))

    def among(self) -> list[tuple["Location", str]] | None:
        """Return the files in this folder, or that match this pattern, sorted by path.

        Each comes with its name below the folder, or below the part of the pattern that has no
        ``*``, ``?`` and ``[``. Returns None if the place is neither folder nor pattern.
        """
        if self.files.isdir(self.path):
            root, paths = self.path, self.files.ls(self.path, detail=False)
        elif _WILD & set(self.path) and not self.files.exists(self.path):
            parts = self.path.split("/")
            fixed = next(number for number, part in enumerate(parts) if _WILD & set(part))
            root, paths = "/".join(parts[:fixed]), self.files.glob(self.path)
        else:
            return None
        return [(self.at(path), path.removeprefix(root).lstrip("/")) for path in sorted(paths)]


def find_place(url: str) -> Location:
    """Return the place that a path or a URL names, whether or not anything is there.

    Raises `ConfigError` if fsspec, or what it needs for such a URL, is not installed; or it knows
    none such.
    """
    core = library("fsspec.core", extra="ray")  # it takes a quarter of a second
    try:
        files, path = core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise ConfigError(f"{url}: cannot be reached: {error}") from error
    return Location(files, str(path))


@contextmanager
def reading(file: Location) -> Iterator[None]:
    """Turn what a library or the operating system raises into a `DataError` about `file`."""
    try:
        yield
    except ImportError as error:
        raise ConfigError(f"{file.url}: {error}: pip install 'spanjury[ray]'") from error
    except (OSError, ValueError, KeyError) as error:  # pyarrow's errors are ValueErrors
        raise DataError(f"{file.url}: cannot be read: {words_of(error)}") from error


def words_of(error: Exception) -> str:
    """Return what an operating system or a library says, without the path."""
    return getattr(error, "strerror", None) or str(error) or repr(error)
