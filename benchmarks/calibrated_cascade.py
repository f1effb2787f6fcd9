"""False alarms of a calibrated cascade of the four recorded judges on QAGS, after the reader.

    python -m benchmarks.recorded_judges -o FOLDER
    python -m benchmarks.calibrated_cascade FOLDER [--splits 200] [--share 0.6] [--rate 0.1]

Each split divides the articles into three parts: a cascade is fitted to the first, thresholds are
set on the second, and alarms are counted on the third. It prints the share of alarms among texts
without errors and among texts with errors: means over splits with 95 % intervals, by all seats, by
the cascade, and by the cascade with thresholds set on the scores of all seats.
"""

import argparse
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np
from benchmarks.recorded_judges import SEATS
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from spanjury.judges.core import Report, Scale
from spanjury.orchestration.engine.cascade import estimate_of, place_on
from spanjury.orchestration.engine.thresholds import Thresholds
from spanjury.orchestration.services.judging.panels import find_aspect
from spanjury.orchestration.services.people.marked_texts import (
    JudgedText,
    MarkedSource,
    read_marked,
)
from spanjury.orchestration.studies.calibration.findings import alarms
from spanjury.orchestration.studies.calibration.fitting import (
    CalibrationTexts,
    Terms,
    TextOnAspect,
    fit_thresholds,
)
from spanjury.orchestration.studies.panel_study.cascades import StagedTexts, fit_cascade, judge
from spanjury.stats.arrays import FloatArray

Part = NDArray[np.bool_]
SCALE = Scale()
STAGES = (("reader", "grounding"), *((seat,) for seat in SEATS))
PANEL = tuple(seat for stage in STAGES for seat in stage)


class Attained(NamedTuple):
    """Shares of texts that raise an alarm, and of calls made."""

    clean: float
    faulty: float
    calls: float


def read_staged(folder: Path) -> tuple[StagedTexts, CalibrationTexts]:
    """Read the reports of all seats, and people's labels of the same texts."""
    read = read_marked(
        MarkedSource(results=(folder / "results.jsonl",), human=folder / "texts.jsonl")
    ).texts
    texts = [text for text in read if text.human is not None]
    table = np.array([[_verdict_of(text, seat) for text in texts] for seat in PANEL])
    costs = np.array([0.0, *(1.0 for _ in SEATS)])
    bounds = np.cumsum([0, *map(len, STAGES)])
    numbers = tuple(tuple(range(*pair)) for pair in pairwise(bounds))
    failed = np.isnan(table[..., 1])  # a recorded reply without a label
    staged = StagedTexts(
        stages=numbers,
        estimates=table[..., 0],
        fractions=table[..., 1],
        failed=failed,
        costs=costs,
    )
    marked = tuple(
        TextOnAspect(
            source=text.source,
            score=0.0,
            is_clean=text.human == max(other.human or 0.0 for other in texts),
            scored=frozenset(PANEL),
        )
        for text in texts
    )
    aspect = find_aspect("summarization", "consistency")
    return staged, CalibrationTexts(aspect=aspect, texts=marked, made_on="QAGS")


def _verdict_of(text: JudgedText, name: str) -> tuple[float, float]:
    seat = next(of_seat for of_seat in text.row.seats if of_seat.judge == name)
    if seat.score is None:
        return math.nan, math.nan
    report = Report(score=seat.score, error_probability=seat.error_probability)
    return estimate_of(report, SCALE) or 0.0, place_on(SCALE, seat.score)


def split(
    staged: StagedTexts, people: CalibrationTexts, *, rng: Generator, share: float, rate: float
) -> Mapping[str, Attained]:
    """Return the shares measured on the third part of the articles, by name of the panel."""
    fit, marked, rest = _thirds(people.sources, rng)
    fitted = fit_cascade(staged.of(np.flatnonzero(fit)), share=share)
    ended = judge(staged, fitted)
    whole, cascaded = _scored(people, staged.whole), _scored(people, ended.fractions)
    calls = float(ended.costs[rest].mean() / staged.costs.sum())
    by_whole, by_cascade = (
        fit_thresholds(scored.part(marked), Terms(rate=rate)) for scored in (whole, cascaded)
    )
    return {
        "all seats": _attained(by_whole, whole.part(rest), calls=1.0),
        "cascade": _attained(by_cascade, cascaded.part(rest), calls=calls),
        "cascade, thresholds of all seats": _attained(by_whole, cascaded.part(rest), calls=calls),
    }


def _thirds(sources: tuple[str, ...], rng: Generator) -> tuple[Part, Part, Part]:
    names = sorted(set(sources))
    dealt = dict(zip(names, rng.permutation(len(names)) % 3, strict=True))
    part = np.array([dealt[source] for source in sources])
    return part == 0, part == 1, part == 2  # noqa: PLR2004  thirds


def _scored(people: CalibrationTexts, scores: FloatArray) -> CalibrationTexts:
    width = SCALE.high - SCALE.low
    texts = tuple(
        replace(text, score=SCALE.low + width * float(score))
        for text, score in zip(people.texts, scores, strict=True)
    )
    return replace(people, texts=texts)


def _attained(thresholds: Thresholds | None, texts: CalibrationTexts, *, calls: float) -> Attained:
    if thresholds is None:
        return Attained(0.0, 0.0, calls)
    raised = alarms(texts.suspicions(), thresholds)[0]
    return Attained(float(raised[texts.clean].mean()), float(raised[texts.faulty].mean()), calls)


def lines(folder: Path, *, splits: int, share: float, rate: float) -> Iterator[str]:
    """Yield the rows of the table."""
    staged, people = read_staged(folder)
    rng = default_rng(1)
    results = [split(staged, people, rng=rng, share=share, rate=rate) for _ in range(splits)]
    yield f"| panel | calls | false alarms, {rate:.0%} promised | texts with an error, caught |"
    yield "|---|---:|---:|---:|"
    for name in results[0]:
        calls, clean, faulty = (
            [getattr(result[name], column) for result in results]
            for column in ("calls", "clean", "faulty")
        )
        yield f"| {name} | {fmean(calls):.0%} | {_mean(clean)} | {_mean(faulty)} |"


def _mean(values: list[float]) -> str:
    half = 1.96 * stdev(values) / math.sqrt(len(values))
    return f"{fmean(values):.1%} ± {half:.1%}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--share", type=float, default=0.6)
    parser.add_argument("--rate", type=float, default=0.1)
    asked = parser.parse_args()
    for line in lines(asked.folder, splits=asked.splits, share=asked.share, rate=asked.rate):
        print(line, flush=True)


if __name__ == "__main__":
    main()
