"""Judge an agent's replies to the user one by one, each with the turns before it.

A judge of texts does not see a trajectory. It sees one reply after the other as a separate text,
and its spans are moved to their offsets in the transcript. Calls are not prose, and promises,
offers and questions state nothing that a source could support.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Outcome,
    Report,
    Scale,
    Segment,
    Unverified,
    Usage,
    gravest,
    probability_with,
    score_of_probability,
)
from spanjury.judges.core.trajectory import Trajectory
from spanjury.judges.core.transcript import TOOLS, replies, transcript, turn_of
from spanjury.judges.text.non_answers import non_answer
from spanjury.judges.text.sentences import sentence_intervals

_CALLS = "Calls [{}]"
_STATES_NOTHING = re.compile(
    r"[?]['\"”’)]*$"
    r"|^\W*(?:(?:sure|okay|ok|alright|certainly|of course|great|thanks|thank you|sorry|hello|hi"
    r"|you're welcome|no problem|my pleasure|glad to help|happy to help|anything else)\b.{0,24}"
    r"|(?:\w+[,:]? ){0,3}"
    r"(?:let me (?!know that)|let's |i'?ll |i will |i am going to "
    r"|i'?m going to |please |just |shall i |should i |would you |do you |if you |feel free "
    r"|tell me |say |give me ))",
    re.IGNORECASE,
)

Assess = Callable[[Segment, Aspect], Awaitable[Report]]


_NO_STATEMENT = Report(
    outcome=Outcome.ABSTAINED, reason="no reply of the agent states anything that could be verified"
)


class _Judged(NamedTuple):
    """The report on a reply, the reply, and the reply's offset in the transcript."""

    report: Report
    text: str
    offset: int


async def by_reply(segment: Segment, aspect: Aspect, assess: Assess, *, max_spans: int) -> Report:
    """Return the report of `assess` on a text, or on all replies of a trajectory together.

    A trajectory is as likely wrong as the reply that is most likely wrong: errors in several
    replies to one user usually have a common cause. Only aspects of the kind ``"grounding"`` are
    judged reply by reply.

    Parameters
    ----------
    assess
        Judges one text.
    max_spans
        Maximum number of spans of the report, 0 or more.
    """
    trajectory = segment.trajectory
    if trajectory is None or aspect.kind != "grounding":
        return await assess(segment, aspect)
    judged = [
        _Judged(await assess(reply, aspect), reply.output, offset)
        for reply, offset in _replies(segment, trajectory)
    ]
    scored = [part for part in judged if part.report.score is not None]
    if not scored:
        return judged[0].report if judged else _NO_STATEMENT
    return _together(scored, segment.output, aspect=aspect, max_spans=max_spans)


def rescored(report: Report, spans: Sequence[ErrorSpan], scale: Scale) -> Report:
    """Return `report` with the errors `spans` and the score that follows from them."""
    if report.score is None:
        return report
    probability = probability_with(spans, probability=_probability(report, scale), own=report.spans)
    return replace(
        report,
        spans=tuple(spans),
        score=score_of_probability(probability, scale),
        error_probability=None if report.error_probability is None else probability,
    )


def stating(text: str) -> str:
    """Return `text` with spaces in place of the sentences that state nothing.

    Examples
    --------
    >>> stating("Let me look. It opens at 9. Shall I book?").split()
    ['It', 'opens', 'at', '9.']
    """
    kept, done = [], 0
    for start, end in sentence_intervals(text):
        if _STATES_NOTHING.search(text[start:end]):
            kept += [text[done:start], " " * (end - start)]
            done = end
    return "".join([*kept, text[done:]])


def _replies(segment: Segment, trajectory: Trajectory) -> Iterator[tuple[Segment, int]]:
    """Yield each reply that states something as a separate segment, with its offset."""
    written = transcript(trajectory)
    for number in replies(trajectory):
        text = stating(trajectory.turns[number - 1].text)
        interval = written.interval(number)
        inputs = {
            header: text
            for header, text in segment.inputs.items()
            if header != TOOLS and (turn_of(header) or 0) < number
        }
        if interval is None or not text.strip() or non_answer(text, inputs):
            continue
        inputs |= _calls(trajectory, before=number)
        yield replace(segment, output=text, inputs=inputs, trajectory=None), interval[0]


def _calls(trajectory: Trajectory, *, before: int) -> dict[str, str]:
    """Return the arguments of earlier calls, which a reply may repeat."""
    return {
        _CALLS.format(number): "\n".join(f"{call.name}: {call.arguments}" for call in turn.calls)
        for number, turn in enumerate(trajectory.turns[: before - 1], 1)
        if turn.calls
    }


def _together(judged: Sequence[_Judged], output: str, *, aspect: Aspect, max_spans: int) -> Report:
    """Merge the reports on replies into one."""
    reports = [part.report for part in judged]
    probabilities = [_probability(report, aspect.scale) for report in reports]
    worst = max(range(len(reports)), key=probabilities.__getitem__)
    is_stated = all(report.error_probability is not None for report in reports)
    spans = [_moved(span, part.offset, output) for part in judged for span in part.report.spans]
    number = f"{len(judged)} replies" if len(judged) > 1 else "1 reply"
    return replace(
        reports[worst],
        score=score_of_probability(probabilities[worst], aspect.scale),
        spans=gravest(spans, limit=max_spans),
        rationale=f"{number} judged; of the worst: {reports[worst].rationale}",
        reply="\n\n".join(report.reply for report in reports if report.reply),
        usage=sum((report.usage for report in reports), Usage()),
        error_probability=probabilities[worst] if is_stated else None,
        unverified=tuple(
            _sentence(sentence, part.offset, output)
            for part in judged
            for sentence in part.report.unverified
        ),
    )


def _probability(report: Report, scale: Scale) -> float:
    """Return the probability of an error, derived from the score if none is stated."""
    if report.error_probability is not None:
        return report.error_probability
    return (scale.high - (report.score or scale.low)) / (scale.high - scale.low)


def _moved(span: ErrorSpan, offset: int, output: str) -> ErrorSpan:
    """Move a span of a reply to its offset in the transcript."""
    evidence = tuple(item for item in span.evidence if turn_of(item.input) is not None)
    if span.start is None or span.end is None:
        return replace(span, evidence=evidence)
    start, end = span.start + offset, span.end + offset
    return replace(span, start=start, end=end, text=output[start:end], evidence=evidence)


def _sentence(sentence: Unverified, offset: int, output: str) -> Unverified:
    start, end = sentence.start + offset, sentence.end + offset
    return replace(sentence, start=start, end=end, text=output[start:end])
