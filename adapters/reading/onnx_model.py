"""The model of an encoder reader: a session of onnxruntime, and the encoding of its windows.

A window is ``[CLS] sentence [SEP] source [SEP]``. Each piece has the kind of its word; special
tokens have kind 0.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
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
from spanjury.adapters.surrogates import without_lone_surrogates
from spanjury.judges.core import JudgeError, Likelihoods, Window, WindowReading

NO_KIND = 0
"""Kind of the special tokens ``[CLS]`` and ``[SEP]``."""

_MARKS = 3  # special tokens per window
_KEPT_WORDS = 1 << 15  # size of the cache of words: a lookup costs a tenth of tokenizing


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceWindow:
    """An encoded window, or a part of one whose sentence is too long.

    Parameters
    ----------
    ids, kinds
        Id and kind of each piece.
    first
        Number of pieces that are ``[CLS]`` or the sentence.
    positions
        For each word of the sentence, the position of its first piece; None for a word without
        pieces, such as invisible characters.
    """

    ids: Sequence[int]
    kinds: Sequence[int]
    first: int
    positions: Sequence[int | None]


class Pieces:
    """Encodes words one by one, which gives the same pieces as a BERT tokenizer on the whole text.

    Raises `ValueError` if the tokenizer lacks a special token.

    Parameters
    ----------
    tokenizer
        Must have ``[CLS]`` and ``[SEP]``.
    max_length
        Maximum number of pieces per window. A sentence gets at most half of them; the source gets
        the rest, and loses its end if it is longer.
    """

    def __init__(self, tokenizer: Tokenizer, *, max_length: int) -> None:
        self._begin, self._end = (_mark(tokenizer, mark) for mark in ("[CLS]", "[SEP]"))
        self._max_length = max_length
        self._tokenizer = tokenizer
        self._of_word = lru_cache(maxsize=_KEPT_WORDS)(self._cut)

    def windows(self, window: Window) -> list[PieceWindow]:
        """Encode `window` as one window, or as several if its sentence has too many pieces."""
        words = [self._of_word(word) for word in window.words]
        source = [self._of_word(word) for word in window.source]
        parts = _parts([len(pieces) for pieces in words], most=self._max_length // 2)
        source_pieces = _spread(source, window.source_kinds)
        return [
            self._window(words[first:stop], window.kinds[first:stop], source=source_pieces)
            for first, stop in parts
        ]

    def _window(
        self,
        words: Sequence[Sequence[int]],
        kinds: Sequence[int],
        *,
        source: tuple[Sequence[int], Sequence[int]],
    ) -> PieceWindow:
        half = self._max_length // 2
        positions: list[int | None] = []
        position = 1
        for pieces in words:
            positions.append(position if pieces else None)
            position += len(pieces)
        ids, ids_kinds = (part[:half] for part in _spread(words, kinds))
        room = self._max_length - _MARKS - len(ids)
        source_ids, source_kinds = (part[:room] for part in source)
        return PieceWindow(
            ids=[self._begin, *ids, self._end, *source_ids, self._end],
            kinds=[NO_KIND, *ids_kinds, NO_KIND, *source_kinds, NO_KIND],
            first=1 + len(ids),
            positions=positions,
        )

    def _cut(self, word: str) -> tuple[int, ...]:
        word = without_lone_surrogates(word)
        cut = self._tokenizer.encode([word], is_pretokenized=True, add_special_tokens=False)
        return tuple(cut.ids)


def _mark(tokenizer: Tokenizer, mark: str) -> int:
    number = tokenizer.token_to_id(mark)
    if number is None:
        raise ValueError(f"the tokenizer does not know {mark}")
    return number


def _parts(lengths: Sequence[int], *, most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of words with at most `most` pieces; a longer word gets its own range."""
    first = size = 0
    for at, length in enumerate(lengths):
        if at > first and size + length > most:
            yield first, at
            first, size = at, 0
        size += length
    yield first, len(lengths)


def _spread(
    words: Sequence[Sequence[int]], kinds: Sequence[int]
) -> tuple[Sequence[int], Sequence[int]]:
    """Return the pieces of words, and for each piece the kind of its word."""
    each = zip(words, kinds, strict=True)
    return list(chain.from_iterable(words)), [kind for word, kind in each for _ in word]


Logits = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Logits of a window: ``(first pieces, classes)`` and ``(classes,)``, in the model's order."""

_NOTHING = Likelihoods(supported=1.0, contradicted=0.0, absent=0.0)
_NEEDED = ("input_ids", "token_type_ids")
_KEPT = 4096  # cached windows, 2 kB each: systems and exams repeat sentences
_ERRORS_ONLY = 3  # onnxruntime's log level for errors
_ANY: Any = onnxruntime  # onnxruntime has no type annotations


class OnnxModel:
    """A session, which serves all threads; the logits of recent windows are cached."""

    def __init__(
        self, run: Callable[[bytes, int], Logits], pieces: Pieces, card: ReaderCard
    ) -> None:
        self.run = lru_cache(maxsize=_KEPT)(run)
        self._pieces = pieces
        self._order = [card.classes.index(name) for name in CLASSES]

    def readings(self, windows: Sequence[Window]) -> list[WindowReading]:
        """Read windows one by one.

        Batches would be slower on one core. They would also change the results, because activations
        are quantised by the largest value in the batch.
        """
        return list(map(self._reading, windows))

    def _reading(self, window: Window) -> WindowReading:
        """Read one window; a sentence of several parts gets the label of its worst part."""
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
        """Return the softmax over the last axis, in the order of `CLASSES`."""
        shifted = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
        powers = np.exp(shifted)
        shares: list[Any] = (powers / powers.sum(axis=-1, keepdims=True))[..., self._order].tolist()
        return shares


def load_model(folder: Path, card: ReaderCard) -> OnnxModel:
    """Check the files of `card` and create the session.

    Raises `JudgeError` if a file is missing or does not match its digest, or the model has other
    inputs or outputs. Errors of onnxruntime are passed on.
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
        # Fused, the addition before a normalisation takes six times as long.
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
    """Run the model on ids and kinds, passed as bytes because these make a smaller cache key."""
    ids, kinds = np.frombuffer(pieces, dtype=np.int32).astype(np.int64).reshape(2, 1, -1)
    tensors = dict(zip(INPUTS, (ids, np.ones_like(ids), kinds), strict=True))
    tensors[FIRST_PIECES] = np.array([first])
    taken = {tensor.name: tensors[tensor.name] for tensor in session.get_inputs()}
    by_piece, of_sentence = session.run(list(OUTPUTS), taken)
    return by_piece[0, :first], of_sentence[0]
