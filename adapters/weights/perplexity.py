"""Perplexity: the mean number of equally likely tokens from which a language model chooses [1].

A text that exceeds the model's maximum is read through a sliding window [2]: each token is
predicted once, from the tokens before it in the window.

References
----------
.. [1] Jelinek et al. (1977), Perplexity: a measure of the difficulty of speech recognition tasks,
   JASA 62(S1)
.. [2] Perplexity of fixed-length models, documentation of Hugging Face transformers
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version

import torch
from transformers import AutoModelForCausalLM

from spanjury.adapters.model_files import batches
from spanjury.adapters.weights.checkpoint import Checkpoint, CheckpointMetric
from spanjury.adapters.weights.tokens import Tokeniser, padded
from spanjury.judges.core import Sample, signature

_TOKENS = 1 << 12  # per batch, since each has logits for the whole vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Perplexity(CheckpointMetric):
    """The perplexity of an output under a causal language model.

    Parameters
    ----------
    model
        A folder or a hub id, such as ``gpt2``.
    window
        Tokens per window, 2 or more; 0 for the model's maximum.
    stride
        Tokens by which the window moves, fewer than its size; 0 for half of it. A smaller stride
        gives tokens more context, and takes longer.
    start
        Whether the text begins with a start token, so that its first own token is predicted, too;
        no effect with a model that has no such token.
    """

    window: int = 0
    stride: int = 0
    start: bool = True
    _window: int = field(init=False, repr=False, compare=False)
    _stride: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        checkpoint = self._find("perplexity", partial(_Reader, start=self.start))
        window = self.window or checkpoint.window
        if not 1 < window <= checkpoint.window:
            raise ValueError(f"window must be from 2 to {checkpoint.window}, got {self.window!r}")
        stride = self.stride or window // 2
        if not 0 < stride < window:
            raise ValueError(f"stride must be from 1 to {window - 1}, got {self.stride!r}")
        object.__setattr__(self, "_window", window)
        object.__setattr__(self, "_stride", stride)

    @property
    def signature(self) -> str:
        """The model and its windows."""
        return signature(
            "perplexity",
            model=self._checkpoint.identity,
            window=self._window,
            stride=self._stride,
            start=self.start,
            device=self._checkpoint.device,
            transformers=version("transformers"),
            torch=version("torch"),
        )

    def statistics(self, samples: Sequence[Sample], /) -> list[list[float]]:
        """Return for each sample the sum of -log p over its tokens, and their number."""
        reader: _Reader = self._engine.get()
        texts = [reader.tokens(sample.output) for sample in samples]
        windows = [
            (number, window)
            for number, tokens in enumerate(texts)
            for window in _windows(len(tokens), size=self._window, stride=self._stride)
        ]
        rows = [[0.0, float(max(0, len(tokens) - 1))] for tokens in texts]
        lengths = [window.end - window.start for _, window in windows]
        for batch in batches(lengths, size=self.batch_size, tokens=_TOKENS):
            members = [windows[index] for index in batch]
            losses = reader.losses([(texts[number], window) for number, window in members])
            for (number, _), loss in zip(members, losses, strict=True):
                rows[number][0] += loss
        return rows

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the perplexity, 1 or more, of all tokens together.

        Without tokens it is the size of the vocabulary, as for a uniform guess.
        """
        loss, tokens = total
        if not tokens:
            return float(self._checkpoint.config.vocab_size)
        # Near the largest argument for which `exp` does not overflow.
        return math.exp(min(loss / tokens, 709.0))

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the perplexity of each output."""
        return [self.score_statistics(row) for row in self.statistics(samples)]

    def score_corpus(self, samples: Sequence[Sample], /) -> float:
        """Return the perplexity of all outputs together, with equal weights for all tokens."""
        losses, tokens = zip(*self.statistics(samples), strict=True)
        return self.score_statistics((math.fsum(losses), math.fsum(tokens)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """The tokens ``[start, end)``; those from `first` on are predicted."""

    start: int
    end: int
    first: int


def _windows(length: int, *, size: int, stride: int) -> Iterator[_Window]:
    """Yield windows that together predict every token but the first exactly once."""
    done, start = 1, 0
    while done < length:
        end = min(start + size, length)
        yield _Window(start=start, end=end, first=done)
        done, start = end, start + stride


class _Reader:
    """A causal language model and its tokenizer."""

    def __init__(self, checkpoint: Checkpoint, *, start: bool) -> None:
        self.tokeniser = Tokeniser(checkpoint.tokenizer(), limit=1 << 30)
        self._model = checkpoint.load(AutoModelForCausalLM)
        self._device = checkpoint.device
        tokenizer = self.tokeniser.tokenizer
        mark = tokenizer.bos_token_id
        self._opening = [mark if mark is not None else tokenizer.eos_token_id] if start else []

    def tokens(self, text: str) -> list[int]:
        """Return the text's tokens after the start token; a blank text has none of its own."""
        pieces = self.tokeniser.pieces(text if text.strip() else "")
        return [mark for mark in self._opening if mark is not None] + pieces.own

    def losses(self, batch: Sequence[tuple[Sequence[int], _Window]]) -> Iterator[float]:
        """Yield the sum of -log p over each window's predicted tokens."""
        ids, mask = padded(
            (tokens[window.start : window.end] for tokens, window in batch),
            padding=self.tokeniser.padding,
            device=self._device,
        )
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask).logits
            for row, (_, window) in enumerate(batch):
                first, end = window.first - window.start, window.end - window.start
                yield float(
                    torch.nn.functional.cross_entropy(
                        logits[row, first - 1 : end - 1], ids[row, first:end], reduction="sum"
                    )
                )
