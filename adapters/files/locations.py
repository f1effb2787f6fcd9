"""Locations of files: a path, or any URL that fsspec supports."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from spanjury.judges.core import ConfigError, DataError, EvaluationError
from spanjury.judges.core.errors import reason_of
from spanjury.judges.core.lazy import library

_LOCAL = "file"
_WILD = frozenset("*?[")


class Location(NamedTuple):
    """A path within a file system of fsspec."""

    files: Any
    path: str

    @property
    def is_local(self) -> bool:
        """True if it is in the local file system."""
        protocol = self.files.protocol
        return _LOCAL in ((protocol,) if isinstance(protocol, str) else protocol)

    @property
    def url(self) -> str:
        """A URL that is valid in any working directory; an absolute path if it is local."""
        return self.path if self.is_local else str(self.files.unstrip_protocol(self.path))

    def below(self, *names: str) -> "Location":
        """Return the location `names` below this one."""
        return self._replace(path="/".join([self.path.rstrip("/"), *names]))

    def listing(self) -> list[tuple["Location", str]] | None:
        """Return the files in this folder, or those that match this pattern, sorted by path.

        Each comes with its name relative to the folder, or to the part of the pattern before any
        ``*``, ``?`` or ``[``. Returns None if the location is neither a folder nor a pattern.
        """
        if self.files.isdir(self.path):
            root, paths = self.path, self.files.ls(self.path, detail=False)
        elif _WILD & set(self.path) and not self.files.exists(self.path):
            parts = self.path.split("/")
            fixed = next(number for number, part in enumerate(parts) if _WILD & set(part))
            root, paths = "/".join(parts[:fixed]), self.files.glob(self.path)
        else:
            return None
        return [
            (self._replace(path=path), path.removeprefix(root).lstrip("/"))
            for path in sorted(paths)
        ]


def find_location(url: str) -> Location:
    """Return the location of a path or a URL, whether or not it exists.

    Raises `ConfigError` if fsspec, or the library that it needs for this kind of URL, is not
    installed, or fsspec does not support such URLs.
    """
    core = library("fsspec.core", extra="ray")  # its import takes 0.25 seconds
    try:
        files, path = core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise ConfigError(f"{url}: cannot be reached: {error}") from error
    return Location(files, str(path))


@contextmanager
def accessing(
    file: Location, what: str = "read", *, failure: type[EvaluationError] = DataError
) -> Iterator[None]:
    """Translate errors of a library or the operating system into a `failure` about `file`.

    Raises `ConfigError` if a library is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise ConfigError(f"{file.url}: {error}: pip install 'spanjury[ray]'") from error
    except (OSError, ValueError, KeyError) as error:  # pyarrow's errors are ValueErrors
        raise failure(f"{file.url}: cannot be {what}: {reason_of(error)}") from error
