"""A map in a file: a few lines of JSON, so that it can be read, kept and cited."""

import json
from pathlib import Path

from spanjury.judges.core import ConfigError, StoreError
from spanjury.judges.core.former_names import with_todays_names
from spanjury.judges.core.lazy import Once, lazily
from spanjury.judges.scoring.span_map import SpanMap

with lazily():
    import pydantic

_MAP = Once(lambda: pydantic.TypeAdapter(SpanMap))


def read_map(path: Path) -> SpanMap:
    """Return the map in the file `path`; whatever it says, it is one that never rises.

    Raises `ConfigError` if the file cannot be read or holds no such map.
    """
    try:
        return _MAP.get().validate_python(_todays(json.loads(path.read_bytes())), extra="forbid")
    except OSError as error:
        raise ConfigError(f"the map {path} cannot be read: {error}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"the map {path} does not fit: Invalid JSON: {error}") from error
    except pydantic.ValidationError as error:
        problem = error.errors(include_url=False)[0]
        field = ".".join(map(str, problem["loc"]))
        raise ConfigError(f"the map {path} does not fit: {field} {problem['msg']}") from error


def _todays(values: object) -> object:
    """Return the table of a map with the names of today in it and in its parts."""
    table = with_todays_names(values, {"loss": "penalty"})
    parts = {"penalty": {"worth": "weights"}, "curve": {"losses": "penalties"}}
    if not isinstance(table, dict):
        return table
    inner = {name: with_todays_names(table[name], parts[name]) for name in parts & table.keys()}
    return {**table, **inner}


def write_map(span_map: SpanMap, path: Path) -> None:
    """Write `span_map` to the file `path`, in place of what was there.

    Raises `StoreError` if it cannot be written.
    """
    try:
        path.write_bytes(_MAP.get().dump_json(span_map, indent=2) + b"\n")
    except OSError as error:
        raise StoreError(f"the map cannot be written to {path}: {error}") from error
