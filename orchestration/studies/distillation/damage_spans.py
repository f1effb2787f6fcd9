"""From the strikes on a text to error spans that a judge would mark.

A judge marks words, not letters, and quotes so that the quotation is found: a strike within
a word becomes the word, one that left nothing the words beside it, and what stands several
times in the text is quoted with its neighbours. The explanations are worded in
``templates/explanations.toml``: for a rule, for its family, or for any damage, several of each,
one of which is drawn.
"""

import re
import tomllib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from operator import itemgetter
from types import MappingProxyType
from typing import Literal

from numpy.random import Generator

from spanjury.judges.core import ErrorSpan, Located
from spanjury.orchestration.studies.distillation.damaged_text import DamagedText, Harm, Strike

_Interval = tuple[int, int]
_ChangeKind = Literal["changed", "added", "removed"]

_WORD = re.compile(r"\w+(?:['’.,-]\w+)*")
_START, _END = itemgetter(0), itemgetter(1)
_NEIGHBOURS = 6
"""Number of words that a quotation may be widened by to be found again."""

_ANY = "any"
_WORDS = 12
"""The most words that are named in full; of more, the first and the last."""
_ENDS = 5

_Wordings = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """The mark for strikes that lie within the same words."""

    start: int
    end: int
    strikes: tuple[Strike, ...]
    kind: _ChangeKind


def damage_spans(
    damaged: DamagedText, strikes: Sequence[Strike], rng: Generator
) -> tuple[ErrorSpan, ...]:
    """Mark `strikes`, some of those on a text, and say of each what was changed.

    Returns
    -------
    tuple of ErrorSpan
        In the order of the text; without a place where a passage is missing.
    """
    if not strikes:
        return ()
    words = [match.span() for match in _WORD.finditer(damaged.text)]
    omitted = [strike for strike in strikes if _is_omission(strike, damaged.text)]
    marks = [_marked(strike, damaged.text, words) for strike in strikes if strike not in omitted]
    omitted += [mark.strikes[0] for mark in marks if mark.start == mark.end]  # no word is left
    placed = [mark for mark in marks if mark.start < mark.end]
    spans = [_span(mark, damaged.text, words=words, rng=rng) for mark in _merged(placed)]
    return (*spans, *(_omission(strike, rng) for strike in omitted))


def _is_omission(strike: Strike, text: str) -> bool:
    """Say whether a strike took out a passage and left no trace that could be marked."""
    if strike.start < strike.end:
        return False
    passage = strike.harm.perturbation.level == "sentence"
    return not text.strip() or (passage and bool(text[strike.end :].strip()))


def _omission(strike: Strike, rng: Generator) -> ErrorSpan:
    change = _Change(kind="removed", was=strike.was.strip(), now="")
    why = _explained(change, strike.harm, rng)
    return ErrorSpan(text="", explanation=why, severity=strike.harm.severity)


def _marked(strike: Strike, text: str, words: Sequence[_Interval]) -> _Mark:
    """Widen a strike to the words that it touches; where there are none, that it lies between."""
    start, end = _trimmed(strike, text)
    kind: _ChangeKind = "changed"
    if start < end:
        touched = words[bisect_right(words, start, key=_END) : bisect_left(words, end, key=_START)]
        if not strike.was.strip() and all(start <= a and b <= end for a, b in touched):
            kind = "added"
    elif not (touched := _cut_into(strike, text, words)):
        kind = "removed"
        touched = [w for w in words if w[1] <= start][-1:] + [w for w in words if w[0] >= end][:1]
    return _Mark(
        start=min([start, *(first for first, _ in touched)]),
        end=max([end, *(last for _, last in touched)]),
        strikes=(strike,),
        kind=kind,
    )


def _trimmed(strike: Strike, text: str) -> _Interval:
    """Return the place of a strike without the blanks around what it put there."""
    put = text[strike.start : strike.end]
    start = strike.start + len(put) - len(put.lstrip())
    return (start, start + len(put.strip())) if put.strip() else (strike.end, strike.end)


