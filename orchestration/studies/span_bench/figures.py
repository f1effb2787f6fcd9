"""Figures of a judge on one set and on its groups, from its answers beside the gold spans."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Decision
from spanjury.judges.text.words import words
from spanjury.orchestration.studies.estimates import Effects, Settings, estimates
from spanjury.orchestration.studies.span_bench.gold import Answer, BenchText, Failure, GoldPlace
from spanjury.stats.arrays import FloatArray
from spanjury.stats.calibration_error import calibration_error_effect, error_by_chance
from spanjury.stats.correlations.correlation import correlation
from spanjury.stats.resampling import Estimate
from spanjury.stats.roc import auroc_effect, caught_effect
from spanjury.stats.spans.localisation import localisation
from spanjury.stats.spans.span_agreement import Overlap, character_overlap, micro_effect
from spanjury.stats.weighted import Weighted, mean_drop, of_items, on_sample, ratio

BoolArray = NDArray[np.bool_]
Interval = tuple[int, int]
_Pair = tuple[BenchText, Answer | None]
_Row = tuple[float, ...]
Cut = Literal["faulty", "not ok"]
"""The decisions that count as "has an error": *faulty* alone, or whatever is not *ok*."""
FALSE_ALARMS = 0.15
"""The largest share of texts without errors that may be above the threshold of `score.caught`."""

SPEARMAN = "people.spearman"
"""The only figure that is no share."""
FIGURES: Mapping[str, str] = {
    "decision.balanced_accuracy": "mean of the shares of correct decisions on texts with and "
    "without errors, at the better of two cut-offs: faulty, or not ok",
    "decision.decided": "share of the texts that are ok or faulty",
    "decision.vouched_misses": "share of the texts with errors that are ok",
    "decision.of_decided": "the same as decision.balanced_accuracy on decided texts alone",
    "score.auroc": "how often a text with an error scores worse than one without; ties half",
    "probability.auroc": "the same as score.auroc for the estimated probability of an error",
    "probability.ece": "mean distance of P(error) from the share of texts with errors, in ten "
    "bins of equal size",
    "probability.balanced_ece": "the same with equal total weight for texts with and without"
    " errors",
    "probability.ece_by_chance": "expected probability.ece if every P(error) were right",
    "characters.precision": "share of the marked characters that people also mark",
    "characters.recall": "share of the characters marked by people that are marked",
    "characters.f1": "harmonic mean of this precision and recall",
    "words.precision": "share of the marked words that people also mark",
    "words.recall": "share of the words marked by people that are marked",
    "words.f1": "harmonic mean of this precision and recall",
    "places.hit": "share of the passages marked by people that a span touches",
    "places.by_chance": "the same if each passage were at a random position in its text",
    "spans.right": "share of the spans that touch a passage marked by people",
    "flagged.error_free": "share of the texts without errors in which one is reported",
    "flagged.faulty": "share of the texts with errors in which one is reported",
    "score.caught": "share of the texts with errors below the best threshold of the score "
    f"with at most {FALSE_ALARMS:.0%} false alarms; optimistic",
    "unsure.caught": "share of the texts with errors that are unsure or faulty",
    "unsure.false_alarms": "share of the texts without errors that are unsure or faulty",
    "unsure.balanced_accuracy": "mean of the shares of correct decisions on texts with and without"
    " errors, if unsure and faulty both count as an error",
    "faulty.caught": "share of the texts with errors that are faulty",
    "faulty.false_alarms": "share of the texts without errors that are faulty",
    "faulty.balanced_accuracy": "the same if faulty alone counts as an error",
    SPEARMAN: "rank correlation of the score with people's",
}

_CUTS: tuple[Cut, ...] = ("faulty", "not ok")
_DECIDED = ("caught", "false_alarms", "balanced_accuracy")
SHORT_NAMES: Mapping[str, str] = {
    "balanced_accuracy": "decision.balanced_accuracy",
    "decided": "decision.decided",
    "vouched_misses": "decision.vouched_misses",
    "false_alarms": "faulty.false_alarms",
    "auroc": "score.auroc",
    "auroc_probability": "probability.auroc",
    "ece": "probability.ece",
    "balanced_ece": "probability.balanced_ece",
    "f1": "characters.f1",
}
"""Name of a figure, as a requirement may have it -> its whole name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """Answers of one judge to the texts of a set; NaN if missing, or nothing is known.

    Shapes are ``(texts,)``, or ``(texts, n)`` where `n` is given.

    `characters`, `words`: `Overlap` of what the judge marks with what people mark; ``n`` is 3.
    `unsure`, `decided`: whether the decision is *unsure* or *faulty*, and whether it is *faulty*.
    `by_kind`, `by_extent`: kind or extent of errors -> characters at their places that the judge
    marks, characters there, places of it that are touched, and places; ``n`` is 4.
    """

    sources: NDArray[np.int64]
    """Number of the source of each text, from 0, the same for every judge."""
    judged: BoolArray
    """True if there is an answer with a score."""
    faulty: FloatArray
    """1 if the text has an error, otherwise 0."""
    characters: FloatArray
    words: FloatArray
    hits: FloatArray
    """Places that the judge touches, that it would touch by chance, and that there are; ``n`` is
    3."""
    spans: FloatArray
    """Spans that touch a place, and all that have one of their own; ``n`` is 2."""
    flagged: FloatArray
    """True if any error is reported."""
    suspicion: FloatArray
    probability: FloatArray
    unsure: FloatArray
    decided: FloatArray
    human: FloatArray
    by_category: Mapping[str, FloatArray]
    """Category -> characters that people mark in spans of it, characters in spans of it, spans of
    it that touch a place, and spans of it; ``n`` is 4."""
    by_kind: Mapping[str, FloatArray]
    by_extent: Mapping[str, FloatArray]

    def only(self, kept: BoolArray) -> "Arrays":
        """Leave out the answers to other texts, but for what is grouped by category or kind."""
        marks = ("characters", "words", "hits", "spans", "flagged")
        names = (*marks, "suspicion", "probability", "unsure", "decided")
        values: dict[str, Any] = {name: getattr(self, name).copy() for name in names}
        for of_texts in values.values():
            of_texts[~kept] = np.nan
        return replace(self, judged=self.judged & kept, **values)


