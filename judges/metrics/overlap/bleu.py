"""BLEU, on the paper's and on sacrebleu's scale, and NIST, in which rare n-grams count more [3].

References
----------
.. [1] Papineni, Roukos, Ward and Zhu (2002), BLEU: a method for automatic evaluation of
       machine translation, ACL, doi:10.3115/1073083.1073135
.. [2] Post (2018), A call for clarity in reporting BLEU scores, WMT, doi:10.18653/v1/W18-6319
.. [3] Doddington (2002), Automatic evaluation of machine translation quality using n-gram
       co-occurrence statistics, HLT
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import ClassVar, Literal, get_args

import bleuscore
import numpy as np
from numpy.typing import NDArray
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar
from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.checks import check_choice, check_least
from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.reductions import SummedRows
from spanjury.judges.metrics.signed import Signed, version
from spanjury.judges.metrics.words.cuts import Cut, NumberedTexts, Plain, numbered, pairs_of
from spanjury.judges.metrics.words.grams import (
    GramCounts,
    batch_gram_counts,
    gram_counts,
)
from spanjury.judges.metrics.words.ids import Ids
from spanjury.judges.metrics.words.tokens import without_lone_surrogates

Smoothing = Literal["add-k", "exp", "floor", "none"]
SMOOTHINGS: tuple[Smoothing, ...] = get_args(Smoothing)
Tokenizer = Literal["13a", "char", "intl", "whitespace", "zh"]
TOKENIZERS: tuple[Tokenizer, ...] = get_args(Tokenizer)

_FLOOR = 0.1  # number of matches that "floor" substitutes for 0
_ADDED = 1  # number of matches and n-grams that "add-k" adds above order 1
_SEPARATORS = re.compile(r"[\x1c-\x1f]")  # white space in Python, and so in sacrebleu
# Shared, because they hold no state except a cache.
_CUTTERS = {"char": TokenizerChar(), "intl": TokenizerV14International(), "zh": TokenizerZh()}


def bleu_tokens(text: str, tokenizer: Tokenizer, *, lowercase: bool = False) -> Sequence[str]:
    """Tokenize `text`, or its lower-cased form, with sacrebleu's tokenizer of that name."""
    text = text.lower() if lowercase else text
    if tokenizer == "whitespace":
        return text.split()
    text = text.rstrip()  # like sacrebleu, before it joins words broken at the end of a line
    if tokenizer == "13a":
        # Native code can read neither lone surrogates nor all that is white space in Python.
        return bleuscore.tokenizer_13a(_SEPARATORS.sub(" ", without_lone_surrogates(text)))
    cut: str = _CUTTERS[tokenizer](text.rstrip())
    return cut.split()


@lru_cache(maxsize=16)
def bleu_cut(tokenizer: Tokenizer, *, lowercase: bool = False) -> Cut:
    """Return `bleu_tokens`, optionally of the lower-cased text, as the cut of a corpus."""
    words = partial(bleu_tokens, tokenizer=tokenizer, lowercase=lowercase)
    if tokenizer not in {"13a", "whitespace"}:
        return Cut(words=words)
    plain: Plain = "in lower case" if lowercase else "as it is"
    # "13a" removes "<skipped>", and then joins words that were hyphenated at the end of a line.
    return Cut(words=words, plain=plain, across=("-\n", ">\n"))


def match_rows(
    samples: Sequence[Sample], *, order: int, tokenizer: Tokenizer, lowercase: bool = False
) -> list[list[float]]:
    """Count the matches of each output with all its references together.

    Returns
    -------
    list[list[float]]
        One row for each sample: the length of the output and of the reference closest in length
        (of two, the shorter), then the matching n-grams of order 1 to `order`, then the output's
        n-grams.
    """
    return Corpus.of(samples).once(_rows, order=order, tokenizer=tokenizer, lowercase=lowercase)


def _rows(
    corpus: Corpus, *, order: int, tokenizer: Tokenizer, lowercase: bool
) -> list[list[float]]:
    cut = bleu_cut(tokenizer, lowercase=lowercase)
    if any(len(sample.references) > 1 for sample in corpus):
        return [_matches(sample, order=order, cut=cut.words) for sample in corpus]
    pairs = pairs_of(corpus, cut=cut)
    sizes = pairs.sizes.reshape(-1, 2)
    counts = batch_gram_counts(pairs.ids, sizes, order=order)
    rows: list[list[float]] = np.hstack((sizes, counts[:, :, 2], counts[:, :, 0])).tolist()
    return rows