def _cut_into(strike: Strike, text: str, words: Sequence[_Interval]) -> list[_Interval]:
    """Return the words that something was taken out of, or was cut off from."""
    before, after = text[: strike.start][-1:], text[strike.end :][:1]
    left = strike.was[:1].isalnum() and before.isalnum()
    right = strike.was[-1:].isalnum() and after.isalnum()
    return [
        (first, last)
        for first, last in words
        if (left and first < strike.start <= last) or (right and first <= strike.end < last)
    ]


def _merged(marks: Sequence[_Mark]) -> Iterator[_Mark]:
    """Make one mark of those that share words."""
    held: _Mark | None = None
    for mark in sorted(marks, key=lambda mark: (mark.start, mark.end)):
        if held is not None and mark.start < held.end:
            held = _Mark(
                start=held.start,
                end=max(held.end, mark.end),
                strikes=held.strikes + mark.strikes,
                kind="changed",
            )
            continue
        if held is not None:
            yield held
        held = mark
    if held is not None:
        yield held


def _span(mark: _Mark, text: str, *, words: Sequence[_Interval], rng: Generator) -> ErrorSpan:
    gravest = max(mark.strikes, key=lambda strike: strike.harm.severity)
    change = _Change(kind=mark.kind, was=_was(mark, text), now=text[mark.start : mark.end])
    why = _explained(change, gravest.harm, rng)
    start, end = _unmistakable(mark, text, words)
    return ErrorSpan(
        text=text[start:end],
        start=start,
        end=end,
        located=Located.EXACT,
        explanation=why,
        severity=gravest.harm.severity,
    )


def _was(mark: _Mark, text: str) -> str:
    """Return what stood in place of a mark before it was struck; of a removal, what is gone."""
    if mark.kind == "removed":
        return mark.strikes[0].was.strip()
    pieces: list[str] = []
    reached = mark.start
    for strike in mark.strikes:
        pieces += (text[reached : strike.start], strike.was)
        reached = strike.end
    return "".join((*pieces, text[reached : mark.end])).strip()


def _unmistakable(mark: _Mark, text: str, words: Sequence[_Interval]) -> _Interval:
    """Widen a mark word by word until its words stand in the text once only, if they ever do."""
    start, end = mark.start, mark.end
    for turn in range(_NEIGHBOURS):
        if text.count(text[start:end]) == 1:
            break
        before = bisect_left(words, start, key=_START)
        after = bisect_right(words, end, key=_END)
        if before and (turn % 2 == 0 or after == len(words)):
            start = words[before - 1][0]
        elif after < len(words):
            end = words[after][1]
    return start, end


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """The change of a place.

    Parameters
    ----------
    kind
        Whether something else stands there now, something more, or less.
    was, now
        The words before and after; `now` of a removal are the words beside it.
    """

    kind: _ChangeKind
    was: str
    now: str


def _explained(change: _Change, harm: Harm, rng: Generator) -> str:
    """Return why `change` is an error, in one of the wordings for what `harm` does."""
    tables = _tables()
    named = (f"rule {harm.rule}", harm.perturbation.family, _ANY)
    wordings = next(tables[name][change.kind] for name in named if _has(name, change.kind))
    wording = wordings[int(rng.integers(len(wordings)))]
    return wording.format(was=_quoted(change.was), now=_quoted(change.now))


def _has(name: str, kind: _ChangeKind) -> bool:
    return kind in _tables().get(name, {})


def _quoted(words: str) -> str:
    """Quote words on one line, without the middle of many."""
    parts = words.split()
    if len(parts) > _WORDS:
        parts = [*parts[:_ENDS], "…", *parts[-_ENDS:]]
    return f"‘{' '.join(parts)}’"


@cache
def _tables() -> Mapping[str, _Wordings]:
    file = files("spanjury.orchestration.studies.distillation").joinpath(
        "templates", "explanations.toml"
    )
    return MappingProxyType(tomllib.loads(file.read_text("utf-8")))
