"""A panel that is given in stages: who is asked, what is remembered, and what a budget allows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest
from anyio import CancelScope, Event, create_task_group, sleep_forever, wait_all_tasks_blocked
from anyio.lowlevel import checkpoint
from fakes.judges import ASPECT, panel_of, segment
from fakes.memory import DictMemory

from spanjury.adapters.files.results.results import result_line, result_row
from spanjury.judges.core import (
    Aspect,
    ChatRequest,
    ConfigError,
    Decision,
    Judge,
    Message,
    Outcome,
    Report,
    Result,
    Segment,
    StopReason,
    TokenPrice,
    TransientModelError,
    Usage,
)
from spanjury.orchestration.engine.aggregation import mean
from spanjury.orchestration.engine.allowance import Allowance, Budget, parse_budget
from spanjury.orchestration.engine.cascade import Cascade, Stage
from spanjury.orchestration.engine.finished_rows import FinishedRows
from spanjury.orchestration.engine.memory import RememberedJudge
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.score_map import ScoreMap
from spanjury.orchestration.engine.staging import Staging
from spanjury.orchestration.engine.summary import Summary

ONE_CALL = Usage(calls=1, prompt=90, completion=10)
PRICE = TokenPrice(prompt=1e-3, completion=1e-2)
TEXTS = tuple(segment(f"s{number}", f"The bridge opened in 193{number}.") for number in range(6))


@dataclass(frozen=True, slots=True)
class CountingJudge:
    """Gives every text its score, and notes which texts it was asked about."""

    name: str
    scores: Callable[[Segment], float] = lambda _: 5.0
    usage: Usage = ONE_CALL
    asked: list[str] = field(default_factory=list)

    @property
    def signature(self) -> str:
        return self.name

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        await checkpoint()
        self.asked.append(segment.segment_id)
        return Report(score=self.scores(segment), usage=self.usage)


def odd(segment: Segment) -> float:
    """Score odd texts 3, which is unsure, and even ones 5."""
    return 3.0 if int(segment.segment_id[1:]) % 2 else 5.0


def cheap(scores: Callable[[Segment], float] = odd) -> CountingJudge:
    return CountingJudge("cheap", scores, Usage())


UNSURE = Cascade(
    stages=(Stage(seats=("cheap",), unsure=(0.2, 0.8)), Stage(seats=("dear", "dearer")))
)


def panel(
    *judges: Judge,
    cascade: Cascade = UNSURE,
    budget: Budget | None = None,
    memory: DictMemory | None = None,
    meter: Meter | None = None,
) -> Panel:
    prices = {judge.signature: PRICE for judge in judges if judge.signature != "cheap"}
    asked = judges if memory is None else [RememberedJudge(judge, memory) for judge in judges]
    return panel_of(
        *asked,
        names=[judge.signature for judge in judges],
        stages=Staging(
            cascade,
            aggregation=mean,
            budget=budget,
            allowance=Allowance(budget, prices=prices, meter=meter or Meter()) if budget else None,
            memory=memory,
        ),
    )


def three() -> tuple[CountingJudge, CountingJudge, CountingJudge]:
    return cheap(), CountingJudge("dear"), CountingJudge("dearer")


async def results(of: Panel, texts: Sequence[Segment] = TEXTS) -> list[Result]:
    return [
        Result(segment=text, aspect=ASPECT, report=await of.assess(text, ASPECT)) for text in texts
    ]


async def test_dear_seats_are_asked_only_where_the_cheap_one_is_unsure() -> None:
    first, dear, dearer = three()
    even, uneven = (one.report for one in await results(panel(dearer, first, dear), TEXTS[:2]))
    assert dear.asked == dearer.asked == ["s1"]
    assert (first.asked, [one.seat for one in even.seats]) == (["s0", "s1"], ["cheap"])
    assert even.score == 5
    assert even.decision is Decision.OK
    assert even.unasked is not None
    assert even.unasked.seats == ("dear", "dearer")
    assert even.unasked.why is StopReason.SURE
    assert even.unasked.reason == "The estimate is 1.00, above 0.80."
    assert [one.seat for one in uneven.seats] == ["dearer", "cheap", "dear"]
    assert uneven.score == pytest.approx(13 / 3)
    assert uneven.unasked is None


async def test_seats_of_a_stage_are_asked_at_once() -> None:
    begun, go_on = [], Event()

    @dataclass(frozen=True, slots=True)
    class Held:
        signature: str

        async def assess(self, segment: Segment, aspect: Aspect) -> Report:
            begun.append(self.signature)
            await go_on.wait()
            return Report(score=3)

    async with create_task_group() as group:
        group.start_soon(panel(cheap(), Held("dear"), Held("dearer")).assess, TEXTS[1], ASPECT)
        await wait_all_tasks_blocked()
        assert sorted(begun) == ["dear", "dearer"]
        go_on.set()


async def test_a_stage_that_fails_is_made_up_for_by_the_next() -> None:
    @dataclass(frozen=True, slots=True)
    class Down:
        signature: str = "cheap"

        async def assess(self, segment: Segment, aspect: Aspect) -> Report:
            raise TransientModelError(f"no answer on {aspect.name} of {segment.segment_id}")

    _, dear, dearer = three()
    report = await panel(Down(), dear, dearer).assess(TEXTS[0], ASPECT)
    assert dear.asked == ["s0"]
    assert report.unasked is None
    assert report.score == 5
    assert report.seats[0].report.outcome is Outcome.BACKEND_FAILED


async def test_a_seat_that_was_not_asked_is_no_failure_and_no_gap_in_the_coverage() -> None:
    summary = Summary()
    for result in await results(panel(*three())):
        summary.add(result)
    assert (summary.whole.coverage, summary.seats["dear"].total()) == (1.0, 3)
    assert set(summary.seats["dear"]) == {Outcome.SCORED}
    assert (summary.unasked, summary.stops) == ({"dear": 3, "dearer": 3}, {StopReason.SURE: 3})


async def test_the_score_of_few_seats_is_the_one_expected_of_all() -> None:
    score_map = ScoreMap(knots=(0.0, 1.0), values=(0.1, 0.9))
    mapped = Cascade(
        stages=(
            Stage(seats=("cheap",), unsure=(0.2, 0.8), score_map=score_map),
            Stage(seats=("dear", "dearer")),
        )
    )
    even, uneven = await results(panel(*three(), cascade=mapped), TEXTS[:2])
    assert even.report.score == pytest.approx((5 + 2 * (1 + 0.9 * 4)) / 3)
    assert even.report.unasked
    assert even.report.unasked.score == even.report.score
    assert uneven.report.score == pytest.approx(13 / 3), "all were asked, and nothing is mapped"


async def test_a_row_says_who_was_not_asked_and_why() -> None:
    even, uneven = map(result_row, await results(panel(*three()), TEXTS[:2]))
    assert even["unasked"] == {
        "seats": ["dear", "dearer"],
        "why": "sure",
        "reason": "The estimate is 1.00, above 0.80.",
        "score": None,
    }
    assert uneven["unasked"] is None


async def test_a_later_run_with_all_seats_asks_only_the_missing_ones() -> None:
    memory, (first, dear, dearer) = DictMemory(), three()
    await results(panel(first, dear, dearer, memory=memory))
    always = Cascade(stages=(Stage(seats=("cheap",), unsure=(0, 1)), UNSURE.stages[1]))
    await results(panel(first, dear, dearer, cascade=always, memory=memory))
    assert first.asked == [text.segment_id for text in TEXTS]
    assert (sorted(dear.asked), sorted(dearer.asked)) == (sorted(first.asked), sorted(first.asked))


async def test_other_stages_and_another_budget_have_other_signatures() -> None:
    judges = three()
    others = [
        panel(*judges, cascade=Cascade(stages=UNSURE.stages, cutoff=3.0)),
        panel(*judges, budget=parse_budget("5calls")),
        panel(*judges, budget=parse_budget("6calls")),
    ]
    assert len({panel(*judges).signature, *(one.signature for one in others)}) == 4
    assert panel(*judges).signature == panel(*three()).signature


@pytest.mark.parametrize(
    ("budget", "asked"),
    [("2calls", 1), ("3calls", 1), ("4calls", 2), ("6calls", 3), ("100calls", 3)],
)
async def test_a_budget_ends_the_asking_and_not_the_run(budget: str, asked: int) -> None:
    first, dear, dearer = three()
    rows = await results(panel(first, dear, dearer, budget=parse_budget(budget)))
    assert dear.asked == dearer.asked == ["s1", "s3", "s5"][:asked]
    assert all(row.report.score is not None for row in rows)
    over = [row.report.unasked for row in rows if row.report.unasked]
    stops = [one.why for one in over]
    assert stops.count(StopReason.BUDGET) == 3 - asked


async def test_a_stop_for_the_budget_says_its_numbers() -> None:
    rows = await results(panel(*three(), budget=parse_budget("3calls")))
    unasked = rows[3].report.unasked
    assert unasked
    assert unasked.reason == (
        "The budget of 3 calls has 1 call left, and asking on takes about 2 calls."
    )


@pytest.mark.parametrize(("budget", "asked"), [("0.4", 1), ("$0.80", 2), ("200 tokens", 1)])
async def test_dollars_and_tokens_count_as_calls_do(budget: str, asked: int) -> None:
    _, dear, dearer = judges = three()  # 90 * .001 + 10 * .01 = .19 dollars and 100 tokens a call
    await results(panel(*judges, budget=parse_budget(budget)))
    assert len(dear.asked) == len(dearer.asked) == asked


async def test_no_seat_is_asked_where_the_first_stage_is_over_the_budget() -> None:
    stages = (Stage(seats=("dear",), unsure=(0, 1)), Stage(seats=("cheap",)))
    rows = await results(
        panel(
            cheap(),
            CountingJudge("dear"),
            cascade=Cascade(stages=stages),
            budget=Budget(amount=2, unit="calls"),
        )
    )
    assert [row.report.score is None for row in rows] == [False, False, True, True, True, True]
    last = rows[-1].report
    assert last.outcome is Outcome.ABSTAINED
    assert last.reason.startswith("no seat was asked: The budget of 2 calls")
    assert last.seats == ()


async def test_calls_under_way_are_set_aside_and_given_back_where_they_are_cancelled() -> None:
    allowance = Allowance(Budget(amount=3, unit="calls"), prices={"dear": PRICE}, meter=Meter())
    with CancelScope() as scope:
        with allowance.setting_aside(["dear", "cheap"], TEXTS[0]):
            assert allowance.left == 2
            assert not allowance.allows(["dear"] * 3, TEXTS[0])
            scope.cancel()
            await checkpoint()
    assert allowance.left == 3


async def test_rows_at_the_same_moment_do_not_exceed_the_budget_together() -> None:
    _, dear, _ = judges = three()
    of = panel(*judges, budget=parse_budget("4calls"))
    async with create_task_group() as group:
        for text in TEXTS:
            group.start_soon(of.assess, text, ASPECT)
    assert len(dear.asked) == 2


@pytest.mark.parametrize("done", range(7))
async def test_a_run_that_breaks_off_goes_on_to_the_rows_of_one_that_does_not(done: int) -> None:
    """The budget is the run's: what its first part took is counted in its second."""
    whole = [line(row) for row in await results(panel(*three(), budget=parse_budget("4calls")))]
    memory, (first, dear, dearer) = DictMemory(), three()
    before = panel(first, dear, dearer, budget=parse_budget("4calls"), memory=memory)
    begun = [line(row) for row in await results(before, TEXTS[:done])]
    after = panel(first, dear, dearer, budget=parse_budget("4calls"), memory=memory)
    rows = [line(row) for row in await results(after)]
    assert (rows, rows[:done], len(dear.asked)) == (whole, begun, 2)


