"""Samples of a run's texts for people to mark: rows with their sampling probability."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spanjury.judges.core import ConfigError, DataError, Scale, Segment
from spanjury.orchestration.services.people.marks.marked_run import MarkedRun, MarkedText
from spanjury.orchestration.studies.sampling import (
    INCLUSION,
    SAMPLING,
    Purpose,
    Sample,
    Stratum,
    TextFeatures,
    draw_sample,
    mean_over_aspects,
    novelty,
)
from spanjury.orchestration.studies.sources import TextName, by_name, name_of, source_of, text_name
from spanjury.orchestration.wiring.read_results import ResultScores, read_result_scores
from spanjury.orchestration.wiring.results import check_output, write_segments
from spanjury.stats.arrays import FloatArray

_Value = Callable[[ResultScores, Scale], float]


class Drawn(NamedTuple):
    """A sample that was drawn and written."""

    texts: int
    of: int
    strata: tuple[Stratum, ...]
    scores: Mapping[str, tuple[float, float]]
    """Stratum -> the panel's lowest and highest score of its texts, in points.

    Empty if aspects have different scales.
    """


def draw(
    run: MarkedRun,
    *,
    size: int,
    purpose: Purpose,
    seed: int,
    output: Path,
    aspects: Sequence[str] = (),
) -> Drawn:
    """Draw texts of a run and write their rows.

    The scores of `aspects` are used, or those of all aspects if it is empty.

    Raise `ConfigError` if there are too few texts, an aspect was not judged, the output is the file
    of the texts, or disagreement is requested of a single seat; `DataError` if a file cannot be
    read or nothing has a score; `StoreError` if the rows cannot be written.
    """
    check_output(output, run.data)
    texts = texts_of_run(run)
    if size > len(texts):
        raise ConfigError(f"cannot sample {size} texts: {run.named} has only {len(texts)}")
    features = features_of(run, texts, aspects=aspects)
    if purpose == "disagreement" and np.isnan(features.spread).all():
        raise ConfigError(
            f"no text of {run.named} was scored by two seats, so there is no disagreement: sample"
            " for calibration or audit instead"
        )
    sample = draw_sample(features, size=size, purpose=purpose, seed=seed)
    rows = by_name(run.segments())  # the rows of the data unchanged
    write_segments(
        output,
        (
            _with_chance(
                rows[text_name(texts[number].segment)],
                sample,
                number=int(number),
                purpose=purpose,
                seed=seed,
            )
            for number in sample.chosen
        ),
    )
    return Drawn(
        size,
        len(texts),
        tuple(sample.strata()),
        _score_ranges(texts, features.quality, sample.stratum, aspects=aspects),
    )


def _score_ranges(
    texts: Sequence[MarkedText],
    quality: FloatArray,
    strata: Sequence[str],
    *,
    aspects: Sequence[str],
) -> dict[str, tuple[float, float]]:
    """Return stratum -> its lowest and highest score; empty unless all scores are on one scale."""
    scales = {text.aspects.get(name, Scale()) for text in texts for name in aspects or text.aspects}
    if len(scales) > 1:
        return {}
    scale = scales.pop()
    points = scale.low + quality * (scale.high - scale.low)
    of_stratum: dict[str, list[float]] = {}
    for name, score in zip(strata, points.tolist(), strict=True):
        if not math.isnan(score):
            of_stratum.setdefault(name, []).append(score)
    return {name: (min(scores), max(scores)) for name, scores in of_stratum.items()}


def features_of(
    run: MarkedRun, texts: Sequence[MarkedText], *, aspects: Sequence[str] = ()
) -> TextFeatures:
    """Return features of some texts of a run, averaged over `aspects`, or all aspects.

    Raise `ConfigError` if an aspect was not judged, and `DataError` if nothing has a score.
    """
    judged = dict.fromkeys(aspect for text in texts for aspect in text.aspects)
    if strange := [name for name in aspects if name not in judged]:
        raise ConfigError(
            f"{', '.join(strange)} was not judged in {run.results}; judged: {', '.join(judged)}"
        )
    rows = {
        (*name_of(row.segment_id, row.system), row.aspect): row
        for row in read_result_scores(run.results)
    }
    if all(row.score is None for row in rows.values()):
        raise DataError(f"{run.results}: no text has a score")

    def of(text: MarkedText, aspect: str, value: _Value) -> float:
        row = rows.get((*text_name(text.segment), aspect))
        return np.nan if row is None else value(row, text.aspects.get(aspect, Scale()))

    quality, spread = (
        mean_over_aspects(
            np.array([[of(text, name, value) for text in texts] for name in aspects or judged])
        )
        for value in (_panel, _spread)
    )
    segments = [text.segment for text in texts]
    return TextFeatures(
        quality=quality,
        spread=spread,
        novelty=novelty(
            [segment.output for segment in segments], [source_of(segment) for segment in segments]
        ),
    )


def texts_of_run(run: MarkedRun) -> list[MarkedText]:
    """Return each text of a run once, with the aspects of all its tasks."""
    texts: dict[TextName, MarkedText] = {}
    for text in run.texts:
        name = text_name(text.segment)
        old = texts.get(name)
        texts[name] = replace(text, aspects={**old.aspects, **text.aspects}) if old else text
    return list(texts.values())


def _with_chance(
    segment: Segment, sample: Sample, *, number: int, purpose: Purpose, seed: int
) -> Segment:
    about = {
        "for": purpose,
        "seed": seed,
        "stratum": sample.stratum[number],
        INCLUSION: float(sample.inclusion[number]),
        "drawn": sample.chosen.size,
        "of": len(sample.stratum),
    }
    return replace(segment, meta={**segment.meta, SAMPLING: about})


def _panel(row: ResultScores, scale: Scale) -> float:
    """Return the panel's score, rescaled to 0 to 1."""
    return np.nan if row.score is None else (row.score - scale.low) / (scale.high - scale.low)


def _spread(row: ResultScores, scale: Scale) -> float:
    """Return the standard deviation of the seats' scores, as a share of the scale."""
    scores = [seat for seat in row.seats.values() if seat is not None]
    return float(np.std(scores)) / (scale.high - scale.low) if len(scores) > 1 else np.nan
