"""Overlap: whether a text shares runs of words with texts that are measured on."""

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

_WORD = re.compile(r"\w+")
_RUN = 8
"""Words in a row that two texts hardly share by chance."""

_MOST = 2
"""Runs that a shared set phrase explains."""


def word_runs(texts: Iterable[str]) -> AbstractSet[int]:
    """Return hashes of every eight words in a row of `texts`."""
    return frozenset(run for text in texts for run in _runs(text))


def overlaps(text: str, runs: AbstractSet[int]) -> bool:
    """Say whether `text` shares more than two runs of eight words with `runs`."""
    return len(_runs(text) & runs) > _MOST


def _runs(text: str) -> set[int]:
    words = _WORD.findall(text.casefold())
    return {hash(tuple(words[at : at + _RUN])) for at in range(len(words) - _RUN + 1)}
