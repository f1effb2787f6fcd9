"""A pair judge is asked in both orders; what it or its model does wrong costs one report."""

from asyncio import CancelledError  # noqa: TID251 - what others' code may let out

import pytest
from fakes.judges import ASPECT, FixedJudge, PanicError, mark, panel_of, segment
from fakes.pairs import TIE, A, B, ScriptedPairJudge, pair, preferring

from spanjury.judges.core import (
    Aspect,
    Comparison,
    ConfigError,
    JudgeError,
    ModelTimeoutError,
    Outcome,
    PairJudge,
    PairReport,
    PluginError,
    Preference,
    Report,
    RunFailedError,
    RunStoppedError,
    Segment,
    TextPair,
)
from spanjury.orchestration.engine.comparing import PairSeat, PanelDifference
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.wiring.checks import checked_pair_judge
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.pair_judges import open_pair_judge


def compared(judge: PairJudge) -> PairSeat:
    return PairSeat(name="judge", judge=judge)


async def test_a_judge_sees_each_text_first_once() -> None:
    judge = ScriptedPairJudge(lambda shown: preferring(A if shown.a.segment_id == "b" else B, 0.9))
    comparison = await compared(judge).compare(pair(), ASPECT)
    assert judge.seen == ["a", "b"]
    assert [report.preference for report in comparison.orders] == [B, B]
    assert [report.probability for report in comparison.orders] == [0.9, pytest.approx(0.1)]
    assert (comparison.preference, comparison.consistent) == (B, True)


async def test_a_judge_that_no_order_sways_is_asked_once() -> None:
    judge = ScriptedPairJudge(lambda _: preferring(A), is_order_free=True)
    comparison = await compared(judge).compare(pair(), ASPECT)
    assert judge.seen == ["a"]
    assert (comparison.preference, comparison.consistent) == (A, None)


@pytest.mark.parametrize(
    ("wrong", "outcome", "reason"),
    [
        (ModelTimeoutError("60 s"), Outcome.TIMED_OUT, "60 s"),
        (JudgeError("no idea"), Outcome.BACKEND_FAILED, "no idea"),
        (ZeroDivisionError("oh"), Outcome.BACKEND_FAILED, "own code failed"),
        (SystemExit(3), Outcome.BACKEND_FAILED, "own code failed: SystemExit(3)"),
        (CancelledError(), Outcome.BACKEND_FAILED, "it awaited a task that was cancelled"),
        ("A", Outcome.BACKEND_FAILED, "not a PairReport"),
        (PairReport(preference=A, usage=None), Outcome.BACKEND_FAILED, "None as usage"),  # type: ignore[arg-type]  # another's code
        (
            PairReport(preference=A, spans_a=(mark("Some other text", "other"),)),
            Outcome.BACKEND_FAILED,
            "of the output is not",
        ),
        (PairReport(preference=A, spans_b=("Some",)), Outcome.BACKEND_FAILED, "not ErrorSpan"),  # type: ignore[arg-type]
        (PanicError("rust"), Outcome.BACKEND_FAILED, "own code failed: PanicError('rust')"),
    ],
)
async def test_a_failure_costs_the_preference_and_keeps_its_reason(
    wrong: object, outcome: Outcome, reason: str
) -> None:
    comparison = await compared(ScriptedPairJudge(lambda _: wrong)).compare(pair(), ASPECT)
    assert (comparison.outcome, comparison.preference) == (outcome, None)
    assert reason in comparison.reason


async def test_a_pair_without_the_source_that_an_aspect_needs_is_not_compared() -> None:
    judge = ScriptedPairJudge(lambda _: preferring(A))
    aspect = Aspect(
        name=ASPECT.name, task=ASPECT.task, definition="x", kind="grounding", needs=("Article",)
    )
    bare = [Segment(segment_id=name, output=name, inputs={}) for name in "ab"]
    comparison = await compared(judge).compare(TextPair(a=bare[0], b=bare[1]), aspect)
    assert comparison.outcome is Outcome.ABSTAINED
    assert judge.seen == []


