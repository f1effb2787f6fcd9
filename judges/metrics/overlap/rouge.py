"""ROUGE-N and ROUGE-L: n-grams and longest common subsequences shared with a reference.

References
----------
.. [1] Lin (2004), ROUGE: a package for automatic evaluation of summaries, ACL workshop,
       https://aclanthology.org/W04-1013
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from typing import ClassVar, Literal, Self

from rapidfuzz.distance import LCSseq
from rouge_score_rs import RougeScorer

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.checks import check_cells, check_choice
from spanjury.judges.metrics.words.ids import token_ids
from spanjury.judges.metrics.words.rouge_tokens import (
    MEASURES,
    SCRIPTS,
    Measure,
    Script,
    f_measure,
    measure_name,
    rouge_tokenizer,
    rouge_words,
)
from spanjury.judges.metrics.words.tokens import is_blank

__all__ = ["Rouge1", "Rouge2", "RougeL", "RougeLsum"]

_LONG = 4_000_000_000  # characters times characters, from where on the library slows down
_MOST_CELLS = 2_500_000_000  # likewise, for which ROUGE-Lsum takes up to 2 GB
_Kind = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rouge1:
    """ROUGE-1 from 0 to 1: single words, as rouge-score counts them.

    Parameters
    ----------
    measure
        Number that is returned: "f", their harmonic mean, "precision" or "recall". Of several
        references the one with the best F counts for all three.
    script
        How words are cut: "english" (as rouge-score: runs of a-z and 0-9), "unicode" (words of
        any script), or "characters".
    stem
        Whether words of more than three letters are stemmed (Porter); English only.

    Raises
    ------
    ValueError
        If an option is not one of the above.
    """

    measure: Measure = "f"
    script: Script = "english"
    stem: bool = False

    kind: ClassVar[_Kind] = "rouge1"

    def __post_init__(self) -> None:
        check_choice("measure", self.measure, choices=MEASURES)
        check_choice("script", self.script, choices=SCRIPTS)
        if self.stem and self.script != "english":
            raise ValueError(f"stem is for script english only; got {self.script!r}")

    @property
    def signature(self) -> str:
        """The options, and the version of what counts."""
        return signature(
            self.kind,
            measure=measure_name(self.measure),
            script=self.script,
            stem=self.stem,
            rouge_score_rs=version("rouge-score-rs"),
        )

    @property
    def ranking(self) -> Self:
        """The same by F: of several references the one that it says is best counts."""
        return replace(self, measure="f")

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the overlap of each output with its one reference."""
        return self._short(samples)

    def _short(self, samples: Sequence[Sample]) -> list[float]:
        references = [sample.references[0] for sample in samples]
        outputs = [sample.output for sample in samples]
        rows = _scorer(self.kind, self.script, self.stem).score_batch(references, outputs)
        place = MEASURES.index(self.measure)
        return [
            1.0 if is_blank(output) and is_blank(reference) else float(row[self.kind][place])
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
        output, reference = (
            rouge_words(text, script=self.script, stem=self.stem)
            for text in (sample.output, sample.references[0])
        )
        common = LCSseq.similarity(*(side.tolist() for side in token_ids(output, reference)))
        precision, recall = common / max(1, len(output)), common / max(1, len(reference))
        measures = (precision, recall, f_measure(precision, recall))
        return measures[MEASURES.index(self.measure)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RougeLsum(Rouge1):
    """ROUGE-L from 0 to 1 of summaries: the union of subsequences, line by line.

    Sentences are lines: a text without line breaks is one sentence. Options as for `Rouge1`.
    """

    kind: ClassVar[_Kind] = "rougeLsum"

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the overlap of each output with its one reference.

        Raises
        ------
        MetricError
            If the product of the lengths of two texts is above 2.5 thousand million characters.
        """
        sizes = [(len(sample.output), len(sample.references[0])) for sample in samples]
        check_cells(sizes, most=_MOST_CELLS, what="characters")
        return self._short(samples)


def _is_long(sample: Sample) -> bool:
    return len(sample.output) * len(sample.references[0]) > _LONG


@lru_cache(maxsize=32)
def _scorer(kind: str, script: Script, stem: bool) -> RougeScorer:  # noqa: FBT001
    return RougeScorer([kind], tokenizer=rouge_tokenizer(script, stem=stem))
