"""Extract the JSON object from a reply, ignoring words or a fence around it."""

import json
import re
from collections.abc import Callable, Mapping, Sequence

_OBJECT = re.compile(r"[^{]*(\{.*\})[^}]*", re.DOTALL)
_COMMA_AT_END = re.compile(r'("(?:[^"\\]++|\\.)*+\\?"?)|,(?=\s*+[}\]])', re.DOTALL)
"""A string, which is kept, or a comma after the last item, which many models write."""


Pairs = Callable[[Sequence[tuple[str, object]]], Mapping[str, object]]
"""Makes an object of its names and values; raises `ValueError` if they are none."""


def object_in(reply: str, *, pairs: Pairs = dict) -> Mapping[str, object] | None:
    r"""Return the only JSON object in `reply`, or None if there is none or more than one.

    `pairs` makes the objects. A comma after the last item of a list or an object is ignored.

    Examples
    --------
    >>> object_in('Here it is:\n```json\n{"score": 4}\n```')
    {'score': 4}
    """
    match = _OBJECT.fullmatch(reply)
    if match is None:
        return None
    value = _loaded(match[1], pairs)
    if value is None and (repaired := _COMMA_AT_END.sub(r"\1", match[1])) != match[1]:
        value = _loaded(repaired, pairs)
    return value if isinstance(value, Mapping) else None


def _loaded(text: str, pairs: Pairs) -> object:
    try:
        return json.loads(text, strict=False, object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return None
