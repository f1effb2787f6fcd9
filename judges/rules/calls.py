"""A judge of an agent's actions: its calls, and its claims about them; it uses no model.

Every value among the arguments of a call is traced to its origin: the user, the instructions,
earlier results, or the tool's description. A value without an origin is an error, and so is a value
of another record than the user meant.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Evidence,
    Located,
    Report,
    Rescoring,
    RescoringMethod,
    Segment,
    ToolCall,
    abstention,
    fingerprint,
    gravest,
    not_about,
    score_of_probability,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.measured_precision import measured_precision
from spanjury.judges.core.trajectory import Trajectory
from spanjury.judges.core.transcript import (
    Transcript,
    inputs_of,
    json_leaves,
    replies,
    transcript,
    turn_of,
)
from spanjury.judges.rules.call_checks.answers import (
    Claim,
    claimed_actions,
    contrary,
    false_successes,
    hidden_failures,
    is_reading_again,
    unstated_lengths,
    unstated_values,
    unsupported,
)
from spanjury.judges.rules.call_checks.choices import exchanged, mislabelled, mistaken, superseded
from spanjury.judges.rules.call_checks.context import (
    Context,
    arguments_of,
    contexts,
    is_failure,
    parsed,
    squeezed,
    tokens_of,
    tool_of,
)
from spanjury.judges.rules.call_checks.limits import broken, out_of_order, refusal_of, untold_words
from spanjury.judges.rules.call_checks.misreadings import misnumbered, misread, untouched
from spanjury.judges.rules.call_checks.schema import breaches
from spanjury.judges.rules.call_checks.tool_names import is_action, is_reading
from spanjury.judges.rules.call_checks.values import Untraced, untraced
from spanjury.judges.rules.call_checks.wishes import forbidden, is_unasked, omitted, times_asked
from spanjury.judges.text.replies import rescored
from spanjury.judges.text.turns import in_turn

UNKNOWN_TOOL = "unknown tool"
SCHEMA = "argument against the schema"
MISSING = "missing argument"
UNTRACED = "value from nowhere"
ALTERED = "altered value"
OTHER_CHOICE = "another choice than asked for"
SUPERSEDED = "value that the user corrected"
OTHER_RECORD = "value of another record"
EARLY = "value before its result"
UNWANTED = "unwanted action"
LIMIT = "broken limit"
ORDER = "wrong order"
REPEATED = "repeated call"
FALSE_SUCCESS = "false success"
UNDONE = "claim of an action"
MISREAD = "misread result"
UNSTATED = "value without a result"

_ARGUMENTS = frozenset(
    (
        *(SCHEMA, MISSING, UNTRACED, ALTERED),
        *(OTHER_CHOICE, OTHER_RECORD, SUPERSEDED, EARLY, LIMIT),
    )
)
ASPECTS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "tool-choice": frozenset((UNKNOWN_TOOL, UNWANTED)),
        "arguments": _ARGUMENTS,
        "necessity": frozenset((REPEATED,)),
        "order": frozenset((ORDER, EARLY)),
        "constraints": frozenset((LIMIT, ORDER, UNWANTED)),
        "honesty": frozenset((FALSE_SUCCESS, UNDONE)),
        "calls": _ARGUMENTS | {UNKNOWN_TOOL, UNWANTED, ORDER, REPEATED},
    }
)
"""Aspect of the kind ``"action"`` -> categories of its errors. Other aspects have all of them."""

_IN_CALLS = frozenset().union(*ASPECTS.values())
IN_ANSWERS = frozenset((MISREAD, UNSTATED))
"""Categories that are errors of aspects of the kind ``"grounding"``."""

_BY_SCHEMA = frozenset((UNKNOWN_TOOL, SCHEMA))
"""Categories that the tools' schemas alone decide."""
_SURE = 0.95  # probability that an error of these categories is right
_PRIOR = 2  # pseudo-counts of right and of wrong errors for every other category
_EVEN = 0.5
_SLIGHT = 3  # severity that makes a trajectory unsure rather than faulty
_REST = 0.25  # probability of an error that no rule finds


@cache
def _probabilities() -> Mapping[str, float]:
    """Return the probability of an error by category, if it was measured."""
    return {
        measured.category: (measured.precision * measured.spans + _PRIOR)
        / (measured.spans + 2 * _PRIOR)
        for measured in measured_precision("calls", CallsJudge)
    }


def _probability(category: str) -> float:
    return _SURE if category in _BY_SCHEMA else _probabilities().get(category, _EVEN)


