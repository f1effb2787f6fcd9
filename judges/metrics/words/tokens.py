"""Ways to cut a text into words without any library.

What was cut is remembered for a while, so that a reference is cut once for many outputs.
"""

import re
import string
from functools import lru_cache
from typing import Literal, get_args

Cut = Literal["whitespace", "words"]
CUTS: tuple[Cut, ...] = get_args(Cut)

_LONG = 20_000  # code points of a text whose words are not kept
_KEPT = 8_192  # texts
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_WORDS_ALONE = str.maketrans({chr(code): " " for code in range(128) if not _WORD.match(chr(code))})
_ARTICLES = frozenset({"a", "an", "the"})
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def is_blank(text: str) -> bool:
    """Whether there is nothing but whitespace in `text`."""
    return not text.strip()


def tokens(text: str, cut: Cut) -> tuple[str, ...]:
    """Cut at whitespace, or into lower-cased words without punctuation.

    Examples
    --------
    >>> tokens("Don't stop, Ann!", "words")
    ("don't", 'stop', 'ann')
    >>> tokens("Don't stop, Ann!", "whitespace")
    ("Don't", 'stop,', 'Ann!')
    """
    return (_cut if len(text) > _LONG else _kept_cut)(text, cut)


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
    return (_cut_answer if len(text) > _LONG else _kept_answer)(text)


def without_lone_surrogates(text: str) -> str:
    r"""Put U+FFFD for half a surrogate pair, which native code takes for no character.

    Examples
    --------
    >>> without_lone_surrogates("a\ud800b") == "a\ufffdb"
    True
    """
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def _cut(text: str, cut: Cut) -> tuple[str, ...]:
    if cut == "whitespace":
        return tuple(text.split())
    lowered = text.lower()
    if lowered.isascii() and "'" not in lowered:  # several times as fast as to search for words
        return tuple(lowered.translate(_WORDS_ALONE).split())
    return tuple(_WORD.findall(lowered))


def _cut_answer(text: str) -> tuple[str, ...]:
    plain = text.lower().translate(_NO_PUNCTUATION)
    words = plain.split()
    if all(map(str.isalnum, words)):  # so that an article is a whole word
        return tuple([word for word in words if word not in _ARTICLES])
    return tuple(_ARTICLE.sub(" ", plain).split())


_kept_answer = lru_cache(maxsize=_KEPT)(_cut_answer)
_kept_cut = lru_cache(maxsize=_KEPT)(_cut)
