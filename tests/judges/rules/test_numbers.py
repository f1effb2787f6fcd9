"""Numbers: what numerals and number words are worth."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.rules.numbers import Number, numbers


def test_numbers_are_read_from_words() -> None:
    for text, values in [
        ("1200", [1200]),
        ("twelve hundred", [1200]),
        ("two hundred and six people", [206]),
        ("twenty five of thirty", [25, 30]),
        ("two three", [2, 3]),
        ("1.5 million and 3 bn", [1.5e6, 3e9]),
        ("one hundred thousand", [100_000]),
        ("two dozen", [24]),
        ("one of them", []),
        ("zero risk", []),
        ("m and k", []),
        ("1.2.3", [float("inf")]),
        ("9" * 400, [float("inf")]),
        ("half a million", [1e6]),
    ]:
        assert [number.value for number in numbers(text.split())] == values, (text, values)


def test_a_number_tells_its_words_and_whether_it_is_spelled() -> None:
    assert list(numbers(["about", "four", "million", "5", "m"])) == [
        Number(first=1, stop=3, value=4e6, spelled=True),
        Number(first=3, stop=5, value=5e6, spelled=False),
    ]


WORDS = ("one", "two", "ten", "twenty", "hundred", "million", "and", "dozen", "m", "7", "0.5", "x")


@given(st.lists(st.sampled_from(WORDS)))
def test_numbers_never_overlap(folded: list[str]) -> None:
    read = list(numbers(folded))
    assert all(left.stop <= right.first for left, right in pairwise(read))
    assert all(number.first < number.stop <= len(folded) for number in read)
