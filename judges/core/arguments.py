"""Check the arguments of a public function against its annotations.

Python does not check them, and a caller need not use a type checker: without this module, a wrong
value would fail far from the call, or count as another value, as True counts as 1.
"""

import math
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Literal, TypeGuard, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from spanjury.judges.core.errors import ConfigError
from spanjury.judges.core.scrubbing import scrub

T = TypeVar("T")

_LONGEST = 80
"""Maximum number of characters of a value in a message."""
_NOUNS: Mapping[object, tuple[str, str]] = {
    str: ("a text", "texts"),
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    bool: ("True or False", "True or False"),
    Path: ("a path", "paths"),
    NoneType: ("None", "None"),
}
"""Type -> the words for one value and for several."""


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether `value` is a whole number, including numpy's, but not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether `value` is a real number, including numpy's, but not a bool."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_float(value: object) -> bool:
    """Return whether `value` is a real number; NaN, which many bounds let pass, is none."""
    return is_number(value) and value == value  # noqa: PLR0124  isnan fails for huge integers


def _is_truth(value: object) -> bool:
    """Return whether `value` is True or False, including numpy's."""
    kind = type(value)
    is_of_numpy = kind.__module__ == "numpy" and kind.__name__ in {"bool", "bool_"}
    return isinstance(value, bool) or is_of_numpy


_TESTS: Mapping[object, Callable[[object], bool]] = {
    bool: _is_truth,
    int: is_whole,
    float: _is_float,
    Callable: callable,
}


def check_arguments(function: Callable[..., object], values: Mapping[str, object]) -> None:
    """Raise `ConfigError` if an argument does not fit its annotation; the message names it.

    Any collection but a text or a dict counts as a list. Functions, classes, modules and objects of
    any type that is not built in may fulfil a protocol: methods are checked where they are used.
    Annotations that cannot be evaluated are not checked.

    Parameters
    ----------
    function
        The function, or a class for the values of its fields.
    values
        The arguments by name; others than those with annotations are ignored.
    """
    for name, hint in _hints(function).items():
        if name in values and (problem := _problem(values[name], hint, name=name)):
            raise ConfigError(problem)


def check_field_types(made: object) -> None:
    """Convert the fields of a dataclass by `fitted`; raise `ConfigError` if one does not fit.

    To be called while the dataclass, which may be frozen, is built.
    """
    kind: Callable[..., object] = type(made)
    values = fitted(kind, {name: getattr(made, name) for name in _hints(kind)})
    for name, value in values.items():
        if value is not getattr(made, name):
            object.__setattr__(made, name, value)
    check_arguments(kind, values)


def fitted(function: Callable[..., object], values: Mapping[str, object]) -> dict[str, object]:
    """Convert values of numpy, numbers of other libraries and iterators among arguments.

    They become a bool, an int, a float or a tuple where the annotation asks for a truth value, a
    number or a list. They are then written to files and compared like any other.
    """
    hints = _hints(function)
    return {
        name: _fitted(value, _alternatives(hints[name])) if name in hints else value
        for name, value in values.items()
    }


def repeatable(values: T) -> T:
    """Return the items of an iterator as a tuple, and any other value unchanged."""
    return cast("T", tuple(values)) if isinstance(values, Iterator) else values


@cache
def _hints(function: Callable[..., object]) -> Mapping[str, object]:
    try:
        return get_type_hints(function)
    except (NameError, AttributeError, TypeError, SyntaxError):  # as of a plugin's own types
        return {}


def _fitted(value: object, hints: Sequence[object]) -> object:
    """Return a number as an int or a float, and an iterator as a tuple, if a type asks for them."""
    if type(value) in {bool, int, float}:  # not numpy's float64, which msgspec does not write
        return value
    if bool in hints and _is_truth(value):
        return bool(value)
    if int in hints and is_whole(value):
        return int(value)
    if float in hints and isinstance(value, Decimal):
        return math.nan if value.is_nan() else float(value)  # float fails for a signaling NaN
    if float in hints and isinstance(value, Real):
        return float(value)
    return value if any(_is_of(value, each) for each in hints) else repeatable(value)


def _problem(value: object, hint: object, *, name: str) -> str:
    """Return what is wrong with a value, or with an item in it; empty if it fits."""
    if type(value) is hint and hint is not float:  # as most items of long lists
        return ""
    hints = [each for each in _alternatives(hint) if _is_of(value, each)]
    problems = [_problem_inside(value, each, name=name) for each in hints]
    if not problems:
        return f"{name} must be {_words(hint)}, got {_shown(value)}"
    return "" if "" in problems else problems[0]


