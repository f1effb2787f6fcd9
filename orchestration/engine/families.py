"""Families of models: judges of one family tend to err alike, and to like its own texts.

A model's family is read from its name by a table of words, ``families.toml``, which users extend.
A judge that asks no model has none.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from spanjury.judges.core import ConfigError

_TABLE = files("spanjury.orchestration.engine") / "families.toml"
_KEY = "families"
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

    def shared(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return family -> its names, for families that have two or more of `names`."""
        by_family: dict[str, list[str]] = {}
        for name in names:
            family = self.of(name)
            if family is not None:
                by_family.setdefault(family, []).append(name)
        return {family: tuple(of) for family, of in by_family.items() if len(of) > 1}


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
