"""Tokens of a sentence: its meaningful words and numbers, with denials and units."""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import isinf
from types import MappingProxyType
from typing import Literal, NamedTuple

from spanjury.judges.rules.alignment.keys import key
from spanjury.judges.rules.alignment.lexicon import (
    HARMLESS_AFTER_NO,
    INFINITIVE_NEGATORS,
    LIGHT,
    NEGATORS,
    OF_RULES,
)
from spanjury.judges.rules.alignment.opposites import NEGATIVE_FORMS
from spanjury.judges.text.kept import KeptByText, KeptByWord
from spanjury.judges.text.lexicon import MONTHS, SAME, WEEKDAYS
from spanjury.judges.text.numbers import ORDINALS, SHORT_SCALES, Number, begins_number, numbers
from spanjury.judges.text.words import GROUPED, fold_word

Kind = Literal["word", "name", "label", "number", "weekday", "month", "ordinal"]

_NOT = r"[nN] ?['’] ?[tT]\b"

_UNITS = """
length: metre meter metres meters / kilometre kilometer kilometres kilometers km kms / mile \
miles / foot feet ft / inch inches / yard yards / centimetre centimetres centimeter \
centimeters cm / millimetre millimetres millimeter millimeters mm
weight: gram grams gramme grammes g / kilogram kilograms kilo kilos kg / tonne tonnes ton tons \
/ pound pounds lb lbs / ounce ounces oz / milligram milligrams mg / microgram micrograms mcg
volume: litre litres liter liters l / millilitre millilitres milliliter milliliters ml / \
gallon gallons / pint pints / barrel barrels
time: second seconds sec secs / minute minutes min mins / hour hours hr hrs / day days / week \
weeks / month months / year years yr yrs / decade decades / century centuries
area: acre acres / hectare hectares
energy: watt watts w / kilowatt kilowatts kw / megawatt megawatts mw / gigawatt gigawatts gw
data: kilobyte kilobytes kb / megabyte megabytes mb / gigabyte gigabytes gb / terabyte \
terabytes tb
money: $ dollar dollars usd / £ gbp sterling / € euro euros eur / ¥ yen / rupee rupees / cent \
cents / penny pence
share: percent % / degree degrees / point points
"""


def _lexeme(letter: str, *, quotes: bool) -> re.Pattern[str]:
    """Return the pattern of a lexeme with letters of this class, contracted or not."""
    contracted = rf"{_NOT}|{letter}+?(?={_NOT})|['’](?:ll|re|ve|m|d|s)\b|" if quotes else ""
    return re.compile(
        rf"{contracted}{letter}++(?:\d\w*)?"
        rf"|{GROUPED}"
        r"|\d+(?:[.,]\d+)*|[%$£€¥,;:?!()\"“”'’–—-]"
    )


_LEXEME = _lexeme(r"[^\W\d_]", quotes=True)

# The same for texts in ASCII, without and with quotation marks, several times as fast.
_PLAIN = (_lexeme("[A-Za-z]", quotes=False), _lexeme("[A-Za-z]", quotes=True))

_DECIMAL_COMMA = re.compile(r"\d+,\d{1,2}|0,\d+|[1-9]\d{0,2}(?:\.\d{3})+,\d{1,2}")

_CUT_AUXILIARIES = {"ca": "can", "wo": "will", "sha": "shall"}

_TORN = frozenset(("cannot", *_CUT_AUXILIARIES))

_MONTHS = frozenset(MONTHS)

_ORDINAL_ENDINGS = frozenset(("st", "nd", "rd", "th"))

_DENYING = NEGATORS | INFINITIVE_NEGATORS

_NO_MONTHS = frozenset(("march", "may"))

_BREAK = "|"  # not a word, so that no number is read across punctuation

_STOPS = frozenset(',;:?!.()"“”')

_LABEL = re.compile(
    r"(?<=\w )(?<!\d )(?:[B-HJ-Z]|A(?! +[A-Z\"“]))\b(?![-.'’&/+#]\w|\. +[A-Z])"
    r"|(?<=\w: )[A-Z](?=[,;]|\W*$)"
    r"|\b[^\W\d_]{3,} \d{1,2} (?P<numbered>[B-E])(?=[,;]|\W*$)"
    r"|^\W*(?P<alone>[A-HJ-Z])\W*$"
)
"""A letter that names something, as in ``bag A`` and ``question 1: B``.

It is no article, initial or unit (``5 W``)."""

_TENTH = 10  # ordinals above it count as words


Lexeme = tuple[int, int, str, str]
"""Start and end in the sentence, the written form, and the folded form of a word or mark."""


