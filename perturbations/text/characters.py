"""Damage to single characters, of any script: deleted, in the wrong case, mistaken."""

from types import MappingProxyType

from numpy.random import Generator

from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import text_perturbation
from spanjury.perturbations.text.aspects import CONTENT, FORM, OVERALL, SELECTION
from spanjury.perturbations.text.clusters import TAIL, masked
from spanjury.perturbations.text.places import chosen, letters_where

_LOOK_ALIKES = MappingProxyType(
    dict(
        zip(
            "aceijopsxyABCEHIJKMNOPSTXYZ",
            "асеіјорѕхуАВСЕНІЈКМΝОРЅТХҮΖ",  # Cyrillic; Greek where there is no Cyrillic
            strict=True,
        )
    )
)
_MISREAD = MappingProxyType(
    {
        **dict(zip("abceofghilnqrstuvyz", "ohecct9bl1ugn5fvyv2", strict=True)),
        **dict(zip("BDEGIOSZ", "8OF6l052", strict=True)),
        **dict(zip("0125689", "OlZSbBg", strict=True)),
        "d": "cl",
        "m": "rn",
        "w": "vv",
    }
)
_MISREAD_PAIRS = MappingProxyType(
    {"rn": "m", "cl": "d", "vv": "w", "ri": "n", "ii": "u", "li": "h", "nn": "m", "tt": "ft"}
)


@text_perturbation(family="character", level="character", harms=FORM | OVERALL, spares=SELECTION)
def delete_characters(text: str, rng: Generator, *, k: int = 5) -> list[Edit]:
    """Delete `k` letters or digits."""
    letters = letters_where(text, str.isalnum)
    drawn = chosen(len(letters.starts), rng, k=k, what="letters or digits")
    return [Edit(start, end, "") for start, end in letters.at(drawn)]


@text_perturbation(family="character", level="character", harms=FORM, spares=CONTENT)
def change_case(text: str, rng: Generator, *, k: int = 5) -> list[Edit]:
    """Write `k` letters small that were large, or large that were small."""
    letters = letters_where(text, _has_case)
    drawn = chosen(len(letters.starts), rng, k=k, what="letters with another case")
    return [
        Edit(start, end, text[start].swapcase() + text[start + 1 : end])
        for start, end in letters.at(drawn)
    ]


@text_perturbation(family="character", level="character", spares=CONTENT)
def homoglyphs(text: str, rng: Generator, *, k: int = 5) -> list[Edit]:
    """Replace `k` Latin letters by Cyrillic or Greek ones that look the same.

    A reader sees nothing, so nothing is said of the aspects of form.
    """
    letters = letters_where(text, _has_look_alike)
    drawn = chosen(len(letters.starts), rng, k=k, what="letters with a look-alike")
    return [
        Edit(start, end, _LOOK_ALIKES[text[start]] + text[start + 1 : end])
        for start, end in letters.at(drawn)
    ]


@text_perturbation(family="character", level="character", harms=FORM | OVERALL, spares=SELECTION)
def ocr_errors(text: str, rng: Generator, *, k: int = 5) -> list[Edit]:
    """Misread `k` letters or digits, some of them two at a time, as a scanner does."""
    letters = letters_where(text, _is_misread)
    drawn = chosen(len(letters.starts), rng, k=k, what="letters or digits to misread", apart=True)
    mask = masked(text)
    return [_misread(text, start, end, mask=mask) for start, end in letters.at(drawn)]


def _misread(text: str, start: int, end: int, *, mask: str) -> Edit:
    """Misread the letter at `start`, with the next one where both look like another."""
    pair = _MISREAD_PAIRS.get(mask[start : start + 2])
    if pair and mask[start + 2 : start + 3] != TAIL:
        return Edit(start, start + 2, pair)
    return Edit(start, end, _MISREAD[text[start]] + text[start + 1 : end])


def _has_case(char: str) -> bool:
    return char.swapcase() != char and char.isalnum()


def _has_look_alike(char: str) -> bool:
    return char in _LOOK_ALIKES


def _is_misread(char: str) -> bool:
    return char in _MISREAD
