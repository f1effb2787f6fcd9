"""A jury of judges that marks the error spans of generated text, says why, and scores it.

What a user imports. Each name is loaded when it is first named: ``import spanjury`` costs nothing,
and neither does our plugin in a run of pytest that does not use it.
"""

from importlib import import_module

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
    """Load a name when it is first used (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = f"{_SERVICES}.{_RUNNING[name]}" if name in _RUNNING else "spanjury.judges.core"
    value: object = getattr(import_module(home), "VERSION" if name == "__version__" else name)
    globals()[name] = value
    return value
