"""COMET: a model that was trained on people's ratings of translations [1].

Its library pins others that cannot live beside ours, so it runs in an environment of its own.

References
----------
.. [1] Rei et al. (2020), COMET: a neural framework for MT evaluation, EMNLP, arXiv:2009.09025
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spanjury.adapters.weights.worker import WorkerMetric, find_environment
from spanjury.judges.core import ConfigError, Sample, signature


@dataclass(frozen=True, slots=True, kw_only=True)
class COMET(WorkerMetric):
    """The rating that COMET expects of people who see source, output and reference.

    Parameters
    ----------
    model
        A checkpoint's file or folder, or a hub id, as ``Unbabel/wmt22-comet-da``.
    gpus
        How many the worker may use.
    download
        Whether the worker may fetch a model that is not here. Other parameters are those of
        `WorkerMetric`.
    """

    gpus: int = 0
    download: bool = False

    def __post_init__(self) -> None:
        if self.batch_size < 1 or self.gpus < 0 or not self.timeout > 0:
            raise ValueError(
                "batch_size must be from 1, gpus from 0, timeout above 0;"
                f" got {self.batch_size!r}, {self.gpus!r}, {self.timeout!r}"
            )
        environment = find_environment(
            "comet",
            self.python,
            module="comet",
            distribution="unbabel-comet",
            install="unbabel-comet",
        )
        if not self.model:
            raise ConfigError(
                "comet needs a model: --metric comet:python=…,model=CHECKPOINT_OR_HUB_ID"
            )
        file = Path(self.model)
        settings = {
            "model": str(file.resolve()) if file.exists() else self.model,
            "gpus": self.gpus,
        }
        self._starts(environment, script="comet", settings=settings, offline=not self.download)

    @property
    def signature(self) -> str:
        """The model and the library."""
        return signature("comet", model=self.model, comet=self._environment.version)

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score a sample, on the scale of the model's ratings."""
        return self._worker.get().scores(
            [
                {"src": sample.source, "mt": sample.output, "ref": sample.references[0]}
                for sample in samples
            ]
        )
