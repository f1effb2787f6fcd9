"""A trial: an attack or a fault that is put to the program, and how often it does harm."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Harm", "Trial"]


class Harm(StrEnum):
    """The kind of harm that a trial looks for."""

    LOST = "lost"
    BURNT = "burnt"
    LEAKED = "leaked"
    FORGED = "forged"
    CROWDED = "crowded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The outcome of one attack or fault.

    Parameters
    ----------
    harm
        The kind of harm that it would do.
    name
        The attack or fault, in a few words.
    tries
        How often it was tried, 1 or more.
    harmed
        How often it did harm, 0 to `tries`.
    note
        A figure that goes with it, as the seconds that it took; empty for none.
    """

    harm: Harm
    name: str
    tries: int
    harmed: int
    note: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.harmed <= self.tries or not self.tries:
            raise ValueError(f"harmed {self.harmed!r} of {self.tries!r} tries")
