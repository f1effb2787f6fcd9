"""Calibration on QAGS with four recorded judges: promised rates compared with attained ones.

    python -m benchmarks.calibration [--data ../shared/data] [--splits 1000]

Prints the rate of false alarms on texts other than those that set the thresholds, over random
splits; and the calibration of the mean of the four scores, by all texts and by thirty of them, with
what these numbers of texts suffice for.
"""

import argparse
import gzip
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.random import default_rng

from spanjury.orchestration.services.judging.panels import find_aspect
from spanjury.orchestration.studies.calibration.findings import (
    AspectFindings,
    alarms,
    aspect_findings,
)
from spanjury.orchestration.studies.calibration.fitting import (
    CalibrationTexts,
    Terms,
    TextOnAspect,
    fit_thresholds,
)
from spanjury.orchestration.studies.calibration.tables import enough

__all__ = ["Attained", "attained", "read_texts"]

DATA = Path("../shared/data")
FILE = "judgements/qags_four_judges.jsonl.gz"
RATES = (0.05, 0.1, 0.2)
MARKED = (30, 60, 120, 237)
THIRTY = 30


class Attained(NamedTuple):
    """Mean share of false alarms on new texts, over splits, and its standard error."""

    share: float
    error: float
    silent: float
    """Share of the splits with too few error-free texts for any threshold."""


def read_texts(data: Path = DATA) -> CalibrationTexts:
    """Read the summaries with human scores and the mean score of the judges."""
    with gzip.open(data / FILE, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    texts = tuple(
        TextOnAspect(
            source=row["id"],
            score=fmean(scores),
            people={"people": 1 + 4 * row["human"]},
            is_clean=row["human"] == 1,
            scored=frozenset({"four"}),
        )
        for row in rows
        if (scores := [score for score in row["scores"].values() if score is not None])
    )
    aspect = find_aspect("summarization", "consistency")
    return CalibrationTexts(aspect=aspect, texts=texts, made_on=f"{len(texts)} summaries of QAGS")


def attained(texts: CalibrationTexts, *, rate: float, marked: int, splits: int) -> Attained:
    """Set thresholds on `marked` random texts, and count alarms on the others."""
    rng = default_rng(1)
    shares, silent = [], 0
    for _ in range(splits):
        inside = np.zeros(len(texts.texts), dtype=np.bool_)
        inside[rng.permutation(inside.size)[:marked]] = True
        thresholds = fit_thresholds(texts.part(inside), Terms(rate=rate))
        silent += thresholds is None
        others = texts.part(~inside & texts.clean)
        raised = alarms(others.suspicions(), thresholds)[0] if thresholds else np.zeros(1)
        shares.append(float(raised.mean()))
    error = float(np.std(shares)) / math.sqrt(splits)
    return Attained(fmean(shares), error, silent / splits)


def _promises(texts: CalibrationTexts, *, splits: int) -> Iterator[str]:
    yield f"| marked | {' | '.join(f'promised {rate:.0%}' for rate in RATES)} |"
    yield f"|---|{'---|' * len(RATES)}"
    for marked in MARKED:
        rates = [attained(texts, rate=rate, marked=marked, splits=splits) for rate in RATES]
        yield f"| {marked} | {' | '.join(map(_shown, rates))} |"


def _shown(rate: Attained) -> str:
    none = f" (none set in {rate.silent:.0%})" if rate.silent else ""
    return f"{rate.share:.1%} ± {1.96 * rate.error:.1%}{none}"


def _calibrations(named: Sequence[tuple[str, CalibrationTexts]]) -> Iterator[str]:
    for name, texts in named:
        findings = aspect_findings(texts, Terms())
        yield f"\n{name}: {findings.clean} without error; kept: {', '.join(findings.kept)}"
        yield from _figures(findings)
        yield from (f"  {line}" for line in enough(findings))


def _figures(findings: AspectFindings) -> Iterator[str]:
    for change in findings.changes:
        yield f"  {change.name}: " + " -> ".join(
            f"{figure.value:.3f} [{figure.low:.3f}, {figure.high:.3f}]"
            for figure in (change.before, change.after)
            if not math.isnan(figure.value)
        )
    for alarm in findings.alarms[:1]:  # without errors in the data, no score means a faulty text
        raised, caught = alarm.attained, alarm.caught
        yield (
            f"  {alarm.level}: promised {alarm.promised:.0%}, attained {raised.value:.1%}"
            f" [{raised.low:.1%}, {raised.high:.1%}], caught {caught.value:.1%}"
            f" [{caught.low:.1%}, {caught.high:.1%}]"
        )


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--splits", type=int, default=1000)
    given = parser.parse_args()
    texts = read_texts(given.data)
    drawn = np.zeros(len(texts.texts), dtype=np.bool_)
    drawn[default_rng(1).permutation(drawn.size)[:THIRTY]] = True
    lines = [
        *_promises(texts, splits=given.splits),
        *_calibrations([("all texts", texts), ("thirty texts", texts.part(drawn))]),
    ]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
