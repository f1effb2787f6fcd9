"""Thresholds: the probability of a verdict, and where the two verdicts are parted best."""

import pytest
import torch
from fakes.tiny_chat import CONTEXT, chat_tokenizer, tiny_pairs
from hypothesis import example, given
from hypothesis import strategies as st

from spanjury.adapters.causal.base import find_base
from spanjury.adapters.causal.chat_tokens import ChatTokens
from spanjury.adapters.training.job import TrainingPair, VerdictWords
from spanjury.adapters.training.rendering import render_all
from spanjury.adapters.training.training import best_threshold, error_probabilities

CHAT = ChatTokens(chat_tokenizer(), name="tiny")
WORDS = VerdictWords(prefix="Severity:", yes=" 1", no=" 2")


def test_a_model_that_always_finds_errors_likely_still_parts_them() -> None:
    chosen = best_threshold([0.9, 0.95, 0.97, 0.99], [False, False, True, True])
    assert chosen is not None
    assert chosen.value == pytest.approx(0.96)
    assert (chosen.caught, chosen.false_alarms, chosen.examples) == (1.0, 0.0, 4)


def test_the_balanced_accuracy_decides_between_overlapping_probabilities() -> None:
    # At .35: two of three caught, none of three flagged; at .15: all, and two of three flagged.
    chosen = best_threshold([0.1, 0.2, 0.3, 0.2, 0.4, 0.5], [False, False, False, True, True, True])
    assert chosen is not None
    assert (chosen.value, chosen.caught, chosen.false_alarms) == (0.35, 2 / 3, 0.0)


def test_a_single_verdict_has_no_threshold() -> None:
    assert best_threshold([0.1, 0.9], [True, True]) is None
    assert best_threshold([], []) is None


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=12))
@example(rows=[(0.0, True), (1.0, False)])
def test_a_threshold_is_a_probability_above_chance(rows: list[tuple[float, bool]]) -> None:
    chosen = best_threshold([probability for probability, _ in rows], [due for _, due in rows])
    if chosen is None:
        assert len({due for _, due in rows}) == 1
        return
    assert 0 <= chosen.value <= 1
    assert chosen.caught >= chosen.false_alarms


def test_the_probability_is_that_of_the_token_that_decides(base: str) -> None:
    model = find_base(base).load(device=torch.device("cpu"))
    asked = tiny_pairs()[0].messages
    pairs = [TrainingPair(messages=asked, target=f"Severity:{word}\nx") for word in (" 1", " 2")]
    examples = render_all(pairs, CHAT, limit=CONTEXT).examples
    probability, other = error_probabilities(model, examples, chat=CHAT, words=WORDS)
    assert probability == pytest.approx(other)  # nothing of the verdict itself is looked at
    ids = examples[0].ids
    index = next(
        at
        for at, both in enumerate(zip(*(e.ids for e in examples), strict=True))
        if len({*both}) > 1
    )
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([ids[:index]])).logits[0, -1]
    yes, no = (logits[example.ids[index]] for example in examples)
    assert probability == pytest.approx(float(torch.sigmoid(yes - no)), abs=1e-5)
