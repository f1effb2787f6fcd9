"""Another form of the same words: contracted or not, numbers in letters or digits."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from numpy.random import Generator

from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import text_perturbation
from spanjury.perturbations.text.clusters import masked
from spanjury.perturbations.text.equivalents import (
    equivalents,
    phrases_of,
    phrases_pattern,
)
from spanjury.perturbations.text.language import require_english
from spanjury.perturbations.text.places import Choice, cased_like, struck

__all__ = ["contractions", "harmless_paraphrase", "number_words"]

_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")
# A plain small number between two words in small letters: no date, label, score, sum or unit.
_NUMBER = re.compile(
    rf"\b[a-z]+ (?P<number>[2-9]|1[01]|{'|'.join(_NUMBERS)})"
    r"(?= (?!am\b|pm\b|to\b|or\b|and\b)[a-z]{3})"
)
_ASKED = r"(?! (?:I|you|we|they|he|she|it|the|there|this|that)\b)"


@text_perturbation(family="invariance", level="word", spares={"*"}, language="en")
def contractions(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Contract `k` verbs, as ``do not`` to ``don't``, or write contracted ones in full."""
    require_english(text)
    return struck(list(_contractible(text)), rng, k=k, what="verbs to contract or write in full")


@text_perturbation(family="invariance", level="word", spares={"*"}, language="en")
def number_words(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Write `k` numbers from 2 to 11 in letters that were in digits, or the reverse."""
    require_english(text)
    return struck(list(_numbers(text)), rng, k=k, what="plain numbers from 2 to 11")


@text_perturbation(family="invariance", level="word", spares={"*"}, language="en")
def harmless_paraphrase(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Replace `k` phrases by ones that mean the same, as ``for example`` by ``for instance``."""
    require_english(text)
    return struck(list(equivalents(text)), rng, k=k, what="phrases with an equivalent")


def _contractible(text: str) -> Iterator[Choice]:
    apostrophe = "’" if "’" in text else "'"
    known = _forms()
    for match in _pattern().finditer(masked(text).replace("’", "'")):
        found = match.group()
        other = known[found.lower()].replace("'", apostrophe)
        yield Choice(match.start(), match.end(), (_cased(other, found),))


def _cased(text: str, model: str) -> str:
    """Write in capitals only what has more than one: ``I am`` is written small."""
    capitals = model.isupper() and sum(char.isalpha() for char in model) > 2  # noqa: PLR2004
    if capitals:
        return text.upper()
    return cased_like(text, model[0].upper() + "a" if model[0].isupper() else "a")


def _numbers(text: str) -> Iterator[Choice]:
    for match in _NUMBER.finditer(masked(text)):
        found = match["number"]
        other = _NUMBERS[int(found) - 2] if found.isdecimal() else str(_NUMBERS.index(found) + 2)
        yield Choice(*match.span("number"), (other,))


@cache
def _pattern() -> re.Pattern[str]:
    """Return what matches a form, full or short, where the other may stand."""
    anywhere = phrases_of("contractions", key="anywhere")
    stressless = phrases_of("contractions", key="before_a_word")
    full = phrases_pattern(tuple(full for full, _ in anywhere)).pattern
    before = phrases_pattern(tuple(full for full, _ in stressless)).pattern
    short = phrases_pattern(tuple(short for _, short in (*anywhere, *stressless))).pattern
    return re.compile(rf"{full}(?! only)|{before}(?= [a-z])|{short}{_ASKED}", re.IGNORECASE)


@cache
def _forms() -> Mapping[str, str]:
    pairs = [
        p for key in ("anywhere", "before_a_word") for p in phrases_of("contractions", key=key)
    ]
    return MappingProxyType({a.lower(): b for a, b in pairs} | {b.lower(): a for a, b in pairs})
