"""Kept results of texts and words stay within their bound, whatever comes."""

import threading

from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.text.kept import KeptByText, KeptByWord


@given(st.lists(st.text(alphabet="ab", max_size=12), max_size=60), st.integers(0, 20))
def test_the_kept_texts_never_exceed_the_bound_or_the_latest(texts: list[str], most: int) -> None:
    length = KeptByText(len, most=most)
    for text in texts:
        assert length(text) == len(text)
        assert length.size <= max(most, len(text))


def test_a_text_that_came_again_outlives_one_that_did_not() -> None:
    made: list[str] = []
    kept = KeptByText(made.append, most=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        kept(text)
    assert made == ["a", "b", "c", "b"]


def test_a_text_longer_than_the_bound_is_kept_while_it_is_the_latest() -> None:
    made: list[str] = []
    kept = KeptByText(made.append, most=2)
    for text in ("long", "long", "a", "long"):
        kept(text)
    assert made == ["long", "a", "long"]


def test_threads_share_what_is_kept_and_its_size_stays_right() -> None:
    length = KeptByText(len, most=50)
    texts = [str(number) * (1 + number % 9) for number in range(200)]
    threads = [threading.Thread(target=lambda: [*map(length, texts * 5)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert length.size <= 50
    assert length("last") == 4


def test_overlong_words_are_not_kept() -> None:
    size = KeptByWord(len)
    assert size["x" * 100_000] == 100_000
    assert not size


def test_the_number_of_words_is_bounded() -> None:
    size = KeptByWord(len)
    for number in range(100_000):
        size[str(number)]
    assert len(size) < 40_000
    assert size["7"] == 1
