"""BARTScore [1] and Prism [2]: the likelihood of one text under a model that has read the other.

For a multilingual translation model, paraphrasing is translation into the same language. Prism's
own model needs a library that is no longer maintained; any encoder-decoder can be used instead.

References
----------
.. [1] Yuan, Neubig and Liu (2021), BARTScore: evaluating generated text as text generation,
   NeurIPS, arXiv:2106.11520
.. [2] Thompson and Post (2020), Automatic machine translation evaluation in many languages via
   zero-shot paraphrasing, EMNLP, arXiv:2004.14564
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import torch
from transformers import AutoModelForSeq2SeqLM

from spanjury.adapters.model_files import batches
from spanjury.adapters.weights.checkpoint import Checkpoint, CheckpointMetric
from spanjury.adapters.weights.tokens import Pieces, Tokeniser, padded
from spanjury.judges.core import ConfigError, Sample

_TOKENS = 1 << 12  # per batch, since each has logits for the whole vocabulary
_IGNORED = -100  # transformers' label for tokens without loss


class Seq2Seq:
    """An encoder-decoder.

    For a multilingual model, `read` is the language of the input and `written` that of the
    predicted text, in its own codes. If `with_opening`, the special tokens before a text's first
    token are predicted, too.

    Raises `ConfigError` if the model is not one, or needs a language that is missing or unknown.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        *,
        with_opening: bool = False,
        read: str = "",
        written: str = "",
    ) -> None:
        tokenizer = checkpoint.tokenizer()
        if hasattr(tokenizer, "src_lang"):
            tokens = set(tokenizer.all_special_tokens) | set(tokenizer.get_added_vocab())
            for code in (read, written):
                if not any(code and form in tokens for form in (code, f"__{code}__")):
                    raise ConfigError(
                        f"{checkpoint.name!r} needs a language that it knows; got {code!r}"
                    )
            tokenizer.src_lang, tokenizer.tgt_lang = read, written
        self.tokeniser = Tokeniser(tokenizer, limit=checkpoint.window)
        self._model = checkpoint.load(AutoModelForSeq2SeqLM)
        self._device = checkpoint.device
        self._with_opening = with_opening
        self._guess = -math.log(self._model.config.vocab_size)

    def log_likelihoods(self, pairs: Sequence[tuple[str, str]], *, batch_size: int) -> list[float]:
        """Return the mean log-probability (natural) of the tokens of each pair's second text.

        The first text of a pair is the input. The second is predicted, including its end token.
        `batch_size` does not affect the values, which are never positive. A pair of empty texts
        gets 0; a pair with one empty text gets the value of a uniform guess, ``-log(vocabulary)``.
        """
        texts = [[bool(text.strip()) for text in pair] for pair in pairs]
        scores = [self._guess if any(pair) else 0.0 for pair in texts]
        rows = [row for row, pair in enumerate(texts) if all(pair)]
        cut = [
            (
                self.tokeniser.pieces(pairs[row][0]),
                self.tokeniser.pieces(pairs[row][1], target=True),
            )
            for row in rows
        ]
        lengths = [max(len(read.ids), len(written.ids)) for read, written in cut]
        for batch in batches(lengths, size=batch_size, tokens=_TOKENS):
            means = self._means([cut[n] for n in batch])
            for number, mean in zip(batch, means, strict=True):
                scores[rows[number]] = mean
        return scores

    def _means(self, batch: Sequence[tuple[Pieces, Pieces]]) -> Iterator[float]:
        ids, mask = padded(
            (read.ids for read, _ in batch), padding=self.tokeniser.padding, device=self._device
        )
        labels, _ = padded(
            (written.ids for _, written in batch), padding=_IGNORED, device=self._device
        )
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask, labels=labels).logits
            for row, (_, written) in enumerate(batch):
                skipped = 0 if self._with_opening else _opening(written)
                end = len(written.ids)
                loss = torch.nn.functional.cross_entropy(
                    logits[row, skipped:end], labels[row, skipped:end]
                )
                yield min(0.0, -float(loss))


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelihoodMetric(CheckpointMetric):
    """A metric computed from the likelihood of one text under a model that reads another."""

    def _of_both(self, samples: Sequence[Sample]) -> list[float]:
        """Return the mean of both directions between each output and its only reference."""
        forth = [(sample.references[0], sample.output) for sample in samples]
        means = self._of(forth + [(output, reference) for reference, output in forth])
        halves = zip(means[: len(forth)], means[len(forth) :], strict=True)
        return [(output + reference) / 2 for output, reference in halves]

    def _of(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the mean log-probability of each pair's second text, given the first."""
        engine: Seq2Seq = self._engine.get()
        return engine.log_likelihoods(pairs, batch_size=self.batch_size)


def _opening(pieces: Pieces) -> int:
    """Return the number of special tokens before the text's first token."""
    return pieces.content.index(True) if any(pieces.content) else 0


Direction = Literal["f", "precision", "recall"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BARTScore(LikelihoodMetric):
    """The mean log-probability of the output's or the reference's tokens, given the other.

    Parameters
    ----------
    direction
        The output's tokens given the reference (precision), the reference's given the output
        (recall), or the mean of both (f). Other parameters are those of `LikelihoodMetric`.
    """

    direction: Direction = "f"

    def __post_init__(self) -> None:
        if self.direction not in get_args(Direction):
            choices = get_args(Direction)
            raise ValueError(f"direction must be one of {choices}, got {self.direction!r}")
        self._find("bartscore", partial(Seq2Seq, with_opening=True))

    @property
    def signature(self) -> str:
        """The model and the direction."""
        return self._signature("bartscore", direction=self.direction)

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score per sample, at most 0, for its only reference."""
        if self.direction == "f":
            return self._of_both(samples)
        pairs = [(sample.references[0], sample.output) for sample in samples]
        if self.direction == "recall":
            pairs = [(output, reference) for reference, output in pairs]
        return self._of(pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class BARTScoreFromSource(LikelihoodMetric):
    """The mean log-probability of the output's tokens, given the source (faithfulness)."""

    def __post_init__(self) -> None:
        self._find("bartscore-source", partial(Seq2Seq, with_opening=True))

    @property
    def signature(self) -> str:
        """The model."""
        return self._signature("bartscore-source", direction="faithfulness")

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score per sample, at most 0, for its source."""
        return self._of([(sample.source, sample.output) for sample in samples])


@dataclass(frozen=True, slots=True, kw_only=True)
class Prism(LikelihoodMetric):
    """The mean of H(output | reference) and H(reference | output).

    H is the mean log-probability of a text's tokens, without the language token.

    Parameters
    ----------
    language
        Language of the texts in the model's code (``en_XX``, ``eng_Latn``); empty for a model that
        needs none. Other parameters are those of `LikelihoodMetric`.
    """

    language: str = ""

    def __post_init__(self) -> None:
        self._find("prism", partial(Seq2Seq, read=self.language, written=self.language))

    @property
    def signature(self) -> str:
        """The model and the language."""
        return self._signature("prism", language=self.language)

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score per sample, at most 0, for its only reference."""
        return self._of_both(samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrismFromSource(LikelihoodMetric):
    """H(output | source), which needs no reference.

    Parameters
    ----------
    language, source_language
        Languages of the outputs and of the sources, as for `Prism`.
    """

    language: str = ""
    source_language: str = ""

    def __post_init__(self) -> None:
        engine = partial(Seq2Seq, read=self.source_language, written=self.language)
        self._find("prism-source", engine)

    @property
    def signature(self) -> str:
        """The model and the languages."""
        languages = f"{self.source_language}-{self.language}"
        return self._signature("prism-source", language=languages)

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score per sample, at most 0, for its source."""
        return self._of([(sample.source, sample.output) for sample in samples])
