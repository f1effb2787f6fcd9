"""Exams of judges and panels from Python: `exams.discernment(...)` returns findings with tables.

Every function has an ``a…`` twin to await. What runs an exam is loaded when it is first named.
"""

from importlib import import_module

_ENGINE = "spanjury.orchestration.engine"
_EXAMS = "spanjury.orchestration.services.exams"
_MODULES = {
    "DEMO": "spanjury.orchestration.services.judging.exam_texts",
    "FailurePolicy": f"{_ENGINE}.stopping",
    "Limits": f"{_ENGINE}.metering",
    "Live": f"{_EXAMS}.study",
    "Measure": "spanjury.orchestration.studies.card",
    "PanelStudy": f"{_EXAMS}.study",
    "Parameter": f"{_EXAMS}.study",
    "PerturbedTexts": "spanjury.orchestration.services.exams.perturb",
    "Plan": f"{_EXAMS}.study",
    "Report": "spanjury.orchestration.report",
    "Section": "spanjury.orchestration.report",
    "StopToken": f"{_ENGINE}.stopping",
    "StudyReport": f"{_EXAMS}.study_report",
    "acalibrate": f"{_EXAMS}.calibration",
    "acompare": f"{_EXAMS}.comparisons",
    "acompare_exams": f"{_EXAMS}.comparisons",
    "adiscernment": f"{_EXAMS}.discernment",
    "afaithfulness": f"{_EXAMS}.faithfulness",
    "ameta": f"{_EXAMS}.agreement",
    "apairs": f"{_EXAMS}.pairs",
    "apanel_cascade": f"{_EXAMS}.panels",
    "apanel_study": f"{_EXAMS}.panels",
    "aperturb": "spanjury.orchestration.services.exams.perturb",
    "apreference": f"{_EXAMS}.preference",
    "arank": f"{_EXAMS}.ranking",
    "arepair": f"{_EXAMS}.repair",
    "arobustness": f"{_EXAMS}.robustness",
    "aspan_bench": f"{_EXAMS}.span_bench",
    "calibrate": f"{_EXAMS}.calibration",
    "compare": f"{_EXAMS}.comparisons",
    "compare_exams": f"{_EXAMS}.comparisons",
    "discernment": f"{_EXAMS}.discernment",
    "exam_report": f"{_EXAMS}.study_report",
    "faithfulness": f"{_EXAMS}.faithfulness",
    "meta": f"{_EXAMS}.agreement",
    "pairs": f"{_EXAMS}.pairs",
    "panel_cascade": f"{_EXAMS}.panels",
    "panel_study": f"{_EXAMS}.panels",
    "perturb": "spanjury.orchestration.services.exams.perturb",
    "preference": f"{_EXAMS}.preference",
    "rank": f"{_EXAMS}.ranking",
    "repair": f"{_EXAMS}.repair",
    "robustness": f"{_EXAMS}.robustness",
    "scope_of": f"{_EXAMS}.study",
    "span_bench": f"{_EXAMS}.span_bench",
    "table": "spanjury.orchestration.report",
}

__all__ = [*_MODULES]  # noqa: PLE0604  its keys are texts


def __getattr__(name: str) -> object:
    """Load an exam when it is first named, ours or a plugin's (PEP 562)."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    for function in import_module(f"{_EXAMS}.study").functions_of_plugins(name):
        return function
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
