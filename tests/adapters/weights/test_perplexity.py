"""Perplexity against the model's own loss, window by window."""

# ruff: noqa: E402 -- torch may be missing, and is asked for first
import math

import pytest
from fakes.installed import imported

torch = imported("torch")

from fakes.tiny_models import WINDOW, WORDS, tiny_tokenizer
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM

from spanjury.adapters.weights.perplexity import Perplexity, _windows
from spanjury.judges.core import Sample

TEXTS = ["the cat sat on a mat .", "two dogs ran home", "it rained all day long", "home", ""]
SAMPLES = [Sample(output=text) for text in TEXTS]
START = 0  # <s>


def _words(text: str) -> list[int]:
    ids: list[int] = tiny_tokenizer()(text, add_special_tokens=False, verbose=False)["input_ids"]
    return ids


def _loss(folder: str, ids: list[int], *, ignored: int = 0) -> float:
    """Return the mean loss that the model itself gives, without the first `ignored` labels."""
    model = AutoModelForCausalLM.from_pretrained(folder)
    labels = torch.tensor([[-100] * ignored + ids[ignored:]])
    with torch.no_grad():
        return float(model(torch.tensor([ids]), labels=labels).loss)


def test_within_a_window_it_is_the_models_own_loss(llama: str) -> None:
    (score,) = Perplexity(model=llama).score_segments(SAMPLES[:1])
    assert score == pytest.approx(math.exp(_loss(llama, [START, *_words(TEXTS[0])])), rel=1e-5)


def test_without_a_start_the_first_token_is_not_predicted(llama: str) -> None:
    metric = Perplexity(model=llama, start=False)
    assert metric.statistics(SAMPLES[:1])[0][1] == len(_words(TEXTS[0])) - 1
    assert metric.score_segments(SAMPLES[:1]) == pytest.approx(
        [math.exp(_loss(llama, _words(TEXTS[0])))], rel=1e-5
    )


def test_a_long_text_is_read_through_a_window_that_moves(llama: str) -> None:
    words = _words(WORDS)
    assert len(words) == 18
    metric = Perplexity(model=llama, start=False, window=8, stride=4)
    # The windows [0, 8), [4, 12), [8, 16), [12, 18): the first predicts all but its first token,
    # the others what the one before has not reached.
    total = 7 * _loss(llama, words[:8]) + 2 * _loss(llama, words[12:], ignored=4)
    total += sum(4 * _loss(llama, words[at : at + 8], ignored=4) for at in (4, 8))
    ((score, tokens),) = metric.statistics([Sample(output=WORDS)])
    assert score == pytest.approx(total, rel=1e-5)
    assert tokens == 17
    assert "|window:8|stride:4|" in metric.signature


def test_a_corpus_is_the_sum_of_its_rows(llama: str) -> None:
    metric = Perplexity(model=llama)
    rows = metric.statistics(SAMPLES)
    total = [sum(column) for column in zip(*rows, strict=True)]
    expected = math.exp(total[0] / total[1])
    assert total[1] == sum(len(_words(text)) for text in TEXTS)
    assert metric.score_corpus(SAMPLES) == pytest.approx(expected)
    assert metric.score_statistics(total) == pytest.approx(expected)


def test_no_token_means_a_uniform_guess(llama: str) -> None:
    metric = Perplexity(model=llama)
    assert metric.score_segments([Sample(output=" \n")]) == [len(tiny_tokenizer())]
    assert metric.score_corpus([Sample(output="")]) == len(tiny_tokenizer())


def test_batches_change_no_score(llama: str) -> None:
    samples = [*SAMPLES, Sample(output=f"{WORDS} {WORDS}"), Sample(output="cat \ud800")]
    expected = Perplexity(model=llama, batch_size=64).score_segments(samples)
    for size in (1, 3):
        score = Perplexity(model=llama, batch_size=size).score_segments(samples)
        assert score == pytest.approx(expected, rel=1e-5)


def test_a_score_is_finite_whatever_the_loss(llama: str) -> None:
    assert math.isfinite(Perplexity(model=llama).score_statistics((1e9, 1.0)))


@given(length=st.integers(0, 60), size=st.integers(2, 12), data=st.data())
def test_every_token_but_the_first_is_predicted_once(
    length: int, size: int, data: st.DataObject
) -> None:
    stride = data.draw(st.integers(1, size - 1))
    windows = list(_windows(length, size=size, stride=stride))
    predicted = [token for w in windows for token in range(w.first, w.end)]
    assert predicted == list(range(1, length))
    assert all(w.end - w.start <= size and w.start < w.first < w.end for w in windows)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"window": 1}, f"window must be from 2 to {WINDOW}"),
        ({"window": WINDOW + 1}, f"window must be from 2 to {WINDOW}"),
        ({"stride": WINDOW}, f"stride must be from 1 to {WINDOW - 1}"),
        ({"stride": -1}, f"stride must be from 1 to {WINDOW - 1}"),
        ({"batch_size": 0}, "batch_size must be 1 or more"),
    ],
)
def test_bad_options_are_refused(llama: str, options: dict[str, int], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Perplexity(model=llama, **options)  # type: ignore[arg-type] # all are whole numbers
