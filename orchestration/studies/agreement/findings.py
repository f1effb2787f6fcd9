"""All that a meta-evaluation finds of one aspect from scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from spanjury.judges.core import markdown
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.studies.agreement.rankings import Ranking, rankings
from spanjury.orchestration.studies.agreement.ratings import Ratings
from spanjury.orchestration.studies.agreement.scorers import Agreement, Settings, found
from spanjury.orchestration.studies.agreement.seat_findings import SeatFindings, seat_findings
from spanjury.orchestration.studies.agreement.spans.annotators import PairFinding
from spanjury.orchestration.studies.agreement.spans.aspect import AspectSpans
from spanjury.orchestration.studies.agreement.spans.tables import spans_markdown
from spanjury.orchestration.studies.agreement.tables import (
    as_json,
    as_markdown,
    seats_markdown,
    systems_markdown,
)

__all__ = ["AspectFindings", "MetaFindings", "aspect_findings", "meta_json", "meta_markdown"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaFindings:
    """What judges and metrics are worth beside people.

    Parameters
    ----------
    settings
        How it was measured.
    data, results
        Whose ratings, and whose scores, as the reader knows them.
    aspects
        From scores, aspect by aspect.
    spans
        From error spans, aspect by aspect; empty where judges marked none.
    annotators
        People with people; empty where no text was read by two with names.
    """

    settings: Settings
    data: str
    results: tuple[str, ...]
    aspects: tuple[AspectFindings, ...]
    spans: tuple[AspectSpans, ...]
    annotators: tuple[PairFinding, ...]

    @property
    def agreements(self) -> tuple[Agreement, ...]:
        """Each scorer with people, of all aspects."""
        return tuple(one for each in self.aspects for one in each.agreements)


def meta_markdown(findings: MetaFindings, *, pictures: Sequence[str] = ()) -> str:
    """Write the page; `pictures` are the names of files beside it."""
    settings = findings.settings
    parts = [
        as_markdown(findings.agreements, settings, data=findings.data, results=findings.results),
        seats_markdown(findings.aspects, settings),
        systems_markdown(findings.aspects),
        spans_markdown(findings.spans, findings.annotators),
        _pictures(pictures),
    ]
    return "\n".join(part for part in parts if part)


def meta_json(findings: MetaFindings) -> dict[str, object]:
    """Return the same for a machine; None for what is undefined."""
    told = as_json(
        findings.agreements, findings.settings, data=findings.data, results=findings.results
    )
    return {
        **told,
        "seats": plain(tuple(one for each in findings.aspects for one in each.seats)),
        "systems": plain(tuple(one for each in findings.aspects for one in each.rankings)),
        "spans": plain(findings.spans),
        "annotators": plain(findings.annotators),
    }


def _pictures(names: Sequence[str]) -> str:
    return "\n".join(
        ["# Pictures", "", *(f"![{markdown(name)}]({quote(name)})\n" for name in names)]
        if names
        else []
    )