def bleu_score(
    counts: Sequence[float], *, smoothing: Smoothing, effective_order: bool = False
) -> float:
    """Return BLEU from 0 to 1 of a row of `match_rows`, or of the sum of rows.

    An output without words scores 1 if its reference has none, either. With `effective_order`,
    orders above the length of the output are left out instead of making the score 0.

    References
    ----------
    .. [1] Papineni et al. (2002), ACL, section 2.3
    .. [2] Chen and Cherry (2014), WMT, section 3: smoothings
    .. [3] Post (2018), WMT: sacrebleu, whose conventions are followed
    """
    order = len(counts) // 2 - 1
    length, closest, matches, totals = counts[0], counts[1], counts[2:-order], counts[-order:]
    if not length or not any(matches):
        return float(length == closest == 0)
    precisions = _precisions(matches, totals, smoothing)
    if effective_order and smoothing != "add-k":
        del precisions[sum(total > 0 for total in totals) :]
    if min(precisions) == 0.0:
        return 0.0
    brevity = min(0.0, 1.0 - closest / length)
    logs = math.fsum(math.log(precision) for precision in precisions)
    return min(1.0, math.exp(brevity + logs / len(precisions)))


def _matches(sample: Sample, *, order: int, cut: Callable[[str], Sequence[str]]) -> list[float]:
    words, references = cut(sample.output), [*map(cut, sample.references)]
    closest = min((abs(len(reference) - len(words)), len(reference)) for reference in references)[1]
    matches = [_clipped(words, references, n) for n in range(1, order + 1)]
    totals = [max(len(words) - n, 0) for n in range(order)]
    return [len(words), closest, *matches, *totals]


def _clipped(words: Sequence[str], references: Sequence[Sequence[str]], order: int) -> int:
    """Count n-grams, each at most as often as in the reference that has it most often."""
    allowed: Counter[tuple[str, ...]] = Counter()
    for reference in references:
        allowed |= _ngrams(reference, order)
    return (_ngrams(words, order) & allowed).total()


def _ngrams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))


def _precisions(
    matches: Sequence[float], totals: Sequence[float], smoothing: Smoothing
) -> list[float]:
    precisions, misses = [], 0
    for order, (match, total) in enumerate(zip(matches, totals, strict=True), start=1):
        added = _ADDED if smoothing == "add-k" and order > 1 else 0
        if not total + added:
            precisions.append(0.0)
        elif match + added:
            precisions.append((match + added) / (total + added))
        else:
            misses += 1
            puts = {"exp": 0.5**misses, "floor": _FLOOR}
            precisions.append(puts.get(smoothing, 0.0) / total)
    return precisions


