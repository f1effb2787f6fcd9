"""Pictures: modules that load matplotlib when something is drawn, and their inputs."""

from spanjury.adapters.lazy import require
from spanjury.adapters.plots import discernment, faithfulness, meta
from spanjury.adapters.plots.meta_inputs import (
    Agreement,
    CorrelationMap,
    EnsembleCurve,
    ScorerCost,
    SystemScore,
)

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
