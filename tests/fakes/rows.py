"""Rows of files of texts."""

from typing import Any


def summary(
    name: str, output: str, *, article: str | None = None, **fields: object
) -> dict[str, Any]:
    """Return the row of a summary, of `article` unless that is None."""
    inputs = {} if article is None else {"inputs": {"Article": article}}
    return {"id": name, "task": "summarization", **inputs, "output": output, **fields}
