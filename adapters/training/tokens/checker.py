"""An encoder with one head that classifies a claim, or each of its tokens, given a passage.

It is a standard transformers classifier, so its folder is read like those of published checkers.
Pairs are encoded exactly as the judge `checker` encodes them.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification

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
"""Names of the classes, in the order of `Label`."""

_USUAL_LENGTH = 512  # default limit of tokens per pair, since memory grows with them
_HEAD = re.compile(r"(^|\.)(classifier|head|pooler)\.")  # weights that an encoder's files may lack


class CheckerModel(nn.Module):
    """A classifier of transformers with the interface of a model with two heads.

    Parameters
    ----------
    classifier
        Classifier of pairs or of tokens.
    fresh_names
        Names of its newly initialised weights.
    """

    def __init__(
        self, classifier: nn.Module, *, form: CheckerForm, fresh_names: Sequence[str]
    ) -> None:
        super().__init__()
        untyped: Any = classifier  # torch has no type stubs for a module's attributes
        untyped.get_input_embeddings().weight.requires_grad = False
        self.classifier = classifier
        self._reads_tokens = form.head == "token"
        self._takes_types = bool(getattr(untyped.config, "type_vocab_size", 0))
        self._padding = untyped.config.pad_token_id or 0
        self._fresh = set(fresh_names)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """Return the logits of tokens ``(batch, length, classes)``, and pairs ``(batch, classes)``.

        The kind that it does not classify is None.
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
        """Return the weights that the base lacked."""
        weights = self.classifier.named_parameters()
        return [weight for name, weight in weights if name in self._fresh]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckerBase:
    """An encoder to be trained as a checker of a given form.

    It reads pairs of at most `max_length` tokens, special tokens included.
    """

    encoder: EncoderBase
    form: CheckerForm
    card: CheckerCard
    _tokens: PairTokens = field(repr=False, compare=False)

    @property
    def identity(self) -> str:
        """The base's name with a digest of its files."""
        return self.encoder.identity

    @property
    def max_length(self) -> int:
        """Maximum number of tokens per pair."""
        return self.card.longest

    @property
    def room(self) -> int:
        """Maximum number of tokens of passage and claim together."""
        return self._tokens.room

    @property
    def unit(self) -> ClaimUnit:
        """The unit of text that it reads as a claim."""
        return "text" if self.form.head == "token" else "sentence"

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        return [self._tokens.count(text) for text in texts]

    def load(self, *, kinds: int, device: torch.device) -> CheckerModel:
        """Load the model; its head is new unless the base is a checker with the same classes.

        Raise `ConfigError` if the base is not an encoder.
        """
        del kinds  # kinds of words are only for readers
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
        untyped: Any = model
        if not hasattr(untyped, "classifier"):
            raise ConfigError(f"{name!r} is not an encoder: its head is not a classifier")
        if strange := [weight for weight in lacking if not _HEAD.search(weight)]:
            raise ConfigError(f"{name!r} is not an encoder: its files lack {strange[0]!r}")
        if class_names(folder) != self.card.labels:
            # Another classifier's head is useless, as its classes have other meanings.
            for layer in untyped.classifier.modules():
                if isinstance(layer, nn.Linear):
                    layer.reset_parameters()
            weights = (weight for weight, _ in model.named_parameters())
            lacking += [weight for weight in weights if weight.startswith("classifier.")]
        return CheckerModel(model, form=self.form, fresh_names=lacking).to(device)

    def encode(self, pairs: Sequence[LabelledPair], *, limit: int) -> list[EncodedWindow]:
        """Encode pairs in at most `limit` tokens each, which must be `max_length`."""
        assert limit == self.max_length
        encoded = (self._encoded(labelled) for labelled in pairs)
        return [window for window in encoded if window is not None]

    def write(self, model: CheckerModel, folder: Path, *, max_length: int) -> None:
        """Write a checker's folder."""
        untyped: Any = model.classifier
        tokenizer = load_tokenizer(self.encoder.name, self.encoder.folder)
        tokenizer.model_max_length = max_length
        with quietly():
            untyped.cpu().eval().save_pretrained(folder)
            tokenizer.save_pretrained(folder)

    def _encoded(self, labelled: LabelledPair) -> EncodedWindow | None:
        """Encode a pair; return None if tokens are to be classified and the claim has none."""
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
    """Find the encoder called `name`, and prepare it to read pairs.

    Raises `ConfigError` if there is none, or it does not support `max_length` tokens.
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
    """Return the positions of a claim's tokens, and their labels."""
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
