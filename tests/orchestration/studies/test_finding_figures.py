"""The figures of one condition: the joint test, and differences of single scores."""

import math

import numpy as np
import pytest
from numpy.random import Generator
from numpy.typing import ArrayLike

from spanjury.judges.core import Scale
from spanjury.orchestration.studies.discernment.findings import (
    METHODS,
    Contrast,
    Settings,
    contrasts,
    evaluate_scores,
)
from spanjury.orchestration.studies.discernment.score_arrays import ScoreArrays
from spanjury.perturbations.pairs import Condition, Skipped
from spanjury.perturbations.perturbation import Perturbation, text_perturbation

ASPECTS = ("fluency", "coherence", "relevance")


@text_perturbation(
    family="characters", level="word", harms={"fluency", "coherence"}, spares={"relevance"}
)
def harm(text: str, rng: Generator) -> str:
    """Harm two aspects."""
    del rng
    return text + "!"


@text_perturbation(family="characters", level="word", spares={"fluency", "relevance"})
def leave_open(text: str, rng: Generator) -> str:
    """Promise nothing of coherence."""
    del rng
    return text + "?"


@text_perturbation(family="invariance", level="word", spares={"*"})
def spare(text: str, rng: Generator) -> str:
    """Harm nothing."""
    del rng
    return text + "."


def joint(
    differences: ArrayLike, *, of: Perturbation = harm, seed: int = 1, draws: int = 20_000
) -> float:
    """Return the joint D of drops of the three aspects."""
    values = np.array(differences, dtype=np.float64)
    clean = np.full(values.shape, 4.0)
    score_arrays = ScoreArrays(
        segments=tuple(str(number) for number in range(values.shape[1])),
        aspects=ASPECTS,
        conditions=("made-up",),
        clean=clean,
        control=clean,
        damaged=(clean - values)[np.newaxis],
        applied=np.ones((1, values.shape[1]), dtype=bool),
        repeats=1,
    )
    findings = evaluate_scores(
        score_arrays,
        [Condition(name="made-up", perturbation=of, level="word")],
        [Skipped(segment_id="0", condition="made-up", reason="its damage is made up")],
        judgements={},
        scales=dict.fromkeys(ASPECTS, Scale()),
        settings=Settings(seed=seed, draws=draws),
    )
    return findings.findings[0].joint


FALLS = [1.0, 1.0, 1.0, 1.0, 0.0]
STAYS = [0.0] * 5
NONE = [math.nan] * 5
SIXTEENTH = math.log(16, 20)
"""D where four of four fall: p = 1/16."""


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([FALLS, STAYS, STAYS], SIXTEENTH),
        ([FALLS, FALLS, STAYS], SIXTEENTH),  # two aspects that say the same are no more sure
        ([FALLS, NONE, STAYS], SIXTEENTH),
        ([STAYS, STAYS, FALLS], 0),  # what is not damaged does not count
        ([NONE, NONE, FALLS], math.nan),
    ],
)
def test_the_joint_test_is_of_the_aspects_that_should_fall(
    differences: list[list[float]], expected: float
) -> None:
    assert joint(differences) == pytest.approx(expected, abs=0.03, nan_ok=True)


def test_aspects_that_fall_on_other_texts_are_surer_together() -> None:
    one, other = [1.0] * 4 + [0.0] * 4, [0.0] * 4 + [1.0] * 4
    assert joint([one, other, [0.0] * 8]) == pytest.approx(math.log(2**8, 20), abs=0.1)


def test_the_joint_test_covers_what_may_fall_if_no_aspect_is_damaged() -> None:
    assert joint([STAYS, FALLS, FALLS], of=leave_open) == pytest.approx(SIXTEENTH, abs=0.03)
    assert math.isnan(joint([FALLS, FALLS, FALLS], of=spare))


def test_the_joint_test_is_reproducible_and_ends_at_its_stated_limit() -> None:
    differences = [[1.0, 1.0, 2.0, -1.0, 1.0], [0.0, 1.0, 1.0, 1.0, -1.0], STAYS]
    assert joint(differences, draws=500) == joint(differences, draws=500)
    assert joint(differences, draws=500) != joint(differences, draws=500, seed=2)
    assert joint([[1.0] * 40] * 3, draws=10_000) == pytest.approx(math.log(10_001, 20))


def described(differences: ArrayLike, *, repeats: int) -> Contrast:
    """Describe drops of single scores that were each said `repeats` times."""
    fell = np.array([differences], dtype=np.float64) * repeats
    clean = np.full(fell.shape, 4.0 * repeats)
    (contrast,) = contrasts(
        clean,
        clean - fell,
        scales={"fluency": Scale()},
        expected=lambda _: "unchanged",
        method=METHODS["calibrated"],
        repeats=repeats,
        rng=np.random.default_rng(1),
        draws=100,
    )
    return contrast


@pytest.mark.parametrize("differences", [[0.0, 1.0, 0.0, -1.0, 1.0, 0.0], [1.0] * 6])
def test_differences_are_those_of_single_scores(differences: list[float]) -> None:
    once, often = described(differences, repeats=1), described(differences, repeats=5)
    assert once.equivalence is not None
    assert often.equivalence is not None
    assert often.equivalence.verdict == once.equivalence.verdict
    assert often.equivalence[1:] == pytest.approx(once.equivalence[1:])
    assert often.effects == pytest.approx(once.effects)
    assert often.on_scale == pytest.approx(once.on_scale)
