"""A checker's model run by onnxruntime."""

from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from spanjury.adapters.checkers.card import CheckerCard
from spanjury.judges.core import ConfigError

_ERRORS_ONLY = 3  # onnxruntime's number for what it logs
LOGITS = "logits"
_ANY: Any = onnxruntime  # onnxruntime has no type annotations


class OnnxModel:
    """A CPU session of onnxruntime, which serves all threads.

    Raises `ConfigError` if the graph's inputs or outputs are not those of a classifier.
    """

    def __init__(self, card: CheckerCard) -> None:
        options = _ANY.SessionOptions()
        options.log_severity_level = _ERRORS_ONLY
        self._session = _ANY.InferenceSession(
            str(card.graph), options, providers=["CPUExecutionProvider"]
        )
        self._taken = [tensor.name for tensor in self._session.get_inputs()]
        given = [tensor.name for tensor in self._session.get_outputs()]
        known_inputs = {"input_ids", "attention_mask", "token_type_ids"}
        if "input_ids" not in self._taken or set(self._taken) - known_inputs or LOGITS not in given:
            raise ConfigError(f"{card.graph} takes {self._taken} and gives {given}: no classifier")

    def logits(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], types: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return ``(pairs, classes)``, or ``(pairs, tokens, classes)`` from a classifier of tokens.

        The arrays are ``(pairs, tokens)``.
        """
        tensors = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        logits: NDArray[np.float32]
        (logits,) = self._session.run([LOGITS], {name: tensors[name] for name in self._taken})
        return logits
