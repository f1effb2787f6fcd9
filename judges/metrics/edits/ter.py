"""Translation edit rate: how much of a reference an editor would have to change.

References
----------
.. [1] Snover, Dorr, Schwartz, Micciulla and Makhoul (2006), A study of translation edit rate
       with targeted human annotation, AMTA
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version

from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.edits.ter_edits import fewest_edits
from spanjury.judges.metrics.sums import add_rows

__all__ = ["Ter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ter:
    """TER as sacrebleu computes it, in percent of the mean length of the references.

    Parameters
    ----------
    asian_support
        Whether `normalize` and `no_punctuation` also treat Chinese and Japanese characters.
    case_sensitive
        Whether case counts.
    no_punctuation
        Whether punctuation is left out.
    normalize
        Whether the text is tokenised as Tercom does.
    """

    asian_support: bool = False
    case_sensitive: bool = False
    no_punctuation: bool = False
    normalize: bool = False

    @property
    def signature(self) -> str:
        """The options, in sacrebleu's words, and its version."""
        return signature(
            "ter",
            case="mixed" if self.case_sensitive else "lc",
            norm="yes" if self.normalize else "no",
            punct="no" if self.no_punctuation else "yes",
            asian="yes" if self.asian_support else "no",
            sacrebleu=version("sacrebleu"),
        )

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the rate of each output by itself."""
        return self.score_rows(self.statistics(samples))

    def score_corpus(self, samples: Sequence[Sample], /) -> float:
        """Return the rate of all edits to all references."""
        return self.score_statistics(add_rows(self.statistics(samples)))

    def statistics(self, samples: Sequence[Sample], /) -> list[list[float]]:
        """Return edits to the nearest reference, and the references' mean length in words."""
        return [self._row(sample) for sample in samples]

    def score_rows(self, rows: Sequence[Sequence[float]], /) -> list[float]:
        """Return the score of each row of `statistics`."""
        return [*map(self.score_statistics, rows)]

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the rate of added counts."""
        edits, length = total
        return 100.0 * (edits / length if length else float(edits > 0))

    def _row(self, sample: Sample) -> list[float]:
        cut = _tokenizer(self)
        output = cut(sample.output.rstrip()).split()
        # As sacrebleu does, references are cut twice, which only matters where marks crowd.
        references = [cut(cut(one.rstrip())).split() for one in sample.references]
        length = sum(map(len, references)) / len(references)
        return [fewest_edits(output, references), length]


@lru_cache(maxsize=16)
def _tokenizer(options: Ter) -> TercomTokenizer:
    return TercomTokenizer(
        normalized=options.normalize,
        no_punct=options.no_punctuation,
        asian_support=options.asian_support,
        case_sensitive=options.case_sensitive,
    )
