"""Places: the positions in a text that a rule can change, and the drawing of `k` of them."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from spanjury.judges.core import PerturbationError
from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import NothingToDamageError
from spanjury.perturbations.text.clusters import TAIL, masked

WORD = re.compile(r"\w+(?:['’.,-]\w+)*")
"""A word or number of a masked text, with the signs inside it."""

LIST_NUMBER = re.compile(r"^[^\S\n]*(\d{1,3})[.)](?=\s)", re.MULTILINE)
"""The number of a list item, which counts nothing: a new one makes no statement wrong."""

_RARE = re.compile("[^\x00-\xff]")  # characters that `_table` lacks
_ARTICLE = re.compile(r"\b([aA]n?)\s+$")
_ARTICLE_REACH = 8  # code points before a word in which its article must begin
_SOUNDS_LIKE_A_VOWEL = re.compile(r"[aeio]|u(?!ni|s[aei]|t[ei])|hour|hono|heir", re.IGNORECASE)
_SOUNDS_LIKE_A_CONSONANT = re.compile(r"on[ce]|eu|ouija", re.IGNORECASE)


class Letters(NamedTuple):
    """Starts and ends of letters including their combining signs, in order, shape ``(n,)``."""

    starts: NDArray[np.intp]
    ends: NDArray[np.intp]

    def at(self, indices: NDArray[np.intp]) -> Iterator[tuple[int, int]]:
        """Yield ``(start, end)`` of the letters at `indices`."""
        return zip(self.starts[indices].tolist(), self.ends[indices].tolist(), strict=True)


class Choice(NamedTuple):
    """A half-open interval, and the texts that may replace it."""

    start: int
    end: int
    texts: tuple[str, ...]


def letters_where(text: str, holds: Callable[[str], bool]) -> Letters:
    """Find the grapheme clusters whose base character satisfies `holds`."""
    mask = masked(text)
    flags = mask.encode("latin-1", "replace").translate(_table(holds))
    fits = np.array(bytearray(flags), dtype=np.bool_)
    for match in _RARE.finditer(mask):
        fits[match.start()] = holds(match.group())
    if mask is text:
        starts = np.flatnonzero(fits)
        return Letters(starts, starts + 1)
    bases = np.array([char != TAIL for char in mask])
    starts = np.flatnonzero(fits & bases)
    bounds = np.append(np.flatnonzero(bases), len(text))
    return Letters(starts, bounds[np.searchsorted(bounds, starts, side="right")])


@cache
def _table(holds: Callable[[str], bool]) -> bytes:
    """Tabulate `holds` for the code points of Latin-1."""
    return bytes(holds(chr(code)) for code in range(256))


def chosen(n: int, rng: Generator, *, k: int, what: str, apart: bool = False) -> NDArray[np.intp]:
    """Draw `k` of the indices of `n` places; all sets of them are equally likely.

    Raises `NothingToDamageError` if there are too few. Raises `PerturbationError` if `k` is less
    than 1.

    `what` names the places in the error, such as ``"letters"``. With `apart`, no two neighbours are
    drawn.
    """
    require_count(k)
    needed = 2 * k - 1 if apart else k
    if n < needed:
        raise too_few(what, available=n, needed=needed)
    if not apart:
        return _drawn(n, rng, k=k)
    # Draw k of n - k + 1, then shift each by the number of those before it: none are neighbours.
    drawn = _drawn(n - k + 1, rng, k=k)
    drawn.sort()
    return drawn + np.arange(k)


class TooFewError(NothingToDamageError):
    """There are `available` places or texts, fewer than necessary."""

    def __init__(self, what: str, *, available: int, needed: int) -> None:
        super().__init__(f"too few {what} ({available} of {needed} needed)")
        self.what = what
        self.available = available

    @property
    def kind(self) -> str:
        """The reason without the numbers of the text."""
        return f"too few {self.what}"


too_few = TooFewError
"""Function for plugins: make the error of too few places."""


def require_count(k: int, *, least: int = 1) -> None:
    """Raise `PerturbationError` if `k` is less than `least`."""
    if k < least:
        raise PerturbationError(f"k must be {least} or more, got {k!r}")


def _drawn(n: int, rng: Generator, *, k: int) -> NDArray[np.intp]:
    """Draw `k` of `n` numbers; five times as fast as `Generator.choice` if `k` is small."""
    if 2 * k > n:
        return rng.permutation(n)[:k].astype(np.intp, copy=False)
    drawn = _rolled(n, rng, k=k)
    if len({*drawn.tolist()}) == k:  # usually the case if there are many
        return drawn
    distinct = dict.fromkeys(drawn.tolist())
    while len(distinct) < k:
        distinct |= dict.fromkeys(_rolled(n, rng, k=k - len(distinct)).tolist())
    return np.array([*distinct], dtype=np.intp)


def _rolled(n: int, rng: Generator, *, k: int) -> NDArray[np.intp]:
    """Draw one of `n` numbers `k` times."""
    return (rng.random(k) * n).astype(np.intp)


def picked(texts: Sequence[str], rng: Generator) -> str:
    """Draw one of `texts`."""
    return texts[int(rng.random() * len(texts))]


def struck(choices: Sequence[Choice], rng: Generator, *, k: int, what: str) -> list[Edit]:
    """Change `k` of `choices`, which do not overlap; raises the errors of `chosen`."""
    drawn = [choices[index] for index in sorted(chosen(len(choices), rng, k=k, what=what))]
    return [
        Edit(start=choice.start, end=choice.end, text=picked(choice.texts, rng)) for choice in drawn
    ]


def cased_like(text: str, model: str) -> str:
    """Write `text` in capitals, with an initial capital, or unchanged, like `model`.

    Examples
    --------
    >>> cased_like("fall", "Rise"), cased_like("fall", "RISE"), cased_like("fall", "rise")
    ('Fall', 'FALL', 'fall')
    """
    if len(model) > 1 and model.isupper():
        return text.upper()
    return text[:1].upper() + text[1:] if model[:1].isupper() else text


def fitted(text: str, choice: Choice) -> Choice:
    """Make a preceding ``a`` or ``an`` fit: prefer texts that it suits, else change it."""
    reach = max(0, choice.start - _ARTICLE_REACH)
    article = _ARTICLE.search(text[reach : choice.start])
    if not article:
        return choice
    needs_an = len(article[1]) > 1
    suits = tuple(new for new in choice.texts if _takes_an(new) == needs_an)
    if suits:
        return choice._replace(texts=suits)
    other = article[1][0] + ("" if needs_an else "n") + article[0][len(article[1]) :]
    texts = tuple(other + new for new in choice.texts)
    return Choice(reach + article.start(), choice.end, texts)


def _takes_an(word: str) -> bool:
    return bool(_SOUNDS_LIKE_A_VOWEL.match(word)) and not _SOUNDS_LIKE_A_CONSONANT.match(word)
