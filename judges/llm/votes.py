"""Votes of repeated assessments on error spans: a span needs more than half of them.

Source: Wang et al. (2023), "Self-Consistency Improves Chain of Thought Reasoning in Language
Models", section 2, who take the answer that most samples agree on; here each span is voted on.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
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


def voted(assessments: Sequence[Sequence[ErrorSpan]]) -> Voted:
    """Return the spans that more than half of one or more `assessments` report.

    Overlapping spans of one category are merged. The result has the interval reported most often,
    the median of the severities (halves round up), and the share of the votes as its probability.
    Unlocated spans are compared by their words. The explanation ends with the count.

    Examples
    --------
    >>> red = ErrorSpan(text="", explanation="It is red.", severity=2)
    >>> kept = voted([[red], [red], []])
    >>> kept.spans[0].explanation, kept.left_out
    ('It is red. (2 of 3 assessments report it.)', 0)
    """
    groups: list[_Group] = []
    for number, spans in enumerate(assessments):
        for span in spans:
            home = max(groups, key=lambda group: group.likeness(span), default=None)
            if home is None or not home.likeness(span):
                groups.append(_Group(first=span, reported=[(number, span)]))
            else:
                home.reported.append((number, span))
    kept = [group for group in groups if 2 * group.votes > len(assessments)]
    spans = [group.span(of=len(assessments)) for group in kept]
    in_order = sorted(spans, key=lambda span: (span.start is None, span.start or 0))
    return Voted(spans=tuple(in_order), left_out=len(groups) - len(kept))


@dataclass(slots=True, kw_only=True)
class _Group:
    """Reports of one error, each with the number of its assessment."""

    first: ErrorSpan
    reported: list[tuple[int, ErrorSpan]] = field(default_factory=list)

    @property
    def votes(self) -> int:
        return len({number for number, _ in self.reported})

    def likeness(self, span: ErrorSpan) -> float:
        """Return the overlap with the first span as a share of the shorter; 0 if they differ."""
        first = self.first
        if span.category.casefold() != first.category.casefold():
            return 0.0
        if first.interval is None or span.interval is None:
            return _shared_words(first, span) if first.interval == span.interval else 0.0
        (start, end), (other_start, other_end) = first.interval, span.interval
        shared = min(end, other_end) - max(start, other_start)
        return max(0.0, shared / min(end - start, other_end - other_start))

    def span(self, *, of: int) -> ErrorSpan:
        """Return the span that represents the group, with the result of the vote."""
        spans = [span for _, span in self.reported]
        (interval, _), *_ = Counter(span.interval for span in spans).most_common(1)
        chosen = next(span for span in spans if span.interval == interval)
        severities = [span.severity for span in spans if span.severity is not None]
        note = f"({self.votes} of {of} assessments report it.)"
        return replace(
            chosen,
            explanation=f"{chosen.explanation} {note}".lstrip(),
            severity=int(median(severities) + 0.5) if severities else None,
            evidence=tuple(dict.fromkeys(evidence for span in spans for evidence in span.evidence)),
            probability=agreed_probability([number < self.votes for number in range(of)]),
        )


def _shared_words(left: ErrorSpan, right: ErrorSpan) -> float:
    """Return the share of common words of two unlocated errors; 0 if it is too small."""
    words, others = set(_words(left)), set(_words(right))
    share = len(words & others) / max(1, min(len(words), len(others)))
    return share if share >= _SAME_WORDS else 0.0


def _words(span: ErrorSpan) -> Iterator[str]:
    yield from _WORD.findall((span.text or span.explanation).casefold())
