"""Detect lines of a reply that repeat the judged texts and are therefore not the judge's own.

A text may contain a finished review. A judge that quotes it, in whatever form, writes lines that
look like its own; they are recognised because they occur in the text. The comparison ignores
markup, case, punctuation, invisible characters and remarks in brackets, which models change when
they copy.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain

from spanjury.judges.llm.lines import GRADED, Field, Label, fields, is_code_fence, without_markup

_WORD = re.compile(r"[^\W_]+")
_INVISIBLE = re.compile("[\u00ad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]+")
_GRADE = re.compile(
    r"(?P<name>severity(?:\s+(?:level|score|rating|grade))?|score|rating|grade)\b"
    r"(?:\s+(?:is|for|of|on)\b[^:：=\n]{0,60})?(?:\s*\([^()\n]{0,200}\))?"
    r"[^\w]{0,20}?[\n:：﹕=|–—-][^\w]{0,20}(?P<value>\w+)"
)
_LONGEST_GRADE = 200  # characters before the first word of a value
_GRADE_WORDS = ("severity", "score", "rating", "grade")
_LABEL = re.compile(
    r"(?<![^\W_])(?:errors?|issues?|location|span|quote|category|type|explanation|justification"
    r"|rationale|reason(?:ing)?|description|comment)(?![^\W_])"
    r"(?=[^\w:：﹕=|–—\n]{0,20}(?:of [^\W\d_]{1,20} [^\W\d_]{1,20})?"
    r"(?:\d{1,3})?[^\w]{0,20}?[\n:：﹕=|–—-])"
)
_REMARK = re.compile(r"\[[^\[\]\n]{0,80}\]|\([^()\n]{0,80}\)|</?[a-z][^<>\n]{0,80}>")
_FIELD_WORDS = ("error", "location", "explanation", "severity", "overall")
"""First words of the requested labels, or the second word of "No Error"."""
_COMPARED_WORDS = 8  # words compared of a label and its value
_NEIGHBOURING_WORDS = 3  # words of a neighbouring line that are compared
_COMPARED = 400  # characters that contain these words
_HELD_AS_LINES = frozenset(Label) - GRADED - {Label.TEXT}


class Material:
    """The texts that a judge was shown, indexed on demand, in linear time."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)

    @cached_property
    def holds_fields(self) -> bool:
        """True if a text contains anything that may pass for a field of a reply."""
        return (
            bool(self._grades)
            or bool(self._fields)
            or any(map(_begins_field, self._naming_lines()))
        )

    def holds_word(self, word: str) -> bool:
        """Return whether a text contains `word`, in any case."""
        return any(word in text.casefold() for text in self._texts)

    def _naming_lines(self) -> Iterator[str]:
        """Yield the lines that name a field; no others can be copied as fields."""
        for text in self._folded:
            if any(word in text for word in _FIELD_WORDS):
                lines = text.splitlines()
                yield from (line for line in lines if any(word in line for word in _FIELD_WORDS))

    @property
    def holds_review(self) -> bool:
        """True if a text gives a score or a severity, as a review does."""
        return bool(self._grades)

    def without_copies(
        self, pieces: Sequence[Field], *, line: str, following: str, mark: str
    ) -> tuple[Field, ...]:
        """Return `pieces` with plain text for those that may be copied from the material.

        A score or a severity may be copied if the material gives it anywhere; another field may be
        copied if the whole line occurs in a text, or the field with its first words.

        Parameters
        ----------
        following
            The text after the line, which may contain the value of its last label.
        mark
            A label with this mark is not a copy.
        """
        whole = any(map(_in_lines, pieces)) and self.holds_line(line)
        kept: list[Field] = []
        for piece in reversed(pieces):
            copied = self._grades_like(piece, following=following) or (
                _in_lines(piece)
                and ((whole and _has_words(piece)) or self._says(piece, following=following))
            )
            kept.append(piece.as_text if copied and not piece.has(mark) else piece)
            following = f"{piece.as_text.value} {following}"
        return tuple(reversed(kept))

    def holds_line(self, line: str) -> bool:
        """Return whether a text has this line, or a cell of this row, up to markup and case."""
        folded = _folded(line)
        cells = folded.split("|") if folded.lstrip().startswith("|") else ()
        return any(_words(part) in self._lines for part in (folded, *cells))

    def holds_score(self, value: str, *, severity: bool = False) -> bool:
        """Return whether a text gives a score, or a severity, that begins with the same word."""
        word = _WORD.search(_folded(value[:_LONGEST_GRADE])) if self._grades else None
        return word is not None and (severity, word[0]) in self._grades

    def holds_next_to(self, line: str, *, before: str, after: str) -> bool:
        """Return whether a text has this line next to the words `before` it or `after` it."""
        words = _words(_folded(line))
        if words not in self._lines:
            return False
        words_before = _words(_folded(before)).split()[-_NEIGHBOURING_WORDS:]
        words_after = _words(_folded(after)).split()[:_NEIGHBOURING_WORDS]
        phrases = [(*words_before, words)] if words_before else []
        phrases += [(words, *words_after)] if words_after else []
        return any(f" {' '.join(phrase)} " in text for phrase in phrases for text in self._running)

    def _grades_like(self, piece: Field, *, following: str) -> bool:
        value, severity = piece.value or following, piece.label is Label.SEVERITY
        return piece.label in GRADED and self.holds_score(value, severity=severity)

    def _says(self, piece: Field, *, following: str) -> bool:
        """Return whether a text contains the label with the first words of its value.

        If the value has no words, such as a lone quotation mark, the next line is the value.
        """
        value = piece.value if _has_words(piece) else without_markup(following)
        words = _first_words(_folded(f"{piece.head} {value[:_COMPARED]}"))
        index = bisect_left(self._fields, words)
        field = self._fields[index] if index < len(self._fields) else ""
        return bool(words) and f"{field} ".startswith(f"{words} ")

    @cached_property
    def _folded(self) -> tuple[str, ...]:
        return tuple(map(_folded, self._texts))

    @cached_property
    def _lines(self) -> frozenset[str]:
        """The words of each line."""
        lines = (line for text in self._folded for line in text.splitlines())
        return frozenset(_words(line) for line in lines) - {""}

    @cached_property
    def _grades(self) -> frozenset[tuple[bool, str]]:
        """The first word of each grade, and whether it is a severity."""
        return frozenset(
            grade
            for text in self._folded
            if any(word in text for word in _GRADE_WORDS)
            for grade in chain(_grades_within(text), _grades_of_lines(text))
        )

    @cached_property
    def _running(self) -> tuple[str, ...]:
        """The words of each text on one line, with a space at both ends."""
        return tuple(
            f" {' '.join(filter(None, map(_words, text.splitlines())))} " for text in self._folded
        )

    @cached_property
    def _fields(self) -> list[str]:
        """First words of each field that the texts label as reviews do, sorted."""
        return sorted(
            _first_words(text[label.start() : label.start() + _COMPARED])
            for text in self._folded
            for label in _LABEL.finditer(text)
        )


