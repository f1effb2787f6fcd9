"""The agent consolidator: a model decides which of the seats' errors are the same error.

The task is that of OpeNLGauge's orchestrator (section 4); prompt and checks are ours. An answer
names errors by id and puts them into groups. It is accepted only if every error appears exactly
once, no unknown id appears, and each group lies where its members lie. Otherwise it is sent back
with the corrections to make. If no answer is accepted, or the model fails, the rule consolidator
takes over and the report says so. The seats that found an error, its evidence and its probability
are derived from the ids, never taken from the answer. Every span of the verdict is accounted for.
The consolidator needs asyncio.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import BaseModel, Field
from pydantic_ai import Agent, ModelRetry, PromptedOutput, RunContext, UsageLimits

from spanjury.judges.agent.conversation import converse
from spanjury.judges.core import (
    ChatModel,
    Consolidation,
    Decoding,
    ErrorSpan,
    EventLog,
    Located,
    ModelError,
    OverBudgetError,
    SpanRef,
    Verdict,
    fingerprint,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.text import (
    AnswerMark,
    LocatedQuote,
    Locator,
    fence,
    fill_template,
    read_template,
    sentences,
)
from spanjury.orchestration.engine.rule_consolidator import (
    RuleConsolidator,
    highest_probability,
    joined_evidence,
    seat_spans,
)

_SLACK = 16
"""Code points by which a quote may be longer in the text because it is spelled differently."""


_Line = Annotated[str, Field(json_schema_extra={"maxLength": 400})]
"""A text whose length only servers that enforce a schema limit: this stops endless repetition."""


class Group(BaseModel):
    """Errors that are one."""

    members: list[str]
    quote: _Line
    explanation: _Line
    severity: int


class Ungrouped(BaseModel):
    """An error that no group takes up."""

    id: str
    reason: _Line


class Grouping(BaseModel):
    """The answer of a model."""

    groups: list[Group]
    left_out: list[Ungrouped] = []
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The data that an answer is checked against.

    Parameters
    ----------
    errors
        Id -> the seats' span with that id, in the order of the panel.
    max_spans
        The most groups an answer may have.
    """

    text: str
    errors: Mapping[str, tuple[SpanRef, ErrorSpan]]
    max_spans: int
    mark: AnswerMark


class GroupingError(ValueError):
    """An answer cannot be accepted; the message lists its problems, one per line."""


def consolidated(answer: Grouping, case: Case) -> Consolidation:
    """Return the merged spans that `answer` describes, in the order of the text.

    Raise `GroupingError` if an id is unknown, repeated or missing; if a group is empty, lies
    elsewhere than its members, or has a severity outside their range; if an error is left out
    without need; or if there are too many groups.
    """
    _refuse([*_miscounted(answer, case), *_ill_left_out(answer, case)])
    merged: list[tuple[ErrorSpan, tuple[SpanRef, ...]]] = []
    problems: list[str] = []
    for number, group in enumerate(answer.groups, start=1):
        members = [case.errors[name] for name in case.errors if name in group.members]
        try:
            merged.append((_merged(group, members, case.text), tuple(ref for ref, _ in members)))
        except GroupingError as error:
            problems.append(f"group {number}: {error}")
    _refuse(problems)
    merged.sort(key=lambda pair: _position(pair[0]))
    return Consolidation(
        spans=tuple(span for span, _ in merged),
        sources=tuple(refs for _, refs in merged),
        left_out=tuple(case.errors[out.id][0] for out in answer.left_out),
        consolidator="agent",
    )


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise GroupingError("\n".join(problems))


def _miscounted(answer: Grouping, case: Case) -> Iterator[str]:
    named = Counter(name for group in answer.groups for name in group.members)
    named.update(out.id for out in answer.left_out)
    unknown = [name for name in named if name not in case.errors]
    doubled = [name for name, times in named.items() if times > 1]
    missing = [name for name in case.errors if name not in named]
    if unknown:
        yield f"there is no error with the id {', '.join(unknown)}"
    if doubled:
        yield f"{', '.join(doubled)}: named more than once; each id belongs in one place"
    if missing:
        yield f"{', '.join(missing)}: neither in a group nor left out"
    if any(not group.members for group in answer.groups):
        yield "a group has no members"
    if len(answer.groups) > case.max_spans:
        yield f"{len(answer.groups)} groups, no more than {case.max_spans} are allowed"


def _ill_left_out(answer: Grouping, case: Case) -> Iterator[str]:
    """Yield invalid omissions: valid ones are made-up quotes and the mildest beyond the limit."""
    outside = {out.id: case.errors[out.id][1] for out in answer.left_out if out.id in case.errors}
    real = {name: span for name, span in outside.items() if not span.hallucinated}
    if real and len(answer.groups) < case.max_spans:
        yield f"{', '.join(real)}: left out although there is room for another group"
    mildest = min((group.severity for group in answer.groups), default=0)
    graver = [name for name, span in real.items() if (span.severity or 0) > mildest]
    if graver:
        yield f"{', '.join(graver)}: left out although graver than a group that is kept"


