"""A jury of judges that marks the error spans of generated text, says why, and scores it.

What a user imports. The words (`Segment`, `Aspect`, `ErrorSpan`, …) are here at once; what runs
a panel or a metric is loaded when it is first named, so that ``import spanjury`` stays light.
"""

from importlib import import_module

from spanjury.judges.core import (
    VERSION,
    Aspect,
    Decision,
    DecisionBasis,
    ErrorSpan,
    EvaluationError,
    Evidence,
    Judge,
    Located,
    Outcome,
    PanelReport,
    Report,
    Scale,
    Segment,
    Task,
)

__all__ = [
    "Aspect",
    "Decision",
    "DecisionBasis",
    "ErrorSpan",
    "EvaluationError",
    "Evidence",
    "FailurePolicy",
    "Judge",
    "Limits",
    "Located",
    "Outcome",
    "PanelReport",
    "Report",
    "Scale",
    "Segment",
    "Task",
    "TextReport",
    "TextReports",
    "__version__",
    "acheck",
    "aevaluate",
    "check",
    "evaluate",
    "find_aspect",
    "open_panel",
    "read_segments",
    "score_metric",
]

__version__ = VERSION

_ENGINE = "spanjury.orchestration.engine"
_SERVICES = "spanjury.orchestration.services"
_RUNNING = {
    "FailurePolicy": f"{_ENGINE}.stopping",
    "Limits": f"{_ENGINE}.metering",
    "TextReport": f"{_SERVICES}.text_report",
    "TextReports": f"{_SERVICES}.text_reports",
    "acheck": f"{_SERVICES}.check",
    "aevaluate": f"{_SERVICES}.evaluation",
    "check": f"{_SERVICES}.check",
    "evaluate": f"{_SERVICES}.evaluation",
    "find_aspect": f"{_SERVICES}.panels",
    "open_panel": f"{_SERVICES}.panels",
    "read_segments": f"{_SERVICES}.panels",
    "score_metric": f"{_SERVICES}.metrics",
}
_MODULES = frozenset({"agents", "exams", "frameworks"})


def __getattr__(name: str) -> object:
    """Load what runs a panel or a metric when it is first named (PEP 562)."""
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _RUNNING:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_RUNNING[name]), name)
