"""Judges that are agents: one model over any `ChatModel`, and a judge that searches.

They need asyncio, as pydantic-ai does.
"""
