"""Pages that show how a metric compares a text with its references."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import ConfigError, Sample, SegmentMetric, choices_for
from spanjury.judges.metrics.named import NamedMetric, check_samples
from spanjury.judges.metrics.overlap.alignments import lcs_alignment, ngram_matches
from spanjury.orchestration.report.drawings.pages import (
    Flow,
    MarkedText,
    NgramPlaces,
    alignment_page,
    flow_page,
    heat_map_page,
    ngram_page,
)
from spanjury.orchestration.wiring.metrics import open_metric
from spanjury.orchestration.wiring.specs import parse_options

_LEAST = 1e-12
"""Smaller shares are rounding errors."""
_ROUGE_ORDER = 2
"""The longest n-grams on a page of a metric that counts no longer ones: ROUGE-1 and ROUGE-2."""

FloatArray = NDArray[np.float64]
Tokens = tuple[str, ...]
Draw = Callable[[str, NamedMetric, Sample], str]
"""Makes a page from a title, a metric, and a text with its references."""


class _Cutting(Protocol):
    """A metric that splits texts into words."""

    def cut(self, text: str, /) -> tuple[Sequence[str], Sequence[str]]: ...


class _Likening(Protocol):
    """A metric that computes similarities of tokens."""

    def similarities(self, sample: Sample, /) -> tuple[Tokens, Tokens, FloatArray]: ...


class _Moving(Protocol):
    """A metric that moves tokens, with the shares and distances of the moves."""

    def flow(self, sample: Sample, /) -> tuple[Tokens, Tokens, FloatArray, FloatArray]: ...


def metric_page(spec: str, sample: Sample, *, row: str) -> str:
    """Return an HTML page on which a metric compares a text with its references.

    N-gram pages show all references of the sample; others show the best one by the metric's score.

    Raise the `ConfigError` of `open_metric`, `ConfigError` if the metric has no page, and
    `DataError` if the text has no reference.
    """
    name, _ = parse_options(spec, what="metric")
    if name not in _PAGES:
        raise ConfigError(f"there is no page of {name!r}; {choices_for(name, _PAGES)}")
    named = open_metric(spec)
    check_samples(named, [sample], ids=[row])
    return _PAGES[name](f"{named.name}: {row}", named, _with_best_reference(named, sample))


def _with_best_reference(named: NamedMetric, sample: Sample) -> Sample:
    """Keep only the best reference if the metric uses a single one."""
    if named.card.references != "one" or len(sample.references) == 1:
        return sample
    assert isinstance(named.metric, SegmentMetric)  # all of `_PAGES` are
    pairs = [
        Sample(output=sample.output, references=(reference,), source=sample.source)
        for reference in sample.references
    ]
    scores = named.metric.score_segments(pairs)
    sign = -1 if named.card.direction == "lower" else 1
    return max(zip(scores, pairs, strict=True), key=lambda pair: sign * pair[0])[1]


def _rouge_alignment(title: str, named: NamedMetric, sample: Sample) -> str:
    """Show a longest common subsequence, whose length determines ROUGE-L."""
    metric = cast("_Cutting", named.metric)  # as above
    output, words = _cut(metric, sample.output)
    reference, others = _cut(metric, sample.references[0])
    pairs = lcs_alignment(words, others)
    return alignment_page(title, output=output, reference=reference, pairs=pairs)


def _ngram_page(title: str, named: NamedMetric, sample: Sample) -> str:
    """Show the n-grams that a metric counts, with words split and cased as it does."""
    metric = cast("_Cutting", named.metric)  # a metric of `_PAGES` that names this page
    longest: int = getattr(metric, "max_order", _ROUGE_ORDER)
    output, *references = (_cut(metric, text) for text in (sample.output, *sample.references))
    ngrams = []
    for n in range(1, longest + 1):
        shared = [
            {match.words: match for match in ngram_matches(output[1], words, n=n)}
            for _, words in references
        ]
        for ngram in dict.fromkeys(words for matches in shared for words in matches):
            there = next(matches[ngram] for matches in shared if ngram in matches)
            starts = tuple(
                matches[ngram].reference if ngram in matches else () for matches in shared
            )
            ngrams.append(NgramPlaces(n=n, output=there.output, references=starts))
    return ngram_page(
        title,
        output=output[0],
        references=[text for text, _ in references],
        longest=longest,
        ngrams=ngrams,
    )


def _cut(metric: _Cutting, text: str) -> tuple[MarkedText, Sequence[str]]:
    """Return a text with its words as displayed, and the words as compared."""
    shown, compared = metric.cut(text)
    return _marked(text, shown), compared


def _marked(text: str, words: Sequence[str]) -> MarkedText:
    """Locate the words in a text; if one is missing, show the words instead of the text."""
    folded = text.casefold()
    if len(folded) == len(text):
        intervals: list[tuple[int, int]] = []
        for word in words:
            start = folded.find(word.casefold(), intervals[-1][1] if intervals else 0)
            if start < 0:
                break
            intervals.append((start, start + len(word)))
        else:
            return MarkedText(text=text, words=tuple(intervals))
    ends = [0]
    for word in words:
        ends.append(ends[-1] + len(word) + 1)
    return MarkedText(
        text=" ".join(words), words=tuple((start, end - 1) for start, end in pairwise(ends))
    )


def _similarity_page(title: str, named: NamedMetric, sample: Sample) -> str:
    """Show the similarities of tokens; BERTScore uses the best partner of each."""
    metric = cast("_Likening", named.metric)  # as above
    output, reference, values = metric.similarities(sample)
    scores = _scores(named, sample)
    return heat_map_page(
        title, output=output, reference=reference, similarities=values, scores=scores
    )


def _movement_page(title: str, named: NamedMetric, sample: Sample) -> str:
    """Show which tokens move to which at least cost, as WMD and MoverScore compute it."""
    metric = cast("_Moving", named.metric)  # as above
    output, reference, shares, distances = metric.flow(sample)
    flows = [
        Flow(
            output=int(row),
            reference=int(column),
            mass=float(shares[row, column]),
            cost=float(distances[row, column]),
        )
        for row, column in np.argwhere(shares > _LEAST)
    ]
    scores = _scores(named, sample)
    return flow_page(title, output=output, reference=reference, flows=flows, scores=scores)


def _scores(named: NamedMetric, sample: Sample) -> tuple[tuple[str, float], ...]:
    assert isinstance(named.metric, SegmentMetric)  # all that have a page are
    (score,) = named.metric.score_segments([sample])
    return ((named.name, float(score)),)


_PAGES: Mapping[str, Draw] = MappingProxyType(
    {
        "bertscore": _similarity_page,
        "bleu": _ngram_page,
        "moverscore": _movement_page,
        "rouge-1": _ngram_page,
        "rouge-2": _ngram_page,
        "rouge-l": _rouge_alignment,
        "sacrebleu": _ngram_page,
        "wmd": _movement_page,
    }
)
"""Name of a metric with a page -> function that makes its page."""
