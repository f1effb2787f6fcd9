"""Findings of a meta-evaluation: from scores, from error spans, and between people."""

from dataclasses import dataclass

from spanjury.judges.core import VERSION
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.studies.agreement.rankings import Ranking, rankings
from spanjury.orchestration.studies.agreement.ratings import Ratings
from spanjury.orchestration.studies.agreement.scorers import Agreement, Settings, agreements
from spanjury.orchestration.studies.agreement.seats import SeatFindings, seat_findings
from spanjury.orchestration.studies.agreement.spans.annotators import PairFinding
from spanjury.orchestration.studies.agreement.spans.aspect import AspectSpans


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectFindings:
    """Findings from scores on one aspect.

    Parameters
    ----------
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
    """Measure how scorers agree on one aspect, with people and with one another."""
    scorers = agreements(ratings, settings)
    return AspectFindings(
        aspect=ratings.aspect,
        agreements=scorers,
        seats=tuple(seat_findings(ratings, settings)),
        rankings=tuple(rankings(ratings, scorers, settings)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaFindings:
    """Findings on how judges and metrics agree with people.

    Parameters
    ----------
    data, results
        Where the ratings and the scores are from, as the reader knows the files.
    aspects
        From scores, aspect by aspect.
    spans
        From error spans, aspect by aspect; empty where judges marked none.
    annotators
        People with people; empty where no text was read by two with names.
    notes
        What a reader must know of the texts.
    """

    settings: Settings
    data: str
    results: tuple[str, ...]
    aspects: tuple[AspectFindings, ...]
    spans: tuple[AspectSpans, ...]
    annotators: tuple[PairFinding, ...]
    notes: tuple[str, ...] = ()

    @property
    def agreements(self) -> tuple[Agreement, ...]:
        """Each scorer with people, of all aspects."""
        return tuple(agreement for each in self.aspects for agreement in each.agreements)


def meta_json(findings: MetaFindings) -> dict[str, object]:
    """Return the findings for a machine; None for what is undefined."""
    parts = {
        "seats": tuple(seat for each in findings.aspects for seat in each.seats),
        "systems": tuple(ranking for each in findings.aspects for ranking in each.rankings),
        "spans": findings.spans,
        "annotators": findings.annotators,
    }
    return {
        "spanjury": VERSION,
        "data": findings.data,
        "results": list(findings.results),
        "settings": plain(findings.settings),
        "agreements": plain(findings.agreements, digits=None),
        **{name: plain(part) for name, part in parts.items()},
        "notes": list(findings.notes),
    }
