"""An exam's findings as plain values, for programs."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

import numpy as np
import scipy

from spanjury.judges.core import VERSION
from spanjury.orchestration.experiments.discernment.cautions import cautions
from spanjury.orchestration.experiments.discernment.examinee import Examinee
from spanjury.orchestration.experiments.discernment.findings import Finding, Findings
from spanjury.orchestration.experiments.discernment.readings import verdict
from spanjury.stats.discernment import LevelBalanced

__all__ = ["fields_of", "findings_json", "plain", "versions"]

_DIGITS = 6
"""Significant digits: more than any number of texts supports."""


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


def versions() -> dict[str, str]:
    """Return the versions of what the numbers were made with."""
    return {"spanjury": VERSION, "numpy": np.__version__, "scipy": scipy.__version__}


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


def fields_of(value: object) -> dict[str, object]:
    """Return a dataclass as an object of JSON."""
    assert is_dataclass(value)
    return {field.name: plain(getattr(value, field.name)) for field in fields(value)}


def plain(value: object) -> object:
    """Return a dataclass, a named tuple or what holds them as JSON can write it."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    if is_dataclass(value):
        return fields_of(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return value
