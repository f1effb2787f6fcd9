"""CharacTER: character edits that remain after words have been shifted into place.

Written from the paper; where it leaves a choice (which shifts are tried, and in which order),
the choice is ours, so that values differ a little from those of the authors' program.

References
----------
.. [1] Wang, Peter, Rosendahl and Ney (2016), CharacTer: translation edit rate on character
       level, WMT, doi:10.18653/v1/W16-2342
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

from rapidfuzz.distance import Levenshtein

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.edits.shifts import Shift, alike_places, misplaced_phrases, shifted

__all__ = ["Character"]

_ROUNDS = 20  # shifts that are made at most
_LONG = 2_000  # words of a text in which none are tried


@dataclass(frozen=True, slots=True, kw_only=True)
class Character:
    """CharacTER: edits per character of the output, 1 at most.

    A phrase of the output that is like one of the reference is moved to its place as long as
    that saves more than it costs, the mean length of its words. What is then left to edit,
    character by character, is counted, and with the shifts divided by the output's length.

    Parameters
    ----------
    likeness
        Words are like each other if at most this share of the characters of the longer one
        is to be edited; in 0-1.

    Raises
    ------
    ValueError
        If `likeness` is out of range.
    """

    likeness: float = 0.1

    def __post_init__(self) -> None:
        if not 0.0 <= self.likeness <= 1.0:
            raise ValueError(f"likeness must be from 0 to 1, got {self.likeness!r}")

    @property
    def signature(self) -> str:
        """The options, and the version of what counts edits."""
        return signature("character", likeness=self.likeness, rapidfuzz=version("rapidfuzz"))

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the rate of each output against its one reference."""
        return [
            self._rate(sample.output.split(), sample.references[0].split()) for sample in samples
        ]

    def _rate(self, output: Sequence[str], reference: Sequence[str]) -> float:
        wanted, length = " ".join(reference), len(" ".join(output))
        left = Levenshtein.distance(" ".join(output), wanted)
        paid = 0.0
        rounds = _ROUNDS if left and max(len(output), len(reference)) <= _LONG else 0
        alike = alike_places(output, reference, likeness=self.likeness) if rounds else {}
        for _ in range(rounds):
            edits, best = left, None
            for shift in misplaced_phrases(output, reference, alike=alike):
                if max(0, left - _most(shift, output)) >= edits:
                    continue
                text = " ".join(shifted(output, shift))
                # What is no less than the best is not counted to its end.
                found = Levenshtein.distance(text, wanted, score_cutoff=edits - 1)
                if found < edits:
                    edits, best = found, shift
            if best is None or edits + _cost(best, output) >= left:
                break
            paid += _cost(best, output)
            left, output = edits, shifted(output, best)
        return min(1.0, (paid + left) / max(1, length))


def _most(shift: Shift, words: Sequence[str]) -> int:
    """Return how many edits a shift saves at most: to move a text is to delete and insert it."""
    return 2 * sum(map(len, words[shift.start : shift.end])) + 2 * (shift.end - shift.start)


def _cost(shift: Shift, words: Sequence[str]) -> float:
    """Return the mean length of the words that are moved, [1] section 2."""
    phrase = words[shift.start : shift.end]
    return sum(map(len, phrase)) / len(phrase)
