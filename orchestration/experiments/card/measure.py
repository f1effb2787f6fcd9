"""Measures: what an exam comes to, in single numbers that can be asked for by name."""

from dataclasses import dataclass

__all__ = ["Measure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One number that an exam came to.

    Parameters
    ----------
    name
        What it is asked for by: the topic, a full stop and the figure, as ``retest.moved``.
    value
        None where it is not defined, as the hits of a judge that marks nothing.
    says
        What it is, in one sentence, with its range or unit.
    count
        Of how many texts, places or treatments it is made.
    low, high
        Ends of its 95 % interval; None where there is none.
    """

    name: str
    value: float | None
    says: str
    count: int
    low: float | None = None
    high: float | None = None