def _merged(group: Group, members: Sequence[tuple[SpanRef, ErrorSpan]], text: str) -> ErrorSpan:
    """Return the merged span of `group`; raise `GroupingError` if the group is invalid."""
    spans = [span for _, span in members]
    if not group.explanation.strip():
        raise GroupingError("the explanation is missing")
    located = _located(group.quote, spans, text)
    return ErrorSpan(
        text=text[located.start : located.end] if located else group.quote,
        explanation=group.explanation,
        severity=_severity(group, spans),
        start=located.start if located else None,
        end=located.end if located else None,
        category=next((span.category for span in spans if span.category), ""),
        located=located.located if located else Located.UNLOCATED,
        found_by=tuple(dict.fromkeys(ref.seat for ref, _ in members)),
        evidence=joined_evidence(spans),
        probability=highest_probability(spans),
    )


def _severity(group: Group, spans: Iterable[ErrorSpan]) -> int | None:
    """Return the group's severity; None if no member states one."""
    severities = [span.severity for span in spans if span.severity is not None]
    if not severities:
        return None
    if not min(severities) <= group.severity <= max(severities):
        raise GroupingError(
            f"severity {group.severity} is not within {min(severities)} to {max(severities)}"
        )
    return group.severity


def _located(quote: str, spans: Sequence[ErrorSpan], text: str) -> LocatedQuote | None:
    """Locate the quote near the members; return None if no member has a position."""
    intervals = [span.interval for span in spans if span.interval is not None]
    if not intervals:
        if quote not in {span.text for span in spans}:
            raise GroupingError("the quote must be that of a member, since none has a place")
        return None
    located = _exact(quote, intervals, text) or _folded(quote, intervals, text)
    if located is None:
        raise GroupingError("the quote is not in the text at the place of its members")
    start, end = _sentences_around(located, text)
    if any(last < start or end < first for first, last in intervals):
        raise GroupingError(
            "a member is in another sentence than the quote; different places are different errors"
        )
    return located


def _sentences_around(located: LocatedQuote, text: str) -> tuple[int, int]:
    """Return the interval of the sentences that the quote is in."""
    start, end = located.start, located.end
    for sentence in sentences(text):
        if sentence.start < located.end and located.start < sentence.end:
            start, end = min(start, sentence.start), max(end, sentence.end)
    return start, end


def _exact(quote: str, intervals: Iterable[tuple[int, int]], text: str) -> LocatedQuote | None:
    """Find `quote` verbatim where it shares a character with one of `intervals`."""
    reach = len(quote) - 1
    for first, last in intervals:
        start = text.find(quote, max(0, first - reach), last + reach) if quote else -1
        if start >= 0:
            return LocatedQuote(start=start, end=start + len(quote), located=Located.EXACT)
    return None


def _folded(quote: str, intervals: Iterable[tuple[int, int]], text: str) -> LocatedQuote | None:
    """Find `quote` near `intervals`, ignoring differences of case, blanks and quotation marks."""
    reach = len(quote) + _SLACK
    for first, last in intervals:
        offset = max(0, first - reach)
        located = Locator(text[offset : last + reach]).find(quote)
        if located is None or located.located is not Located.NORMALISED:
            continue
        start, end = located.start + offset, located.end + offset
        if start < last and first < end:
            return LocatedQuote(start=start, end=end, located=Located.NORMALISED)
    return None


def _position(span: ErrorSpan) -> tuple[bool, int, int]:
    return (span.interval is None, *(span.interval or (0, 0)))


log = EventLog()

_PACKAGE = "spanjury.orchestration.engine"
_TEMPLATE = "consolidate.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConsolidator:
    """Merge spans by asking a model; fall back to rules if that fails.

    Parameters
    ----------
    max_spans
        The most spans a report may have.
    retries
        How often an answer that fails its checks is returned to the model.
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
        self._decoding()  # fails on a bad option now, not at the first verdict
        # The dataclass is frozen, so fields that follow from others are set once by this means.
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
        """Merge the spans of `verdict`; the model is not called for fewer than two spans."""
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
    """Return an agent that asks for JSON in its prompt, so that models need no tool calls."""
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
    slots = {
        "task_description": task.description,
        "material": fenced.text,
        "mark": fenced.mark,
        "output": task.output_header,
        "aspect": verdict.aspect.name,
        "definition": verdict.aspect.definition,
        "max_spans": str(case.max_spans),
        "code": case.mark.mark,
    }
    return fill_template(_PACKAGE, _TEMPLATE, slots)


def _texts(verdict: Verdict) -> list[str]:
    """Return the judged text and the judges' quotes and explanations, which may repeat it."""
    spans = [span for _, span in seat_spans(verdict)]
    parts = [text for span in spans for text in (span.text, span.explanation)]
    return [verdict.segment.output, *parts]


def _line(name: str, ref: SpanRef, span: ErrorSpan) -> str:
    """Return a span as one line of JSON, so that no quoted text can begin another line."""
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
