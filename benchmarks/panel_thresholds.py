"""Fit a panel's probability and its decisions to texts on which none of its judges was trained.

    python benchmarks/panel_thresholds.py FILE… [--judges grounding,reader] [--model NAME]
        [--readings FILE] [--misses .1] [--set-misses .2] [--alarms .1] [--set-alarms .2]

FILEs are marked texts of sets that were held out of training; `FILE=N` uses N texts of one. A label
changes where both readers of `--readings` contradict it. In `benchmarks/second_readings.csv` two
readers of this project judged the texts of three public sets without their labels: S follows from
the source, N does not, D is debatable.

All sets have the same weight, and within a set so do the texts with errors and those without.
Prints the weights of the judges' log odds, slope and intercept, and two thresholds: the highest
below which lie at most `--misses` of the texts with errors in every *wording* and `--set-misses` in
every set, and the lowest from which at most `--alarms` of those without do in every wording and
`--set-alarms` in every set. No text is ok from `VOUCHED` on. A text's
wording is the least share of a sentence's content words that its passages contain: near from 0.9,
reworded from 0.7, else inferred. Then both rates and the share of decisions are printed, by set and
by wording, each set judged with weights fitted to the others.
The results are used in `orchestration/engine/thresholds.py`.
"""

import argparse
import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

import spanjury
from spanjury.judges.core import VOUCHED, PanelReport, Segment
from spanjury.judges.reader.windows import Kind, sentence_windows
from spanjury.orchestration.engine.decision import surest_error
from spanjury.orchestration.engine.thresholds import MOST_CERTAIN

WORDINGS = (("near", 0.9), ("reworded", 0.7), ("inferred", 0.0))
HELD = frozenset((Kind.CONTENT_RUN, Kind.CONTENT_NEAR, Kind.NAME_NEAR, Kind.NUMBER_NEAR))
SURE = frozenset(("grounding",))
RIDGE = 1e-3
FEWEST = 20  # texts of a kind, fewer than which a set's rate is not used

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSet:
    """The judged texts of a set.

    Parameters
    ----------
    odds
        Log odds of an error stated by each judge, ``(texts, judges)``; 0 if it states none.
    surest
        Probability of the gravest error marked by `SURE`, ``(texts,)``; 0 if there is none.
    faulty
        Whether each text has an error, ``(texts,)``.
    wordings
        Name of each text's wording.
    """

    name: str
    odds: Floats
    surest: Floats
    faulty: NDArray[np.bool_]
    wordings: Sequence[str]

    @property
    def weights(self) -> Floats:
        """Weight of each text; they sum to 1, and to one half for each kind."""
        counts = np.where(self.faulty, self.faulty.sum(), (~self.faulty).sum())
        return np.asarray(0.5 / counts)


def readings_of(path: Path) -> dict[str, bool]:
    """Return, by identifier, whether texts on which both readers agree have an error."""
    with path.open(encoding="utf-8", newline="") as file:
        return {
            row["id"]: row["first_reader"] == "N"
            for row in csv.DictReader(file)
            if row["first_reader"] == row["second_reader"] != "D"
        }


def judged_set(
    name: str,
    *,
    judges: Sequence[str],
    models: Sequence[str] = (),
    most: int | None,
    readings: Mapping[str, bool] | None = None,
) -> JudgedSet:
    """Judge those texts of a file that are labelled as with or without errors."""
    labelled = (
        segment for segment in spanjury.read_segments(Path(name)) if _is_faulty(segment) is not None
    )
    read = readings or {}
    segments = list(islice(labelled, most))
    reports = spanjury.evaluate(
        segments, aspects="consistency", judges=list(judges), models=list(models)
    )
    return JudgedSet(
        name=Path(name).name.partition(".")[0].removeprefix("train_"),
        odds=np.array([list(_odds(report.reports["consistency"], judges)) for report in reports]),
        surest=np.array([_surest(report.reports["consistency"]) for report in reports]),
        faulty=np.array(
            [read.get(segment.segment_id, _is_faulty(segment)) for segment in segments]
        ),
        wordings=[_wording(segment) for segment in segments],
    )


