"""The token form: its loss, its batches, and training that goes on after a kill."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from fakes.tiny_encoder import save_encoder

from spanjury.adapters.training.checkpoint import CheckpointFile
from spanjury.adapters.training.job import Progress
from spanjury.adapters.training.tokens.encoding import (
    EncodedWindow,
    WindowBatch,
    encode,
    epoch_batches,
    stacked,
    without_kinds,
)
from spanjury.adapters.training.tokens.job import TokenOptions, windows_digest
from spanjury.adapters.training.tokens.model import TokenModel, find_encoder, window_loss
from spanjury.adapters.training.tokens.training import TokenTrainer
from spanjury.adapters.training.trainer import fixed_seed
from spanjury.judges.core import ConfigError, Label, LabelledWindow, Window

CPU = torch.device("cpu")
KINDS = 5


def labelled(
    words: str,
    labels: str,
    *,
    sentence: Label = Label.SUPPORTED,
    source: str = "a cat sat",
    group: str = "g",
) -> LabelledWindow:
    """Make a window; a letter a word: s(upported), c(ontradicted), a(bsent), e(rror), ?."""
    of = {"s": 0, "c": 1, "a": 2, "e": 3, "?": -1}
    given, beside = tuple(words.split()), tuple(source.split())
    return LabelledWindow(
        window=Window(
            words=given,
            kinds=tuple(1 + index % 2 for index in range(len(given))),
            source=beside,
            source_kinds=(3,) * len(beside),
        ),
        words=tuple(Label(of[letter]) for letter in labels),
        sentence=sentence,
        group=group,
    )


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_encoder(tmp_path_factory.mktemp("encoder"))


class Fixed(torch.nn.Module):
    """A model that always gives the same logits."""

    def __init__(self, tokens: list[list[float]], sentence: list[float]) -> None:
        super().__init__()
        self.logits = torch.tensor([tokens]), torch.tensor([sentence])

    def forward(self, *_: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.logits


def batch(labels: list[int], sentence: int) -> WindowBatch:
    shape = (1, len(labels))
    ones = torch.ones(shape, dtype=torch.long)
    return WindowBatch(
        ids=ones,
        mask=ones,
        kinds=ones,
        labels=torch.tensor([labels]),
        words=ones.bool(),
        sentences=torch.tensor([sentence]),
        groups=torch.tensor([0]),
    )


UNIFORM = [0.0, 0.0, 0.0]
THIRD = math.log(3)


def test_the_loss_adds_that_of_words_and_of_the_sentence() -> None:
    model = Fixed([UNIFORM, UNIFORM], UNIFORM)
    loss = window_loss(model, batch([0, 1], 1), error_weight=2.0)
    assert loss.item() == pytest.approx(THIRD + THIRD)


def test_an_error_of_either_sort_is_due_the_sum_of_both() -> None:
    model = Fixed([UNIFORM], UNIFORM)
    loss = window_loss(model, batch([3], 3), error_weight=2.0)
    assert loss.item() == pytest.approx(2 * math.log(3 / 2))


def test_a_word_with_an_error_counts_as_often_as_asked() -> None:
    sure = [math.log(8), 0.0, 0.0]  # p = .8, .1, .1
    model = Fixed([sure, sure], UNIFORM)
    loss = window_loss(model, batch([0, 1], 0), error_weight=3.0)
    words = (-math.log(0.8) - 3 * math.log(0.1)) / 4
    assert loss.item() == pytest.approx(words + THIRD, rel=1e-5)


def test_the_likeliest_words_carry_an_error_of_which_no_place_is_known() -> None:
    sure = [0.0, math.log(8), 0.0]
    model = Fixed([UNIFORM, sure, UNIFORM], UNIFORM)
    loss = window_loss(model, batch([-1, -1, -1], 1), error_weight=2.0)
    carried = 0.7 * math.log(0.8) + 0.3 * math.log(1 / 3)
    assert loss.item() == pytest.approx(THIRD - 0.3 * carried, rel=1e-5)


def two_sentences(*, groups: tuple[int, int]) -> WindowBatch:
    """Return a sentence without an error and one with, of one word each."""
    right, wrong = batch([0], 0), batch([1], 1)
    joined = {
        name: torch.cat([getattr(right, name), getattr(wrong, name)])
        for name in ("ids", "mask", "kinds", "labels", "words", "sentences")
    }
    return WindowBatch(**joined, groups=torch.tensor(groups))


@pytest.mark.parametrize(("groups", "weight", "added"), [((0, 0), 0.5, 1.0), ((0, 1), 0.5, 0.0)])
def test_a_wrong_sentence_has_more_evidence_than_a_right_one_of_its_group(
    groups: tuple[int, int], weight: float, added: float
) -> None:
    """Both sentences look the same, so that the loss of their pair is log 2."""
    model = Fixed([UNIFORM], UNIFORM)
    model.logits = tuple(logits.repeat(2, *[1] * (logits.ndim - 1)) for logits in model.logits)  # type: ignore[assignment]  # two of them
    pair = two_sentences(groups=groups)
    without = window_loss(model, pair, error_weight=2.0)
    ordered = window_loss(model, pair, error_weight=2.0, order_weight=weight)
    assert (ordered - without).item() == pytest.approx(added * weight * math.log(2), abs=1e-6)


def test_labels_stand_at_the_first_pieces_of_words(encoder: str) -> None:
    window = labelled("cats sat", "cs", sentence=Label.CONTRADICTED)
    (encoded,) = encode([window], find_encoder(encoder).tokenizer(), limit=64)
    assert (encoded.positions, encoded.labels) == ((1, 5), (1, 0))
    assert (encoded.kinds[:9], set(encoded.kinds[9:-1])) == ((0, 1, 1, 1, 1, 2, 2, 2, 0), {3})


def test_a_window_that_is_too_long_loses_the_end_of_its_source(encoder: str) -> None:
    window = labelled("a b c", "sss", source="word " * 50)
    (encoded,) = encode([window], find_encoder(encoder).tokenizer(), limit=20)
    assert (len(encoded.ids), encoded.positions) == (20, (1, 2, 3))


def test_kinds_are_blanked_in_the_windows_that_drop_them(encoder: str) -> None:
    tokenizer = find_encoder(encoder).tokenizer()
    made = stacked(encode(WINDOWS[:2], tokenizer, limit=64), device=CPU)
    blanked = without_kinds(made, torch.tensor([True, False]))
    assert not blanked.kinds[0].any()
    assert torch.equal(blanked.kinds[1], made.kinds[1])
    assert torch.equal(blanked.labels, made.labels)


def test_an_epoch_has_each_window_once_and_twins_side_by_side() -> None:
    lengths = tuple(10 + index % 7 for index in range(60))
    groups = tuple(f"twins {index // 2}" for index in range(60))
    batches = epoch_batches(lengths, groups, batch_tokens=80, seed=4)
    assert sorted(index for encoded in batches for index in encoded) == list(range(60))
    assert all(len(encoded) * max(lengths[index] for index in encoded) <= 80 for encoded in batches)
    order = [index for encoded in batches for index in encoded]
    apart = sum(abs(order.index(index) - order.index(index + 1)) > 1 for index in range(0, 60, 2))
    assert apart == 0
    assert batches != epoch_batches(lengths, groups, batch_tokens=80, seed=5)


WINDOWS = [
    encoded
    for number in range(12)
    for encoded in (
        labelled("a cat sat", "sss", group=f"g{number}"),
        labelled("a dog sat", "sas", sentence=Label.ABSENT, group=f"g{number}"),
    )
]


def made_trainer(
    encoder: str,
    folder: Path,
    *,
    options: TokenOptions,
    stopped: Callable[[], bool] = lambda: False,
    validation: bool = True,
) -> TokenTrainer:
    base = find_encoder(encoder)
    windows = encode(WINDOWS, base.tokenizer(), limit=64)
    with fixed_seed(2, device=CPU):
        model = base.load(kinds=KINDS, device=CPU)
    return TokenTrainer(
        model=model,
        windows=windows,
        validation=windows[:4] if validation else (),
        options=options,
        checkpoints=CheckpointFile(path=folder / "checkpoint", belongs_to={}),
        best=folder / "best.safetensors",
        tell=lambda _progress, _line: None,
        stopped=stopped,
    )


OPTIONS = TokenOptions(
    batch_tokens=60, epochs=3, learning_rate=1e-2, head_learning_rate=1e-2, patience=9
)


def run(trainer: TokenTrainer) -> tuple[Progress, bool]:
    with fixed_seed(2, device=CPU):
        return trainer.run()


def test_a_large_group_is_learnt_from_in_parts() -> None:
    batches = epoch_batches((10,) * 40, ("g",) * 40, batch_tokens=160, seed=1)
    assert sorted(map(len, batches)) == [8, 16, 16]


def word_probability(model: TokenModel, windows: list[EncodedWindow]) -> torch.Tensor:
    made = stacked(windows, device=CPU)
    model.eval()
    with torch.inference_mode():
        tokens, _ = model(made.ids, made.mask, made.kinds)
    probabilities: torch.Tensor = tokens.softmax(-1)
    return probabilities


def test_training_learns_which_word_is_new(encoder: str, tmp_path: Path) -> None:
    trainer = made_trainer(encoder, tmp_path, options=replace(OPTIONS, epochs=12))
    progress, finished = run(trainer)
    assert finished
    assert progress.validations[-1][1] < progress.validations[0][1]
    clean, damaged = word_probability(trainer.model, list(trainer.windows[:2]))
    index = trainer.windows[0].positions[1]
    assert damaged[index, 2] > 0.5 > clean[index, 2]


def test_a_stopped_training_goes_on_as_if_undisturbed(encoder: str, tmp_path: Path) -> None:
    (whole, parts) = (tmp_path / "whole", tmp_path / "parts")
    whole.mkdir()
    parts.mkdir()
    through = made_trainer(encoder, whole, options=OPTIONS)
    run(through)
    left = iter((False, False, False, True))
    first = made_trainer(encoder, parts, options=OPTIONS, stopped=lambda: next(left))
    progress, finished = run(first)
    assert (progress.step, finished) == (3, False)
    second = made_trainer(encoder, parts, options=OPTIONS)
    again, finished = run(second)
    assert finished
    due = through_losses(through, whole)
    assert [loss for _, loss in again.losses] == pytest.approx([loss for _, loss in due], rel=1e-4)
    for encoded, other in zip(through.model.parameters(), second.model.parameters(), strict=True):
        assert torch.allclose(encoded, other, atol=1e-5)


def through_losses(trainer: TokenTrainer, folder: Path) -> list[tuple[int, float]]:
    """Read the losses of a finished training from its checkpoint."""
    optimizer = torch.optim.AdamW(trainer._parameters())
    progress = CheckpointFile(path=folder / "checkpoint", belongs_to={}).load(
        model=trainer.model, optimizer=optimizer
    )
    assert progress is not None
    return progress.losses


def test_weights_of_a_training_without_a_checkpoint_are_not_taken(
    encoder: str, tmp_path: Path
) -> None:
    (tmp_path / "best.safetensors").write_bytes(b"of another training")
    options = replace(OPTIONS, max_steps=1)
    _, finished = run(made_trainer(encoder, tmp_path, options=options, validation=False))
    assert finished


def test_training_ends_when_validation_gets_no_better(encoder: str, tmp_path: Path) -> None:
    options = replace(OPTIONS, learning_rate=1e-9, head_learning_rate=1e-9, epochs=50, patience=2)
    trainer = made_trainer(encoder, tmp_path, options=options)
    progress, finished = run(trainer)
    assert finished
    losses = [loss for _, loss in progress.validations]
    assert len(losses) - 1 - losses.index(min(losses)) == 2
    assert progress.step < trainer.steps


def test_words_and_positions_are_not_changed(encoder: str, tmp_path: Path) -> None:
    trainer = made_trainer(encoder, tmp_path, options=OPTIONS, validation=False)
    names = [
        name for name, encoded in trainer.model.named_parameters() if not encoded.requires_grad
    ]
    assert len(names) == 2
    before = {name: encoded.clone() for name, encoded in trainer.model.named_parameters()}
    run(trainer)
    after = dict(trainer.model.named_parameters())
    assert all(torch.equal(before[name], after[name]) for name in names)
    assert not torch.equal(before["tokens.weight"], after["tokens.weight"])


def test_a_digest_changes_with_a_label() -> None:
    changed = [replace(WINDOWS[0], words=(Label.ABSENT,) * 3), *WINDOWS[1:]]
    assert windows_digest(WINDOWS) != windows_digest(changed)


def test_an_encoder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="neither a folder, nor 'minilm'"):
        find_encoder("someone/nothing")
    with pytest.raises(ConfigError):
        find_encoder(str(tmp_path)).load(kinds=KINDS, device=CPU)


@pytest.mark.parametrize(
    "wrong",
    [{"epochs": 0}, {"warmup": 1.0}, {"kind_dropout": 1.0}, {"learning_rate": 0.0}, {"seed": -1}],
)
def test_options_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        TokenOptions(**wrong)  # type: ignore[arg-type]  # on purpose
