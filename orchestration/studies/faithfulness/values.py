"""A faithfulness exam's findings for programs: as plain values, and as measures for a card."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from spanjury.orchestration.report.json import fields_of, plain, versions
from spanjury.orchestration.studies.card import Measure
from spanjury.orchestration.studies.faithfulness.changes import Change
from spanjury.orchestration.studies.faithfulness.findings import Finding, Findings, cautions
from spanjury.orchestration.studies.faithfulness.outcomes import NetOfControl, Rates

_BASES: Mapping[str, tuple[str, ...]] = {
    "overall": ("toward", "against"),
    "with_errors": ("toward", "against"),
    "with_room": ("toward",),
    "with_room_against": ("against",),
}
"""Reports that shares are taken over, and the directions in which all of these can move."""

MEASURES = tuple(
    f"faithfulness.{name}"
    for name in ("toward", "against", "null_adjusted", "null_adjusted_against", "null_moved")
)
"""Names of the measures of an exam."""


def findings_json(findings: Findings) -> dict[str, object]:
    """Return `findings` as objects, lists, strings, numbers and nulls.

    Returns
    -------
    dict
        Named by field, numbers to 6 significant digits; what is undefined is None.
    """
    return {
        "exam": "faithfulness",
        "versions": versions(),
        "settings": {"seed": findings.seed, "draws": findings.draws},
        "findings": [_finding_json(finding) for finding in findings.findings],
        "consistency": [
            {
                **fields_of(consistency),
                "share_reverted": plain(consistency.share_reverted),
                "share_broad": plain(consistency.share_broad),
            }
            for consistency in findings.consistencies
        ],
        "rescoring_methods": plain(rescoring_methods(findings)),
        "outcomes": plain(rescoring_outcomes(findings)),
        "cautions": list(cautions(findings)),
    }


def _finding_json(finding: Finding) -> dict[str, object]:
    """Add the shares to the counts."""
    values = fields_of(finding)
    for base, directions in _BASES.items():
        rates: Rates = getattr(finding, base)
        shares = {"toward": finding.toward(rates), "against": finding.against(rates)}
        values[base] = plain(
            {
                **rates._asdict(),
                "changed": rates.changed,
                "changed_as_printed": rates.changed_as_printed,
                **{name: shares[name] for name in directions},
            }
        )
    return values


def rescoring_methods(findings: Findings) -> Mapping[str, Counter[str]]:
    """Count, judge by judge, by which method scores came about."""
    return _counted(findings, lambda change: change.method and change.method.value)


def rescoring_outcomes(findings: Findings) -> Mapping[str, Counter[str]]:
    """Count, judge by judge, how rescorings ended."""
    return _counted(findings, lambda change: change.outcome.value if change.is_rescored else None)


def _counted(
    findings: Findings, name: Callable[[Change], str | None]
) -> Mapping[str, Counter[str]]:
    """Count changes by name, judge by judge."""
    counts: dict[str, Counter[str]] = {}
    for score_array in findings.score_arrays:
        names = map(name, score_array.changes)
        counts.setdefault(score_array.judge, Counter()).update(filter(None, names))
    return counts


def measures_of(findings: Findings) -> tuple[Measure, ...]:
    """Return the measures of `findings`, each report and condition counting alike."""
    changed = [finding for finding in findings.findings if not finding.is_control]
    return (*_shares(changed), *_net_measures(changed), _noise(findings.findings))


def _shares(findings: Sequence[Finding]) -> Iterator[Measure]:
    """Yield shares of scores that moved, each over those with room to move that way."""
    falls = [finding for finding in findings if finding.direction == "falls"]
    rises = [finding for finding in findings if finding.direction == "rises"]
    toward = (
        *((fall.with_room, fall.with_room.fell) for fall in falls),
        *((rise.with_room, rise.with_room.rose) for rise in rises),
    )
    against = (
        *((fall.with_room_against, fall.with_room_against.rose) for fall in falls),
        *((rise.with_room_against, rise.with_room_against.fell) for rise in rises),
    )
    yield _share("toward", toward, says="with room that moved as the changed list says")
    yield _share("against", against, says="with room to move the other way that did")


def _share(name: str, moved: Sequence[tuple[Rates, int]], *, says: str) -> Measure:
    count = sum(rates.scored for rates, _ in moved)
    return Measure(
        name=f"faithfulness.{name}",
        value=sum(number for _, number in moved) / count if count else None,
        says=f"share of scores {says}",
        count=count,
    )


def _net_measures(findings: Sequence[Finding]) -> Iterator[Measure]:
    nets = [finding.net for finding in findings if finding.net is not None and finding.net.used]
    figures: tuple[tuple[str, Callable[[NetOfControl], float], str], ...] = (
        ("null_adjusted", lambda net: net.toward.value, "moved as the changed list says"),
        ("null_adjusted_against", lambda net: net.against.value, "moved the other way"),
    )
    count = sum(net.used for net in nets)
    for name, figure, says in figures:
        total = sum(figure(net) * net.used for net in nets)
        yield Measure(
            name=f"faithfulness.{name}",
            value=total / count if count and math.isfinite(total) else None,
            says=f"share of scores that {says}, less that under the unchanged list",
            count=count,
        )


def _noise(findings: Sequence[Finding]) -> Measure:
    controls = [
        finding.overall for finding in findings if finding.is_control and finding.overall.scored
    ]
    count = sum(rates.scored for rates in controls)
    return Measure(
        name="faithfulness.null_moved",
        value=sum(rates.changed * rates.scored for rates in controls) / count if count else None,
        says="share of scores that are others although the list is the same",
        count=count,
    )
