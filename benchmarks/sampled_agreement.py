"""Agreement of a panel with people, estimated from samples of its texts, compared with all texts.

    python -m benchmarks.sampled_agreement RUN --human TEXTS [--data TEXTS] --aspect NAME
        [--draws 300]

Prints results for samples of 50 and 150 texts of each kind. These are the mean over draws of
Spearman's rho in the plain sample, and weighted by the inverse chances of its texts, each with its
root mean square distance from rho on all texts; and how many 95 % intervals of the weighted rho
contain that on all texts.
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
from spanjury.stats.correlations.weighted_correlation import weighted_correlation

SIZES = (50, 150)
_RESAMPLED = 400


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    for name in ("--human", "--data"):
        parser.add_argument(name, type=Path, required=name == "--human")
    parser.add_argument("--aspect", required=True)
    parser.add_argument("--draws", type=int, default=300)
    given = parser.parse_args()
    run = MarkedRun(given.run, data=given.data)
    people = {text.segment_id: text.human_score(given.aspect) for text in read_texts(given.human)}
    texts = [text for text in texts_of_run(run) if people.get(text.segment.segment_id) is not None]
    scores = np.array([people[text.segment.segment_id] for text in texts], dtype=np.float64)
    features = features_of(run, texts, aspects=(given.aspect,))
    if np.isnan(features.quality).any():
        parser.error("some texts have no score by the panel")
    whole = float(weighted_correlation(scores, features.quality, weights=np.ones(scores.size)))
    print(f"{len(texts)} texts, rho {whole:.3f}")
    print(f"{'for':<14}{'size':>5}{'bare':>8}{'off':>7}{'weighed':>9}{'off':>7}{'held':>7}")
    for size in SIZES:
        for purpose in get_args(Purpose):
            estimates = _draws(scores, features, size=size, purpose=purpose, draws=given.draws)
            bare, weighed = estimates[:, 0], estimates[:, 1]
            held = np.mean((estimates[:, 2] <= whole) & (whole <= estimates[:, 3]))
            print(
                f"{purpose:<14}{size:>5}{bare.mean():>8.3f}{_off(bare, whole):>7.3f}"
                f"{weighed.mean():>9.3f}{_off(weighed, whole):>7.3f}{held:>7.2f}"
            )


def _draws(
    scores: FloatArray, features: TextFeatures, *, size: int, purpose: Purpose, draws: int
) -> FloatArray:
    """Return rho of a sample, the weighted rho, and the ends of its interval."""
    rows = []
    for seed in range(draws):
        sample = draw_sample(features, size=size, purpose=purpose, seed=seed)
        both = scores[sample.chosen], features.quality[sample.chosen]
        weights = 1 / sample.inclusion[sample.chosen]
        rng = np.random.default_rng(seed)
        times = rng.multinomial(size, np.full(size, 1 / size), size=_RESAMPLED)
        bare = weighted_correlation(*both, weights=np.ones(size))
        weighed = weighted_correlation(*both, weights=weights)
        ends = np.nanquantile(weighted_correlation(*both, weights=times * weights), [0.025, 0.975])
        rows.append([bare, weighed, *ends])
    return np.array(rows, dtype=np.float64)


def _off(values: FloatArray, whole: float) -> float:
    return float(np.sqrt(np.mean((values - whole) ** 2)))


if __name__ == "__main__":
    main()
