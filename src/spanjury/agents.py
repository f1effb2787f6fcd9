"""Reviews, tools, an output validator and a repair loop for agents.

The tools and the validator are for agents of pydantic-ai and need asyncio, as pydantic-ai does.
"""

from spanjury.orchestration.agents import (
    Attempt,
    Ended,
    JuryNode,
    OnFailure,
    Repair,
    RepairRound,
    Review,
    Supervised,
    arepair,
    areview,
    asupervise,
    jury_node,
    jury_toolset,
    jury_validator,
    repair,
    review,
)

__all__ = [
    "Attempt",
    "Ended",
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
    "jury_toolset",
    "jury_validator",
    "repair",
    "review",
]
