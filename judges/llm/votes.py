"""Votes of repeated assessments on error spans: a span needs more than half of them.

Source: Wang et al. (2023), "Self-Consistency Improves Chain of Thought Reasoning in Language
Models", section 2, who take the answer that most samples agree on; here each span is voted on.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from spanjury.judges.core import ErrorSpan
from spanjury.judges.llm.verdict import agreed_probability

_WORD = re.compile(r"\w+")
_SAME_WORDS = 0.5
"""Minimum share of common words, of the shorter text, for two unlocated errors to be the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voted:
    """The spans that more than half of the assessments report, and the number of the others."""

    spans: tuple[ErrorSpan, ...]
    left_out: int


def voted(assessments: Sequence[Sequence[ErrorSpan]], *, unusable: int = 0) -> Voted:
    """Return the spans that more than half of one or more `assessments` report.

    `unusable` is the number of further assessments, which have no vote and are only counted.

    Spans of one category are merged if each overlaps each other, so a wide span never joins two
    errors that lie apart: it counts for one of them. The result has the interval reported most
    often (the longest of several), the median of the severities (halves round up), and the share
    of the votes as its probability. Unlocated spans are compared by their words. The explanation
    ends with the count. The order of the assessments and of their spans does not matter.
    """
    reported = [(number, span) for number, spans in enumerate(assessments) for span in spans]
    groups: list[_Group] = []
    for number, span in sorted(reported, key=lambda report: _narrowest_first(report[1])):
        home = max(groups, key=lambda group: (group.likeness(span), group.votes), default=None)
        if home is None or not home.likeness(span):
            groups.append(_Group(reported=[(number, span)]))
        else:
            home.reported.append((number, span))
    kept = [group for group in groups if 2 * group.votes > len(assessments)]
    spans = [group.span(of=len(assessments), unusable=unusable) for group in kept]
    in_order = sorted(spans, key=lambda span: (span.start is None, span.start or 0))
    return Voted(spans=tuple(in_order), left_out=len(groups) - len(kept))


def _narrowest_first(span: ErrorSpan) -> tuple[object, ...]:
    """Return a key by which narrow spans come first, and spans with equal keys are alike."""
    start, end = span.interval or (-1, -1)
    words = sorted(set(_words(span))) if span.interval is None else []
    width = len(words) if span.interval is None else end - start
    position = (span.interval is None, width, start, words)
    return (*position, span.category.casefold(), span.text, span.explanation, span.severity or 0)


@dataclass(slots=True, kw_only=True)
class _Group:
    """Reports of one error, each with the number of its assessment."""

    reported: list[tuple[int, ErrorSpan]]

    @property
    def votes(self) -> int:
        return len({number for number, _ in self.reported})

    def likeness(self, span: ErrorSpan) -> float:
        """Return the least likeness of `span` to a span of the group, 0 to 1."""
        return min(_likeness(span, other) for _, other in self.reported)

    def span(self, *, of: int, unusable: int) -> ErrorSpan:
        """Return the span that represents the group, with the result of the vote."""
        spans = [span for _, span in self.reported]
        times = Counter(span.interval for span in spans)
        # The widest spans come last in a group.
        chosen = max(reversed(spans), key=lambda span: times[span.interval])
        severities = [span.severity for span in spans if span.severity is not None]
        all_asked = counted_assessments(self.votes, of=of, unusable=unusable)
        note = f"({all_asked.format('report it')}.)"
        return replace(
            chosen,
            explanation=f"{chosen.explanation} {note}".lstrip(),
            severity=int(median(severities) + 0.5) if severities else None,
            evidence=tuple(dict.fromkeys(evidence for span in spans for evidence in span.evidence)),
            probability=agreed_probability([number < self.votes for number in range(of)]),
        )


def counted_assessments(votes: int, *, of: int, unusable: int) -> str:
    """Return a count of all assessments that were asked for, with ``{}`` for what `votes` do.

    Examples
    --------
    >>> counted_assessments(2, of=3, unusable=1).format("find an error")
    '2 of 4 assessments find an error, 1 is unusable'
    """
    lost = f", {unusable} {'is' if unusable == 1 else 'are'} unusable" if unusable else ""
    return f"{votes} of {of + unusable} assessments {{}}{lost}"


def _likeness(left: ErrorSpan, right: ErrorSpan) -> float:
    """Return the overlap of two spans as a share of the shorter; 0 if they differ."""
    if left.category.casefold() != right.category.casefold():
        return 0.0
    if left.interval is None or right.interval is None:
        return _shared_words(left, right) if left.interval == right.interval else 0.0
    (start, end), (other_start, other_end) = left.interval, right.interval
    shared = min(end, other_end) - max(start, other_start)
    return max(0.0, shared / min(end - start, other_end - other_start))


def _shared_words(left: ErrorSpan, right: ErrorSpan) -> float:
    """Return the share of common words of two unlocated errors; 0 if it is too small."""
    words, others = set(_words(left)), set(_words(right))
    share = len(words & others) / max(1, min(len(words), len(others)))
    return share if share >= _SAME_WORDS else 0.0


def _words(span: ErrorSpan) -> Iterator[str]:
    yield from _WORD.findall((span.text or span.explanation).casefold())
