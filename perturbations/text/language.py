"""Rules that support English only, and the recognition of English."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache, wraps

from numpy.random import Generator

from spanjury.perturbations.perturbation import (
    Changed,
    Level,
    NothingToDamageError,
    Perturbation,
    text_perturbation,
)
from spanjury.perturbations.text.wordlists import table

_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
# Words that are in nearly every sentence of one of the languages, and in none of the others.
_ENGLISH = frozenset(table("function_words")["english"])
_FOREIGN = frozenset(table("function_words")["foreign"])
_FEW = 8  # with fewer words, a text without any word of either list may be English
_MOSTLY = 0.5


def english_perturbation(
    *, family: str, level: Level, harms: Iterable[str] = (), spares: Iterable[str] = ()
) -> Callable[[Callable[..., Changed]], Perturbation]:
    """Make a perturbation of a rule for English texts; see `text_perturbation`.

    Any other text raises `NothingToDamageError`.
    """
    on_texts = text_perturbation(
        family=family, level=level, harms=harms, spares=spares, language="en"
    )

    def made(rule: Callable[..., Changed]) -> Perturbation:
        @wraps(rule)
        def on_english(text: str, rng: Generator, **options: object) -> Changed:
            require_english(text)
            return rule(text, rng, **options)

        return on_texts(on_english)

    return made


def require_english(text: str) -> None:
    """Raise `NothingToDamageError` if `text` is not English.

    Function words decide: there must be more English ones than German, French, Spanish, Italian,
    Portuguese, Dutch, Scandinavian, Polish and Turkish ones together. A short text with neither,
    such as a name, passes if its letters are Latin.
    """
    if objection := _objection(text):
        raise NothingToDamageError(objection)


@lru_cache(maxsize=16)  # a few texts, which many rules check
def _objection(text: str) -> str:
    """Return the reason why `text` is not English; empty if it is."""
    words = [word.lower() for word in _WORD.findall(text)]
    if not words:
        return "there is no word in the text"
    letters = "".join(words)
    if not letters.isascii() and len(_LATIN.findall(letters)) <= _MOSTLY * len(letters):
        return "the text is not English: most letters are not Latin"
    english = sum(word in _ENGLISH for word in words)
    foreign = sum(word in _FOREIGN for word in words)
    if english <= foreign and (foreign or len(words) >= _FEW):
        return "the text is not English as far as its function words show"
    return ""
