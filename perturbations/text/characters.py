"""Damage to single characters: deletions, wrong case, confusions and typing errors."""

import numpy as np
from numpy.random import Generator

from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import text_perturbation
from spanjury.perturbations.text.aspects import CONTENT, FORM, OVERALL, SELECTION
from spanjury.perturbations.text.clusters import TAIL, masked
from spanjury.perturbations.text.places import chosen, letters_where

_LOOK_ALIKES = dict(
    zip(
        "aceijopsxyABCEHIJKMNOPSTXYZ",
        "асеіјорѕхуАВСЕНІЈКМΝОРЅТХҮΖ",  # Cyrillic; Greek if there is no Cyrillic one
        strict=True,
    )
)
_MISREAD = {
    **dict(zip("abceofghilnqrstuvyz", "ohecct9bl1ugn5fvyv2", strict=True)),
    **dict(zip("BDEGIOSZ", "8OF6l052", strict=True)),
    **dict(zip("0125689", "OlZSbBg", strict=True)),
    "d": "cl",
    "m": "rn",
    "w": "vv",
}
_MISREAD_PAIRS = {
    "rn": "m",
    "cl": "d",
    "vv": "w",
    "ri": "n",
    "ii": "u",
    "li": "h",
    "nn": "m",
    "tt": "ft",
}


@text_perturbation(family="character", level="character", harms=FORM | OVERALL, spares=SELECTION)
def delete_characters(text: str, rng: Generator, *, k: int = 5) -> list[Edit]:
    """Delete `k` letters or digits."""
    letters = letters_where(text, str.isalnum)
    drawn = chosen(len(letters.starts), rng, k=k, what="letters or digits")
    return [Edit(start, end, "") for start, end in letters.at(drawn)]


@text_perturbation(family="character", level="character", harms=FORM, spares=CONTENT)
def change_case(text: str, rng: Generator, *, k: int = 5) -> list[Edit]:
    """Change the case of `k` letters."""
    letters = letters_where(text, _has_case)
    drawn = chosen(len(letters.starts), rng, k=k, what="letters with another case")
    return [
        Edit(start, end, text[start].swapcase() + text[start + 1 : end])
        for start, end in letters.at(drawn)
    ]


@text_perturbation(family="character", level="character", spares=CONTENT)
def homoglyphs(text: str, rng: Generator, *, k: int = 5) -> list[Edit]:
    """Replace `k` Latin letters by Cyrillic or Greek ones that look the same.

    A reader sees no change, so no effect is claimed for the aspects of form.
    """
    letters = letters_where(text, _LOOK_ALIKES.__contains__)
    drawn = chosen(len(letters.starts), rng, k=k, what="letters with a look-alike")
    return [
        Edit(start, end, _LOOK_ALIKES[text[start]] + text[start + 1 : end])
        for start, end in letters.at(drawn)
    ]


@text_perturbation(family="character", level="character", harms=FORM | OVERALL, spares=SELECTION)
def ocr_errors(text: str, rng: Generator, *, k: int = 5) -> list[Edit]:
    """Misread `k` letters or digits, some of them in pairs, like a scanner."""
    letters = letters_where(text, _MISREAD.__contains__)
    drawn = chosen(len(letters.starts), rng, k=k, what="letters or digits to misread", apart=True)
    mask = masked(text)
    return [_misread(text, start, end, mask=mask) for start, end in letters.at(drawn)]


def _misread(text: str, start: int, end: int, *, mask: str) -> Edit:
    """Misread the letter at `start`, together with the next one if both resemble another."""
    pair = _MISREAD_PAIRS.get(mask[start : start + 2])
    if pair and mask[start + 2 : start + 3] != TAIL:
        return Edit(start, start + 2, pair)
    return Edit(start, end, _MISREAD[text[start]] + text[start + 1 : end])


def _has_case(char: str) -> bool:
    return char.swapcase() != char and char.isalnum()


_KEYS = (
    "12q 213w 324e 435r 546t 657y 768u 879i 980o 09p "
    "qwa wqes ewrd retf tryg ytuh uyij iuok oipl pol "
    "aqsz sawdx dsefc fdrgv gfthb hgyjn jhukm kjil lkop "
    "zasx xzsdc cxdfv vcfgb bvghn nbhjm mnjk"
)
_NEIGHBOURS = {keys[0]: keys[1:] for keys in f"{_KEYS.upper()} {_KEYS}".split()}
"""Letter or digit -> the characters of the adjacent keys of a QWERTY keyboard."""


@text_perturbation(family="character", level="character", harms=FORM | OVERALL, spares=SELECTION)
def typos(text: str, rng: Generator, *, k: int = 5) -> list[Edit]:
    """Make `k` typing errors: exchanged, doubled or omitted letters, and neighbouring keys.

    The kind is drawn for each error from those of the four that are possible at its position. No
    two errors overlap.
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
    """Exchange `k` letters or digits with the next one of the same word."""
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
    """Replace `k` letters or digits by the character of a neighbouring key."""
    letters = letters_where(text, _NEIGHBOURS.__contains__)
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
    """Make an error at the letter `here`; `turn` and `key`, in ``[0, 1)``, determine which."""
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
    """Return a character of an adjacent key; `key`, in ``[0, 1)``, determines which."""
    near = _NEIGHBOURS[letter[0]]
    return near[int(key * len(near))] + letter[1:]
