"""All that a meta-evaluation finds of one aspect from scores."""

from dataclasses import dataclass

from spanjury.orchestration.studies.agreement.findings import Agreement, Settings, found
from spanjury.orchestration.studies.agreement.rankings import Ranking, rankings
from spanjury.orchestration.studies.agreement.ratings import Ratings
from spanjury.orchestration.studies.agreement.seat_findings import SeatFindings, seat_findings

__all__ = ["AspectFindings", "aspect_findings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectFindings:
    """What scores came to on one aspect.

    Parameters
    ----------
    aspect
        Which one.
    agreements
        Each scorer with people, the nearest first.
    seats
        Run by run; empty where no panel had several seats.
    rankings
        Of the systems, by people and by the nearest scorer; empty for a single system.
    """

    aspect: str
    agreements: tuple[Agreement, ...]
    seats: tuple[SeatFindings, ...]
    rankings: tuple[Ranking, ...]


def aspect_findings(ratings: Ratings, settings: Settings) -> AspectFindings:
    """Measure what scorers are worth on one aspect, with people's scores and with one another."""
    agreements = found(ratings, settings)
    return AspectFindings(
        aspect=ratings.aspect,
        agreements=agreements,
        seats=tuple(seat_findings(ratings, settings)),
        rankings=tuple(rankings(ratings, agreements, settings)),
    )
