"""Tokens of a sentence: what it says, word by word, with what is denied and in which unit."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isinf
from typing import Literal, NamedTuple

from spanjury.judges.rules.alignment.keys import key
from spanjury.judges.rules.alignment.lexicon import (
    HARMLESS_AFTER_NO,
    INFINITIVE_NEGATORS,
    LIGHT,
    NEGATORS,
    ORDINALS,
)
from spanjury.judges.rules.alignment.opposites import NEGATIVE_FORMS
from spanjury.judges.rules.alignment.units import UNITS
from spanjury.judges.rules.numbers import SHORT_SCALES, numbers
from spanjury.judges.text.lexicon import MONTHS, SAME, WEEKDAYS
from spanjury.judges.text.words import fold_word

Kind = Literal["word", "name", "number", "weekday", "month", "ordinal"]

_NOT = r"[nN] ?['’] ?[tT]\b"
_LEXEME = re.compile(
    rf"{_NOT}|[^\W\d_]+?(?={_NOT})|['’](?:ll|re|ve|m|d|s)\b|[^\W\d_]+\d\w*|[^\W\d_]+"
    r"|[1-9]\d{0,2}(?:, ?\d{3})+(?!\d)(?:\.\d+)?|\d+(?:[.,]\d+)*|[%$£€¥,;:?!()\"“”'’–—-]"
)
_DECIMAL_COMMA = re.compile(r"\d+,\d{1,2}|0,\d+")
_CUT_AUXILIARIES = {"ca": "can", "wo": "will", "sha": "shall"}
_MONTHS = frozenset(MONTHS)
_ORDINAL_ENDINGS = frozenset(("st", "nd", "rd", "th"))
_DENYING = NEGATORS | INFINITIVE_NEGATORS
_BREAK = "|"  # no word, so that no number is read across punctuation
_STOPS = frozenset(',;:?!.()"“”')


class Lexeme(NamedTuple):
    """A word or a mark, as it stands; offsets are those of the sentence."""

    start: int
    end: int
    text: str
    folded: str


class Token(NamedTuple):
    """A word, a number or a name that says something.

    `key` is the same for all its forms; `denials` are the places of the words that deny it,
    and `before` the light words and marks between the last token and it, which begin at
    `opening`. Of a number, `value` is what it states and `unit` dimension and unit.
    """

    start: int
    end: int
    key: str
    kind: Kind
    value: float
    unit: tuple[str, str] | None
    denials: tuple[tuple[int, int], ...]
    denied: bool
    before: tuple[str, ...]
    opening: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A sentence as tokens.

    Parameters
    ----------
    text
        As it stands.
    keys
        The keys of its tokens.
    after
        Light words and marks behind the last token.
    question
        Whether it asks rather than says.
    """

    text: str
    tokens: Sequence[Token]
    keys: Sequence[str]
    after: tuple[str, ...]
    question: bool


def lexemes(text: str) -> Iterator[Lexeme]:
    """Yield the words and marks of `text`, contracted forms as two words.

    Examples
    --------
    >>> [lexeme.folded for lexeme in lexemes("He can’t, cannot or do n't: 8,4%")]
    ['he', 'can', 'not', ',', 'can', 'not', 'or', 'do', 'not', ':', '8.4', 'percent']
    """
    for match in _LEXEME.finditer(text):
        start, end = match.span()
        found = match.group()
        if found.isalpha():
            folded = found.lower() if found.isascii() else fold_word(found)
            if folded == "cannot":
                yield Lexeme(start, start + 3, found[:3], "can")
                yield Lexeme(start + 3, end, found[3:], "not")
            elif folded in _CUT_AUXILIARIES and text[end : end + 1] in {"n", "N"}:
                yield Lexeme(start, end, found, _CUT_AUXILIARIES[folded])
            else:
                yield Lexeme(start, end, found, folded)
        elif found[0] in "nN" and not found[1].isalnum():
            yield Lexeme(start, end, found, "not")
        elif _DECIMAL_COMMA.fullmatch(found):
            yield Lexeme(start, end, found, fold_word(found.replace(",", ".")))
        else:
            yield Lexeme(start, end, found, fold_word(found))


@lru_cache(maxsize=2048)  # the outputs of several systems stand beside the same sentences
def phrase(text: str) -> Phrase:
    """Read a sentence as tokens."""
    reader = _Reader(list(lexemes(text)))
    tokens = list(reader.tokens())
    return Phrase(
        text=text,
        tokens=tokens,
        keys=[token.key for token in tokens],
        after=tuple(reader.before),
        question=text.rstrip("\"'”’) ").endswith("?"),
    )


