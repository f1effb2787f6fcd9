"""The tools that the searcher's agent looks things up with."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic_ai import FunctionToolset, ModelRetry, RunContext, Tool

from spanjury.judges.agent.passages import Passage, best_passages
from spanjury.judges.agent.prompts import read
from spanjury.judges.core import Scale
from spanjury.judges.text import AnswerMark, fence

__all__ = ["Evidence", "lookup_tools"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What one assessment is held to.

    Parameters
    ----------
    passages
        All that the tools show.
    hits
        The most passages that one search returns.
    scale
        The labels that a report may have.
    mark
        The mark that a report must repeat.
    """

    passages: tuple[Passage, ...]
    hits: int
    scale: Scale
    mark: AnswerMark


def lookup_tools(*, retries: int) -> FunctionToolset[Evidence]:
    """Return the tools; a call with bad arguments may be corrected `retries` times."""
    tools = (search_source, read_passage)
    return FunctionToolset(
        [Tool(tool, description=read(tool.__name__), max_retries=retries) for tool in tools]
    )


async def search_source(context: RunContext[Evidence], query: str) -> str:
    """Find the passages that have most to do with `query`."""
    found = best_passages(context.deps.passages, query, limit=context.deps.hits)
    return _fenced(found) if found else read("nothing-found")


async def read_passage(context: RunContext[Evidence], number: int) -> str:
    """Read one passage; `ModelRetry` if there is none of that number."""
    passages = context.deps.passages
    if not 1 <= number <= len(passages):
        raise ModelRetry(f"number: must be 1 to {len(passages)}, got {number}")
    return _fenced(passages[number - 1 : number])


def _fenced(passages: Sequence[Passage]) -> str:
    return fence({f"{it.header}, passage {it.number}": it.text for it in passages}).text
