"""Judges that are agents: a pydantic-ai model over any `ChatModel`, and a judge that searches.

They need asyncio, because pydantic-ai does.
"""
