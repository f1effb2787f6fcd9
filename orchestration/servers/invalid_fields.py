"""The fields of a request that pydantic rejects, in words, without their values."""

from collections.abc import Iterable, Mapping
from typing import Any

BODY = "body"
_NO_OBJECT = frozenset({"dict_type", "model_attributes_type", "model_type"})
"""Pydantic's types of errors about a value that is no JSON object."""
_TYPES = frozenset({"str", "Document"})
"""Parts of pydantic's places that name a type of a field, as do those with a bracket."""
_PREFIX = "Value error, "
"""Prefix of pydantic's messages."""


def invalid_fields(problems: Iterable[Mapping[str, Any]], *, unknown: str) -> list[tuple[str, str]]:
    """Return each field at fault, such as ``inputs.Context.2``, with what is expected of it.

    `problems` are the errors of a `ValidationError`; `unknown` says that a field does not exist.
    """
    named = ((_path(each["loc"]), _detail(each, unknown=unknown)) for each in problems)
    return list(dict.fromkeys(named))


def _path(parts: tuple[int | str, ...]) -> str:
    """Return the path of a field, without body or query and the types that it could have."""
    own = parts[1:] if parts[:1] in {(BODY,), ("query",)} else parts
    names = [str(part) for part in own if part not in _TYPES]
    return ".".join(name for name in names if "[" not in name) or BODY


def _detail(problem: Mapping[str, Any], *, unknown: str) -> str:
    if problem["type"] == "extra_forbidden":
        return unknown
    is_empty_body = problem["type"] == "missing" and problem["loc"] == (BODY,)
    if is_empty_body or problem["type"] in _NO_OBJECT:
        return "expected a JSON object"
    return str(problem["msg"]).removeprefix(_PREFIX)
