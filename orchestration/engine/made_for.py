"""The panel and the aspect that the numbers of a calibration or a cascade are made for.

Numbers that were fitted to one panel say nothing of another, so both files hold the digest of
theirs, and its seats, and a refusal can say in which they differ.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from spanjury.judges.core import fingerprint, unstamped

_OTHER_PARTS = re.compile(r"\|(?:decision|calibration|rubric):[^|]*")
"""Parts of a panel's signature that change no score of its seats."""
_STAGES = "|cascade:"


class Signed(Protocol):
    """Whatever has a signature as `Panel` does."""

    @property
    def signature(self) -> str:
        """All that can change a number."""


def aspect_key(task: str, aspect: str) -> str:
    """Return the name of an aspect of a task in a file of fitted numbers."""
    return f"{task}/{aspect}"


def panel_digest(panel: Signed | str) -> str:
    """Return the digest of what a calibration is made for, from a panel or its signature.

    It is of seats, aggregation, consolidator and cascade, with its budget: a panel that asks fewer
    seats scores otherwise.
    """
    whole = panel if isinstance(panel, str) else panel.signature
    return fingerprint(_OTHER_PARTS.sub("", unstamped(whole)))


def is_staged(signature: str) -> bool:
    """Say whether the panel of a signature asks its seats in stages."""
    return _STAGES in signature


def seats_digest(signatures: Mapping[str, str], *, aggregation: str) -> str:
    """Return the digest of what a cascade is fitted to.

    Parameters
    ----------
    signatures
        Signatures of the panel's seats by name, without the version of spanjury.
    aggregation
        Its name.
    """
    return fingerprint(*signed_seats(signatures), aggregation)


def signed_seats(signatures: Mapping[str, str]) -> tuple[str, ...]:
    """Return seats as a file names them, ``name=signature``, by name."""
    return tuple(sorted(f"{name}={unstamped(signature)}" for name, signature in signatures.items()))


def seat_differences(theirs: Iterable[str], own: Iterable[str]) -> str:
    """Say in which seats another panel differs from this one; empty where in none.

    Examples
    --------
    >>> seat_differences(["a=j|order:3", "b=k"], ["a=j|order:4", "c=k"])
    'this panel lacks the seat b; this panel also has c; a had order:3 then and has order:4 now'
    """
    before, now = (dict(seat.split("=", 1) for seat in seats) for seats in (theirs, own))
    gone, new = sorted(before.keys() - now.keys()), sorted(now.keys() - before.keys())
    parts = [f"this panel lacks the seat {', '.join(gone)}"] if gone else []
    parts += [f"this panel also has {', '.join(new)}"] if new else []
    parts += [
        _changes(name, before[name], now[name])
        for name in sorted(before.keys() & now.keys())
        if before[name] != now[name]
    ]
    return "; ".join(parts)


def _changes(name: str, before: str, now: str) -> str:
    """Say which parts of a seat's signature have changed."""
    then, today = before.split("|"), now.split("|")
    old = " ".join(_without(then, today)) or "less"
    return f"{name} had {old} then and has {' '.join(_without(today, then)) or 'less'} now"


def _without(parts: Iterable[str], others: Iterable[str]) -> Iterator[str]:
    taken = set(others)
    return (part for part in parts if part not in taken)
