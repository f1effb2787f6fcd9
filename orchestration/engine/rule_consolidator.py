"""The rule consolidator: merge the seats' error spans without a model.

Spans of different seats become one if they mark about the same interval and describe the same
problem, by category or wording, or if they mark the same single word; different problems at one
position stay separate. A merged span has the longest quote, the highest severity and probability
and all the evidence, and names every seat that found it. Each span of a seat ends up in exactly one
merged span or is listed as left out.

The task is that of OpeNLGauge's consolidator (section 4); the rules are ours.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from spanjury.judges.core import (
    Consolidation,
    ErrorSpan,
    Evidence,
    SpanRef,
    Verdict,
    repetitions_last,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.lazy import lazily

with lazily():
    import rapidfuzz

_SAME_INTERVAL = 0.5
"""Share of the shorter interval that two spans must have in common."""
_SAME_WORDING = 50.0
"""Least similarity, 0 to 100, of two explanations of one problem."""
_SAME_QUOTE = 80.0
"""Least similarity, 0 to 100, of two quotes that are not in the text."""
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleConsolidator:
    """Merge spans by interval and wording.

    Parameters
    ----------
    max_spans
        The most spans a report may have; the least severe ones beyond it are left out.
    """

    max_spans: int = 8

    def __post_init__(self) -> None:
        if self.max_spans < 1:
            raise ValueError(f"max_spans must be positive, got {self.max_spans!r}")

    @property
    def signature(self) -> str:
        """The rules and their limit."""
        return signature("rules", max_spans=self.max_spans, code=code_digest(__name__))

    async def consolidate(self, verdict: Verdict) -> Consolidation:
        """Merge the spans of `verdict`."""
        clusters = _cluster(list(seat_spans(verdict)))
        ranked = repetitions_last(sorted(clusters, key=_importance, reverse=True), _wording)
        kept = sorted(ranked[: self.max_spans], key=_position)
        beyond = ranked[self.max_spans :]
        return Consolidation(
            spans=tuple(_merged(cluster) for cluster in kept),
            sources=tuple(tuple(ref for ref, _ in cluster) for cluster in kept),
            left_out=tuple(ref for cluster in beyond for ref, _ in cluster),
            consolidator="rules",
        )


def seat_spans(verdict: Verdict) -> Iterator[tuple[SpanRef, ErrorSpan]]:
    """Yield every span of every seat with its reference, in the order of the panel."""
    for seat in verdict.seats:
        for index, span in enumerate(seat.report.spans):
            yield SpanRef(seat=seat.seat, index=index), span


_Member = tuple[SpanRef, ErrorSpan]
_Cluster = list[_Member]
"""Spans that mark one problem, in the order of the panel."""


def _cluster(spans: list[_Member]) -> list[_Cluster]:
    if len({ref.seat for ref, _ in spans}) <= 1:
        return _without_repetitions(spans)
    clusters: list[_Cluster] = []
    for span in spans:
        for cluster in clusters:
            if all(_same_problem(span, member) for member in cluster):
                cluster.append(span)
                break
        else:
            clusters.append([span])
    return clusters


def _without_repetitions(spans: list[_Member]) -> list[_Cluster]:
    """Cluster the spans of a single seat: only exact repetitions are merged."""
    clusters: dict[tuple[object, ...], _Cluster] = {}
    for ref, span in spans:
        clusters.setdefault(_content(span), []).append((ref, span))
    return list(clusters.values())


def _same_problem(left: _Member, right: _Member) -> bool:
    (ref, span), (other_ref, other_span) = left, right
    if ref.seat == other_ref.seat:
        # A seat that lists two problems means two, unless it repeats itself.
        return _content(span) == _content(other_span)
    return _same_interval(span, other_span) and _same_wording(span, other_span)


def _content(span: ErrorSpan) -> tuple[object, ...]:
    return span.interval, span.text, span.explanation


def _same_interval(left: ErrorSpan, right: ErrorSpan) -> bool:
    if left.interval is None or right.interval is None:
        if left.interval != right.interval:
            return False
        return (
            rapidfuzz.fuzz.ratio(left.text, right.text, processor=rapidfuzz.utils.default_process)
            >= _SAME_QUOTE
        )
    (start, end), (other_start, other_end) = left.interval, right.interval
    shared = min(end, other_end) - max(start, other_start)
    return shared >= _SAME_INTERVAL * min(end - start, other_end - other_start)


def _same_wording(left: ErrorSpan, right: ErrorSpan) -> bool:
    if left.category and left.category.casefold() == right.category.casefold():
        return True
    if _is_same_word(left, right):
        return True
    if alike_by_shared_words(left.explanation, right.explanation):
        return True
    alike = rapidfuzz.fuzz.token_set_ratio(
        left.explanation, right.explanation, processor=rapidfuzz.utils.default_process
    )
    return alike >= _SAME_WORDING


def _is_same_word(left: ErrorSpan, right: ErrorSpan) -> bool:
    """Return whether both mark the same single word, and not as errors of different categories.

    Two problems on one aspect are rarely in the same word.
    """
    is_word = left.interval is not None and len(left.text.split()) == 1
    return is_word and left.interval == right.interval and not (left.category and right.category)


def alike_by_shared_words(left: str, right: str) -> bool:
    """Return whether the common words alone make two explanations similar enough.

    The result equals that of rapidfuzz, which takes a tenth of a second to load: it compares the
    common words, in their order, with all words of either text. Only ASCII is compared here.
    """
    if not (left.isascii() and right.isascii()):
        return False
    words, others = (set(_WORD.findall(text.lower())) for text in (left, right))
    common = len(" ".join(words & others))
    rest = min(len(" ".join(words - others)), len(" ".join(others - words)))
    # The ratio of the common words to these with the shorter rest; 1 is the blank between them.
    return common > 0 and 2.0 * common / (2 * common + 1 + rest) >= _SAME_WORDING / 100.0


def _severity(span: ErrorSpan) -> int:
    return span.severity or 0


def _importance(cluster: _Cluster) -> tuple[int, int]:
    return max(_severity(span) for _, span in cluster), len(cluster)


def _wording(cluster: _Cluster) -> tuple[str, str]:
    span = cluster[0][1]
    return span.text, span.explanation


def _position(cluster: _Cluster) -> tuple[bool, int, int]:
    interval = _longest(cluster).interval
    return (interval is None, *(interval or (0, 0)))


def _longest(cluster: _Cluster) -> ErrorSpan:
    return max((span for _, span in cluster), key=lambda span: len(span.text))


def _merged(cluster: _Cluster) -> ErrorSpan:
    """Merge a cluster: the position of the longest quote, the wording of the gravest member."""
    if len(cluster) == 1:
        ((ref, span),) = cluster
        return span.credited_to((ref.seat,))
    spans = [span for _, span in cluster]
    gravest = max(spans, key=_severity)
    categories = [span.category for span in spans if span.category]
    return replace(
        _longest(cluster),
        explanation=gravest.explanation,
        severity=gravest.severity,
        category=gravest.category or next(iter(categories), ""),
        found_by=tuple(dict.fromkeys(ref.seat for ref, _ in cluster)),
        evidence=joined_evidence(spans),
        probability=highest_probability(spans),
    )


def joined_evidence(spans: Iterable[ErrorSpan]) -> tuple[Evidence, ...]:
    """Return the evidence of all `spans` without duplicates."""
    return tuple(dict.fromkeys(evidence for span in spans for evidence in span.evidence))


def highest_probability(spans: Iterable[ErrorSpan]) -> float | None:
    """Return the highest probability of any of `spans`; None if none has one."""
    return max((span.probability for span in spans if span.probability is not None), default=None)
