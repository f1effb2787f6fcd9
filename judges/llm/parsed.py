"""A judge's report as parsed from its reply."""

from dataclasses import dataclass, replace

_PLACEHOLDERS = frozenset(
    {"", "-", "n/a", "no error", "no errors", "none", "not applicable", "nothing", "null"}
)
"""Texts, case-folded, that some models write in place of an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedEvidence:
    """Words that, according to a judge, occur in an input.

    Parameters
    ----------
    quote
        The words; never empty.
    input
        Name of one of the inputs shown; empty if the judge names none of them.
    """

    quote: str
    input: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedError:
    """One error as described by a judge.

    Parameters
    ----------
    quote
        The words given as location; empty if the judge says that there are none.
    quoted
        Whether they were in quotation marks. If not, and they are not in the text, they describe
        a location (``the whole summary``) rather than misquote it.
    severity
        1 to 5; None if none is given or it cannot be read.
    category
        Kind of error; empty if none is given.
    evidence
        Quotations from the inputs, if requested.
    """

    quote: str
    explanation: str
    severity: int | None
    category: str = ""
    quoted: bool = True
    evidence: tuple[ParsedEvidence, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if neither its quote nor its explanation describes an error."""
        texts = (self.quote, self.explanation)
        return all(text.strip(" .\n*_\"'").casefold() in _PLACEHOLDERS for text in texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedReply:
    """Content that could be read from a reply.

    Parameters
    ----------
    score
        Score on the scale of the aspect; None if the reply gives no clear one.
    error_free
        Whether it says that there is no error, and lists none.
    problem
        Why there is no score; empty if there is one.
    faulty
        Whether its verdict is that there is an error; None if it has no verdict.
    """

    errors: tuple[ParsedError, ...] = ()
    score: int | None = None
    error_free: bool = False
    rationale: str = ""
    problem: str = ""
    faulty: bool | None = None

    def without_placeholders(self) -> "ParsedReply":
        """Return the same content without errors that describe nothing."""
        return replace(self, errors=tuple(error for error in self.errors if not error.is_empty))
