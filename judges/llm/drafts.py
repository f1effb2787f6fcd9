"""Sort the fields of a reply into reports: a machine over labelled pieces of lines.

Its state is the report and the error that it is in, and the field that unlabelled lines
belong to. A reply may hold several reports, when a model starts again after its score.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from spanjury.judges.llm.lines import SCORES, Field, Label

_NOTHING = frozenset({"n/a", "no error", "no errors", "none"})


@dataclass(slots=True, kw_only=True)
class ErrorDraft:
    """The lines of each field of one error, uninterpreted; of evidence there may be several."""

    location: list[str] = field(default_factory=list)
    explanation: list[str] = field(default_factory=list)
    severity: list[str] = field(default_factory=list)
    category: list[str] = field(default_factory=list)
    evidence: list[list[str]] = field(default_factory=list)

    @property
    def begun(self) -> bool:
        """Whether anything but a title is known of it."""
        return any(map(str.strip, [*self.location, *self.explanation, *self.severity]))


@dataclass(slots=True, kw_only=True)
class ReportDraft:
    """The lines of each field of one report, uninterpreted.

    `scores` holds every score line, with what kind of label it has.
    """

    errors: list[ErrorDraft] = field(default_factory=list)
    scores: list[tuple[Label, list[str]]] = field(default_factory=list)
    rationale: list[str] = field(default_factory=list)
    says_no_error: bool = False


def drafts(pieces: Iterable[Field]) -> list[ReportDraft]:
    """Return the reports that `pieces` make, one at least, without empty errors."""
    machine = _Machine()
    for piece in pieces:
        machine.take(piece)
    for report in machine.reports:
        report.errors = [error for error in report.errors if error.begun]
    return machine.reports


class _Machine:
    """Takes fields in the order of the reply and fills drafts with them."""

    def __init__(self) -> None:
        self.reports = [ReportDraft()]
        self._error: ErrorDraft | None = None
        self._open: list[str] | None = None  # the field that the next line may continue
        self._one_line = False  # it takes one line more and no others

    @property
    def _report(self) -> ReportDraft:
        return self.reports[-1]

    def take(self, piece: Field) -> None:
        """Take the next field."""
        match piece.label:
            case Label.TEXT:
                self._continue(piece.value)
            case Label.ERROR:
                self._begin_error(piece.value)
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
        """Add a line without a label to the open field, if there is one."""
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
        """Begin another report if this one has all that a report has."""
        if self._report.scores and (self._report.errors or self._report.says_no_error):
            self.reports.append(ReportDraft())

    def _begin_error(self, title: str = "") -> None:
        self._begin_report()
        if title.partition("(")[0].strip(" *_.").casefold() in _NOTHING:
            self._say_no_error()
            return
        self._error = ErrorDraft(category=[title])
        self._report.errors.append(self._error)
        self._open = None

    def _say_no_error(self) -> None:
        self._report.says_no_error = True
        self._error = self._open = None

    def _take_detail(self, piece: Field) -> None:
        """Take a field of an error; an explanation after the score explains the score."""
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
        """Take a score; one without "overall", where an error lacks its severity, is that."""
        if piece.label is Label.SCORE and self._error and not self._error.severity:
            self._open = None
            return
        self._error = None
        self._report.scores.append((piece.label, self._opened(piece.value, one_line=True)))

    def _opened(self, *lines: str, one_line: bool = False) -> list[str]:
        """Return a field that begins with `lines` and is the open one now."""
        self._open = list(lines)
        opened, self._one_line = self._open, one_line
        if one_line and lines[-1].strip():
            self._finish_line()
        return opened

    def _finish_line(self) -> None:
        """Close a field of one line; what follows a score explains it."""
        self._one_line = False
        self._open = self._report.rationale if self._error is None else None
