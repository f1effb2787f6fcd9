"""A checker's model, run by torch; transformers loads it."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification

from spanjury.adapters.checkers.card import CheckerCard
from spanjury.adapters.torch_models import (
    ModelKind,
    find_device,
    load_tokenizer,
    load_weights,
)
from spanjury.judges.core import ConfigError

_KINDS: dict[str, ModelKind] = {
    "sequence": AutoModelForSequenceClassification,
    "token": AutoModelForTokenClassification,
}


def load_words(card: CheckerCard) -> Tokenizer:
    """Load the tokenizer as transformers does; raise `ConfigError` if it is of no fast kind."""
    loaded: Any = load_tokenizer(str(card.folder), card.folder)
    words = getattr(loaded, "backend_tokenizer", None)
    if not isinstance(words, Tokenizer):
        raise ConfigError(f"{card.folder} has no tokenizer of the fast kind: tokenizer.json")
    return words


class TorchModel:
    """A model on its device, in 32-bit floats.

    `network` is the module of torch, and `inputs` are the names of the tensors that it takes.

    Raises
    ------
    ConfigError
        If it does not load, or its files lack weights.
    """

    def __init__(self, card: CheckerCard, *, device: str) -> None:
        where = find_device(device)
        model, lacking = load_weights(
            str(card.folder),
            card.folder,
            kind=_KINDS[card.head],
            dtype=torch.float32,
            use_safetensors=True,
        )
        if lacking:
            raise ConfigError(
                f"{card.folder} is not a whole checker: its weights lack {lacking[0]!r}"
            )
        self.network: Any = model.to(where)  # type: ignore[arg-type]  # transformers hides the signature
        self._device = where
        takes_types = bool(getattr(model.config, "type_vocab_size", 0))
        self.inputs = ("input_ids", "attention_mask", *["token_type_ids"] * takes_types)

    def logits(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], types: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return ``(pairs, classes)``, or ``(pairs, tokens, classes)`` from a classifier of tokens.

        The arrays are ``(pairs, tokens)``.
        """
        tensors = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        with torch.inference_mode():
            output = self.network(
                **{name: torch.from_numpy(tensors[name]).to(self._device) for name in self.inputs}
            )
        logits: NDArray[np.float32] = output.logits.float().cpu().numpy()
        return logits
