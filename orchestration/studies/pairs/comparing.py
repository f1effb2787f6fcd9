"""Texts of two systems about the same source as matches, and the run that compares them."""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, combinations, product
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from spanjury.judges.core import (
    Aspect,
    Comparison,
    ConfigError,
    DataError,
    ErrorSpan,
    Outcome,
    PairReport,
    PanelReport,
    Preference,
    Report,
    Result,
    SeatReport,
    Segment,
    TextPair,
    Usage,
    fingerprint,
)
from spanjury.orchestration.engine.comparing import PairSeat
from spanjury.orchestration.engine.families import FamilyWatch
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.studies.estimates import grouped
from spanjury.orchestration.studies.judging import Examinee, in_order
from spanjury.orchestration.studies.sources import known_source_of


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRow:
    """The report of a judge on a pair in one order.

    `preference`, `probability`, `reply`: as in `PairReport`, for A and B as the row names them.
    """

    first: Literal["A", "B"] | None
    """The text that it was shown first; None for a judge that sees no order."""
    outcome: Outcome
    preference: Preference | None
    probability: float | None = None
    explanation: str = ""
    reason: str = ""
    reply: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRow:
    """A comparison of two texts on one aspect.

    `system_a`, `system_b`, `id_a`, `id_b`: systems and ids of the texts.
    `outcome`, `preference`, `consistent`, `probability`, `explanation`, `reason`, `spans_a`,
    `spans_b`, `usage`: as in `Comparison`.
    """

    source: str
    task: str
    aspect: str
    system_a: str
    system_b: str
    id_a: str
    id_b: str
    judge: str
    outcome: Outcome
    preference: Preference | None
    consistent: bool | None
    probability: float | None
    orders: tuple[OrderRow, ...]
    """The reports that these follow from."""
    explanation: str = ""
    reason: str = ""
    spans_a: tuple[ErrorSpan, ...] = ()
    spans_b: tuple[ErrorSpan, ...] = ()
    usage: Usage = Usage()

    @classmethod
    def of(cls, comparison: Comparison, aspect: Aspect, *, source: str) -> "ComparisonRow":
        """Return the row of a comparison."""
        pair = comparison.pair
        return cls(
            source=source,
            task=aspect.task.name,
            aspect=aspect.name,
            system_a=pair.a.system,
            system_b=pair.b.system,
            id_a=pair.a.segment_id,
            id_b=pair.b.segment_id,
            judge=comparison.signature,
            orders=_orders(comparison.orders),
            **{name: getattr(comparison, name) for name in _AS_COMPARED},
        )

    @property
    def points_a(self) -> float | None:
        """1 if A is preferred, 0 if B is, a half for a tie; None without a preference."""
        return None if self.preference is None else POINTS[self.preference]


_AS_REPORTED = ("outcome", "preference", "probability", "explanation", "reason")
_AS_COMPARED = (*_AS_REPORTED, "consistent", "spans_a", "spans_b", "usage")
POINTS = {Preference.A: 1.0, Preference.TIE: 0.5, Preference.B: 0.0}


def _orders(reports: Sequence[PairReport]) -> tuple[OrderRow, ...]:
    firsts: tuple[Literal["A", "B"] | None, ...] = ("A", "B") if len(reports) > 1 else (None,)
    return tuple(
        OrderRow(
            first=first,
            reply=report.reply,
            **{name: getattr(report, name) for name in _AS_REPORTED},
        )
        for first, report in zip(firsts, reports, strict=True)
    )


_LONGEST_ID = 80


class Match(NamedTuple):
    """A pair of texts, and the name of their source."""

    source: str
    pair: TextPair

    @property
    def systems(self) -> tuple[str, str]:
        """The systems of A and of B."""
        return self.pair.a.system, self.pair.b.system


