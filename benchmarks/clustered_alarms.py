"""Simulation of false alarms above the promised rate, if texts of one source are correlated.

    python benchmarks/clustered_alarms.py [SETS]

It draws sets of marked texts without errors, 25 per source, with normal suspicion; a share of its
variance is between sources (0: independent texts). It sets the threshold of `spanjury calibrate`
for at most 10 % of new texts of new sources. It prints Markdown with values before (each text is
independent) and after (each source is a cluster): how often the true rate of a set exceeds 10 %
with ``--confidence .9``, and the mean rate with and without a confidence. SETS is the number of
sets (500).
"""

import math
import sys

import numpy as np
from scipy.stats import norm

from spanjury.stats.conformal import conformal_threshold

TEXTS, RATE, CONFIDENCE = 25, 0.1, 0.9
SOURCES = (20, 40, 60, 100)
BETWEEN = (0.0, 0.2, 0.5)


def rates(sources: int, between: float, *, sets: int, confidence: float | None) -> np.ndarray:
    """Return the true rates of alarms, shape ``(2, sets)``: before and after."""
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(sources), TEXTS)
    columns = []
    for _ in range(sets):
        own, shared = rng.normal(size=(sources, TEXTS)), rng.normal(size=(sources, 1))
        scores = (math.sqrt(1 - between) * own + math.sqrt(between) * shared).ravel()
        values = [
            conformal_threshold(scores, rate=RATE, confidence=confidence, clusters=clusters).value
            for clusters in (None, labels)
        ]
        columns.append(norm.sf(values))
    return np.array(columns).T


def main(sets: int) -> None:
    """Print the table."""
    pairs = " | ".join(f"{what}, before | after" for what in ("exceeded", "mean rate", "average"))
    print(f"| sources | variance between | {pairs} |\n|{'---|' * 8}")
    for sources in SOURCES:
        for between in BETWEEN:
            sure = rates(sources, between, sets=sets, confidence=CONFIDENCE)
            usual = rates(sources, between, sets=sets, confidence=None)
            exceeded = (sure > RATE).mean(axis=1)
            cells = [*exceeded, *sure.mean(axis=1), *usual.mean(axis=1)]
            shown = " | ".join(f"{cell:.1%}" for cell in cells)
            print(f"| {sources} | {between:.0%} | {shown} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
