"""A view as the blocks of a file: the JSON that the server would send, compressed."""

import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from gzip import compress
from itertools import combinations

import msgspec

from spanjury.orchestration.services.viewing.view import View

ROWS_A_PART = 100
"""Number of rows with details in one block."""
_MOST_SYSTEMS = 6
"""Most systems that are compared with each other, since pairs grow quadratically."""
_COLUMNS, _COMPARISONS = "columns", "comparisons"

_JSON = msgspec.json.Encoder()


def page_blocks(view: View, *, numbers: Sequence[int]) -> dict[str, str]:
    """Return the blocks of a page by id: its head as JSON, all others compressed.

    Waits for all rows. The page contains the rows in `numbers`, in this order, renumbered from 0.
    """
    view.wait()
    columns = view.columns_of(numbers)
    starts = range(0, len(numbers), ROWS_A_PART)
    parts = {f"details-{part}": start for part, start in enumerate(starts)}
    blocks = {_COLUMNS: _packed({**columns, "from": 0, "done": True})}
    for name, start in parts.items():
        blocks[name] = _packed(_details(view, numbers[start : start + ROWS_A_PART], first=start))
    blocks[_COMPARISONS] = _packed([view.comparison(*pair) for pair in _compared(view)])
    head = {
        **view.head(),
        "rows": len(numbers),
        "has_replies": False,
        "marking": None,
        "notes": list(_notes(view, shown=len(numbers))),
        "file": {
            "columns": _COLUMNS,
            "details": list(parts),
            "rows_a_part": ROWS_A_PART,
            "comparisons": _COMPARISONS,
        },
    }
    return {"head": _JSON.encode(head).decode(), **blocks}


def _notes(view: View, *, shown: int) -> Iterator[str]:
    yield from view.notes()
    if shown < view.rows:
        yield (
            f"this page holds {shown} of {view.rows} {view.unit}; comparisons are of all of them"
        )


def _details(view: View, numbers: Sequence[int], *, first: int) -> dict[str, object]:
    details = view.details(numbers)
    rows = details["rows"]
    assert isinstance(rows, list)
    renumbered = [{**row, "number": number} for number, row in enumerate(rows, start=first)]
    return {**details, "rows": renumbered}


def _compared(view: View) -> Iterator[tuple[str, str]]:
    """Yield the pairs to compare: two runs, or the systems of one."""
    if len(view.runs) > 1:
        yield "run:0", "run:1"
        return
    names = [f"system:{name}" for name in view.systems()[:_MOST_SYSTEMS]]
    yield from combinations(names, 2)


def _packed(value: object) -> str:
    """Return `value` as a JSON string of base64 of gzip of JSON, deterministically."""
    return json.dumps(b64encode(compress(_JSON.encode(value), mtime=0)).decode())