class _Source(NamedTuple):
    """A source: what says that texts are about it, and their inputs."""

    name: str
    inputs: tuple[tuple[str, str], ...]

    @property
    def digest(self) -> str:
        """A name that only this source has."""
        return fingerprint(self.name, *chain(*self.inputs))

    @property
    def label(self) -> str:
        """The id of the document if there is one and it is short, else the digest."""
        return self.name if len(self.name) <= _LONGEST_ID else self.digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """The texts of several systems, by source."""

    systems: tuple[str, ...]
    """In the order in which the texts name them: the earlier one of two is A."""
    sources: Mapping[str, Mapping[str, Segment]]
    """Name of the source -> system -> its text; two systems or more each."""

    @classmethod
    def of(cls, segments: Iterable[Segment]) -> "Entries":
        """Sort texts by source: by their inputs, and the id of their document if they have one.

        Raise `DataError` if a system has two texts about one source, or no two systems share any.
        """
        by_source: dict[_Source, dict[str, Segment]] = {}
        systems: dict[str, None] = {}
        for segment in segments:
            name = known_source_of(segment)
            if name is None:
                continue
            systems.setdefault(segment.system)
            # Texts whose inputs differ are no pair, even if their document has the same id.
            source = _Source(name, tuple(sorted(segment.inputs.items())))
            texts = by_source.setdefault(source, {})
            if segment.system in texts:
                raise DataError(
                    f"{segment.segment_id!r} and {texts[segment.system].segment_id!r} are of one "
                    f"system, {segment.system!r}, and about one source: name their systems in the"
                    " rows, under 'system'"
                )
            texts[segment.system] = segment
        shared: dict[str, Mapping[str, Segment]] = {}
        for source, texts in by_source.items():
            if len(texts) > 1:
                shared[source.digest if source.label in shared else source.label] = texts
        if not shared:
            raise DataError(
                "no two systems have a text about the same source: pairs are made of rows with"
                " the same inputs and different systems"
            )
        return cls(systems=tuple(systems), sources=shared)

    def all_matches(self, *, against: str = "") -> tuple[Match, ...]:
        """Return every match, or those of one system, source by source.

        Raise `ConfigError` if no text is of that system.
        """
        if against and against not in self.systems:
            names = ", ".join(self.systems)
            raise ConfigError(f"no text has the system {against!r}; the systems are: {names}")
        return tuple(
            Match(source, TextPair(a=texts[first], b=texts[second]))
            for source, texts in self.sources.items()
            for first, second in combinations(filter(texts.__contains__, self.systems), 2)
            if not against or against in {first, second}
        )


class Swiss:
    """Draws matches round by round: in each, systems meet their neighbours in the standing.

    Where a Swiss tournament lets no two players meet twice, two systems meet again over another
    source. Every match of two moves them one rank apart for the draw, so that others meet, too.

    `rng` draws the first standing, and the source of each match of `entries`.
    """

    def __init__(self, entries: Entries, *, rng: Generator) -> None:
        self._open = grouped(entries.all_matches(), lambda match: match.systems)
        for matches in self._open.values():
            rng.shuffle(matches)
        lots = rng.permutation(len(entries.systems))
        self._lots = dict(zip(entries.systems, map(int, lots), strict=True))
        self._rank = {system: number for number, system in enumerate(entries.systems)}
        self._met: Counter[tuple[str, str]] = Counter()
        self._played: Counter[str] = Counter()

    def round(self, points: Mapping[str, float]) -> tuple[Match, ...]:
        """Return the matches of the next round; none if all texts have met.

        `points`: system -> its points so far: 1 for a win, a half for a tie. A system without any
        has 0.
        """
        waiting = self._standing(points)
        if len(waiting) % 2:
            # The one that played most sits out, the last of several.
            most = max(range(len(waiting)), key=lambda at: (self._played[waiting[at]], at))
            waiting.append(waiting.pop(most))
        matches: list[Match] = []
        while waiting:
            first = waiting.pop(0)
            rivals = [
                (distance + self._met[self._key(first, other)], distance, other)
                for distance, other in enumerate(waiting)
                if self._open.get(self._key(first, other))
            ]
            if rivals:
                *_, other = min(rivals)
                waiting.remove(other)
                matches.append(self._drawn(first, other))
        return tuple(matches)

    def _standing(self, points: Mapping[str, float]) -> list[str]:
        """Return the systems, those with the most points a match first; lots decide ties."""

        def share(system: str) -> float:
            return points.get(system, 0.0) / self._played[system] if self._played[system] else 0.5

        return sorted(self._lots, key=lambda system: (-share(system), self._lots[system]))

    def _drawn(self, first: str, second: str) -> Match:
        key = self._key(first, second)
        self._met[key] += 1
        self._played.update((first, second))
        return self._open[key].pop()

    def _key(self, first: str, second: str) -> tuple[str, str]:
        return (first, second) if self._rank[first] < self._rank[second] else (second, first)


