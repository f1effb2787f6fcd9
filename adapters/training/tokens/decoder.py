"""A causal language model with two heads; it reads a source once, for all its sentences.

Low-rank matrices [1]_ are trained beside the projections of the upper layers; the base is frozen.
Besides the states, the heads get each word's log-probability, given the source and the words
before it. For speed, its softmax is only over the pieces of a pack and the most common pieces of
the vocabulary, at a twentieth of the cost.

References
----------
.. [1] Hu et al. (2022), LoRA: low-rank adaptation of large language models, ICLR
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from spanjury.adapters.causal.base import Base
from spanjury.adapters.reading.card import (
    CLASSES,
    MATRICES,
    ReaderCard,
    file_digest,
    write_reader_card,
)
from spanjury.adapters.reading.decoder_model import (
    COMMON,
    FLOOR,
    SHARE,
    START,
    Pack,
    ProsePieces,
    packs,
)
from spanjury.adapters.training.tokens.encoding import EncodedWindow
from spanjury.judges.core import VERSION, LabelledWindow

_LABELS = len(CLASSES)
_SOURCE, _INNER, _LAST = 0, 1, 2  # kinds of pieces: of the source, inside a word, last of a word
_HIDDEN = 192
_RANK, _SCALE = 16, 2.0
_LOWEST = 8  # the first trained layer: lower ones know words, but not sources
_SMALL = 0.1
_NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
"""Projections of a layer, with their names in GGUF."""


class LowRank(nn.Module):
    """A frozen projection with two small trainable matrices beside it."""

    def __init__(self, projection: nn.Linear) -> None:
        super().__init__()
        self.projection = projection
        self.down = nn.Parameter(torch.randn(_RANK, projection.in_features) * _RANK**-0.5 * _SMALL)
        self.up = nn.Parameter(torch.zeros(projection.out_features, _RANK))

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Return the projection of ``(..., inputs)``."""
        down, up = self.down.to(states.dtype), (self.up * _SCALE).to(states.dtype)
        added: torch.Tensor = self.projection(states) + (states @ down.T) @ up.T
        return added


class DecoderModel(nn.Module):
    """A causal decoder with one head for tokens and one for the sentence.

    Parameters
    ----------
    decoder
        A Llama without its output head, whose output embeddings equal its input embeddings.
    """

    def __init__(self, decoder: nn.Module) -> None:
        super().__init__()
        loose: Any = decoder
        for weight in loose.parameters():
            weight.requires_grad = False
        for layer in loose.layers[_LOWEST:]:
            for name in _NAMES:
                room, _, projection = name.rpartition(".")
                parent = layer.get_submodule(room)
                setattr(parent, projection, LowRank(getattr(parent, projection)))
        self.decoder = decoder
        size: int = loose.config.hidden_size
        self.tokens = _head(size + 1)
        self.sentence = _head(size + 2)
        self.norm = nn.LayerNorm(size)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits of tokens ``(batch, length, 3)`` and of sentences ``(batch, 3)``."""
        starts = ((token_type_ids == _SOURCE) & (attention_mask > 0)).sum(1).tolist()
        ends = attention_mask.sum(1).tolist()
        rows = input_ids.tolist()
        sources = [tuple(row[:start]) for row, start in zip(rows, starts, strict=True)]
        sentences = [
            tuple(row[start:end]) for row, start, end in zip(rows, starts, ends, strict=True)
        ]
        loose: Any = self.decoder
        states = torch.zeros((*input_ids.shape, loose.config.hidden_size))
        likely = torch.zeros(input_ids.shape)
        for pack in packs(sources, sentences):
            own = torch.from_numpy(pack.sentences)
            at = own >= 0
            columns = torch.from_numpy(pack.positions)[at]
            read = self._states(pack)
            surprise = self._log_probabilities(read, pack, at)
            states = states.index_put((own[at], columns), self.norm(read[at].float()))
            likely = likely.index_put((own[at], columns), surprise)
        return self._labels(states, likely, ends=torch.tensor(ends) - 1, kinds=token_type_ids)

    def _states(self, pack: Pack) -> torch.Tensor:
        loose: Any = self.decoder
        kind = next(loose.parameters()).dtype
        mask = torch.zeros(pack.allowed.shape, dtype=kind)
        mask.masked_fill_(~torch.from_numpy(pack.allowed), torch.finfo(kind).min)
        states: torch.Tensor = loose(
            input_ids=torch.from_numpy(pack.ids)[None],
            position_ids=torch.from_numpy(pack.positions)[None],
            attention_mask=mask[None, None],
            use_cache=False,
        ).last_hidden_state[0]
        return states

    def _log_probabilities(
        self, states: torch.Tensor, pack: Pack, at: torch.Tensor
    ) -> torch.Tensor:
        """Return the log-probability of the pieces `at`, given the states before them."""
        loose: Any = self.decoder
        table = loose.embed_tokens.weight
        ids = torch.from_numpy(pack.ids)
        before = states[torch.from_numpy(pack.befores)[at]]
        rivals = torch.unique(torch.cat([ids, torch.arange(COMMON)]))
        logits = (before @ table[rivals].T).float()
        chosen = (before * table[ids[at]]).sum(-1).float()
        log_p: torch.Tensor = (chosen - logits.logsumexp(-1)).clamp(FLOOR, 0.0)
        return log_p

    def _labels(
        self,
        states: torch.Tensor,
        likely: torch.Tensor,
        *,
        ends: torch.Tensor,
        kinds: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Label words by the state at their last piece, and the log-probability of all pieces."""
        lasts = kinds == _LAST
        total = likely.cumsum(1)
        nothing = total.new_zeros(())
        # Sums only decrease, so this running minimum is the sum up to the latest last piece.
        reached = torch.where(lasts, total, nothing).cummin(1).values
        before = torch.cat([total.new_zeros((len(total), 1)), reached[:, :-1]], 1)
        words = torch.where(lasts, total - before, nothing)
        tokens = self.tokens(torch.cat([states, words[..., None] * SHARE], -1))
        mean = words.sum(1) / lasts.sum(1).clamp(min=1)
        summary = torch.stack([words.amin(1), mean], -1) * SHARE
        end = states[torch.arange(len(states)), ends]
        return tokens, self.sentence(torch.cat([end, summary], -1))

    def fresh(self) -> list[nn.Parameter]:
        """Return the weights of the heads."""
        parts = (self.tokens, self.sentence, self.norm)
        return [weight for part in parts for weight in part.parameters()]


