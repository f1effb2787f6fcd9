"""Repairing a run's memory and marks."""

from spanjury.adapters.runs.repair import Repaired, repair

__all__ = ["Repaired", "repair"]
