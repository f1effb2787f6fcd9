"""Constants that are fitted to texts of which the errors are known."""

from math import log

import pytest
from fakes.window_reader import FakeWindowReader, contradicted

from spanjury.judges.reader.fitting import LEAST, MOST_ALARMS, CheckedText, fitted
from spanjury.judges.reader.tuning import Tuning

SOURCE = {"Article": "The ferry sails at noon. It carries cars."}
ENOUGH = 5 * LEAST


def text(word: str, *, faulty: bool) -> CheckedText:
    output = f"Boats leave {word} daily."
    start = output.index(word)
    spans = [(start, start + len(word))] if faulty else []
    return CheckedText(inputs=SOURCE, output=output, faulty=faulty, spans=spans)


def texts(faulty: str, clean: str, *, of_each: int = ENOUGH) -> list[CheckedText]:
    return [text(faulty, faulty=True)] * of_each + [text(clean, faulty=False)] * of_each


def reader(**suspected: float) -> FakeWindowReader:
    return FakeWindowReader(words={word: contradicted(share) for word, share in suspected.items()})


def log_odds(share: float) -> float:
    return log(share / (1 - share))


def test_the_probability_tells_what_was_wrong_from_what_was_not() -> None:
    tuning = fitted(reader(north=0.7, south=0.2), texts("north", "south"))
    assert tuning.probability(log_odds(0.2)) < 0.1
    assert tuning.probability(log_odds(0.7)) > 0.9


def test_a_mixed_reading_has_the_share_that_it_stood_for() -> None:
    """Of the texts that look like this, three in four had an error."""
    mixed = [
        *([text("north", faulty=True)] * 60 + [text("north", faulty=False)] * 20),
        *([text("south", faulty=True)] * 20 + [text("south", faulty=False)] * 60),
    ]
    tuning = fitted(reader(north=0.7, south=0.2), mixed)
    assert tuning.probability(log_odds(0.7)) == pytest.approx(0.75, abs=0.02)
    assert tuning.probability(log_odds(0.2)) == pytest.approx(0.25, abs=0.02)


def test_it_counts_as_if_half_of_the_texts_had_an_error() -> None:
    uneven = [text("north", faulty=True)] * 200 + [text("north", faulty=False)] * 50
    tuning = fitted(reader(north=0.7), uneven)
    assert tuning.probability(log_odds(0.7)) == pytest.approx(0.5, abs=0.02)


def test_few_texts_without_error_have_marked_words() -> None:
    """A tenth of them looks worse than all that is wrong: the gate lets no more than it pass."""
    few = int(MOST_ALARMS * ENOUGH)
    clean = [text("south", faulty=False)] * (ENOUGH - few) + [text("north", faulty=False)] * few
    tuning = fitted(reader(north=0.9, south=0.6), [*texts("north", "south")[:ENOUGH], *clean])
    assert 0.6 < tuning.sentence_threshold < 0.9


def test_the_word_threshold_is_that_whose_marks_agree_best() -> None:
    """Its neighbour is suspected less, and is not wrong."""
    tuning = fitted(reader(north=0.65, daily=0.45), texts("north", "south"))
    assert 0.45 < tuning.threshold <= 0.65


def test_a_text_of_copies_has_no_evidence() -> None:
    copied = CheckedText(inputs=SOURCE, output="The ferry sails at noon.", faulty=False)
    tuning = fitted(reader(north=0.7), [text("north", faulty=True), copied] * LEAST)
    assert tuning.probability(log_odds(0.7)) > 0.9


@pytest.mark.parametrize("clean", [0, LEAST - 1])
def test_with_too_few_texts_nothing_is_fitted(clean: int) -> None:
    few = [text("north", faulty=True)] * ENOUGH + [text("south", faulty=False)] * clean
    assert fitted(reader(north=0.7), few) == Tuning()


def test_the_probability_rises_with_the_evidence_even_if_that_was_misleading() -> None:
    """A slope of 0 or less would call the safest text the worst."""
    assert fitted(reader(north=0.7, south=0.2), texts("south", "north")).slope > 0