def line(result: Result) -> dict[str, object]:
    """Return a row without the time that its seats took."""
    row = result_row(result)
    seats: Sequence[dict[str, object]] = row["seats"]  # type: ignore[assignment]  # a list of rows
    return {**row, "seats": [{**seat, "seconds": 0} for seat in seats]}


async def test_a_cancelled_row_is_asked_again_within_the_same_budget() -> None:
    memory, judges = DictMemory(), three()
    of = panel(*judges, budget=parse_budget("2calls"), memory=memory)
    with CancelScope() as scope:
        scope.cancel()
        await of.assess(TEXTS[1], ASPECT)
    assert of.stages
    assert of.stages.allowance
    assert of.stages.allowance.left == 2
    again = panel(*judges, budget=parse_budget("2calls"), memory=memory)
    assert (await again.assess(TEXTS[1], ASPECT)).unasked is None


async def test_rescoring_stops_where_the_run_stopped_whatever_the_aggregation_makes_of_it() -> None:
    settled = Cascade(stages=(Stage(seats=("dear", "dearer")), Stage(seats=("cheap",))), cutoff=3.0)
    memory, judges = DictMemory(), three()
    before = await results(panel(*judges, cascade=settled, memory=memory), TEXTS[:1])
    assert before[0].report.unasked
    assert before[0].report.unasked.why is StopReason.SETTLED
    silent = Staging(settled, aggregation=min, memory=memory, is_silent=True)
    again = replace(
        panel(*judges, memory=memory, cascade=settled),
        aggregation=min,
        aggregation_name="minimum",
        stages=silent,
    )
    report = await again.assess(TEXTS[0], ASPECT)
    assert (report.unasked, judges[0].asked) == (before[0].report.unasked, [])


