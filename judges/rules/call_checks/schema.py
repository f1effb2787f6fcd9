"""JSON Schema: where the arguments of a call violate the schema of their tool.

It reads `type`, `enum`, `const`, bounds, `multipleOf`, lengths, `pattern`, `required`,
`properties`, `additionalProperties`, `items`, `uniqueItems`, `allOf`, `anyOf`, `oneOf`, `not`,
`$ref` within the schema, `nullable`, and the formats of dates, times, `email`, `uuid` and `uri`.
It ignores all other keywords, so a part of `oneOf` or `not` that has any other accepts no value for
sure.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from functools import partial
from math import isclose, isfinite
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

_MOST = 40  # maximum depth of a schema that refers to itself
_LONGEST = 200  # maximum characters that a pattern is applied to
_NESTED = re.compile(r"[+*}]\??\)+[+*{]|\|[^()]*\)[+*{]|\\\d")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _email(text: str) -> None:
    if not re.fullmatch(r"[^\s@]+@[^\s@]+", text):
        raise ValueError(text)


def _uri(text: str) -> None:
    parts = urlsplit(text)
    if not parts.scheme or not text.removeprefix(f"{parts.scheme}:") or re.search(r"\s", text):
        raise ValueError(text)


_TYPES: Mapping[str, Callable[[object], bool]] = MappingProxyType(
    {
        "string": lambda value: isinstance(value, str),
        "number": _is_number,
        "integer": lambda value: _is_number(value) and float(str(value)).is_integer(),
        "boolean": lambda value: isinstance(value, bool),
        "array": lambda value: isinstance(value, list),
        "object": lambda value: isinstance(value, Mapping),
        "null": lambda value: value is None,
    }
)
_FORMATS: Mapping[str, Callable[[str], object]] = MappingProxyType(
    {
        "date": date.fromisoformat,
        "date-time": datetime.fromisoformat,
        "time": lambda text: time.fromisoformat(text.replace("Z", "+00:00")),
        "email": _email,
        "uuid": UUID,
        "uri": _uri,
    }
)
_BELOW = ("additionalProperties", "items", "not")
"""Keywords whose value is a schema."""
_LISTED = ("allOf", "anyOf", "oneOf")
_READ = frozenset((*_BELOW, *_LISTED)).union(
    """type enum const properties required pattern format minimum maximum exclusiveMinimum
    exclusiveMaximum multipleOf nullable minLength maxLength minItems maxItems uniqueItems title
    description default examples example deprecated readOnly writeOnly $comment $schema $id $defs
    definitions discriminator""".split()  # noqa: SIM905
)
"""Keywords that are checked, or that reject no value."""


class Breach(NamedTuple):
    """A value that violates a schema.

    `path` is its JSON path; with `missing`, the path of the object that lacks this argument.
    """

    path: str
    explanation: str
    missing: str = ""


def breaches(value: object, schema: Mapping[str, object]) -> list[Breach]:
    """Return where `value` violates `schema`, in order; empty if it is valid.

    Examples
    --------
    >>> schema = {"properties": {"n": {"type": "integer"}}, "required": ["n", "day"]}
    >>> [(breach.path, breach.missing) for breach in breaches({"n": "2"}, schema)]
    [('$', 'day'), ('$.n', '')]
    """
    return list(_breaches(value, schema, "$", root=schema))


def resolved(schema: object, root: Mapping[str, object]) -> Mapping[str, object]:
    """Return `schema`, or the part of `root` that it refers to; empty if it is not an object."""
    for _ in range(_MOST):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return schema
        schema = root
        for key in reference.removeprefix("#").strip("/").split("/"):
            schema = schema.get(key) if key and isinstance(schema, Mapping) else schema
    return {}


def _breaches(
    value: object, schema: object, path: str, *, root: Mapping[str, object], depth: int = 0
) -> Iterator[Breach]:
    if schema is False:
        yield Breach(path, "The schema allows no such argument.")
    rules = resolved(schema, root)
    if not rules or depth > _MOST or (value is None and rules.get("nullable") is True):
        return
    own = [*_own(value, rules, path)]
    yield from own
    if any(breach.path == path and not breach.missing for breach in own):
        return
    within = partial(_breaches, root=root, depth=depth + 1)
    yield from _inner(value, rules, path, within=within)
    for part in _listed(rules, "allOf"):
        yield from within(value, part, path)
    for key in ("anyOf", "oneOf"):
        parts = _listed(rules, key)
        options = [[*within(value, part, path)] for part in parts]
        fits = [
            not option and _is_read(part, root) for part, option in zip(parts, options, strict=True)
        ]
        if options and all(options):
            yield min(options, key=len)[0]
        elif key == "oneOf" and sum(fits) > 1:
            yield Breach(path, "The value fits several of the options of which it must fit one.")
    excluded = rules.get("not")
    if "not" in rules and _is_read(excluded, root) and not [*within(value, excluded, path)]:
        yield Breach(path, "The schema excludes this value.")


def _is_read(schema: object, root: Mapping[str, object], *, depth: int = 0) -> bool:
    """Return whether a schema has no keyword by which a value is rejected unnoticed."""
    if isinstance(schema, bool):
        return True
    rules = resolved(schema, root)
    parts = [rules[key] for key in _BELOW if key in rules]
    parts += [part for key in _LISTED for part in _listed(rules, key)]
    properties = rules.get("properties")
    parts += properties.values() if isinstance(properties, Mapping) else ()
    pattern, form = rules.get("pattern"), rules.get("format")
    return (
        bool(rules or schema == {})
        and depth <= _MOST
        and rules.keys() <= _READ
        and (form is None or form in _FORMATS)
        and (pattern is None or _is_applied(str(pattern)))
        and all(_is_read(part, root, depth=depth + 1) for part in parts)
    )


def _inner(
    value: object,
    rules: Mapping[str, object],
    path: str,
    *,
    within: Callable[[object, object, str], Iterator[Breach]],
) -> Iterator[Breach]:
    """Yield what is wrong in the contents of a value; `within` reads a part of it."""
    if isinstance(value, Mapping):
        properties = rules.get("properties")
        declared = properties if isinstance(properties, Mapping) else {}
        is_matched = "patternProperties" in rules  # these are not read
        others = True if is_matched else rules.get("additionalProperties", True)
        for key, held in value.items():
            inner = f"{path}.{key}" if str(key).isidentifier() else f"{path}[{json.dumps(key)}]"
            if key in declared:
                yield from within(held, declared[key], inner)
            elif others is False:
                choices = ", ".join(map(str, declared)) or "none"
                yield Breach(inner, f"The tool has no argument {key!r}; it takes {choices}.")
            else:
                yield from within(held, others, inner)
    elif isinstance(value, list):
        first = len(_listed(rules, "prefixItems"))
        for number, held in enumerate(value[first:], first):
            yield from within(held, rules.get("items", True), f"{path}[{number}]")


def _own(value: object, rules: Mapping[str, object], path: str) -> Iterator[Breach]:
    """Yield what is wrong with a value itself, apart from its contents."""
    types = rules.get("type")
    names = [types] if isinstance(types, str) else types if isinstance(types, list) else []
    if names and all(name in _TYPES and not _TYPES[name](value) for name in names):
        expected = " or ".join(names)
        yield Breach(path, f"The schema requires {_article(expected)} here, not {_kind(value)}.")
        return
    options = rules.get("enum")
    if isinstance(options, list) and not any(_is_same(value, option) for option in options):
        yield Breach(path, f"The value must be one of {', '.join(map(str, options))}.")
    if "const" in rules and not _is_same(value, rules["const"]):
        yield Breach(path, f"The value must be {rules['const']!r}.")
    if isinstance(value, str):
        yield from _text(value, rules, path)
    elif _is_number(value):
        yield from _bounds(float(str(value)), rules, path)
    elif isinstance(value, Mapping):
        required = rules.get("required")
        for name in required if isinstance(required, list) else ():
            if name not in value:
                explanation = f"The required argument {name!r} is missing."
                yield Breach(path, explanation, missing=str(name))
    elif isinstance(value, list):
        yield from _items(value, rules, path)


def _items(value: Sequence[object], rules: Mapping[str, object], path: str) -> Iterator[Breach]:
    yield from _sizes(len(value), rules, path, keys=("minItems", "maxItems"), of="items")
    if rules.get("uniqueItems") is True:
        written = {json.dumps(item, sort_keys=True) for item in value}
        if len(written) < len(value):
            yield Breach(path, "The schema requires items that differ from each other.")


def _is_same(value: object, other: object) -> bool:
    """Return whether two values of JSON are equal; true is not 1."""
    return value == other and isinstance(value, bool) is isinstance(other, bool)


def _text(value: str, rules: Mapping[str, object], path: str) -> Iterator[Breach]:
    yield from _sizes(len(value), rules, path, keys=("minLength", "maxLength"), of="characters")
    pattern = rules.get("pattern")
    if isinstance(pattern, str) and not _matches(pattern, value):
        yield Breach(path, f"The value does not match the pattern {pattern!r} of the schema.")
    read = _FORMATS.get(str(rules.get("format")))
    if read is not None:
        try:
            read(value)
        except ValueError:
            yield Breach(path, f"The value is not a {rules['format']} as the schema requires.")


def _bounds(value: float, rules: Mapping[str, object], path: str) -> Iterator[Breach]:
    comparisons: tuple[tuple[str, Callable[[float], bool], str], ...] = (
        ("minimum", lambda bound: value >= bound, "at least"),
        ("maximum", lambda bound: value <= bound, "at most"),
        ("exclusiveMinimum", lambda bound: value > bound, "more than"),
        ("exclusiveMaximum", lambda bound: value < bound, "less than"),
    )
    for key, holds, words in comparisons:
        bound = rules.get(key)
        if _is_number(bound) and not holds(float(str(bound))):
            yield Breach(path, f"The value must be {words} {bound}.")
    step = rules.get("multipleOf")
    if _is_number(step) and (size := float(str(step))) > 0:
        ratio = value / size
        if isfinite(ratio) and not isclose(ratio, round(ratio), rel_tol=1e-9, abs_tol=1e-9):
            yield Breach(path, f"The value must be a multiple of {step}.")


def _sizes(
    size: int, rules: Mapping[str, object], path: str, *, keys: tuple[str, str], of: str
) -> Iterator[Breach]:
    least, most = (rules.get(key) for key in keys)
    if isinstance(least, int) and size < least:
        yield Breach(path, f"The schema requires at least {least} {of}, got {size}.")
    if isinstance(most, int) and size > most:
        yield Breach(path, f"The schema allows at most {most} {of}, got {size}.")


def _matches(pattern: str, value: str) -> bool:
    is_applied = len(value) <= _LONGEST and _is_applied(pattern)
    return not is_applied or re.search(pattern, value) is not None


def _is_applied(pattern: str) -> bool:
    # A schema is untrusted data: a pattern that could take forever is not applied.
    if _NESTED.search(pattern):
        return False
    try:
        re.compile(pattern)
    except re.error:  # a pattern of another dialect
        return False
    return True


def _listed(rules: Mapping[str, object], key: str) -> Sequence[object]:
    parts = rules.get(key)
    return parts if isinstance(parts, list) else ()


def _kind(value: object) -> str:
    return next((_article(name) for name, fits in _TYPES.items() if fits(value)), "this")


def _article(name: str) -> str:
    return name if name == "null" else f"{'an' if name[0] in 'aio' else 'a'} {name}"
