"""Likelihoods: what BARTScore and Prism, with a reference or a source, have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

from spanjury.adapters.weights.checkpoint import Checkpoint, find_checkpoint
from spanjury.adapters.weights.once import Once
from spanjury.adapters.weights.seq2seq import Languages, Seq2Seq
from spanjury.judges.core import Sample, signature

__all__ = ["Likelihood", "find_likelihood"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Likelihood:
    """How likely a model is to write one text when it reads another.

    Parameters
    ----------
    checkpoint
        The model.
    engine
        The model once it is loaded.
    batch_size
        Pairs at once; changes no score.
    with_opening
        Whether the marks before a text's first token are predicted as well.
    """

    checkpoint: Checkpoint
    engine: Once[Seq2Seq]
    batch_size: int
    with_opening: bool

    @property
    def cut_texts(self) -> int:
        """How many texts were longer than the model takes, since the metric was made."""
        engine = self.engine.peek()
        return engine.tokeniser.cut if engine else 0

    def signature(self, name: str, /, *, told: Mapping[str, str]) -> str:
        """Return a metric's signature: the model, what the metric tells besides, the libraries."""
        return signature(
            name,
            model=self.checkpoint.identity,
            **told,
            max_tokens=self.checkpoint.window,
            device=self.checkpoint.device,
            transformers=version("transformers"),
            torch=version("torch"),
        )

    def of_outputs(self, samples: Sequence[Sample]) -> list[float]:
        """Return the mean log probability of each output's tokens, given its one reference."""
        return self._of([(sample.references[0], sample.output) for sample in samples])

    def of_references(self, samples: Sequence[Sample]) -> list[float]:
        """Return that of the reference's tokens, given the output."""
        return self._of([(sample.output, sample.references[0]) for sample in samples])

    def of_both(self, samples: Sequence[Sample]) -> list[float]:
        """Return the mean of both ways."""
        forth = [(sample.references[0], sample.output) for sample in samples]
        found = self._of(forth + [(output, reference) for reference, output in forth])
        halves = zip(found[: len(forth)], found[len(forth) :], strict=True)
        return [(output + reference) / 2 for output, reference in halves]

    def from_sources(self, samples: Sequence[Sample]) -> list[float]:
        """Return the mean log probability of each output's tokens, given its source."""
        return self._of([(sample.source, sample.output) for sample in samples])

    def _of(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return self.engine.get().log_likelihoods(
            pairs, batch_size=self.batch_size, with_opening=self.with_opening
        )


def find_likelihood(
    metric: str,
    model: str,
    *,
    languages: Languages,
    batch_size: int,
    with_opening: bool,
    download: bool,
    device: str,
) -> Likelihood:
    """Find a model, which is loaded when it is first needed.

    Parameters are those of `Likelihood` and of `find_checkpoint`.

    Raises
    ------
    ConfigError
        If there is no such model or device.
    ValueError
        If `batch_size` is not positive.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size must be 1 or more, got {batch_size!r}")
    found = find_checkpoint(metric, model, download=download, device=device)
    return Likelihood(
        checkpoint=found,
        engine=Once(partial(Seq2Seq, found, languages=languages)),
        batch_size=batch_size,
        with_opening=with_opening,
    )
