"""The searcher: a judge for long sources, an agent that looks things up before it reports.

It never sees the source whole: it is given the judged text and two tools, one that finds
passages and one that reads on. An aspect that looks at no input gets no tools. It promises
a report for every conversation that ends; what a model says that is not a report becomes an
outcome. It raises `ModelError` where the model gives no reply, and needs asyncio.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
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

from spanjury.judges.agent.conversation import Conversation, converse
from spanjury.judges.agent.passages import Passage, best_passages, split_passages
from spanjury.judges.agent.prompts import prompt_fingerprint, read, task_prompt
from spanjury.judges.core import (
    MAX_SEVERITY,
    MIN_SEVERITY,
    Aspect,
    ChatModel,
    Decoding,
    Report,
    Scale,
    Segment,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.keys import canonical, digest
from spanjury.judges.text import AnswerMark, Locator, fence, named_plainly


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Texts and rules that one assessment is checked against.

    Parameters
    ----------
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


class _Finding(BaseModel):
    quote: str
    explanation: str
    severity: Annotated[int, Field(ge=MIN_SEVERITY, le=MAX_SEVERITY)]


class _Review(BaseModel):
    errors: list[_Finding]
    rationale: str
    label: str
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Searcher:
    """Have a model mark errors and score, looking things up in the inputs.

    Parameters
    ----------
    model
        The model that is asked. It must be able to call tools, unless it judges only
        aspects that look at no input.
    output
        How the report is handed in: as JSON in the reply ("prompted", the default) or by a
        call of an output tool ("tool"). More models manage the first: a `ChatRequest`
        cannot force a call, and a model that can call the simple search tools may still
        fail at the nested arguments of a report.
    max_lookups, max_requests
        The most tool calls, and the most replies, that one assessment may take.
    retries
        How often a report that fails its checks is sent back.
    temperature, seed, max_tokens
        How each reply is drawn.
    """

    model: ChatModel
    output: Literal["prompted", "tool"] = "prompted"
    max_errors: int = 8
    hits: int = 4
    max_lookups: int = 12
    max_requests: int = 16
    retries: int = 2
    temperature: float = 0.0
    seed: int | None = None
    max_tokens: int = 2048
    _agent: Agent[Evidence, _Review] = field(init=False, repr=False, compare=False)
    _tools: FunctionToolset[Evidence] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        limits = (self.max_errors, self.hits, self.max_lookups, self.max_requests)
        if min(limits) < 1 or self.retries < 0:
            raise ValueError(f"limits must be positive and retries not negative: {limits!r}")
        self._decoding()  # a bad option is refused now, not at the first segment
        # A frozen dataclass is set up through the back door, once.
        object.__setattr__(self, "_agent", _agent(self.output, retries=self.retries))
        object.__setattr__(self, "_tools", lookup_tools(retries=self.retries))

    @property
    def signature(self) -> str:
        """Model, prompts, decoding, limits and code."""
        return signature(
            "searcher",
            model=self.model.signature,
            prompt=prompt_fingerprint(),
            output=self.output,
            max_errors=self.max_errors,
            hits=self.hits,
            max_lookups=self.max_lookups,
            max_requests=self.max_requests,
            retries=self.retries,
            temperature=self.temperature,
            seed=self.seed,
            max_tokens=self.max_tokens,
            code=code_digest(__name__),
        )

    def report_key(self, segment: Segment, aspect: Aspect) -> str:
        """Return a digest of the first prompt, and of what its replies are checked against."""
        asked = self._prompt(segment, aspect, ())  # to cut long sources twice would take long
        sources = chain.from_iterable(aspect.view(segment.inputs).items())
        return digest(asked, canonical(aspect), segment.output, *sources)

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the model's report; raise `ModelError` if it gives no reply."""
        passages = split_passages(named_plainly(aspect.view(segment.inputs)))
        mark = _mark(segment, aspect)
        talk = await converse(
            self._agent,
            self._prompt(segment, aspect, passages),
            model=self.model,
            deps=Evidence(passages=passages, hits=self.hits, scale=aspect.scale, mark=mark),
            limits=UsageLimits(request_limit=self.max_requests, tool_calls_limit=self.max_lookups),
            decoding=self._decoding(),
            toolsets=[self._tools] if passages else [],
        )
        return _report(talk, segment, aspect)

    def _prompt(self, segment: Segment, aspect: Aspect, passages: tuple[Passage, ...]) -> str:
        return task_prompt(
            segment,
            aspect,
            passages=passages,
            form=f"form-{self.output}",
            max_errors=self.max_errors,
            max_lookups=self.max_lookups,
            mark=_mark(segment, aspect).mark,
        )

    def _decoding(self) -> Decoding:
        return Decoding(temperature=self.temperature, seed=self.seed, max_tokens=self.max_tokens)


def _mark(segment: Segment, aspect: Aspect) -> AnswerMark:
    """Return the mark that the answer must repeat, which no judged text can know."""
    texts = named_plainly(aspect.view(segment.inputs)).values()
    return AnswerMark.of([*texts, segment.output], key="label")


def _agent(output: Literal["prompted", "tool"], *, retries: int) -> Agent[Evidence, _Review]:
    handed_in = (
        PromptedOutput(_Review, template=False)  # the form stands in the prompt
        if output == "prompted"
        else ToolOutput(_Review, name="hand_in", description=read("hand_in"))
    )
    agent = Agent(
        output_type=handed_in,
        deps_type=Evidence,
        system_prompt=read("system"),
        retries=retries,
        name="searcher",
    )

    @agent.output_validator
    async def check(context: RunContext[Evidence], review: _Review) -> _Review:
        scale = context.deps.scale
        if scale.value(review.label) is None:
            raise ModelRetry(f"label: must be one of {', '.join(scale.labels)}")
        if problem := context.deps.mark.problem(review.mark):
            raise ModelRetry(problem)
        return review

    return agent


def _report(talk: Conversation[_Review], segment: Segment, aspect: Aspect) -> Report:
    review = talk.output
    if review is None:
        return Report(outcome=talk.outcome, reason=talk.reason, reply=talk.reply, usage=talk.usage)
    locator = Locator(segment.output)
    spans = (
        locator.span(quote=found.quote, explanation=found.explanation, severity=found.severity)
        for found in review.errors
    )
    return Report(
        score=aspect.scale.value(review.label),
        spans=tuple(spans),
        rationale=review.rationale,
        reply=talk.reply,
        usage=talk.usage,
    )
