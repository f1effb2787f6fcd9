"""The run of a comparison: a pair judge is asked about matches, all of them or round by round."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from spanjury.judges.core import Aspect, PanelReport, Report, Result, SeatReport
from spanjury.orchestration.engine.batch import each
from spanjury.orchestration.engine.comparing import PairSeat
from spanjury.orchestration.engine.families import FamilyWatch
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.pairs.matches import Entries, Match, Swiss
from spanjury.orchestration.studies.pairs.rows import ComparisonRow

OpenPairJudge = Callable[[], AbstractAsyncContextManager[PairSeat]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """The texts that are compared, on which aspects, and which of them meet.

    Parameters
    ----------
    against
        Compare every system with this one alone; empty for every two.
    draw
        The number of pairs that are drawn by `Swiss`, for each aspect; None for all.
    seed
        Seed of the draw.
    """

    entries: Entries
    aspects: tuple[Aspect, ...]
    against: str = ""
    draw: int | None = None
    seed: int = 1

    @property
    def comparisons(self) -> int:
        """The most comparisons that there will be."""
        matches = len(self.entries.all_matches(against=self.against))
        return len(self.aspects) * (matches if self.draw is None else min(self.draw, matches))


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRun:
    """A comparison under way.

    Parameters
    ----------
    open_judge
        Opens the pair judge.
    workers
        How many pairs are compared at once.
    stop_token
        Ends it early; with a memory, what models replied by then is kept.
    show
        Called with each comparison, as a result of its first text.
    families
        As in `PanelConfig`: there is a warning of systems of its own family.
    """

    open_judge: OpenPairJudge
    workers: int
    stop_token: StopToken
    show: Callable[[Result], None]
    families: Mapping[str, Sequence[str]] = field(default_factory=dict)


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
        session = _Session(seat, run)
        if matching.draw is None:
            matches = matching.entries.all_matches(against=matching.against)
            rows = await session.compare([*product(matching.aspects, matches)])
        else:
            rows = [
                row
                for aspect in matching.aspects
                for row in await session.drawn(matching, aspect, most=matching.draw)
            ]
    judge = Examinee(signature=seat.signature, seats={seat.name: seat.signature})
    return Compared(rows=tuple(rows), judge=judge)


class _Session:
    def __init__(self, seat: PairSeat, run: PairRun) -> None:
        self._seat = seat
        self._run = run

    async def compare(self, asked: Sequence[tuple[Aspect, Match]]) -> list[ComparisonRow]:
        rows: dict[int, ComparisonRow] = {}

        async def compare_next(number: int) -> None:
            aspect, match = asked[number]
            comparison = await self._seat.compare(match.pair, aspect)
            rows[number] = ComparisonRow.of(comparison, match, aspect)
            self._run.show(_result(rows[number], match, aspect, seat=self._seat.name))

        await each(
            range(len(asked)),
            compare_next,
            workers=self._run.workers,
            stop_token=self._run.stop_token,
        )
        return [rows[number] for number in range(len(asked))]

    async def drawn(self, matching: Matching, aspect: Aspect, *, most: int) -> list[ComparisonRow]:
        swiss = Swiss(matching.entries, rng=np.random.default_rng(matching.seed))
        rows: list[ComparisonRow] = []
        points: Counter[str] = Counter()
        while len(rows) < most and (matches := swiss.round(points)):
            drawn = [(aspect, match) for match in matches[: most - len(rows)]]
            made = await self.compare(drawn)
            rows += made
            for row in made:
                # A comparison without a preference says nothing: it counts as a tie.
                share = 0.5 if row.points_a is None else row.points_a
                points[row.system_a] += share  # type: ignore[assignment]  # halves, too
                points[row.system_b] += 1 - share  # type: ignore[assignment]  # as above
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
