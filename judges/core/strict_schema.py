"""JSON Schemas in the strict form that servers require for constrained replies."""

from collections.abc import Mapping

_LIMITS = frozenset(
    {
        *("exclusiveMaximum", "exclusiveMinimum", "maxItems", "maxLength", "maximum"),
        *("minItems", "minLength", "minimum", "multipleOf", "pattern", "uniqueItems"),
    }
)
"""Keywords that some providers refuse."""


def strict_schema(schema: Mapping[str, object], *, bounded: bool) -> dict[str, object]:
    """Return `schema` with objects that require all of their fields and allow no others.

    Parameters
    ----------
    bounded
        Whether to keep limits of lengths and numbers.

    Examples
    --------
    >>> number = {"type": "integer", "minimum": 1, "default": 3}
    >>> strict_schema({"type": "object", "properties": {"n": number}}, bounded=False)["properties"]
    {'n': {'type': 'integer'}}
    """
    kept = {
        name: _strict(part, bounded=bounded)
        for name, part in schema.items()
        if name != "default" and (bounded or name not in _LIMITS)
    }
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        named = {name: _strict(part, bounded=bounded) for name, part in properties.items()}
        kept |= {"properties": named, "required": [*named], "additionalProperties": False}
    return kept


def _strict(part: object, *, bounded: bool) -> object:
    if isinstance(part, Mapping):
        return strict_schema(part, bounded=bounded)
    if isinstance(part, list):
        return [_strict(item, bounded=bounded) for item in part]
    return part