async def test_a_finished_row_comes_back_with_who_was_not_asked_and_what_it_took() -> None:
    memory, judges = DictMemory(), three()
    of = panel(*judges, budget=parse_budget("4calls"))
    rows = FinishedRows(memory, of, write=result_line)
    summary = Summary()
    for result in await results(of):
        key = rows.key(result.segment, ASPECT)
        await rows.keep(key, result, result_line(result))
        row = rows.recall(key, result.segment, ASPECT)
        assert row is not None
        assert row.result().report.unasked == result.report.unasked
        summary.count(row.figures)
    assert summary.unasked == {"dear": 4, "dearer": 4}
    other = panel(*judges, budget=parse_budget("4calls"))
    for text in TEXTS:
        row = rows.recall(rows.key(text, ASPECT), text, ASPECT)
        assert row is not None
        other.note_remembered("", ((seat, usage) for seat, _, usage in row.figures.seats))
    assert other.stages
    assert other.stages.allowance
    assert other.stages.allowance.left == 0


def test_a_budget_too_small_for_one_row_is_refused_with_what_that_takes() -> None:
    of = panel(*three(), budget=parse_budget("1call"))
    with pytest.raises(ConfigError, match="too small for one row: all seats together take 2 calls"):
        of.begin_budget(TEXTS[0])
    panel(*three(), budget=parse_budget("2calls")).begin_budget(TEXTS[0])
    dollars = panel(*three(), budget=parse_budget("0.001"))
    with pytest.raises(ConfigError, match=r"budget of \$0.001 is too small .* take \$0.01"):
        dollars.begin_budget(TEXTS[0])
    panel(*three()).begin_budget(TEXTS[0])


