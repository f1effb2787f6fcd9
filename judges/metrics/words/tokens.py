"""Tokenizers without any library."""

import re
import string
from functools import lru_cache, partial
from typing import Literal, get_args

from spanjury.judges.metrics.words.cuts import Cut, Plain

Units = Literal["whitespace", "words"]
UNITS: tuple[Units, ...] = get_args(Units)

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_WORDS_ALONE = str.maketrans({chr(code): " " for code in range(128) if not _WORD.match(chr(code))})
_ARTICLES = frozenset({"a", "an", "the"})
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def is_blank(text: str) -> bool:
    """Return whether `text` has only white space."""
    return not text.strip()


def tokens(text: str, units: Units) -> tuple[str, ...]:
    """Split at white space, or into lower-cased words without punctuation.

    Examples
    --------
    >>> tokens("Don't stop, Ann!", "words")
    ("don't", 'stop', 'ann')
    >>> tokens("Don't stop, Ann!", "whitespace")
    ("Don't", 'stop,', 'Ann!')
    """
    if units == "whitespace":
        return tuple(text.split())
    lowered = text.lower()
    if lowered.isascii() and "'" not in lowered:  # several times as fast as searching for words
        return tuple(lowered.translate(_WORDS_ALONE).split())
    return tuple(_WORD.findall(lowered))


@lru_cache(maxsize=2)
def units_cut(units: Units) -> Cut:
    """Return `tokens` as the cut of a corpus."""
    plain: Plain = "as it is" if units == "whitespace" else "in lower case"
    return Cut(words=partial(tokens, units=units), plain=plain)


def answer_tokens(text: str) -> tuple[str, ...]:
    """Return the words of a short answer: lower-cased, no ASCII punctuation, no articles.

    Examples
    --------
    >>> answer_tokens("The Eiffel-Tower, a landmark.")
    ('eiffeltower', 'landmark')

    References
    ----------
    .. [1] Rajpurkar et al. (2016), SQuAD, arXiv:1606.05250, section 6.1
    """
    plain = text.lower().translate(_NO_PUNCTUATION)
    return tuple(_ARTICLE.sub(" ", plain).split())


ANSWER_CUT = Cut(words=answer_tokens, plain="in lower case", but=_ARTICLES)
"""`answer_tokens` as the cut of a corpus."""


def without_lone_surrogates(text: str) -> str:
    """Replace lone surrogates, which native code does not accept, by U+FFFD."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)