def arrays_of(texts: Sequence[BenchText], answers: Sequence[Answer | Failure]) -> Arrays:
    """Put the answers of a judge beside what is known of the texts, in the same order."""
    given = [answer if isinstance(answer, Answer) else None for answer in answers]
    pairs = list(zip(texts, given, strict=True))
    _, sources = np.unique([text.source for text in texts], return_inverse=True)
    return Arrays(
        sources=sources.astype(np.int64),
        judged=np.array([answer is not None for answer in given], dtype=np.bool_),
        faulty=_numbers(text.faulty for text in texts),
        characters=_rows(
            pairs, lambda pair: character_overlap(_marked(pair), _gold(pair)), width=3
        ),
        words=_rows(pairs, _words, width=3),
        hits=_rows(pairs, _hits, width=3),
        spans=_rows(pairs, lambda pair: _side(_gold(pair), _marked(pair), pair)[2:], width=2),
        flagged=_stated(given, lambda answer: answer.is_flagged),
        suspicion=_stated(given, lambda answer: answer.suspicion),
        probability=_stated(given, lambda answer: answer.probability),
        unsure=_stated(given, lambda answer: answer.decision is not Decision.OK),
        decided=_stated(given, lambda answer: answer.decision is Decision.FAULTY),
        human=_numbers(text.human for text in texts),
        by_category=_precisions(pairs),
        by_kind=_recalls(pairs, lambda error: error.kinds),
        by_extent=_recalls(pairs, lambda error: (error.extent,) if error.extent else ()),
    )


