"""An exam run: who is judged on what, in which draw, and what is kept of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import product

import pytest
from fakes.judges import ASPECT, TASK, FixedJudge, mark, panel_of, segment
from numpy.random import Generator

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Judge,
    Outcome,
    Report,
    Result,
    RunStoppedError,
    Segment,
    TransientModelError,
)
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.studies.discernment.score_arrays import (
    Judgements,
    ScoreRow,
    score_rows,
    score_sum,
)
from spanjury.orchestration.studies.judging import ExamRun, Judgement, Recorder, judgement_of
from spanjury.perturbations.pairs import Condition, PerturbedPair, perturbed_pairs
from spanjury.perturbations.perturbation import text_perturbation

FLUENCY = replace(ASPECT, name="fluency")
TEXT = Segment(segment_id="t", output="A text.", inputs={"Article": "Long."}, task="summarization")
READS_WELL = Aspect(name="fluency", task=TASK, definition="It reads well.", kind="form")


@dataclass(slots=True)
class Opened:
    """Opens a panel with one judge, and notes for which draws."""

    judge: Judge
    draws: list[str] = field(default_factory=list)
    closed: int = 0

    @asynccontextmanager
    async def __call__(self, draw: str) -> AsyncIterator[Panel]:
        self.draws.append(draw)
        yield panel_of(self.judge, names=["only"])
        self.closed += 1


@dataclass(frozen=True, slots=True)
class LengthJudge:
    """Scores a text by its length."""

    signature: str = "length"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        return Report(score=len(segment.output) + (aspect.name == "fluency"))


async def judged(
    panel: Opened, *segments: Segment, stop_token: StopToken | None = None
) -> tuple[dict[tuple[str, str], Judgement], list[Result]]:
    shown: list[Result] = []
    run = ExamRun(
        open_panel=panel,
        workers=2,
        stop_token=stop_token or StopToken(),
        record=Recorder(shown.append),
    )
    results = await run.judge(product(segments, (ASPECT, FLUENCY)), draw="control-1")
    return {key: judgement_of(result.report) for key, result in results.items()}, shown


async def test_every_text_is_judged_on_every_aspect_and_shown_in_order() -> None:
    panel = Opened(LengthJudge())
    judgements, shown = await judged(panel, segment("a", "So"), segment("b", "Yes"))
    assert {key: judgement.score for key, judgement in judgements.items()} == {
        ("a", "consistency"): 2,
        ("a", "fluency"): 3,
        ("b", "consistency"): 3,
        ("b", "fluency"): 4,
    }
    assert [(one.segment.segment_id, one.aspect.name) for one in shown] == list(judgements)


async def test_the_panel_is_opened_once_for_the_draw_and_closed() -> None:
    panel = Opened(LengthJudge())
    await judged(panel, segment("a"), segment("b"))
    assert (panel.draws, panel.closed) == (["control-1"], 1)


async def test_only_located_spans_are_kept() -> None:
    one = segment("a")
    lost = ErrorSpan(text="Not there.", explanation="It was made up.", severity=2)
    report = Report(score=2, spans=(mark(one.output, "1935"), lost))
    judgements, _ = await judged(Opened(FixedJudge(says=report)), one)
    start = one.output.index("1935")
    assert judgements["a", "fluency"] == Judgement(
        score=2, outcome=Outcome.SCORED, spans=((start, start + 4),)
    )


async def test_a_judge_that_fails_gives_no_score_and_ends_nothing() -> None:
    judge = FixedJudge(says=TransientModelError("gone"))
    judgements, _ = await judged(Opened(judge), segment("a"), segment("b"))
    assert len(judgements) == 4
    assert set(judgements.values()) == {
        Judgement(score=None, outcome=Outcome.BACKEND_FAILED, spans=())
    }


async def test_once_a_stop_is_requested_no_text_is_judged() -> None:
    stop_token, judge = StopToken(), FixedJudge(says=AssertionError("it is asked"))
    stop_token.request("enough")
    with pytest.raises(RunStoppedError, match="enough"):
        await judged(Opened(judge), segment("a"), stop_token=stop_token)
    assert stop_token.interrupted


@text_perturbation(family="characters", level="character", harms={"fluency"})
def shout(text: str, rng: Generator) -> str:
    """Shout."""
    del rng
    return text.upper()


SHOUT = Condition(name="shout", perturbation=shout, level="character")


def said(score: float | None) -> Judgement:
    outcome = Outcome.SCORED if score is not None else Outcome.REFUSED
    return Judgement(score=score, outcome=outcome, spans=())


def rows_of(
    clean: list[float | None], damaged: list[float | None], *, segment: Segment = TEXT
) -> list[ScoreRow]:
    shown = [
        one for one in perturbed_pairs([segment], [SHOUT], seed=1) if isinstance(one, PerturbedPair)
    ]
    draws: list[Judgements] = [
        {("t", "fluency"): said(before), ("t#shout", "fluency"): said(after)}
        for before, after in zip(clean, damaged, strict=True)
    ]
    control: list[Judgements] = [{("t", "fluency"): said(3.0)} for _ in clean]
    lines = score_rows(
        [segment], [READS_WELL], shown, draws=draws, control=control, conditions=[SHOUT]
    )
    return list(lines)


def test_a_text_has_a_row_for_the_control_and_one_a_condition() -> None:
    control, shouted = rows_of([4.0, 5.0], [2.0, 1.0])
    assert (control.condition, control.expected) == (None, "unchanged")
    assert (control.clean, control.damaged, control.repeats) == (9, 6, 2)
    assert (shouted.condition, shouted.expected) == ("shout", "falls")
    assert (shouted.clean, shouted.damaged, shouted.repeats) == (9, 3, 2)
    assert shouted.damaged_outcome is Outcome.SCORED


def test_a_score_that_is_missing_once_is_missing_and_the_outcome_says_why() -> None:
    _, shouted = rows_of([4.0, 5.0], [2.0, None])
    assert (shouted.clean, shouted.damaged) == (9, None)
    assert shouted.clean_outcome is Outcome.SCORED
    assert shouted.damaged_outcome is Outcome.REFUSED


def test_a_digest_changes_with_all_that_a_judge_may_see_and_nothing_else() -> None:
    control, shouted = rows_of([4.0], [4.0])
    assert control.clean_digest == control.damaged_digest == shouted.clean_digest
    assert shouted.damaged_digest != shouted.clean_digest
    for change in (
        replace(TEXT, output="Another text."),
        replace(TEXT, inputs={"Article": "Longer."}),
        replace(TEXT, references=("What it should be.",)),
    ):
        _, other = rows_of([4.0], [4.0], segment=change)
        assert other.clean_digest != shouted.clean_digest
        assert other.damaged_digest != shouted.damaged_digest
    _, same = rows_of([4.0], [4.0], segment=replace(TEXT, meta={"seen": False}, system="ours"))
    assert (same.clean_digest, same.damaged_digest) == (
        shouted.clean_digest,
        shouted.damaged_digest,
    )


def test_sums_of_the_same_scores_tie_in_whatever_order_and_whatever_way() -> None:
    def total(*scores: float) -> float | None:
        return score_sum(("t", "fluency"), [{("t", "fluency"): said(score)} for score in scores])

    assert total(0.1, 0.2, 0.3) == total(0.3, 0.2, 0.1) == total(0.2, 0.2, 0.2)
