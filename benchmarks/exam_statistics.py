"""CPU time of the statistics of a discernment exam.

Run as ``python benchmarks/exam_statistics.py``. The exam has 100 items, 12 perturbations and 4
aspects; a score is the sum of five from 1 to 5. Exact tests are timed on such sums and, as their
worst case, on differences without ties. A time is the best of three, to exclude other programs.
"""

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from spanjury.stats.combination.discernment import discernment_score, level_balanced, linear_pool
from spanjury.stats.combination.harmonic_mean import (
    harmonic_mean_calibrated,
    harmonic_mean_paper,
    harmonic_mean_wilson,
)
from spanjury.stats.combination.multiplicity import holm
from spanjury.stats.resampling import bootstrap, percentile_interval
from spanjury.stats.significance.joint import joint_sign_flip
from spanjury.stats.significance.sign_flip import paired_test, sign_flip
from spanjury.stats.weighted import mean_drop, net_drop, rank_biserial

PERTURBATIONS, ASPECTS, ITEMS = 12, 4, 100
DRAWS = 10_000
MISSING = 0.02
WEIGHTS = [0.4, 0.3, 0.2, 0.1]
LEVELS = ["character", "word", "sentence"] * (PERTURBATIONS // 3)
REPEATS = 3

Differences = NDArray[np.float64]


def exam() -> Differences:
    """Return the score drops of a judge that notices some of the damage; a few are missing."""
    rng = np.random.default_rng(1)
    shape = (PERTURBATIONS, ASPECTS, ITEMS)
    differences = np.rint(rng.normal(rng.uniform(0, 3, size=(*shape[:2], 1)), 3, size=shape))
    return np.where(rng.random(shape) < MISSING, np.nan, differences)


def tests(differences: Differences) -> Differences:
    """Test every cell with the exact test."""
    return np.array([[paired_test(cell).log_p for cell in row] for row in differences])


def combinations(log_p: Differences) -> None:
    """Combine the cells as a report does."""
    for combine in (harmonic_mean_calibrated, harmonic_mean_paper, harmonic_mean_wilson):
        for weights in (None, WEIGHTS):
            scores = discernment_score(combine(log_p, weights=weights))
            level_balanced(scores, levels=LEVELS)
    linear_pool(discernment_score(log_p), weights=WEIGHTS)
    holm(log_p.ravel())


def joint(differences: Differences) -> None:
    """Test every perturbation jointly over all aspects."""
    rng = np.random.default_rng(2)
    for cells in differences:
        joint_sign_flip(cells, rng=rng, draws=DRAWS)


def intervals(differences: Differences) -> None:
    """Resample items jointly, for three effects in every cell."""
    for effect in (net_drop, mean_drop, rank_biserial):
        rng = np.random.default_rng(3)
        percentile_interval(bootstrap(effect(differences), items=ITEMS, rng=rng, draws=DRAWS))


def whole(differences: Differences) -> None:
    """Run all statistics of the exam."""
    combinations(tests(differences))
    joint(differences)
    intervals(differences)


def milliseconds(work: Callable[[], object]) -> float:
    """Return the CPU time of the fastest of a few runs."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def main() -> None:
    """Print a table."""
    differences = exam()
    log_p = tests(differences)
    distinct = {n: np.random.default_rng(n).normal(0.3, 1, size=n) for n in (100, 500)}
    cases: dict[str, Callable[[], object]] = {
        "one exact test, 100 items, sums of scores": lambda: sign_flip(differences[0, 0]),
        "one exact test, 100 items, no ties": lambda: sign_flip(distinct[100]),
        "one exact test, 500 items, no ties": lambda: sign_flip(distinct[500]),
        "48 exact tests": lambda: tests(differences),
        "combinations": lambda: combinations(log_p),
        f"12 joint tests, {DRAWS:,} draws": lambda: joint(differences),
        f"3 effects in 48 cells, {DRAWS:,} draws": lambda: intervals(differences),
        "all of the exam": lambda: whole(differences),
    }
    table = Table("statistic", "CPU ms")
    for name, work in cases.items():
        table.add_row(name, f"{milliseconds(work):,.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
