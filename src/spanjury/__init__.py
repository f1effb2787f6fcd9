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
    "Judge",
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

_SERVICES = "spanjury.orchestration.services"
_RUNNING = {
    "TextReport": "text_report",
    "TextReports": "text_reports",
    "acheck": "check",
    "aevaluate": "evaluation",
    "check": "check",
    "evaluate": "evaluation",
    "find_aspect": "panels",
    "open_panel": "panels",
    "read_segments": "panels",
    "score_metric": "metrics",
}


def __getattr__(name: str) -> object:
    """Load what runs a panel or a metric when it is first named (PEP 562)."""
    if name not in _RUNNING:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{_SERVICES}.{_RUNNING[name]}"), name)
