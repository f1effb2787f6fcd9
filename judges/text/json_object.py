"""Extract the JSON object from a reply, ignoring words or a fence around it."""

import json
import re
from collections.abc import Mapping

_OBJECT = re.compile(r"[^{]*(\{.*\})[^}]*", re.DOTALL)


def object_in(reply: str) -> Mapping[str, object] | None:
    r"""Return the only JSON object in `reply`, or None if there is none or more than one.

    Examples
    --------
    >>> object_in('Here it is:\n```json\n{"score": 4}\n```')
    {'score': 4}
    """
    match = _OBJECT.fullmatch(reply)
    if match is None:
        return None
    try:
        value = json.loads(match[1], strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Mapping) else None
