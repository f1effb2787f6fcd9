"""Spellings: quantities that two texts write in different ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.text.spellings import Respelled, spellings_of

TEXT = st.text(st.sampled_from("12 :.,-apm€$%hg\n twelve"), max_size=40)


@pytest.mark.parametrize(
    ("own", "source"),
    [
        ("It closes at 19:30.", "It closes at 7.30 pm."),
        ("It closes at 7:30 p.m. sharp.", "It closes at 19:30 sharp."),
        ("twelve cars", "12 cars"),
        ("a forty-five-minute walk", "a 45-minute walk"),
        ("It takes 45 min.", "It takes 45 minutes."),
        ("30 percent of them", "30 per cent of them"),
        ("It costs EUR 5 or 2,400 USD.", "It costs EUR 5 or $2,400."),
        ("900 g", "900 grams"),
        ("On May 12, 2024 it fell.", "On 12 May 2024 it fell."),
        ("On the 3rd of June it fell.", "On the June 3 it fell."),
        ("12 May 2024 08:14", "2024-05-12 08:14"),
    ],
)
def test_a_quantity_is_spelled_as_in_the_source(own: str, source: str) -> None:
    assert Respelled(own, spellings_of([source])).text == source


@pytest.mark.parametrize(
    ("own", "source"),
    [
        ("It closes at 7:30.", "It closes at 7.30 pm."),
        ("45 seconds", "45 minutes"),
        ("twelve cars", "13 cars"),
        ("$5", "5 euros"),
        ("12 May", "12 May 2024"),
        ("3 May 2024", "2024-05-12"),
        ("12 cars and twelve vans", "twelve cars, 12 vans"),
    ],
)
def test_another_quantity_and_a_spelling_of_the_source_stay(own: str, source: str) -> None:
    assert Respelled(own, spellings_of([source])).text == own


@given(TEXT, TEXT)
def test_every_interval_leads_to_one_of_the_original_text(own: str, source: str) -> None:
    spelled = Respelled(own, spellings_of([source]))
    for token in spelled.tokens(offset=5):
        assert 5 <= token.start < token.end <= 5 + len(own)
    assert spelled.interval(0, len(spelled.text)) == (0, len(own))
