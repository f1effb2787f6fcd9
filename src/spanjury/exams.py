"""Exams of judges and panels from Python: `exams.discernment(...)` returns findings with tables.

Every function has an awaitable twin whose name begins with ``a``. An exam's code is imported when
the exam is first used.
"""

from importlib import import_module

_ENGINE = "spanjury.orchestration.engine"
_EXAMS = "spanjury.orchestration.services.exams"
_STUDIES = {
    "calibrate": "calibration",
    "compare": "comparisons",
    "compare_exams": "comparisons",
    "discernment": "discernment",
    "faithfulness": "faithfulness",
    "meta": "agreement",
    "pairs": "pairs",
    "panel_cascade": "panels",
    "panel_study": "panels",
    "perturb": "perturb",
    "preference": "preference",
    "rank": "ranking",
    "repair": "repair",
    "robustness": "robustness",
    "span_bench": "span_bench",
}
"""Function -> the module that defines it and its awaitable twin."""
_MODULES = {
    "DEMO": "spanjury.orchestration.services.judging.exam_texts",
    "FailurePolicy": f"{_ENGINE}.stopping",
    "Limits": f"{_ENGINE}.metering",
    "Live": f"{_EXAMS}.study",
    "Measure": "spanjury.orchestration.studies.card",
    "PanelStudy": f"{_EXAMS}.study",
    "Parameter": f"{_EXAMS}.flag",
    "PerturbedTexts": f"{_EXAMS}.perturb",
    "Plan": f"{_EXAMS}.study",
    "Range": "spanjury.orchestration.studies.card",
    "Report": "spanjury.orchestration.report",
    "Section": "spanjury.orchestration.report",
    "StopToken": f"{_ENGINE}.stopping",
    "StudyReport": f"{_EXAMS}.study_report",
    "exam_report": f"{_EXAMS}.study_report",
    "scope_of": f"{_EXAMS}.study",
    "table": "spanjury.orchestration.report",
    **{name: f"{_EXAMS}.{module}" for name, module in _STUDIES.items()},
    **{f"a{name}": f"{_EXAMS}.{module}" for name, module in _STUDIES.items()},
}

__all__ = sorted(_MODULES)  # noqa: PLE0605  its keys are texts


def __getattr__(name: str) -> object:
    """Import an exam, ours or a plugin's, when it is first used (PEP 562)."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    for function in import_module(f"{_EXAMS}.study").functions_of_plugins(name):
        return function
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
