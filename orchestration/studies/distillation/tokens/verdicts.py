"""The verdicts of a trained checker: constants fitted to them, and how they hold elsewhere.

A model knows the writers that it learnt from. Constants that are to hold for others are fitted to
data sets of which it learnt nothing. The figures of each such set are those of constants that were
fitted to the others.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import fsum, log

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Calibration, Judge, Segment
from spanjury.judges.reader.fitting import LEAST, logistic
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.report import Cell, Paragraph, Report, numeric, row, table
from spanjury.orchestration.studies.distillation.tokens.example import TokenExample
from spanjury.orchestration.studies.estimates import grouped
from spanjury.stats import auroc
from spanjury.stats.calibration_error import calibration_error

MOST = 0.1
"""Share of right texts that are flagged, and of wrong ones that are confirmed, at most."""

_LEAST_SLOPE = 0.05
_ASPECT = "summarization", "consistency"
_ABOVE = 1e-9  # keeps log odds finite, and a threshold above the text that it spares


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on a text of which is known whether it has an error."""

    dataset: str
    faulty: bool
    probability: float
    """Probability of an error, 0 to 1, as the checker itself gives it."""
    learnt: bool
    """True if the checker learnt from other texts of the data set."""


def deciding(examples: Sequence[TokenExample], *, learnt: Collection[str]) -> list[TokenExample]:
    """Return the examples of data sets that are not learnt from; all, if one kind is lacking there.

    The kinds are texts with and without an error.
    """
    others = [example for example in examples if example.dataset not in learnt]
    return others if len({example.label > 0 for example in others}) > 1 else list(examples)


async def verdicts_of(
    judge: Judge, examples: Iterable[TokenExample], *, learnt: Collection[str]
) -> list[Verdict]:
    """Have `judge` assess the examples, without those that it abstains on.

    Raise `JudgeError` if it cannot be run.
    """
    aspect = replace(Catalogue.load().aspect(*_ASPECT), inputs=None)
    verdicts = []
    for example in examples:
        segment = Segment(segment_id=example.row, output=example.output, inputs=example.inputs)
        probability = (await judge.assess(segment, aspect)).error_probability
        if probability is not None:
            verdicts.append(
                Verdict(
                    dataset=example.dataset,
                    faulty=example.label > 0,
                    probability=probability,
                    learnt=example.dataset in learnt,
                )
            )
    return verdicts


def fitted_to(verdicts: Sequence[Verdict]) -> Calibration | None:
    """Return the constants that fit verdicts on data sets that were not learnt from.

    All verdicts are taken if these are fewer than `LEAST` of either kind; None if all are too few.
    """
    others = [verdict for verdict in verdicts if not verdict.learnt]
    return _fitted(others) or _fitted(verdicts)


def _fitted(verdicts: Sequence[Verdict]) -> Calibration | None:
    """Return the constants that are right if half of the texts of each data set have an error.

    At most `MOST` of the right texts reach the threshold, and at most `MOST` of the wrong ones are
    below that of confirming. Each data set weighs the same.
    """
    kinds = Counter(verdict.faulty for verdict in verdicts)
    if min(kinds[True], kinds[False]) < LEAST:
        return None
    counts = Counter((verdict.dataset, verdict.faulty) for verdict in verdicts)
    weights = [1.0 / counts[verdict.dataset, verdict.faulty] for verdict in verdicts]
    weighed = list(zip(verdicts, weights, strict=True))
    slope, intercept = logistic(
        [(_log_odds(each.probability), float(each.faulty), weight) for each, weight in weighed]
    )
    scaled = Calibration(slope=max(_LEAST_SLOPE, slope), intercept=intercept)
    points = [(scaled.calibrated(each.probability), each.faulty, w) for each, w in weighed]
    right = sorted(((p, weight) for p, faulty, weight in points if not faulty), reverse=True)
    wrong = sorted((p, weight) for p, faulty, weight in points if faulty)
    threshold = min(1.0, _edge(right) + _ABOVE)
    return replace(scaled, threshold=threshold, vouched=min(threshold, max(_ABOVE, _edge(wrong))))


