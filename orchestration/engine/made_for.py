"""The panel and the aspect that a calibration or a cascade was fitted to.

Numbers that were fitted to one panel do not apply to another. So both files store the panel's
digest and its seats, and an error message can say in which seats two panels differ.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from spanjury.judges.core import fingerprint, unstamped

_OTHER_PARTS = re.compile(r"\|(?:decision|calibration|rubric):[^|]*")
"""Parts of a panel's signature that do not change the scores of its seats."""
_STAGES = "|cascade:"


class Signed(Protocol):
    """An object with a signature, such as a `Panel`."""

    @property
    def signature(self) -> str:
        """Everything that can change a number."""


def aspect_key(task: str, aspect: str) -> str:
    """Return the key of a task's aspect in a file of fitted numbers."""
    return f"{task}/{aspect}"


def panel_digest(panel: Signed | str) -> str:
    """Return the digest that ties a calibration to a panel, given the panel or its signature.

    It covers seats, aggregation, consolidator and cascade with its budget, since a panel that asks
    fewer seats has different scores.
    """
    whole = panel if isinstance(panel, str) else panel.signature
    return fingerprint(_OTHER_PARTS.sub("", unstamped(whole)))


def is_staged(signature: str) -> bool:
    """Return whether the panel of a signature asks its seats in stages."""
    return _STAGES in signature


def seats_digest(signatures: Mapping[str, str], *, aggregation: str) -> str:
    """Return the digest that ties a cascade to the seats and aggregation that it was fitted to.

    Parameters
    ----------
    signatures
        Signatures of the panel's seats by name, without the version of spanjury.
    aggregation
        The name of the aggregation.
    """
    return fingerprint(*signed_seats(signatures), aggregation)


def signed_seats(signatures: Mapping[str, str]) -> tuple[str, ...]:
    """Return seats as stored in files, ``name=signature``, sorted by name."""
    return tuple(sorted(f"{name}={unstamped(signature)}" for name, signature in signatures.items()))


def seat_differences(theirs: Iterable[str], own: Iterable[str]) -> str:
    """Return a description of how another panel's seats differ from this one's; empty if equal.

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
    """Return a description of the parts of a seat's signature that have changed."""
    then, today = before.split("|"), now.split("|")
    old = " ".join(_without(then, today)) or "less"
    return f"{name} had {old} then and has {' '.join(_without(today, then)) or 'less'} now"


def _without(parts: Iterable[str], others: Iterable[str]) -> Iterator[str]:
    taken = set(others)
    return (part for part in parts if part not in taken)
