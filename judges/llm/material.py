"""The judged texts as a reply may repeat them: lines that are then no words of the judge.

A text may hold a finished review. A judge that quotes it, in whatever way, writes lines that
look like its own; they are known by standing in the text. Markup, case and punctuation are not
compared, since models change them when they copy.
"""

import re
from collections.abc import Iterable, Sequence

from spanjury.judges.llm.lines import GRADED, Field, Label, without_markup

__all__ = ["NO_MATERIAL", "Material"]

_WORD = re.compile(r"\w+")
_GRADE = re.compile(
    r"(?P<name>severity(?:\s+(?:level|score|rating|grade))?|score|rating|grade)\b"
    r"(?:\s+(?:is|for|of|on)\b[^:：=\n]{0,60})?(?:\s*\([^()\n]{0,200}\))?"
    r"[^\w]{0,20}?[\n:：﹕=|–—-][^\w]{0,20}(?P<value>\w+)"
)
_LONGEST_GRADE = 200  # characters before the first word of a value
_HELD_AS_LINES = frozenset(Label) - GRADED - {Label.TEXT}


class Material:
    """The texts that a judge was shown, indexed in time proportional to their length.

    Parameters
    ----------
    texts
        The output, and the inputs that the judge was shown.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        folded = [text.casefold() for text in texts]
        lines = (line for text in folded for line in text.splitlines())
        self._lines = frozenset(_words(line) for line in lines) - {""}
        self._grades = frozenset(
            (grade["name"].startswith("severity"), grade["value"])
            for text in folded
            for grade in _GRADE.finditer(text)
        )

    def without_copies(
        self, pieces: Sequence[Field], *, line: str, following: str, mark: str
    ) -> tuple[Field, ...]:
        """Return `pieces` with text in the place of those that may be copied from the material.

        A score or a severity may be copied if the material gives it, too, anywhere; what else
        begins a line, if the whole line stands there.

        Parameters
        ----------
        pieces, line
            The fields of a line, and the line.
        following
            The text behind the line, where the value of its last label may stand.
        mark
            A label with this mark is no copy.
        """
        whole = any(map(_in_lines, pieces)) and self.holds_line(line)
        return tuple(
            piece.as_text
            if not piece.has(mark)
            and (self._grades_like(piece, following=following) or (whole and _in_lines(piece)))
            else piece
            for piece in pieces
        )

    def holds_line(self, line: str) -> bool:
        """Say whether a text has this line, or a cell of this row, up to markup and case."""
        folded = line.casefold()
        cells = folded.split("|") if folded.lstrip().startswith("|") else ()
        return any(_words(part) in self._lines for part in (folded, *cells))

    def holds_score(self, value: str, *, severity: bool = False) -> bool:
        """Say whether a text gives a score, or a severity, that begins with the same word."""
        word = _WORD.search(value[:_LONGEST_GRADE].casefold()) if self._grades else None
        return word is not None and (severity, word[0]) in self._grades

    def _grades_like(self, piece: Field, *, following: str) -> bool:
        value, severity = piece.value or following, piece.label is Label.SEVERITY
        return piece.label in GRADED and self.holds_score(value, severity=severity)


def _in_lines(piece: Field) -> bool:
    return piece.label in _HELD_AS_LINES


def _words(line: str) -> str:
    return " ".join(_WORD.findall(without_markup(line)))


NO_MATERIAL = Material(())
"""For a reply whose material is not known."""
