"""The searcher: a judge for long sources, an agent that looks passages up before it reports.

It never sees the whole source. It gets the judged text and two tools, one that finds passages and
one that reads on. There are no tools for an aspect that reads no input. Every conversation that
ends gives a report; a reply that is not a report becomes an outcome. It raises `ModelError` if the
model gives no reply, and needs asyncio.
"""

from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

from spanjury.judges.agent.passages import Passage, split_passages
from spanjury.judges.agent.prompts import prompt_fingerprint, task_prompt
from spanjury.judges.core import Aspect, ChatModel, Decoding, Report, Segment, signature
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.keys import canonical, digest
from spanjury.judges.core.lazy import lazily
from spanjury.judges.core.transcript import searched_first
from spanjury.judges.text import AnswerMark, Locator, named_plainly

with lazily():
    from spanjury.judges.agent import conversation, search_agent

_AGENT = "spanjury.judges.agent.search_agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Searcher:
    """Have a model mark errors and score, looking things up in the inputs.

    Parameters
    ----------
    model
        The model. It must support tool calls, unless it judges only aspects that read no
        input.
    output
        How the report is returned: as JSON in the reply ("prompted", the default) or by a
        call of an output tool ("tool"). More models manage the first: a `ChatRequest`
        cannot force a call, and a model that can call the simple search tools may still
        fail at the nested arguments of a report.
    max_lookups, max_requests
        Maximum number of tool calls and of replies in one assessment.
    retries
        How often a report that fails its checks is sent back.
    temperature, seed, max_tokens
        Decoding of each reply.
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
    _agent: "search_agent.SearchAgent" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        limits = (self.max_errors, self.hits, self.max_lookups, self.max_requests)
        if min(limits) < 1 or self.retries < 0:
            raise ValueError(f"limits must be positive and retries not negative: {limits!r}")
        self._decoding()  # raises for a bad option now, not at the first segment
        # A frozen dataclass allows no other assignment.
        agent = search_agent.SearchAgent(self.output, retries=self.retries)
        object.__setattr__(self, "_agent", agent)

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
            code=code_digest(__name__, _AGENT),
        )

    def report_key(self, segment: Segment, aspect: Aspect) -> str:
        """Return a digest of the first prompt and of the texts that replies are checked against."""
        asked = self._prompt(segment, aspect, ())  # without passages: cutting is slow
        sources = chain.from_iterable(aspect.view(segment.inputs).items())
        return digest(asked, canonical(aspect), segment.output, *sources)

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the model's report; raise `ModelError` if it gives no reply."""
        passages = split_passages(named_plainly(aspect.view(segment.inputs)))
        mark = _mark(segment, aspect)
        talk = await self._agent.review(
            self._prompt(segment, aspect, passages),
            search_agent.Evidence(passages=passages, hits=self.hits, scale=aspect.scale, mark=mark),
            model=self.model,
            decoding=self._decoding(),
            max_requests=self.max_requests,
            max_lookups=self.max_lookups,
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
    """Return the mark that the answer must repeat, which no judged text contains."""
    texts = named_plainly(aspect.view(segment.inputs)).values()
    return AnswerMark.of([*texts, segment.output], key="label")


def _report(
    talk: "conversation.Conversation[search_agent.Review]", segment: Segment, aspect: Aspect
) -> Report:
    review = talk.output
    if review is None:
        return Report(outcome=talk.outcome, reason=talk.reason, reply=talk.reply, usage=talk.usage)
    locator = Locator(segment.output, first=searched_first(segment, aspect))
    spans = (
        locator.span(quote=error.quote, explanation=error.explanation, severity=error.severity)
        for error in review.errors
    )
    return Report(
        score=aspect.scale.value(review.label),
        spans=tuple(spans),
        rationale=review.rationale,
        reply=talk.reply,
        usage=talk.usage,
    )
