"""Words of seats on texts, as a study of a panel takes them."""

import math

from spanjury.orchestration.studies.panel_study.seats import SeatWord


def word(score: float | None) -> SeatWord:
    """Return what a seat says with a score of 1 to 5; one without a score has failed."""
    if score is None:
        return SeatWord(math.nan, math.nan, math.nan, has_failed=True)
    return SeatWord(score, (score - 1) / 4, (score - 1) / 4, has_failed=False)