class Token(NamedTuple):
    """A meaningful word, a number or a name.

    `key` is the same for all its forms; that of a label (``bag A``) is its letter, a capital.
    `denials` are the intervals of the words that deny it. `before` has the light words and marks
    between the previous token and this one, which begin at `opening`. For a number, `value` is its
    value and `unit` its dimension and unit.
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

    @property
    def measure(self) -> tuple[str, str]:
        """Its kind and, of a quantity, its dimension."""
        return self.kind, self.unit[0] if self.unit else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A sentence as tokens.

    Parameters
    ----------
    text
        The sentence as written.
    keys
        The keys of its tokens.
    after
        Light words and marks after the last token.
    question
        Whether it is a question.
    kinds
        The kinds of its tokens.
    denies
        Whether any of its tokens is denied.
    passive
        Whether "by" precedes any of them.
    rules
        Its words that apply a rule to a case.
    """

    text: str
    tokens: Sequence[Token]
    keys: Sequence[str]
    after: tuple[str, ...]
    question: bool
    kinds: AbstractSet[Kind]
    denies: bool
    passive: bool
    rules: AbstractSet[str]

    @property
    def words(self) -> list[str]:
        """The keys to search for it by, in order of first occurrence: those of no numbers."""
        return list(dict.fromkeys(token.key for token in self.tokens if token.kind != "number"))

    def written(self, token: Token) -> str:
        """Return a token of it as written, in lower case."""
        return self.text[token.start : token.end].lower()


def lexemes(text: str) -> list[Lexeme]:
    """Return the words and marks of `text`; contractions become two words.

    Examples
    --------
    >>> [folded for _, _, _, folded in lexemes("He can’t, cannot or do n't: 8,4%")]
    ['he', 'can', 'not', ',', 'can', 'not', 'or', 'do', 'not', ':', '8.4', 'percent']
    """
    pattern = _PLAIN["'" in text] if text.isascii() else _LEXEME
    lexemes: list[Lexeme] = []
    for match in pattern.finditer(text):
        word = match.group()
        start, end = match.span()
        folded = _FOLDED[word]
        if folded in _TORN and word.isalpha():
            lexemes += _torn(text, start, end, folded=folded)
        else:
            lexemes.append((start, end, word, folded))
    return lexemes


def _torn(text: str, start: int, end: int, *, folded: str) -> Iterator[Lexeme]:
    """Yield a word that may contain "not", or that was split from it."""
    if folded == "cannot":
        yield start, start + 3, text[start : start + 3], "can"
        yield start + 3, end, text[start + 3 : end], "not"
    else:
        cut = text[end : end + 1] in {"n", "N"}
        yield start, end, text[start:end], _CUT_AUXILIARIES[folded] if cut else folded


def _folded(word: str) -> str:
    """Fold a match of `_LEXEME`."""
    if word[0] in "nN" and not word.isalpha() and not word[1].isalnum():
        return "not"
    if _DECIMAL_COMMA.fullmatch(word):
        return fold_word(word.replace(".", "").replace(",", "."))
    return fold_word(word)


_FOLDED = KeptByWord(_folded)


class _Sense(NamedTuple):
    """Meaning of a folded word, independent of its context.

    It is skipped if it is `light`; None if that depends on the words around it. `denied` tells
    whether its own prefix denies it, and `counts` whether a number may begin with it. The kind
    ``"word"`` becomes a name if it has a capital.
    """

    light: bool | None
    key: str
    denied: bool
    kind: Kind
    counts: bool


def _sense(word: str) -> _Sense:
    meant = SAME.get(word, word)
    denied = meant in NEGATIVE_FORMS
    meant = NEGATIVE_FORMS.get(meant, meant)
    light: bool | None = (
        word in LIGHT or not word[0].isalnum() or (len(word) == 1 and word.isalpha())
    )
    if word in _DENYING or word in {"longer", "may"}:
        light = None
    counts = word[0].isalnum() and begins_number(word)
    return _Sense(light, key(meant), denied, _kind(meant), counts)


def _kind(meant: str) -> Kind:
    if meant in WEEKDAYS:
        return "weekday"
    if meant in _MONTHS:
        return "month"
    return "ordinal" if ORDINALS.get(meant, _TENTH + 1) <= _TENTH else "word"


_SENSES = KeptByWord(_sense)


def _read(text: str) -> Phrase:
    parts = lexemes(text)
    tokens, after = _tokens(parts, {start for start, _ in labels(text)})
    return Phrase(
        text=text,
        tokens=tokens,
        keys=[token.key for token in tokens],
        after=after,
        question=text.rstrip("\"'”’) ").endswith("?"),
        kinds={token.kind for token in tokens},
        denies=any(token.denied for token in tokens),
        passive=any("by" in token.before for token in tokens),
        rules=OF_RULES.intersection([folded for *_, folded in parts]),
    )


