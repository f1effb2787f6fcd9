"""CharacTER: character edits that remain after words have been shifted into place.

References
----------
.. [1] Wang, Peter, Rosendahl and Ney (2016), CharacTer: translation edit rate on character
       level, WMT, doi:10.18653/v1/W16-2342
.. [2] The package ``cer`` 1.2 (GPL-3), which keeps up the authors' program; the values are its
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from rapidfuzz.distance import Levenshtein

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.edits.shifts import reordered, shift_cost

__all__ = ["Character"]

_LONG = 2_000  # words of a text in which none are shifted


@dataclass(frozen=True, slots=True, kw_only=True)
class Character:
    """CharacTER: edits per character of the output, 1 at most.

    A phrase of the output that the reference has elsewhere is moved there as long as that
    leaves fewer words to edit. What is then left to edit, character by character, is counted,
    and with the cost of the shifts divided by the output's length.

    Parameters
    ----------
    likeness
        Words are like each other, so that they make a phrase, if at most this share of the
        characters of the longer one is to be edited; in 0-1. The authors' program takes equal
        words only, which is 0.

    Raises
    ------
    ValueError
        If `likeness` is out of range.
    """

    likeness: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.likeness <= 1.0:
            raise ValueError(f"likeness must be from 0 to 1, got {self.likeness!r}")

    @property
    def signature(self) -> str:
        """The options, whose search it is, and the version of what counts edits."""
        return signature(
            "character", likeness=self.likeness, search="cer-1.2", rapidfuzz=version("rapidfuzz")
        )

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the rate of each output against its one reference."""
        return [
            self._rate(sample.output.split(), sample.references[0].split()) for sample in samples
        ]

    def _rate(self, output: Sequence[str], reference: Sequence[str]) -> float:
        wanted, given = " ".join(reference), " ".join(output)
        if given == wanted:
            return 0.0  # the program does not look for words that come again, either
        if max(len(output), len(reference)) > _LONG:
            return min(1.0, Levenshtein.distance(given, wanted) / max(1, len(given)))
        after = reordered(output, reference, likeness=self.likeness)
        edits = Levenshtein.distance(" ".join(after), wanted) + shift_cost(output, after)
        return min(1.0, edits / max(1, len(given)))
