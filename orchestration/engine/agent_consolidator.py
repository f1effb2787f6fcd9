"""The agent consolidator: a model says which of the seats' errors are the same.

The task is that of OpeNLGauge's orchestrator (section 4); prompt and checks are ours. The
answer is checked against the seats' spans (`grouping`) and sent back with what is wrong
with it; if none can be taken, or the model fails, the rules consolidate instead and the
report says so. It promises that every span of the verdict is accounted for, and needs asyncio.
"""

import json
from dataclasses import dataclass, field, replace

from pydantic_ai import Agent, ModelRetry, PromptedOutput, RunContext, UsageLimits

from spanjury.judges.agent.conversation import converse
from spanjury.judges.core import (
    ChatModel,
    Consolidation,
    Decoding,
    ErrorSpan,
    EventLog,
    ModelError,
    OverBudgetError,
    SpanRef,
    Verdict,
    fingerprint,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.text import AnswerMark, fence, fill_template, read_template
from spanjury.orchestration.engine.grouping import Case, Grouping, GroupingError, consolidated
from spanjury.orchestration.engine.rule_consolidator import RuleConsolidator, seat_spans

log = EventLog()

_PACKAGE = "spanjury.orchestration.engine"
_TEMPLATE = "consolidate.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConsolidator:
    """Merge spans by asking a model, and by rules where that fails.

    Parameters
    ----------
    max_spans
        The most spans a report may have.
    retries
        How often an answer that fails its checks is sent back.
    """

    model: ChatModel
    max_spans: int = 8
    retries: int = 2
    max_tokens: int = 2048
    _rules: RuleConsolidator = field(init=False, repr=False)
    _agent: Agent[Case, Grouping] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise ValueError(f"retries must not be negative, got {self.retries!r}")
        self._decoding()  # a bad option is refused now, not at the first verdict
        # A frozen dataclass is set up through the back door, once.
        object.__setattr__(self, "_rules", RuleConsolidator(max_spans=self.max_spans))
        object.__setattr__(self, "_agent", _agent(retries=self.retries))

    @property
    def signature(self) -> str:
        """Model, prompt, decoding and limits."""
        return signature(
            "agent",
            model=self.model.signature,
            prompt=fingerprint(read_template(_PACKAGE, _TEMPLATE)),
            max_spans=self.max_spans,
            retries=self.retries,
            max_tokens=self.max_tokens,
            code=code_digest(__name__),
        )

    async def consolidate(self, verdict: Verdict) -> Consolidation:
        """Merge the spans of `verdict`; of one span or none no model is asked."""
        spans = tuple(seat_spans(verdict))
        if len(spans) < 2:  # noqa: PLR2004
            return _unmerged(spans)
        case = Case(
            text=verdict.segment.output,
            errors={f"s{number}": pair for number, pair in enumerate(spans, start=1)},
            max_spans=self.max_spans,
            mark=AnswerMark.of(_texts(verdict), key="groups"),
        )
        try:
            talk = await converse(
                self._agent,
                _prompt(case, verdict),
                model=self.model,
                deps=case,
                limits=UsageLimits(request_limit=self.retries + 1),
                decoding=self._decoding(),
            )
        except ModelError as error:
            return await self._fall_back(verdict, error.outcome.value)
        except OverBudgetError:
            return await self._fall_back(verdict, "over the budget")
        if talk.output is None:
            return await self._fall_back(verdict, talk.outcome.value)
        return consolidated(talk.output, case)

    def _decoding(self) -> Decoding:
        return Decoding(max_tokens=self.max_tokens)

    async def _fall_back(self, verdict: Verdict, reason: str) -> Consolidation:
        log.warning(
            "consolidator.replaced",
            segment_id=verdict.segment.segment_id,
            aspect=verdict.aspect.name,
            reason=reason,
        )
        by_rules = await self._rules.consolidate(verdict)
        return replace(by_rules, consolidator=f"{by_rules.consolidator} (agent: {reason})")


def _agent(*, retries: int) -> Agent[Case, Grouping]:
    """Return an agent that asks for JSON in words: models without tool calls take part."""
    agent = Agent(
        output_type=PromptedOutput(Grouping, template=False),
        deps_type=Case,
        retries=retries,
        name="consolidator",
    )

    @agent.output_validator
    async def check(context: RunContext[Case], answer: Grouping) -> Grouping:
        if problem := context.deps.mark.problem(answer.mark):
            raise ModelRetry(problem)
        try:
            consolidated(answer, context.deps)
        except GroupingError as error:
            raise ModelRetry(str(error)) from error
        return answer

    return agent


def _prompt(case: Case, verdict: Verdict) -> str:
    task = verdict.aspect.task
    errors = "\n".join(_line(name, ref, span) for name, (ref, span) in case.errors.items())
    fenced = fence({task.output_header: case.text, "Reported errors": errors})
    about = {
        "task_description": task.description,
        "material": fenced.text,
        "mark": fenced.mark,
        "output": task.output_header,
        "aspect": verdict.aspect.name,
        "definition": verdict.aspect.definition,
        "max_spans": str(case.max_spans),
        "code": case.mark.mark,
    }
    return fill_template(_PACKAGE, _TEMPLATE, about)


def _texts(verdict: Verdict) -> list[str]:
    """Return the judged text, and what the judges say of it, which may quote it."""
    spans = [span for _, span in seat_spans(verdict)]
    parts = [text for span in spans for text in (span.text, span.explanation)]
    return [verdict.segment.output, *parts]


def _line(name: str, ref: SpanRef, span: ErrorSpan) -> str:
    """Return a span as one line of JSON, so that nothing it quotes can begin another."""
    error = {
        "id": name,
        "judge": ref.seat,
        "quote": span.text,
        "severity": span.severity,
        "explanation": span.explanation,
    }
    return json.dumps(error, ensure_ascii=False)


def _unmerged(spans: tuple[tuple[SpanRef, ErrorSpan], ...]) -> Consolidation:
    return Consolidation(
        spans=tuple(replace(span, found_by=(ref.seat,)) for ref, span in spans),
        sources=tuple((ref,) for ref, _ in spans),
        consolidator="agent",
    )