class _Reader:
    """State of the reading of a sentence from left to right."""

    def __init__(self, found: Sequence[Lexeme]) -> None:
        self._found = found
        self._folded = [lexeme.folded for lexeme in found]
        self.before: list[str] = []
        self._opening = -1
        self._denials: list[tuple[int, int]] = []

    def tokens(self) -> Iterator[Token]:
        """Yield the tokens in order."""
        stated = {number.first: number for number in numbers(self._readable())}
        stop = 0
        for at, lexeme in enumerate(self._found):
            if at < stop:
                continue
            if at in stated:
                stop = self._past_ending(stated[at].stop)
                value = stated[at].value
                number = f"#{value:g}" if not isinf(value) else f"#{lexeme.folded}"
                yield self._token((at, stop), number, kind="number", value=value)
            elif lexeme.folded in _DENYING and self._denies(at):
                self._deny(lexeme)
            elif self._is_light(at):
                self._pass(lexeme)
            else:
                yield self._word(at)

    def _readable(self) -> list[str]:
        """Return the words for the reading of numbers, marks as breaks."""
        return [word if word[0].isalnum() else _BREAK for word in self._folded]

    def _past_ending(self, stop: int) -> int:
        """Step over the ending of an ordinal in numerals."""
        follows = stop < len(self._found) and self._folded[stop] in _ORDINAL_ENDINGS
        return stop + 1 if follows else stop

    def _denies(self, at: int) -> bool:
        word = self._folded[at]
        after = self._folded[at + 1] if at + 1 < len(self._folded) else "."
        if word == "no":
            return (
                after not in HARMLESS_AFTER_NO
                and after[0] not in ",;:?!."
                and not after[0].isdigit()
            )
        if word in INFINITIVE_NEGATORS:
            return after == "to"
        if word == "nothing":
            return after not in {"to", "but", "more", "less"}
        if word == "nor":
            return "neither" not in self.before
        return word in NEGATORS

    def _deny(self, lexeme: Lexeme) -> None:
        if lexeme.folded not in self.before:  # or else it was stammered
            self._denials.append((lexeme.start, lexeme.end))
        self._pass(lexeme)

    def _pass(self, lexeme: Lexeme) -> None:
        if self._opening < 0 or lexeme.folded in _STOPS:
            self._opening = lexeme.end if lexeme.folded in _STOPS else lexeme.start
        self.before.append(lexeme.folded)

    def _is_light(self, at: int) -> bool:
        word = self._folded[at]
        if word == "longer":
            return self.before[-1:] == ["no"]
        if word == "may" and at:
            return self._found[at].text != "May"
        return word in LIGHT or not word[0].isalnum() or (len(word) == 1 and word.isalpha())

    def _word(self, at: int) -> Token:
        lexeme = self._found[at]
        folded = SAME.get(lexeme.folded, lexeme.folded)
        if folded in NEGATIVE_FORMS:
            self._denials.append((lexeme.start, lexeme.end))
            folded = NEGATIVE_FORMS[folded]
        return self._token((at, at + 1), key(folded), kind=self._kind(at, folded))

    def _kind(self, at: int, folded: str) -> Kind:
        if folded in WEEKDAYS:
            return "weekday"
        if folded in _MONTHS and self._found[at].text not in {"march", "may"}:
            return "month"
        if folded in ORDINALS:
            return "ordinal"
        return "name" if self._found[at].text[0].isupper() else "word"

    def _token(self, place: tuple[int, int], name: str, *, kind: Kind, value: float = 0.0) -> Token:
        at, stop = place
        start = self._found[at].start
        token = Token(
            start=start,
            end=self._found[stop - 1].end,
            key=name,
            kind=kind,
            value=value,
            unit=self._unit(stop) if kind == "number" else None,
            denials=tuple(self._denials),
            denied=len(self._denials) % 2 == 1,
            before=tuple(self.before),
            opening=start if self._opening < 0 else self._opening,
        )
        self.before.clear()
        self._denials.clear()
        self._opening = -1
        return token

    def _unit(self, stop: int) -> tuple[str, str] | None:
        """Return the unit of the number that ends before `stop`."""
        if self.before and self.before[-1] in UNITS and not self.before[-1].isalpha():
            return UNITS[self.before[-1]]
        follows = next((word for word in self._folded[stop : stop + 2] if word != "-"), "")
        return UNITS.get(follows) if follows not in SHORT_SCALES else None
