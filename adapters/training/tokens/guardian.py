"""A causal language model that learns to answer a guardian's question in one word.

Low-rank matrices [1]_ are trained beside the projections in the upper half of its layers; the base
is frozen. A passage is read once for all its claims. Training fits the probability of one answer
against the other, by which the judge ``guardian`` decides.

References
----------
.. [1] Hu et al. (2022), LoRA: low-rank adaptation of large language models, ICLR
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from transformers import PreTrainedTokenizerBase

from spanjury.adapters.causal.base import Base, find_base
from spanjury.adapters.training.tokens.encoding import EncodedWindow
from spanjury.adapters.training.tokens.job import Question
from spanjury.judges.core import ClaimUnit, ConfigError, LabelledPair
from spanjury.judges.core.lazy import library

Halves = NDArray[np.float16]
Ids = tuple[int, ...]

ADAPTER = "adapter.gguf"
"""File of the trained matrices, which llama.cpp adds to the base."""

_RANK, _ALPHA = 8, 16.0
_USUAL_LENGTH = 1024  # tokens of a passage, a claim and the question
_MOST_PACKED = 640  # tokens per pack; the endings of one beginning may exceed it
_LEAST_ROOM = 2  # a token of a passage, and one of a claim
_BEGINNING, _ENDING = 0, 1  # kinds of tokens
_DOCUMENT, _CLAIM = "$document", "$claim"
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
_LLAMA = "llama"
_ARCHITECTURES = (_LLAMA, "qwen2", "qwen3")
"""Types of models whose projections have these names, and that GGUF calls by the same name."""


class LowRank(nn.Module):
    """A frozen projection with two small trainable matrices beside it."""

    def __init__(self, projection: nn.Linear) -> None:
        super().__init__()
        self.projection = projection
        size = projection.in_features
        self.down = nn.Parameter(torch.randn(_RANK, size) * size**-0.5)
        self.up = nn.Parameter(torch.zeros(projection.out_features, _RANK))

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Return the projection of ``(..., inputs)``."""
        down, up = self.down.to(states.dtype), self.up.to(states.dtype)
        added: torch.Tensor = self.projection(states) + (states @ down.T) @ up.T * (_ALPHA / _RANK)
        return added


