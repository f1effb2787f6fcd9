"""Changes that should leave every score the same: contractions, numerals, phrases, layout."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from numpy.random import Generator

from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import NothingToDamageError, text_perturbation
from spanjury.perturbations.text.clusters import masked
from spanjury.perturbations.text.language import english_perturbation
from spanjury.perturbations.text.places import Choice, cased_like, chosen, fitted, struck
from spanjury.perturbations.text.wordlists import lists

_CODE = re.compile(r"(?P<fence>`{3,}).*?(?:(?P=fence)|\Z)|`[^`\n]+`", re.DOTALL)
_NOT_PROSE = "\ufffc"  # neither a word character, nor white space, nor a mark
_BLANK = re.compile(r"(?<=\S) (?=\S)")
_CURLY = {"“": '"', "”": '"', "‘": "'", "’": "'"}
_MARK = re.compile(r"(?P<curly>[“”‘’])|(?P<straight>[\"'])|\.\.\.|…| - | — | – |(?<=\w)—(?=\w)")
_OPENING = ("", *"([{—–-\"'")
_SHORTENED = re.compile(r"'(?:s|t|d|m|re|ve|ll)\b", re.IGNORECASE)  # cut off in tokenised text
_OTHER = {"...": "…", "…": "...", " - ": " – ", " — ": " – ", " – ": " — ", "—": " – "}
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
# A small number between two lower-case words: not a date, label, score, amount or unit.
_NUMBER = re.compile(
    rf"\b[a-z]+ (?P<number>[2-9]|1[01]|{'|'.join(_NUMBERS)})"
    r"(?= (?!am\b|pm\b|to\b|or\b|and\b)[a-z]{3})"
)
_NOT_INVERTED = r"(?! (?:I|you|we|they|he|she|it|the|there|this|that)\b)"  # as in "Isn't it ...?"


@text_perturbation(family="invariance", level="character", spares={"*"})
def whitespace(text: str, rng: Generator, *, k: int = 3) -> list[Edit]:
    """Double `k` of the spaces between words."""
    ends = [blank.end() for blank in _BLANK.finditer(_prose(text))]
    drawn = chosen(len(ends), rng, k=k, what="single blanks between words")
    return [Edit(start=ends[index], end=ends[index], text=" ") for index in drawn.tolist()]


@text_perturbation(family="invariance", level="character", spares={"*"})
def punctuation_style(text: str, _: Generator) -> list[Edit]:
    """Change the style of quotation marks, apostrophes, dashes and dots: curly or straight.

    All of them are changed, since a text in two styles would be worse. Code in backticks stays as
    it is, and so does JSON, in which curly marks would be errors.
    """
    mask = _prose(text)
    curly = any(mark in mask for mark in _CURLY)
    edits = []
    for match in _MARK.finditer(mask):
        quote = match.group()
        if match["straight"] and curly:
            continue  # straight ones in a text with curly ones: feet, minutes, code
        if match["straight"]:
            other = _curled(mask, match.start())
        else:
            other = _CURLY[quote] if match["curly"] else _OTHER[quote]
        edits.append(Edit(start=match.start(), end=match.end(), text=other))
    if not edits:
        raise NothingToDamageError("no quotation mark, apostrophe, dash or dots to restyle")
    return edits


def _prose(text: str) -> str:
    """Return the masked `text` with code, in JSON or backticks, masked so that no rule matches."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            json.loads(text)
        except ValueError:
            pass
        else:
            return _NOT_PROSE * len(text)
    return _CODE.sub(lambda code: _NOT_PROSE * len(code.group()), masked(text))


def _curled(text: str, index: int) -> str:
    """Return the curly form of the straight mark at `index`."""
    before, after = text[index - 1 : index], text[index + 1 : index + 2]
    opens = before in _OPENING or before.isspace()
    opens = opens and not (after.isspace() or _SHORTENED.match(text, index))
    if text[index] == '"':
        return "“" if opens else "”"
    return "‘" if opens else "’"


