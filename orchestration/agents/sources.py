"""The source of what an agent writes, and the question that it answers: fixed, or of each run."""

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import TypeVar

from pydantic_ai import RunContext

from spanjury.orchestration.services.judging.check import Source

D = TypeVar("D")

SourceOf = Source | Callable[[RunContext[D]], Source | Awaitable[Source | None] | None] | None
"""A text, texts by header, or a function of the run's context that returns them."""
QuestionOf = str | Callable[[RunContext[D]], str | Awaitable[str | None] | None] | None
"""A question, or a function of the run's context that returns it."""


async def source_in(context: RunContext[D], source: SourceOf[D]) -> Source | None:
    """Return the source in this run."""
    if not callable(source):
        return source
    text = source(context)
    return await text if isawaitable(text) else text


async def question_in(context: RunContext[D], question: QuestionOf[D]) -> str | None:
    """Return the question in this run."""
    if not callable(question):
        return question
    text = question(context)
    return await text if isawaitable(text) else text
