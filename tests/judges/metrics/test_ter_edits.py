"""The edits of TER: those of sacrebleu, of any words, within its band and beyond it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.lib_ter import BeamEditDistance, translation_edit_rate

from spanjury.judges.metrics.edits.ter import band_alignment, fewest_edits

FEW = st.lists(st.sampled_from("abcde"), max_size=20)
LONG = st.lists(st.sampled_from("abcdefghijkl"), min_size=30, max_size=60)


def edits(output: list[str], reference: list[str]) -> int:
    return translation_edit_rate(output, reference)[0]


@given(output=FEW, references=st.lists(FEW, min_size=1, max_size=3))
def test_edits_are_those_of_sacrebleu(output: list[str], references: list[list[str]]) -> None:
    assert fewest_edits(output, references) == min(
        edits(output, reference) for reference in references
    )


@pytest.mark.heavy
@given(output=LONG, reference=LONG)
@settings(max_examples=5)
def test_edits_of_long_texts_agree_with_sacrebleu(output: list[str], reference: list[str]) -> None:
    assert fewest_edits(output, [reference]) == edits(output, reference)


@pytest.mark.parametrize(
    ("output", "reference"),
    [
        # thirty words further on than the band is wide: only within it, nothing is alike
        ([*"abcdefghij" * 4], [*"0123456789" * 4, *"abcdefghij" * 4]),
        ([*"0123456789" * 4, *"abcdefghij" * 4], [*"abcdefghij" * 4, *"9876543210" * 4]),
        # more words than sixty times as many
        (["a", "b"], [*"abcdefghij" * 13]),
        ([*"abcdefghij" * 13], ["b", "a"]),
        # each word is everywhere: the search ends with its thousandth shift
        (["a", "b"] * 30, ["b", "a", "a"] * 20),
    ],
)
def test_edits_at_the_borders_agree_with_sacrebleu(output: list[str], reference: list[str]) -> None:
    assert fewest_edits(output, [reference]) == edits(output, reference)


@given(
    output=st.text("abcdef", min_size=1, max_size=80),
    reference=st.text("abcdef", min_size=1, max_size=80),
)
@settings(max_examples=50)
def test_an_alignment_is_that_of_sacrebleu(output: str, reference: str) -> None:
    distance, trace = BeamEditDistance([*reference])([*output])
    alignment = band_alignment(output, reference)
    assert alignment.edits == distance
    # the steps that take a word of the output, and those that take one of the reference
    assert alignment.wrong == [step != " " for step in trace if step != "i"]
    assert alignment.missed == [step != " " for step in trace if step != "d"]
