"""Agreement weighed by the chances with which texts were drawn."""

from collections.abc import Sequence

import numpy as np
import pytest
from fakes.seat_words import word

from spanjury.orchestration.studies.panel_study.seats import (
    PanelSeats,
    Settings,
    StudyText,
    chances_notes,
    panel_seats,
    weighed,
)

PLAIN = Settings(draws=0)


def seats(*texts: tuple[float, float | None, str], sources: Sequence[str] = ()) -> PanelSeats:
    """Return the seat `one` on texts of people's score, its own, and a group."""
    return panel_seats(
        [
            StudyText(
                system="",
                source=sources[number] if sources else str(number),
                group=group,
                human=human,
                seats={"one": word(score), "two": word(score)},
            )
            for number, (human, score, group) in enumerate(texts)
        ],
        aspect="consistency",
        costs={},
    )


FOUR = ((1, 1, ""), (2, 3, ""), (3, 2, ""), (4, 4, ""))


def test_agreement_is_that_of_the_texts_that_each_stands_for() -> None:
    panel = seats(*FOUR)
    line = panel.scores[0]
    alike = weighed(line, panel, weights=np.ones(4), settings=PLAIN)
    assert alike.value == pytest.approx(0.8)  # 1 - 6 * 2 / (4 * 15)
    assert np.isnan([alike.low, alike.high]).all()
    # The third text stands for nearly none, and the others are in order.
    light = weighed(line, panel, weights=np.array([1, 1, 1e-9, 1]), settings=PLAIN)
    assert light.value == pytest.approx(1.0, abs=1e-6)


def test_groups_are_averaged_and_texts_without_a_score_left_out() -> None:
    texts = [(1, 1, "x"), (2, 2, "x"), (1, 2, "y"), (2, 1, "y"), (5, None, "y")]
    panel = seats(*texts)
    found = weighed(panel.scores[0], panel, weights=np.array([1, 2, 1, 3, 9]), settings=PLAIN)
    assert found.value == pytest.approx(0.0)  # 1 in x, -1 in y


def test_the_interval_draws_whole_sources() -> None:
    texts = FOUR * 6
    alike = seats(*texts, sources=["a"] * 12 + ["b"] * 12)
    line = alike.scores[0]
    settings = Settings(draws=50)
    found = weighed(line, alike, weights=np.ones(24), settings=settings)
    assert np.isnan([found.low, found.high]).all()  # both sources have the same texts
    apart = weighed(line, seats(*texts), weights=np.ones(24), settings=settings)
    assert apart.low < apart.value < apart.high


def test_the_note_names_the_panel_and_each_seat() -> None:
    said = [*chances_notes(seats(*FOUR), PLAIN, chances=[0.5, 0.5, 0.25, 0.25])]
    assert said[0].startswith("4 texts were drawn for people with different chances")
    # The last two texts twice: scipy's spearmanr([1, 2, 3, 3, 4, 4], [1, 3, 2, 2, 4, 4]) is 9 / 11.
    assert "the agreement of all seats is 0.818; of single seats: one 0.818, two 0.818" in said[1]


def test_nothing_is_weighed_without_every_chance() -> None:
    assert len([*chances_notes(seats(*FOUR), PLAIN, chances=[0.5, 0.25, 0.5, None])]) == 1
    assert not [*chances_notes(seats(*FOUR), PLAIN, chances=[0.5] * 4)]
