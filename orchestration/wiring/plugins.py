"""The groups of plugins, in which everything that can be named is found by its name."""

from collections.abc import Callable

from spanjury.judges.core import Aggregation, ModelOpener, Source
from spanjury.judges.core.registry import Registry

__all__ = [
    "AGGREGATIONS",
    "ATTACKS",
    "CONSOLIDATORS",
    "EXPLANATION_PERTURBATIONS",
    "GROUPS",
    "JUDGES",
    "METRICS",
    "METRIC_CARDS",
    "MODELS",
    "PERTURBATIONS",
    "SOURCES",
    "STATISTICS",
]

JUDGES: Registry[Callable[..., object]] = Registry("spanjury.judges")
MODELS: Registry[ModelOpener] = Registry("spanjury.models")
AGGREGATIONS: Registry[Aggregation] = Registry("spanjury.aggregations")
CONSOLIDATORS: Registry[Callable[..., object]] = Registry("spanjury.consolidators")
PERTURBATIONS: Registry[object] = Registry("spanjury.perturbations")
ATTACKS: Registry[object] = Registry("spanjury.attacks")
EXPLANATION_PERTURBATIONS: Registry[object] = Registry("spanjury.explanation_perturbations")
METRICS: Registry[Callable[..., object]] = Registry("spanjury.metrics")
METRIC_CARDS: Registry[object] = Registry("spanjury.metric_cards")
SOURCES: Registry[Source] = Registry("spanjury.sources")
STATISTICS: Registry[Callable[..., object]] = Registry("spanjury.statistics")
GROUPS = (
    JUDGES,
    MODELS,
    AGGREGATIONS,
    CONSOLIDATORS,
    PERTURBATIONS,
    ATTACKS,
    EXPLANATION_PERTURBATIONS,
    METRICS,
    METRIC_CARDS,
    SOURCES,
    STATISTICS,
)
