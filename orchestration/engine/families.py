"""Families of models: judges of one family tend to err alike, and to like its own texts.

A model's family is read from its name by a table of words, ``families.toml``, which users extend.
A judge that asks no model has none.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from spanjury.judges.core import ConfigError, EventLog

log = EventLog()

_TABLE = files("spanjury.orchestration.engine") / "families.toml"
_KEY = "families"
_MODEL = re.compile(r"\|model:([^|]+)")
_NO_WORDS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Families:
    """The words by which a family is known.

    Parameters
    ----------
    words
        Word in lower case -> family.
    """

    words: Mapping[str, str] = field(default_factory=lambda: _NO_WORDS)

    @classmethod
    def load(cls, *more: Path) -> "Families":
        """Return the families that are known, with those of TOML files.

        Raise `ConfigError` if a file cannot be read, or is not a table of lists of words.
        """
        words = dict(_known())
        for path in more:
            words.update(_words(_read(path), name=str(path)))
        return cls(words=words)

    def of(self, name: str) -> str | None:
        """Return the family of a model, or of a judge that is named after one; None for none.

        Examples
        --------
        >>> Families.load().of("annotator:ollama/llama3.1-nemotron:70b")
        'llama'
        """
        model = name.casefold().rpartition("/")[2]
        found = [word for word in self.words if _stands_in(word, model)]
        return self.words[max(found, key=len)] if found else None


def model_of(signature: str) -> str:
    """Return the name of the model that a judge's signature says it asks; empty for none.

    Examples
    --------
    >>> model_of("annotator|model:ollama/gemma2:27b|prompt:1")
    'ollama/gemma2:27b'
    """
    found = _MODEL.search(signature)
    return found[1] if found else ""


class FamilyWatch:
    """Warns where seats of a panel are of one family, or judge systems of their own.

    Parameters
    ----------
    signatures
        Seat -> the signature of its judge.
    families
        Those that are known; None for those that come with spanjury.
    """

    def __init__(self, signatures: Mapping[str, str], families: Families | None = None) -> None:
        models = {seat: model_of(one) for seat, one in signatures.items()}
        asking = {seat: model for seat, model in models.items() if model}
        self._families = families or (Families.load() if asking else Families())
        of = {seat: self._families.of(model) for seat, model in asking.items()}
        self._of_seats = {seat: family for seat, family in of.items() if family}
        self._seen: set[str] = set()

    def check_seats(self) -> None:
        """Warn of the families that have several seats."""
        by_family: dict[str, list[str]] = {}
        for seat, family in self._of_seats.items():
            by_family.setdefault(family, []).append(seat)
        for family, seats in by_family.items():
            if len(seats) > 1:
                log.warning("panel.one_family", family=family, seats=", ".join(seats))

    def see(self, system: str) -> None:
        """Warn once of a system that is of a seat's family."""
        if not self._of_seats or system in self._seen:
            return
        self._seen.add(system)
        family = self._families.of(system)
        seats = [seat for seat, its in self._of_seats.items() if its == family]
        if seats:
            log.warning("panel.own_family", family=family, system=system, seats=", ".join(seats))


@cache
def _known() -> Mapping[str, str]:
    text = _TABLE.read_text(encoding="utf-8")
    return MappingProxyType(dict(_words(tomllib.loads(text), name=_TABLE.name)))


def _read(path: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"the families in {path} cannot be read: {error}") from error


def _words(values: Mapping[str, object], *, name: str) -> Iterator[tuple[str, str]]:
    table = values.get(_KEY)
    if not isinstance(table, Mapping):
        raise ConfigError(f"{name}: expected a table [{_KEY}] of lists of words")
    for family, words in table.items():
        if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
            raise ConfigError(f"{name}: family {family!r}: expected a list of words, got {words!r}")
        for word in words:
            yield word.casefold(), family


@cache
def _pattern(word: str) -> re.Pattern[str]:
    """Return what finds a word whole: not within a longer one, nor a number within a longer one."""
    after = r"(?!\d)" if word[-1].isdigit() else r"(?![a-z])"
    return re.compile(rf"(?<![a-z0-9]){re.escape(word)}{after}")


def _stands_in(word: str, name: str) -> bool:
    return word in name and _pattern(word).search(name) is not None
