"""Reports and result rows as they were written before there were decisions."""

import json

_LATER = frozenset(
    ("decision", "decision_basis", "error_probability", "evidence", "probability", "basis")
) | {"unverified"}


def as_written_earlier(line: str | bytes) -> str:
    """Return a line of JSON without the keys that came with decisions, however deep they lie."""
    return json.dumps(_without(json.loads(line)))


def _without(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without(item) for key, item in value.items() if key not in _LATER}
    return [_without(item) for item in value] if isinstance(value, list) else value