def equivalents(text: str) -> Iterator[Choice]:
    """Yield the phrases of an English `text` that have equivalents, with these, in order."""
    others_of = _interchangeable()
    for match in _phrases_pattern(tuple(others_of)).finditer(masked(text)):
        phrase = match.group()
        others = (cased_like(other, phrase) for other in others_of[phrase.lower()])
        yield fitted(text, Choice(match.start(), match.end(), tuple(others)))


def _phrases_of(name: str, *, key: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of the list `key` of the word list `name`, which contains ``a = b``."""
    pairs = (line.partition(" = ") for line in lists(name)[key])
    return tuple((first, second) for first, _, second in pairs)


@cache
def _phrases_pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of any of `phrases` as whole words, longest first, ignoring case."""
    longest = sorted(phrases, key=len, reverse=True)
    return re.compile(
        rf"(?<![\w'’-])(?:{'|'.join(map(re.escape, longest))})(?![\w'’-])", re.IGNORECASE
    )


@cache
def _interchangeable() -> Mapping[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    pairs = _phrases_of("equivalents", key="both")
    one_way = _phrases_of("equivalents", key="one_way")
    for first, second in (*pairs, *((b, a) for a, b in pairs), *one_way):
        table[first] = (*table.get(first, ()), second)
    return MappingProxyType(table)


@english_perturbation(family="invariance", level="word", spares={"*"})
def contractions(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Contract `k` verbs, such as ``do not`` to ``don't``, or write contracted ones in full."""
    apostrophe = "’" if "’" in text else "'"
    choices = []
    for match in _pattern().finditer(masked(text).replace("’", "'")):
        form = match.group()
        other = _forms()[form.lower()].replace("'", apostrophe)
        choices.append(Choice(match.start(), match.end(), (_cased(other, form),)))
    return struck(choices, rng, k=k, what="verbs to contract or write in full")


@english_perturbation(family="invariance", level="word", spares={"*"})
def number_words(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Write `k` numbers from 2 to 11 in words instead of digits, or the reverse."""
    choices = []
    for match in _NUMBER.finditer(masked(text)):
        number = match["number"]
        other = _NUMBERS[int(number) - 2] if number.isdecimal() else str(_NUMBERS.index(number) + 2)
        choices.append(Choice(*match.span("number"), (other,)))
    return struck(choices, rng, k=k, what="plain numbers from 2 to 11")


@english_perturbation(family="invariance", level="word", spares={"*"})
def harmless_paraphrase(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Replace `k` phrases by equivalent ones, such as ``for example`` by ``for instance``."""
    return struck(list(equivalents(text)), rng, k=k, what="phrases with an equivalent")


def _cased(text: str, model: str) -> str:
    """Write in capitals only for a `model` of three capitals or more, so not for ``I'm``."""
    has_capitals = model.isupper() and sum(char.isalpha() for char in model) > 2  # noqa: PLR2004
    if has_capitals:
        return text.upper()
    return cased_like(text, model[0].upper() + "a" if model[0].isupper() else "a")


@cache
def _pattern() -> re.Pattern[str]:
    """Return a pattern of forms, full or contracted, that can be replaced by the other."""
    anywhere = _phrases_of("contractions", key="anywhere")
    stressless = _phrases_of("contractions", key="before_a_word")
    full = _phrases_pattern(tuple(full for full, _ in anywhere)).pattern
    before = _phrases_pattern(tuple(full for full, _ in stressless)).pattern
    short = _phrases_pattern(tuple(short for _, short in (*anywhere, *stressless))).pattern
    return re.compile(rf"{full}(?! only)|{before}(?= [a-z])|{short}{_NOT_INVERTED}", re.IGNORECASE)


@cache
def _forms() -> Mapping[str, str]:
    pairs = [
        p for key in ("anywhere", "before_a_word") for p in _phrases_of("contractions", key=key)
    ]
    return MappingProxyType({a.lower(): b for a, b in pairs} | {b.lower(): a for a, b in pairs})