@dataclass(frozen=True, slots=True, kw_only=True)
class Bleu(SummedRows, Signed):
    """BLEU from 0 to 1 with uniform weights; of a corpus from the sums of its counts.

    Raises `ValueError` if an option is none of its choices, or `max_order` is not positive.

    Parameters
    ----------
    max_order
        Length of the longest n-grams, in words.
    smoothing
        Substitute if no n-gram of an order matches: "none"; "floor", 0.1 matches; "exp", half a
        match, then a quarter, and so on. "add-k" instead adds one match and one n-gram to every
        order above 1.
    tokenize
        Tokenizer: sacrebleu's "13a", "intl", "zh" and "char", or "whitespace".
    """

    max_order: int = 4
    smoothing: Smoothing = "none"
    tokenize: Tokenizer = "13a"

    kind: ClassVar[str] = "bleu"
    libraries: ClassVar[tuple[str, ...]] = ("bleuscore", "sacrebleu")

    def __post_init__(self) -> None:
        check_least("max_order", self.max_order, least=1)
        check_choice("smoothing", self.smoothing, choices=SMOOTHINGS)
        check_choice("tokenize", self.tokenize, choices=TOKENIZERS)

    def statistics(self, samples: Sequence[Sample], /) -> list[list[float]]:
        """Return lengths, matches and totals; see `match_rows`."""
        return match_rows(samples, order=self.max_order, tokenizer=self.tokenize)

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the BLEU of summed counts."""
        return bleu_score(total, smoothing=self.smoothing)

    def cut(self, text: str, /) -> tuple[Sequence[str], Sequence[str]]:
        """Return the words of a text as written and as compared."""
        words = bleu_tokens(text, self.tokenize)
        return words, words


@dataclass(frozen=True, slots=True, kw_only=True)
class SacreBleu(SummedRows):
    """BLEU from 0 to 100 as in sacrebleu.

    A segment is scored with the effective order, a corpus without, as sacrebleu recommends.
    """

    lowercase: bool = False
    max_order: int = 4
    smoothing: Smoothing = "exp"
    tokenize: Tokenizer = "13a"

    def __post_init__(self) -> None:
        check_least("max_order", self.max_order, least=1)
        check_choice("smoothing", self.smoothing, choices=SMOOTHINGS)
        check_choice("tokenize", self.tokenize, choices=TOKENIZERS)

    @property
    def signature(self) -> str:
        """The options in sacrebleu's terms, and the versions of the libraries that count."""
        return signature(
            "sacrebleu",
            case="lc" if self.lowercase else "mixed",
            eff="segments",
            order=self.max_order,
            tok="none" if self.tokenize == "whitespace" else self.tokenize,
            smooth=self.smoothing,
            bleuscore=version("bleuscore"),
            sacrebleu=version("sacrebleu"),
        )

    def statistics(self, samples: Sequence[Sample], /) -> list[list[float]]:
        """Return lengths, matches and totals; see `match_rows`."""
        return match_rows(
            samples, order=self.max_order, tokenizer=self.tokenize, lowercase=self.lowercase
        )

    def score_rows(self, rows: Sequence[Sequence[float]], /) -> list[float]:
        """Return the BLEU of each row of `statistics`, with the effective order."""
        return [
            100.0 * bleu_score(counts, smoothing=self.smoothing, effective_order=True)
            for counts in rows
        ]

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the BLEU of summed counts."""
        return 100.0 * bleu_score(total, smoothing=self.smoothing)

    def cut(self, text: str, /) -> tuple[Sequence[str], Sequence[str]]:
        """Return the words of a text as written and as compared."""
        words = bleu_tokens(text, self.tokenize, lowercase=self.lowercase)
        return words, words


_Floats = NDArray[np.float64]
# A length of two thirds of the references' halves the score: [3] section 4.
_BETA = math.log(0.5) / math.log(1.5) ** 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Nist(Signed):
    """NIST of a corpus, with the conventions of NLTK.

    Each order counts the reference with the highest precision. The weight of an n-gram depends on
    all references, so the score of a corpus is not a function of sums over segments. Raises
    `ValueError` if `tokenize` is unknown, or `max_order` is not positive.
    """

    lowercase: bool = False
    max_order: int = 5
    tokenize: Tokenizer = "13a"

    kind: ClassVar[str] = "nist"
    libraries: ClassVar[tuple[str, ...]] = ("bleuscore", "sacrebleu")

    def __post_init__(self) -> None:
        check_least("max_order", self.max_order, least=1)
        check_choice("tokenize", self.tokenize, choices=TOKENIZERS)

    def score_corpus(self, samples: Sequence[Sample], /) -> float:
        """Return the score of all outputs together."""
        corpus = Corpus.of(samples)
        cut = bleu_cut(self.tokenize, lowercase=self.lowercase)
        texts = corpus.once(numbered, side="compared", cut=cut)
        sizes = np.array([1 + len(sample.references) for sample in corpus])
        return _nist(texts, np.repeat(np.arange(sizes.size), sizes), max_order=self.max_order)


def _nist(texts: NumberedTexts, samples: Ids, *, max_order: int) -> float:
    """Score texts: for each of `samples` first the output, then its references."""
    lengths = texts.sizes
    is_output = np.diff(samples, prepend=-1) > 0
    # The empty n-gram occurs as often as the references have words.
    frequency = np.array([float(lengths[~is_output].sum())])
    precisions, closest = 0.0, 0
    grams_by_order = gram_counts(texts.ids, texts.owners, max_order=max_order)
    for order, grams in enumerate(grams_by_order, start=1):
        theirs = np.flatnonzero(~is_output[grams.texts])
        before, frequency = (
            frequency,
            np.bincount(
                grams.grams[theirs], weights=grams.counts[theirs], minlength=grams.distinct
            ),
        )
        seen = np.flatnonzero(frequency)
        weights = np.zeros(grams.distinct)
        weights[seen] = np.log2(before[grams.beginnings[seen]] / frequency[seen])
        values = _values(grams, samples=samples, is_output=is_output, weights=weights)
        best = _best(values, lengths, samples=samples, is_output=is_output)
        total = np.maximum(0, lengths[is_output] - order + 1).sum()
        precisions += _share(values[best].sum(), total)
        closest += int(lengths[best].sum())
    return precisions * _brevity(_share(max_order * int(lengths[is_output].sum()), closest))


def _values(
    counts: GramCounts, *, samples: Ids, is_output: NDArray[np.bool_], weights: _Floats
) -> _Floats:
    """Return for each reference the total weight of the n-grams that it shares with its output."""
    many = 1 + int(samples.max(initial=0))
    keys, from_output = counts.grams * many + samples[counts.texts], is_output[counts.texts]
    ours, theirs = np.flatnonzero(from_output), np.flatnonzero(~from_output)
    if not ours.size:
        return np.zeros(samples.size)
    own, wanted = keys[ours], keys[theirs]
    at = ours[np.minimum(np.searchsorted(own, wanted), ours.size - 1)]
    often = np.minimum(counts.counts[at], counts.counts[theirs])
    shared = np.where(keys[at] == wanted, often, 0)
    gains = weights[counts.grams[theirs]] * shared
    values = np.bincount(counts.texts[theirs], weights=gains, minlength=samples.size)
    return values.astype(np.float64)


def _best(values: _Floats, lengths: Ids, *, samples: Ids, is_output: NDArray[np.bool_]) -> Ids:
    """Return for each sample the reference with the highest value; of equal ones the longest."""
    references = np.flatnonzero(~is_output)
    of = samples[references]
    order = np.lexsort((lengths[references], values[references], of))
    last: Ids = order[np.diff(of[order], append=-1) != 0]
    return references[last]


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _brevity(ratio: float) -> float:
    return math.exp(_BETA * math.log(ratio) ** 2) if 0.0 < ratio < 1.0 else min(1.0, ratio)
