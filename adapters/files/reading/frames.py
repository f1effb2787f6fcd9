"""Rows that are in memory: of a list, or of a data frame of pandas or polars."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, runtime_checkable

_GROUPS = frozenset({"inputs", "human", "meta"})


@runtime_checkable
class _PolarsFrame(Protocol):
    def iter_rows(self, *, named: bool) -> Iterator[dict[str, object]]: ...


@runtime_checkable
class _PandasFrame(Protocol):
    def to_dict(self, orient: str) -> list[dict[str, object]]: ...


def frame_rows(data: object) -> Iterator[object] | None:
    """Return the rows of `data`, or None if it has none; neither library is imported.

    What a data frame lacks is null there, NaN or NaT, and absent in the row.
    """
    if isinstance(data, _PolarsFrame):
        return map(_present, data.iter_rows(named=True))
    if isinstance(data, _PandasFrame):
        return map(_present, data.to_dict("records"))
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        return None
    return iter(data)


def _present(row: Mapping[str, object]) -> dict[str, object]:
    """Return what the row has, ``inputs.Article`` within its inputs, as from a table in a file."""
    present: dict[str, object] = {}
    groups: dict[str, dict[str, object]] = {}
    for name, value in row.items():
        group, dot, key = name.partition(".")
        if _is_missing(value):
            continue
        if dot and group in _GROUPS:
            groups.setdefault(group, {})[key] = value
        else:
            present[name] = value
    return present | groups


def _is_missing(value: object) -> bool:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return type(value).__name__ in {"NAType", "NaTType"}
