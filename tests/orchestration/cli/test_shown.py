"""The texts that a run shows."""

from dataclasses import replace

import pytest
from fakes.judges import ASPECT, segment

from spanjury.judges.core import ConfigError, Outcome, PanelReport, Result
from spanjury.orchestration.cli.shown import FIRST, Selector, Shown


def result(score: float | None, number: int) -> Result:
    outcome = Outcome.TIMED_OUT if score is None else Outcome.SCORED
    report = PanelReport(outcome=outcome, score=score, reason="slow" if score is None else "")
    return Result(segment=replace(segment(), segment_id=str(number)), aspect=ASPECT, report=report)


def selected(shown: str, *texts: tuple[float | None, ...]) -> tuple[list[int], list[int], int]:
    """Return which texts are shown at once, which at the end, and how many were left out."""
    selector = Selector(shown=Shown.parse(shown))
    groups = [[result(score, at) for score in scores] for at, scores in enumerate(texts)]
    now = [at for at, group in enumerate(groups) if selector.now(group)]
    late = [int(group[0].segment.segment_id) for group in selector.at_the_end()]
    return now, late, selector.left_out


TEXTS: tuple[tuple[float | None, ...], ...] = ((4, 5), (None, 5), (2, 3), (5, 1), (None,), (3, 3))


@pytest.mark.parametrize(
    ("shown", "now", "late"),
    [
        ("all", [0, 1, 2, 3, 4, 5], []),
        ("none", [], []),
        ("first:2", [0, 1], []),
        ("first:0", [], []),
        ("failures", [1, 4], []),
        ("worst:2", [], [3, 2]),
        ("worst:9", [], [3, 2, 5, 0, 1]),
    ],
)
def test_requested_texts_are_shown(shown: str, now: list[int], late: list[int]) -> None:
    assert selected(shown, *TEXTS) == (now, late, len(TEXTS) - len(now))


def test_among_equals_the_first_is_the_worst() -> None:
    assert selected("worst:2", (2,), (1,), (1,), (1,))[1] == [1, 2]


def test_a_few_are_shown_where_nothing_is_asked_for() -> None:
    assert Shown() == Shown.parse(f"first:{FIRST}")


@pytest.mark.parametrize("text", ["", "best", "first", "first:", "first:-1", "worst:x", "all:3"])
def test_an_invalid_choice_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--show takes all, none, failures, first:N or worst:N"):
        Shown.parse(text)