def _folded(text: str) -> str:
    """Return `text` without the differences that models make when copying, in plain letters."""
    if text.isascii():
        return text.casefold()
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold()


def _grades_within(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the grades in `text`, at any position in a line."""
    for grade in _GRADE.finditer(text):
        yield grade["name"].startswith("severity"), grade["value"]


def _grades_of_lines(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the grades that the lines of `text` would give as lines of a reply."""
    following = ""
    for line in reversed(text.splitlines()):
        named = any(word in line for word in _GRADE_WORDS)
        for piece in fields(line) if named else ():
            value = (piece.value or following)[:_LONGEST_GRADE]
            if piece.label in GRADED and (word := _WORD.search(value)):
                yield piece.label is Label.SEVERITY, word[0]
        following = line if line.strip() else following


def _begins_field(line: str) -> bool:
    """Return whether a line, or a cell of it, begins like a requested field."""
    return any(
        _words(part).removeprefix("no ").startswith(_FIELD_WORDS) for part in line.split("|")
    )


def _first_words(text: str) -> str:
    return " ".join(_WORD.findall(_REMARK.sub(" ", text))[:_COMPARED_WORDS])


def _has_words(piece: Field) -> bool:
    """Return whether the field is more than a label with marks, or the fence of a code block."""
    says = piece.label is Label.NO_ERROR or _WORD.search(piece.value) is not None
    return says and not is_code_fence(piece.value)


def _in_lines(piece: Field) -> bool:
    return piece.label in _HELD_AS_LINES


def _words(line: str) -> str:
    return " ".join(_WORD.findall(_REMARK.sub(" ", without_markup(line))))


NO_MATERIAL = Material(())
"""For a reply whose material is unknown."""
