"""Families of models: judges of one family tend to make the same errors and to prefer its texts.

A model's family is determined from its name by a table of words, ``families.toml``, which users can
extend. A judge without a model has no family.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from spanjury.judges.core import ConfigError, EventLog
from spanjury.judges.core.errors import reason_of

log = EventLog()

_TABLE = files("spanjury.orchestration.engine") / "families.toml"
_FAMILIES, _TUNED = "families", "tuned"
_MODEL = re.compile(r"\|model:([^|]+)")
_BLANKS = str.maketrans(" _", "--")
_MOST_SYSTEMS = 1000
"""Maximum number of systems that a panel is checked for: requests to a service can name many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Families:
    """The words that identify families.

    Parameters
    ----------
    tables
        Word -> family, as in `families.toml`; the first table with a word of the name decides.
    """

    tables: tuple[Mapping[str, str], ...] = ()

    @classmethod
    def load(
        cls, *files: Path, table: Mapping[str, Sequence[str]] = MappingProxyType({})
    ) -> "Families":
        """Return the built-in families, extended by a table and TOML files.

        Raise `ConfigError` if a file cannot be read, or is not a table of lists of words.
        """
        more = dict(_words(table, name=_FAMILIES))
        for path in files:
            more.update(_words(_read(path).get(_FAMILIES), name=str(path)))
        return cls(tables=(*((more,) if more else ()), *_family_tables()))

    def of(self, name: str) -> str | None:
        """Return the family of a model, or of a judge that is named after one; None if it has none.

        Examples
        --------
        >>> Families.load().of("annotator:ollama/llama3.1-nemotron:70b")
        'llama'
        """
        model = _plain(name.rstrip("/").rpartition("/")[2])
        for words in self.tables:
            matches = [word for word in words if _stands_in(word, model)]
            if matches:
                return words[max(matches, key=len)]
        return None


def model_of(signature: str) -> str:
    """Return the name of the model in a judge's signature; empty if there is none.

    Examples
    --------
    >>> model_of("annotator|model:ollama/gemma2:27b|prompt:1")
    'ollama/gemma2:27b'
    """
    match = _MODEL.search(signature)
    return match[1] if match else ""


class FamilyWatch:
    """Warns if several seats belong to one family, or a seat judges a system of its own family.

    Raises `ConfigError` if `families` contains an empty word.

    Parameters
    ----------
    signatures
        Seat -> the signature of its judge.
    families
        Family -> the user's words for it, in addition to the built-in ones.
    """

    def __init__(
        self,
        signatures: Mapping[str, str],
        families: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        models = {seat: model_of(signature) for seat, signature in signatures.items()}
        asking = {seat: model for seat, model in models.items() if model}
        self._families = Families.load(table=families) if asking or families else Families()
        of = {seat: self._families.of(model) for seat, model in asking.items()}
        self._of_seats = {seat: family for seat, family in of.items() if family}
        self._seen: set[str] = set()

    def check_seats(self) -> None:
        """Warn of families with several seats."""
        by_family: dict[str, list[str]] = {}
        for seat, family in self._of_seats.items():
            by_family.setdefault(family, []).append(seat)
        for family, seats in by_family.items():
            if len(seats) > 1:
                log.warning("panel.one_family", family=family, seats=", ".join(seats))

    def see(self, system: str) -> None:
        """Warn once of a system of a seat's family, up to a maximum number of systems."""
        if not self._of_seats or system in self._seen or len(self._seen) >= _MOST_SYSTEMS:
            return
        self._seen.add(system)
        family = self._families.of(system)
        seats = [seat for seat, its in self._of_seats.items() if its == family]
        if seats:
            log.warning("panel.own_family", family=family, system=system, seats=", ".join(seats))


@cache
def _family_tables() -> tuple[Mapping[str, str], ...]:
    tables = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    return tuple(
        MappingProxyType(dict(_words(tables[name], name=_TABLE.name)))
        for name in (_FAMILIES, _TUNED)
    )


def _read(path: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"the families in {path} cannot be read: {reason_of(error)}") from error


def _words(table: object, *, name: str) -> Iterator[tuple[str, str]]:
    if not isinstance(table, Mapping):
        raise ConfigError(f"{name}: expected a table [{_FAMILIES}] of lists of words")
    for family, words in table.items():
        if not isinstance(words, list | tuple) or not all(map(_is_word, words)):
            raise ConfigError(f"{name}: family {family!r}: expected a list of words, got {words!r}")
        for word in words:
            yield _plain(word), family


def _is_word(word: object) -> bool:
    return isinstance(word, str) and bool(word.strip("^ "))


def _plain(name: str) -> str:
    return name.casefold().translate(_BLANKS)


@cache
def _pattern(word: str) -> re.Pattern[str]:
    """Return a pattern that matches a whole word, not a part of a longer word or number.

    A name can also begin after a colon, such as that of a model in the name of a seat.
    """
    before = r"(?<![^:])" if word.startswith("^") else r"(?<![a-z0-9])"
    after = r"(?!\d)" if word[-1].isdigit() else r"(?![a-z])"
    return re.compile(f"{before}{re.escape(word.removeprefix('^'))}{after}")


def _stands_in(word: str, name: str) -> bool:
    return word.removeprefix("^") in name and _pattern(word).search(name) is not None
