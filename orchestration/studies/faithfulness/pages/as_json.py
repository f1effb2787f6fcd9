"""A faithfulness exam's findings as plain values, for programs."""

from collections.abc import Mapping, Sequence

from spanjury.orchestration.report.json import fields_of, plain, versions
from spanjury.orchestration.studies.faithfulness.cautions import cautions
from spanjury.orchestration.studies.faithfulness.consistency import Consistency
from spanjury.orchestration.studies.faithfulness.findings import Finding, Findings
from spanjury.orchestration.studies.faithfulness.outcomes import Rates
from spanjury.orchestration.studies.faithfulness.pages.rescoring_methods import methods, outcomes

__all__ = ["findings_json"]

_BASES: Mapping[str, tuple[str, ...]] = {
    "overall": ("toward", "against"),
    "with_errors": ("toward", "against"),
    "with_room": ("toward",),
    "with_room_against": ("against",),
}
"""Reports that shares are taken over, and the directions in which all of these can move."""


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
        "findings": [_finding(finding) for finding in findings.findings],
        "consistency": [_consistency(told) for told in findings.consistencies],
        "roads": plain(methods(findings.score_arrays)),
        "outcomes": plain(outcomes(findings.score_arrays)),
        "cautions": list(cautions(findings)),
    }


def _finding(finding: Finding) -> dict[str, object]:
    """Add the shares to the counts."""
    told = fields_of(finding)
    for base, directions in _BASES.items():
        told[base] = _rates(finding, getattr(finding, base), directions=directions)
    return told


def _rates(finding: Finding, told: Rates, *, directions: Sequence[str]) -> object:
    shares = {"toward": finding.toward(told), "against": finding.against(told)}
    return plain(
        {
            **told._asdict(),
            "changed": told.changed,
            "changed_as_printed": told.changed_as_printed,
            **{name: shares[name] for name in directions},
        }
    )


def _consistency(told: Consistency) -> dict[str, object]:
    shares = {"share_reverted": told.share_reverted, "share_broad": told.share_broad}
    return {**fields_of(told), **{name: plain(share) for name, share in shares.items()}}
