"""The chance that a text had to be drawn, as its row keeps it in ``meta.sampling``."""

from collections.abc import Mapping

from spanjury.judges.core import DataError, Segment

SAMPLING = "sampling"
"""Key of `meta`."""
INCLUSION = "inclusion"


def chance_of(segment: Segment) -> float | None:
    """Return the chance with which `segment` was drawn; None for a text of no sample.

    Raise `DataError` if it is no number above 0 and at most 1.
    """
    sampling = segment.meta.get(SAMPLING)
    if sampling is None:
        return None
    chance = sampling.get(INCLUSION) if isinstance(sampling, Mapping) else None
    if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 < chance <= 1:
        raise DataError(
            f"{segment.segment_id}: meta.{SAMPLING}.{INCLUSION} must be above 0 and at most 1,"
            f" got {chance!r}"
        )
    return float(chance)
