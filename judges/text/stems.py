"""Approximate stems, shared by the forms of one word."""

from spanjury.judges.text.kept import KeptByWord
from spanjury.judges.text.lexicon import FUNCTION_WORDS, IRREGULAR, SAME

_ENDINGS = tuple(
    "ations ation ments ment ings ing ions ion ies ied ers als er or al ed es ly s e".split()  # noqa: SIM905
)
_SHORTEST = 3  # minimum number of letters left without the ending


def stem(word: str) -> str:
    """Return the stem of a folded `word`, with its longest listed ending removed.

    It equates too many words rather than too few, because the rules mark words without support. A
    function word is its own stem, which no other word shares.

    Examples
    --------
    >>> stem("announced") == stem("announcement") == stem("announces")
    True
    >>> stem("won") == stem("wins"), stem("1200"), stem("evening")
    (True, '1200', 'evening')
    """
    return STEMS[word]


def _stem(word: str) -> str:
    if word in FUNCTION_WORDS or word[0].isdecimal():
        return word
    stemmed = _without_ending(IRREGULAR.get(word, SAME.get(word, word)))
    return word if stemmed in FUNCTION_WORDS else stemmed


def _without_ending(word: str) -> str:
    """Remove an ending, then one of two equal last letters, then a vowel that varies."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            word = word[: -len(ending)]
            break
    if len(word) > _SHORTEST and word[-1] == word[-2]:
        word = word[:-1]
    return word[:-1] if len(word) > _SHORTEST and word[-1] in "yie" else word


STEMS = KeptByWord(_stem)
"""Folded word -> its stem."""
