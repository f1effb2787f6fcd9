"""Checkers in training: the tokens and labels that they learn, their heads, their loss."""

from pathlib import Path

import pytest
import torch
from fakes.tiny_checkers import NLI, save_checker
from fakes.tiny_encoder import save_encoder
from safetensors.torch import load_file

from spanjury.adapters.checkers.folder import open_folder
from spanjury.adapters.training.tokens.checker import find_checker_base
from spanjury.adapters.training.tokens.encoding import stacked
from spanjury.adapters.training.tokens.job import CheckerForm
from spanjury.adapters.training.tokens.model import window_loss
from spanjury.adapters.training.trainer import fixed_seed
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
    with pytest.raises(ValueError, match="2 classes"):
        CheckerForm(head="token", classes=3)
