"""Judges for evaluation frameworks: a class or function for each, in the form it expects.

Using a name imports its framework, and no other; if that is not installed, a `ConfigError` names
the extra to install.
"""

from spanjury.judges.core.lazy import library

__all__ = [
    "SpanjuryEvaluator",
    "SpanjuryMetric",
    "SpanjuryRunEvaluator",
    "aassert_no_errors",
    "assert_no_errors",
    "spanjury_scorer",
]

_ADAPTERS = "spanjury.orchestration.frameworks"
_MODULES = {
    "SpanjuryEvaluator": ("pydantic_evals", "pydantic-evals"),
    "SpanjuryMetric": ("deepeval", "deepeval"),
    "SpanjuryRunEvaluator": ("langsmith", "langchain"),
    "aassert_no_errors": ("assertions", ""),
    "assert_no_errors": ("assertions", ""),
    "spanjury_scorer": ("inspect_ai", "inspect"),
}


def __getattr__(name: str) -> object:
    """Import an adapter when it is first used (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, extra = _MODULES[name]
    return getattr(library(f"{_ADAPTERS}.{module}", extra=extra), name)
