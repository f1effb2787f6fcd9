"""Slips of the fingers: letters exchanged, hit beside, hit twice or left out."""

from types import MappingProxyType

import numpy as np
from numpy.random import Generator

from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import text_perturbation
from spanjury.perturbations.text.aspects import CONTENT, FORM, OVERALL, SELECTION
from spanjury.perturbations.text.places import chosen, letters_where

_KEYS = (
    "12q 213w 324e 435r 546t 657y 768u 879i 980o 09p "
    "qwa wqes ewrd retf tryg ytuh uyij iuok oipl pol "
    "aqsz sawdx dsefc fdrgv gfthb hgyjn jhukm kjil lkop "
    "zasx xzsdc cxdfv vcfgb bvghn nbhjm mnjk"
)
_NEIGHBOURS = MappingProxyType({keys[0]: keys[1:] for keys in f"{_KEYS.upper()} {_KEYS}".split()})
"""Letter or digit -> what the keys that touch its key write, on a QWERTY keyboard."""


@text_perturbation(family="character", level="character", harms=FORM | OVERALL, spares=SELECTION)
def typos(text: str, rng: Generator, *, k: int = 5) -> list[Edit]:
    """Make `k` slips: exchanged letters, neighbouring keys, letters twice or left out.

    Which of the four is drawn for each slip among those that are possible at its place. No
    two slips meet.
    """
    letters = letters_where(text, str.isalnum)
    drawn = chosen(len(letters.starts), rng, k=k, what="letters or digits", apart=True)
    followers = np.minimum(drawn + 1, len(letters.starts) - 1)
    turns = rng.random((k, 2)).tolist()
    return [
        _slip(text, here, after, turn=turn, key=key)
        for here, after, (turn, key) in zip(
            letters.at(drawn), letters.at(followers), turns, strict=True
        )
    ]


@text_perturbation(family="character", level="character", harms=FORM | OVERALL, spares=SELECTION)
def swap_letters(text: str, rng: Generator, *, k: int = 5) -> list[Edit]:
    """Exchange `k` letters or digits with the next one, in the middle of words."""
    starts, ends = letters_where(text, str.isalnum)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")[starts]
    (firsts,) = ((starts[1:] == ends[:-1]) & (codes[1:] != codes[:-1])).nonzero()
    what = "pairs of different letters"
    drawn = firsts[chosen(len(firsts), rng, k=k, what=what, apart=True)]
    bounds = zip(
        starts[drawn].tolist(), ends[drawn].tolist(), ends[drawn + 1].tolist(), strict=True
    )
    return [
        Edit(start, end, text[middle:end] + text[start:middle]) for start, middle, end in bounds
    ]


@text_perturbation(family="character", level="character", harms=FORM | OVERALL, spares=SELECTION)
def neighbour_keys(text: str, rng: Generator, *, k: int = 5) -> list[Edit]:
    """Replace `k` letters or digits by what is on a neighbouring key."""
    letters = letters_where(text, _is_key)
    drawn = chosen(len(letters.starts), rng, k=k, what="letters or digits of a Latin keyboard")
    keys = rng.random(k).tolist()
    return [
        Edit(start, end, _beside(text[start:end], key))
        for (start, end), key in zip(letters.at(drawn), keys, strict=True)
    ]


@text_perturbation(family="character", level="character", harms=FORM, spares=CONTENT)
def double_letters(text: str, rng: Generator, *, k: int = 5) -> list[Edit]:
    """Write `k` letters twice."""
    letters = letters_where(text, str.isalpha)
    drawn = chosen(len(letters.starts), rng, k=k, what="letters")
    return [Edit(s, e, text[s:e] * 2) for s, e in letters.at(drawn)]


def _slip(
    text: str, here: tuple[int, int], after: tuple[int, int], *, turn: float, key: float
) -> Edit:
    """Slip at the letter `here`; `turn` and `key` say how, each from 0 up to 1."""
    start, end = here
    letter = text[start:end]
    has_key = letter[0] in _NEIGHBOURS
    swaps = after[0] == end and text[end] != letter[0]
    slip = int(turn * (2 + has_key + swaps))
    if slip == 0:
        return Edit(start, end, "")
    if slip == 1:
        return Edit(start, end, letter * 2)
    if slip == 2 and has_key:  # noqa: PLR2004  the third of up to four
        return Edit(start, end, _beside(letter, key))
    return Edit(start, after[1], text[end : after[1]] + letter)


def _beside(letter: str, key: float) -> str:
    """Hit a key beside the one meant: which one, `key` says, from 0 up to 1."""
    near = _NEIGHBOURS[letter[0]]
    return near[int(key * len(near))] + letter[1:]


def _is_key(char: str) -> bool:
    return char in _NEIGHBOURS
