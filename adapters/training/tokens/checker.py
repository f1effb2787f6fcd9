"""An encoder with one head that says whether a passage supports a claim, or each token of it.

It is one of transformers' own classifiers, so its folder is read like those of published checkers.
Pairs become tokens exactly as the judge `checker` has them read.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import (
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
)

from spanjury.adapters.checkers.card import CheckerCard, Layout, base_card, class_names
from spanjury.adapters.checkers.inputs import PairTokens, Tokens
from spanjury.adapters.checkers.torch_model import load_words
from spanjury.adapters.torch_models import load_tokenizer, load_weights, quietly
from spanjury.adapters.training.tokens.encoding import EncodedWindow
from spanjury.adapters.training.tokens.job import CheckerForm
from spanjury.adapters.training.tokens.model import EncoderBase, find_encoder
from spanjury.judges.core import ClaimUnit, ConfigError, Label, LabelledPair

_CLASSES = {
    2: ("supported", "not_supported"),
    3: ("supported", "contradicted", "not_in_source"),
}
"""Names of the classes; their order is that of `Label`."""

_USUAL_LENGTH = 512  # tokens of a pair unless others are asked for: memory grows with them
_HEAD = re.compile(r"(^|\.)(classifier|head|pooler)\.")  # weights that an encoder's files lack


class CheckerModel(nn.Module):
    """A classifier of transformers in the place of a model with two heads.

    Parameters
    ----------
    classifier
        Classifies pairs, or tokens.
    fresh_names
        Weights of it that are new.
    """

    def __init__(
        self, classifier: nn.Module, *, form: CheckerForm, fresh_names: Sequence[str]
    ) -> None:
        super().__init__()
        loose: Any = classifier  # torch's stubs know no attribute of a module
        loose.get_input_embeddings().weight.requires_grad = False
        self.classifier = classifier
        self._reads_tokens = form.head == "token"
        self._takes_types = bool(getattr(loose.config, "type_vocab_size", 0))
        self._padding = loose.config.pad_token_id or 0
        self._fresh = set(fresh_names)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """Return the logits of tokens ``(batch, length, classes)``, or pairs ``(batch, classes)``.

        None stands for the others.
        """
        given = {
            "input_ids": input_ids.masked_fill(attention_mask == 0, self._padding),
            "attention_mask": attention_mask,
        }
        if self._takes_types:
            given["token_type_ids"] = token_type_ids
        logits: torch.Tensor = self.classifier(**given).logits.float()
        return (logits, None) if self._reads_tokens else (None, logits)

    def fresh(self) -> list[nn.Parameter]:
        """Return the weights that the base did not have."""
        weights = self.classifier.named_parameters()
        return [weight for name, weight in weights if name in self._fresh]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckerBase:
    """An encoder that is to become a checker of a form.

    It reads pairs of at most `max_length` tokens, marks included.
    """

    encoder: EncoderBase
    form: CheckerForm
    card: CheckerCard
    _tokens: PairTokens = field(repr=False, compare=False)

    @property
    def identity(self) -> str:
        """The base's name and digits that change with its files."""
        return self.encoder.identity

    @property
    def max_length(self) -> int:
        """The most tokens of a pair."""
        return self.card.longest

    @property
    def room(self) -> int:
        """The most tokens that a passage and a claim have together."""
        return self._tokens.room

    @property
    def unit(self) -> ClaimUnit:
        """Return what it reads as a claim."""
        return "text" if self.form.head == "token" else "sentence"

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text has."""
        return [self._tokens.count(text) for text in texts]

    def load(self, *, kinds: int, device: torch.device) -> CheckerModel:
        """Load it; its head is new unless it is a checker of the same classes.

        Raise `ConfigError` if it is no encoder.
        """
        del kinds  # the kinds of words are a reader's
        names = dict(enumerate(self.card.labels))
        name, folder = self.encoder.name, self.encoder.folder
        model, lacking = load_weights(
            name,
            folder,
            kind=AutoModelForTokenClassification
            if self.form.head == "token"
            else AutoModelForSequenceClassification,
            use_safetensors=True,
            dtype=torch.float32,
            id2label=names,
            label2id={label: number for number, label in names.items()},
            ignore_mismatched_sizes=True,
        )
        loose: Any = model
        if not hasattr(loose, "classifier"):
            raise ConfigError(f"{name!r} is not an encoder: its head is no classifier")
        if strange := [weight for weight in lacking if not _HEAD.search(weight)]:
            raise ConfigError(f"{name!r} is not an encoder: its files lack {strange[0]!r}")
        if class_names(folder) != self.card.labels:
            # The head of another classifier may mean anything by its classes.
            for layer in loose.classifier.modules():
                if isinstance(layer, nn.Linear):
                    layer.reset_parameters()
            weights = (weight for weight, _ in model.named_parameters())
            lacking += [weight for weight in weights if weight.startswith("classifier.")]
        return CheckerModel(model, form=self.form, fresh_names=lacking).to(device)

    def encode(self, pairs: Sequence[LabelledPair], *, limit: int) -> list[EncodedWindow]:
        """Put pairs into at most `limit` tokens each, which is `max_length`."""
        assert limit == self.max_length
        encoded = (self._encoded(labelled) for labelled in pairs)
        return [window for window in encoded if window is not None]

    def write(self, model: CheckerModel, folder: Path, *, max_length: int) -> None:
        """Write the folder of a checker."""
        loose: Any = model.classifier
        tokenizer = load_tokenizer(self.encoder.name, self.encoder.folder)
        tokenizer.model_max_length = max_length
        with quietly():
            loose.cpu().eval().save_pretrained(folder)
            tokenizer.save_pretrained(folder)

    def _encoded(self, labelled: LabelledPair) -> EncodedWindow | None:
        """Return a pair in tokens; None for a classifier of tokens if the claim has none."""
        tokens = self._tokens.encode(labelled.pair)
        positions, labels = _labels(tokens, labelled) if self.form.head == "token" else ((), ())
        if self.form.head == "token" and not positions:
            return None
        return EncodedWindow(
            ids=tuple(tokens.ids),
            kinds=tuple(tokens.types),
            positions=positions,
            labels=labels,
            sentence=int(labelled.label),
            group=labelled.group,
        )


def find_checker_base(name: str, form: CheckerForm, *, max_length: int | None) -> CheckerBase:
    """Find the encoder of this name, and how it will read pairs.

    Raises `ConfigError` if there is none, or it has no room for `max_length` tokens.
    """
    encoder = find_encoder(name)
    head: Any = "token" if form.head == "token" else "sequence"
    card = base_card(encoder.folder, head=head, labels=_CLASSES[form.classes])
    if max_length is not None and max_length > card.longest and not card.is_relative:
        raise ConfigError(f"--max-length {max_length}: {name!r} has room for {card.longest} tokens")
    card = replace(card, longest=max_length or min(card.longest, _USUAL_LENGTH))
    return CheckerBase(
        encoder=encoder,
        form=form,
        card=card,
        _tokens=PairTokens(load_words(card), card=card, layout=Layout(form="pair")),
    )


def _labels(tokens: Tokens, labelled: LabelledPair) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the positions of a claim's tokens, and the label of each."""
    positions: list[int] = []
    labels: list[int] = []
    for start, end, of_word in tokens.words:
        label = Label.UNKNOWN
        if labelled.spans is not None:
            hit = (wrong for first, last, wrong in labelled.spans if first < end and start < last)
            label = next(hit, Label.SUPPORTED)
        positions += of_word
        labels += [int(label)] * len(of_word)
    return tuple(positions), tuple(labels)
