"""ROUGE-W: a longest common subsequence in which unbroken runs count more.

References
----------
.. [1] Lin (2004), ROUGE: a package for automatic evaluation of summaries, ACL workshop,
       section 4, https://aclanthology.org/W04-1013
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.checks import check_cells
from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.versions import version
from spanjury.judges.metrics.words.cuts import pairs_of
from spanjury.judges.metrics.words.ids import Ids, padded
from spanjury.judges.metrics.words.rouge_tokens import RougeOptions
from spanjury.judges.metrics.words.tokens import is_blank

_HEAVIEST = 4.0  # powers of long runs stay finite, and far from it
_MOST_CELLS = 1_000_000_000
_CELLS = 20_000  # of a diagonal, over all pairs that are compared at once
_Pair = tuple[Ids, Ids]


@dataclass(frozen=True, slots=True, kw_only=True)
class RougeW(RougeOptions):
    """ROUGE-W from 0 to 1.

    Parameters
    ----------
    weight
        A run of k words counts k to the power of it; above 1, or 1 for ROUGE-L.
    """

    weight: float = 1.2

    def __post_init__(self) -> None:
        RougeOptions.__post_init__(self)
        if not 1.0 <= self.weight <= _HEAVIEST:
            raise ValueError(f"weight must be from 1 to {_HEAVIEST}, got {self.weight!r}")

    @property
    def signature(self) -> str:
        """The options, and the version of what cuts words."""
        return signature(
            "rouge-w",
            measure=self.measure_name,
            script=self.script,
            stem=self.stem,
            weight=self.weight,
            rouge_score_rs=version("rouge-score-rs"),
        )

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the overlap of each output with its one reference.

        Raises `MetricError` if the product of the lengths of two texts is above a thousand million
        words.
        """
        sides = iter(pairs_of(Corpus.of(samples), cut=self.cut_words).apart)
        pairs = [*zip(sides, sides, strict=True)]
        sizes = [(output.size, reference.size) for output, reference in pairs]
        check_cells(sizes, most=_MOST_CELLS, what="words")
        runs = _weighted_lengths(pairs, weight=self.weight)
        return [
            1.0
            if is_blank(sample.output) and is_blank(sample.references[0])
            else self._score(run, output=pair[0].size, reference=pair[1].size)
            for sample, pair, run in zip(samples, pairs, runs, strict=True)
        ]

    def _score(self, run: float, *, output: int, reference: int) -> float:
        # [1] eqs. 14 and 15: the inverse of the weighting brings lengths back.
        length = run ** (1.0 / self.weight)
        precision, recall = (min(1.0, length / max(1, of)) for of in (output, reference))
        return self.measured(precision, recall)


def _weighted_lengths(pairs: Sequence[_Pair], *, weight: float) -> list[float]:
    """Compare pairs of about the same length at once."""
    lengths = [0.0] * len(pairs)
    waiting = sorted(range(len(pairs)), key=lambda at: pairs[at][0].size)
    while waiting:
        at_once = max(1, _CELLS // (1 + pairs[waiting[-1]][0].size))
        now, waiting = waiting[-at_once:], waiting[:-at_once]
        longest = _compare([pairs[at] for at in now], weight=weight)
        for at, length in zip(now, longest, strict=True):
            lengths[at] = length
    return lengths


def _compare(pairs: Sequence[_Pair], *, weight: float) -> list[float]:
    """Run the dynamic programme of [1] section 4, diagonal by diagonal.

    The cells of a diagonal do not depend on each other. `score[i]` is of the cell where i
    words of the output have met those of the reference that the diagonal says.
    """
    outputs = padded([pair[0] for pair in pairs], filling=-1).T.astype(np.int32, order="C")
    references = padded([pair[1] for pair in pairs], filling=-2).T.astype(np.int32, order="C")
    rows, columns = len(outputs), len(references)
    ends = np.array([left.size + right.size for left, right in pairs])
    at_end = np.array([left.size for left, _ in pairs])
    gains = np.diff(np.arange(min(rows, columns) + 2, dtype=float) ** weight)
    score, before = (np.zeros((rows + 1, len(pairs))) for _ in range(2))
    run, run_before = (np.zeros((rows + 1, len(pairs)), dtype=np.int32) for _ in range(2))
    lengths = np.zeros(len(pairs))
    for diagonal in range(2, rows + columns + 1):
        low, high = max(1, diagonal - columns), min(rows, diagonal - 1)
        now, past = slice(low, high + 1), slice(low - 1, high)
        met = references[diagonal - high - 1 : diagonal - low][::-1]
        same = np.flatnonzero(outputs[past] == met)
        # What lies two diagonals back is read for the last time here, and overwritten.
        length = run_before[past].ravel()[same]
        reached = before[past].ravel()[same] + gains[length]
        np.maximum(score[past], score[now], out=before[now])
        before[now].ravel()[same] = reached
        run_before[now] = 0
        run_before[now].ravel()[same] = length + 1
        score, before, run, run_before = before, score, run_before, run
        done = np.flatnonzero(ends == diagonal)
        lengths[done] = score[at_end[done], done]
    return [float(length) for length in lengths]
