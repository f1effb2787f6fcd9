"""The repair of a run's memory."""

from spanjury.adapters.runs.repair import Repaired, repair_memory

__all__ = ["Repaired", "repair_memory"]