def _problem_inside(value: object, hint: object, *, name: str) -> str:
    """Return what is wrong with an item of a collection."""
    if not (_is_collection(get_origin(hint)) and isinstance(value, Collection)):
        return ""
    for key, item, part in _items(value, hint):
        if _problem(item, part, name=""):  # a name for each of many items would take long
            return _problem(item, part, name=f"{name}[{key!r}]")
    if isinstance(value, Mapping):
        of_key = get_args(hint)[0]
        for key in value:
            if _problem(key, of_key, name=""):
                return f"a key of {name} must be {_words(of_key)}, got {_shown(key)}"
    return ""


def _items(value: Collection[object], hint: object) -> Iterator[tuple[object, object, object]]:
    """Yield the key or the number of each item of a collection, the item, and its type."""
    parts = get_args(hint)
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from ((key, item, part) for part in parts[1:])
    elif get_origin(hint) is tuple and Ellipsis not in parts:
        for number, (item, part) in enumerate(zip(value, parts, strict=False)):
            yield number, item, part
    elif parts[0] is not object:
        for number, item in enumerate(value):
            yield number, item, parts[0]


def _alternatives(hint: object) -> Sequence[object]:
    """Return the types of a union, or the type alone."""
    if get_origin(hint) in {Union, UnionType}:
        return [each for part in get_args(hint) for each in _alternatives(part)]
    return [hint]


def _is_of(value: object, hint: object) -> bool:
    """Return whether a value is of a type, whatever its items are."""
    kind = get_origin(hint) or hint
    if kind is Literal:
        return any(_is_same(value, each) for each in get_args(hint))
    if kind in _TESTS:
        return _TESTS[kind](value)
    if getattr(kind, "_is_protocol", False):
        can_have_methods = isinstance(value, ModuleType) or callable(value)
        return can_have_methods or type(value).__module__ != "builtins"
    if _is_collection(kind) and not issubclass(kind, Mapping):
        return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
    try:
        return not isinstance(kind, type) or isinstance(value, PathLike if kind is Path else kind)
    except TypeError:  # as of `Any` and of a `TypedDict`, which no object is an instance of
        return True


def _is_same(value: object, literal: object) -> bool:
    """Return whether a value is that of a `Literal`; True is not 1."""
    is_bool = isinstance(value, bool) == isinstance(literal, bool)
    return is_bool and isinstance(value, type(literal)) and value == literal


def _is_collection(kind: object) -> TypeGuard[type[Collection[object]]]:
    return isinstance(kind, type) and issubclass(kind, Collection) and kind not in {str, bytes}


def _words(hint: object, *, several: bool = False) -> str:
    """Return the words for a type, such as "a text or a list of texts"."""
    alternatives = sorted(_alternatives(hint), key=lambda each: each is NoneType)
    words = [word for each in alternatives for word in _nouns(each, several=several)]
    *before, last = dict.fromkeys(words)
    return f"{', '.join(before)} or {last}" if before else last


def _nouns(hint: object, *, several: bool) -> Sequence[str]:
    """Return the words for a type, or for each value of a `Literal`."""
    kind, parts = get_origin(hint) or hint, get_args(hint)
    if kind is Literal:
        return [repr(part) for part in parts]
    if kind in _NOUNS:
        return [_NOUNS[kind][several]]
    if kind is Callable:
        return ["functions" if several else "a function"]
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return ["dicts" if several else "a dict"]
    if _is_collection(kind) and parts:
        items = "" if parts[0] is object else f" of {_words(parts[0], several=True)}"
        return [f"{'lists' if several else 'a list'}{items}"]
    name = str(getattr(kind, "__name__", kind))
    return [f"{name}s" if several else _with_article(name)]


def _shown(value: object) -> str:
    """Return a value for a message; of an object or a collection only the type."""
    if isinstance(value, str | bytes | int | float | None):
        return scrub(repr(value))[:_LONGEST]
    advice = ": await it first" if isinstance(value, Awaitable) else ""
    return f"{_with_article(type(value).__name__)}{advice}"


def _with_article(name: str) -> str:
    return f"{'an' if name.startswith(tuple('AEIOaeio')) else 'a'} {name}"
