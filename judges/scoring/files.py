"""A map in a file: a few lines of JSON, so that it can be read, kept and cited."""

from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from spanjury.judges.core import ConfigError, StoreError
from spanjury.judges.scoring.span_map import SpanMap

_MAP: TypeAdapter[SpanMap] = TypeAdapter(SpanMap)


def read_map(path: Path) -> SpanMap:
    """Return the map in the file `path`; whatever it says, it is one that never rises.

    Raises `ConfigError` if the file cannot be read or holds no such map.
    """
    try:
        return _MAP.validate_json(path.read_bytes(), extra="forbid")
    except OSError as error:
        raise ConfigError(f"the map {path} cannot be read: {error}") from error
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(map(str, problem["loc"]))
        raise ConfigError(f"the map {path} does not fit: {place} {problem['msg']}") from error


def write_map(span_map: SpanMap, path: Path) -> None:
    """Write `span_map` to the file `path`, in place of what was there.

    Raises `StoreError` if it cannot be written.
    """
    try:
        path.write_bytes(_MAP.dump_json(span_map, indent=2) + b"\n")
    except OSError as error:
        raise StoreError(f"the map cannot be written to {path}: {error}") from error
