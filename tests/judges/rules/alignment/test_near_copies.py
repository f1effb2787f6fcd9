"""Near copies: what may be left out of a sentence, and what may not."""

import pytest

from spanjury.judges.rules.alignment.near_copies import are_near_copies

SIDES = "She spoke against pesticides and for compost."
SOURCE = (
    "The old ferry to Lund carried 40 cars on Monday, although the wind was strong. "
    "The harbour master said that the pier was damaged. "
    "Swimmers may enter the basin before noon unless the red flag flies. "
    "The crew did not find the rusty anchor near the pier. "
    "Between dusk and dawn, the gate is locked."
)


@pytest.mark.parametrize(
    "output",
    [
        "The ferry to Lund carried 40 cars.",
        "The old ferry to Lund carried 40 cars. The crew did not find the anchor.",
        "The harbour master said the pier was damaged.",
        "Near the pier, the crew did not find the rusty anchor.",
        SOURCE,
        "The gate is locked between dusk and dawn.",
        "40 cars were carried by the old ferry to Lund.",
        "The rusty anchor was not found by the crew near the pier.",
        "Unless the red flag flies, swimmers may enter the basin before noon.",
    ],
)
def test_a_text_that_only_leaves_words_out_is_a_near_copy(output: str) -> None:
    assert are_near_copies(output, {"News": SOURCE})


@pytest.mark.parametrize(
    "output",
    [
        "",
        "Cars carried the old ferry to Lund on Monday.",
        "The ferry to Lund carried 40 cars. The pilot slept.",
        "The pier was damaged.",
        "Swimmers may enter the basin before noon.",
        "Swimmers must enter the basin before noon.",
        "The crew found the anchor near the pier.",
        "The ferry to Lund carried at most 40 cars on Monday.",
        "Did the old ferry to Lund carry 40 cars on Monday?",
        "The old ferry to Lund was carried by 40 cars on Monday.",
        "The rusty anchor was found by the crew near the pier.",
        "All swimmers may enter the basin before noon unless the red flag flies.",
        "Some swimmers may enter the basin before noon unless the red flag flies.",
    ],
)
def test_a_text_that_changes_the_sense_is_none(output: str) -> None:
    assert not are_near_copies(output, {"News": SOURCE})


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("Returns are free.", "Returns are free, excluding furniture."),
        (
            "The Basic plan includes support.",
            "Unlike the Basic plan, the Pro plan includes support.",
        ),
        ("He answers letters.", "He rarely answers letters."),
        ("The battery lasts 12 hours.", "The battery lasts 12 hours at most."),
        ("I will send the bills by Friday.", "Please send me the bills by Friday."),
        ("The ferry carries 12 vans.", "The ferry carries 12 cars and 8 vans."),
        (
            "The last boat leaves at nine on Sundays.",
            "The last boat leaves at nine on weekdays, and at ten on Sundays.",
        ),
    ],
)
def test_a_copy_without_an_exception_a_bound_or_half_a_list_is_no_near_copy(
    output: str, source: str
) -> None:
    assert not are_near_copies(output, {"Source": source})


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("We meet at 4.", "We meet at 4, not 3."),
        ("The chair is Ann Roe.", "Correction: the chair is Ann Roe, not Ben Ost."),
    ],
)
def test_what_a_value_or_a_name_replaces_may_be_left_out(output: str, source: str) -> None:
    assert are_near_copies(output, {"Mail": source})


def test_an_exception_after_a_denial_may_not_be_left_out() -> None:
    source = {"Mail": "The shop opens at 4, not on holidays."}
    assert not are_near_copies("The shop opens at 4.", source)


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("Trains stop at the old mill.", "Few trains stop at the old mill."),
        ("A few trains stop at the old mill.", "Few trains stop at the old mill."),
        ("Few trains stop at the old mill.", "A few trains stop at the old mill."),
        ("The inn has a little wine.", "The inn has little wine."),
        ("Three guests slept in the barn.", "At most three guests slept in the barn."),
        ("More than 40 cars came.", "40 cars came."),
    ],
)
def test_a_bound_or_a_word_for_hardly_any_must_stay(output: str, source: str) -> None:
    assert not are_near_copies(output, {"News": source})


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("The girl slept in the barn.", "The little girl slept in the barn."),
        ("A few trains stop at the mill.", "A few trains stop at the old mill."),
        ("Few trains stop at the mill.", "Few trains stop at the old mill."),
    ],
)
def test_little_may_be_an_adjective(output: str, source: str) -> None:
    assert are_near_copies(output, {"News": source})


@pytest.mark.parametrize(
    ("output", "source"),
    [
        ("The lamp is turned on at night.", "The lamp is turned off at night."),
        ("She spoke for pesticides and against compost.", SIDES),
    ],
)
def test_an_exchanged_particle_or_side_changes_the_sense(output: str, source: str) -> None:
    assert not are_near_copies(output, {"Source": source})
    assert are_near_copies(source, {"Source": source})
