"""Why a damaged place is an error, in words that name what was changed.

The wordings are in ``templates/explanations.toml``: for a rule, for its family, or for any
damage, several of each, one of which is drawn.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

from numpy.random import Generator

from spanjury.orchestration.studies.distillation.damaged_text import Harm

__all__ = ["Change", "ChangeKind", "explained"]

ChangeKind = Literal["changed", "added", "removed"]

_ANY = "any"
_WORDS = 12
"""The most words that are named in full; of more, the first and the last."""
_ENDS = 5

_Wordings = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What was done to a place.

    Parameters
    ----------
    kind
        Whether something else stands there now, something more, or less.
    was, now
        The words before and after; `now` of a removal are the words beside it.
    """

    kind: ChangeKind
    was: str
    now: str


def explained(change: Change, harm: Harm, rng: Generator) -> str:
    """Return why `change` is an error, in one of the wordings for what `harm` does."""
    tables = _tables()
    named = (f"rule {harm.rule}", harm.perturbation.family, _ANY)
    wordings = next(tables[name][change.kind] for name in named if _has(name, change.kind))
    wording = wordings[int(rng.integers(len(wordings)))]
    told = {"was": _named(change.was), "now": _named(change.now)}
    return wording.format_map(told)


def _has(name: str, kind: ChangeKind) -> bool:
    return kind in _tables().get(name, {})


def _named(words: str) -> str:
    """Quote words on one line, the middle of many left out."""
    parts = words.split()
    if len(parts) > _WORDS:
        parts = [*parts[:_ENDS], "…", *parts[-_ENDS:]]
    return f"‘{' '.join(parts)}’"


@cache
def _tables() -> Mapping[str, _Wordings]:
    file = files("spanjury.orchestration.studies.distillation").joinpath(
        "templates", "explanations.toml"
    )
    return MappingProxyType(tomllib.loads(file.read_text("utf-8")))
