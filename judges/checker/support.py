"""Report that follows from a model's findings about the support of a text by its source.

It is the same for every model that reads a text together with its inputs: it judges grounding,
abstains without anything to compare, lists the gravest errors, and derives the score from the
probability of an error alone. Another error list changes that probability (`probability_with`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Report,
    Rescoring,
    RescoringMethod,
    Segment,
    Unverified,
    Usage,
    abstention,
    counted,
    gravest,
    not_about,
    probability_with,
    score_of_probability,
)
from spanjury.judges.core.passages import passages_in
from spanjury.judges.text import replies
from spanjury.judges.text.languages import foreign
from spanjury.judges.text.replies import by_reply

ENGLISH = "this judge reads English"
"""Clause that states the language that a judge reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """All findings of a model about a text.

    Parameters
    ----------
    error_probability
        Probability that the text has an error, given the errors `spans`.
    spans, unverified
        Errors, and sentences without errors that may be wrong, in the order of the text.
    read, copied
        Number of sentences that the model read, and of those that the source has word for word.
    is_stated
        Whether the model states the probability; otherwise it only determines the score.
    note, reply, usage
        A remark for the rationale, and the replies and calls of a chat model.
    """

    error_probability: float
    spans: Sequence[ErrorSpan]
    unverified: Sequence[Unverified]
    read: int
    copied: int = 0
    is_stated: bool = True
    note: str = ""
    reply: str = ""
    usage: Usage = Usage()


class Examiner(Protocol):
    """A judge whose model reads texts together with their inputs."""

    @property
    def max_spans(self) -> int:
        """Maximum number of errors in a report; the score counts all."""
        ...

    async def examine(self, segment: Segment, aspect: Aspect) -> Findings | Report:
        """Return the model's findings, or a report without a score."""
        ...


async def assessed(examiner: Examiner, segment: Segment, aspect: Aspect) -> Report:
    """Return the report on a text, or on the replies of an agent."""

    async def assess(text: Segment, aspect: Aspect) -> Report:
        findings = await examiner.examine(text, aspect)
        if isinstance(findings, Report):
            return findings
        return _report(findings, findings.spans, aspect=aspect, max_spans=examiner.max_spans)

    return await by_reply(segment, aspect, assess, max_spans=examiner.max_spans)


async def rescored(
    examiner: Examiner, segment: Segment, aspect: Aspect, *, spans: Sequence[ErrorSpan]
) -> Rescoring:
    """Return the score for `spans` instead of the reported errors.

    Errors that the model found, but that `max_spans` keeps out of the report, count as before.
    """
    if segment.trajectory is not None:
        report = await assessed(examiner, segment, aspect)
        made = replies.rescored(report, spans, aspect.scale)
        return Rescoring(report=made, method=RescoringMethod.COMPUTED)
    findings = await examiner.examine(segment, aspect)
    if isinstance(findings, Report):
        report = findings
    else:
        reported = gravest(findings.spans, limit=examiner.max_spans)
        listed = [*spans, *(span for span in findings.spans if span not in reported)]
        report = _report(findings, listed, aspect=aspect, max_spans=examiner.max_spans)
    return Rescoring(report=replace(report, spans=tuple(spans)), method=RescoringMethod.COMPUTED)


def obstacle(
    output: str,
    inputs: Mapping[str, str],
    aspect: Aspect,
    *,
    reads: str = ENGLISH,
) -> Report | None:
    """Return the abstention from a text that cannot be judged; None if it can.

    Parameters
    ----------
    reads
        Clause that states the languages that the judge reads; empty for any.
    """
    if aspect.kind != "grounding":
        return not_about(aspect, "what the inputs support")
    if not any(text.strip() for text in inputs.values()):
        return abstention("there is no input to compare with")
    unread = _foreign(output, inputs) if reads else ""
    return abstention(f"{unread}, and {reads}") if unread else None


def _foreign(output: str, inputs: Mapping[str, str]) -> str:
    """Return which text is not English; empty if all may be."""
    apart = passages_in(inputs)
    whole = {} if len(apart) == len(inputs) else {"input": "\n\n".join(inputs.values())}
    texts = {"output": output, **whole, **apart}.items()
    return next(filter(None, (foreign(text, name=name) for name, text in texts)), "")


def _report(
    findings: Findings, spans: Sequence[ErrorSpan], *, aspect: Aspect, max_spans: int
) -> Report:
    """Return the report with the score that follows from `spans`."""
    probability = probability_with(
        spans, probability=findings.error_probability, own=findings.spans
    )
    return Report(
        score=score_of_probability(probability, aspect.scale),
        spans=gravest(findings.spans, limit=max_spans),
        unverified=tuple(findings.unverified),
        rationale=f"{_rationale(findings)} {findings.note}".rstrip(),
        error_probability=probability if findings.is_stated else None,
        reply=findings.reply,
        usage=findings.usage,
    )


def _rationale(findings: Findings) -> str:
    if not findings.read:
        return "It repeats the source in runs of words, so no sentence was read."
    errors = counted(len(findings.spans), "place") + " that the source does not support"
    copied = f"; {findings.copied} more copied from it" if findings.copied else ""
    left = f", {len(findings.unverified)} of them not verified" if findings.unverified else ""
    result = errors if findings.spans else "No error found"
    return f"{result} in {counted(findings.read, 'sentence')} that the judge read{left}{copied}."