def _is_faulty(segment: Segment) -> bool | None:
    if segment.gold:
        return True
    supported = segment.meta.get("supported")
    return not supported if isinstance(supported, bool) else None


def _odds(report: PanelReport, judges: Sequence[str]) -> Iterator[float]:
    for judge in judges:
        # The name of a seat with a model ends with the model's.
        seats = (seat.report for seat in report.seats if seat.seat.startswith(judge))
        share = next((seat.error_probability for seat in seats), None)
        bounded = min(max(0.5 if share is None else share, 1 - MOST_CERTAIN), MOST_CERTAIN)
        yield math.log(bounded / (1 - bounded))


def _surest(report: PanelReport) -> float:
    return surest_error(seat for seat in report.seats if seat.seat in SURE)


def _wording(segment: Segment) -> str:
    shares = []
    for sentence in sentence_windows(segment.output, segment.inputs):
        kinds = [kind for kind in sentence.window.kinds if kind >= Kind.CONTENT_RUN]
        if kinds:
            shares.append(sum(kind in HELD for kind in kinds) / len(kinds))
    least = min(shares, default=1.0)
    return next(name for name, bound in WORDINGS if least >= bound)


def fitted(sets: Sequence[JudgedSet]) -> Floats:
    """Return the weights of the judges' log odds and the constant, ``(judges + 1,)``."""
    odds = np.concatenate([judged.odds for judged in sets])
    faulty = np.concatenate([judged.faulty for judged in sets]).astype(float)
    weights = np.concatenate([judged.weights for judged in sets]) / len(sets)
    columns = np.column_stack([odds, np.ones(len(odds))])

    def loss(parameters: Floats) -> tuple[float, Floats]:
        logits = columns @ parameters
        slopes = np.append(parameters[:-1], 0.0)
        value = weights @ (np.logaddexp(0, logits) - faulty * logits) + RIDGE * slopes @ slopes
        shares = 1 / (1 + np.exp(-logits))
        return float(value), columns.T @ (weights * (shares - faulty)) + 2 * RIDGE * slopes

    least = [(0.01, None)] * odds.shape[1] + [(None, None)]  # no judge's weight may be negative
    return np.asarray(minimize(loss, np.zeros(columns.shape[1]), jac=True, bounds=least).x)


