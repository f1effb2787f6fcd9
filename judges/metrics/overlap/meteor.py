"""METEOR: words matched by form, stem or synonym, with a penalty for their order.

References
----------
.. [1] Banerjee and Lavie (2005), METEOR: an automatic metric for MT evaluation with improved
       correlation with human judgments, ACL workshop, https://aclanthology.org/W05-0909
.. [2] Lavie and Agarwal (2007), METEOR: an automatic metric for MT evaluation with high levels
       of correlation with human judgments, WMT, https://aclanthology.org/W07-0734
.. [3] Miller (1995), WordNet: a lexical database for English, CACM 38(11):39-41; the files and
       suffixes are those of its manual pages wndb(5WN) and morphy(7WN)
"""

import os
import re
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from spanjury.judges.core import ConfigError, Sample, signature
from spanjury.judges.core.lazy import library
from spanjury.judges.metrics.checks import check_choice, check_least
from spanjury.judges.metrics.overlap.bleu import TOKENIZERS, Tokenizer, bleu_tokens
from spanjury.judges.metrics.signed import version
from spanjury.judges.metrics.words.tokens import is_blank

_DEBIAN = Path("/usr/share/wordnet")
_KEPT = 65_536  # words whose stem or synonyms are cached


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """The files of one part of speech: the data as raw bytes, the rest as tables."""

    data: bytes
    index: Mapping[str, tuple[int, ...]]
    exceptions: Mapping[str, tuple[str, ...]]
    suffixes: tuple[tuple[str, str], ...]

    def base_forms(self, word: str) -> Iterator[str]:
        """Yield `word` and its possible base forms that are in the index."""
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
    """WordNet, for looking up synonyms; takes about 60 MB of memory."""

    version: str
    parts: tuple[_Part, ...] = field(repr=False)

    def synonyms(self, word: str) -> frozenset[str]:
        """Return the single words of all synsets of `word`, an inflected form in lower case."""
        return frozenset(
            synonym
            for part in self.parts
            for form in part.base_forms(word)
            for offset in part.index[form]
            for synonym in part.words_at(offset)
            if "_" not in synonym
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Meteor:
    """METEOR from 0 to 1 as NLTK computes it; of several references the best counts.

    Raises `ConfigError` if synonyms are wanted but WordNet is not installed. Raises `ValueError` if
    another option is out of its range.

    Parameters
    ----------
    alpha
        Weight of precision in the mean; recall has the rest.
    beta, gamma
        The penalty for word order is ``gamma * (chunks / matches) ** beta``.
    synonyms
        Whether words also match by WordNet; otherwise only by form and stem.
    wordnet
        Folder with the files of WordNet 3.x; if empty, NLTK's data are searched, then Debian's
        package.
    """

    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5
    synonyms: bool = True
    tokenize: Tokenizer = "13a"
    wordnet: str = ""

    def __post_init__(self) -> None:
        check_choice("tokenize", self.tokenize, choices=TOKENIZERS)
        check_least("beta", self.beta, least=0.0)
        if not (0.0 <= self.alpha <= 1.0 and 0.0 <= self.gamma <= 1.0):
            raise ValueError(f"alpha and gamma are shares; got {self.alpha!r}, {self.gamma!r}")
        if self.synonyms:
            _find(self.wordnet)

    @property
    def signature(self) -> str:
        """The options, the version of WordNet, and the versions of the libraries."""
        return signature(
            "meteor",
            alpha=self.alpha,
            beta=self.beta,
            gamma=self.gamma,
            wordnet=wordnet_version(_find(self.wordnet)) if self.synonyms else "none",
            tokenize=self.tokenize,
            bleuscore=version("bleuscore"),
            nltk=version("nltk"),
            sacrebleu=version("sacrebleu"),
        )

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the score of each output against the best of its references."""
        words = self._words()
        return [self._score(sample, words) for sample in samples]

    def _words(self) -> "_Words":
        return _words(_find(self.wordnet) if self.synonyms else None)

    def _score(self, sample: Sample, words: "_Words") -> float:
        if is_blank(sample.output):
            return float(any(map(is_blank, sample.references)))
        score: float = words.meteor(
            [bleu_tokens(reference, self.tokenize) for reference in sample.references],
            bleu_tokens(sample.output, self.tokenize),
            stemmer=words,
            wordnet=words,
            alpha=self.alpha,
            beta=self.beta,
            gamma=self.gamma,
        )
        return score


class _Synset:
    """Synset and lemma of one word in one object, with the interface that NLTK uses."""

    __slots__ = ("_word",)

    def __init__(self, word: str) -> None:
        self._word = word

    def lemmas(self) -> tuple["_Synset"]:
        return (self,)

    def name(self) -> str:
        return self._word


class _Words:
    """A stemmer and a WordNet with the interface that NLTK uses; both cache their results.

    NLTK takes seconds to import, so it is imported only when something is measured.
    """

    def __init__(self, wordnet: WordNet) -> None:
        self.wordnet = wordnet
        self.synsets: Callable[[str], list[_Synset]] = lru_cache(maxsize=_KEPT)(self._synsets)

    @cached_property
    def meteor(self) -> Callable[..., float]:
        """NLTK's function of words, a stemmer, a WordNet and the constants."""
        function: Callable[..., float] = library("nltk.translate.meteor_score").meteor_score
        return function

    @cached_property
    def stem(self) -> Callable[[str], str]:
        """Porter's stemmer."""
        stemmer = library("nltk.stem.porter").PorterStemmer()
        return lru_cache(maxsize=_KEPT)(stemmer.stem)

    def _synsets(self, word: str) -> list[_Synset]:
        return [_Synset(synonym) for synonym in self.wordnet.synonyms(word)]


@lru_cache(maxsize=4)
def _words(path: Path | None) -> _Words:
    return _Words(read_wordnet(path) if path else WordNet(version="none", parts=()))


def _find(folder: str) -> Path:
    """Return the path of WordNet: in `folder` if one is named, else in a usual location."""
    usual = [
        root / "corpora" / name for root in _data_folders() for name in ("wordnet", "wordnet.zip")
    ]
    wordnet = find_wordnet(*([Path(folder)] if folder else [*usual, _DEBIAN]))
    if not wordnet:
        where = repr(folder) if folder else f"NLTK's data or {_DEBIAN}"
        raise ConfigError(
            f"meteor needs WordNet, which is not in {where}; install it (Debian: apt install "
            "wordnet-base; NLTK: python -m nltk.downloader wordnet), name its folder with "
            "wordnet=FOLDER, or match by form and stem alone with synonyms=false"
        )
    return wordnet


def _data_folders() -> Iterator[Path]:
    """Yield the folders of NLTK's data, in the order of `nltk.data.path`."""
    yield from map(Path, filter(None, os.environ.get("NLTK_DATA", "").split(os.pathsep)))
    yield Path.home() / "nltk_data"
    for root in ("", "share", "lib"):
        yield Path(sys.prefix, root, "nltk_data")
    for root in ("share", "local/share", "lib", "local/lib"):
        yield Path("/usr", root, "nltk_data")


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
_MARKER = re.compile(r"\(\w+\)$")  # syntactic marker after an adjective
_VERSION = re.compile(rb"WordNet (\d+\.\d+)")
_HEAD = 4_000  # bytes at the beginning, in which the licence names the version


def find_wordnet(*paths: Path) -> Path | None:
    """Return the first of `paths` that is WordNet: a folder, or NLTK's archive of it."""
    for path in paths:
        if (path / "data.noun").is_file() or (path.suffix == ".zip" and path.is_file()):
            return path
    return None


@lru_cache(maxsize=2)
def read_wordnet(path: Path) -> WordNet:
    """Read WordNet from a folder or archive returned by `find_wordnet`.

    Raises `OSError` or `KeyError` if a file is missing.
    """
    folder = _opened(path)
    parts = tuple(_read_part(folder, name) for name in _SUFFIXES)
    return WordNet(version=wordnet_version(path), parts=parts)


def wordnet_version(path: Path) -> str:
    """Return the version of WordNet in a folder or archive; raises the errors of `read_wordnet`."""
    with (_opened(path) / "data.noun").open("rb") as file:
        version = _VERSION.search(file.read(_HEAD))
    return version.group(1).decode() if version else "unknown"


def _opened(path: Path) -> Path | zipfile.Path:
    return zipfile.Path(path) / "wordnet" if path.suffix == ".zip" else path


def _read_part(folder: Path | zipfile.Path, name: str) -> _Part:
    index = {}
    for line in _lines(folder / f"index.{name}"):
        if not line.startswith(" "):  # the licence is indented
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
