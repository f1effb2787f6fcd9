"""Reviews, tools, an output validator, a judged stream and a repair loop for agents.

Those for pydantic-ai need asyncio, as pydantic-ai does.
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
    jury_stream,
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
    "jury_stream",
    "jury_toolset",
    "jury_validator",
    "repair",
    "review",
]
