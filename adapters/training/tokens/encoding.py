"""Windows as word pieces: the encoder's input, and the positions of the labels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedTokenizerBase

from spanjury.judges.core import Label, LabelledWindow

_CHUNK = 1000  # windows tokenized per call


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedWindow:
    """A labelled window as word pieces.

    Parameters
    ----------
    ids, kinds
        Id and kind of each piece.
    positions
        Positions of the first pieces of the sentence's words, where their labels apply.
    labels
        One label for each position.
    """

    ids: tuple[int, ...]
    kinds: tuple[int, ...]
    positions: tuple[int, ...]
    labels: tuple[int, ...]
    sentence: int
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowBatch:
    """Windows as tensors ``(batch, length)``, padded on the right.

    `labels` are `Label.UNKNOWN` where there is no label; `words` is True where a word begins.
    `sentences` and `groups`, with an index for each group, are ``(batch,)``.
    """

    ids: torch.Tensor
    mask: torch.Tensor
    kinds: torch.Tensor
    labels: torch.Tensor
    words: torch.Tensor
    sentences: torch.Tensor
    groups: torch.Tensor


def encode(
    windows: Sequence[LabelledWindow], tokenizer: PreTrainedTokenizerBase, *, limit: int
) -> list[EncodedWindow]:
    """Encode windows in at most `limit` pieces each; longer ones lose the end of the source."""
    encoded = []
    for start in range(0, len(windows), _CHUNK):
        chunk = windows[start : start + _CHUNK]
        pieces = tokenizer(
            [list(window.window.words) for window in chunk],
            [list(window.window.source) for window in chunk],
            is_split_into_words=True,
            truncation="only_second",
            max_length=limit,
        ).encodings
        assert pieces is not None, "a fast tokenizer gives encodings"
        encoded += [
            _encoded(window, ids=piece.ids, words=piece.word_ids, sides=piece.sequence_ids)
            for window, piece in zip(chunk, pieces, strict=True)
        ]
    return encoded


def _encoded(
    labelled: LabelledWindow,
    *,
    ids: Sequence[int],
    words: Sequence[int | None],
    sides: Sequence[int | None],
) -> EncodedWindow:
    window = labelled.window
    kinds, positions, labels = [], [], []
    last = -1
    for at, (word, side) in enumerate(zip(words, sides, strict=True)):
        if word is None:
            kinds.append(0)
            continue
        kinds.append(window.source_kinds[word] if side else window.kinds[word])
        if not side and word != last:
            last = word
            positions.append(at)
            labels.append(int(labelled.words[word]))
    return EncodedWindow(
        ids=tuple(ids),
        kinds=tuple(kinds),
        positions=tuple(positions),
        labels=tuple(labels),
        sentence=int(labelled.sentence),
        group=labelled.group,
    )


def stacked(windows: Sequence[EncodedWindow], *, device: torch.device) -> WindowBatch:
    """Stack windows as padded tensors."""

    def padded(rows: Iterable[Sequence[int]]) -> torch.Tensor:
        return pad_sequence([torch.tensor(row) for row in rows], batch_first=True).to(device)

    ids = padded(window.ids for window in windows)
    labels = torch.full(ids.shape, int(Label.UNKNOWN))
    words = torch.zeros(ids.shape, dtype=torch.bool)
    for row, window in enumerate(windows):
        positions = torch.tensor(window.positions, dtype=torch.long)
        labels[row, positions] = torch.tensor(window.labels, dtype=torch.long)
        words[row, positions] = True
    numbers: dict[str, int] = {}
    groups = [numbers.setdefault(window.group, len(numbers)) for window in windows]
    return WindowBatch(
        ids=ids,
        mask=padded([1] * len(window.ids) for window in windows),
        kinds=padded(window.kinds for window in windows),
        labels=labels.to(device),
        words=words.to(device),
        sentences=torch.tensor([window.sentence for window in windows], device=device),
        groups=torch.tensor(groups, device=device),
    )


def without_kinds(batch: WindowBatch, dropped: torch.Tensor) -> WindowBatch:
    """Set the kinds of `dropped` windows, a mask ``(batch,)``, to zero."""
    kept = (~dropped).to(batch.kinds.device, batch.kinds.dtype)
    return replace(batch, kinds=batch.kinds * kept[:, None])


@lru_cache(maxsize=2)
def epoch_batches(
    lengths: tuple[int, ...], groups: tuple[str, ...], *, batch_tokens: int, seed: int
) -> tuple[tuple[int, ...], ...]:
    """Distribute windows over the batches of an epoch, keeping groups and similar lengths together.

    Parameters
    ----------
    lengths, groups
        Length and group of each window; windows of one group must be adjacent.
    batch_tokens
        Number of pieces per batch, padding included; a longer window forms its own batch.
    seed
        Seed of the order.
    """
    chance = torch.Generator().manual_seed(seed)
    runs = _runs(groups)
    drawn = [runs[index] for index in torch.randperm(len(runs), generator=chance).tolist()]
    batches: list[tuple[int, ...]] = []
    for start in range(0, len(drawn), _POOL):
        pool = sorted(drawn[start : start + _POOL], key=lambda run: lengths[run[0]])
        dealt = _dealt(pool, lengths, batch_tokens)
        order = torch.randperm(len(dealt), generator=chance).tolist()
        batches += [dealt[index] for index in order]
    return tuple(batches)


_POOL = 128  # groups that are sorted by length together
_MOST_TOGETHER = 16  # windows of a group per batch


def _runs(groups: Sequence[str]) -> list[list[int]]:
    runs: list[list[int]] = []
    for index, group in enumerate(groups):
        if runs and groups[runs[-1][-1]] == group and len(runs[-1]) < _MOST_TOGETHER:
            runs[-1].append(index)
        else:
            runs.append([index])
    return runs


def _dealt(
    runs: Sequence[Sequence[int]], lengths: Sequence[int], batch_tokens: int
) -> list[tuple[int, ...]]:
    """Fill batches with whole runs; a run that exceeds a batch forms its own."""
    dealt: list[tuple[int, ...]] = []
    batch: list[int] = []
    for run in runs:
        longest = max(lengths[index] for index in (*batch, *run))
        if batch and longest * (len(batch) + len(run)) > batch_tokens:
            dealt.append(tuple(batch))
            batch = []
        batch += run
    return [*dealt, tuple(batch)]
