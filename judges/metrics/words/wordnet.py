"""Synonyms from the files of WordNet, wherever they are installed.

References
----------
.. [1] Miller (1995), WordNet: a lexical database for English, CACM 38(11):39-41
.. [2] The manual pages wndb(5WN) and morphy(7WN), for the files and the suffixes
"""

import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

_SUFFIXES = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}
_MARKER = re.compile(r"\(\w+\)$")  # after an adjective: where it may stand
_VERSION = re.compile(rb"WordNet (\d+\.\d+)")
_HEAD = 4_000  # bytes in which the licence names the version


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """The files of one part of speech: the data as they are, the rest as tables."""

    data: bytes
    index: Mapping[str, tuple[int, ...]]
    exceptions: Mapping[str, tuple[str, ...]]
    suffixes: tuple[tuple[str, str], ...]

    def base_forms(self, word: str) -> Iterator[str]:
        """Yield `word` and what it may be a form of, as far as they are known."""
        bases = self.exceptions.get(word) or [
            word.removesuffix(old) + new for old, new in self.suffixes if word.endswith(old)
        ]
        return (form for form in (word, *bases) if form in self.index)

    def words_at(self, offset: int) -> Iterator[str]:
        """Yield the words of the synset that begins at `offset`."""
        line = self.data[offset : self.data.index(b"\n", offset)].decode()
        fields = line.split()
        count = int(fields[3], 16)
        return (_MARKER.sub("", word) for word in fields[4 : 4 + 2 * count : 2])


@dataclass(frozen=True, slots=True, kw_only=True)
class WordNet:
    """WordNet, to look up synonyms in; some 60 MB of memory."""

    version: str
    parts: tuple[_Part, ...] = field(repr=False)

    def synonyms(self, word: str) -> frozenset[str]:
        """Return the single words of all synsets of `word`, a lower-cased form of a word.

        Examples
        --------
        >>> nothing = WordNet(version="3.0", parts=())
        >>> nothing.synonyms("cars")
        frozenset()
        """
        return frozenset(
            synonym
            for part in self.parts
            for form in part.base_forms(word)
            for offset in part.index[form]
            for synonym in part.words_at(offset)
            if "_" not in synonym
        )


def find_wordnet(*paths: Path) -> Path | None:
    """Return the first of `paths` that holds WordNet: a folder, or NLTK's archive of it."""
    for path in paths:
        if (path / "data.noun").is_file() or (path.suffix == ".zip" and path.is_file()):
            return path
    return None


@lru_cache(maxsize=2)
def read_wordnet(path: Path) -> WordNet:
    """Read WordNet from a folder or archive that `find_wordnet` found.

    Raises `OSError` or `KeyError` if a file is not there.
    """
    folder = zipfile.Path(path) / "wordnet" if path.suffix == ".zip" else path
    parts = {name: _read_part(folder, name) for name in _SUFFIXES}
    version = _VERSION.search(parts["noun"].data, 0, _HEAD)
    return WordNet(
        version=version.group(1).decode() if version else "unknown", parts=tuple(parts.values())
    )


def _read_part(folder: Path | zipfile.Path, name: str) -> _Part:
    index = {}
    for line in _lines(folder / f"index.{name}"):
        if not line.startswith(" "):  # as the lines of the licence do
            word, _, count, *numbers = line.split()
            index[word] = tuple(map(int, numbers[-int(count) :]))
    exceptions = {}
    for line in _lines(folder / f"{name}.exc"):
        word, *bases = line.split()
        exceptions[word] = tuple(bases)
    data = (folder / f"data.{name}").read_bytes()
    return _Part(data=data, index=index, exceptions=exceptions, suffixes=_SUFFIXES[name])


def _lines(file: Path | zipfile.Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()