async def test_what_ends_a_run_is_not_turned_into_a_report() -> None:
    judge = ScriptedPairJudge(lambda _: RunStoppedError("limit"))
    with pytest.raises(RunStoppedError, match="limit"):
        await compared(judge).compare(pair(), ASPECT)


class Lengths:
    """Scores a text by its length, and notes what it was shown."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    @property
    def signature(self) -> str:
        return "lengths"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        del aspect
        self.seen.append(segment.segment_id)
        spans = (mark(segment.output, segment.output[:2]),)
        return Report(score=min(5, len(segment.output)), spans=spans)


def panel(judge: object) -> Panel:
    return panel_of(judge, names=["seat"])  # type: ignore[arg-type]  # a judge by its shape


@pytest.mark.parametrize(
    ("a", "b", "margin", "preference"),
    [("xxx", "xx", 0.0, A), ("xx", "xxx", 0.0, B), ("xx", "yy", 0.0, TIE), ("xx", "xxx", 1.0, TIE)],
)
async def test_the_text_that_a_panel_scores_higher_is_preferred(
    a: str, b: str, margin: float, preference: Preference
) -> None:
    judge = PanelDifference(panel(Lengths()), margin=margin)
    comparison = await compared(judge).compare(pair(a, b), ASPECT)
    assert comparison.preference is preference
    assert comparison.consistent is None
    assert comparison.spans_a[0].text == a[:2]
    assert f"A scores {len(a)}.00" in comparison.explanation


async def test_a_panel_assesses_a_text_once_however_many_pairs_it_stands_in() -> None:
    judge = Lengths()
    seat = compared(PanelDifference(panel(judge)))
    texts = [segment(name, name * 3) for name in "abc"]
    for first, second in ((0, 1), (0, 2), (1, 2)):
        await seat.compare(TextPair(a=texts[first], b=texts[second]), ASPECT)
    assert sorted(judge.seen) == ["a", "b", "c"]


async def test_a_text_without_a_score_leaves_no_preference() -> None:
    failing = FixedJudge(says=ModelTimeoutError("late"))
    comparison = await compared(PanelDifference(panel(failing))).compare(pair(), ASPECT)
    assert comparison.outcome is Outcome.TIMED_OUT
    assert comparison.reason.startswith("text A: ")


@pytest.mark.parametrize("error", [RunFailedError("no key"), RunStoppedError("limit")])
async def test_what_ends_a_run_ends_the_comparison_of_scores_too(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)):
        await compared(PanelDifference(panel(FixedJudge(says=error)))).compare(pair(), ASPECT)


def test_a_negative_margin_is_refused() -> None:
    with pytest.raises(ValueError, match="margin"):
        PanelDifference(panel(Lengths()), margin=-1)


@pytest.mark.parametrize("made", [object(), FixedJudge(says=Report(score=1))])
def test_what_cannot_compare_is_refused_at_the_door(made: object) -> None:
    with pytest.raises(PluginError, match="lacks (a signature|compare)"):
        checked_pair_judge(made, "x")


async def test_the_offline_panel_compares_without_a_model() -> None:
    async with open_pair_judge("panel", PanelConfig(), memory=None, meter=Meter()) as seat:
        comparison: Comparison = await seat.compare(pair(), ASPECT)
    assert (seat.name, comparison.preference) == ("panel", A)
    assert [span.text for span in comparison.spans_b] == ["1935"]


@pytest.mark.parametrize(
    ("spec", "config", "problem"),
    [
        ("comparer", PanelConfig(), "asks one model, got none"),
        ("comparer", PanelConfig(models=("embedded", "x")), "asks one model, got 2"),
        ("panels", PanelConfig(), "comparer"),
        ("panel:margin=big", PanelConfig(), "margin"),
        ("panel:wide=1", PanelConfig(), "no option 'wide'"),
    ],
)
async def test_a_pair_judge_that_cannot_be_opened_says_why(
    spec: str, config: PanelConfig, problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        async with open_pair_judge(spec, config, memory=None, meter=Meter()):
            pass
