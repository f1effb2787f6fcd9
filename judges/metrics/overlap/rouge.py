"""ROUGE: n-grams, longest common subsequences and pairs of words shared with a reference [1].

ROUGE-W gives contiguous runs of a common subsequence more weight; ROUGE-S counts word pairs in
order.

References
----------
.. [1] Lin (2004), ROUGE: a package for automatic evaluation of summaries, ACL workshop,
       https://aclanthology.org/W04-1013
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial
from typing import ClassVar, Literal, Self, get_args

import numpy as np
from rapidfuzz.distance import LCSseq
from rouge_score_rs import RougeScorer
from rouge_score_rs.tokenizers import (
    CharacterTokenizer,
    DefaultTokenizer,
    Tokenizer,
    UnicodeTokenizer,
)

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.checks import check_cells, check_choice, check_least
from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.signed import version
from spanjury.judges.metrics.words.cuts import Cut, NumberedTexts, pairs_of, ranges
from spanjury.judges.metrics.words.grams import batch_gram_counts
from spanjury.judges.metrics.words.ids import Ids, padded, token_ids
from spanjury.judges.metrics.words.tokens import is_blank

Measure = Literal["precision", "recall", "f"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
Script = Literal["english", "unicode", "characters"]
SCRIPTS: tuple[Script, ...] = get_args(Script)


@lru_cache(maxsize=8)
def rouge_tokenizer(script: Script, *, stem: bool) -> Tokenizer:
    """Return the tokenizer for texts of `script`; only English is stemmed."""
    if script == "english":
        return DefaultTokenizer(use_stemmer=stem)
    return UnicodeTokenizer() if script == "unicode" else CharacterTokenizer()


def rouge_words(text: str, *, script: Script, stem: bool) -> Sequence[str]:
    """Return the words of `text`."""
    tokenizer: Tokenizer = rouge_tokenizer(script, stem=stem)
    words: list[str] = tokenizer.tokenize(text)
    return words


@lru_cache(maxsize=8)
def _rouge_cut(script: Script, *, stem: bool) -> Cut:
    is_plain = script == "english" and not stem
    return Cut(
        words=partial(rouge_words, script=script, stem=stem),
        plain="in lower case" if is_plain else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RougeOptions:
    """The options that all metrics of ROUGE share, and the choice among three numbers.

    Parameters
    ----------
    measure
        Number to return: "precision", "recall" or "f", their harmonic mean. Of several references
        the one with the best F counts for all three.
    script
        Tokenization: "english" (as in rouge-score: runs of a-z and 0-9), "unicode" (words of any
        script), or "characters".
    stem
        Whether words of more than three letters are stemmed (Porter); English only.
    """

    measure: Measure = "f"
    script: Script = "english"
    stem: bool = False

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        check_choice("measure", self.measure, choices=MEASURES)
        check_choice("script", self.script, choices=SCRIPTS)
        if self.stem and self.script != "english":
            raise ValueError(f"stem is for script english only; got {self.script!r}")

    @property
    def ranking(self) -> Self:
        """The same metric by F, which selects the best of several references."""
        return replace(self, measure="f")

    @property
    def signature(self) -> str:
        """The options by name, and the version of the library that counts or cuts.

        The measure says how it chooses among references.
        """
        options = {name: getattr(self, name) for name in sorted(each.name for each in fields(self))}
        if self.measure != "f":
            options["measure"] = f"{self.measure}-of-best-f"
        return signature(self.kind, **options, rouge_score_rs=version("rouge-score-rs"))

    @property
    def cut_words(self) -> Cut:
        """The tokenization of the texts of a corpus."""
        return _rouge_cut(self.script, stem=self.stem)

    def measured(self, precision: float, recall: float) -> float:
        """Return the measure; F is 0 if both are 0."""
        total = precision + recall
        f = 2.0 * precision * recall / total if total else 0.0
        return {"precision": precision, "recall": recall, "f": f}[self.measure]


_LONG = 4_000_000_000  # product of the lengths in characters above which the library slows down
_MOST_CHARACTERS = 2_500_000_000  # limit of the product, at which ROUGE-Lsum takes up to 2 GB


@dataclass(frozen=True, slots=True, kw_only=True)
class Rouge1(RougeOptions):
    """ROUGE-1 from 0 to 1: single words, counted like rouge-score; see `RougeOptions`."""

    kind: ClassVar[str] = "rouge1"

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the overlap of each output with its one reference."""
        return self._short(samples)

    def _short(self, samples: Sequence[Sample]) -> list[float]:
        references = [sample.references[0] for sample in samples]
        outputs = [sample.output for sample in samples]
        rows = _scorer(self.kind, self.script, self.stem).score_batch(references, outputs)
        column = MEASURES.index(self.measure)
        return [
            1.0 if is_blank(output) and is_blank(reference) else float(row[self.kind][column])
            for output, reference, row in zip(outputs, references, rows, strict=True)
        ]

    def cut(self, text: str, /) -> tuple[Sequence[str], Sequence[str]]:
        """Return the words of a text as written and as compared."""
        words = rouge_words(text, script=self.script, stem=False)
        return words, rouge_words(text, script=self.script, stem=self.stem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rouge2(Rouge1):
    """ROUGE-2 from 0 to 1: pairs of adjacent words; options as for `Rouge1`."""

    kind: ClassVar[str] = "rouge2"


@dataclass(frozen=True, slots=True, kw_only=True)
class RougeL(Rouge1):
    """ROUGE-L from 0 to 1: the longest common subsequence; options as for `Rouge1`."""

    kind: ClassVar[str] = "rougeL"

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the overlap of each output with its one reference."""
        if not any(map(_is_long, samples)):
            return self._short(samples)
        return [
            self._long(sample) if _is_long(sample) else self._short([sample])[0]
            for sample in samples
        ]

    def _long(self, sample: Sample) -> float:
        """Compare long texts 64 words at once: the same value in a fraction of the time."""
        cut = partial(rouge_words, script=self.script, stem=self.stem)
        output, reference = cut(sample.output), cut(sample.references[0])
        common = LCSseq.similarity(*(side.tolist() for side in token_ids(output, reference)))
        return self.measured(common / max(1, len(output)), common / max(1, len(reference)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RougeLsum(Rouge1):
    """ROUGE-L from 0 to 1 of summaries: the union of subsequences, line by line.

    Sentences are lines: a text without line breaks is one sentence. Options as for `Rouge1`.
    """

    kind: ClassVar[str] = "rougeLsum"

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the overlap of each output with its one reference.

        Raises `MetricError` if the product of the lengths of two texts is above 2.5 thousand
        million characters.
        """
        sizes = [(len(sample.output), len(sample.references[0])) for sample in samples]
        check_cells(sizes, most=_MOST_CHARACTERS, what="characters")
        return self._short(samples)


def _is_long(sample: Sample) -> bool:
    return len(sample.output) * len(sample.references[0]) > _LONG


@lru_cache(maxsize=32)
def _scorer(kind: str, script: Script, stem: bool) -> RougeScorer:  # noqa: FBT001
    return RougeScorer([kind], tokenizer=rouge_tokenizer(script, stem=stem))


_UNLIMITED = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class RougeS(RougeOptions):
    """ROUGE-S from 0 to 1, [1] section 5; with single words as well, ROUGE-SU.

    Parameters
    ----------
    skip
        Maximum number of words between the two of a pair; -1 for any number.
    unigrams
        Whether single words count as well.
    """

    skip: int = 4
    unigrams: bool = False

    kind: ClassVar[str] = "rouge-s"

    def __post_init__(self) -> None:
        RougeOptions.__post_init__(self)
        check_least("skip", self.skip, least=_UNLIMITED)

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the overlap of each output with its one reference."""
        texts = pairs_of(Corpus.of(samples), cut=self.cut_words)
        numbers, sizes = self._pairs(texts)
        counts = batch_gram_counts(numbers, sizes.reshape(-1, 2), order=1)
        return [
            1.0
            if is_blank(sample.output) and is_blank(sample.references[0])
            else self._score(*count)
            for sample, (count,) in zip(samples, counts.tolist(), strict=True)
        ]

    def _score(self, output: int, reference: int, shared: int) -> float:
        return self.measured(shared / max(1, output), shared / max(1, reference))

    def _pairs(self, texts: NumberedTexts) -> tuple[Ids, Ids]:
        """Return the numbered pairs of each text, text by text, and their number per text.

        Single words are pairs with nothing.
        """
        longest = int(texts.sizes.max(initial=0)) - 1
        furthest = longest if self.skip == _UNLIMITED else min(self.skip + 1, longest)
        words = texts.ids
        following = np.repeat(np.cumsum(texts.sizes), texts.sizes) - np.arange(words.size) - 1
        each = np.minimum(following, max(0, furthest))
        first = np.repeat(np.arange(words.size), each)
        pairs = (words[first] << 31) + words[ranges(np.arange(words.size) + 1, each)] + 1
        sizes = texts.summed(each)
        if not self.unigrams:
            return pairs, sizes
        both = NumberedTexts(
            ids=np.concatenate((pairs, words << 31)), sizes=np.concatenate((sizes, texts.sizes))
        )
        behind = np.arange(2 * sizes.size).reshape(2, -1).T.ravel()  # each text's two parts
        return both.taken(behind).ids, sizes + texts.sizes


_HEAVIEST = 4.0  # limit that keeps powers of long runs far from overflow
_MOST_WORDS = 1_000_000_000
_CELLS = 20_000  # cells of a diagonal, over all pairs that are compared at once
_Pair = tuple[Ids, Ids]


@dataclass(frozen=True, slots=True, kw_only=True)
class RougeW(RougeOptions):
    """ROUGE-W from 0 to 1: common subsequences with more weight for contiguous runs, [1] section 4.

    Parameters
    ----------
    weight
        Exponent: a run of k words counts k to this power; above 1, or 1 for ROUGE-L.
    """

    weight: float = 1.2

    kind: ClassVar[str] = "rouge-w"

    def __post_init__(self) -> None:
        RougeOptions.__post_init__(self)
        if not 1.0 <= self.weight <= _HEAVIEST:
            raise ValueError(f"weight must be from 1 to {_HEAVIEST}, got {self.weight!r}")

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the overlap of each output with its one reference.

        Raises `MetricError` if the product of the lengths of two texts is above a thousand million
        words.
        """
        sides = iter(pairs_of(Corpus.of(samples), cut=self.cut_words).apart)
        pairs = [*zip(sides, sides, strict=True)]
        sizes = [(output.size, reference.size) for output, reference in pairs]
        check_cells(sizes, most=_MOST_WORDS, what="words")
        runs = _weighted_lengths(pairs, weight=self.weight)
        return [
            1.0
            if is_blank(sample.output) and is_blank(sample.references[0])
            else self._score(run, output=pair[0].size, reference=pair[1].size)
            for sample, pair, run in zip(samples, pairs, runs, strict=True)
        ]

    def _score(self, run: float, *, output: int, reference: int) -> float:
        # [1] eqs. 14 and 15: the inverse of the weighting function restores lengths.
        length = run ** (1.0 / self.weight)
        precision, recall = (min(1.0, length / max(1, of)) for of in (output, reference))
        return self.measured(precision, recall)


def _weighted_lengths(pairs: Sequence[_Pair], *, weight: float) -> list[float]:
    """Compare pairs of similar length at once."""
    lengths = [0.0] * len(pairs)
    waiting = sorted(range(len(pairs)), key=lambda at: pairs[at][0].size)
    while waiting:
        at_once = max(1, _CELLS // (1 + pairs[waiting[-1]][0].size))
        now, waiting = waiting[-at_once:], waiting[:-at_once]
        longest = _compare([pairs[at] for at in now], weight=weight)
        for at, length in zip(now, longest, strict=True):
            lengths[at] = length
    return lengths


def _compare(pairs: Sequence[_Pair], *, weight: float) -> list[float]:
    """Run the dynamic programme of [1] section 4, diagonal by diagonal.

    The cells of a diagonal do not depend on each other. On diagonal d, `score[i]` is that of the
    first `i` words of the output and the first d - `i` words of the reference.
    """
    outputs = padded([pair[0] for pair in pairs], filling=-1).T.astype(np.int32, order="C")
    references = padded([pair[1] for pair in pairs], filling=-2).T.astype(np.int32, order="C")
    rows, columns = len(outputs), len(references)
    ends = np.array([left.size + right.size for left, right in pairs])
    at_end = np.array([left.size for left, _ in pairs])
    gains = np.diff(np.arange(min(rows, columns) + 2, dtype=float) ** weight)
    score, before = (np.zeros((rows + 1, len(pairs))) for _ in range(2))
    run, run_before = (np.zeros((rows + 1, len(pairs)), dtype=np.int32) for _ in range(2))
    lengths = np.zeros(len(pairs))
    for diagonal in range(2, rows + columns + 1):
        low, high = max(1, diagonal - columns), min(rows, diagonal - 1)
        now, past = slice(low, high + 1), slice(low - 1, high)
        met = references[diagonal - high - 1 : diagonal - low][::-1]
        same = np.flatnonzero(outputs[past] == met)
        # The scores of two diagonals back are read for the last time here, and overwritten.
        length = run_before[past].ravel()[same]
        reached = before[past].ravel()[same] + gains[length]
        np.maximum(score[past], score[now], out=before[now])
        before[now].ravel()[same] = reached
        run_before[now] = 0
        run_before[now].ravel()[same] = length + 1
        score, before, run, run_before = before, score, run_before, run
        done = np.flatnonzero(ends == diagonal)
        lengths[done] = score[at_end[done], done]
    return [float(length) for length in lengths]