phrase = KeptByText(_read)
"""Read a sentence as tokens."""


def labels(text: str) -> Iterator[tuple[int, str]]:
    """Yield offset and letter of each label.

    Examples
    --------
    >>> [*labels("A bag: bag A is in box B, says J. Fox.")]
    [(11, 'A'), (23, 'B')]
    """
    for match in _LABEL.finditer(text):
        start = match.start(match.lastgroup or 0)
        yield start, text[start]


def _tokens(
    parts: Sequence[Lexeme], labelled: AbstractSet[int]
) -> tuple[list[Token], tuple[str, ...]]:
    """Read lexemes from left to right; return also the light ones after the last token.

    `labelled` are the offsets of labels.
    """
    senses = [_SENSES[folded] for _, _, _, folded in parts]
    stated = _stated(parts) if any(sense.counts for sense in senses) else {}
    tokens: list[Token] = []
    before: list[str] = []
    denials: list[tuple[int, int]] = []
    opening, stop = -1, 0
    for at, (start, end, written, folded) in enumerate(parts):
        if at < stop:
            continue
        light, name, denied, kind, _ = senses[at]
        last, value, unit = end, 0.0, None
        if at in stated:
            value, stop = stated[at].value, stated[at].stop
            if stop < len(parts) and parts[stop][3] in _ORDINAL_ENDINGS:
                stop += 1
            name, kind = f"#{folded}" if isinf(value) else f"#{value:g}", "number"
            last, unit = parts[stop - 1][1], _unit(parts[stop : stop + 2], before)
        elif start in labelled:
            name, kind = written, "label"
        elif light or (light is None and _is_passed(parts, at, before=before, denials=denials)):
            if opening < 0 or folded in _STOPS:
                opening = end if folded in _STOPS else start
            before.append(folded)
            continue
        else:
            if kind == "word" or written in _NO_MONTHS:
                kind = "name" if written[0].isupper() else "word"
            if denied:
                denials.append((start, end))
        opening = start if opening < 0 else opening
        odd, light_words = len(denials) % 2 == 1, tuple(before)
        tokens.append(
            Token(start, last, name, kind, value, unit, tuple(denials), odd, light_words, opening)
        )
        before.clear()
        denials.clear()
        opening = -1
    return tokens, tuple(before)


def _stated(parts: Sequence[Lexeme]) -> dict[int, Number]:
    """Return the numbers by the index of their first word; none is read across a mark."""
    readable = [folded if folded[0].isalnum() else _BREAK for _, _, _, folded in parts]
    return {number.first: number for number in numbers(readable)}


def _unit(behind: Sequence[Lexeme], before: Sequence[str]) -> tuple[str, str] | None:
    """Return the unit of a number from the lexemes after it and the light words before it."""
    if before and before[-1] in UNITS and not before[-1].isalpha():
        return UNITS[before[-1]]
    follows = next((folded for _, _, _, folded in behind if folded != "-"), "")
    return UNITS.get(follows) if follows not in SHORT_SCALES else None


def _is_passed(
    parts: Sequence[Lexeme], at: int, *, before: Sequence[str], denials: list[tuple[int, int]]
) -> bool:
    """Return whether a word forms no token; a word that denies the next is added to `denials`."""
    start, end, written, folded = parts[at]
    after = parts[at + 1][3] if at + 1 < len(parts) else "."
    if folded in _DENYING and _denies(folded, after=after, before=before):
        if folded not in before:  # otherwise the word is repeated
            denials.append((start, end))
        return True
    if folded == "longer":
        return before[-1:] == ["no"]
    if folded == "may" and at:
        return written != "May"
    return folded in LIGHT


def _denies(word: str, *, after: str, before: Sequence[str]) -> bool:
    """Return whether a word denies the word after it."""
    if word == "no":
        return (
            after not in HARMLESS_AFTER_NO and after[0] not in ",;:?!." and not after[0].isdigit()
        )
    if word in INFINITIVE_NEGATORS:
        return after == "to"
    if word == "nothing":
        return after not in {"to", "but", "more", "less"}
    if word == "nor":
        return "neither" not in before
    return word in NEGATORS


def _units() -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each word for a unit with its dimension and its name."""
    for line in _UNITS.strip().splitlines():
        dimension, _, rest = line.partition(":")
        for names in map(str.split, rest.split("/")):
            yield from ((word, (dimension, names[0])) for word in names)


UNITS: Mapping[str, tuple[str, str]] = MappingProxyType(dict(_units()))
"""Words for units -> dimension and unit."""

VALUES = frozenset(("label", "number", "weekday", "month", "ordinal"))
"""Kinds of tokens that hold a value."""
