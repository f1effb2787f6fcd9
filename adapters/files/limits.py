"""Limits on the size of a data file: far above real files, but low enough to protect the memory.

| name | what is limited | by default |
|---|---|---|
| `row` | bytes of a line, of a record of a table, of a text file of a folder | 32 MiB |
| `cell` | characters of a cell | 16,777,216 |
| `columns` | columns of a table | 1,024 |
| `document` | characters of a JSON document (`.json`) | 268,435,456 |
| `depth` | nesting depth of objects and lists in JSON | 64 |
| `unpacked` | bytes of a packed file, unpacked | 16 GiB |
| `ratio` | unpacked bytes for each packed one, once 8 MiB are unpacked | 200 |
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from spanjury.judges.core import ConfigError, DataError

FLAG = "--data-limit"
_NUMBER = re.compile(r"(\d{1,15})\s*([KMG]i?B)?", re.IGNORECASE)
_UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}


@dataclass(frozen=True, slots=True, kw_only=True)
class DataLimits:
    """Maximum size of each part of a data file; the module's table explains each limit.

    Raises `ValueError` if a limit is less than 1.
    """

    row: int = 2**25
    cell: int = 2**24
    columns: int = 2**10
    document: int = 2**28
    depth: int = 64
    unpacked: int = 2**34
    ratio: int = 200

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if value < 1:
                raise ValueError(f"got the limit {limit.name}={value!r}, expected 1 or more")

    def exceeded(self, name: str, what: str) -> DataError:
        """Return the error for exceeding the limit `name`, with advice on raising it."""
        return DataError(
            f"{what} (limit {name}={getattr(self, name)}; if the file is sound, raise it:"
            f" spanjury {FLAG} {name}=NUMBER ...)"
        )


USUAL = DataLimits()
"""The default limits."""


def parse_limits(settings: Iterable[str]) -> DataLimits:
    """Parse settings ``NAME=NUMBER``, such as ``row=200MB``; other limits keep their defaults.

    Raises `ConfigError` if a setting is malformed or its name is unknown.
    """
    limits = USUAL
    names = [limit.name for limit in fields(DataLimits)]
    for setting in settings:
        name, _, number = setting.partition("=")
        given = _NUMBER.fullmatch(number.strip())
        if name not in names or given is None:
            raise ConfigError(
                f"got the data limit {setting!r}, expected NAME=NUMBER, as row=200MB, NAME being"
                f" one of {', '.join(names)}"
            )
        try:
            limits = replace(limits, **{name: int(given[1]) * _UNITS[(given[2] or "").lower()]})
        except ValueError as error:
            raise ConfigError(f"data limit {setting!r}: {error}") from error
    return limits
