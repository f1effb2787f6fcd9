"""Word and character error rates: edits that make an output its reference.

References
----------
.. [1] Morris, Maier and Green (2004), From WER and RIL to MER and WIL: improved evaluation
       measures for connected speech recognition, Interspeech
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rapidfuzz.distance import Levenshtein

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.reductions import SummedRows
from spanjury.judges.metrics.versions import version


@dataclass(frozen=True, slots=True, kw_only=True)
class _ErrorRate(SummedRows):
    """Edits of units per unit of the reference, which counts as one unit where it is empty."""

    lowercase: bool = False

    kind: ClassVar[str]

    @property
    def signature(self) -> str:
        """The options, and the version of what counts edits."""
        return signature(self.kind, lowercase=self.lowercase, rapidfuzz=version("rapidfuzz"))

    def statistics(self, samples: Sequence[Sample], /) -> list[list[float]]:
        """Return edits and the length of the reference in units."""
        rows: list[list[float]] = []
        for sample in samples:  # one by one: words kept for later cost more than the edits
            output, reference = sample.output, sample.references[0]
            if self.lowercase:
                output, reference = output.lower(), reference.lower()
            wanted = self._cut(reference)
            rows.append([Levenshtein.distance(self._cut(output), wanted), len(wanted)])
        return rows

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the rate of added counts."""
        return total[0] / max(1, total[1])

    @staticmethod
    @abstractmethod
    def _cut(text: str) -> Sequence[str]:
        """Return the units of `text`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wer(_ErrorRate):
    """Edits of words (cut at whitespace) per word of the reference; 0 and up."""

    kind: ClassVar[str] = "wer"

    @staticmethod
    def _cut(text: str) -> Sequence[str]:
        return text.split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cer(_ErrorRate):
    """Edits of characters per character of the reference; 0 and up.

    Whitespace at both ends does not count, within a text it does.
    """

    kind: ClassVar[str] = "cer"

    @staticmethod
    def _cut(text: str) -> Sequence[str]:
        return text.strip()
