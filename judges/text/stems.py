"""Stems: what the forms of one word have in common, roughly."""

from spanjury.judges.text.kept import KeptByWord
from spanjury.judges.text.lexicon import FUNCTION_WORDS, IRREGULAR, SAME

_ENDINGS = (
    "ations",
    "ation",
    "ments",
    "ment",
    "ings",
    "ing",
    "ions",
    "ion",
    "ies",
    "ied",
    "ers",
    "als",
    "er",
    "or",
    "al",
    "ed",
    "es",
    "ly",
    "s",
    "e",
)
_SHORTEST = 3  # letters that an ending must leave


def stem(word: str) -> str:
    """Return the stem of a folded `word`: its first longest listed ending taken off.

    It errs towards calling two words the same: the rules mark what has no support. The
    stem of a function word is itself, and no other word has it.

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
    """Take off an ending, then one of two last letters alike, then a vowel that varies."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            word = word[: -len(ending)]
            break
    if len(word) > _SHORTEST and word[-1] == word[-2]:
        word = word[:-1]
    return word[:-1] if len(word) > _SHORTEST and word[-1] in "yie" else word


STEMS = KeptByWord(_stem)
"""Folded word -> its stem."""
