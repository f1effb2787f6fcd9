"""Tokens for the small encoder: the words and marks of a text with their offsets."""

import re
from typing import NamedTuple

from spanjury.judges.text.kept import KeptByWord
from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import fold_word

_TOKEN = re.compile(
    r"\d+(?:[.,:]\d+)*(?:st|nd|rd|th)?\b|[^\W_]+(?:['’](?![sS]\b)[^\W\d_]+)*|['’][sS]\b|[^\w\s]|_"
)

_NEGATIONS = frozenset(
    "not no never neither nor none nothing nobody nowhere without cannot unable hardly".split()  # noqa: SIM905 - so many read best so
)

TURNS = frozenset(
    """not no never neither nor nobody nothing none without if whether unless cannot t deny denies
    denied false falsely untrue wrongly rumours rumors hoax myth refuse refuses refused fail fails
    failed""".split()  # noqa: SIM905 - so many read best so
)
"""Words that may reverse the meaning of a copied phrase after them in its source sentence."""

RESTRICTIONS = frozenset(
    """if unless only except until till but than though although provided or nor without not
    instead""".split()  # noqa: SIM905
)
"""Words that may restrict the meaning of a copied phrase directly before them."""


class Token(NamedTuple):
    """A word, a number or a punctuation mark.

    Parameters
    ----------
    start, end
        Half-open offsets in code points.
    stem
        Stem of a word, for comparison; for a mark, the mark.
    """

    start: int
    end: int
    text: str
    stem: str

    @property
    def is_word(self) -> bool:
        """True if it begins with a letter or a digit."""
        return self.text[0].isalnum()

    @property
    def is_number(self) -> bool:
        """True if it begins with a digit."""
        return self.text[0].isdecimal()

    @property
    def is_content(self) -> bool:
        """True if it is a number, or a word that carries more than grammar."""
        return self.is_word and self.stem not in FUNCTION_WORDS and "'" not in self.stem

    @property
    def is_capital(self) -> bool:
        """True if it begins with a capital letter."""
        return self.text[0].isupper()


def is_negation(token: Token) -> bool:
    """Return whether a word negates its sentence."""
    text = token.text.lower().replace("’", "'")
    return text in _NEGATIONS or text.endswith("n't")


def tokens(text: str, *, offset: int = 0) -> list[Token]:
    """Return the tokens of `text` in order; `offset` is added to their offsets."""
    read = []
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        token = match.group()
        read.append(Token(start + offset, end + offset, token, _STEMS[token]))
    return read


def _stem(token: str) -> str:
    if not token[0].isalnum():
        return token
    folded = fold_word(token)
    return stem(folded.replace("’", "'")) if folded else token


_STEMS = KeptByWord(_stem)
