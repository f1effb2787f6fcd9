"""Comparisons that a user writes, as ``severity>=4``: a name, a relation and a value."""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

RELATIONS: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
"""Relation as it is written -> its meaning."""

_COMPARISON = re.compile(
    r"\s*(?P<name>[\w.-]+)\s*(?P<relation>>=|<=|!=|==|=|>|<)\s*(?P<value>[^\s<>=!](?:.*\S)?)\s*"
)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)", re.ASCII)


class Comparison(NamedTuple):
    """A comparison as it was written; ``==`` is written ``=``."""

    name: str
    relation: str
    value: str

    @property
    def number(self) -> float | None:
        """The value as a number; None if it is none."""
        return parse_number(self.value)


def parse_comparison(text: str) -> Comparison | None:
    """Read a comparison; return None if `text` is none.

    Examples
    --------
    >>> parse_comparison("retest.moved <= .1")
    Comparison(name='retest.moved', relation='<=', value='.1')
    """
    match = _COMPARISON.fullmatch(text)
    if not match:
        return None
    relation = "=" if match["relation"] == "==" else match["relation"]
    return Comparison(match["name"], relation, match["value"])


def parse_number(text: str) -> float | None:
    """Read a plain number, without an exponent; return None if `text` is none.

    Examples
    --------
    >>> parse_number("-.5"), parse_number("1e3"), parse_number("nan")
    (-0.5, None, None)
    """
    return float(text) if _NUMBER.fullmatch(text) else None
