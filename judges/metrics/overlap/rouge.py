"""ROUGE-N and ROUGE-L: n-grams and longest common subsequences shared with a reference.

References
----------
.. [1] Lin (2004), ROUGE: a package for automatic evaluation of summaries, ACL workshop,
       https://aclanthology.org/W04-1013
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

from rapidfuzz.distance import LCSseq
from rouge_score_rs import RougeScorer

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.checks import check_cells
from spanjury.judges.metrics.versions import version
from spanjury.judges.metrics.words.ids import token_ids
from spanjury.judges.metrics.words.rouge_tokens import (
    MEASURES,
    RougeOptions,
    Script,
    rouge_tokenizer,
    rouge_words,
)
from spanjury.judges.metrics.words.tokens import is_blank

_LONG = 4_000_000_000  # characters times characters, from where on the library slows down
_MOST_CELLS = 2_500_000_000  # the most, for which ROUGE-Lsum takes up to 2 GB
_Kind = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rouge1(RougeOptions):
    """ROUGE-1 from 0 to 1: single words, as rouge-score counts them; see `RougeOptions`."""

    kind: ClassVar[_Kind] = "rouge1"

    @property
    def signature(self) -> str:
        """The options, and the version of what counts."""
        return signature(
            self.kind,
            measure=self.measure_name,
            script=self.script,
            stem=self.stem,
            rouge_score_rs=version("rouge-score-rs"),
        )

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
        """Return the words of a text as they stand there, and as they are compared."""
        words = rouge_words(text, script=self.script, stem=False)
        return words, rouge_words(text, script=self.script, stem=self.stem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rouge2(Rouge1):
    """ROUGE-2 from 0 to 1: pairs of adjacent words; options as for `Rouge1`."""

    kind: ClassVar[_Kind] = "rouge2"


@dataclass(frozen=True, slots=True, kw_only=True)
class RougeL(Rouge1):
    """ROUGE-L from 0 to 1: the longest common subsequence; options as for `Rouge1`."""

    kind: ClassVar[_Kind] = "rougeL"

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
        output, reference = map(self.words, (sample.output, sample.references[0]))
        common = LCSseq.similarity(*(side.tolist() for side in token_ids(output, reference)))
        return self.measured(common / max(1, len(output)), common / max(1, len(reference)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RougeLsum(Rouge1):
    """ROUGE-L from 0 to 1 of summaries: the union of subsequences, line by line.

    Sentences are lines: a text without line breaks is one sentence. Options as for `Rouge1`.
    """

    kind: ClassVar[_Kind] = "rougeLsum"

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the overlap of each output with its one reference.

        Raises `MetricError` if the product of the lengths of two texts is above 2.5 thousand
        million characters.
        """
        sizes = [(len(sample.output), len(sample.references[0])) for sample in samples]
        check_cells(sizes, most=_MOST_CELLS, what="characters")
        return self._short(samples)


def _is_long(sample: Sample) -> bool:
    return len(sample.output) * len(sample.references[0]) > _LONG


@lru_cache(maxsize=32)
def _scorer(kind: str, script: Script, stem: bool) -> RougeScorer:  # noqa: FBT001
    return RougeScorer([kind], tokenizer=rouge_tokenizer(script, stem=stem))