def test_dollars_need_prices() -> None:
    with pytest.raises(ConfigError, match="no price is known for dear"):
        Allowance(parse_budget("5"), prices={"dear": None}, meter=Meter())
    Allowance(parse_budget("5calls"), prices={"dear": None}, meter=Meter())


@pytest.mark.parametrize(
    ("text", "amount", "unit"),
    [
        ("5", 5.0, "dollars"),
        ("$0.5", 0.5, "dollars"),
        ("5 dollars", 5.0, "dollars"),
        ("1call", 1.0, "calls"),
        ("300 calls", 300.0, "calls"),
        ("2e5tokens", 200000.0, "tokens"),
        ("2_000 tokens", 2000.0, "tokens"),
    ],
)
def test_budgets_are_read_as_people_write_them(text: str, amount: float, unit: str) -> None:
    budget = parse_budget(text)
    assert (budget.amount, budget.unit) == (amount, unit)
    assert parse_budget(str(budget).replace(",", "")) == budget


@pytest.mark.parametrize(
    "text",
    ["", "five", "-3", "0", "5 euros", "calls", "inf", "nan", "1e999", "5_", "1__0 calls"],
)
def test_an_invalid_budget_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="budget"):
        parse_budget(text)


@dataclass(frozen=True, slots=True)
class PayingJudge:
    """Asks a model about every text, whose calls are in a ledger; one that `is_stuck` for ever."""

    signature: str
    meter: Meter
    begun: Event = field(default_factory=Event)
    is_stuck: bool = False
    asked: list[str] = field(default_factory=list)

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        account = self.meter.account(name=self.signature, price=PRICE)
        message = Message(role="user", content=segment.output)
        reservation = await account.reserve(ChatRequest(messages=(message,)))
        self.asked.append(segment.segment_id)
        self.begun.set()
        if self.is_stuck:
            await sleep_forever()
        await reservation.settle(ONE_CALL)
        return Report(score=3, usage=ONE_CALL)


