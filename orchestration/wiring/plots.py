"""Pictures: modules that load matplotlib when something is drawn, and their inputs."""

from spanjury.adapters.plots import discernment, faithfulness, meta
from spanjury.adapters.plots.meta_inputs import (
    Agreement,
    CorrelationMap,
    EnsembleCurve,
    ScorerCost,
    SystemScore,
)
from spanjury.judges.core.lazy import require

__all__ = [
    "Agreement",
    "CorrelationMap",
    "EnsembleCurve",
    "ScorerCost",
    "SystemScore",
    "discernment",
    "faithfulness",
    "meta",
    "require",
]
