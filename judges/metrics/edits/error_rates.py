"""Word and character error rates: edits that make an output its reference.

References
----------
.. [1] Morris, Maier and Green (2004), From WER and RIL to MER and WIL: improved evaluation
       measures for connected speech recognition, Interspeech
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from rapidfuzz.distance import Levenshtein

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.reductions import add_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Wer:
    """Edits of words (cut at whitespace) per word of the reference; 0 and up.

    An empty reference counts as one word long.
    """

    lowercase: bool = False

    @property
    def signature(self) -> str:
        """The options, and the version of what counts edits."""
        return signature("wer", lowercase=self.lowercase, rapidfuzz=version("rapidfuzz"))

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the rate of each output against its one reference."""
        return self.score_rows(self.statistics(samples))

    def score_corpus(self, samples: Sequence[Sample], /) -> float:
        """Return all edits per word of all references."""
        return self.score_statistics(add_rows(self.statistics(samples)))

    def statistics(self, samples: Sequence[Sample], /) -> list[list[float]]:
        """Return edits and the length of the reference in words."""
        return _edits(samples, cut=str.split, lowercase=self.lowercase)

    def score_rows(self, rows: Sequence[Sequence[float]], /) -> list[float]:
        """Return the rate of each row of `statistics`."""
        return [*map(self.score_statistics, rows)]

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the rate of added counts."""
        return total[0] / max(1, total[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Cer:
    """Edits of characters per character of the reference; 0 and up.

    Whitespace at both ends does not count, within a text it does. An empty reference counts
    as one character long.
    """

    lowercase: bool = False

    @property
    def signature(self) -> str:
        """The options, and the version of what counts edits."""
        return signature("cer", lowercase=self.lowercase, rapidfuzz=version("rapidfuzz"))

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the rate of each output against its one reference."""
        return self.score_rows(self.statistics(samples))

    def score_corpus(self, samples: Sequence[Sample], /) -> float:
        """Return all edits per character of all references."""
        return self.score_statistics(add_rows(self.statistics(samples)))

    def statistics(self, samples: Sequence[Sample], /) -> list[list[float]]:
        """Return edits and the length of the reference in characters."""
        return _edits(samples, cut=str.strip, lowercase=self.lowercase)

    def score_rows(self, rows: Sequence[Sequence[float]], /) -> list[float]:
        """Return the rate of each row of `statistics`."""
        return [*map(self.score_statistics, rows)]

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the rate of added counts."""
        return total[0] / max(1, total[1])


def _edits(
    samples: Sequence[Sample], *, cut: Callable[[str], Sequence[str]], lowercase: bool
) -> list[list[float]]:
    rows: list[list[float]] = []
    for sample in samples:  # one by one: words that are kept for later cost more than the edits
        output, reference = sample.output, sample.references[0]
        if lowercase:
            output, reference = output.lower(), reference.lower()
        wanted = cut(reference)
        rows.append([Levenshtein.distance(cut(output), wanted), len(wanted)])
    return rows
