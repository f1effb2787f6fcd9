"""Extended edit distance: character edits, with jumps between words and their coverage.

References
----------
.. [1] Stanchev, Wang and Ney (2019), EED: extended edit distance measure for machine
       translation, WMT, doi:10.18653/v1/W19-5359
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.checks import check_cells, check_least
from spanjury.judges.metrics.edits.eed_tables import EedCosts, table_costs
from spanjury.judges.metrics.edits.native import KERNELS, MOST_COST
from spanjury.judges.metrics.words.tokens import is_blank

_MOST_CELLS = 1_000_000_000
_SIGN = re.compile(r"([.,!?])")
_NUMBER = re.compile(r"(\d) ([.,]) (\d)")
_TITLE = re.compile(r"(Dr|Jr|Prof|Rev|Gen|Mr|Mt|Mrs|Ms) \.")
_ABBREVIATIONS = (("e . g .", "e.g."), ("i . e .", "i.e."), ("U . S .", "U.S."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Eed:
    """EED from 0, equal, to 1.

    Raises `ValueError` if a cost is negative.

    Parameters
    ----------
    alpha
        Cost of a jump, which may be made where the reference has a blank.
    deletion, insertion
        Cost of leaving out a character of the output, and of adding one of the reference; these
        three are rounded to fractions with denominators up to 1,000.
    rho
        Cost of each visit too many or too few to a place of the output.
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

        Raises `MetricError` if the product of the lengths of two texts is above a thousand million
        characters.
        """
        lengths = [(len(sample.output), len(sample.references[0])) for sample in samples]
        check_cells(lengths, most=_MOST_CELLS, what="characters")
        scores = [
            float(is_blank(sample.output) != is_blank(sample.references[0])) for sample in samples
        ]
        pairs = [
            (len(sample.output), len(sample.references[0]), at)
            for at, sample in enumerate(samples)
            if not is_blank(sample.output) and not is_blank(sample.references[0])
        ]
        order = [at for _, _, at in sorted(pairs, reverse=True)]  # like lengths at once
        costs = _costs(self)
        found = edit_costs([samples[at] for at in order], costs=costs)
        for at, (cost, missed, length) in zip(order, found, strict=True):
            coverage = self.rho * missed  # [1] eq. 2: a place is to be visited once
            scores[at] = min(1.0, (cost / costs.edit + coverage) / (length + coverage))
        return scores


@lru_cache(maxsize=16)
def _costs(options: Eed) -> EedCosts:
    return EedCosts.of(alpha=options.alpha, deletion=options.deletion, insertion=options.insertion)


def edit_costs(samples: Sequence[Sample], *, costs: EedCosts) -> Sequence[tuple[int, int, int]]:
    """Compare outputs with their references, no text being blank.

    Returns for each the cost in the unit of `costs`, how many visits of places are too many or
    too few, and the length of the reference.
    """
    outputs = [sample.output for sample in samples]
    references = [sample.references[0] for sample in samples]
    # To set marks apart makes a text twice as long at most, and puts a blank at both ends.
    places, rows = (2 * max(map(len, side), default=0) + 2 for side in (outputs, references))
    if KERNELS is None or costs.largest(places, rows) > MOST_COST:
        ours, theirs = ([_spaced(text) for text in side] for side in (outputs, references))
        return table_costs(ours, theirs, costs=costs)
    units = (costs.edit, costs.jump, costs.deletion, costs.insertion)
    return KERNELS.eed_costs(outputs, references, units)


def _spaced(text: str) -> str:
    """Set punctuation apart, as the authors do for English; eed_text.c does the same."""
    text = " ".join(_SIGN.sub(r" \1", text.rstrip()).split())
    text = _TITLE.sub(r"\1.", _NUMBER.sub(r"\1\2\3", text))
    for apart, whole in _ABBREVIATIONS:
        text = text.replace(apart, whole)
    return f" {text} "
