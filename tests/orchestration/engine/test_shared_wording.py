"""Explanations that are alike by the words that they share, which no library need say."""

import rapidfuzz
from hypothesis import example, given
from hypothesis import strategies as st

from spanjury.orchestration.engine.rule_consolidator import alike_by_shared_words

WORDS = ["the", "The", "source", "says", "'1932'", "don't", "a_b", "of,", "in", "é", "-", "\t", ""]
EXPLANATIONS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


@given(one=EXPLANATIONS, other=EXPLANATIONS)
@example(one="a b", other="a cd")
@example(one="", other="")
def test_texts_alike_by_shared_words_are_alike_to_rapidfuzz(one: str, other: str) -> None:
    ratio = rapidfuzz.fuzz.token_set_ratio(one, other, processor=rapidfuzz.utils.default_process)
    assert ratio >= 50.0 or not alike_by_shared_words(one, other)


def test_half_of_the_words_in_common_are_enough() -> None:
    assert alike_by_shared_words("The source says: 1932.", "the SOURCE says eight of them")
    assert not alike_by_shared_words("The source says: 1932.", "the number is not known here")
    assert not alike_by_shared_words("", "")
    assert not alike_by_shared_words("Le pré est vert.", "Le pré est vert.")  # rapidfuzz says that
