"""Search: the rows in whose texts, quotes or explanations something is written."""

from spanjury.orchestration.services.view.columns import NOTHING
from spanjury.orchestration.services.view.reading import Pairing, RunReading
from spanjury.orchestration.services.view.texts import TextStore


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
    hit = bytearray(count)
    known: dict[int, set[int]] = {}  # store -> its texts that hold it
    for run, rows in zip(pairing.runs, pairing.rows, strict=True):
        held = _rows_of_run(run, needle, is_blind=is_blind, known=known)
        for number in range(count):
            row = rows[number]
            if row != NOTHING and held[row]:
                hit[number] = 1
    return [number for number in range(count) if hit[number]]


def _rows_of_run(
    run: RunReading, needle: bytes, *, is_blind: bool, known: dict[int, set[int]]
) -> bytearray:
    """Mark the rows of a run; `known` is store -> what was found in it before."""
    held = bytearray(len(run.texts))
    if run.store is not None:
        if id(run.store) not in known:
            known[id(run.store)] = _texts(run.store, needle)
        if found := known[id(run.store)] - run.changed:
            for row, text in enumerate(run.texts[: len(held)]):
                if text in found:
                    held[row] = 1
    if not is_blind:
        for row in run.said.holding(needle):
            if row < len(held):
                held[row] = 1
    return held


def _texts(store: TextStore, needle: bytes) -> set[int]:
    return set(store.holding(needle))
