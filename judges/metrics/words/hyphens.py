"""How often a word of English may be hyphenated, by the patterns that Pyphen brings.

Its own search looks up every part of a word; this one goes on only from what a pattern begins
with, in about a third of the time.

References
----------
.. [1] Liang (1983), Word hy-phen-a-tion by com-put-er, Stanford, chapter 4
"""

from collections.abc import Mapping
from functools import lru_cache

from pyphen import Pyphen

__all__ = ["hyphen_count"]

_MARGIN = 2  # letters that stay together at both ends of a word
_Values = tuple[int, tuple[int, ...]]
_BEGINNING: _Values = (0, ())


def hyphen_count(word: str) -> int:
    """Count the places where `word`, in lower case, may be hyphenated.

    Examples
    --------
    >>> hyphen_count("comfortable")
    2
    """
    patterns = _patterns()
    pointed = f".{word}."
    levels = [0] * (len(pointed) + 1)
    for start in range(len(pointed) - 1):
        for end in range(start + 1, len(pointed) + 1):
            found = patterns.get(pointed[start:end])
            if found is None:
                break
            for place, value in enumerate(found[1], start + found[0]):
                levels[place] = max(levels[place], value)
    # [1]: a hyphen may stand where the greatest number is odd.
    return sum(level % 2 for level in levels[_MARGIN + 1 : len(word) - _MARGIN + 2])


@lru_cache(maxsize=1)
def _patterns() -> Mapping[str, _Values]:
    """Return where the values of a pattern begin, and them; none for a beginning of patterns."""
    whole: dict[str, _Values] = Pyphen(lang="en_US").hd.patterns
    beginnings = {pattern[:end] for pattern in whole for end in range(1, len(pattern))}
    return dict.fromkeys(beginnings, _BEGINNING) | whole
