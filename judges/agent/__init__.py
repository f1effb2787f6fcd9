"""Judges that are agents: one model over any `ChatModel`, and a judge that searches.

They need asyncio, as pydantic-ai does.
"""

from spanjury.judges.agent.conversation import Conversation, converse
from spanjury.judges.agent.model import AgentModel
from spanjury.judges.agent.searcher import Searcher

__all__ = ["AgentModel", "Conversation", "Searcher", "converse"]