def probabilities(judged: JudgedSet, parameters: Floats) -> Floats:
    """Return the probability of an error for each text, ``(texts,)``."""
    logits = judged.odds @ parameters[:-1] + parameters[-1]
    return np.asarray(np.maximum(1 / (1 + np.exp(-logits)), judged.surest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Texts with probabilities from constants that were fitted without their set."""

    sets: Sequence[JudgedSet]
    shares: Sequence[Floats]

    def rate(
        self, such: Callable[[Floats], NDArray[np.bool_]], *, faulty: bool, wording: str = ""
    ) -> float:
        """Return the mean over sets of the share of texts of one kind that satisfy `such`."""
        rates = self.rates(such, faulty=faulty, wording=wording)
        return float(np.mean(rates)) if rates else math.nan

    def rates(
        self, such: Callable[[Floats], NDArray[np.bool_]], *, faulty: bool, wording: str = ""
    ) -> list[float]:
        """Return the share for each set that has enough texts of the kind."""
        rates = []
        for judged, shares in zip(self.sets, self.shares, strict=True):
            chosen = judged.faulty == faulty
            if wording:
                chosen = chosen & np.array([name == wording for name in judged.wordings])
            if chosen.sum() >= FEWEST:
                rates.append(float(such(shares[chosen]).mean()))
        return rates


def _below(bound: float) -> Callable[[Floats], NDArray[np.bool_]]:
    return lambda shares: shares < bound


def _from(bound: float) -> Callable[[Floats], NDArray[np.bool_]]:
    return lambda shares: shares >= bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The largest share of wrong decisions, in any wording and in any set."""

    wording: float
    of_set: float

    def hold(
        self, held: Held, such: Callable[[Floats], NDArray[np.bool_]], *, faulty: bool
    ) -> bool:
        """Return whether the texts of one kind that satisfy `such` are within the bounds."""
        by_wording = (held.rate(such, faulty=faulty, wording=name) for name, _ in WORDINGS)
        return not (
            any(rate > self.wording for rate in by_wording)
            or any(rate > self.of_set for rate in held.rates(such, faulty=faulty))
        )


def thresholds(held: Held, *, misses: Bounds, alarms: Bounds) -> tuple[float, float]:
    """Return the probability below which a text is ok, and that from which it is faulty."""
    low = np.arange(0.01, VOUCHED + 0.001, 0.01).round(2)
    high = np.arange(0.5, 1.0, 0.01).round(2)
    fine = [bound for bound in low if misses.hold(held, _below(bound), faulty=True)]
    grave = [bound for bound in high if alarms.hold(held, _from(bound), faulty=False)]
    return round(float(max(fine, default=0.01)), 2), round(float(min(grave, default=1.0)), 2)


def main() -> None:
    """Judge, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE[=N]")
    parser.add_argument("--judges", default="grounding,reader")
    parser.add_argument("--model", action="append", default=[], help="for judges that ask one")
    parser.add_argument("--readings", type=Path, help="second readings that change labels")
    parser.add_argument("--misses", type=float, default=0.1)
    parser.add_argument("--set-misses", type=float, default=0.2)
    parser.add_argument("--alarms", type=float, default=0.1)
    parser.add_argument("--set-alarms", type=float, default=0.2)
    options = parser.parse_args()
    judges = options.judges.split(",")
    readings = readings_of(options.readings) if options.readings else {}
    sets = []
    for file in options.files:
        name, equals, most = file.rpartition("=")
        path, limit = (name, int(most)) if equals else (file, None)
        sets.append(
            judged_set(path, judges=judges, models=options.model, most=limit, readings=readings)
        )
    parameters = fitted(sets)
    without = [fitted([other for other in sets if other is not judged]) for judged in sets]
    held = Held(
        sets=sets,
        shares=[probabilities(judged, fit) for judged, fit in zip(sets, without, strict=True)],
    )
    ok, faulty = thresholds(
        held,
        misses=Bounds(wording=options.misses, of_set=options.set_misses),
        alarms=Bounds(wording=options.alarms, of_set=options.set_alarms),
    )
    total = parameters[:-1].sum()
    print("weights", dict(zip(judges, (parameters[:-1] / total).round(3).tolist(), strict=True)))
    print(f"slope {total:.3f}, intercept {parameters[-1]:.3f}, ok below {ok}, faulty from {faulty}")
    print("\n| | wrong | right | misses | false alarms | wrong decided | right decided |")
    print(f"{'|---' * 7}|")
    for judged, shares in zip(sets, held.shares, strict=True):
        _print_row(judged.name, Held(sets=[judged], shares=[shares]), ok=ok, faulty=faulty)
    for name, _ in WORDINGS:
        _print_row(name, held, ok=ok, faulty=faulty, wording=name)
    _print_row("mean of the sets", held, ok=ok, faulty=faulty)


def _print_row(name: str, held: Held, *, ok: float, faulty: float, wording: str = "") -> None:
    def rate(such: Callable[[Floats], NDArray[np.bool_]], *, of: bool) -> str:
        return f"{held.rate(such, faulty=of, wording=wording):.3f}"

    def counted(*, of: bool) -> int:
        return sum(
            is_faulty == of and wording in {"", name}
            for judged in held.sets
            for is_faulty, name in zip(judged.faulty.tolist(), judged.wordings, strict=True)
        )

    def decided(shares: Floats) -> NDArray[np.bool_]:
        return (shares < ok) | (shares >= faulty)

    cells = (
        name,
        str(counted(of=True)),
        str(counted(of=False)),
        rate(_below(ok), of=True),
        rate(_from(faulty), of=False),
        rate(decided, of=True),
        rate(decided, of=False),
    )
    print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
