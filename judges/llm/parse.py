"""Read the report that a judge wrote in words.

The form that is asked for::

    Error 1:
    Location: "quoted span"
    Explanation: why
    Severity: 3

    Overall score: Fair
    Explanation of the score: ...

or ``No Error`` in place of the errors. `spanjury.judges.llm.own_fields` extracts the fields from
what models write instead, without those that they quote; this module interprets them. No reply
makes it raise, and a score is never guessed: `ParsedReply.problem` says what is wrong if there is
no clear score, or if there are two.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from spanjury.judges.core import ErrorSpan, Scale
from spanjury.judges.llm.grades import SEVERITIES, Grade, is_template, read_grade, read_severity
from spanjury.judges.llm.lines import (
    SCORES,
    Field,
    Label,
    begins_field,
    without_markup,
    without_reasoning,
)
from spanjury.judges.llm.material import NO_MATERIAL, Material
from spanjury.judges.llm.own_fields import OwnFields, left_open, own_fields, quotation
from spanjury.judges.llm.parsed import ParsedError, ParsedReply
from spanjury.judges.llm.quoted_evidence import NO_INPUTS, Inputs, parsed_evidence
from spanjury.judges.text import Locator, is_fence_line

PARSER_VERSION = 5
"""Raised whenever a reply may be read differently than before; part of signatures."""

BREAKS_OFF = "it breaks off at the score"
"""Problem of a reply that was cut at its score: more digits may have followed."""

_SCORE_LABELS = ((Label.SCORE, Label.OVERALL_SCORE), (Label.INLINE_SCORE,))  # best first, then last

_NOTHING = frozenset({"n/a", "no error", "no errors", "none"})

_MARK = r"(?P<mark> \([0-9a-f]{3,64}\)|)"
_ERROR = re.compile(
    rf"Error [0-9]{{1,3}}{_MARK}:\n"
    r"Location(?P=mark): \"(?P<quote>[^\"“”„«»「」*\\\n\r]*)\"\n"
    r"Explanation(?P=mark): (?P<why>[^\n\r]*)\n"
    r"Severity(?P=mark): (?P<severity>[^\n\r:：]{1,20})\n+"
)
_NO_ERROR = re.compile(rf"No Error{_MARK}\n+")
_SCORE = re.compile(
    rf"Overall score{_MARK}: (?P<score>[^\n\r:：]{{1,60}})"
    r"(?:\nExplanation of the score(?P=mark): (?P<why>[^\n\r]*))?"
)
_LABELS_OF_ERROR = 4


def read_exact(reply: str, *, scale: Scale, material: Material, mark: str) -> ParsedReply | None:
    """Return the report in `reply`, or None if it does not have exactly the requested form.

    Most replies have this form, which can be read in only one way. All others go through the
    careful parser, which would read the replies accepted here in the same way.

    Parameters
    ----------
    material
        The judged texts. They may contain something like a field only if the labels carry the mark.
    mark
        The mark in brackets after each label; all labels of the reply carry it, or none does.
    """
    if "<" in reply:  # reasoning, or an echo of the form
        return None
    text = reply.lstrip("\n").rstrip()
    no_error = _NO_ERROR.match(text)
    blocks = [] if no_error else _blocks(text)
    begins = (no_error or blocks[-1]).end() if no_error or blocks else 0
    score = _SCORE.fullmatch(text, begins)
    if score is None or not (no_error or blocks):
        return None
    marks = {match["mark"] for match in (*blocks, score, *([no_error] if no_error else ()))}
    if not _is_marked_alike(marks, text, mark, labels=_labels(blocks, no_error, score)):
        return None
    if marks == {""} and material.holds_fields:
        return None
    errors = [*map(_exact_error, blocks)]
    grade = read_grade(score["score"].strip(), scale=scale).value
    why = score["why"] or ""
    if grade is None or not _is_plain(why) or None in errors:
        return None
    return ParsedReply(
        errors=tuple(error for error in errors if error is not None),
        score=grade,
        error_free=not blocks,
        rationale=why.strip(),
    )


def _blocks(text: str) -> list[re.Match[str]]:
    blocks: list[re.Match[str]] = []
    while block := _ERROR.match(text, blocks[-1].end() if blocks else 0):
        blocks.append(block)
    return blocks


def _labels(
    blocks: Sequence[re.Match[str]], no_error: re.Match[str] | None, score: re.Match[str]
) -> int:
    """Return the number of labels."""
    return _LABELS_OF_ERROR * len(blocks) + (no_error is not None) + 1 + (score["why"] is not None)


def _is_marked_alike(marks: set[str], text: str, mark: str, *, labels: int) -> bool:
    """Return whether all labels carry `mark` or none does, and it occurs nowhere else."""
    if marks == {""}:
        return not mark or mark not in text.casefold()
    return bool(mark) and marks == {f" ({mark})"} and text.casefold().count(mark) == labels


def _exact_error(block: re.Match[str]) -> ParsedError | None:
    quote, why = block["quote"], block["why"]
    severity = read_severity(block["severity"].strip())
    if severity is None or quote.casefold().strip() == "n/a" or not _is_plain(why):
        return None
    return ParsedError(quote=quote, explanation=why.strip(), severity=severity)


def _is_plain(prose: str) -> bool:
    """Return whether `prose` has neither a field nor an unclosed quotation."""
    return left_open(prose) is None and not begins_field(prose)


def parse(
    reply: str,
    *,
    scale: Scale,
    material: Material = NO_MATERIAL,
    mark: str = "",
    cut: bool = False,
    inputs: Sequence[str] = (),
) -> ParsedReply:
    """Read as much of `reply` as possible, in time linear in its length.

    Parameters
    ----------
    material
        The judged texts; fields copied from them do not count.
    mark
        The mark in brackets after each requested label, which no judged text contains.
    cut
        Whether the reply broke off at its limit: a score at its end may be incomplete.
    inputs
        Names of the inputs that evidence may quote; fields of evidence are read only if there
        are any.
    """
    if not cut:
        exact = read_exact(reply, scale=scale, material=material, mark=mark)
        if exact is not None:
            return exact
    return read_any(reply, scale=scale, material=material, mark=mark, cut=cut, inputs=inputs)


def read_any(
    reply: str,
    *,
    scale: Scale,
    material: Material,
    mark: str,
    cut: bool,
    inputs: Sequence[str] = (),
) -> ParsedReply:
    """Read a reply of any form, as `parse` does."""
    answer = without_reasoning(reply)
    if answer is None:
        return ParsedReply(problem="the reasoning before the answer is never closed")
    own = own_fields(
        _with_plain(mark, answer), material=material, mark=mark, cut=cut, evidence=bool(inputs)
    )
    reports = _drafts(own.fields)
    report = next((report for report in reversed(reports) if report.scores), reports[-1])
    errors = tuple(_error(error, inputs=inputs) for error in report.errors if not _is_echo(error))
    grade = _cut_off(own, scale=scale) if cut else Grade()
    grade = grade if grade.problem else _score(reports, quoted=own.quotes_score, scale=scale)
    return ParsedReply(
        errors=errors,
        score=grade.value,
        error_free=report.says_no_error and not errors,
        rationale=_text(report.rationale),
        problem=grade.problem,
    )


@dataclass(slots=True, kw_only=True)
class _ErrorDraft:
    """The lines of each field of one error, uninterpreted; evidence may occur several times."""

    location: list[str] = field(default_factory=list)
    explanation: list[str] = field(default_factory=list)
    severity: list[str] = field(default_factory=list)
    category: list[str] = field(default_factory=list)
    evidence: list[list[str]] = field(default_factory=list)

    @property
    def begun(self) -> bool:
        """True if it has anything but a title."""
        return any(map(str.strip, [*self.location, *self.explanation, *self.severity]))


def _error(draft: _ErrorDraft, *, inputs: Sequence[str]) -> ParsedError:
    location = quotation(_text(draft.location))
    return ParsedError(
        quote=location.words,
        quoted=location.marked,
        explanation=_text(draft.explanation),
        severity=read_severity(_text(draft.severity)),
        category=_text(draft.category),
        evidence=parsed_evidence(map(_text, draft.evidence), inputs=inputs),
    )


def _is_echo(draft: _ErrorDraft) -> bool:
    """Return whether an error only repeats the requested form."""
    if not is_template(_text(draft.severity), scale=SEVERITIES):
        return False
    quote = quotation(_text(draft.location)).words
    return quote.startswith("<") and quote.endswith(">")


def _with_plain(mark: str, answer: str) -> str:
    """Return `answer` with the mark in round brackets directly after each label that has it."""
    if not mark or mark not in answer.casefold():
        return answer
    dressed = rf"([*_`]*)[ \t]*[(\[{{<]?{mark}[)\]}}>]?(?=[ \t*_`.]*(?:[:：﹕=–—-]|$))"
    return re.sub(dressed, rf" ({mark})\1", answer, flags=re.IGNORECASE | re.MULTILINE)


def _cut_off(own: OwnFields, *, scale: Scale) -> Grade:
    """Return a problem if the reply broke off at its score."""
    longest = max(len(label.split()) for label in scale.labels)
    if own.last_score is None or len(without_markup(own.last_score).split()) > longest:
        return Grade()
    return Grade(problem=BREAKS_OFF)


@dataclass(slots=True, kw_only=True)
class _ReportDraft:
    """The lines of each field of one report, uninterpreted.

    `scores` contains every score line with the kind of its label.
    """

    errors: list[_ErrorDraft] = field(default_factory=list)
    scores: list[tuple[Label, list[str]]] = field(default_factory=list)
    rationale: list[str] = field(default_factory=list)
    says_no_error: bool = False


def _score(reports: Sequence[_ReportDraft], *, quoted: bool, scale: Scale) -> Grade:
    """Read the score from all score lines; those within other lines count only as a fallback."""
    scores = [score for report in reports for score in report.scores]
    for labels in _SCORE_LABELS:
        phrases = [_text(lines) for label in labels for kind, lines in scores if kind is label]
        given = [phrase for phrase in phrases if not is_template(phrase, scale=scale)]
        if given:
            return _agreed([read_grade(phrase, scale=scale) for phrase in given])
    if quoted:
        return Grade(problem="its only line with an overall score may be copied from the material")
    return Grade(problem="there is no line with the overall score")


def _agreed(grades: Sequence[Grade]) -> Grade:
    """Return the last grade unless another one contradicts it."""
    if len({grade.value for grade in grades} - {None}) > 1:
        return Grade(problem="it gives several overall scores")
    return grades[-1]


def _text(lines: list[str]) -> str:
    return "\n".join(lines).strip()


def located_errors(
    errors: Iterable[ParsedError],
    *,
    output: str,
    first: Sequence[tuple[int, int]] = (),
    inputs: Inputs = NO_INPUTS,
) -> tuple[ErrorSpan, ...]:
    """Return `errors` in order, located in `output`, and in its parts `first` if they can be.

    Words without quotation marks that are not in the text may only describe the location of the
    error: they are put before the explanation, and do not count as a false quotation. An error on
    a line of the prompt around the texts is left out. Evidence is looked up in `inputs`.
    """
    locator = Locator(output, first=first)
    return tuple(
        inputs.with_evidence(span, error) if error.evidence else span
        for error in errors
        for span in [_located(locator, error)]
        if not (span.start is None and is_fence_line(error.quote))
    )


def _located(locator: Locator, error: ParsedError) -> ErrorSpan:
    span = locator.span(
        quote=error.quote,
        explanation=error.explanation,
        severity=error.severity,
        category=error.category,
    )
    if error.quoted or not span.hallucinated:
        return span
    return replace(span, text="", explanation=f"({error.quote}) {error.explanation}")


def _drafts(pieces: Iterable[Field]) -> list[_ReportDraft]:
    """Return the reports that `pieces` form, at least one, without empty errors."""
    machine = _Machine()
    for piece in pieces:
        machine.take(piece)
    for report in machine.reports:
        report.errors = [error for error in report.errors if error.begun]
    return machine.reports


class _Machine:
    """State machine that fills drafts with the fields of a reply, in order.

    Its state is the report and the error that it is in, and the field that unlabelled lines belong
    to. A reply may contain several reports, if a model starts again after its score.
    """

    def __init__(self) -> None:
        self.reports = [_ReportDraft()]
        self._error: _ErrorDraft | None = None
        self._open: list[str] | None = None  # the field that the next line may continue
        self._one_line = False  # it takes only one more line

    @property
    def _report(self) -> _ReportDraft:
        return self.reports[-1]

    def take(self, piece: Field) -> None:
        """Process the next field."""
        match piece.label:
            case Label.TEXT:
                self._continue(piece.value)
            case Label.ERROR:
                self._begin_error(piece.value)
            case Label.NO_ERROR if self._error and self._error.begun and not self._error.severity:
                self._continue(piece.as_text.value)  # the error quotes these words
            case Label.NO_ERROR:
                self._begin_report()
                self._say_no_error()
            case label if label in SCORES:
                self._take_score(piece)
            case Label.RATIONALE:
                self._report.rationale = self._opened(piece.value)
            case _:
                self._take_detail(piece)

    def _continue(self, line: str) -> None:
        """Add a line without a label to the open field, if any."""
        if self._open is None:
            return
        blank = not line.strip()
        if self._one_line:
            if not blank:
                self._open.append(line)
                self._finish_line()
        elif blank and self._error and self._open is self._error.location:
            self._open = None if any(map(str.strip, self._open)) else self._open
        else:
            self._open.append(line)

    def _begin_report(self) -> None:
        """Begin another report if this one is complete."""
        if self._report.scores and (self._report.errors or self._report.says_no_error):
            self.reports.append(_ReportDraft())

    def _begin_error(self, title: str = "") -> None:
        self._begin_report()
        if title.partition("(")[0].strip(" *_.").casefold() in _NOTHING:
            self._say_no_error()
            return
        self._error = _ErrorDraft(category=[title])
        self._report.errors.append(self._error)
        self._open = None

    def _say_no_error(self) -> None:
        self._report.says_no_error = True
        self._error = self._open = None

    def _take_detail(self, piece: Field) -> None:
        """Process a field of an error; an explanation after the score explains the score."""
        if piece.label is Label.LOCATION and (self._error is None or self._error.location):
            self._begin_error()
        error = self._error
        if error is None:
            self._open = None
            if piece.label is Label.EXPLANATION and self._report.scores:
                self._report.rationale = self._opened(piece.value)
        elif piece.label is Label.LOCATION:
            error.location = self._opened(piece.value)
        elif piece.label is Label.EXPLANATION:
            error.explanation = self._opened(*error.explanation, piece.value)
        elif piece.label is Label.SEVERITY:
            error.severity = self._opened(piece.value, one_line=True)
        elif piece.label is Label.EVIDENCE:
            error.evidence.append(self._opened(piece.value, one_line=True))
        else:
            error.category = self._opened(piece.value, one_line=True)

    def _take_score(self, piece: Field) -> None:
        """Process a score; without "overall" it is the severity of an error that lacks one."""
        if piece.label is Label.SCORE and self._error and not self._error.severity:
            self._open = None
            return
        self._error = None
        self._report.scores.append((piece.label, self._opened(piece.value, one_line=True)))

    def _opened(self, *lines: str, one_line: bool = False) -> list[str]:
        """Make a field that begins with `lines` the open one, and return it."""
        self._open = list(lines)
        opened, self._one_line = self._open, one_line
        if one_line and lines[-1].strip():
            self._finish_line()
        return opened

    def _finish_line(self) -> None:
        """Close a field of one line; text after a score explains it."""
        self._one_line = False
        self._open = self._report.rationale if self._error is None else None
