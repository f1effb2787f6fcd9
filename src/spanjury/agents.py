"""Tools, an output validator, a judged stream and a repair loop for agents of pydantic-ai.

They need asyncio.
"""

from spanjury.orchestration.agents import (
    Repair,
    RepairRound,
    arepair,
    jury_stream,
    jury_toolset,
    jury_validator,
    repair,
)

__all__ = [
    "Repair",
    "RepairRound",
    "arepair",
    "jury_stream",
    "jury_toolset",
    "jury_validator",
    "repair",
]
