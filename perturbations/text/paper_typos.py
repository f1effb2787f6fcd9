"""Typing errors made by the package ``typo``, which the DHP paper used (Appendix C).

The package is asked for one error at a time, each in the clean text, so that the positions are
known. It draws from the global random state of the process, which is seeded from our generator
and then restored. If it changes nothing, which is rare, it is asked again.
"""

import random  # noqa: TID251  the package draws from it
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from types import ModuleType

from numpy.random import Generator

from spanjury.judges.core import PerturbationError
from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import text_perturbation
from spanjury.perturbations.text.aspects import FORM, OVERALL, SELECTION
from spanjury.perturbations.text.places import picked, require_count, too_few

_ERRORS = (
    "char_swap",
    "extra_char",
    "missing_char",
    "nearby_char",
    "random_space",
    "repeated_char",
    "similar_char",
    "skipped_space",
    "unichar",
)
"""The methods of ``typo.StrErrer``; the paper does not name those that it used."""

_TRIES = 50
"""Tries for each requested error, before the text is reported as having no room for them."""

_RANDOM_NUMBERS = Lock()


@text_perturbation(family="character", level="character", harms=FORM | OVERALL, spares=SELECTION)
def dhp_typos(text: str, rng: Generator, *, k: int = 5) -> list[Edit]:
    """Make `k` typing errors of the package ``typo``, no two of which overlap."""
    require_count(k)
    package = _package()
    edits: list[Edit] = []
    with _random_numbers_kept():
        for _ in range(_TRIES * k):
            edit = _error(package, text, rng)
            if edit and all(edit.end < other.start or other.end < edit.start for other in edits):
                edits.append(edit)
            if len(edits) == k:
                return edits
    raise too_few("places for a typing error", available=len(edits), needed=k)


def _package() -> ModuleType:
    try:
        return import_module("typo")
    except ImportError as error:
        raise PerturbationError(
            "dhp-typos needs the package 'typo': pip install 'spanjury[dhp]'"
        ) from error


@contextmanager
def _random_numbers_kept() -> Iterator[None]:
    with _RANDOM_NUMBERS:
        before = random.getstate()
        try:
            yield
        finally:
            random.setstate(before)


def _error(package: ModuleType, text: str, rng: Generator) -> Edit | None:
    """Return one error in `text`, or None if the package made none."""
    errors = package.StrErrer(text, seed=int(rng.integers(2**63)))
    try:
        damaged = getattr(errors, picked(_ERRORS, rng))().result
    except KeyError:  # it knows the digits 0 to 9 only
        return None
    return _difference(text, damaged) if damaged != text else None


def _difference(text: str, other: str) -> Edit:
    """Return the shortest single edit that turns `text` into `other`."""
    start = _shared(text, other)
    rest = min(len(text), len(other)) - start
    left = _shared(text[::-1][:rest], other[::-1][:rest])
    return Edit(start, len(text) - left, other[start : len(other) - left])


def _shared(left: str, other: str) -> int:
    """Return the length of the common prefix of both, in characters."""
    pairs = enumerate(zip(left, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(left), len(other)))
