"""Texts that a rule may take from: those of other inputs, from the next one on."""

from collections.abc import Sequence

import pytest

from spanjury.judges.core import Segment
from spanjury.perturbations.others import OtherTexts, other_texts

TEXTS = ("One.", "Two.", "  ", "One.", "Five.")


def others(*, inputs: Sequence[str], tasks: Sequence[str] | None = None) -> list[OtherTexts]:
    return [
        *other_texts(
            Segment(segment_id=str(number), task=task, output=output, inputs={"Source": source})
            for number, (output, source, task) in enumerate(
                zip(TEXTS, inputs, tasks or ["a"] * len(TEXTS), strict=True)
            )
        )
    ]


def test_texts_of_other_inputs_come_from_the_next_one_on_and_round() -> None:
    texts = others(inputs="abcad")
    assert ([*texts[0]], [*texts[1]]) == (["Two.", "  ", "Five."], ["  ", "One.", "Five.", "One."])
    assert [*texts[3]] == ["Five.", "Two.", "  "]
    assert [len(other) for other in texts] == [3, 4, 4, 3, 4]


def test_an_index_and_a_slice_give_what_iterating_gives() -> None:
    for other in others(inputs="abcad"):
        texts = [*other]
        assert [other[index] for index in range(-len(other), len(other))] == texts * 2
        assert [*other[1:3]] == texts[1:3]
        with pytest.raises(IndexError):
            other[len(other)]


def test_unlike_are_those_with_words_that_are_not_the_text() -> None:
    texts = others(inputs="abcde")
    assert [*texts[0].unlike("One.")] == ["Two.", "Five."]
    assert [*texts[3].unlike("One.")] == ["Five.", "Two."]
    assert [*texts[1].unlike("in no row")] == ["One.", "Five.", "One."]
    assert [texts[1].unlike("Five.")[index] for index in (0, 1, -1)] == ["One.", "One.", "One."]


def test_texts_of_other_tasks_are_not_among_the_others() -> None:
    texts = others(inputs="abcde", tasks="xyxyx")
    assert ([*texts[0]], [*texts[3]]) == (["  ", "Five."], ["Two."])


def test_texts_that_all_have_one_input_have_no_others() -> None:
    assert [len(other) for other in others(inputs="aaaaa")] == [0] * 5
    assert not others(inputs="aaaaa")[0].unlike("One.")