class GuardianModel(nn.Module):
    """A causal language model with the interface of a classifier of pairs in two classes.

    Parameters
    ----------
    model
        The base, which gets matrices in place.
    answers
        The tokens that mean *supported* and *not supported*.
    """

    def __init__(self, model: nn.Module, *, answers: tuple[int, int]) -> None:
        super().__init__()
        untyped: Any = model
        for weight in untyped.parameters():
            weight.requires_grad = False
        layers = untyped.model.layers
        for layer in layers[len(layers) // 2 :]:
            for name in _NAMES:
                parent_name, _, projection = name.rpartition(".")
                parent = layer.get_submodule(parent_name)
                setattr(parent, projection, LowRank(getattr(parent, projection)))
        self.model = model
        self._answers = list(answers)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> tuple[None, torch.Tensor]:
        """Return no logits of tokens, and the logits of the two answers, ``(batch, 2)``."""
        starts = ((token_type_ids == _BEGINNING) & (attention_mask > 0)).sum(1).tolist()
        ends = attention_mask.sum(1).tolist()
        rows = input_ids.tolist()
        beginnings = [tuple(row[:start]) for row, start in zip(rows, starts, strict=True)]
        endings = [
            tuple(row[start:end]) for row, start, end in zip(rows, starts, ends, strict=True)
        ]
        last_states: dict[int, torch.Tensor] = {}
        for pack in packs(beginnings, endings):
            states = self._states(pack)
            for number in np.unique(pack.texts[pack.texts >= 0]).tolist():
                last_states[number] = states[np.flatnonzero(pack.texts == number)[-1]]
        untyped: Any = self.model
        # In bfloat16, logits of 20 would be rounded to eighths.
        head = untyped.get_output_embeddings().weight[self._answers].float()
        last = torch.stack([last_states[index] for index in range(len(rows))])
        return None, last.float() @ head.T

    def fresh(self) -> list[nn.Parameter]:
        """Return no weights: the new matrices add nothing to the base until they are trained."""
        return []

    def _states(self, pack: "Pack") -> torch.Tensor:
        untyped: Any = self.model
        kind = next(untyped.parameters()).dtype
        mask = torch.zeros(pack.allowed.shape, dtype=kind)
        mask.masked_fill_(~torch.from_numpy(pack.allowed), torch.finfo(kind).min)
        states: torch.Tensor = untyped.model(
            input_ids=torch.from_numpy(pack.ids)[None],
            position_ids=torch.from_numpy(pack.positions)[None],
            attention_mask=mask[None, None],
            use_cache=False,
        ).last_hidden_state[0]
        return states


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardianBase:
    """A causal language model in GGUF that is asked `question` about pairs.

    Question, passage and claim have at most `max_length` tokens.
    """

    base: Base
    question: Question
    max_length: int
    _tokenizer: PreTrainedTokenizerBase = field(repr=False, compare=False)

    unit: ClaimUnit = "sentence"

    @property
    def identity(self) -> str:
        """The base's name with a digest of its files."""
        return self.base.identity

    @property
    def room(self) -> int:
        """Maximum number of tokens of passage and claim together."""
        return self.max_length - len(self._tokens("".join(self._conversation())))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text."""
        return [len(self._tokens(text)) for text in texts]

    def load(self, *, kinds: int, device: torch.device) -> GuardianModel:
        """Load the base, frozen in bfloat16, with new matrices; `kinds` of words are not used.

        Raises `ConfigError` as `Base.load` does, if the answers are not single tokens, or if no
        adapter can be written for the architecture.
        """
        del kinds
        answers = [self._tokens(answer) for answer in (self.question.right, self.question.wrong)]
        if any(len(tokens) != 1 for tokens in answers):
            raise ConfigError(f"{self.base.name!r} needs several tokens for one answer")
        (right,), (wrong,) = answers
        untyped: Any = self.base.load(device=device)
        if (kind := untyped.config.model_type) not in _ARCHITECTURES:
            raise ConfigError(
                f"{self.base.name!r} has the architecture {kind!r}; a guardian's adapter is for one"
                f" of {', '.join(_ARCHITECTURES)}"
            )
        return GuardianModel(untyped.to(torch.bfloat16), answers=(right, wrong)).to(device)

    def encode(self, pairs: Sequence[LabelledPair], *, limit: int) -> list[EncodedWindow]:
        """Encode pairs in at most `limit` tokens each; a passage that is too long loses its end."""
        after = self._conversation()[2]
        encoded = []
        for labelled in pairs:
            ending = self._tokens(f" {labelled.pair.claim}{after}")
            beginning = self._beginning(labelled.pair.passage, most=limit - len(ending))
            kinds = (_BEGINNING,) * len(beginning) + (_ENDING,) * len(ending)
            encoded.append(
                EncodedWindow(
                    ids=beginning + ending,
                    kinds=kinds,
                    positions=(),
                    labels=(),
                    sentence=int(labelled.label),
                    group=labelled.group,
                )
            )
        return encoded

    def write(self, model: GuardianModel, folder: Path, *, max_length: int) -> None:
        """Write the matrices in 16-bit floats, in the form of llama.cpp."""
        del max_length
        import gguf  # noqa: PLC0415  optional

        untyped: Any = model.model
        writer = gguf.GGUFWriter(folder / ADAPTER, untyped.config.model_type)
        writer.add_type(gguf.GGUFType.ADAPTER)
        writer.add_string("adapter.type", "lora")
        writer.add_float32("adapter.lora.alpha", _ALPHA)
        for name, weight in model.named_parameters():
            if weight.requires_grad:
                values = weight.detach().cpu().numpy().astype(np.float16)
                writer.add_tensor(_stored_name(name), _stored_rows(values, name, untyped.config))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()

    def _beginning(self, passage: str, *, most: int) -> Ids:
        """Return the conversation up to the claim in at most `most` tokens, if the frame fits."""
        before, between, _ = self._conversation()
        # llama.cpp reads it as one text: a full stop and the line break after it may be one token.
        whole = self._tokens(f"{before}{passage}{between}")
        if len(whole) <= most:
            return whole
        start, end = self._tokens(before), self._tokens(between)
        room = max(0, most - len(start) - len(end))
        return (*start, *self._tokens(passage)[:room], *end)

    def _tokens(self, text: str) -> Ids:
        untyped: Any = self._tokenizer
        return tuple(untyped.encode(text, add_special_tokens=False))

    def _conversation(self) -> tuple[str, str, str]:
        """Return the conversation before the document, between it and the claim, and after both."""
        untyped: Any = self._tokenizer
        messages = [
            {"role": "system", "content": self.question.system},
            {"role": "user", "content": self.question.user},
        ]
        whole: str = untyped.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
        before, _, rest = whole.partition(_DOCUMENT)
        between, _, after = rest.partition(f" {_CLAIM}")
        return before, between, after


def find_guardian_base(name: str, question: Question, *, max_length: int | None) -> GuardianBase:
    """Find the base called `name`.

    Raise `ConfigError` as `find_base` does, or if the question leaves no room for a claim.
    """
    library("gguf", extra="train")  # fail now, not hours later, when it writes the adapter
    base = find_base(name)
    guardian = GuardianBase(
        base=base,
        question=question,
        max_length=max_length or _USUAL_LENGTH,
        _tokenizer=base.tokenizer(),
    )
    if guardian.room < _LEAST_ROOM:
        raise ConfigError(
            f"--max-length {guardian.max_length}: the question alone has"
            f" {guardian.max_length - guardian.room} tokens; allow more"
        )
    return guardian


def _stored_name(name: str) -> str:
    """Return the name of a matrix in GGUF: ``lora_a`` is applied first."""
    _, _, rest = name.partition(".layers.")
    layer, _, matrix = rest.partition(".")
    projection, _, part = matrix.rpartition(".")
    return f"blk.{layer}.{_NAMES[projection]}.weight.lora_{'a' if part == 'down' else 'b'}"


def _stored_rows(matrix: Halves, name: str, config: Any) -> Halves:  # noqa: ANN401  of transformers
    """Return a matrix with its rows in the order of GGUF.

    In a Llama, whose rotation pairs neighbours, it interleaves the two halves of each head.
    """
    heads_of = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    *_, projection, part = name.split(".")
    heads: int | None = heads_of.get(projection)
    if config.model_type != _LLAMA or part != "up" or heads is None:
        return matrix
    return matrix.reshape(heads, 2, -1, _RANK).swapaxes(1, 2).reshape(matrix.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """Texts that begin alike, and share what they begin with, to be read in one pass.

    The beginnings and their endings are concatenated; arrays have the shape ``(tokens,)``.

    Parameters
    ----------
    ids, positions
        Id of each token, and its position after the start of its own text.
    allowed
        ``(tokens, tokens)``: whether the first attends to the second.
    texts
        Index of each token's text; -1 for tokens of a beginning.
    """

    ids: NDArray[np.int64]
    positions: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    texts: NDArray[np.int64]


def packs(beginnings: Sequence[Ids], endings: Sequence[Ids]) -> Iterator[Pack]:
    """Yield packs of texts, each with an item of `beginnings` and one of `endings`, as ids."""
    by_beginning: dict[Ids, list[int]] = {}
    for index, beginning in enumerate(beginnings):
        by_beginning.setdefault(beginning, []).append(index)
    group: dict[Ids, list[int]] = {}
    size = 0
    for beginning, indices in by_beginning.items():
        more = len(beginning) + sum(len(endings[index]) for index in indices)
        if group and size + more > _MOST_PACKED:
            yield _pack(group, endings)
            group, size = {}, 0
        group[beginning] = indices
        size += more
    if group:
        yield _pack(group, endings)


def _pack(group: dict[Ids, list[int]], endings: Sequence[Ids]) -> Pack:
    ids: list[int] = []
    positions: list[int] = []
    numbers: list[int] = []
    owners: list[int] = []
    for number, (beginning, indices) in enumerate(group.items()):
        start, count = len(ids), len(beginning)
        ids += beginning
        positions += range(count)
        owners += [-1] * count
        for index in indices:
            own = endings[index]
            ids += own
            positions += range(count, count + len(own))
            owners += [index] * len(own)
        numbers += [number] * (len(ids) - start)
    of_beginning, owner, order = np.array(numbers), np.array(owners), np.arange(len(ids))
    allowed = (of_beginning[:, None] == of_beginning) & (order[:, None] >= order)
    allowed &= (owner < 0) | (owner[:, None] == owner)
    return Pack(ids=np.array(ids), positions=np.array(positions), allowed=allowed, texts=owner)