def _numbers(values: Iterable[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _stated(
    given: Sequence[Answer | None], value_of: Callable[[Answer], float | None]
) -> FloatArray:
    return _numbers(None if answer is None else value_of(answer) for answer in given)


def _rows(pairs: Sequence[_Pair], compare: Callable[[_Pair], _Row], *, width: int) -> FloatArray:
    """Compare the pairs; NaN where there is no answer, or no place is known."""
    rows = np.full((len(pairs), width), np.nan)
    for row, pair in zip(rows, pairs, strict=True):
        text, answer = pair
        if answer is not None and text.gold is not None:
            row[:] = compare(pair)
    return rows


def _marked(pair: _Pair, *, category: str | None = None) -> list[Interval]:
    """Return where a judge marks errors, of a category or at all."""
    _, answer = pair
    assert answer is not None
    return [
        (span.start, span.end)
        for span in answer.spans
        if category is None or span.category == category
    ]


def _gold(pair: _Pair) -> list[Interval]:
    text, _ = pair
    return [(error.start, error.end) for error in text.gold or ()]


def _words(pair: _Pair) -> Overlap:
    """Count words; one is marked if any character of it is."""
    cut = words(pair[0].segment.output)
    starts, ends = [word.start for word in cut], [word.end for word in cut]

    def numbered(intervals: Sequence[Interval]) -> list[Interval]:
        """Return intervals of words in place of intervals of characters."""
        whole = ((bisect_right(ends, start), bisect_left(starts, end)) for start, end in intervals)
        return [(first, stop) for first, stop in whole if first < stop]

    return character_overlap(numbered(_marked(pair)), numbered(_gold(pair)))


def _hits(pair: _Pair) -> _Row:
    met = localisation(_marked(pair), _gold(pair), length=len(pair[0].segment.output))
    return met.hits, met.hits_by_chance, met.places


def _side(spans: Sequence[Interval], within: Sequence[Interval], pair: _Pair) -> _Row:
    """Return what of `within` lies in `spans`: characters, of how many, places, of how many."""
    met = localisation(spans, within, length=len(pair[0].segment.output))
    return met.both, met.damaged, met.hits, met.places


def _precisions(pairs: Sequence[_Pair]) -> dict[str, FloatArray]:
    def compare(pair: _Pair, *, name: str) -> _Row:
        return _side(_gold(pair), _marked(pair, category=name), pair)

    names = {span.category for _, answer in pairs if answer for span in answer.spans} - {""}
    return {name: _rows(pairs, partial(compare, name=name), width=4) for name in sorted(names)}


def _recalls(
    pairs: Sequence[_Pair], names_of: Callable[[GoldPlace], Sequence[str]]
) -> dict[str, FloatArray]:
    def compare(pair: _Pair, *, name: str) -> _Row:
        errors = [
            (error.start, error.end) for error in pair[0].gold or () if name in names_of(error)
        ]
        return _side(_marked(pair), errors, pair)

    errors = (error for text, _ in pairs for error in text.gold or ())
    names = {name for error in errors for name in names_of(error)}
    return {name: _rows(pairs, partial(compare, name=name), width=4) for name in sorted(names)}


def effects_of(arrays: Arrays) -> Effects:
    """Return every figure of one judge, as a function of how often each text counts."""
    hits, by_chance, marked = arrays.hits.T
    right, spans = arrays.spans.T
    suspicion, probability, faulty = arrays.suspicion, arrays.probability, arrays.faulty
    decided = 1 - arrays.unsure + arrays.decided  # 1 for a text that is ok or faulty, 0 between
    vouched = np.where(faulty == 1, 1 - arrays.unsure, np.nan)
    of_decided = np.where(decided == 1, arrays.decided, np.nan)
    error_effect = partial(calibration_error_effect, probability, faulty)
    return {
        _named("decision", "balanced_accuracy"): balanced_accuracy(arrays, cut_of(arrays)),
        _named("decision", "decided"): mean_drop(decided),
        _named("decision", "vouched_misses"): mean_drop(vouched),
        _named("decision", "of_decided"): _accuracy(of_decided, faulty),
        _named("probability", "ece"): error_effect(balanced=False),
        _named("probability", "balanced_ece"): error_effect(balanced=True),
        _named("probability", "ece_by_chance"): error_by_chance(probability, faulty),
        _named("characters", "precision", "recall", "f1"): micro_effect(arrays.characters),
        _named("words", "precision", "recall", "f1"): micro_effect(arrays.words),
        _named("places", "hit", "by_chance"): ratio(np.stack([hits, by_chance]), marked),
        _named("spans", "right"): ratio(right, spans),
        _named("flagged", "faulty", "error_free"): _rates(arrays.flagged, faulty),
        _named("score", "auroc"): auroc_effect(suspicion, faulty),
        _named("score", "caught"): caught_effect(suspicion, faulty, false_alarms=FALSE_ALARMS),
        _named("probability", "auroc"): auroc_effect(probability, faulty),
        _named("unsure", *_DECIDED): _decisions(arrays.unsure, faulty),
        _named("faulty", *_DECIDED): _decisions(arrays.decided, faulty),
        _named("people", "spearman"): _spearman(arrays),
    }


def _named(topic: str, *figures: str) -> tuple[str, ...]:
    return tuple(f"{topic}.{figure}" for figure in figures)


def _spearman(arrays: Arrays) -> Weighted:
    """Return the rank correlation of the score with people's; it is slow, so not of nothing."""
    both = np.stack([-arrays.suspicion, arrays.human])
    if np.isnan(both).any(axis=0).all():
        return lambda counts: np.full(len(counts), np.nan)
    return of_items(both, lambda drawn: correlation(*drawn).value)


def cut_of(arrays: Arrays) -> Cut:
    """Return the cut with the greater balanced accuracy on these texts; *faulty* if none has."""
    texts = len(arrays.sources)
    shares = {cut: float(on_sample(balanced_accuracy(arrays, cut), items=texts)) for cut in _CUTS}
    return "not ok" if shares["not ok"] > shares["faulty"] else "faulty"


def balanced_accuracy(arrays: Arrays, cut: Cut) -> Weighted:
    """Return the balanced accuracy of the decision at a cut."""
    return _accuracy(arrays.decided if cut == "faulty" else arrays.unsure, arrays.faulty)


def _accuracy(flags: FloatArray, faulty: FloatArray) -> Weighted:
    decisions = _decisions(flags, faulty)
    return lambda counts: decisions(counts)[:, 2]


def _rates(flags: FloatArray, faulty: FloatArray) -> Weighted:
    """Return the shares that are flagged of texts with errors, and of those without."""
    return mean_drop(np.stack([np.where(faulty == sort, flags, np.nan) for sort in (1, 0)]))


def _decisions(flags: FloatArray, faulty: FloatArray) -> Weighted:
    rates = _rates(flags, faulty)

    def weighted(counts: FloatArray) -> FloatArray:
        caught, false_alarms = rates(counts).T
        return np.stack([caught, false_alarms, (caught + 1 - false_alarms) / 2], axis=1)

    return weighted


GAINS = ("characters.f1", "score.auroc", "decision.balanced_accuracy")
OF_GROUPS = (
    "flagged.faulty",
    "flagged.error_free",
    "score.auroc",
    "faulty.balanced_accuracy",
    "places.hit",
    "characters.f1",
)


def gains_of(judge: Arrays, baseline: Arrays, *, settings: Settings) -> Mapping[str, Estimate]:
    """Return the differences of `GAINS`; both sides meet the same draws of sources."""
    both = judge.judged & baseline.judged
    sides = [effects_of(side.only(both)) for side in (judge, baseline)]
    differences: Effects = {
        (name,): _difference(sides[0][names], sides[1][names], at=names.index(name))
        for names in sides[0]
        for name in GAINS
        if name in names
    }
    return estimates(differences, sources=judge.sources, settings=settings)


def _difference(first: Weighted, second: Weighted, *, at: int) -> Weighted:
    def weighted(counts: FloatArray) -> FloatArray:
        shape = (len(counts), -1)
        return (first(counts).reshape(shape) - second(counts).reshape(shape))[:, at]

    return weighted


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Texts with an answer, and texts that there are, of each sort.

    `error_free`, `faulty`: those of which it is known.
    """

    texts: tuple[int, int]
    """All of which anything is known."""
    marked: tuple[int, int]
    """Those whose places of errors are known, or that have none: spans are compared on them."""
    error_free: tuple[int, int]
    faulty: tuple[int, int]
    rated: tuple[int, int]
    """Those with people's scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Spans of one category, or places of one kind of error.

    `spans`, `texts`: how many there are, and on how many texts.
    """

    name: str
    share: Estimate
    """Share of the spans' characters that people mark, or of the places' that the judge marks."""
    touched: Estimate
    """Share of the spans that touch a place, or of the places that a span touches."""
    spans: int
    texts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KindDecisions:
    """The decisions on the texts that have an error of one kind."""

    name: str
    texts: int
    decisions: Mapping[Decision, int]
    """Decision -> texts; those without an answer are in none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextGroup:
    """Some of the texts, as those of one kind of error or of one system."""

    name: str
    coverage: Coverage
    figures: Mapping[str, Estimate]
    """Those of `OF_GROUPS`."""


def text_groups(
    texts: Sequence[BenchText], arrays: Arrays, *, settings: Settings
) -> Iterator[TextGroup]:
    """Yield the figures of each group, in the order of their names."""
    for name in sorted({name for text in texts for name in text.groups}):
        inside = np.array([name in text.groups for text in texts], dtype=np.bool_)
        part = arrays.only(inside)
        effects = {
            names: effect
            for names, effect in effects_of(part).items()
            if not set(OF_GROUPS).isdisjoint(names)
        }
        figures = estimates(effects, sources=part.sources, settings=settings)
        yield TextGroup(
            name=name,
            coverage=coverage_of(texts, part, among=inside),
            figures={figure: figures[figure] for figure in OF_GROUPS},
        )


def decisions_by_kind(
    texts: Sequence[BenchText], answers: Sequence[Answer | Failure]
) -> Iterator[KindDecisions]:
    """Yield the decisions by kind of the marked errors; a text with two kinds is in both."""
    kinds = [{kind for error in text.gold or () for kind in error.kinds} for text in texts]
    for name in sorted(set().union(*kinds)):
        inside = [answer for answer, own in zip(answers, kinds, strict=True) if name in own]
        counts = Counter(answer.decision for answer in inside if isinstance(answer, Answer))
        yield KindDecisions(
            name=name,
            texts=len(inside),
            decisions={decision: counts[decision] for decision in Decision},
        )


def coverage_of(
    texts: Sequence[BenchText], arrays: Arrays, *, among: BoolArray | None = None
) -> Coverage:
    """Count the texts of each sort, all of them or some, and those with an answer."""
    sorts = {
        "texts": [True for _ in texts],
        "marked": [text.gold is not None for text in texts],
        "error_free": [text.faulty is False for text in texts],
        "faulty": [text.faulty is True for text in texts],
        "rated": [text.human is not None for text in texts],
    }
    inside = np.ones(len(texts), dtype=np.bool_) if among is None else among
    counted = {name: inside & np.array(such, dtype=np.bool_) for name, such in sorts.items()}
    return Coverage(
        **{
            name: (int(np.count_nonzero(arrays.judged & such)), int(np.count_nonzero(such)))
            for name, such in counted.items()
        }
    )


def groups_of(
    rows: Mapping[str, FloatArray], arrays: Arrays, *, settings: Settings
) -> tuple[Group, ...]:
    """Estimate the two shares of each group, those with most spans first."""
    groups = []
    for name, of_group in rows.items():
        both, characters, touched, spans = of_group.T
        effect = ratio(np.stack([both, touched]), np.stack([characters, spans]))
        shares: Effects = {("share", "touched"): effect}
        group = Group(
            name=name,
            **estimates(shares, sources=arrays.sources, settings=settings),
            spans=int(np.nansum(spans)),
            texts=int(np.count_nonzero(np.nan_to_num(spans))),
        )
        groups.append(group)
    return tuple(sorted(groups, key=lambda group: (-group.spans, group.name)))
