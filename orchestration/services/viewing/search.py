"""Search: the rows in whose texts, quotes or explanations something is written."""

from itertools import compress

from spanjury.orchestration.services.viewing.columns import NOTHING
from spanjury.orchestration.services.viewing.reading import Pairing, RunReading
from spanjury.orchestration.services.viewing.texts import TextStore


def rows_holding(pairing: Pairing, text: str, *, count: int, is_blind: bool = False) -> list[int]:
    """Return the numbers of the rows that hold a text, whatever its case, in order.

    Parameters
    ----------
    count
        The rows that are there.
    is_blind
        Search ids and outputs only, not what judges said.
    """
    needle = text.casefold().encode("utf-8", "replace")
    by_store: dict[int, bytearray] = {}  # store -> its texts that hold it
    held = [_rows_of_run(run, needle, is_blind=is_blind, by_store=by_store) for run in pairing.runs]
    if len(held) == 1:
        return list(compress(range(count), held[0]))
    of_both = list(zip(held, pairing.rows, strict=True))
    return [
        number
        for number in range(count)
        if any(rows[number] != NOTHING and of_run[rows[number]] for of_run, rows in of_both)
    ]


def _rows_of_run(
    run: RunReading, needle: bytes, *, is_blind: bool, by_store: dict[int, bytearray]
) -> bytearray:
    """Mark the rows of a run that hold `needle`."""
    if run.store is None:
        held = bytearray(len(run.texts))
    else:
        if id(run.store) not in by_store:
            by_store[id(run.store)] = _texts(run.store, needle)
        texts = bytearray(by_store[id(run.store)])
        for text in run.changed.copy():
            texts[text] = 0
        held = bytearray(map(texts.__getitem__, run.texts[:]))
    if not is_blind:
        for row in run.reasons.holding(needle):
            if row < len(held):
                held[row] = 1
    return held


def _texts(store: TextStore, needle: bytes) -> bytearray:
    """Mark the texts that hold `needle`; the last place is that of no text, which -1 names."""
    marks = bytearray(len(store) + 1)
    for text in store.holding(needle):
        if text < len(marks) - 1:
            marks[text] = 1
    return marks
