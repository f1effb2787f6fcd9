"""Estimates and the names of seats as the tables of a study show them."""

from collections import Counter
from collections.abc import Mapping, Sequence

from spanjury.orchestration.report import Cell
from spanjury.orchestration.studies.panel_study.agreement import Estimate

VALUE = "~.3f"
GAIN = "~+.3f"
_DIGITS = 9


def estimate_cell(estimate: Estimate, spec: str = VALUE) -> Cell:
    """Return an estimate with its interval."""
    # Rounding errors would be shown as a negative nothing.
    value, low, high = (round(number, _DIGITS) + 0.0 for number in estimate)
    return Cell(value, spec, interval=(low, high))


def short_names(seats: Sequence[str]) -> Mapping[str, str]:
    """Return what each seat is called in tables: its model's own name, if that is one seat's only.

    Examples
    --------
    >>> short_names(["reader", "annotator:ollama/gemma2:27b"])
    {'reader': 'reader', 'annotator:ollama/gemma2:27b': 'gemma2:27b'}
    """
    short = {seat: seat.rpartition("/")[2] for seat in seats}
    seen = Counter([*short.values(), *(seat for seat in seats if short[seat] != seat)])
    return {seat: name if name and seen[name] == 1 else seat for seat, name in short.items()}
