"""Tools, an output validator and a repair loop for agents of pydantic-ai; they need asyncio."""

from spanjury.orchestration.agents import (
    Repair,
    RepairRound,
    arepair,
    jury_toolset,
    jury_validator,
    repair,
)

__all__ = ["Repair", "RepairRound", "arepair", "jury_toolset", "jury_validator", "repair"]
