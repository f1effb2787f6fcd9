"""The model of a window reader: a session of onnxruntime, and what cuts words for it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from spanjury.adapters.reading.card import (
    CARD,
    CLASSES,
    INPUTS,
    MODEL,
    OUTPUTS,
    TOKENIZER,
    ReaderCard,
    file_digest,
)
from spanjury.adapters.reading.pieces import Pieces, PieceWindow
from spanjury.judges.core import JudgeError, Likelihoods, Window, WindowReading

Logits = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Of one window: ``(pieces, classes)`` and ``(classes,)``, in the model's order of classes."""

_NOTHING = Likelihoods(supported=1.0, contradicted=0.0, absent=0.0)
_ERRORS_ONLY = 3  # onnxruntime's number for what it logs
_ANY: Any = onnxruntime  # it has no types


class OnnxModel:
    """A session, which serves all threads."""

    def __init__(
        self, run: Callable[[PieceWindow], Logits], pieces: Pieces, card: ReaderCard
    ) -> None:
        self._run = run
        self._pieces = pieces
        self._order = [card.classes.index(name) for name in CLASSES]

    def reading(self, window: Window) -> WindowReading:
        """Read one window; a sentence of several parts is as good as the worst of them."""
        words: list[Likelihoods] = []
        parts: list[Likelihoods] = []
        for part in self._pieces.windows(window):
            by_piece, of_part = map(self._likelihoods, self._run(part))
            words += [
                _NOTHING if place is None else Likelihoods(*by_piece[place])
                for place in part.places
            ]
            parts.append(Likelihoods(*of_part))
        worst = min(parts, key=lambda part: part.supported)
        return WindowReading(words=tuple(words), sentence=worst)

    def _likelihoods(self, logits: NDArray[np.float32]) -> list[Any]:
        """Return the softmax over the last axis, in spanjury's order of classes."""
        shifted = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
        powers = np.exp(shifted)
        shares: list[Any] = (powers / powers.sum(axis=-1, keepdims=True))[..., self._order].tolist()
        return shares


def load_model(folder: Path, card: ReaderCard) -> OnnxModel:
    """Check the files of `card` and make the session.

    Raises `JudgeError` if a file is missing or is not the one that the card says, or the model
    takes or gives other tensors; and whatever onnxruntime raises.
    """
    for name, digest in card.files.items():
        if _digest(folder / name) != digest:
            raise JudgeError(f"{folder / name} is not the file that {CARD} beside it says")
    options = _ANY.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    session = _ANY.InferenceSession(
        str(folder / MODEL), options, providers=["CPUExecutionProvider"]
    )
    asked = {tensor.name for tensor in session.get_inputs()}
    given = {tensor.name for tensor in session.get_outputs()}
    if asked != set(INPUTS) or not given.issuperset(OUTPUTS):
        raise JudgeError(f"{folder / MODEL} takes {sorted(asked)} and gives {sorted(given)}")
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    return OnnxModel(partial(_run, session), Pieces(tokenizer, max_length=card.max_length), card)


def _digest(file: Path) -> str:
    try:
        return file_digest(file)
    except OSError as error:
        raise JudgeError(f"the reader's file cannot be read: {error}") from error


def _run(session: Any, window: PieceWindow) -> Logits:  # noqa: ANN401 - onnxruntime has no types
    ids = np.array([window.ids], dtype=np.int64)
    kinds = np.array([window.kinds], dtype=np.int64)
    tensors = dict(zip(INPUTS, (ids, np.ones_like(ids), kinds), strict=True))
    by_piece, of_sentence = session.run(list(OUTPUTS), tensors)
    return by_piece[0], of_sentence[0]
