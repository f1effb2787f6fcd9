"""Checkers in training, and the threshold at which two verdicts are parted best."""

from pathlib import Path

import pytest
import torch
from fakes.tiny_chat import CONTEXT, chat_tokenizer, tiny_pairs
from fakes.tiny_checkers import NLI, save_checker
from fakes.tiny_encoder import save_encoder
from hypothesis import example, given
from hypothesis import strategies as st
from safetensors.torch import load_file

from spanjury.adapters.causal.base import find_base
from spanjury.adapters.causal.chat_tokens import ChatTokens
from spanjury.adapters.checkers.folder import open_folder
from spanjury.adapters.training.job import TrainingPair, VerdictWords
from spanjury.adapters.training.rendering import render_all
from spanjury.adapters.training.tokens.checker import find_checker_base
from spanjury.adapters.training.tokens.encoding import stacked
from spanjury.adapters.training.tokens.job import CheckerForm
from spanjury.adapters.training.tokens.model import window_loss
from spanjury.adapters.training.trainer import fixed_seed
from spanjury.adapters.training.training import best_threshold, error_probabilities
from spanjury.judges.core import ClaimPair, ConfigError, Label, LabelledPair

CPU = torch.device("cpu")
PASSAGE = "The council said that the library will not close in May."
RIGHT = LabelledPair(
    pair=ClaimPair(PASSAGE, "The library stays."), label=Label.SUPPORTED, spans=(), group="g"
)
WRONG = LabelledPair(
    pair=ClaimPair(PASSAGE, "The library closes."),
    label=Label.CONTRADICTED,
    spans=((12, 18, Label.CONTRADICTED),),
    group="g",
)
CHAT = ChatTokens(chat_tokenizer(), name="tiny")
WORDS = VerdictWords(prefix="Severity:", yes=" 1", no=" 2")


@pytest.mark.parametrize("kind", ["bert", "deberta", "modernbert", "roberta"])
@pytest.mark.parametrize("form", [CheckerForm(head="pair", classes=3), CheckerForm(head="token")])
def test_any_encoder_learns_to_check_and_its_folder_is_read(
    kind: str, form: CheckerForm, tmp_path: Path
) -> None:
    save_checker(kind, tmp_path / "base")
    base = find_checker_base(str(tmp_path / "base"), form, max_length=64)
    with fixed_seed(1, device=CPU):
        model = base.load(kinds=1, device=CPU).train()
        optimizer = torch.optim.AdamW([{"params": [*model.parameters()], "lr": 0.01}])
        batch = stacked(base.encode([RIGHT, WRONG], limit=64), device=CPU)
        losses = []
        for _ in range(8):
            loss = window_loss(model, batch, error_weight=2.0, order_weight=0.5)
            loss.backward()  # type: ignore[no-untyped-call]  # not annotated
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    assert min(losses[4:]) < losses[0]
    base.write(model, tmp_path / "model", max_length=64)
    checker = open_folder(folder=str(tmp_path / "model"))
    assert checker.room() == base.room
    (answer,) = checker.check([WRONG.pair])
    ids = batch.ids[1:], batch.mask[1:], batch.kinds[1:]
    tokens, pairs = model.eval()(*ids)
    if pairs is not None:
        assert answer.contradicted == pytest.approx(pairs.softmax(-1)[0, 1].item(), abs=1e-5)
    else:
        assert tokens is not None
        worst = tokens.softmax(-1)[0, batch.words[1], 0].min().item()
        assert answer.supported == pytest.approx(worst, abs=1e-5)


def test_each_token_of_a_wrong_word_is_labelled(tmp_path: Path) -> None:
    base = find_checker_base(save_encoder(tmp_path), CheckerForm(head="token"), max_length=None)
    (window,) = base.encode([WRONG], limit=base.max_length)
    letters = [*"The", *"library", *"closes", "."]
    assert len(window.labels) == len(letters)
    assert window.labels == (0,) * 10 + (Label.CONTRADICTED,) * 6 + (0,)
    assert all(window.kinds[position] == 1 for position in window.positions)


def test_the_head_of_another_classifier_is_not_taken_over(tmp_path: Path) -> None:
    folder = save_checker("bert", tmp_path, labels=NLI)
    base = find_checker_base(str(folder), CheckerForm(head="pair", classes=3), max_length=None)
    saved = load_file(folder / "model.safetensors")["classifier.weight"]
    model = base.load(kinds=1, device=CPU)
    assert [weight.shape[0] for weight in model.fresh()] == [3, 3]
    assert not torch.allclose(model.fresh()[0], saved, atol=1e-3)
    base.write(model, tmp_path / "own", max_length=64)
    again = find_checker_base(str(tmp_path / "own"), base.form, max_length=None)
    kept = again.load(kinds=1, device=CPU)
    assert not kept.fresh()
    assert torch.equal(kept.state_dict()["classifier.classifier.weight"], model.fresh()[0])


def test_a_base_that_cannot_check_is_refused(tmp_path: Path) -> None:
    save_checker("roberta", tmp_path, positions=100)
    with pytest.raises(ConfigError, match="room for 98 tokens"):
        find_checker_base(str(tmp_path), CheckerForm(head="pair"), max_length=99)
    with pytest.raises(ValueError, match="2 or 3 classes"):
        CheckerForm(head="pair", classes=4)
    with pytest.raises(ValueError, match="3 classes"):
        CheckerForm(head="token", classes=3)


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
