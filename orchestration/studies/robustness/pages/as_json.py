"""A robustness exam's findings as plain values, for programs."""

from spanjury.orchestration.report.json import plain, versions
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.robustness.cautions import cautions
from spanjury.orchestration.studies.robustness.findings import Findings

__all__ = ["findings_json"]


def findings_json(findings: Findings, *, examinee: Examinee) -> dict[str, object]:
    """Return `findings` as objects, lists, strings, numbers and nulls, named by field."""
    return {
        "versions": versions(),
        "judge": plain(examinee),
        "settings": plain(findings.settings),
        "texts": findings.texts,
        "damaged": plain(findings.damaged),
        "findings": plain(findings.findings),
        "left_out": [
            {"attack": attack, "reason": reason, "texts": count}
            for (attack, reason), count in findings.skipped.items()
        ],
        "outcomes": plain(findings.outcomes),
        "cautions": list(cautions(findings)),
    }
