"""A checker's model run by torch, with the classes of transformers."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    RobertaConfig,
    RobertaModel,
    T5Config,
    T5ForTokenClassification,
)
from transformers.modeling_outputs import SequenceClassifierOutput

from spanjury.adapters.checkers.card import HEADS, CheckerCard, Head
from spanjury.adapters.torch_models import (
    ModelKind,
    find_device,
    load_tokenizer,
    load_weights,
    quietly,
)
from spanjury.judges.core import ConfigError

_KINDS: Mapping[Head, ModelKind] = {
    "sequence": AutoModelForSequenceClassification,
    "token": AutoModelForTokenClassification,
    "writer": AutoModelForSeq2SeqLM,
}
_WEIGHT_FILES = "model*.safetensors"
_T5_WORDS, _T5_BLOCK = "transformer.shared.weight", "transformer.encoder.block."
_UNREADABLE = (OSError, ValueError, TypeError)
_SMALLEST_SHARE = 1e-6  # so that its logarithm is finite


def load_words(card: CheckerCard) -> Tokenizer:
    """Load the tokenizer through transformers; raise `ConfigError` if it is not a fast one."""
    loaded: Any = load_tokenizer(str(card.folder), card.folder)
    words = getattr(loaded, "backend_tokenizer", None)
    if not isinstance(words, Tokenizer):
        raise ConfigError(f"{card.folder} has no tokenizer of the fast kind: tokenizer.json")
    return words


def has_half_precision() -> bool:
    """Return whether there is a GPU that supports bfloat16."""
    return torch.cuda.is_available() and torch.cuda.is_bf16_supported()


class TorchModel:
    """A model on its device, in bfloat16 if `is_half`, otherwise in 32-bit floats.

    `answers` are the tokens that stand for the classes of an encoder-decoder.

    `network` is the torch module, and `inputs` are the names of the tensors that it takes.

    Raises `ConfigError` if it does not load, or its files lack weights.
    """

    def __init__(
        self, card: CheckerCard, *, answers: Sequence[int] = (), device: str, is_half: bool = False
    ) -> None:
        where = find_device(device)
        model, lacking = _OWN.get(card.head, _usual)(card)
        if lacking:
            raise ConfigError(
                f"{card.folder} is not a whole checker: its weights lack {lacking[0]!r}"
            )
        self.network: Any = model.to(where, torch.bfloat16 if is_half else torch.float32).eval()
        self._device = where
        self._answers = list(answers)
        self._padding = card.padding
        takes_types = bool(getattr(model.config, "type_vocab_size", 0))
        self.inputs = ("input_ids", "attention_mask", *["token_type_ids"] * takes_types)

    def logits(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], types: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return ``(pairs, classes)``, or ``(pairs, tokens, classes)`` from a classifier of tokens.

        The arrays are ``(pairs, tokens)``.
        """
        logits = self._run(
            ids, mask, **({"token_type_ids": types} if "token_type_ids" in self.inputs else {})
        )
        return logits[:, self._answers] if self._answers else logits

    def share_of_answers(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> float:
        """Return the probability that an encoder-decoder writes one of its answers on one pair."""
        logits = self._run(ids, mask)[0].astype(np.float64)
        powers = np.exp(logits - logits.max())
        return float(powers[self._answers].sum() / powers.sum())

    def _run(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], **others: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the logits; those of an encoder-decoder are for the first token that it writes."""
        tensors = {
            name: torch.from_numpy(array).to(self._device)
            for name, array in {"input_ids": ids, "attention_mask": mask, **others}.items()
        }
        if self._answers:
            start = torch.full_like(tensors["input_ids"][:, :1], self._padding)
            tensors["decoder_input_ids"] = start  # T5's decoder starts from the padding token
        with torch.inference_mode():
            output: torch.Tensor = self.network(**tensors).logits
        output = output[:, 0] if self._answers else output
        logits: NDArray[np.float32] = output.float().cpu().numpy()
        return logits


def _usual(card: CheckerCard) -> tuple[Any, list[str]]:
    """Return a model loaded by transformers, and the names of its missing weights."""
    return load_weights(
        str(card.folder),
        card.folder,
        kind=_KINDS[card.head],
        dtype=torch.float32,
        use_safetensors=True,
        trust_remote_code=False,
    )


def _hhem(card: CheckerCard) -> tuple[Any, list[str]]:
    """Return HHEM's encoder and head; its sizes are read from weights, as no file states them."""
    weights = _weights(card, prefix="t5.")
    attention = f"{_T5_BLOCK}0.layer.0.SelfAttention"
    dense = f"{_T5_BLOCK}0.layer.1.DenseReluDense"
    is_gated = f"{dense}.wi_0.weight" in weights
    needed = (
        _T5_WORDS,
        f"{attention}.q.weight",
        f"{attention}.relative_attention_bias.weight",
        f"{dense}.wi_0.weight" if is_gated else f"{dense}.wi.weight",
    )
    if lacking := [name for name in needed if name not in weights]:
        return None, lacking
    (words, size), (inner, _), (buckets, heads), (wide, _) = (
        weights[name].shape for name in needed
    )
    blocks = {name.split(".")[3] for name in weights if name.startswith(_T5_BLOCK)}
    config = T5Config(
        vocab_size=words,
        d_model=size,
        num_heads=heads,
        d_kv=inner // heads,
        d_ff=wide,
        num_layers=len(blocks),
        relative_attention_num_buckets=buckets,
        feed_forward_proj="gated-gelu" if is_gated else "relu",
    )
    weights.setdefault("transformer.encoder.embed_tokens.weight", weights[_T5_WORDS])
    return _filled(card, partial(T5ForTokenClassification, config), weights)


class _AlignScore(torch.nn.Module):
    """RoBERTa with one of AlignScore's heads; `outputs` is 1 for the regression head."""

    def __init__(self, config: RobertaConfig, *, layer: str, outputs: int) -> None:
        super().__init__()
        self.config = config
        self.base_model = RobertaModel(config)
        self.add_module(layer, torch.nn.Linear(config.hidden_size, outputs))
        self._layer = layer

    def forward(self, **tensors: torch.Tensor) -> SequenceClassifierOutput:
        """Return the logits of the classes."""
        pooled = self.base_model(**tensors).pooler_output
        logits = self.get_submodule(self._layer)(pooled)
        if logits.shape[-1] == 1:  # regression towards 0 or 1, so the output may lie outside
            # In bfloat16 the greatest share would be rounded to 1, whose logarithm is infinite.
            share = logits.float().clamp(_SMALLEST_SHARE, 1 - _SMALLEST_SHARE)
            logits = torch.cat([torch.log1p(-share), torch.log(share)], dim=-1)
        return SequenceClassifierOutput(logits=logits)


def _alignscore(card: CheckerCard) -> tuple[Any, list[str]]:
    try:
        config = RobertaConfig.from_pretrained(card.folder, local_files_only=True)
    except _UNREADABLE as error:
        raise ConfigError(f"{card.folder} cannot be loaded: {error}") from error
    outputs = 1 if card.head == "alignscore-reg" else len(card.labels)
    make = partial(_AlignScore, config, layer=HEADS[card.head].layer, outputs=outputs)
    return _filled(card, make, _weights(card))


_OWN: Mapping[Head, Callable[[CheckerCard], tuple[Any, list[str]]]] = {
    "hhem": _hhem,
    "alignscore": _alignscore,
    "alignscore-bin": _alignscore,
    "alignscore-reg": _alignscore,
}
"""Models that transformers could load only by running their authors' code."""


def _weights(card: CheckerCard, *, prefix: str = "") -> dict[str, torch.Tensor]:
    """Read the weights whose names begin with `prefix`, and strip it."""
    return {
        name.removeprefix(prefix): weight
        for file in sorted(card.folder.glob(_WEIGHT_FILES))
        for name, weight in load_file(file).items()
        if name.startswith(prefix)
    }


def _filled(
    card: CheckerCard, make: Callable[[], torch.nn.Module], weights: Mapping[str, torch.Tensor]
) -> tuple[torch.nn.Module, list[str]]:
    """Return a model with these weights, and the names of its missing weights."""
    with quietly(), torch.random.fork_rng(devices=[]):  # as in `load_weights`
        model = make()
    try:
        lacking = model.load_state_dict(weights, strict=False).missing_keys
    except RuntimeError as error:  # it has a line for each weight of a wrong shape
        first = " ".join(str(error).split("\n")[:2])
        raise ConfigError(f"{card.folder} cannot be loaded: {first}") from error
    return model, sorted(lacking)
