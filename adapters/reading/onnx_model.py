"""The model of a window reader: a session of onnxruntime, and what cuts words for it."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from spanjury.adapters.reading.card import (
    CARD,
    CLASSES,
    FIRST_PIECES,
    INPUTS,
    MODEL,
    OUTPUTS,
    TOKENIZER,
    ReaderCard,
    file_digest,
)
from spanjury.adapters.reading.pieces import Pieces
from spanjury.judges.core import JudgeError, Likelihoods, Window, WindowReading

Logits = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Logits of a window: ``(first pieces, classes)`` and ``(classes,)``, in the model's order."""

_NOTHING = Likelihoods(supported=1.0, contradicted=0.0, absent=0.0)
_NEEDED = ("input_ids", "token_type_ids")
_KEPT = 4096  # windows whose logits are kept, 2 kB each: systems and exams repeat sentences
_ERRORS_ONLY = 3  # onnxruntime's number for what it logs
_ANY: Any = onnxruntime  # it has no types


class OnnxModel:
    """A session, which serves all threads; what `run` said of the last windows is kept."""

    def __init__(
        self, run: Callable[[bytes, int], Logits], pieces: Pieces, card: ReaderCard
    ) -> None:
        self.run = lru_cache(maxsize=_KEPT)(run)
        self._pieces = pieces
        self._order = [card.classes.index(name) for name in CLASSES]

    def readings(self, windows: Sequence[Window]) -> list[WindowReading]:
        """Read windows one by one.

        Batches would be slower on one core, and, since the numbers inside the model are rounded
        by the largest in a batch, neighbours would change what it says.
        """
        return list(map(self._reading, windows))

    def _reading(self, window: Window) -> WindowReading:
        """Read one window; a sentence of several parts is as good as the worst of them."""
        words: list[Likelihoods] = []
        parts: list[Likelihoods] = []
        for part in self._pieces.windows(window):
            numbers = np.array([part.ids, part.kinds], dtype=np.int32).tobytes()
            by_piece, of_part = map(self._likelihoods, self.run(numbers, part.first))
            words += [
                _NOTHING if position is None else Likelihoods(*by_piece[position])
                for position in part.positions
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
        str(folder / MODEL),
        options,
        providers=["CPUExecutionProvider"],
        # Fused, the sum before a normalisation takes six times as long as apart.
        disabled_optimizers=["SkipLayerNormFusion"],
    )
    taken = {tensor.name for tensor in session.get_inputs()}
    given = {tensor.name for tensor in session.get_outputs()}
    if not {*INPUTS, FIRST_PIECES} >= taken >= {*_NEEDED} or not given.issuperset(OUTPUTS):
        raise JudgeError(f"{folder / MODEL} takes {sorted(taken)} and gives {sorted(given)}")
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    return OnnxModel(partial(_run, session), Pieces(tokenizer, max_length=card.max_length), card)


def _digest(file: Path) -> str:
    try:
        return file_digest(file)
    except OSError as error:
        raise JudgeError(f"the reader's file cannot be read: {error}") from error


def _run(session: Any, pieces: bytes, first: int) -> Logits:  # noqa: ANN401 - it has no types
    """Run the model on ids and kinds; bytes, since the same as numbers is a larger key."""
    ids, kinds = np.frombuffer(pieces, dtype=np.int32).astype(np.int64).reshape(2, 1, -1)
    tensors = dict(zip(INPUTS, (ids, np.ones_like(ids), kinds), strict=True))
    tensors[FIRST_PIECES] = np.array([first])
    taken = {tensor.name: tensors[tensor.name] for tensor in session.get_inputs()}
    by_piece, of_sentence = session.run(list(OUTPUTS), taken)
    return by_piece[0, :first], of_sentence[0]
