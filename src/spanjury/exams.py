"""Exams of judges and panels from Python: `exams.discernment(...)` returns findings with tables.

Every function has an ``a…`` twin to await. What runs an exam is loaded when it is first named.
"""

from importlib import import_module

_ENGINE = "spanjury.orchestration.engine"
_EXAMS = "spanjury.orchestration.services.exams"
_MODULES = {
    "DEMO": "spanjury.orchestration.services.discernment",
    "FailurePolicy": f"{_ENGINE}.stopping",
    "Limits": f"{_ENGINE}.metering",
    "PerturbedTexts": "spanjury.orchestration.services.perturb",
    "StopToken": f"{_ENGINE}.stopping",
    "StudyReport": f"{_EXAMS}.study_report",
    "acalibrate": f"{_EXAMS}.calibration",
    "acompare": f"{_EXAMS}.comparisons",
    "acompare_exams": f"{_EXAMS}.comparisons",
    "adiscernment": f"{_EXAMS}.discernment",
    "afaithfulness": f"{_EXAMS}.faithfulness",
    "ameta": f"{_EXAMS}.agreement",
    "apanel_cascade": f"{_EXAMS}.panels",
    "apanel_study": f"{_EXAMS}.panels",
    "aperturb": f"{_EXAMS}.perturbing",
    "arank": f"{_EXAMS}.ranking",
    "arepair": f"{_EXAMS}.repair",
    "arobustness": f"{_EXAMS}.robustness",
    "aspan_bench": f"{_EXAMS}.span_bench",
    "calibrate": f"{_EXAMS}.calibration",
    "compare": f"{_EXAMS}.comparisons",
    "compare_exams": f"{_EXAMS}.comparisons",
    "discernment": f"{_EXAMS}.discernment",
    "faithfulness": f"{_EXAMS}.faithfulness",
    "meta": f"{_EXAMS}.agreement",
    "panel_cascade": f"{_EXAMS}.panels",
    "panel_study": f"{_EXAMS}.panels",
    "perturb": f"{_EXAMS}.perturbing",
    "rank": f"{_EXAMS}.ranking",
    "repair": f"{_EXAMS}.repair",
    "robustness": f"{_EXAMS}.robustness",
    "span_bench": f"{_EXAMS}.span_bench",
}

__all__ = [
    "DEMO",
    "FailurePolicy",
    "Limits",
    "PerturbedTexts",
    "StopToken",
    "StudyReport",
    "acalibrate",
    "acompare",
    "acompare_exams",
    "adiscernment",
    "afaithfulness",
    "ameta",
    "apanel_cascade",
    "apanel_study",
    "aperturb",
    "arank",
    "arepair",
    "arobustness",
    "aspan_bench",
    "calibrate",
    "compare",
    "compare_exams",
    "discernment",
    "faithfulness",
    "meta",
    "panel_cascade",
    "panel_study",
    "perturb",
    "rank",
    "repair",
    "robustness",
    "span_bench",
]


def __getattr__(name: str) -> object:
    """Load an exam when it is first named (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