def _edge(points: Sequence[tuple[float, float]]) -> float:
    """Return the first value with which more than `MOST` of the weight is passed."""
    rest = MOST * fsum(weight for _, weight in points) + _ABOVE
    for value, weight in points:
        rest -= weight
        if rest < 0.0:
            return value
    return points[-1][0]


def _log_odds(probability: float) -> float:
    held = min(1.0 - _ABOVE, max(_ABOVE, probability))
    return log(held / (1.0 - held))


def verdict_report(verdicts: Sequence[Verdict]) -> Report:
    """Return the table of what the verdicts are worth, by data set and on average.

    Data sets without texts of both kinds are left out.
    """
    by_set = grouped(verdicts, lambda verdict: verdict.dataset)
    figures = {
        name: _figures(own, _for_set(name, verdicts))
        for name, own in by_set.items()
        if len({verdict.faulty for verdict in own}) > 1
    }
    tables = []
    for learnt, title in ((False, _OTHERS), (True, _SAME)):
        own = {name: figures[name] for name in figures if by_set[name][0].learnt == learnt}
        if own:
            rows = [row(name, *_cells(values)) for name, values in own.items()]
            mean = np.mean(list(own.values()), axis=0)
            rows.append(row("mean", *_cells(mean), ruled=True))
            tables.append(table(["data set", *numeric(*_HEADINGS)], rows, title=title))
    others = [values[_AUROC] for name, values in figures.items() if not by_set[name][0].learnt]
    cautions = []
    if all(verdict.learnt for verdict in verdicts):
        cautions.append(_ALONE)
    elif others and (mean_auroc := float(np.mean(others))) < _LEAST_AUROC:
        cautions.append(_WEAK.format(mean_auroc))
    return Report(
        title="Verdicts on texts for validation",
        sections=[*tables, *map(Paragraph, (_NOTE, *cautions))],
    )


_OTHERS = "Other writers: data sets that were not used for training"
_SAME = "Same writers: data sets with other texts used for training"
_HEADINGS = ("right", "wrong", "AUROC", "ECE", "alarms", "caught", "missed")
_NOTE = (
    "Alarms: share of the correct texts that are called wrong. Caught and missed: shares of the "
    "wrong texts that are called wrong, and correct. The thresholds for a set by other writers "
    "were fitted to the other such sets, if these are large enough."
)
_AUROC = _HEADINGS.index("AUROC")
_LEAST_AUROC = 0.6
_WEAK = (
    "This checker hardly distinguishes correct from wrong texts of other writers (AUROC {:.2f}), "
    "so its verdicts are worth little: train it longer, on more data or from a larger base."
)
_ALONE = (
    "No data set was held out (distil build --held-out FILE): the thresholds are fitted to "
    "the writers of the training data, and may not hold for others."
)


def _for_set(name: str, verdicts: Sequence[Verdict]) -> Calibration:
    """Return constants that were not fitted to the data set `name`, if there is enough else."""
    apart = [verdict for verdict in verdicts if verdict.dataset != name and not verdict.learnt]
    return _fitted(apart) or fitted_to(verdicts) or Calibration()


def _figures(verdicts: Sequence[Verdict], constants: Calibration) -> NDArray[np.float64]:
    faulty = np.array([verdict.faulty for verdict in verdicts])
    likely = np.array([constants.calibrated(verdict.probability) for verdict in verdicts])
    return np.array(
        [
            (~faulty).sum(),
            faulty.sum(),
            auroc(likely, faulty),
            calibration_error(likely, faulty, balanced=True),
            (likely[~faulty] >= constants.threshold).mean(),
            (likely[faulty] >= constants.threshold).mean(),
            (likely[faulty] < constants.vouched).mean(),
        ]
    )


def _cells(values: Iterable[float]) -> list[Cell]:
    return [Cell(float(value), spec) for value, spec in zip(values, _SPECS, strict=True)]


_SPECS = (",.0f", ",.0f", ".2f", ".2f", ".0%", ".0%", ".0%")
