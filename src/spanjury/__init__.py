"""A jury of judges that marks the error spans of generated text, explains them, and scores it.

This is the public interface. Each name is loaded when it is first used: ``import spanjury`` costs
almost nothing, and neither does our pytest plugin in a run that does not use it.
"""

from importlib import import_module

__all__ = [
    "Aspect",
    "Decision",
    "DecisionBasis",
    "ErrorSpan",
    "EvaluationError",
    "Evidence",
    "FailurePolicy",
    "Judge",
    "JudgeError",
    "JudgedSentence",
    "Limits",
    "Located",
    "ModelConfig",
    "OpenedPanel",
    "Outcome",
    "PanelConfig",
    "PanelReport",
    "Report",
    "Scale",
    "SeatConfig",
    "Segment",
    "StreamEnd",
    "StreamEvent",
    "Task",
    "TextPiece",
    "TextReport",
    "TextReports",
    "TokenPrice",
    "Unverified",
    "__version__",
    "acheck",
    "aevaluate",
    "astream",
    "check",
    "evaluate",
    "find_aspect",
    "open_panel",
    "read_segments",
    "score_metric",
    "stream",
]

_ENGINE = "spanjury.orchestration.engine"
_JUDGING = "spanjury.orchestration.services.judging"
_CONFIG = "spanjury.orchestration.wiring.config"
_RUNNING = {
    "FailurePolicy": f"{_ENGINE}.stopping",
    "JudgedSentence": f"{_JUDGING}.stream",
    "Limits": f"{_ENGINE}.metering",
    "ModelConfig": _CONFIG,
    "OpenedPanel": f"{_JUDGING}.panels",
    "PanelConfig": _CONFIG,
    "SeatConfig": _CONFIG,
    "StreamEnd": f"{_JUDGING}.stream",
    "StreamEvent": f"{_JUDGING}.stream",
    "TextPiece": f"{_JUDGING}.stream",
    "TextReport": f"{_JUDGING}.text_report",
    "TextReports": f"{_JUDGING}.evaluation",
    "acheck": f"{_JUDGING}.check",
    "aevaluate": f"{_JUDGING}.evaluation",
    "astream": f"{_JUDGING}.stream",
    "check": f"{_JUDGING}.check",
    "evaluate": f"{_JUDGING}.evaluation",
    "find_aspect": f"{_JUDGING}.panels",
    "open_panel": f"{_JUDGING}.panels",
    "read_segments": f"{_JUDGING}.panels",
    "score_metric": f"{_JUDGING}.metrics",
    "stream": f"{_JUDGING}.stream",
}
_MODULES = frozenset({"agents", "exams", "frameworks", "testing"})


def __getattr__(name: str) -> object:
    """Import a name when it is first used (PEP 562)."""
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(_RUNNING.get(name, "spanjury.judges.core"))
    value: object = getattr(home, "VERSION" if name == "__version__" else name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List every public name, loaded or not, for completion."""
    return sorted({*globals(), *__all__, *_MODULES})