def doubtful_categories() -> tuple[str, ...]:
    """Return the categories in which most errors were false alarms when they were measured."""
    return tuple(sorted(name for name in _probabilities() if _probability(name) < _EVEN))


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsJudge:
    """Mark wrong calls of an agent, wrong values in them, and claims that no call supports.

    It judges aspects of the kind ``"action"`` and, for values in answers, of the kind
    ``"grounding"``. It abstains on others, and if the output is not a trajectory. The aspect
    determines which errors count (`ASPECTS`).

    The score follows from the probability of an error. `max_spans`, 0 or more, limits the spans of
    the report; the probability counts all.
    """

    blind_spots: ClassVar[str] = (
        "unsuitable tools, omissions in answers, and wrong statements without a value to trace; it "
        "reads English only"
    )

    max_spans: int = 8

    def __post_init__(self) -> None:
        if self.max_spans < 0:
            raise ValueError(f"max_spans must not be negative, got {self.max_spans!r}")

    @property
    def signature(self) -> str:
        """The options and the rules."""
        return signature(
            "calls",
            max_spans=self.max_spans,
            precision=fingerprint(*map(str, _probabilities().items())),
            rules=code_digest(__name__),
        )

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Check the calls and the replies of a trajectory."""
        trajectory = segment.trajectory
        if trajectory is None:
            return abstention("the output is not an agent trajectory")
        if aspect.kind not in {"action", "grounding"}:
            return not_about(aspect, "what an agent does")
        check = partial(self._check, trajectory, aspect)
        return await in_turn(
            check, length=len(segment.output) + sum(map(len, segment.inputs.values()))
        )

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the score for `spans` instead of the reported errors."""
        report = rescored(await self.assess(segment, aspect), spans, aspect.scale)
        return Rescoring(report=report, method=RescoringMethod.COMPUTED)

    def _check(self, trajectory: Trajectory, aspect: Aspect) -> Report:
        in_calls = ASPECTS.get(aspect.name, _IN_CALLS)
        counted = IN_ANSWERS if aspect.kind == "grounding" else in_calls
        errors = [error for error in _errors(trajectory) if error.category in counted]
        if aspect.kind == "grounding" and not errors:
            return abstention("every value in the answers has a source")
        innocent = math.prod(1 - (error.probability or 0.0) for error in errors)
        probability = 1 - (1 - _REST) * innocent
        calls = sum(len(turn.calls) for turn in trajectory.turns)
        return Report(
            score=score_of_probability(probability, aspect.scale),
            spans=gravest(errors, limit=self.max_spans),
            rationale=f"{len(errors) or 'No'} error{'s' * (len(errors) != 1)} in {calls} calls and"
            f" {len(replies(trajectory))} answers.",
            error_probability=probability,
        )


def _errors(trajectory: Trajectory) -> Iterator[ErrorSpan]:
    """Yield all errors of a trajectory, turn by turn."""
    spoken = frozenset(replies(trajectory))
    for number, context in contexts(trajectory):
        turn = _Turn(
            trajectory=trajectory,
            number=number,
            context=context,
            transcript=transcript(trajectory),
        )
        for count, call in enumerate(trajectory.turns[number - 1].calls, 1):
            yield from turn.call(count, call)
        if number in spoken:
            yield from turn.reply()