def _head(inputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, _HIDDEN), nn.GELU(), nn.Linear(_HIDDEN, _LABELS))


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderBase:
    """A causal language model in GGUF, which reads windows as running text.

    A window has at most `room` words and punctuation marks, often a whole source, in at most
    `max_length` pieces.
    """

    base: Base
    room: int = 280
    max_length: int = 512

    @property
    def identity(self) -> str:
        """The model's name with a digest of its files."""
        return self.base.identity

    def load(self, *, kinds: int, device: torch.device) -> DecoderModel:
        """Load the model, with frozen weights in bfloat16, and with new matrices and heads.

        `kinds` of words are not used. Raises `ConfigError` as `Base.load` does.
        """
        del kinds
        loose: Any = self.base.load(device=device)
        return DecoderModel(loose.model.to(torch.bfloat16)).to(device)

    def encode(self, windows: Sequence[LabelledWindow], *, limit: int) -> list[EncodedWindow]:
        """Encode windows in at most `limit` pieces each, the source first."""
        loose: Any = self.base.tokenizer()

        def cut(text: str) -> list[int]:
            numbers: list[int] = loose.encode(text, add_special_tokens=False)
            return numbers

        pieces = ProsePieces(cut, start=START, max_length=limit)
        return [_encoded(pieces, window) for window in windows]

    def write(self, model: DecoderModel, folder: Path, *, max_length: int) -> None:
        """Write the trained weights in 16-bit floats, and the card of a reader."""
        learnt: dict[str, Any] = {}
        for name, weight in model.named_parameters():
            if weight.requires_grad:
                values = weight.detach().cpu()
                stored = _stored_name(name)
                learnt[stored] = (values * _SCALE if stored.endswith(".up") else values).numpy()
        np.savez(
            folder / MATRICES,
            **{name: matrix.astype(np.float16) for name, matrix in learnt.items()},
        )
        card = ReaderCard(
            name="decoder",
            version=VERSION,
            files={MATRICES: file_digest(folder / MATRICES)},
            max_length=max_length,
            room=self.room,
            base=file_digest(self.base.folder / self.base.gguf),
        )
        write_reader_card(folder, card)


def _stored_name(name: str) -> str:
    """Return a low-rank matrix's name in GGUF; the name of a head's weight unchanged."""
    _, separator, rest = name.partition("decoder.layers.")
    if not separator:
        return name
    layer, _, matrix = rest.partition(".")
    projection, _, part = matrix.rpartition(".")
    return f"blk.{layer}.{_NAMES[projection]}.{part}"


def _encoded(pieces: ProsePieces, labelled: LabelledWindow) -> EncodedWindow:
    prose = pieces.prose(labelled.window)
    start = len(prose.source)
    kinds = [_SOURCE] * start + [_INNER] * len(prose.sentence)
    positions, labels = [], []
    for last, label in zip(prose.lasts, labelled.words, strict=True):
        if last is not None:
            kinds[start + last] = _LAST
            positions.append(start + last)
            labels.append(int(label))
    return EncodedWindow(
        ids=prose.source + prose.sentence,
        kinds=tuple(kinds),
        positions=tuple(positions),
        labels=tuple(labels),
        sentence=int(labelled.sentence),
        group=labelled.group,
    )
