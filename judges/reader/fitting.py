"""Fit the constants of the judge to texts whose errors are known."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum

from spanjury.judges.core import WindowReader, WindowReading
from spanjury.judges.reader.judge import marked_runs
from spanjury.judges.reader.tuning import LEAST as LEAST_EVIDENCE
from spanjury.judges.reader.tuning import Tuning, sentence_evidence
from spanjury.judges.reader.windows import SentenceWindow, sentence_readings

LEAST = 20
"""Minimum number of texts with an error, and of texts without, to fit anything."""

MOST_ALARMS = 0.03
"""Maximum share of the texts without an error in which words are marked.

At 0.1, half of the strongly reworded correct sentences in `tests/grounding_pairs.jsonl` were
marked, at 0.03 a quarter, and the same share of errors was located."""

MOST_MISSES = 0.1
"""Maximum share of the texts with an error that the judge vouches for."""

_THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
_STEPS = 50  # maximum steps of Newton's method, which needs fewer than ten
_RIDGE = 1e-3  # keeps the slope finite if the evidence separates all texts
_LEAST_SLOPE = 0.05

Interval = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedText:
    """A text that is known to have an error or none; `spans` has the errors' intervals if known.

    All datasets have the same total weight, whatever their number of texts.
    """

    inputs: Mapping[str, str]
    output: str
    faulty: bool
    spans: Sequence[Interval] = ()
    dataset: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A text with the readings of its sentences that are not copied."""

    text: CheckedText
    sentences: Sequence[tuple[SentenceWindow, WindowReading]]

    @property
    def evidence(self) -> float:
        readings = (reading for _, reading in self.sentences)
        return max(map(sentence_evidence, readings), default=LEAST_EVIDENCE)

    def marked(self, threshold: float) -> list[tuple[float, list[Interval]]]:
        """Return the evidence and the marked intervals of each sentence that has any."""
        marked = []
        for window, reading in self.sentences:
            tokens = window.tokens
            intervals = [
                (tokens[run.first].start, tokens[run.stop - 1].end)
                for run, _ in marked_runs(window, reading, threshold=threshold)
            ]
            if intervals:
                marked.append((sentence_evidence(reading), intervals))
        return marked


def fitted(encoder: WindowReader, texts: Sequence[CheckedText]) -> Tuning:
    """Return the constants that fit a model best, measured on texts that it was not trained on.

    The probability is calibrated for half of the texts of each data set having an error. Each
    threshold of words is combined with the sentence threshold that keeps `MOST_ALARMS`; the one
    whose marks have the best character F1 with the known spans is chosen. With fewer than `LEAST`
    texts of either kind the result is the default `Tuning`.
    """
    read = [_read(encoder, text) for text in texts]
    faulty = [text for text in read if text.text.faulty]
    clean = [text for text in read if not text.text.faulty]
    if min(len(faulty), len(clean)) < LEAST:
        return Tuning()
    slope, intercept = logistic(_points(faulty, label=1.0) + _points(clean, label=0.0))
    slope = max(_LEAST_SLOPE, slope)
    gates = {threshold: _gate(clean, threshold) for threshold in _THRESHOLDS}
    best = max(_THRESHOLDS, key=lambda threshold: _f1(faulty, threshold, gate=gates[threshold]))
    return Tuning(
        threshold=best,
        sentence_threshold=_held(gates[best]),
        vouched=_held(slope * _missed(faulty) + intercept),
        slope=slope,
        intercept=intercept,
    )


def _read(encoder: WindowReader, text: CheckedText) -> _Read:
    batches = sentence_readings(encoder, text.output, text.inputs)
    sentences = [sentence for batch in batches for sentence in batch.readings]
    return _Read(text=text, sentences=sentences)


def _points(texts: Sequence[_Read], *, label: float) -> list[tuple[float, float, float]]:
    """Return evidence, label and weight of each text; the weights of a data set sum to 1."""
    counts = Counter(text.text.dataset for text in texts)
    return [(text.evidence, label, 1.0 / counts[text.text.dataset]) for text in texts]


def _missed(faulty: Sequence[_Read]) -> float:
    """Return the evidence that `MOST_MISSES` of the texts with an error do not reach."""
    lowest_first = sorted(_points(faulty, label=1.0))
    rest = MOST_MISSES * fsum(weight for _, _, weight in lowest_first)
    for evidence, _, weight in lowest_first:
        rest -= weight
        if rest < 0.0:
            return evidence
    return lowest_first[-1][0]


def logistic(points: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    """Return slope and intercept of a logistic regression on value, label and weight."""
    total = fsum(weight for _, _, weight in points)
    points = [(value, label, weight / total) for value, label, weight in points]
    slope, intercept = 0.0, 0.0
    for _ in range(_STEPS):
        chances = [(*point, _held(slope * point[0] + intercept)) for point in points]
        down = fsum(weight * (y - p) * x for x, y, weight, p in chances) - _RIDGE * slope
        across = fsum(weight * (y - p) for x, y, weight, p in chances)
        spread = [(x, weight * p * (1 - p)) for x, _, weight, p in chances]
        xx, x1, x0 = (fsum(w * x**power for x, w in spread) for power in (2, 1, 0))
        xx += _RIDGE
        determinant = xx * x0 - x1 * x1
        if determinant <= 0.0:
            break
        slope += (x0 * down - x1 * across) / determinant
        intercept += (xx * across - x1 * down) / determinant
    return slope, intercept


def _gate(clean: Sequence[_Read], threshold: float) -> float:
    """Return the minimum evidence at which so few correct texts have marked words."""
    worst = sorted(
        (max((evidence for evidence, _ in text.marked(threshold)), default=float("-inf")))
        for text in clean
    )
    index = len(worst) - int(MOST_ALARMS * len(worst)) - 1
    return max(0.0, worst[index] + 1e-6)


def _f1(faulty: Sequence[_Read], threshold: float, *, gate: float) -> float:
    """Return the F1 of marked characters over the texts with known spans."""
    both = marked = true = 0
    for text in faulty:
        if not text.text.spans:
            continue
        gold = _characters(text.text.spans)
        marks = _characters(
            [
                interval
                for evidence, intervals in text.marked(threshold)
                if evidence >= gate
                for interval in intervals
            ]
        )
        both += len(gold & marks)
        marked += len(marks)
        true += len(gold)
    return 2 * both / (marked + true) if true else 0.0


def _characters(intervals: Sequence[Interval]) -> set[int]:
    return {at for start, end in intervals for at in range(start, end)}


def _held(log_odds: float) -> float:
    return 1.0 / (1.0 + exp(-max(-700.0, min(700.0, log_odds))))
