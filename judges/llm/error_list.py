"""Error lists rendered as a judge would have written them, up to the score.

The inverse of `spanjury.judges.llm.parse`: the rendered list is read back as the same errors. Words
are inserted unchanged. If an error would not be read back, because its words imitate the form of a
report or contain quotation marks, it is written with other quotation marks, then on one line, and
finally without the characters that look like the form. Every list can be rendered.
"""

from collections.abc import Iterator, Sequence

from spanjury.judges.core import ErrorSpan, Scale
from spanjury.judges.llm.grades import SEVERITY_WORDS
from spanjury.judges.llm.parse import parse
from spanjury.judges.llm.parsed import ParsedError

_NONE = "No Error"
_MARKS = (('"', '"'), ("“", "”"), ("«", "»"), ("「", "」"))
_ANY_SCALE = Scale()
# Characters that can begin a field, end a quotation or form a tag -> harmless ones.
_PLAIN = str.maketrans(
    {
        **dict.fromkeys(":：﹕=", " -"),
        **dict.fromkeys('"“”„«»「」`', "'"),
        **dict.fromkeys("*_#~", ""),
        "\\": "/",
        "<": "(",
        ">": ")",
    }
)


def _in_brackets(mark: str) -> str:
    return f" ({mark})" if mark else ""


def cue(mark: str = "") -> str:
    """Return the end of a rendered list, with the mark of the request, if it has one.

    It has no trailing space, because tokenizers put that before the next word.
    """
    return f"Overall score{_in_brackets(mark)}:"


CUE = cue()
"""The cue without a mark."""


def render_errors(
    spans: Sequence[ErrorSpan],
    *,
    words: bool = False,
    held_to_grammar: bool = False,
    mark: str = "",
) -> str:
    r"""Return the reply that lists `spans`, in their order, up to the score.

    Parameters
    ----------
    spans
        The list; an unlocated span is quoted as the judge quoted it.
    words
        Whether severities are words instead of numbers.
    held_to_grammar
        Whether to write the blank lines that the grammar of a report requires.
    mark
        Mark in brackets after each label; empty for a form without marks.

    Examples
    --------
    >>> render_errors([ErrorSpan(text="1935", explanation="It was 1932.", severity=4)])
    'Error 1:\nLocation: "1935"\nExplanation: It was 1932.\nSeverity: 4\n\nOverall score:'
    """
    if not spans:
        return f"{_NONE}{_in_brackets(mark)}\n\n{cue(mark)}"
    blocks = [
        _block(span, number=number, words=words, mark=mark) for number, span in enumerate(spans, 1)
    ]
    gap = "\n\n" if held_to_grammar else "\n"
    return "\n".join(blocks) + f"{gap}{cue(mark)}"


def _block(span: ErrorSpan, *, number: int, words: bool, mark: str) -> str:
    """Return the first rendering of an error that is read back correctly, or the last one."""
    block, tail = "", f"{_in_brackets(mark)}:"
    for title, quote, explanation in _wordings(span):
        lines = [
            f"Error {number}{tail}{title}",
            f"Location{tail} {quote}",
            f"Explanation{tail} {explanation}",
        ]
        if span.severity is not None:
            severity = SEVERITY_WORDS[span.severity - 1] if words else str(span.severity)
            lines.append(f"Severity{tail} {severity}")
        block = "\n".join(lines) + "\n"
        if _reads_back(block, span, title=title.strip(), mark=mark):
            return block
    return block


def _wordings(span: ErrorSpan) -> Iterator[tuple[str, str, str]]:
    """Yield titles, locations and explanations, from the most faithful to the safest."""
    title = f" {' '.join(span.category.split())}".rstrip()
    quote, explanation = span.text, span.explanation.strip()
    flat = " ".join(quote.split()), " ".join(explanation.split())
    for quoted, why in dict.fromkeys([(quote, explanation), flat]):
        for named in dict.fromkeys([title, ""]):
            for begin, end in _MARKS:
                yield named, f"{begin}{quoted}{end}", why
    yield "", f'"{_plain(quote)}"', _plain(explanation)


def _plain(text: str) -> str:
    return " ".join(text.translate(_PLAIN).split())


def _reads_back(block: str, span: ErrorSpan, *, title: str, mark: str) -> bool:
    """Return whether `block`, followed by a score, is read as `span` up to white space."""
    parsed = parse(f"{block}\n{cue(mark)} {_ANY_SCALE.labels[0]}", scale=_ANY_SCALE, mark=mark)
    if parsed.score != _ANY_SCALE.low or len(parsed.errors) != 1:
        return False
    (error,) = parsed.errors
    wanted = ParsedError(quote=span.text, explanation=span.explanation, severity=None)
    same = _words(error) == _words(wanted)
    return same and error.severity == span.severity and error.category == title


def _words(error: ParsedError) -> tuple[str, str]:
    """Return the words to compare; asterisks around a quote, and "n/a", are never read."""
    quote = " ".join(error.quote.strip("* \t\n").split())
    return "" if quote.casefold() == "n/a" else quote, " ".join(error.explanation.split())
