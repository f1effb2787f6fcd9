"""Who is examined: a panel, seat by seat, by the signatures that say all of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from spanjury.judges.core import PanelReport

__all__ = ["Examinee"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Examinee:
    """Who sat on a panel.

    Parameters
    ----------
    signature
        Of the panel: everything that can change a number.
    seats
        Name -> signature of the judge there, with its model and decoding.
    """

    signature: str
    seats: Mapping[str, str]

    @classmethod
    def of(cls, report: PanelReport) -> "Examinee":
        """Return who made `report`."""
        seats = {seat.seat: seat.signature for seat in report.seats}
        return cls(signature=report.signature, seats=seats)

    @property
    def name(self) -> str:
        """The names of its seats."""
        return ", ".join(self.seats)
