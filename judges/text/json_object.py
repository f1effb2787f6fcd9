"""Extract the JSON object from a reply, ignoring words or a fence around it."""

import json
import re
from collections.abc import Callable, Mapping, Sequence

_OBJECT = re.compile(r"[^{]*(\{.*\})[^}]*", re.DOTALL)


Pairs = Callable[[Sequence[tuple[str, object]]], Mapping[str, object]]
"""Makes an object of its names and values; raises `ValueError` if they are none."""


def object_in(reply: str, *, pairs: Pairs = dict) -> Mapping[str, object] | None:
    r"""Return the only JSON object in `reply`, or None if there is none or more than one.

    `pairs` makes the objects.

    Examples
    --------
    >>> object_in('Here it is:\n```json\n{"score": 4}\n```')
    {'score': 4}
    """
    match = _OBJECT.fullmatch(reply)
    if match is None:
        return None
    try:
        value = json.loads(match[1], strict=False, object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Mapping) else None
