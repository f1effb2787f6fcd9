"""An exam's findings as plain values, for programs."""

from spanjury.orchestration.report.json import fields_of, plain, versions
from spanjury.orchestration.studies.discernment.findings import Finding, Findings
from spanjury.orchestration.studies.discernment.verdicts import cautions, verdict
from spanjury.orchestration.studies.judging import Examinee
from spanjury.stats.combination.discernment import LevelBalanced

__all__ = ["findings_json"]


def findings_json(findings: Findings, *, examinee: Examinee) -> dict[str, object]:
    """Return `findings` as objects, lists, strings, numbers and nulls.

    Parameters
    ----------
    findings
        What an exam came to.
    examinee
        Who was examined.

    Returns
    -------
    dict
        Named by field, numbers to 6 significant digits. Beside each D of one aspect stands the
        natural logarithm of its p-value (``test.log_p``). What is undefined or infinite is
        None.
    """
    return {
        "versions": versions(),
        "judge": plain(examinee),
        "settings": plain(findings.settings),
        "segments": findings.segments,
        "repeats": findings.repeats,
        "overall": _balanced(findings.overall),
        "weighted": _balanced(findings.weighted),
        "control": plain(findings.control),
        "findings": [_finding(finding) for finding in findings.findings],
        "cautions": list(cautions(findings)),
    }


def _finding(finding: Finding) -> dict[str, object]:
    """Add what is worked out of the fields."""
    found = finding.localisation
    rates = {name: getattr(found, name) for name in ("hit_rate", "chance", "precision", "recall")}
    told = fields_of(finding)
    told["verdict"] = verdict(finding).value
    told["localisation"] = plain({**found._asdict(), **rates})
    return told


def _balanced(balanced: LevelBalanced) -> object:
    return plain({**balanced._asdict(), "by_level": dict(balanced.by_level)})
