"""EED and CharacTER, compiled: the values that Python finds, for any texts."""

import sys
from itertools import pairwise

import pytest
from fakes.metric_texts import varied_samples
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import Sample
from spanjury.judges.metrics.edits import character, eed, native
from spanjury.judges.metrics.edits.character import Character
from spanjury.judges.metrics.edits.eed import Eed

SPACES = "".join(chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace())
FEW = st.text("ab ,.", max_size=30)
# What is set apart or closed again, digits of several scripts, astral and lone characters.
PIECES = st.lists(
    st.sampled_from(["Mr", "XMrs .", " .", "e . g .", "1 . 2 , 3", "٣ . ٤", "é .", "😀", "\ud800"])
    | st.sampled_from(SPACES)
    | st.characters(),
    max_size=12,
).map("".join)
FEW_WORDS = st.sampled_from(["a", "b", "c", "d", "e", "aa", "ab", "é", "😀", "\ud800"])
WORDS = st.lists(FEW_WORDS, max_size=40).map(" ".join)
PAIRS = st.lists(st.tuples(FEW, FEW) | st.tuples(PIECES, PIECES) | st.tuples(WORDS, WORDS))
COSTS = st.sampled_from([0.0, 0.2, 0.333, 1.0, 1.5, 40.0])
SAMPLES = varied_samples(80)

needs_kernels = pytest.mark.skipif(native.KERNELS is None, reason="nothing was compiled")


def samples_of(pairs: list[tuple[str, str]]) -> list[Sample]:
    return [Sample(output=output, references=(reference,)) for output, reference in pairs]


def in_python(metric: Eed | Character, samples: list[Sample]) -> list[float]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(eed, "KERNELS", None)
        patch.setattr(character, "KERNELS", None)
        return metric.score_segments(samples)


@needs_kernels
@given(pairs=PAIRS, alpha=COSTS, deletion=COSTS, insertion=COSTS)
def test_eed_is_to_the_last_bit_that_of_python(
    pairs: list[tuple[str, str]], alpha: float, deletion: float, insertion: float
) -> None:
    metric = Eed(alpha=alpha, deletion=deletion, insertion=insertion)
    assert metric.score_segments(samples_of(pairs)) == in_python(metric, samples_of(pairs))


@needs_kernels
@given(pairs=PAIRS)
def test_character_is_to_the_last_bit_that_of_python(pairs: list[tuple[str, str]]) -> None:
    samples = samples_of(pairs)
    assert Character().score_segments(samples) == in_python(Character(), samples)


@needs_kernels
@pytest.mark.parametrize("sign", ["", "😀"])
@pytest.mark.parametrize("metric", [Eed(), Character()])
def test_usual_texts_have_the_values_of_python(metric: Eed | Character, sign: str) -> None:
    pairs = [(f"{sample.output} {sign}", sample.references[0]) for sample in SAMPLES]
    joined = [
        (f"{sample} {two}", f"{reference} {other}")
        for (sample, reference), (two, other) in pairwise(pairs)
    ]
    samples = samples_of(pairs + joined)
    assert metric.score_segments(samples) == in_python(metric, samples)


@needs_kernels
def test_words_are_cut_where_python_cuts_them() -> None:
    assert native.KERNELS is not None
    samples = [
        Sample(output=f"b{space}{space}a ", references=(f"{space}a{space}b",)) for space in SPACES
    ]
    assert Character().score_segments(samples) == in_python(Character(), samples)
    everything = "".join(map(chr, range(0x3100)))
    _, length, _ = native.KERNELS.character_edits(["", everything], (0, 0, 0))
    assert length == len(" ".join(everything.split()))


@needs_kernels
@pytest.mark.parametrize("words", [1_800, 9_000])  # beyond 16 bits are the costs, and the places
def test_costs_and_places_that_16_bits_do_not_hold_are_counted_in_32(words: int) -> None:
    long = " ".join(f"w{number % 100}" for number in range(words))
    for pairs in ([(long[:50], long), (f"{long[30:80]}x", long)], [(long, long[:40])]):
        assert Eed().score_segments(samples_of(pairs)) == in_python(Eed(), samples_of(pairs))


@needs_kernels
def test_costs_that_32_bits_do_not_hold_are_left_to_python() -> None:
    metric, samples = Eed(alpha=1e9, deletion=0.001), samples_of([("b a", "a b c"), ("a", "b")])
    assert metric.score_segments(samples) == in_python(metric, samples)


@needs_kernels
@pytest.mark.parametrize("words", [65, 130, 400, 2_100])
def test_texts_of_many_words_are_searched_as_far_as_in_python(words: int) -> None:
    vocabulary = [f"w{number % 150}" for number in range(words)]
    late = [*vocabulary[words // 3 :], *vocabulary[: words // 3], "x"]
    samples = samples_of(
        [(" ".join(late), " ".join(vocabulary)), (" ".join(vocabulary[::2]), "w1 w0 w3")]
    )
    assert Character().score_segments(samples) == in_python(Character(), samples)


@needs_kernels
def test_texts_beyond_the_tables_and_words_that_are_alike_are_left_to_python() -> None:
    text = "ab " * native.MOST_CHARACTERS
    assert Character().score_segments(samples_of([(text, text[:-3])])) == [3 / (len(text) - 1)]
    metric, samples = Character(likeness=0.5), samples_of([("threes a b", "a b three")])
    assert metric.score_segments(samples) == in_python(metric, samples)


@needs_kernels
def test_kernels_refuse_what_they_cannot_hold() -> None:
    kernels = native.KERNELS
    assert kernels is not None
    with pytest.raises(OverflowError, match="costs are too high"):
        kernels.eed_costs(["a"], ["b"], (native.MOST_COST, 1, 1, 1))
    with pytest.raises(ValueError, match="not negative"):
        kernels.eed_costs(["a"], ["b"], (1, 1, -1, 1))
    with pytest.raises(ValueError, match="each output has one reference"):
        kernels.eed_costs(["a"], [], (1, 1, 1, 1))
    with pytest.raises(ValueError, match="too long"):
        kernels.character_edits(["a", "b" * (native.MOST_CHARACTERS + 1)], (1, 1, 1))
    with pytest.raises(ValueError, match="two texts"):
        kernels.character_edits(["a"], (1, 1, 1))
    with pytest.raises(TypeError):
        kernels.character_edits(["a", 1], (1, 1, 1))  # type: ignore[list-item]  # what C is to see


def test_python_is_taken_where_nothing_was_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, native.MODULE, None)  # as if there were none
    assert native.load_kernels() is None
