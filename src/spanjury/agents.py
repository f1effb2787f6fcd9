"""For agents: reviews, tools, a capability, an output validator, a judged stream and a repair loop.

The parts for pydantic-ai need asyncio, as pydantic-ai does.
"""

from spanjury.orchestration.agents.capability import JuryCapability
from spanjury.orchestration.agents.graphs import JuryNode, OnFailure, jury_node
from spanjury.orchestration.agents.repairing import arepair, repair
from spanjury.orchestration.agents.reviewing import Review, areview, review
from spanjury.orchestration.agents.streaming import JudgedRun, jury_stream
from spanjury.orchestration.agents.supervising import Attempt, Ended, Supervised, asupervise
from spanjury.orchestration.agents.toolset import jury_toolset
from spanjury.orchestration.agents.validator import jury_validator
from spanjury.orchestration.services.judging.repair import Repair, RepairRound

__all__ = [
    "Attempt",
    "Ended",
    "JudgedRun",
    "JuryCapability",
    "JuryNode",
    "OnFailure",
    "Repair",
    "RepairRound",
    "Review",
    "Supervised",
    "arepair",
    "areview",
    "asupervise",
    "jury_node",
    "jury_stream",
    "jury_toolset",
    "jury_validator",
    "repair",
    "review",
]