OpenPairJudge = Callable[[], AbstractAsyncContextManager[PairSeat]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """The texts that are compared, on which aspects, and which of them meet."""

    entries: Entries
    aspects: tuple[Aspect, ...]
    against: str = ""
    """Compare every system with this one alone; empty for every two."""
    draw: int | None = None
    """The number of pairs that are drawn by `Swiss`, for each aspect; None for all."""
    seed: int = 1

    @property
    def comparisons(self) -> int:
        """The most comparisons that there will be."""
        matches = len(self.entries.all_matches(against=self.against))
        return len(self.aspects) * (matches if self.draw is None else min(self.draw, matches))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRun:
    """A comparison under way."""

    open_judge: OpenPairJudge
    workers: int
    stop_token: StopToken
    """Ends it early; with a memory, what models replied by then is kept."""
    show: Callable[[Result], None]
    """Called with each comparison, as a result of its first text."""
    families: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """As in `PanelConfig`: there is a warning of systems of its own family."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Comparisons, and the judge that made them."""

    rows: tuple[ComparisonRow, ...]
    judge: Examinee


async def compare_systems(matching: Matching, run: PairRun) -> Compared:
    """Compare systems; rows are in the order of aspects, then of matches.

    Raise `RunStoppedError` if the stop token came before the end.
    """
    async with run.open_judge() as seat:
        watch = FamilyWatch({seat.name: seat.judge.signature}, run.families)
        for system in matching.entries.systems:
            watch.see(system)

        async def compare_one(pair: tuple[Aspect, Match]) -> ComparisonRow:
            aspect, match = pair
            comparison = await seat.compare(match.pair, aspect)
            row = ComparisonRow.of(comparison, aspect, source=match.source)
            run.show(_result(row, match, aspect, seat=seat.name))
            return row

        compare = partial(
            in_order, work=compare_one, workers=run.workers, stop_token=run.stop_token
        )
        if matching.draw is None:
            matches = matching.entries.all_matches(against=matching.against)
            rows = await compare([*product(matching.aspects, matches)])
        else:
            rows = [
                row
                for aspect in matching.aspects
                for row in await _drawn(matching, aspect, compare, most=matching.draw)
            ]
    judge = Examinee(signature=seat.signature, seats={seat.name: seat.signature})
    return Compared(rows=tuple(rows), judge=judge)


_Compare = Callable[[Sequence[tuple[Aspect, Match]]], Awaitable[list[ComparisonRow]]]


async def _drawn(
    matching: Matching, aspect: Aspect, compare: _Compare, *, most: int
) -> list[ComparisonRow]:
    swiss = Swiss(matching.entries, rng=np.random.default_rng(matching.seed))
    rows: list[ComparisonRow] = []
    points: dict[str, float] = defaultdict(float)
    while len(rows) < most and (matches := swiss.round(points)):
        made = await compare([(aspect, match) for match in matches[: most - len(rows)]])
        rows += made
        for row in made:
            # A comparison without a preference says nothing: it counts as a tie.
            share = 0.5 if row.points_a is None else row.points_a
            points[row.system_a] += share
            points[row.system_b] += 1 - share
    return rows


def _result(row: ComparisonRow, match: Match, aspect: Aspect, *, seat: str) -> Result:
    """Return a comparison as a result, for progress, which counts outcomes, tokens and costs.

    The score stands for nothing: it says that there is a preference.
    """
    score = None if row.preference is None else aspect.scale.high
    report = Report(outcome=row.outcome, score=score, reason=row.reason, usage=row.usage)
    of_seat = SeatReport(seat=seat, signature=row.judge, report=report, seconds=0.0)
    panel = PanelReport(
        outcome=row.outcome,
        score=score,
        reason=row.reason,
        usage=row.usage,
        signature=row.judge,
        seats=(of_seat,),
    )
    return Result(segment=match.pair.a, aspect=aspect, report=panel)
