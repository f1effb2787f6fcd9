"""BLEU, on the scale of its paper and on sacrebleu's.

References
----------
.. [1] Papineni, Roukos, Ward and Zhu (2002), BLEU: a method for automatic evaluation of
       machine translation, ACL, doi:10.3115/1073083.1073135
.. [2] Post (2018), A call for clarity in reporting BLEU scores, WMT, doi:10.18653/v1/W18-6319
"""

from collections.abc import Sequence
from dataclasses import dataclass

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.checks import check_choice, check_least
from spanjury.judges.metrics.overlap.bleu_counts import (
    SMOOTHINGS,
    TOKENIZERS,
    Smoothing,
    Tokenizer,
    bleu_score,
    bleu_tokens,
    match_rows,
)
from spanjury.judges.metrics.reductions import SummedRows
from spanjury.judges.metrics.versions import version


@dataclass(frozen=True, slots=True, kw_only=True)
class Bleu(SummedRows):
    """BLEU from 0 to 1 with uniform weights; of a corpus from the sums of its counts.

    Raises `ValueError` if an option is none of its choices, or `max_order` is not positive.

    Parameters
    ----------
    max_order
        Longest n-grams, in words.
    smoothing
        What is put where no n-gram of an order matches: "none"; "floor", .1 matches; "add-k",
        one match more above order 1; "exp", half a match, then a quarter, and so on.
    tokenize
        How words are cut: sacrebleu's "13a", "intl", "zh" and "char", or "whitespace".
    """

    max_order: int = 4
    smoothing: Smoothing = "none"
    tokenize: Tokenizer = "13a"

    def __post_init__(self) -> None:
        check_least("max_order", self.max_order, least=1)
        check_choice("smoothing", self.smoothing, choices=SMOOTHINGS)
        check_choice("tokenize", self.tokenize, choices=TOKENIZERS)

    @property
    def signature(self) -> str:
        """The options, and the versions of what counts."""
        return signature(
            "bleu",
            max_order=self.max_order,
            smoothing=self.smoothing,
            tokenize=self.tokenize,
            bleuscore=version("bleuscore"),
            sacrebleu=version("sacrebleu"),
        )

    def statistics(self, samples: Sequence[Sample], /) -> list[list[float]]:
        """Return lengths, matches and totals; see `match_rows`."""
        return match_rows(samples, order=self.max_order, tokenizer=self.tokenize)

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the BLEU of added counts."""
        return bleu_score(total, smoothing=self.smoothing)

    def cut(self, text: str, /) -> tuple[Sequence[str], Sequence[str]]:
        """Return the words of a text as they stand there, and as they are compared."""
        words = bleu_tokens(text, self.tokenize)
        return words, words


@dataclass(frozen=True, slots=True, kw_only=True)
class SacreBleu(SummedRows):
    """BLEU from 0 to 100 as sacrebleu has it.

    A segment is scored with the effective order, a corpus without, as sacrebleu advises.
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
        """The options in sacrebleu's words, and the versions of what counts."""
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
        """Return the BLEU of added counts."""
        return 100.0 * bleu_score(total, smoothing=self.smoothing)

    def cut(self, text: str, /) -> tuple[Sequence[str], Sequence[str]]:
        """Return the words of a text as they stand there, and as they are compared."""
        words = bleu_tokens(text.lower() if self.lowercase else text, self.tokenize)
        return words, words
