"""Invisible characters: texts are compared without them, and spans keep their original offsets.

A zero-width space or a soft hyphen within a word would hide the word from a judge.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import accumulate
from typing import TypeVar

from spanjury.judges.core import ErrorSpan, Evidence, Report, Segment, Unverified

_INVISIBLE = (
    r"\u00ad\u034f\u180e\u200e\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    r"\U000e0000-\U000e01ef"
)
_JOINING = r"\u0590-\u1dff\u200b-\u200f\u2190-\U0010ffff"
"""Letters and emoji after which U+200B to U+200D change what a reader sees, and these themselves.

Some scripts shape their letters, or separate their words, by them."""
_RUN = re.compile(rf"(?<![{_JOINING}])[\u200b-\u200d{_INVISIBLE}]+|[{_INVISIBLE}]+")

_Marked = TypeVar("_Marked", Evidence, Unverified)


async def without_invisible(
    segment: Segment, assess: Callable[[Segment], Awaitable[Report]]
) -> Report:
    """Return the report of `assess` on the texts without invisible characters.

    The offsets of its spans, of their evidence and of unverified sentences are those of the
    original texts.
    """
    texts = (segment.output, *segment.inputs.values())
    if all(map(str.isascii, texts)) or not any(map(_RUN.search, texts)):
        return await assess(segment)
    output = _Visible(segment.output)
    inputs = {header: _Visible(text) for header, text in segment.inputs.items()}
    visible = {header: each.text for header, each in inputs.items()}
    report = await assess(replace(segment, output=output.text, inputs=visible))

    def restored(span: ErrorSpan) -> ErrorSpan:
        evidence = tuple(
            inputs[each.input].restored(each) if each.input in inputs else each
            for each in span.evidence
        )
        if span.start is None or span.end is None:
            return replace(span, evidence=evidence)
        start, end = output.interval(span.start, span.end)
        text = segment.output[start:end]
        return replace(span, start=start, end=end, text=text, evidence=evidence)

    return replace(
        report,
        spans=tuple(map(restored, report.spans)),
        unverified=tuple(map(output.restored, report.unverified)),
    )


class _Visible:
    """A text without its invisible characters, and the way back to its offsets."""

    def __init__(self, text: str) -> None:
        self._original = text
        self.text = _RUN.sub("", text)
        runs = [run.span() for run in _RUN.finditer(text)]
        self._removed = [0, *accumulate(end - start for start, end in runs)]
        """Number of characters removed before each run, and in all."""
        self._at = [start - before for (start, _), before in zip(runs, self._removed, strict=False)]
        """Offset in `self.text` of each run."""

    def interval(self, start: int, end: int) -> tuple[int, int]:
        """Return the half-open interval of the original text for one of `self.text`."""
        first = start + self._removed[bisect_right(self._at, start)]
        return first, end + self._removed[bisect_left(self._at, end)]

    def restored(self, marked: _Marked) -> _Marked:
        """Return a passage of `self.text` as one of the original text."""
        start, end = self.interval(marked.start, marked.end)
        return replace(marked, start=start, end=end, text=self._original[start:end])
