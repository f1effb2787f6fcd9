"""The chance that a text had to be drawn for people to mark, and what it means for figures."""

from collections.abc import Mapping, Sequence

import numpy as np

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


def which_count(chances: Sequence[float | None]) -> list[bool]:
    """Say of each marked text whether its marks count, by the chances of all.

    Where any has a chance, those without one do not: no one knows for how many texts they stand.
    """
    is_sample = any(chance is not None for chance in chances)
    return [chance is not None or not is_sample for chance in chances]


def left_out_note(texts: int) -> str:
    """Say that marks without a chance are left out."""
    return (
        f"{texts} marked texts are left out: others have a chance with which they were drawn, and"
        " no one knows theirs"
    )


def unequal_chances_note(chances: Sequence[float | None]) -> str:
    """Say that agreement is of the drawn texts alone; empty where all had the same chance.

    It names Kish's effective number of texts [1]_: on how few a figure would rest that weighs
    texts by their chances.

    References
    ----------
    .. [1] Kish (1965), Survey Sampling, section 11.7
    """
    drawn = [chance for chance in chances if chance is not None]
    if len(set(drawn)) < 2:  # noqa: PLR2004  one chance is no difference
        return ""
    weights = 1 / np.array(drawn)
    effective = weights.sum() ** 2 / (weights**2).sum()
    return (
        f"{len(drawn)} texts were drawn for people with different chances, and each counts once in"
        " figures of agreement: these are of the sample, in which scores may vary more or less than"
        f" in all texts; weighed by the chances, they would rest on about {effective:.0f} texts"
    )
