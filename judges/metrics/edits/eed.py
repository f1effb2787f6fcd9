"""Extended edit distance: character edits, with jumps between words and their coverage.

References
----------
.. [1] Stanchev, Wang and Ney (2019), EED: extended edit distance measure for machine
       translation, WMT, doi:10.18653/v1/W19-5359
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.choices import check_least
from spanjury.judges.metrics.edits.eed_rows import EedCosts, edit_costs
from spanjury.judges.metrics.words.ids import Ids, character_ids
from spanjury.judges.metrics.words.long_texts import check_cells
from spanjury.judges.metrics.words.tokens import is_blank

__all__ = ["Eed"]

_MOST_CELLS = 1_000_000_000
_CELLS = 300_000  # of a row, over all pairs that are compared at once
_SIGN = re.compile(r"([.,!?])")
_NUMBER = re.compile(r"(\d) ([.,]) (\d)")
_TITLE = re.compile(r"(Dr|Jr|Prof|Rev|Gen|Mr|Mt|Mrs|Ms) \.")
_ABBREVIATIONS = (("e . g .", "e.g."), ("i . e .", "i.e."), ("U . S .", "U.S."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Eed:
    """EED from 0, equal, to 1.

    Parameters
    ----------
    alpha
        Cost of a jump, which may be made where the reference has a blank.
    deletion, insertion
        Cost of leaving out a character of the output, and of adding one of the reference; these
        three are rounded to fractions with denominators up to 1,000.
    rho
        Cost of each visit too many or too few to a place of the output.

    Raises
    ------
    ValueError
        If a cost is negative.
    """

    alpha: float = 2.0
    deletion: float = 0.2
    insertion: float = 1.0
    rho: float = 0.3

    def __post_init__(self) -> None:
        for name in ("alpha", "deletion", "insertion", "rho"):
            check_least(name, getattr(self, name), least=0.0)

    @property
    def signature(self) -> str:
        """The options."""
        return signature(
            "eed",
            alpha=self.alpha,
            deletion=self.deletion,
            insertion=self.insertion,
            rho=self.rho,
        )

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the distance of each output from its one reference.

        Raises
        ------
        MetricError
            If the product of the lengths of two texts is above a thousand million characters.
        """
        lengths = [(len(sample.output), len(sample.references[0])) for sample in samples]
        check_cells(lengths, most=_MOST_CELLS, what="characters")
        scores = [
            float(is_blank(sample.output) != is_blank(sample.references[0])) for sample in samples
        ]
        waiting = [
            (
                at,
                character_ids(_spaced(sample.output)),
                character_ids(_spaced(sample.references[0])),
            )
            for at, sample in enumerate(samples)
            if not is_blank(sample.output) and not is_blank(sample.references[0])
        ]
        waiting.sort(key=lambda one: (one[1].size, one[2].size))
        while waiting:
            at_once = max(1, _CELLS // (1 + waiting[-1][1].size))
            now, waiting = waiting[-at_once:], waiting[:-at_once]
            now.sort(key=lambda one: -one[2].size)
            found = self._distances([one[1] for one in now], [one[2] for one in now])
            for (at, _, _), distance in zip(now, found, strict=True):
                scores[at] = distance
        return scores

    def _distances(self, outputs: Sequence[Ids], references: Sequence[Ids]) -> list[float]:
        """Return the distances of pairs in order of the references' lengths, longest first."""
        costs = EedCosts.of(alpha=self.alpha, deletion=self.deletion, insertion=self.insertion)
        ends, visits = edit_costs(outputs, references, costs=costs)
        # [1] eq. 2: a place is to be visited once.
        missed = np.where(visits == 0, 1, visits - 1)
        sizes = np.array([output.size for output in outputs])
        missed[np.arange(len(missed))[:, None] > sizes] = 0
        coverage = self.rho * missed.sum(axis=0)
        lengths = np.array([reference.size for reference in references])
        rates = (ends / costs.edit + coverage) / (lengths + coverage)
        return [min(1.0, float(rate)) for rate in rates]


def _spaced(text: str) -> str:
    """Set punctuation apart, as the authors do for English."""
    text = " ".join(_SIGN.sub(r" \1", text.rstrip()).split())
    text = _TITLE.sub(r"\1.", _NUMBER.sub(r"\1\2\3", text))
    for apart, whole in _ABBREVIATIONS:
        text = text.replace(apart, whole)
    return f" {text} "
