"""The raw scores of an exam, row by row."""

from dataclasses import replace

from fakes.judges import TASK
from numpy.random import Generator

from spanjury.judges.core import Aspect, Outcome, Segment
from spanjury.orchestration.studies.discernment.score_arrays import (
    Judgements,
    ScoreRow,
    score_rows,
    score_sum,
)
from spanjury.orchestration.studies.judging import Judgement
from spanjury.perturbations.pairs import Condition, PerturbedPair, perturbed_pairs
from spanjury.perturbations.perturbation import text_perturbation


@text_perturbation(family="characters", level="character", harms={"fluency"})
def shout(text: str, rng: Generator) -> str:
    """Shout."""
    del rng
    return text.upper()


SHOUT = Condition(name="shout", perturbation=shout, level="character")
TEXT = Segment(segment_id="t", output="A text.", inputs={"Article": "Long."}, task="summarization")
FLUENCY = Aspect(name="fluency", task=TASK, definition="It reads well.", kind="form")


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
        [segment], [FLUENCY], shown, draws=draws, control=control, conditions=[SHOUT]
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