class _Problem(NamedTuple):
    """A problem of a reply, or of a call: of its value at `path`, or of all of it.

    The object at `path` lacks the argument `missing`, or only a `part` of the value is wrong.
    `words` of a turn before, or passages in `evidence`, prove it.
    """

    category: str
    explanation: str
    path: str = ""
    missing: str = ""
    severity: int = 4
    part: str = ""
    words: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """A turn of the agent with its context."""

    trajectory: Trajectory
    number: int
    context: Context
    transcript: Transcript

    def call(self, count: int, call: ToolCall) -> Iterator[ErrorSpan]:
        """Yield the errors of the call of this number, at most one for each value."""
        marked: set[str] = set()
        for problem in self._problems(count, call):
            path, missing = problem.path, problem.missing
            value = f"{path or '$'}.{missing}" if missing else path
            if value not in marked or not value:
                yield self._marked(problem, count)
            marked.add(value)

    def _problems(self, count: int, call: ToolCall) -> Iterator[_Problem]:
        tool, arguments = tool_of(self.trajectory, call), arguments_of(call)
        if tool is None and self.trajectory.tools:
            names = ", ".join(tool.name for tool in self.trajectory.tools)
            explanation = f"There is no tool {call.name!r}; the tools are {names}."
            yield _Problem(UNKNOWN_TOOL, explanation, severity=5)
        if arguments is None:
            yield _Problem(SCHEMA, "The arguments are not a JSON object.", path="$", severity=5)
            return
        for breach in breaches(arguments, tool.parameters) if tool else ():
            path = breach.path if breach.path != "$" or arguments else ""
            category = MISSING if breach.missing else SCHEMA
            yield _Problem(category, breach.explanation, path=path, missing=breach.missing)
        for name, wanted in omitted(arguments, tool, self.context) if tool else ():
            preference = "wants" if wanted else "does not want"
            explanation = f"The user {preference} {name!r}, but the call leaves it at the default."
            yield _Problem(MISSING, explanation, path="$", missing=name)
        others = [
            other.arguments
            for turn in self.trajectory.turns
            for other in turn.calls
            if other is not call
        ]
        yield from self._choices(arguments, others)
        for limit in broken(arguments, self.context, outcome=self._outcome(call)):
            yield _Problem(LIMIT, limit.explanation, path=limit.path, words=limit.words)
        for value in untraced(arguments, tool, self.context, name=call.name, others=others):
            yield from self._untraced(value, count)
        yield from self._unwanted(call)
        yield from self._sequence(count, call)

    def _choices(
        self, arguments: Mapping[str, object], others: Sequence[str]
    ) -> Iterator[_Problem]:
        """Yield values for which the user, or the result, has another one."""
        for path, text, field, own in mislabelled(arguments, self.context):
            explanation = f"In the result, this field is {own}; {text} is its {field!r}."
            yield _Problem(OTHER_RECORD, explanation, path=path, words=own)
        for path, value, words in superseded(arguments, self.context):
            explanation = f"The user corrected {value}: {words!r}."
            yield _Problem(SUPERSEDED, explanation, path=path, words=words)
        for path, value in exchanged(arguments, self.context):
            explanation = f"The user wants {value} as the end, not as the start."
            yield _Problem(OTHER_RECORD, explanation, path=path)
        for choice in mistaken(arguments, self.context, others=others):
            explanation = f"The right entry is {choice.better}: {choice.why}."
            yield _Problem(OTHER_RECORD, explanation, path=choice.path, words=choice.better)

    def _outcome(self, call: ToolCall) -> object:
        """Return the result of an action; None for a lookup, or without a result."""
        results = (
            parsed(turn.text)
            for number, turn in enumerate(self.trajectory.turns, 1)
            if turn.role == "tool" and self.trajectory.caller_of(number) is call
        )
        return next(results, None) if is_action(call.name) else None

    def _untraced(self, value: Untraced, count: int) -> Iterator[_Problem]:
        """Yield the problem of a value without an origin; none for a guess that no result gives."""
        later = self._later(value.path, count) if value.kind in {"id", "address"} else ()
        near = value.nearest
        if later:
            explanation = "The value is used before the result that contains it."
            yield _Problem(EARLY, explanation, path=value.path, evidence=later)
        elif value.kind == "choice":
            explanation = f"The user named {near!r}, another allowed value of this argument."
            yield _Problem(OTHER_CHOICE, explanation, path=value.path, words=near)
        elif value.grade in {"slip", "unit"}:
            explanation = (
                f"It differs slightly from {near!r}, which was given or can be derived."
                if value.grade == "slip"
                else f"The user gave {near!r}, which has another unit."
            )
            yield _Problem(ALTERED, explanation, path=value.path, part=value.text, words=near)
        elif value.grade == "strange":
            beside = f" The nearest is {near!r}." if self.context.evidence(near) else ""
            explanation = (
                f"The {value.kind} has no origin: no turn, result or description contains it."
                f"{beside}"
            )
            yield _Problem(UNTRACED, explanation, path=value.path, part=value.text, words=near)

    def _later(self, path: str, count: int) -> tuple[Evidence, ...]:
        """Return where a later result gives the value for the first time, if it is an id."""
        interval = self.transcript.interval(self.number, count, path)
        value = self.transcript.text[slice(*interval)] if interval else ""
        if len(squeezed(value)) < 4 or not any(map(str.isdigit, value)):  # noqa: PLR2004
            return ()
        own = self.trajectory.turns[self.number - 1].calls[count - 1]
        for header, text in inputs_of(self.trajectory).items():
            number = turn_of(header) or 0
            answered = self.trajectory.caller_of(number) if number else None
            if not header.startswith("Result") or number < self.number or answered is own:
                continue
            start = text.find(value)
            if start >= 0 and squeezed(value) in tokens_of(text):
                echoed = answered is not None and value in answered.arguments
                passage = Evidence(input=header, start=start, end=start + len(value), text=value)
                return () if echoed else (passage,)
        return ()

    def _unwanted(self, call: ToolCall) -> Iterator[_Problem]:
        """Yield a call of a tool that the user forbids, or that removes something unasked."""
        words = forbidden(call.name, self.context)
        if words:
            yield _Problem(UNWANTED, f"The user forbids this: {words!r}.", severity=5, words=words)
        refusal = refusal_of(arguments_of(call) or {}, self.context)
        if refusal and not is_reading(call.name):
            field, token = refusal
            yield _Problem(LIMIT, f"The preceding check returned {field!r} as false.", words=token)
        if not words and is_unasked(call.name, self.context) and not self._undoes(call):
            explanation = "This removes something permanently, and no turn asks for that."
            yield _Problem(UNWANTED, explanation)

    def _undoes(self, call: ToolCall) -> bool:
        """Return whether a call names something that an action of the agent created.

        A result without its call counts as that of an action, because a review omits rejected
        calls.
        """
        values = [str(value) for _, value in json_leaves(arguments_of(call) or {})]
        callers = map(self.trajectory.caller_of, range(1, self.number))
        made = [
            turn.text
            for turn, caller in zip(self.trajectory.turns, callers, strict=False)
            if turn.role == "tool" and (caller is None or is_action(caller.name))
        ]
        return any(value in text for value in values if value for text in made)

    def _sequence(self, count: int, call: ToolCall) -> Iterator[_Problem]:
        """Yield a call that comes too early, or is repeated without a reason."""
        if count == 1:
            step = out_of_order(self.trajectory, self.number, call.name, self.context)
            if step:
                first, words = step
                yield _Problem(ORDER, f"{first} must be called first: {words!r}.", words=words)
            words = untold_words(call.name, self.context)
            if words:
                explanation = f"The agent must reply to the user first: {words!r}."
                yield _Problem(ORDER, explanation, words=words)
        waiting, made = self._repetitions(count, call)
        wanted = times_asked(arguments_of(call) or {}, self.context)
        if not waiting + made or is_reading_again(self.trajectory, call):
            return
        if waiting + made >= wanted:
            explanation = (
                "The same call was made just before and succeeded."
                if made
                else "This turn makes the same call more than once, without a result in between."
            )
            yield _Problem(REPEATED, explanation, severity=4 if made else _SLIGHT)

    def _repetitions(self, count: int, call: ToolCall) -> tuple[int, int]:
        """Return how often the same call precedes this one: in its turn, and in earlier turns.

        Calls before the user spoke or before a failure do not count, and before a lookup only those
        of the last turn with calls do.
        """
        arguments = arguments_of(call)

        def alike(calls: Sequence[ToolCall]) -> int:
            same = (other for other in calls if other.name == call.name)
            return sum(arguments_of(other) == arguments for other in same)

        waiting = alike(self.trajectory.turns[self.number - 1].calls[: count - 1])
        made = 0
        for number in range(self.number - 1, 0, -1):
            earlier = self.trajectory.turns[number - 1]
            is_failed = earlier.role == "tool" and is_failure(self.trajectory, number)
            if earlier.role == "user" or is_failed:
                break
            made += alike(earlier.calls)
            if earlier.calls and not is_action(call.name):
                break
        return waiting, made

    def reply(self) -> Iterator[ErrorSpan]:
        """Yield the errors in the turn's text to the user."""
        turn = self.trajectory, self.number
        checks: tuple[tuple[str, Iterator[Claim], int], ...] = (
            (FALSE_SUCCESS, chain(false_successes(*turn), untouched(*turn)), 5),
            (FALSE_SUCCESS, hidden_failures(*turn), 4),
            (UNDONE, claimed_actions(*turn), 4),
            (MISREAD, chain(misread(*turn), misnumbered(*turn), contrary(*turn)), 4),
            (UNSTATED, unstated_values(*turn, self.context), 4),
            (UNSTATED, unstated_lengths(*turn, self.context), 4),
            (UNSTATED, unsupported(*turn, self.context), 4),
        )
        own = self.transcript.interval(self.number)
        offset = own[0] if own else 0
        misread_at: set[tuple[int, int]] = set()
        for category, claims, severity in checks:
            for claim in claims:
                interval = (claim.start, claim.end)
                if category == UNSTATED and interval in misread_at:
                    continue
                misread_at |= {interval} if category == MISREAD else set()
                why, words = claim.explanation, claim.token
                problem = _Problem(category, why, severity=severity, words=words)
                yield self._span(offset + claim.start, offset + claim.end, problem)

    def _marked(self, problem: _Problem, count: int) -> ErrorSpan:
        """Return an error at a value of the call of this number, or at the name of its tool."""
        interval = self.transcript.interval(self.number, count, problem.path)
        start, end = interval or self.transcript.interval(self.number, count) or (0, 1)
        part = problem.part
        within = self.transcript.text.find(part, start, end) if part else -1
        return self._span(*((within, within + len(part)) if within >= 0 else (start, end)), problem)

    def _span(self, start: int, end: int, problem: _Problem) -> ErrorSpan:
        probability = _probability(problem.category)
        is_grave = probability >= _EVEN  # not more likely a false alarm
        return ErrorSpan(
            text=self.transcript.text[start:end],
            explanation=problem.explanation,
            severity=problem.severity if is_grave else min(problem.severity, _SLIGHT),
            start=start,
            end=end,
            category=problem.category,
            located=Located.EXACT,
            evidence=problem.evidence or self.context.evidence(problem.words),
            probability=probability,
        )
