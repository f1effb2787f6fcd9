"""Arguments are checked against annotations, and a message names argument, type and value."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Protocol, TypedDict, TypeVar

import numpy as np
import pytest

from spanjury.judges.core import (
    ConfigError,
    Scale,
    check_arguments,
    check_field_types,
    is_number,
    is_whole,
)

T = TypeVar("T")


class Speaker(Protocol):
    """A protocol, which is checked where it is used."""

    def speak(self) -> str:
        """Say a word."""


class Mode(StrEnum):
    """Words that are texts."""

    FAST = "fast"


class Row(TypedDict):
    """A dict that Python cannot recognise."""

    text: str


def public(
    limit: int | None = None,
    *,
    rate: float = 0.0,
    names: str | Sequence[str] = (),
    mode: Literal["fast", "exact"] | None = None,
    weights: Mapping[str, Mapping[str, float]] | None = None,
    source: str | Mapping[str, str | Sequence[str]] = "",
    stages: Sequence[tuple[str, ...]] = (),
    level: Literal[1, 2] = 1,
    pair: Annotated[tuple[float, float], "low and high"] = (0, 1),
    named: Sequence[tuple[str, float]] = (),
    rules: Sequence[Any] = (),
    typed_rows: Sequence[Row] = (),
    file: Path | str = "",
    rows: Sequence[object] = (),
    items: Iterable[str] = (),
    call: Callable[[], None] = print,
    calls: Sequence[Callable[[], None]] = (),
    tables: Sequence[Mapping[str, int]] = (),
    scale: Scale | None = None,
    speaker: "Speaker | str" = "",
    quiet: bool = False,
    anything: object = None,
    of_type: T | None = None,
) -> None:
    """Take arguments of every kind."""


class Opening:
    """An object that a caller forgot to await."""

    def __await__(self) -> Iterator[None]:
        """Wait for nothing."""
        yield


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "names",
            Opening(),
            "names must be a text or a list of texts, got an Opening: await it first",
        ),
        ("limit", True, "limit must be a whole number or None, got True"),
        ("limit", "3", "limit must be a whole number or None, got '3'"),
        ("limit", 2.0, "limit must be a whole number or None, got 2.0"),
        ("rate", True, "rate must be a number, got True"),
        ("rate", "0.5", "rate must be a number, got '0.5'"),
        ("names", 3, "names must be a text or a list of texts, got 3"),
        ("names", b"a", "names must be a text or a list of texts, got b'a'"),
        ("names", ["a", 3], "names[1] must be a text, got 3"),
        ("mode", "fats", "mode must be 'fast', 'exact' or None, got 'fats'"),
        ("weights", 3, "weights must be a dict or None, got 3"),
        ("weights", {"a": 3}, "weights['a'] must be a dict, got 3"),
        ("weights", {"a": {"b": "c"}}, "weights['a']['b'] must be a number, got 'c'"),
        ("source", {"a": [1]}, "source['a'][0] must be a text, got 1"),
        ("source", {1: "a"}, "a key of source must be a text, got 1"),
        ("source", {0: "a"}, "a key of source must be a text, got 0"),
        ("level", True, "level must be 1 or 2, got True"),
        ("named", [("a", "b")], "named[0][1] must be a number, got 'b'"),
        ("typed_rows", 3, "typed_rows must be a list of dicts, got 3"),
        ("stages", ["a"], "stages[0] must be a list of texts, got 'a'"),
        ("stages", "a", "stages must be a list of lists of texts, got 'a'"),
        ("pair", (0, "1"), "pair[1] must be a number, got '1'"),
        ("file", 3, "file must be a path or a text, got 3"),
        ("rows", 3, "rows must be a list, got 3"),
        ("items", 3, "items must be an Iterable, got 3"),
        ("call", 3, "call must be a function, got 3"),
        ("calls", 3, "calls must be a list of functions, got 3"),
        ("tables", 3, "tables must be a list of dicts, got 3"),
        ("scale", {"key": "sk-1"}, "scale must be a Scale or None, got a dict"),
        ("rate", f"sk-{'a1' * 20}", "rate must be a number, got '[hidden]'"),
        ("speaker", 3, "speaker must be a Speaker or a text, got 3"),
        ("quiet", "no", "quiet must be True or False, got 'no'"),
        ("limit", "9" * 200, f"limit must be a whole number or None, got '{'9' * 79}"),
    ],
)
def test_an_argument_of_another_type_is_refused_in_words(
    name: str, value: object, message: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        check_arguments(public, {name: value})
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", np.int64(3)),
        ("rate", 1),
        ("rate", np.float32(0.5)),
        ("names", {"a", "b"}),
        ("names", {"a": 1}.keys()),
        ("names", np.array(["a"])),
        ("mode", None),
        ("mode", Mode.FAST),
        ("quiet", np.bool_(True)),
        ("named", [("a", 0.5), ("b", 1)]),
        ("source", MappingProxyType({"a": "b"})),
        ("rules", [3]),
        ("typed_rows", [{"text": "a"}]),
        ("weights", {"a": {"b": 1}}),
        ("stages", [["a"], ("b", "c")]),
        ("rows", [1, "a", None]),
        ("file", Path("a")),
        ("speaker", Scale()),
        ("speaker", Scale),  # a class is reported where the object is used
        ("speaker", print),  # a protocol can be that of a call
        ("speaker", np),
        ("anything", 3),
        ("of_type", 3),
        ("unknown", 3),  # Python itself reports it
    ],
)
def test_an_argument_that_fits_is_accepted(name: str, value: object) -> None:
    check_arguments(public, {name: value})


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Terms that check their fields."""

    rounds: int = 3
    unknown: "Absent | None" = None  # type: ignore[name-defined]  # noqa: F821  the point


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits that check their fields."""

    rounds: int = 3
    seconds: float | None = None
    names: str | Sequence[str] = ()
    quiet: bool = False
    bound: int | float = 0
    rows: Iterable[str] = ()

    def __post_init__(self) -> None:
        check_field_types(self)


def test_the_fields_of_a_dataclass_are_checked_when_it_is_built() -> None:
    assert Limits(rounds=2).rounds == 2
    with pytest.raises(ConfigError, match="rounds must be a whole number, got True"):
        Limits(rounds=True)


@pytest.mark.parametrize(
    "number", [Decimal("1.5"), Fraction(3, 2), np.float32(1.5), np.float64(1.5)]
)
def test_a_number_of_any_library_becomes_a_float_or_an_int(number: float) -> None:
    limits = Limits(rounds=np.int64(2), seconds=number)  # type: ignore[arg-type]  # the point
    assert (limits.rounds, limits.seconds) == (2, 1.5)
    assert (type(limits.rounds), type(limits.seconds)) == (int, float)


@pytest.mark.parametrize(
    "number", [math.nan, np.float32("nan"), Decimal("NaN"), Decimal("-NaN"), Decimal("sNaN")]
)
def test_nan_is_no_number(number: float) -> None:
    with pytest.raises(ConfigError, match="^seconds must be a number or None, got nan$"):
        Limits(seconds=number)
    assert Limits(seconds=10**400).seconds == 10**400


def test_a_truth_value_of_numpy_becomes_a_bool_and_a_whole_number_stays_whole() -> None:
    limits = Limits(quiet=np.True_, bound=np.int64(3))  # type: ignore[arg-type]  # the point
    assert limits.quiet is True
    assert type(limits.bound) is int


def test_an_iterator_becomes_a_tuple_where_a_list_is_expected() -> None:
    rows = iter("ab")
    limits = Limits(names=map(str, (1, 2)), rows=rows)  # type: ignore[arg-type]  # the point
    assert limits.names == ("1", "2")
    assert limits.rows is rows
    with pytest.raises(ConfigError, match=r"names\[1\] must be a text, got 2"):
        Limits(names=iter(["a", 2]))  # type: ignore[arg-type]  # the point
    with pytest.raises(ConfigError, match="rounds must be a whole number, got "):
        Limits(rounds=Decimal(2))  # type: ignore[arg-type]  # the point


def test_annotations_that_cannot_be_evaluated_are_not_checked() -> None:
    check_arguments(Terms, {"rounds": "3"})


def test_a_truth_value_is_no_number() -> None:
    assert not is_whole(True)
    assert not is_number(True)
    assert is_whole(np.int8(1))
    assert is_number(np.float64(1.5))
