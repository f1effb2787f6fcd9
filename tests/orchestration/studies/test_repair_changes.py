"""The measures of a repair, on texts short enough to count by hand."""

import pytest

from spanjury.orchestration.studies.repair.attempts import Changes, changes, inventions, put_in

CLEAN = "The bridge opened in May and it was not cheap."
PLANTED = "The bridge opened in June and it was not cheap."
LEFT_OUT = "The bridge opened in May and it was cheap."


def of(repaired: str, *, damaged: str = PLANTED, clean: str = CLEAN) -> tuple[int, ...]:
    """Return what was removed and restored of one error, then words changed and added."""
    counted = changes(clean, damaged, repaired)
    assert counted.planted == 1
    return counted.removed, counted.restored, counted.changed, counted.added


@pytest.mark.parametrize(
    ("repaired", "expected"),
    [
        (PLANTED, (0, 0, 0, 0)),
        (CLEAN, (1, 1, 0, 0)),
        ("The bridge opened in spring and it was not cheap.", (1, 0, 0, 0)),
        ("The bridge opened and it was not cheap.", (1, 0, 1, 0)),
        ("The bridge opened in June and it was not dear.", (0, 0, 1, 0)),
        ("The bridge opened in June and it was really not cheap.", (0, 0, 0, 1)),
        ("A tower closed in May and it was not cheap.", (1, 1, 3, 0)),
    ],
)
def test_a_wrong_word_is_gone_or_right_again_and_others_are_spared_or_not(
    repaired: str, expected: tuple[int, ...]
) -> None:
    assert of(repaired) == expected


@pytest.mark.parametrize(
    ("repaired", "expected"),
    [
        (LEFT_OUT, (0, 0, 0, 0)),
        (CLEAN, (1, 1, 0, 0)),
        ("The bridge opened in May and it was never cheap.", (1, 0, 0, 0)),
        ("The bridge opened in May and it was.", (0, 0, 1, 0)),
    ],
)
def test_any_insertion_in_its_position_repairs_an_omission(
    repaired: str, expected: tuple[int, ...]
) -> None:
    assert of(repaired, damaged=LEFT_OUT) == expected


def test_a_word_said_twice_may_be_taken_away_at_either_place() -> None:
    assert of("It was cheap.", damaged="It was was cheap.", clean="It was cheap.") == (1, 1, 0, 0)


def test_a_clean_text_has_nothing_to_remove_and_every_word_to_lose() -> None:
    assert changes(CLEAN, CLEAN, "The bridge opened in May.") == Changes(
        planted=0, removed=0, restored=0, words=10, changed=5, added=0
    )


def test_places_that_were_put_in_are_found_in_the_new_text() -> None:
    before, after = "It opened in June, they say.", "It opened in May, they say."
    assert [after[start:end] for start, end in put_in(before, after)] == ["May"]
    assert put_in(before, "It opened, they say.") == ()


def test_an_invention_is_a_name_or_a_number_from_nowhere() -> None:
    source = "Ulm built it in 1932."
    assert inventions("It opened in 1935.", "It opened in 1932 in Ulm.", source=source) == 0
    assert inventions("It opened in 1935.", "It opened in 1936 for Bonn.", source=source) == 2
    assert inventions("It opened in 1935.", "It opened long ago.", source=source) == 0
