"""The search agent: its tools, the report that it returns, and the checks of the report.

pydantic-ai takes as long to import as all the rest of a command, so only a search imports this
module.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, Field
from pydantic_ai import (
    Agent,
    FunctionToolset,
    ModelRetry,
    PromptedOutput,
    RunContext,
    Tool,
    ToolOutput,
    UsageLimits,
)
from pydantic_ai.messages import TextPart, ToolCallPart

from spanjury.judges.agent.conversation import Conversation, converse
from spanjury.judges.agent.passages import Passage, best_passages
from spanjury.judges.agent.prompts import read
from spanjury.judges.core import MAX_SEVERITY, MIN_SEVERITY, ChatModel, Decoding, Scale
from spanjury.judges.text import AnswerMark, fence


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Texts and rules that one assessment is checked against.

    Parameters
    ----------
    scale
        The scale whose labels a report may have.
    mark
        The mark that a report must repeat.
    """

    passages: tuple[Passage, ...]
    hits: int
    scale: Scale
    mark: AnswerMark


async def search_source(context: RunContext[Evidence], query: str) -> str:
    """Find the passages most relevant to `query`."""
    passages = best_passages(context.deps.passages, query, limit=context.deps.hits)
    return _fenced(passages) if passages else read("nothing-found")


async def read_passage(context: RunContext[Evidence], number: int) -> str:
    """Return one passage; raise `ModelRetry` if there is none with that number."""
    passages = context.deps.passages
    if not 1 <= number <= len(passages):
        raise ModelRetry(f"number: must be 1 to {len(passages)}, got {number}")
    return _fenced(passages[number - 1 : number])


def _fenced(passages: Sequence[Passage]) -> str:
    return fence({f"{it.header}, passage {it.number}": it.text for it in passages}).text


_Line = Annotated[str, Field(json_schema_extra={"maxLength": 400})]
"""A text whose length only servers that enforce a schema limit: this stops endless repetition."""


class Finding(BaseModel):  # noqa: D101  pydantic-ai would send a docstring to the model
    quote: _Line
    explanation: _Line
    severity: Annotated[int, Field(ge=MIN_SEVERITY, le=MAX_SEVERITY)]


class Review(BaseModel):  # noqa: D101  as above
    errors: Annotated[list[Finding], Field(json_schema_extra={"maxItems": 32})]
    rationale: _Line
    label: str
    mark: str = ""


class SearchAgent:
    """An agent with its tools; it can run many conversations concurrently.

    A report that fails a check is sent back up to `retries` times, as is a call with bad arguments.
    """

    def __init__(self, output: Literal["prompted", "tool"], *, retries: int) -> None:
        self._tools: FunctionToolset[Evidence] = FunctionToolset(
            [
                Tool(tool, description=read(tool.__name__), max_retries=retries)
                for tool in (search_source, read_passage)
            ]
        )
        handed_in = (
            PromptedOutput(Review, template=False)  # the prompt states the form
            if output == "prompted"
            else ToolOutput(Review, name="hand_in", description=read("hand_in"))
        )
        self._agent = Agent(
            output_type=handed_in,
            deps_type=Evidence,
            system_prompt=read("system"),
            retries=retries,
            name="searcher",
        )
        self._agent.output_validator(_checked)

    async def review(
        self,
        prompt: str,
        evidence: Evidence,
        *,
        model: ChatModel,
        decoding: Decoding,
        max_requests: int,
        max_lookups: int,
    ) -> Conversation[Review]:
        """Run a conversation in which `model` searches and reports; no tools without passages.

        Raises `ModelError` if the model gives no reply.
        """
        return await converse(
            self._agent,
            prompt,
            model=model,
            deps=evidence,
            limits=UsageLimits(request_limit=max_requests, tool_calls_limit=max_lookups),
            decoding=decoding,
            toolsets=[self._tools] if evidence.passages else [],
        )


async def _checked(context: RunContext[Evidence], review: Review) -> Review:
    """Return a valid report; raise `ModelRetry` for any other."""
    scale = context.deps.scale
    if key := next(filter(None, map(_doubled_key, _answers(context))), ""):
        raise ModelRetry(f"{key}: is given twice in one object")
    if scale.value(review.label) is None:
        raise ModelRetry(f"label: must be one of {', '.join(scale.labels)}")
    if problem := context.deps.mark.problem(review.mark):
        raise ModelRetry(problem)
    return review


def _answers(context: RunContext[Evidence]) -> Iterator[str]:
    """Yield the last answer as written, because a parser keeps only the last of two equal keys."""
    for part in context.messages[-1].parts:
        if isinstance(part, TextPart):
            yield part.content[part.content.find("{") : part.content.rfind("}") + 1]
        elif isinstance(part, ToolCallPart) and isinstance(part.args, str):
            yield part.args


def _doubled_key(answer: str) -> str:
    """Return a key that occurs twice in an object of `answer`; empty if there is none."""
    doubled: list[str] = []

    def note(pairs: list[tuple[str, object]]) -> None:
        times = Counter(key for key, _ in pairs)
        doubled.extend(key for key, count in times.items() if count > 1)

    with suppress(ValueError, RecursionError):  # an answer that is not JSON was refused before
        json.loads(answer, object_pairs_hook=note)
    return doubled[0] if doubled else ""
