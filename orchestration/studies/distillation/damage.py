"""Training data from damage alone: clean texts, struck where we know, make their own reports.

No teacher is asked. What a perturbation harms for certain is an error on an aspect, what it
spares for certain is none; where it may do either, that aspect of the text is not used. The
score follows from the spans by the faithful map.

A judge marks words, not letters, and quotes so that the quotation is found: a strike within
a word becomes the word, one that left nothing the words beside it, and what stands several
times in the text is quoted with its neighbours. The explanations are worded in
``templates/explanations.toml``: for a rule, for its family, or for any damage, several of each,
one of which is drawn.
"""

import re
import tomllib
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib.resources import files
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Literal

from numpy.random import Generator

from spanjury.judges.core import Aspect, ErrorSpan, Located, PerturbationError, Report, gravest
from spanjury.judges.llm.distilled_form import MAX_ERRORS
from spanjury.judges.scoring import SpanMap
from spanjury.orchestration.studies.distillation.targets import Row, Targets, least_used
from spanjury.orchestration.studies.distillation.training_set import Example
from spanjury.perturbations.edits import Damage
from spanjury.perturbations.perturbation import (
    Case,
    NothingToDamageError,
    Perturbation,
    generator_for,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Harm:
    """One sort of damage, in one dose; equal to itself only."""

    name: str
    rule: str
    perturbation: Perturbation
    options: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    severity: int = 3
    """1 to 5: how grave the errors are that it makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """One edit of a damaged text.

    `start`, `end`: where in the text, half-open in code points; equal where something was taken
    out.
    """

    start: int
    end: int
    was: str
    harm: Harm


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedText:
    """A text with what was done to it: strikes in order, none of which meets another."""

    text: str
    strikes: tuple[Strike, ...] = ()

    @property
    def harms(self) -> tuple[Harm, ...]:
        """The causes of its strikes, in the order of the first strikes in the text."""
        return tuple(dict.fromkeys(strike.harm for strike in self.strikes))


def damaged_by(case: Case, harms: Sequence[Harm], rng: Generator, *, most: int) -> DamagedText:
    """Damage the text of `case` by up to `most` harms, one after the other.

    A harm that finds nothing to damage, or would strike where another has struck, is passed over.
    Raise `PerturbationError` if a rule fails.
    """
    done, struck = DamagedText(text=case.text), 0
    for harm in harms:
        if struck == most:
            break
        try:
            damage = harm.perturbation.damage(replace(case, text=done.text), rng, **harm.options)
        except NothingToDamageError:
            continue
        touched = (
            edit.start <= strike.end and strike.start <= edit.end
            for edit in damage.edits
            for strike in done.strikes
        )
        if not any(touched):
            new = (
                Strike(start=start, end=end, was=damage.clean[edit.start : edit.end], harm=harm)
                for (start, end), edit in zip(damage.places, damage.edits, strict=True)
            )
            strikes = [*_carried(done.strikes, damage), *new]
            strikes.sort(key=attrgetter("start", "end"))
            done, struck = DamagedText(text=damage.text, strikes=tuple(strikes)), struck + 1
    return done


def _carried(strikes: Sequence[Strike], damage: Damage) -> Iterator[Strike]:
    for strike in strikes:
        shift = sum(
            len(edit.text) - (edit.end - edit.start)
            for edit in damage.edits
            if edit.end < strike.start
        )
        start, end = strike.start + shift, strike.end + shift
        yield replace(strike, start=start, end=end) if shift else strike


_Interval = tuple[int, int]
_ChangeKind = Literal["changed", "added", "removed"]
"""The change of a place: something else stands there now, something more, or less."""

_WORD = re.compile(r"\w+(?:['’.,-]\w+)*")
_START, _END = itemgetter(0), itemgetter(1)
_NEIGHBOURS = 6
"""Number of words that a quotation may be widened by to be found again."""

_ANY = "any"
_WORDS = 12
"""The most words that are named in full; of more, the first and the last."""
_ENDS = 5

_Wordings = Mapping[str, Sequence[str]]
_OTHERS = 8
"""Texts for other inputs that a rule may take from, of the same task and the same split."""
_TRIES = 4
"""Harms that are tried for each that is to strike: many find nothing to damage."""
_WRONG = "wrong"
"""Key of a segment's meta that holds a text which is known to be wrong there."""


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

    The spans are in the order of the text; after them come those without a place, for missing
    passages.
    """
    if not strikes:
        return ()
    words = [match.span() for match in _WORD.finditer(damaged.text)]
    omitted = [strike for strike in strikes if _is_omission(strike, damaged.text)]
    marks = [_marked(strike, damaged.text, words) for strike in strikes if strike not in omitted]
    omitted += [mark.strikes[0] for mark in marks if mark.start == mark.end]  # no word is left
    placed = [mark for mark in marks if mark.start < mark.end]
    spans = [_span(mark, damaged.text, words=words, rng=rng) for mark in _merged(placed)]
    for strike in omitted:
        why = _explained("removed", strike.harm, rng, was=strike.was.strip())
        spans.append(ErrorSpan(text="", explanation=why, severity=strike.harm.severity))
    return tuple(spans)


def _is_omission(strike: Strike, text: str) -> bool:
    """Say whether a strike took out a passage and left no trace that could be marked."""
    if strike.start < strike.end:
        return False
    passage = strike.harm.perturbation.level == "sentence"
    return not text.strip() or (passage and bool(text[strike.end :].strip()))


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
    left = strike.was[:1].isalnum() and text[: strike.start][-1:].isalnum()
    right = strike.was[-1:].isalnum() and text[strike.end :][:1].isalnum()
    return [
        (first, last)
        for first, last in words
        if (left and first < strike.start <= last) or (right and first <= strike.end < last)
    ]


def _merged(marks: Sequence[_Mark]) -> list[_Mark]:
    """Make one mark of those that share words."""
    merged: list[_Mark] = []
    for mark in sorted(marks, key=attrgetter("start", "end")):
        if merged and mark.start < merged[-1].end:
            last = merged.pop()
            strikes, end = last.strikes + mark.strikes, max(last.end, mark.end)
            merged.append(_Mark(start=last.start, end=end, strikes=strikes, kind="changed"))
        else:
            merged.append(mark)
    return merged


def _span(mark: _Mark, text: str, *, words: Sequence[_Interval], rng: Generator) -> ErrorSpan:
    gravest = max(mark.strikes, key=lambda strike: strike.harm.severity)
    now = text[mark.start : mark.end]
    why = _explained(mark.kind, gravest.harm, rng, was=_was(mark, text), now=now)
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


def _explained(kind: _ChangeKind, harm: Harm, rng: Generator, *, was: str, now: str = "") -> str:
    """Return why a change is an error, in one of the wordings for what `harm` does.

    Of a removal, `now` are the words beside it.
    """
    tables = _tables()
    named = (f"rule {harm.rule}", harm.perturbation.family, _ANY)
    wordings = next(tables[name][kind] for name in named if kind in tables.get(name, {}))
    wording = wordings[int(rng.integers(len(wordings)))]
    return wording.format(was=_quoted(was), now=_quoted(now))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagePlan:
    """A plan by which texts are damaged.

    Raises `ValueError` if there is no harm, or a number is not positive.
    """

    harms: tuple[Harm, ...]
    recipe: str
    texts: int = 4
    """Number of damaged texts for each clean one."""
    most: int = 3
    """The most harms that strike one text."""
    per_output: int = 3
    """Number of aspects used of each text: of a damaged one those that are harmed, and one that is
    not where they are fewer; each aspect as often as the others."""
    targets: Targets = field(default_factory=Targets)
    """Makes the examples; with the seed of all that is drawn."""

    def __post_init__(self) -> None:
        if not self.harms or min(self.texts, self.most, self.per_output) < 1:
            raise ValueError(f"not a plan: {self!r}")

    def can_harm(self, aspect: Aspect) -> bool:
        """Say whether any harm is one to `aspect`; of others only "no error" would be learnt."""
        return any(_harms(harm, aspect) for harm in self.harms)


def damage_examples(
    rows: Sequence[Row], aspects: Mapping[str, Sequence[Aspect]], plan: DamagePlan
) -> Iterator[Example]:
    """Make examples of clean texts: each as it is, then damaged.

    The damage to a text depends on its data set and id, and for some rules on texts of its split;
    the aspects that are asked of it depend on the texts before it. Raise `PerturbationError` if a
    rule fails, naming the text.
    """
    used: Counter[Hashable] = Counter()
    for row, others in zip(rows, _others(rows), strict=True):
        fit = [
            aspect
            for aspect in aspects[row.segment.task]
            if not aspect.lacking(row.segment.inputs) and plan.can_harm(aspect)
        ]
        yield from _CleanText(plan=plan, row=row, used=used).examples(others, fit)


@dataclass(slots=True, kw_only=True)
class _CleanText:
    """One clean text, of which examples are made."""

    plan: DamagePlan
    row: Row
    used: Counter[Hashable]
    rng: Generator = field(init=False)
    reports: dict[Hashable, Report] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name = f"distil {self.row.dataset}"
        self.rng = generator_for(self.plan.targets.seed, name, self.row.segment.segment_id)

    def examples(self, others: tuple[str, ...], aspects: Sequence[Aspect]) -> Iterator[Example]:
        seen: set[str] = set()
        for damaged in self._texts(others):
            if damaged.text in seen:
                continue
            seen.add(damaged.text)
            damages = tuple(f"{self.plan.recipe}: {harm.name}" for harm in damaged.harms)
            example = partial(
                self.plan.targets.example, self.row, output=damaged.text, damages=damages
            )
            for aspect in self._drawn(damaged, aspects):
                yield example(aspect, report=self._report(damaged, aspect))

    def _texts(self, others: tuple[str, ...]) -> Iterator[DamagedText]:
        """Yield the clean text, then the damaged ones; some of these may be alike."""
        segment, plan = self.row.segment, self.plan
        wrong = segment.meta.get(_WRONG)
        case = Case(
            text=segment.output,
            inputs=segment.inputs,
            others=others,
            wrong=wrong if isinstance(wrong, str) else "",
        )
        yield DamagedText(text=case.text)
        for _ in range(plan.texts):
            most = int(self.rng.integers(1, plan.most + 1))
            order = self.rng.permutation(len(plan.harms))[: most * _TRIES].tolist()
            harms = [plan.harms[number] for number in order]
            try:
                yield damaged_by(case, harms, self.rng, most=most)
            except PerturbationError as error:
                named = f"{self.row.source}: {segment.segment_id!r}"
                raise PerturbationError(f"{named} cannot be damaged: {error}") from error

    def _drawn(self, damaged: DamagedText, aspects: Sequence[Aspect]) -> list[Aspect]:
        """Draw aspects for which it is known whether each strike is an error."""
        harms = damaged.harms
        sure = {"falls", "unchanged"}
        certain = [
            aspect
            for aspect in aspects
            if all(harm.perturbation.effect_on(aspect.name) in sure for harm in harms)
        ]
        harmed = [a for a in certain if any(_harms(harm, a) for harm in harms)]
        spared = [a for a in certain if not any(_harms(harm, a) for harm in harms)]
        most = self.plan.per_output
        draw = partial(least_used, used=self.used, rng=self.rng)
        drawn = draw(harmed, k=most, key=lambda aspect: (aspect.task.name, aspect.name, True))
        if harms:  # a clean text has enough to say of what is no error
            most = min(most, len(drawn) + 1)
        left = most - len(drawn)
        return drawn + draw(spared, k=left, key=lambda each: (each.task.name, each.name, False))

    def _report(self, damaged: DamagedText, aspect: Aspect) -> Report:
        """Mark what harms the aspect; aspects for which that is the same share a report."""
        harms = tuple(harm for harm in damaged.harms if _harms(harm, aspect))
        key = (damaged.text, harms, aspect.kind, aspect.scale)
        if key not in self.reports:
            strikes = [strike for strike in damaged.strikes if strike.harm in harms]
            spans = gravest(damage_spans(damaged, strikes, self.rng), limit=MAX_ERRORS)
            score: float | None = aspect.scale.high  # what any map gives for no errors, at once
            if spans:
                score = SpanMap().score(damaged.text, spans, aspect=aspect)
            assert score is not None, "damage is quoted from the text, or omitted something"
            self.reports[key] = Report(score=score, spans=spans)
        return self.reports[key]


def _others(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Yield for each row texts for other inputs, none of another split."""
    alike: defaultdict[Hashable, list[Row]] = defaultdict(list)
    starts = []
    for row in rows:
        beside = alike[row.segment.task, row.split]
        starts.append((beside, len(beside)))
        beside.append(row)
    for row, (beside, start) in zip(rows, starts, strict=True):
        near = (*beside[start + 1 : start + 1 + 2 * _OTHERS], *beside[: min(start, 2 * _OTHERS)])
        outputs = [other.segment.output for other in near if other.input_id != row.input_id]
        yield tuple(outputs[:_OTHERS])


def _harms(harm: Harm, aspect: Aspect) -> bool:
    return harm.perturbation.effect_on(aspect.name) == "falls"
