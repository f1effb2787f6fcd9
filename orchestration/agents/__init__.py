"""Tools, an output validator, a judged stream and a repair loop for agents of pydantic-ai.

They need asyncio, as pydantic-ai does.
"""

from spanjury.orchestration.agents.repairing import arepair, repair
from spanjury.orchestration.agents.streaming import jury_stream
from spanjury.orchestration.agents.toolset import jury_toolset
from spanjury.orchestration.agents.validator import jury_validator
from spanjury.orchestration.services.judging.repair import Repair, RepairRound

__all__ = [
    "Repair",
    "RepairRound",
    "arepair",
    "jury_stream",
    "jury_toolset",
    "jury_validator",
    "repair",
]
