"""METEOR: words matched by form, stem or synonym, less what their order costs.

References
----------
.. [1] Banerjee and Lavie (2005), METEOR: an automatic metric for MT evaluation with improved
       correlation with human judgments, ACL workshop, https://aclanthology.org/W05-0909
.. [2] Lavie and Agarwal (2007), METEOR: an automatic metric for MT evaluation with high levels
       of correlation with human judgments, WMT, https://aclanthology.org/W07-0734
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import nltk.data
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import meteor_score

from spanjury.judges.core import ConfigError, Sample, signature
from spanjury.judges.metrics.checks import check_choice, check_least
from spanjury.judges.metrics.overlap.bleu_counts import TOKENIZERS, Tokenizer, bleu_tokens
from spanjury.judges.metrics.versions import version
from spanjury.judges.metrics.words.tokens import is_blank
from spanjury.judges.metrics.words.wordnet import WordNet, find_wordnet, read_wordnet

_DEBIAN = Path("/usr/share/wordnet")
_KEPT = 65_536  # words whose stem or synonyms are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Meteor:
    """METEOR from 0 to 1 as NLTK computes it; of several references the best counts.

    Raises `ConfigError` if synonyms are wanted and WordNet is not there. Raises `ValueError` if
    another option is out of its range.

    Parameters
    ----------
    alpha
        Weight of precision in the mean; recall has the rest.
    beta, gamma
        The cost of disorder is ``gamma * (chunks / matches) ** beta``.
    synonyms
        Whether words match by WordNet as well; without it, by form and stem alone.
    wordnet
        Folder with the files of WordNet 3.x; where empty, NLTK's data are looked for, then
        Debian's package.
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
        """The options, the version of WordNet, and those of the libraries."""
        return signature(
            "meteor",
            alpha=self.alpha,
            beta=self.beta,
            gamma=self.gamma,
            wordnet=self._words().wordnet.version,
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
        score: float = meteor_score(
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
    """Synset and lemma at once, of one word, as NLTK asks for them."""

    __slots__ = ("_word",)

    def __init__(self, word: str) -> None:
        self._word = word

    def lemmas(self) -> tuple["_Synset"]:
        return (self,)

    def name(self) -> str:
        return self._word


class _Words:
    """A stemmer and a WordNet as NLTK expects them, which look each word up once."""

    def __init__(self, wordnet: WordNet) -> None:
        self.wordnet = wordnet
        self.stem: Callable[[str], str] = lru_cache(maxsize=_KEPT)(PorterStemmer().stem)
        self.synsets: Callable[[str], list[_Synset]] = lru_cache(maxsize=_KEPT)(self._synsets)

    def _synsets(self, word: str) -> list[_Synset]:
        return [_Synset(synonym) for synonym in self.wordnet.synonyms(word)]


@lru_cache(maxsize=4)
def _words(path: Path | None) -> _Words:
    return _Words(read_wordnet(path) if path else WordNet(version="none", parts=()))


def _find(folder: str) -> Path:
    """Return where WordNet is: in `folder` if one is named, else in one of the usual places."""
    usual = [
        Path(root) / "corpora" / name
        for root in nltk.data.path
        for name in ("wordnet", "wordnet.zip")
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
