"""The number of syllables of an English word, by its spelling.

A word has a syllable for each group of vowels (a, e, i, o, u, y), more where a piece of it is
spoken as two groups (``ia``, ``tled$``), and fewer where a vowel is silent (``ele$``, ``^lifes``).
The pieces lie beside this file, in ``syllables.toml``. They were fitted to CMUdict [1]_, of which
they give the number of 99.4 of 100 running words (`benchmarks.syllables`).

References
----------
.. [1] The Carnegie Mellon University Pronouncing Dictionary, BSD-2-Clause,
   http://www.speech.cs.cmu.edu/cgi-bin/cmudict
"""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final

__all__ = ["FIT", "syllable_count"]

FIT: Final = "cmudict-1"
"""Names the fit; another one gives other numbers."""

_VOWELS = re.compile("[aeiouy]+")


def syllable_count(word: str) -> int:
    """Count the syllables of `word`, in lower case; 1 for what has no vowel, as a number.

    Examples
    --------
    >>> [syllable_count(word) for word in ("very", "comfortable", "sometimes", "1935")]
    [2, 4, 2, 1]
    """
    if not word.isascii():
        word = _without_accents(word)
    pieces = _pieces()
    count = len(_VOWELS.findall(word))
    bounded = f"^{word}$"
    for start in range(len(bounded)):
        for end in range(start + 1, len(bounded) + 1):
            step = pieces.get(bounded[start:end])
            if step is None:
                break
            count += step
    return max(1, count)


@lru_cache(maxsize=1)
def _pieces() -> Mapping[str, int]:
    """Return by how much a piece changes the count; 0 for a beginning of pieces."""
    text = files(__package__).joinpath("syllables.toml").read_text(encoding="utf-8")
    fitted: dict[str, str] = tomllib.loads(text)
    steps = Counter(fitted["more"].split())
    steps.subtract(fitted["fewer"].split())
    beginnings = {piece[:end] for piece in steps for end in range(1, len(piece))}
    return dict.fromkeys(beginnings, 0) | dict(steps)


def _without_accents(word: str) -> str:
    parts = unicodedata.normalize("NFKD", word)
    return "".join(char for char in parts if not unicodedata.combining(char))
