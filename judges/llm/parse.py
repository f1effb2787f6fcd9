"""Read the report that a judge wrote in words.

The form that is asked for::

    Error 1:
    Location: "quoted span"
    Explanation: why
    Severity: 3

    Overall score: Fair
    Explanation of the score: ...

or ``No Error`` in place of the errors. `spanjury.judges.llm.drafts` sorts what models make
of it into fields; here the fields are given their meaning. No reply makes it raise, and a
score is never guessed: where there is no clear one, `ParsedReply.problem` says what is wrong.
"""

from dataclasses import dataclass

from spanjury.judges.core import MAX_SEVERITY, Scale
from spanjury.judges.llm.drafts import ErrorDraft, ReportDraft, drafts
from spanjury.judges.llm.grades import Grade, is_template, read_grade
from spanjury.judges.llm.lines import Label
from spanjury.judges.llm.quotation import quotation
from spanjury.judges.llm.reasoning import without_reasoning

__all__ = ["PARSER_VERSION", "SEVERITY_WORDS", "ParsedError", "ParsedReply", "parse"]

PARSER_VERSION = 1
"""Raised whenever a reply may be read otherwise than before; part of signatures."""

SEVERITY_WORDS = ("Neutral", "Minor", "Moderate", "Major", "Critical")
"""Words for the severities 1 to 5."""

_SCORE_LABELS = (Label.OVERALL_SCORE, Label.SCORE, Label.INLINE_SCORE)  # best first


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedError:
    """One error as a judge describes it.

    Parameters
    ----------
    quote
        The words it gives as the location; empty if it says that there are none.
    quoted
        Whether they stood in quotation marks. If not, and they are not in the text, they
        describe a place (``the whole summary``) rather than misquote it.
    explanation
        Why it is an error.
    severity
        1 to 5; None if none is given or it cannot be read.
    category
        What sort of error it is; empty if not said.
    """

    quote: str
    explanation: str
    severity: int | None
    category: str = ""
    quoted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedReply:
    """What could be read of a reply.

    Parameters
    ----------
    errors
        In the order of the reply.
    score
        On the scale of the aspect; None if the reply gives no clear one.
    error_free
        Whether it says that there is no error, and lists none.
    rationale
        The explanation of the score.
    problem
        Why there is no score; empty if there is one.
    """

    errors: tuple[ParsedError, ...] = ()
    score: int | None = None
    error_free: bool = False
    rationale: str = ""
    problem: str = ""


def parse(reply: str, *, scale: Scale, severities: tuple[str, ...] = SEVERITY_WORDS) -> ParsedReply:
    r"""Read what can be read of `reply`, in time proportional to its length.

    Parameters
    ----------
    reply
        What a model wrote; any string.
    scale
        The scale of the overall score.
    severities
        What severities may be called, mildest first; numbers are always understood.

    Raises
    ------
    ValueError
        If there are more words for severities than severities, or too few.

    Examples
    --------
    >>> parse("**No Error**\n\nOverall score: 5/5", scale=Scale())
    ParsedReply(errors=(), score=5, error_free=True, rationale='', problem='')
    """
    if len(severities) > MAX_SEVERITY:
        raise ValueError(f"at most {MAX_SEVERITY} words for severities, got {severities!r}")
    severity_scale = Scale(labels=severities)
    answer = without_reasoning(reply)
    if answer is None:
        return ParsedReply(problem="the reasoning before the answer is never closed")
    reports = drafts(answer)
    report = next((report for report in reversed(reports) if report.scores), reports[-1])
    errors = tuple(
        _error(error, scale=severity_scale)
        for error in report.errors
        if not _is_echo(error, scale=severity_scale)
    )
    grade = _score(report, scale=scale)
    return ParsedReply(
        errors=errors,
        score=grade.value,
        error_free=report.says_no_error and not errors,
        rationale=_text(report.rationale),
        problem=grade.problem,
    )


def _error(draft: ErrorDraft, *, scale: Scale) -> ParsedError:
    location = quotation(_text(draft.location))
    return ParsedError(
        quote=location.words,
        quoted=location.marked,
        explanation=_text(draft.explanation),
        severity=read_grade(_text(draft.severity), scale=scale, remarks=False).value,
        category=_text(draft.category),
    )


def _is_echo(draft: ErrorDraft, *, scale: Scale) -> bool:
    """Say whether an error only repeats the form that was asked for."""
    if not is_template(_text(draft.severity), scale=scale):
        return False
    quote = quotation(_text(draft.location)).words
    return quote.startswith("<") and quote.endswith(">")


def _score(report: ReportDraft, *, scale: Scale) -> Grade:
    """Read the last score of the best kind of line that there is."""
    for label in _SCORE_LABELS:
        phrases = [_text(lines) for kind, lines in report.scores if kind is label]
        given = [phrase for phrase in phrases if not is_template(phrase, scale=scale)]
        if given:
            return read_grade(given[-1], scale=scale)
    return Grade(problem="there is no line with the overall score")


def _text(lines: list[str]) -> str:
    return "\n".join(lines).strip()
