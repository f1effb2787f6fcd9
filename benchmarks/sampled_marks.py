"""Repeated samples of each kind from a run whose texts people have scored.

    python -m benchmarks.sampled_marks RUN --human TEXTS [--data TEXTS] --aspect NAME
        [--draws 300] [--below 4]

Prints results for samples of 50 and 200 texts: the mean human score weighted by the inverse chances
of the texts, its standard deviation over draws, how many 95 % intervals contain the mean of all
texts, the unweighted mean, and the number of texts below a score in a sample. Then it prints the
same for simple random samples.
"""

import argparse
from pathlib import Path
from typing import get_args

import numpy as np

from spanjury.orchestration.services.judging.exam_texts import read_texts
from spanjury.orchestration.services.people.marks.marked_run import MarkedRun
from spanjury.orchestration.services.people.sampling import features_of, texts_of_run
from spanjury.orchestration.studies.sampling import Purpose, TextFeatures, draw_sample
from spanjury.stats.arrays import FloatArray
from spanjury.stats.sampling_design import weighted_mean

SIZES = (50, 200)
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    for name in ("--human", "--data"):
        parser.add_argument(name, type=Path, required=name == "--human")
    parser.add_argument("--aspect", required=True)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--below", type=float, default=4.0)
    given = parser.parse_args()
    run = MarkedRun(given.run, data=given.data)
    people = {text.segment_id: text.human_score(given.aspect) for text in read_texts(given.human)}
    texts = [text for text in texts_of_run(run) if people.get(text.segment.segment_id) is not None]
    scores = np.array([people[text.segment.segment_id] for text in texts], dtype=np.float64)
    features = features_of(run, texts, aspects=(given.aspect,))
    print(f"{len(texts)} texts, mean {scores.mean():.3f}, {np.sum(scores < given.below)} below")
    print(f"{'for':<14}{'size':>5}{'mean':>8}{'sd':>7}{'held':>7}{'bare':>7}{'below':>7}")
    for size in SIZES:
        for purpose in (*PURPOSES, None):
            estimates = _draws(scores, features, size=size, purpose=purpose, draws=given.draws)
            print(
                f"{purpose or 'random':<14}{size:>5}{estimates[:, 0].mean():>8.3f}"
                f"{estimates[:, 0].std():>7.3f}{estimates[:, 1].mean():>7.2f}"
                f"{estimates[:, 2].mean():>7.3f}"
                f"{_below(scores, estimates[:, 3:], given.below):>7.1f}"
            )


def _draws(
    scores: FloatArray, features: TextFeatures, *, size: int, purpose: Purpose | None, draws: int
) -> FloatArray:
    """Return one row of figures per draw.

    A row has the weighted mean, whether its interval contains the mean of all texts, the plain
    mean, and the indices of the texts.
    """
    rows = []
    for seed in range(draws):
        if purpose is None:
            chosen = np.random.default_rng(seed).choice(scores.size, size, replace=False)
            chances = np.full(size, size / scores.size)
        else:
            sample = draw_sample(features, size=size, purpose=purpose, seed=seed)
            chosen, chances = sample.chosen, sample.inclusion[sample.chosen]
        estimate = weighted_mean(scores[chosen], chances)
        held = estimate.low <= scores.mean() <= estimate.high
        rows.append([estimate.value, held, scores[chosen].mean(), *chosen])
    return np.array(rows, dtype=np.float64)


def _below(scores: FloatArray, chosen: FloatArray, limit: float) -> float:
    return float((scores[chosen.astype(np.intp)] < limit).sum(axis=1).mean())


if __name__ == "__main__":
    main()
