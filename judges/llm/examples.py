"""Examples for a prompt: the texts marked by people that are nearest to the judged text.

Source: Liu et al. (2022), "What Makes Good In-Context Examples for GPT-3?", section 3, who choose
the examples nearest to the text. Here nearness is the share of common words. An example never has
the source or the output of the judged text, so people's marks can serve both as examples and as a
test of the judge.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

from spanjury.judges.core import Aspect, ErrorSpan, Scale, Segment, fingerprint
from spanjury.judges.llm.wording import read_template
from spanjury.judges.text import folded_words

ROOM = 12_000
"""Maximum number of characters of all examples in a prompt together."""

_MARKS, _SPANS = "marks", "spans"
"""Keys of a row's meta: the annotators of each aspect, and the spans with all their keys."""
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Example:
    """A text as people reviewed it for an aspect; an empty name means any aspect."""

    segment: Segment
    aspect: str
    spans: tuple[ErrorSpan, ...]

    def is_about(self, aspect: Aspect) -> bool:
        """Return whether it is an example for `aspect`."""
        return self.aspect in {"", aspect.name} and self.segment.task in {"", aspect.task.name}


class Examples:
    """Texts that people marked; a prompt shows the nearest ones.

    Raises `ValueError` if there is no example, or all of them are longer than `ROOM`.

    Parameters
    ----------
    segments
        Texts with people's spans, in rows written by ``spanjury marks export``. An empty list
        of spans means a text without errors; a text without a list is not an example.
    """

    def __init__(self, segments: Iterable[Segment]) -> None:
        every = [example for segment in segments for example in _examples_of(segment)]
        if not every:
            raise ValueError("the examples have no text with a list of marked spans")
        self._fitting = [example for example in every if _length(example) <= ROOM]
        if not self._fitting:
            raise ValueError(f"each of the {len(every)} examples has more than {ROOM} characters")
        self._words = [_words(example.segment) for example in self._fitting]
        self._origins = [_origin(example.segment) for example in self._fitting]

    @cached_property
    def digest(self) -> str:
        """Digest of everything that can change the examples shown, and the template around them."""
        examples = (
            part
            for example in self._fitting
            for part in (
                example.aspect,
                example.segment.task,
                *(text for item in example.segment.inputs.items() for text in item),
                example.segment.output,
                repr(example.spans),
                repr(sorted(example.segment.human.items())),
            )
        )
        template = read_template("examples.txt")
        return fingerprint(template, str(ROOM), *examples)

    def texts_near(self, segment: Segment, aspect: Aspect, *, shots: int) -> dict[str, str]:
        """Return the texts of the nearest examples by their names, including a review of each.

        There are at most `shots` examples, nearest first; of equally near ones, the earlier in the
        file comes first. An example that does not fit into the rest of `ROOM` is skipped.
        """
        words, origin = _words(segment), _origin(segment)
        others = [
            (-_likeness(words, self._words[number]), number)
            for number, example in enumerate(self._fitting)
            if example.is_about(aspect) and origin.isdisjoint(self._origins[number])
        ]
        shown: dict[str, str] = {}
        room, left = ROOM, shots
        for _, number in sorted(others):
            texts = _shown(self._fitting[number], aspect, number=shots - left + 1)
            length = sum(map(len, texts.values()))
            if left and length <= room and segment.inputs.keys().isdisjoint(texts):
                shown |= texts
                room, left = room - length, left - 1
        return shown


def _examples_of(segment: Segment) -> Iterator[_Example]:
    """Yield the text as an example for each aspect that a person reviewed."""
    if not segment.gold and _SPANS not in segment.meta:
        return
    details = _tables(segment.meta.get(_SPANS))
    if len(details) != len(segment.gold):
        details = [{} for _ in segment.gold]
    marked = list(zip(segment.gold, details, strict=True))
    readings = _readings(segment, details)
    for aspect, who in readings.items():
        spans = tuple(
            span
            for span, detail in marked
            if detail.get("aspect", aspect) == aspect and detail.get("annotator", who) in {who, ""}
        )
        yield _Example(segment=segment, aspect=aspect, spans=spans)


def _readings(segment: Segment, details: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Map each reviewed aspect to the first person who reviewed it."""
    readings: dict[str, object] = {}
    for reading in _tables(segment.meta.get(_MARKS)):
        is_done = reading.get("is_done", True) and not reading.get("scores_only", False)
        if is_done and isinstance(aspect := reading.get("aspect"), str):
            readings.setdefault(aspect, reading.get("annotator", ""))
    if _MARKS in segment.meta:
        return readings
    for detail in details:
        readings.setdefault(str(detail.get("aspect", "")), detail.get("annotator", ""))
    return readings or dict.fromkeys(segment.human or [""], "")


def _tables(value: object) -> list[Mapping[str, object]]:
    items = value if isinstance(value, list | tuple) else []
    return [item for item in items if isinstance(item, Mapping)]


def _shown(example: _Example, aspect: Aspect, *, number: int) -> dict[str, str]:
    """Return the example's texts that the aspect may read, and a review without field labels."""
    head = f"Example {number}"
    inputs = aspect.view(example.segment.inputs).values()
    texts = {f"{head}, input {number}": text for number, text in enumerate(inputs, start=1)}
    texts[f"{head}, text"] = example.segment.output
    score = example.segment.human_score(aspect.name)
    texts[f"{head}, review"] = review(example.spans, score, scale=aspect.scale)
    return texts


def review(spans: Sequence[ErrorSpan], score: float | None, *, scale: Scale) -> str:
    """Return a review in words: a line for each error, and the label of a score on the scale."""
    lines = [] if spans else ["There is no problem."]
    for span in spans:
        quote = f'"{_line(span.text)}"' if span.text else "something is missing"
        severity = "" if span.severity is None else f" [{span.severity} of 5]"
        why = f": {_line(span.explanation)}" if span.explanation else ""
        lines.append(f"- {quote}{severity}{why}")
    if score is not None and score in scale:
        lines.append(f"As a whole: {scale.label(score)}.")
    return "\n".join(lines)


def _line(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()


def _length(example: _Example) -> int:
    segment, spans = example.segment, example.spans
    texts = (*segment.inputs.values(), segment.output)
    return sum(map(len, texts)) + sum(len(span.text) + len(span.explanation) for span in spans)


def _origin(segment: Segment) -> frozenset[str]:
    """Return the texts that an example must not share: the longest input and the output."""
    longest = max(segment.inputs.values(), key=len, default="")
    folded = (_line(text).casefold() for text in (longest, segment.output))
    return frozenset(folded) - {""}


def _words(segment: Segment) -> frozenset[str]:
    texts = (*segment.inputs.values(), segment.output)
    return frozenset(word for text in texts for word in folded_words(text))


def _likeness(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the number of common words, divided by the geometric mean of both numbers of words."""
    return len(left & right) / sqrt(max(1, len(left)) * max(1, len(right)))