async def test_a_budget_counts_rows_further_on_before_it_comes_to_them() -> None:
    memory, budget, unsure = DictMemory(), parse_budget("4calls"), cheap(lambda _: 3.0)
    with (before := Meter()).kept_in(memory):
        dear, dearer = PayingJudge("dear", before), PayingJudge("dearer", before)
        killed = panel(unsure, dear, dearer, budget=budget, memory=memory, meter=before)
        for text in TEXTS[1:3]:  # two rows were quicker than the first
            await killed.assess(text, ASPECT)
    with (meter := Meter()).kept_in(memory):
        dear, dearer = PayingJudge("dear", meter), PayingJudge("dearer", meter)
        again = panel(unsure, dear, dearer, budget=budget, memory=memory, meter=meter)
        found = await results(again, TEXTS[:4])
    assert [one.report.unasked is None for one in found] == [False, True, True, False]
    assert dear.asked == dearer.asked == []


async def test_a_call_that_a_kill_cut_is_spent_and_is_paid_again_out_of_what_is_left() -> None:
    memory, budget, unsure = DictMemory(), parse_budget("4calls"), cheap(lambda _: 3.0)
    with (before := Meter()).kept_in(memory):
        begun = Event()
        stuck = [PayingJudge(name, before, begun, is_stuck=True) for name in ("dear", "dearer")]
        killed = panel(unsure, *stuck, budget=budget, memory=memory, meter=before)
        async with create_task_group() as group:
            group.start_soon(killed.assess, TEXTS[2], ASPECT)
            await begun.wait()
            await wait_all_tasks_blocked()
            group.cancel_scope.cancel()
    with (meter := Meter()).kept_in(memory), meter.holding("calls", 4):
        dear, dearer = PayingJudge("dear", meter), PayingJudge("dearer", meter)
        again = panel(unsure, dear, dearer, budget=budget, memory=memory, meter=meter)
        found = await results(again, TEXTS[:3])
    assert [one.report.unasked is None for one in found] == [True, False, False]
    assert dear.asked == dearer.asked == ["s0"]
    assert meter.before["cut off"].calls == 2


async def test_a_smaller_budget_keeps_what_is_paid_and_asks_nothing_more() -> None:
    memory, unsure = DictMemory(), cheap(lambda _: 3.0)

    async def judged(budget: str, texts: Sequence[Segment]) -> tuple[list[bool], list[str]]:
        with (meter := Meter()).kept_in(memory):
            judges = unsure, PayingJudge("dear", meter), PayingJudge("dearer", meter)
            of = panel(*judges, budget=parse_budget(budget), memory=memory, meter=meter)
            found = [one.report.unasked is None for one in await results(of, texts)]
            return found, judges[1].asked + judges[2].asked

    assert await judged("6calls", TEXTS[:3]) == ([True] * 3, ["s0", "s1", "s2"] * 2)
    assert await judged("2calls", TEXTS) == ([True] * 3 + [False] * 3, [])


async def test_a_budget_that_ends_within_a_stage_ends_it() -> None:
    memory, unsure = DictMemory(), cheap(lambda _: 3.0)
    with (meter := Meter()).kept_in(memory), meter.holding("calls", 3):
        dear, dearer = PayingJudge("dear", meter), PayingJudge("dearer", meter)
        of = panel(unsure, dear, dearer, budget=parse_budget("4calls"), memory=memory, meter=meter)
        first, second = await results(of, TEXTS[:2])
    assert first.report.unasked is None
    assert second.report.unasked is not None
    assert second.report.unasked.reason == "3 calls are spent, and 3 is the budget."
