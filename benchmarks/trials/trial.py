"""A trial: an attack or a fault to which the program is exposed, and how often it did harm."""

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
    """The result of one attack or fault.

    Parameters
    ----------
    harm
        The kind of harm that it could do.
    name
        The attack or fault, in a few words.
    tries
        Number of tries, 1 or more.
    harmed
        Number of tries that did harm, 0 to `tries`.
    note
        An additional figure, such as the time it took; empty if there is none.
    """

    harm: Harm
    name: str
    tries: int
    harmed: int
    note: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.harmed <= self.tries or not self.tries:
            raise ValueError(f"harmed {self.harmed!r} of {self.tries!r} tries")
