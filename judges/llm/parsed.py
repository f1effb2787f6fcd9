"""A judge's report as it was read from words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedEvidence:
    """Words that a judge says an input holds.

    Parameters
    ----------
    quote
        The words; never empty.
    input
        Name of the input, of those that it was shown; empty if it names none of them.
    """

    quote: str
    input: str = ""


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
    severity
        1 to 5; None if none is given or it cannot be read.
    category
        What sort of error it is; empty if not said.
    evidence
        What it quotes from the inputs, where it was asked to.
    """

    quote: str
    explanation: str
    severity: int | None
    category: str = ""
    quoted: bool = True
    evidence: tuple[ParsedEvidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedReply:
    """Content that could be read from a reply.

    Parameters
    ----------
    score
        On the scale of the aspect; None if the reply gives no clear one.
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
