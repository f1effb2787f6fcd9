"""Clean texts that were copied from a source: nothing in them is wrong, however they look."""

import re

from numpy.random import Generator

from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.words import folded_words

_FEWEST, _MOST = 6, 40  # words of a sentence that is copied
_LEADING = re.compile(
    r"^(?:however|but|and|so|meanwhile|also|in addition|moreover|still|then)\s*,?\s+(?=\w)",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*\([^()]*\)|, (?:which|who) [^,.]*,")
_SPEAKER = re.compile(r"^[\w \-]{1,25}:\s+")
_MARK = re.compile(r'([.,;:!?()"])')
_CLITIC = re.compile(r"(\w)'(s|re|ve|ll|d)\b")
_SHORTENED = 0.5
_LOWER = 0.12
_TOKENISED = 0.12


def copied_sentence(source: str, rng: Generator) -> str:
    """Return a sentence of `source`, perhaps shortened, lower-cased or tokenised; "" if none fits.

    Left out are a first connective, asides in brackets or relative clauses, and who speaks.
    """
    fitting = [
        (start, end)
        for start, end in sentence_intervals(source)
        if _FEWEST <= len(folded_words(source[start:end])) <= _MOST
    ]
    if not fitting:
        return ""
    start, end = fitting[int(rng.integers(len(fitting)))]
    text = " ".join(source[start:end].split())
    if rng.random() < _SHORTENED:
        text = _shortened(text)
    if rng.random() < _LOWER:
        text = text.lower()
    return tokenised(text) if rng.random() < _TOKENISED else text


def tokenised(text: str) -> str:
    """Put blanks around marks, as old data sets do.

    Examples
    --------
    >>> tokenised("Ann's dog barked, twice.")
    "Ann 's dog barked , twice ."
    """
    return " ".join(_CLITIC.sub(r"\1 '\2", _MARK.sub(r" \1 ", text)).split())


def _shortened(text: str) -> str:
    text = _ASIDE.sub("", _LEADING.sub("", _SPEAKER.sub("", text)))
    return text[:1].upper() + text[1:]
